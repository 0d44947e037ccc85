/* SPDX-License-Identifier: Apache-2.0 */
/* spec.h - all that a shepherd needs to know to run one task of a job.
 *
 * The daemon writes it to a file that only it and the shepherd read, for it holds the user's
 * environment. A task is started once more under another run number, so (job, task, run) is one
 * run for ever. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;

struct run_key {
    uint64_t job_id;
    uint32_t task;
    uint32_t run;
};

#define RUN_NAME_BYTES 48
enum {
    RUN_WORDS_MAX = 65536,  /* arguments; variables */
    RUN_GROUPS_MAX = 65536, /* supplementary groups, as many as the kernel takes */
    RUN_SPEC_BYTES_MAX =
        8 << 20, /* all of it: more than the kernel lets a program be started with */
};

struct run_spec {
    struct run_key key;
    /* What to run. argv[0] is looked for in the PATH of `env` unless it holds a '/'. */
    char **argv; /* [argc] 1.. */
    uint32_t argc;
    char **env; /* [env_count] "NAME=value", as the user had it */
    uint32_t env_count;
    char **set; /* [set_count] "NAME=value" of the daemon's, over those of env */
    uint32_t set_count;
    char *directory; /* absolute */
    uint32_t umask;
    uint32_t uid, gid;
    uint32_t *groups; /* [group_count] */
    uint32_t group_count;
    /* Its place in its job; world_size 0 = a job of one task, nothing is set. */
    uint32_t rank, world_size, local_rank;
    char *master_address; /* "" = not set */
    uint32_t master_port;
    char **devices; /* [device_count] UUIDs of GPUs and MIG devices; none = it sees no GPU */
    uint32_t device_count;
    /* Limits. */
    int64_t cpu_mcpu, memory_bytes; /* 0 = none; where the machine can, see cgroup.h */
    int64_t log_bytes;              /* of each log file, 4096.. */
    uint32_t log_files;             /* the newest so many are kept, 1.. */
    char *cgroup;                   /* its group, "" = none */
};

/* "JOB.TASK.RUN". */
void run_key_name(struct run_key key, char out[RUN_NAME_BYTES]);
int run_key_parse(const char *name, struct run_key *out); /* 0 or -EINVAL */

void run_spec_init(struct run_spec *spec);
void run_spec_done(struct run_spec *spec);

/* For building one: all texts are copied. */
void run_spec_text(char **field, const char *text);
void run_spec_word(char ***words, uint32_t *count, const char *word);

/* 0, or -EINVAL with the field that is out of range. */
int run_spec_check(const struct run_spec *spec, struct err *err);

/* The file "spec" in a folder, mode 0600, replaced at once. A negative errno with err set. */
int run_spec_save(const struct run_spec *spec, int folder_fd, struct err *err);

/* out is initialised before. -EINVAL: not a whole spec of this version. Bytes may be hostile. */
int run_spec_parse(const void *bytes, size_t count, struct run_spec *out, struct err *err);
int run_spec_load(int folder_fd, struct run_spec *out, struct err *err);
