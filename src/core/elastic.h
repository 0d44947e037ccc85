/* SPDX-License-Identifier: Apache-2.0 */
/* elastic.h - jobs that may run with some of their tasks: elastic ones, and services.
 *
 * Such a job starts with as many tasks as fit, at least its minimum. While it runs, tasks that are
 * absent are started where there is room (grow.c), and tasks above the minimum may be told to stop
 * (job_shrink()). A task that left because it was lost or told to stop is absent again.
 *
 *   elastic   a task that exits with 0 is done. Then the job grows no more; when all its tasks have
 *             left it has finished. Below its minimum, by loss, it stops and waits again.
 *   service   a task that exits is absent, whatever the code; the job never finishes, but fails by
 *             SERVICE_FAILURES_MAX failures within SERVICE_FAILURES_US. Below its minimum, by loss,
 *             the others go on, and what is missing is the first to be started. Without any task
 *             it waits again. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "core/decision.h"
#include "core/job.h"

struct core;
struct tape;

/* A job that could grow: it is RUNNING, has absent tasks, and none that is done. */
struct growing {
    uint32_t job;
    uint64_t refused_at; /* index gains when no task of it fitted, NOT_REFUSED */
};

struct elastic {
    struct growing *growing; /* [count] in no order */
    uint32_t count, cap;
    uint64_t settled_at; /* index gains when all of them were refused, NOT_REFUSED */
};

void elastic_init(struct elastic *e);
void elastic_done(struct elastic *e);
void elastic_copy(struct elastic *dst, const struct elastic *src); /* dst is not initialised */

/* Which jobs were refused since something became free. The list itself follows from the jobs, and
 * is there when this is loaded. */
void elastic_walk(struct core *core, struct tape *t);

/* So few of its tasks it may run with, as laid out now. */
uint32_t job_tasks_min(const struct core *core, const struct job *job);

/* May tasks of it be absent? */
bool job_is_elastic(const struct core *core, const struct job *job);

/* Its tasks that are there, not told to stop, or done. */
static inline uint32_t job_tasks_standing(const struct job *job)
{
    return job->task_count - job->tasks_absent - job->tasks_shrinking;
}

/* It has started, has not left and was not told to stop. */
static inline bool task_can_be_spared(const struct task *task)
{
    return task->started && !task->left && !task->leaving;
}

/* How many of its tasks may be told to stop now, so that it goes on: those above the minimum that
 * have started; who is only on its way makes nobody else dispensable. 0 unless STARTING or RUNNING,
 * and as long as tasks of it leave for another job: of one job they leave for one at a time. */
uint32_t job_spare_tasks(const struct core *core, uint32_t job);

/* Tell these [count] tasks to stop, by index, each there and not told yet; at most
 * job_spare_tasks(). for_job: id of the PENDING job that needs the room, which has one more victim
 * until all of them have left; or JOB_NONE. Adds the decision. They hold their places until they
 * are reported gone; then they are absent, and may be started again. */
void job_shrink(struct core *core, uint32_t job, const uint32_t *tasks, uint32_t count,
                uint64_t for_job, struct decisions *out);

/* A task of a STARTING or RUNNING job for which job_is_elastic() holds has exited. */
void elastic_task_exited(struct core *core, uint32_t job, uint32_t task_index, int32_t exit_code);

/* A task of any job on GPUs was lost, with its node or by itself. */
void job_task_lost(struct core *core, uint32_t job, uint32_t task_index);

/* Brings the list of jobs that could grow up to date with this one. */
void elastic_update(struct core *core, uint32_t job);
