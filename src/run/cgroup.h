/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup.h - control groups of version 2, as files: a group for each run, for limits and for
 * killing all of it at once.
 *
 * A machine may have none that berth may write; the parent is "" then, and a run is only known by
 * its process group and by its shepherd, to whom all that it leaves behind comes back. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct err;

#define CGROUP_PATH_BYTES 512

/* What the groups below a parent can do. */
struct cgroup_powers {
    bool groups; /* a run has a group of its own, and is killed with it */
    bool cpu;    /* its CPUs are limited */
    bool memory; /* its memory is limited, and it alone is killed beyond that */
};

/* Finds where groups may be made and gets the controllers passed on to there. parent: "auto" =
 * below the group of this process, "" = nowhere, else a folder of the cgroup2 file system, which is
 * made. A process cannot be beside groups with controllers, so in "auto" this one is moved to a
 * group "daemon" of its own. out_path: "" if there are no groups to be had, which is no error for
 * "auto". -EACCES, -ENOENT: the folder that was named is not to be had. */
int cgroup_prepare(const char *parent, char out_path[CGROUP_PATH_BYTES],
                   struct cgroup_powers *out_powers, struct err *err);

/* Makes the group, or finds it empty. Limits that have no controller are passed over.
 * cpu_mcpu, memory_bytes: 0 = no limit. */
int cgroup_make(const char *path, int64_t cpu_mcpu, int64_t memory_bytes, struct err *err);

/* Open for cgroup_join(), by a process that may then no longer open it itself. An fd or -errno. */
int cgroup_open_procs(const char *path);

/* Puts the calling process into the group that the fd is of. */
int cgroup_join(int procs_fd);

/* Kills all that is in it. 0, or a negative errno; -ENOENT if there is no such group. */
int cgroup_kill(const char *path);

/* Whether a process is in it, or below. A group that is not there is empty. */
bool cgroup_is_populated(const char *path);

/* How often the kernel killed in it for want of memory, 0 if that is not counted. */
uint64_t cgroup_oom_kills(const char *path);

/* Removes it and the groups that the run made below. 0 also if it is not there; -EBUSY while it is
 * populated. */
int cgroup_remove(const char *path);
