/* SPDX-License-Identifier: Apache-2.0 */
/* life.c - the moves of a job between its states. */
#include "core/life.h"

#include "base/check.h"
#include "core/elastic.h"
#include "core/impl.h"
#include "core/ledger.h"

void job_enqueue(struct core *core, uint32_t job)
{
    struct job *row = &core->jobs.rows[job];
    const struct waiting waiting = {
        .key = core->order->key(core->order_state, core, job, core->now_us),
        .sequence = row->sequence,
        .job = job,
    };

    check(!row->queued);
    row->queued = true;
    row->reason = REASON_NEW;
    row->told = REASON_NONE;
    pending_add(&core->pending, row->gang, &waiting);
}

void job_dequeue(struct core *core, uint32_t job)
{
    struct job *row = &core->jobs.rows[job];

    check(row->queued);
    row->queued = false;
    pending_remove(&core->pending, row->gang, job);
}

void job_rekey(struct core *core, uint32_t job)
{
    pending_rekey(&core->pending, core->jobs.rows[job].gang, job,
                  core->order->key(core->order_state, core, job, core->now_us));
}

void job_unsettle(struct core *core, uint32_t job)
{
    if (core->jobs.rows[job].unsettled)
        return;
    core->jobs.rows[job].unsettled = true;
    vec_push(core->unsettled, core->unsettled_count, core->unsettled_cap, job);
}

/* ---- starting ---- */

void job_link_task(struct core *core, uint32_t task)
{
    struct task *t = &core->jobs.tasks[task];
    struct node *node = &core->nodes.rows[t->node];

    t->node_prev = ROW_NONE;
    t->node_next = node->first_task;
    if (t->node_next != ROW_NONE)
        core->jobs.tasks[t->node_next].node_prev = task;
    node->first_task = task;
}

void job_unlink_task(struct core *core, uint32_t task)
{
    const struct task *t = &core->jobs.tasks[task];

    if (t->node_prev != ROW_NONE)
        core->jobs.tasks[t->node_prev].node_next = t->node_next;
    else
        core->nodes.rows[t->node].first_task = t->node_next;
    if (t->node_next != ROW_NONE)
        core->jobs.tasks[t->node_next].node_prev = t->node_prev;
}

/* Rows for all tasks of its layout, each of them absent. */
static void add_rows(struct core *core, uint32_t job)
{
    struct job *row = &core->jobs.rows[job];
    const struct layout *layout =
        &core->shapes.layouts[core->shapes.gangs[row->gang].first_layout + row->layout];
    const uint32_t count = layout_tasks(&core->shapes, layout);
    uint32_t at = row->task_first = jobs_tasks_add(&core->jobs, count);

    row->task_count = row->tasks_left = row->tasks_absent = count;
    row->tasks_started = row->tasks_shrinking = 0;
    for (uint32_t g = 0; g < layout->group_count; g++) {
        const struct group *group = &core->shapes.groups[layout->first_group + g];

        for (uint32_t i = 0; i < group->tasks; i++)
            core->jobs.tasks[at++] = (struct task){
                .job = job,
                .node = ROW_NONE,
                .shape = group->shape,
                .left = true,
                .absent = true,
            };
    }
}

/* The trial's log from `mark` on says where absent tasks are started. */
static void start_tasks(struct core *core, uint32_t job, uint32_t mark)
{
    struct job *row = &core->jobs.rows[job];

    row->run++;
    for (uint32_t i = mark; i < core->trial.count; i++) {
        const struct trial_item *item = &core->trial.log[i];
        struct task *task = job_task(core, row, item->slot);

        check(!item->given && item->slot < row->task_count && task->absent);
        *task = (struct task){
            .job = job,
            .node = item->node,
            .shape = item->shape,
            .run = row->run,
            .gpu_mask = item->gpu_mask,
        };
        job_link_task(core, row->task_first + item->slot);
    }
    row->tasks_left -= core->trial.count - mark;
    row->tasks_absent -= core->trial.count - mark;
}

/* Of the tasks that were started last. */
static void decide_start(const struct core *core, uint32_t job, uint32_t count,
                         struct decisions *out)
{
    const struct job *row = &core->jobs.rows[job];
    const struct decision decision = {
        .type = DECISION_START,
        .job_id = row->id,
        .job = job,
        .run = row->run,
        .layout = row->layout,
        .for_job = JOB_NONE,
        .place_first = out->place_count,
        .place_count = count,
    };

    vec_push(out->items, out->count, out->cap, decision);
    for (uint32_t i = 0; i < row->task_count; i++) {
        const struct task *task = job_task(core, row, i);
        struct task_place place = {.task = i, .node = task->node, .gpu_mask = task->gpu_mask};

        if (task->run != row->run)
            continue;
        place.node_name = names_text(&core->names, core->nodes.rows[task->node].name);
        vec_push(out->places, out->place_count, out->place_cap, place);
    }
}

void job_leave_claimants(struct core *core, uint32_t job)
{
    for (uint32_t i = 0; i < core->claimant_count; i++)
        if (core->claimants[i] == job) {
            for (core->claimant_count--; i < core->claimant_count; i++)
                core->claimants[i] = core->claimants[i + 1];
            return;
        }
}

void job_start(struct core *core, uint32_t job, uint32_t layout, uint32_t mark,
               struct decisions *out)
{
    struct job *row = &core->jobs.rows[job];

    check(row->state == JOB_PENDING && core->trial.count > mark);
    job_dequeue(core, job);
    job_leave_claimants(core, job);
    core->jobs.pending--;
    jobs_activate(&core->jobs, job);
    row->state = JOB_STARTING;
    row->reason = REASON_NONE;
    row->moving = false;
    row->layout = layout;
    add_rows(core, job);
    start_tasks(core, job, mark);
    check(job_tasks_standing(row) >= job_tasks_min(core, row));
    decide_start(core, job, core->trial.count - mark, out);
}

void job_grow(struct core *core, uint32_t job, uint32_t mark, struct decisions *out)
{
    check(core->jobs.rows[job].state == JOB_RUNNING && core->trial.count > mark);
    start_tasks(core, job, mark);
    elastic_update(core, job);
    decide_start(core, job, core->trial.count - mark, out);
}

void job_try_running(struct core *core, uint32_t job)
{
    struct job *row = &core->jobs.rows[job];

    if (row->state != JOB_STARTING || row->tasks_started + row->tasks_absent < row->task_count)
        return;
    row->state = JOB_RUNNING;
    row->start_us = core->now_us;
    elastic_update(core, job);
    if (core->order->started != NULL)
        core->order->started(core->order_state, core, job);
}

/* ---- stopping and leaving ---- */

void job_stop(struct core *core, uint32_t job, enum stop_mode mode, struct decisions *out)
{
    struct job *row = &core->jobs.rows[job];
    const enum reason reason = row->cancelled ? REASON_CANCELLED
                               : row->failed  ? REASON_FAILED
                               : row->lost    ? REASON_LOST
                                              : REASON_GIVES_WAY;
    const struct decision decision = {
        .type = DECISION_STOP,
        .job_id = row->id,
        .job = job,
        .run = row->run,
        .mode = mode,
        .for_job = reason == REASON_GIVES_WAY ? row->claimant : JOB_NONE,
        .reason = reason,
    };

    check(row->state == JOB_STARTING || row->state == JOB_RUNNING);
    row->state = JOB_STOPPING;
    row->preempted = mode == STOP_PREEMPT;
    elastic_update(core, job);
    vec_push(out->items, out->count, out->cap, decision);
}

/* The job that it was told to stop for has one victim less to wait for. */
static void tell_claimant(struct core *core, struct job *row)
{
    const uint32_t claimant =
        row->claimant != JOB_NONE ? jobs_find(&core->jobs, row->claimant) : ROW_NONE;

    if (claimant != ROW_NONE && core->jobs.rows[claimant].victims > 0)
        core->jobs.rows[claimant].victims--;
    row->claimant = JOB_NONE;
}

static void requeue(struct core *core, uint32_t job)
{
    struct job *row = &core->jobs.rows[job];

    row->state = JOB_PENDING;
    row->failed = row->lost = row->preempted = false;
    row->layout = 0;
    row->preemptions++;
    if (core->order->stopped != NULL)
        core->order->stopped(core->order_state, core, job);
    core->jobs.pending++;
    gate_try(core, job);
    if (row->queued)
        return;
    row->moving = false; /* it was held while it moved */
    job_leave_claimants(core, job);
}

/* What failed or was cancelled says little about how long the next one like it runs. */
static void learn(struct core *core, const struct job *row)
{
    const struct expect_facts facts = job_expect_facts(core, row);

    expect_learn(&core->expect, &facts, row->attained_us);
}

void job_gone(struct core *core, uint32_t job, enum job_state how)
{
    core->jobs.rows[job].state = how;
    if (how == JOB_FINISHED)
        learn(core, &core->jobs.rows[job]);
    if (core->order->finished != NULL)
        core->order->finished(core->order_state, core, job);
    job_leave_claimants(core, job);
    check(core->jobs.rows[job].task_first == ROW_NONE);
    gate_ended(core, job, how == JOB_FINISHED);
    jobs_remove(&core->jobs, job);
}

static void tell_left(struct core *core, const struct job *row)
{
    for (uint32_t i = 0; core->placement->left != NULL && i < row->task_count; i++)
        core->placement->left(core->placement_state, core, job_task(core, row, i)->shape);
}

/* The last task has left. A job that was told to give way, but ended well first, has ended; a
 * service never ends well. */
static void all_left(struct core *core, uint32_t job)
{
    struct job *row = &core->jobs.rows[job];
    const bool again =
        row->lost || (row->preempted && row->failed) || (row->service && !row->failed);

    if (row->remaining_us != REMAINING_UNKNOWN)
        row->remaining_us = job_remaining_us(row, core->now_us);
    row->remaining_at_us = core->now_us;
    row->attained_us = job_attained_us(row, core->now_us);
    row->start_us = TIME_NONE;
    jobs_deactivate(&core->jobs, job);
    tell_claimant(core, row);
    if (!again || row->cancelled)
        tell_left(core, row);
    jobs_tasks_remove(&core->jobs, row->task_first, row->task_count);
    row->task_first = ROW_NONE;
    row->tasks_absent = 0;
    elastic_update(core, job);
    if (row->cancelled)
        job_gone(core, job, JOB_CANCELLED);
    else if (again)
        requeue(core, job);
    else
        job_gone(core, job, row->failed ? JOB_FAILED : JOB_FINISHED);
}

/* What the task held is free. */
static void give_back(struct core *core, struct task *task)
{
    job_unlink_task(core, (uint32_t)(task - core->jobs.tasks));
    ledger_give(core, task->node, task->shape, task->gpu_mask);
    if (core->nodes.rows[task->node].deficit)
        ledger_reported(core, task->node); /* perhaps it is over */
    core->index.gains++;
    task->left = true;
    task->node = ROW_NONE;
    task->gpu_mask = 0;
}

/* With the last task that was told to stop for another job, that one has a victim less. */
static void has_shrunk(struct core *core, struct job *row, struct task *task)
{
    task->shrinking = false;
    row->tasks_shrinking--;
    if (row->tasks_shrinking == 0 && row->state != JOB_STOPPING)
        tell_claimant(core, row);
}

void job_task_left(struct core *core, uint32_t job, uint32_t task_index, bool absent)
{
    struct job *row = &core->jobs.rows[job];
    struct task *task = job_task(core, row, task_index);

    check(!task->left);
    give_back(core, task);
    row->tasks_left++;
    if (absent) {
        task->absent = true;
        row->tasks_absent++;
        row->tasks_started -= task->started;
        task->started = false;
    }
    if (task->shrinking)
        has_shrunk(core, row, task);
    if (row->tasks_left == row->task_count) {
        all_left(core, job);
        return;
    }
    job_try_running(core, job);
    elastic_update(core, job);
}
