/* SPDX-License-Identifier: Apache-2.0 */
/* launch.h - from a shepherd to the first process of a task.
 *
 * The new process makes itself ready - session, group, cgroup, output, user, folder - and then
 * waits to be let go, so that it can be written down before it does anything of the task. If the
 * shepherd dies before that, it ends; if it dies later, the kernel kills it. */
#pragma once
#include "run/process.h"
#include "run/spec.h"

struct err;

struct launch {
    struct process_id id;
    int go_fd;    /* a byte lets it go */
    int error_fd; /* says what went wrong, or ends when the program runs */
};

/* Makes the process; its output goes to output_fd. shepherd: this process. procs_fd: of its cgroup,
 * or -1. A negative errno with err set if a step failed: there is no process then. Waits for it to
 * be ready. */
int launch_begin(const struct run_spec *spec, struct process_id shepherd, int output_fd,
                 int procs_fd, struct launch *out, struct err *err);

/* Lets it go, and waits until the program runs: 0. A negative errno if it cannot be run: the
 * process ends by itself then. Either way nothing is left to close. */
int launch_go(struct launch *launch, const struct run_spec *spec, struct err *err);

/* Instead of launch_go(): the process ends without having done anything. */
void launch_abandon(struct launch *launch);
