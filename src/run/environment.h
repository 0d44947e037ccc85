/* SPDX-License-Identifier: Apache-2.0 */
/* environment.h - the variables that a task sees.
 *
 * First the user's own, then over them what berth says of the task's place and devices, then what
 * the daemon sets. No variable is there twice. A task without GPUs is shown none: what the user's
 * shell had in CUDA_VISIBLE_DEVICES is never passed on. */
#pragma once
#include "run/process.h"
#include "run/spec.h"

/* NULL-terminated, one block of texts and pointers; the caller's to mem_free(). O(n). */
char **run_environment(const struct run_spec *spec, struct process_id shepherd);

/* By this variable what a task leaves behind is known as its own, if its shepherd is gone. It names
 * the shepherd, "BERTH_RUN=PID.START": job 1 of another daemon is another run. */
#define RUN_MARK_NAME  "BERTH_RUN"
#define RUN_MARK_BYTES 128
void run_mark(struct process_id shepherd, char out[RUN_MARK_BYTES]);
