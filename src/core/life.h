/* SPDX-License-Identifier: Apache-2.0 */
/* life.h - the moves of a job between its states (job.h has the picture). */
#pragma once
#include <stdint.h>

#include "core/decision.h"
#include "core/job.h"

struct core;
struct wanted;
struct amounts;

/* Put a PENDING job into the queue, with the key that its order gives it now; and out of it. Who
 * may be in the queue is for gate.h to say. */
void job_enqueue(struct core *core, uint32_t job);
void job_dequeue(struct core *core, uint32_t job);

/* The bucket that it belongs in. */
struct wanted job_wanted(const struct core *core, const struct job *row);

/* Ask the order anew for the key of a PENDING job. */
void job_rekey(struct core *core, uint32_t job);

/* PENDING -> STARTING: the trial's log from `mark` on holds its tasks. Adds the decision. */
void job_start(struct core *core, uint32_t job, uint32_t layout, uint32_t mark,
               struct decisions *out);

/* One of its tasks has started, if that is news. With the last one a STARTING job runs. */
void job_task_started(struct core *core, uint32_t job, uint32_t task_index);

/* STARTING or RUNNING -> STOPPING. Adds the decision. */
void job_stop(struct core *core, uint32_t job, enum stop_mode mode, struct decisions *out);

/* The same for a job that was cancelled, or had a task that failed or was lost. */
void job_stop_broken(struct core *core, uint32_t job, struct decisions *out);

/* From being told to stop to being killed, and the run time before it gives way: its own, or that
 * of its class. */
int64_t job_grace_us(const struct core *core, const struct job *job);
int64_t job_attend_us(const struct core *core, const struct job *job); /* of a STOPPING one */
int64_t job_min_run_us(const struct core *core, const struct job *job);

/* Is room kept for it (claim.h)? */
bool job_has_claim(const struct job *job);

/* Who was told to stop for it leaves for nobody now. O(active jobs) if there are any. */
void job_forget_victims(struct core *core, uint32_t job);

/* May it be told to stop to make room for another? */
bool job_may_give_way(const struct core *core, const struct job *job);

/* Where one of its tasks is, as a place of the decision that is added next. */
void job_add_place(const struct core *core, uint32_t job, uint32_t index, struct decisions *out);

/* The task is told to stop, so its queues count it as leaving. */
void job_task_leaves(struct core *core, uint32_t task);

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

/* Say why a job that waits, and is not in the queue, does so; once for each change. */
void job_note(struct core *core, uint32_t job, struct decisions *out);

/* The next step must look at it. */
void job_unsettle(struct core *core, uint32_t job);

/* It is gone for good: tell the policies, free the row. It holds nothing. */
void job_gone(struct core *core, uint32_t job, enum job_state how);

/* The job that it was told to stop for waits for it no more. */
void job_forget_claimant(struct core *core, uint32_t job);

/* Put a task into, or out of, the list of its node's tasks and the books of its queues. */
void job_link_task(struct core *core, uint32_t task);
void job_unlink_task(struct core *core, uint32_t task);

/* What the queues' books say of a task, in (sign 1) or out (-1) of its node's list. */
void job_book_task(struct core *core, uint32_t task, int sign);

/* What the task takes where it is; and all tasks of the job that are there, or only the one with
 * this index (ROW_NONE: all). */
struct amounts task_amounts(const struct core *core, const struct task *task);
struct amounts job_amounts(const struct core *core, const struct job *job, uint32_t only);
