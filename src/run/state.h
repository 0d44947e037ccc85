/* SPDX-License-Identifier: Apache-2.0 */
/* state.h - what is known of a run: what its shepherd writes down, and says to who asks.
 *
 * The same few lines of text are the file "state" in the folder of the run and the answer on its
 * socket. What a state says has happened: a task that runs was written down before it was let go,
 * and one that has ended is written durably, and only after nothing of it runs any more. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "run/process.h"

struct err;

enum run_phase {
    RUN_STARTING, /* it may have a process, which does nothing of the task yet */
    RUN_RUNNING,
    RUN_ENDED,  /* with an exit code or a signal */
    RUN_FAILED, /* it never ran: `error` says why */
    RUN_PHASE_COUNT,
};

#define RUN_ERROR_BYTES      300
#define RUN_STATE_TEXT_BYTES 1024

/* By this exit code a task says: I have saved my work, run me again. */
enum { RUN_CODE_CHECKPOINTED = 85, RUN_CODE_NOT_FOUND = 127, RUN_CODE_NOT_RUN = 126 };

struct run_state {
    enum run_phase phase;
    char boot[BOOT_ID_BYTES];
    struct process_id shepherd;
    struct process_id task;      /* its first process, the leader of its session and group */
    bool stopping;               /* it was told to stop */
    bool killed;                 /* its grace was over, or it was told to be killed */
    int32_t code;                /* ENDED: what it exited with, 128 + signal; FAILED: 126 or 127 */
    int32_t signal;              /* ENDED: what ended it, 0 = nothing */
    uint64_t oom_kills;          /* by the kernel, where that is counted */
    int64_t log_file_bytes;      /* of each file of its log, see log.h */
    uint64_t log_lost_bytes;     /* output that could not be written, for the disk was full */
    int64_t began_us, end_us;    /* CLOCK_REALTIME, 0 = not yet; for people, not for arithmetic */
    char error[RUN_ERROR_BYTES]; /* FAILED; one line */
};

/* A NUL-terminated text; its length. */
uint32_t run_state_format(const struct run_state *state, char out[RUN_STATE_TEXT_BYTES]);

/* 0, or -EINVAL: not a whole state. */
int run_state_parse(const char *text, struct run_state *out, struct err *err);

/* The file "state" in the folder of the run. Durable if the phase is an end. A negative errno. */
int run_state_save(const struct run_state *state, int folder_fd);
int run_state_load(int folder_fd, struct run_state *out, struct err *err); /* -ENOENT: none yet */

static inline bool run_state_is_end(const struct run_state *state)
{
    return state->phase == RUN_ENDED || state->phase == RUN_FAILED;
}
