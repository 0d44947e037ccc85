/* SPDX-License-Identifier: Apache-2.0 */
/* life.h - the moves of a job between its states (job.h has the picture). */
#pragma once
#include <stdint.h>

#include "core/decision.h"
#include "core/job.h"

struct core;

/* Put a PENDING job into the queue, with the key that its order gives it now; and out of it. Who
 * may be in the queue is for gate.h to say. */
void job_enqueue(struct core *core, uint32_t job);
void job_dequeue(struct core *core, uint32_t job);

/* Ask the order anew for the key of a PENDING job. */
void job_rekey(struct core *core, uint32_t job);

/* PENDING -> STARTING: the trial's log from `mark` on holds its tasks. Adds the decision. */
void job_start(struct core *core, uint32_t job, uint32_t layout, uint32_t mark,
               struct decisions *out);

/* STARTING or RUNNING -> STOPPING. Adds the decision. */
void job_stop(struct core *core, uint32_t job, enum stop_mode mode, struct decisions *out);

/* RUNNING: the trial's log from `mark` on holds more of its tasks, which were absent. Adds the
 * decision. */
void job_grow(struct core *core, uint32_t job, uint32_t mark, struct decisions *out);

/* STARTING -> RUNNING, if all of its tasks that are not absent have started. */
void job_try_running(struct core *core, uint32_t job);

/* One of its tasks has left its GPUs; absent: it may be started again while the job runs. With the
 * last one the job goes back to PENDING, or is gone. */
void job_task_left(struct core *core, uint32_t job, uint32_t task_index, bool absent);

/* Nobody gives way to it any more. */
void job_leave_claimants(struct core *core, uint32_t job);

/* The next step must look at it. */
void job_unsettle(struct core *core, uint32_t job);

/* It is gone for good: tell the policies, free the row. It holds nothing. */
void job_gone(struct core *core, uint32_t job, enum job_state how);

/* Put a task into, or out of, the list of its node's tasks. */
void job_link_task(struct core *core, uint32_t task);
void job_unlink_task(struct core *core, uint32_t task);
