/* SPDX-License-Identifier: Apache-2.0 */
/* task.c - what is heard of running jobs: tasks that started, exited or were lost, and work that
 * was saved. Hearing it twice is harmless. */
#include <errno.h>

#include "base/bits.h"
#include "base/err.h"
#include "core/due.h"
#include "core/elastic.h"
#include "core/facts.h"
#include "core/fit.h"
#include "core/health.h"
#include "core/impl.h"
#include "core/ledger.h"
#include "core/life.h"

/* The job and task that an event speaks of; the job must be on GPUs. 1: of this run of the task, 0:
 * of an earlier one, which is of no account any more. */
static int find_task(const struct core *core, const struct event *event, uint32_t *out_job,
                     struct err *err)
{
    const unsigned long long id = event->task.job_id;
    const uint32_t job = jobs_find(&core->jobs, event->task.job_id);
    uint32_t task_run;

    if (job == ROW_NONE)
        return err_set(err, -ENOENT, "job %llu: unknown", id);
    if (event->task.run > core->jobs.rows[job].run)
        return err_set(err, -ENOENT, "job %llu: run %u: it was started %u times", id,
                       event->task.run, core->jobs.rows[job].run);
    if (core->jobs.rows[job].state == JOB_PENDING)
        return event->task.run != 0 ? 0 : err_set(err, -ENOENT, "job %llu: is not running", id);
    if (event->task.task >= core->jobs.rows[job].task_count)
        return event->task.run != 0 && event->task.run < core->jobs.rows[job].run
                   ? 0
                   : err_set(err, -ENOENT, "job %llu: task %u: it has %u tasks", id,
                             event->task.task, core->jobs.rows[job].task_count);
    task_run = job_task(core, &core->jobs.rows[job], event->task.task)->run;
    if (event->task.run == 0 && task_run == 0)
        return err_set(err, -ENOENT, "job %llu: task %u: was not started", id, event->task.task);
    *out_job = job;
    return event->task.run == 0 || event->task.run == task_run;
}

/* ---- started ---- */

/* Where it really runs must be possible: a known node with those GPUs, as many as were asked. */
static int taken_check(struct core *core, const struct event *event, const struct task *task,
                       uint32_t *out_node, struct err *err)
{
    const uint32_t name = names_find(&core->names, event->task.node);
    const struct shape *shape = &core->shapes.shapes[task->shape];
    struct need need;
    uint32_t gpus;

    if (name == NAMES_NONE || !map_find(&core->node_by_name, name, out_node))
        return err_set(err, -ENOENT, "node '%s': unknown", event->task.node);
    gpus = nodes_class_of(&core->nodes, *out_node)->gpu_count;
    if (gpus < 64 && event->task.gpu_mask >> gpus != 0)
        return err_set(err, -EINVAL, "node '%s': has %u GPUs, mask names others", event->task.node,
                       gpus);
    if ((uint32_t)__builtin_popcountll(event->task.gpu_mask) != shape->gpus)
        return err_set(err, -EINVAL, "task %u: asked for %u GPUs, mask names %d", event->task.task,
                       shape->gpus, __builtin_popcountll(event->task.gpu_mask));
    if (!need_on(shape, nodes_class_of(&core->nodes, *out_node), &need))
        return err_set(err, -EINVAL, "node '%s': could never hold this task", event->task.node);
    if (!need_starts(nodes_class_of(&core->nodes, *out_node), &need, event->task.mig_start))
        return err_set(err, -EINVAL, "task %u: has no instance that starts at %u", event->task.task,
                       event->task.mig_start);
    return 0;
}

/* The books follow what was really taken. */
static void move_task(struct core *core, uint32_t job, uint32_t index, uint32_t node,
                      uint64_t gpu_mask, uint32_t mig_start)
{
    struct task *task = job_task(core, &core->jobs.rows[job], index);

    if (task->node == node && task->gpu_mask == gpu_mask && task->mig_start == mig_start)
        return;
    mig_not_made(core, core->jobs.rows[job].task_first + index);
    ledger_give(core, task->node, task->shape, task->gpu_mask, task->mig_start);
    core->index.gains++;
    ledger_reported(core, task->node);
    job_unlink_task(core, core->jobs.rows[job].task_first + index);
    core->jobs.rows[job].elsewhere |= task->node != node;
    task->node = node;
    task->gpu_mask = gpu_mask;
    task->mig_start = mig_start;
    job_link_task(core, core->jobs.rows[job].task_first + index);
    ledger_take(core, node, task->shape, gpu_mask, mig_start);
    mig_is_made(core, core->jobs.rows[job].task_first + index);
    ledger_reported(core, node);
}

int fact_task_started(struct core *core, const struct event *event, struct err *err)
{
    struct task *task;
    struct job *row;
    uint32_t job, node;
    int rc = find_task(core, event, &job, err);

    if (rc <= 0)
        return rc;
    row = &core->jobs.rows[job];
    task = job_task(core, row, event->task.task);
    if (task->started || task->left)
        return 0;
    node = task->node;
    if (event->task.node[0] != '\0') {
        rc = taken_check(core, event, task, &node, err);
        if (rc < 0)
            return err_prefix(err, rc, "job %llu: ", (unsigned long long)row->id);
        move_task(core, job, event->task.task, node, event->task.gpu_mask, event->task.mig_start);
    }
    job_task_started(core, job, event->task.task);
    return 0;
}

/* ---- exited and lost ---- */

/* The first task of a job that fails or is lost before it has started: its GPUs may be to blame.
 * Those that fail after it do so because of that one, or because they were told to stop. */
static bool device_failed(struct core *core, const struct job *row, const struct task *task)
{
    return !task->started && row->state == JOB_STARTING && !row->cancelled && !row->failed &&
           !row->lost && gpus_failed_to_start(core, task);
}

static void task_has_failed(struct core *core, uint32_t job, uint32_t index)
{
    struct job *row = &core->jobs.rows[job];

    if (device_failed(core, row, job_task(core, row, index)))
        row->lost = true;
    else
        row->failed = true;
    job_unsettle(core, job);
}

int fact_task_exited(struct core *core, const struct event *event, struct err *err)
{
    struct job *row;
    uint32_t job;
    const int rc = find_task(core, event, &job, err);

    if (rc <= 0 || job_task(core, &core->jobs.rows[job], event->task.task)->left)
        return rc < 0 ? rc : 0;
    row = &core->jobs.rows[job];
    if (row->state != JOB_STOPPING && job_is_elastic(core, row)) {
        job_task_started(core, job, event->task.task); /* though nobody said so */
        elastic_task_exited(core, job, event->task.task, event->task.exit_code);
        return 0;
    }
    if (event->task.exit_code != 0)
        task_has_failed(core, job, event->task.task);
    job_task_started(core, job, event->task.task);
    job_task_left(core, job, event->task.task, false);
    return 0;
}

int fact_task_lost(struct core *core, const struct event *event, struct err *err)
{
    const struct task *task;
    uint32_t job;
    const int rc = find_task(core, event, &job, err);

    if (rc <= 0 || job_task(core, &core->jobs.rows[job], event->task.task)->left)
        return rc < 0 ? rc : 0;
    task = job_task(core, &core->jobs.rows[job], event->task.task);
    if (!core->nodes.rows[task->node].silent)
        (void)device_failed(core, &core->jobs.rows[job], task);
    job_task_lost(core, job, event->task.task);
    return 0;
}

/* Its slices are free, and the GPU gets no new instance for a while, so that it starts elsewhere if
 * it can. */
int fact_instance_failed(struct core *core, const struct event *event, struct err *err)
{
    uint32_t job, node, gpu;
    struct task *task;
    const int rc = find_task(core, event, &job, err);

    if (rc <= 0 || job_task(core, &core->jobs.rows[job], event->task.task)->left)
        return rc < 0 ? rc : 0;
    task = job_task(core, &core->jobs.rows[job], event->task.task);
    if (!task->mig_makes)
        return err_set(err, -EINVAL, "job %llu: task %u: no instance is being made for it",
                       (unsigned long long)event->task.job_id, event->task.task);
    node = task->node;
    gpu = mask_lowest(task->gpu_mask);
    mig_not_made(core, (uint32_t)(task - core->jobs.tasks));
    (void)gpus_failed_to_start(core, task);
    nodes_mig(&core->nodes, node, gpu)->failed_until_us = core->now_us + MIG_FAILED_US;
    nodes_mig_changed(&core->nodes, node, gpu);
    due_node(core, node);
    job_task_lost(core, job, event->task.task);
    return 0;
}

/* ---- saved ---- */

/* Clocks differ: a mark of a time that has not come yet is taken as now, and counted. A mark that
 * is older than what was saved already changes nothing. */
int fact_job_checkpoint(struct core *core, const struct event *event, struct err *err)
{
    const uint32_t job = jobs_find(&core->jobs, event->checkpoint.job_id);
    int64_t mark_us = event->checkpoint.mark_us;
    struct job *row;

    if (job == ROW_NONE)
        return err_set(err, -ENOENT, "job %llu: unknown",
                       (unsigned long long)event->checkpoint.job_id);
    row = &core->jobs.rows[job];
    if (row->state == JOB_PENDING)
        return err_set(err, -ENOENT, "job %llu: is not running", (unsigned long long)row->id);
    if (mark_us == row->mark_said_us)
        return 0;
    row->mark_said_us = mark_us;
    if (mark_us > core->now_us) {
        mark_us = core->now_us;
        row->mark_ahead = true;
        core->marks_ahead++;
    }
    row->mark_us = mark_us > row->mark_us ? mark_us : row->mark_us;
    return 0;
}
