/* SPDX-License-Identifier: Apache-2.0 */
/* runs.h - the tasks that run on this machine, as the daemon sees them.
 *
 * Each run has a shepherd and a folder, so that it goes on whatever becomes of the daemon:
 *
 *   FOLDER/lock                  held by the daemon: one of them uses a folder
 *   FOLDER/live/JOB.TASK.RUN/    spec, state, socket, lock (held by the shepherd), log.N
 *   FOLDER/done/JOB.TASK.RUN/    state, log.N: of runs whose end was taken note of
 *
 * runs_open() finds all of them again. What happened comes as events from runs_next(), and comes
 * again after each runs_open() until runs_settle() says that it is written down elsewhere. So
 * nothing that ended is forgotten, and nothing that was started is started twice: runs_start() of
 * a run that is known says -EEXIST.
 *
 * No threads, no signal handlers, no waiting: runs_fd() is for the loop of the caller. Only calls
 * that start or end something take longer than a few system calls, and say so. Used by one thread.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "run/cgroup.h"
#include "run/spec.h"
#include "run/state.h"

struct err;
struct runs;

struct runs_config {
    const char *folder;   /* absolute; made with mode 0700 */
    const char *shepherd; /* path of berth-shepherd */
    const char *cgroup;   /* "auto", "" = none, or a folder: see cgroup_prepare() */
};

enum run_event_type {
    RUN_EVENT_STARTED, /* its program runs; state.task is its first process */
    RUN_EVENT_ENDED,   /* with state.code and state.signal; nothing of it runs any more */
    RUN_EVENT_FAILED,  /* it could not be started: state.error, state.code 126 or 127 */
    RUN_EVENT_LOST,    /* its shepherd is gone, and how it ended is not known; nothing of it runs */
    RUN_EVENT_UNBEGUN, /* its shepherd is gone before it began anything: it may be started again */
};

struct run_event {
    enum run_event_type type;
    struct run_key key;
    struct run_state state; /* UNBEGUN: zeros */
};

/* Takes the folder and finds what runs. -EBUSY: another daemon has it. A negative errno with err
 * set. O(folders) and a connection to each shepherd. */
int runs_open(const struct runs_config *config, struct runs **out, struct err *err);
void runs_close(struct runs *runs); /* all of them run on; takes NULL */

struct cgroup_powers runs_powers(const struct runs *runs);

/* For poll and epoll: readable when runs_next() may have something to say. */
int runs_fd(const struct runs *runs);

/* The next event: 1, or 0 if there is none now. Never waits; call it until it says 0. */
int runs_next(struct runs *runs, struct run_event *out);

/* Starts a run; spec->cgroup is set by this call. That it started or failed is an event. -EEXIST:
 * this run is known, whatever became of it. Else a negative errno with err set, and there is no
 * such run. Makes a folder, a process and waits for it to exec: about a millisecond. */
int runs_start(struct runs *runs, const struct run_spec *spec, struct err *err);

/* What a shepherd is asked (control.h). 0: it was told. -ENOENT: no such run that lives. -EAGAIN:
 * it cannot be reached just now, try again. */
int runs_signal(struct runs *runs, struct run_key key, int signal);
int runs_stop(struct runs *runs, struct run_key key, int signal, int64_t grace_us);
int runs_kill(struct runs *runs, struct run_key key);

/* The end of the run was written down by the caller: its event never comes again. The log stays,
 * if there is one. -ENOENT: no such run, or it did not end. */
int runs_settle(struct runs *runs, struct run_key key);

/* Removes what was left of a settled run. 0 also if there is nothing. */
int runs_prune(struct runs *runs, struct run_key key);

/* The log of a run, alive or settled: see run_log_read(). -ENOENT: no such run or no log. */
ssize_t runs_read_log(struct runs *runs, struct run_key key, uint64_t *offset, char *out,
                      size_t size);

/* All that live: what is on the machine. The caller's to mem_free(). NULL if there are none. */
struct run_key *runs_list(const struct runs *runs, uint32_t *out_count);

/* What is known of one that lives, or NULL. Valid until the next call. */
const struct run_state *runs_find(const struct runs *runs, struct run_key key);
