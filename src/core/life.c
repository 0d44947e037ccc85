/* SPDX-License-Identifier: Apache-2.0 */
/* life.c - the moves of a job between its states. */
#include "core/life.h"

#include "base/check.h"
#include "core/due.h"
#include "core/elastic.h"
#include "core/ends.h"
#include "core/impl.h"
#include "core/ledger.h"

/* Jobs of one bucket start or wait together, so where reservations depend on how long a run may
 * take they are alike in that as well: by their limit, or by what they are predicted from. */
struct wanted job_wanted(const struct core *core, const struct job *row)
{
    struct wanted ask = {
        .gang = row->gang,
        .leaf = row->at.leaf,
        .of_class = row->at.of_class,
        .class_id = row->class_id,
        .queue = core->no_name,
        .user = core->no_name,
        .name = core->no_name,
    };

    if (core->reservation_depth == 0)
        return ask;
    if (row->limit_us > 0) {
        ask.bound_us = row->limit_us + job_grace_us(core, row);
        return ask;
    }
    ask.queue = row->queue;
    if (row->user != core->no_name && row->name != core->no_name) {
        ask.user = row->user;
        ask.name = row->name;
    }
    return ask;
}

void job_enqueue(struct core *core, uint32_t job)
{
    struct job *row = &core->jobs.rows[job];
    const struct waiting waiting = {
        .key = orderer_key(core, job),
        .sequence = row->sequence,
        .job = job,
    };
    const struct wanted ask = job_wanted(core, row);

    check(!row->queued);
    row->queued = true;
    row->reason = REASON_NEW;
    row->told = REASON_NONE;
    row->bucket = pending_add(&core->pending, &ask, &waiting);
    mig_note_waiting(core, row->gang, 1);
    queues_book(&core->queues, &row->at, BOOK_ASKED, &core->shapes.gangs[row->gang].asks, 1,
                core->now_us);
}

void job_dequeue(struct core *core, uint32_t job)
{
    struct job *row = &core->jobs.rows[job];

    check(row->queued);
    row->queued = false;
    pending_remove(&core->pending, row->bucket, job);
    mig_note_waiting(core, row->gang, -1);
    queues_book(&core->queues, &row->at, BOOK_ASKED, &core->shapes.gangs[row->gang].asks, -1,
                core->now_us);
}

void job_rekey(struct core *core, uint32_t job)
{
    reserve_upset(core);
    pending_rekey(&core->pending, core->jobs.rows[job].bucket, job, orderer_key(core, job));
}

void job_unsettle(struct core *core, uint32_t job)
{
    if (core->jobs.rows[job].unsettled)
        return;
    core->jobs.rows[job].unsettled = true;
    vec_push(core->unsettled, core->unsettled_count, core->unsettled_cap, job);
}

void job_note(struct core *core, uint32_t job, struct decisions *out)
{
    struct job *row = &core->jobs.rows[job];
    const struct decision decision = {
        .type = DECISION_NOTE,
        .job_id = row->id,
        .job = job,
        .reason = row->reason,
        .for_job = JOB_NONE,
    };

    if (row->told == row->reason)
        return;
    row->told = row->reason;
    vec_push(out->items, out->count, out->cap, decision);
}

/* ---- starting ---- */

struct amounts task_amounts(const struct core *core, const struct task *task)
{
    const struct shape *shape = &core->shapes.shapes[task->shape];
    const struct node_class *class = nodes_class_of(&core->nodes, task->node);
    const int64_t gpus = shape->exclusive ? class->gpu_count : shape->gpus;
    struct holding holding;
    struct need need;

    (void)need_on(shape, class, &need);
    holding = holding_on(shape, class, &need, 0);
    return (struct amounts){{
        [RES_GPU_MGPU] = gpus * holding.need.mgpu,
        [RES_GPU_BYTES] = gpus * holding.need.memory_bytes,
        [RES_CPU_MCPU] = holding.mcpu,
        [RES_MEMORY_BYTES] = holding.memory_bytes,
    }};
}

struct amounts job_amounts(const struct core *core, const struct job *job, uint32_t only)
{
    struct amounts sum = {{0}};

    for (uint32_t i = 0; i < job->task_count; i++)
        if (!job_task(core, job, i)->left && (only == ROW_NONE || only == i)) {
            const struct amounts amounts = task_amounts(core, job_task(core, job, i));

            amounts_add(&sum, &amounts, 1);
        }
    return sum;
}

void job_book_task(struct core *core, uint32_t task, int sign)
{
    const struct task *t = &core->jobs.tasks[task];
    const struct standing *at = &core->jobs.rows[t->job].at;
    struct amounts amounts;

    if (!core->queues.books)
        return;
    amounts = task_amounts(core, t);
    queues_book(&core->queues, at, t->claimed ? BOOK_CLAIMED : BOOK_USED, &amounts, sign,
                core->now_us);
    if (t->leaving)
        queues_book(&core->queues, at, BOOK_LEAVING, &amounts, sign, core->now_us);
}

/* A node with a task that should be long gone takes no new work until it has left. */
static void count_stuck(struct core *core, uint32_t task, int sign)
{
    const struct task *t = &core->jobs.tasks[task];
    struct node *node = &core->nodes.rows[t->node];

    if (!core->jobs.rows[t->job].attended)
        return;
    node->stuck = (uint32_t)((int64_t)node->stuck + sign);
    ledger_refresh(core, t->node);
}

void job_link_task(struct core *core, uint32_t task)
{
    struct task *t = &core->jobs.tasks[task];
    struct node *node = &core->nodes.rows[t->node];

    levels_task_moves(core, t->job);
    t->node_prev = ROW_NONE;
    t->node_next = node->first_task;
    if (t->node_next != ROW_NONE)
        core->jobs.tasks[t->node_next].node_prev = task;
    node->first_task = task;
    job_book_task(core, task, 1);
    count_stuck(core, task, 1);
}

void job_unlink_task(struct core *core, uint32_t task)
{
    const struct task *t = &core->jobs.tasks[task];

    levels_task_moves(core, t->job);
    if (t->node_prev != ROW_NONE)
        core->jobs.tasks[t->node_prev].node_next = t->node_next;
    else
        core->nodes.rows[t->node].first_task = t->node_next;
    if (t->node_next != ROW_NONE)
        core->jobs.tasks[t->node_next].node_prev = t->node_prev;
    job_book_task(core, task, -1);
    count_stuck(core, task, -1);
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

    levels_task_moves(core, job);
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
            .mig_start = item->mig_start,
        };
        job_link_task(core, row->task_first + item->slot);
        mig_make(core, row->task_first + item->slot);
    }
    row->tasks_left -= core->trial.count - mark;
    row->tasks_absent -= core->trial.count - mark;
}

static void instance_place(const struct core *core, const struct task *task,
                           const struct need *need, struct task_place *place)
{
    const struct mig_type *type = class_mig(nodes_class_of(&core->nodes, task->node));
    const struct mig_profile *profile = &type->profiles[need->profile];

    place->mig_profile = profile->name;
    place->mig_start = task->mig_start;
    place->mig_new = task->mig_makes;
    place->gpu_memory_bytes = profile->memory_bytes;
}

void job_add_place(const struct core *core, uint32_t job, uint32_t index, struct decisions *out)
{
    const struct job *row = &core->jobs.rows[job];
    const struct task *task = job_task(core, row, index);
    const struct shape *shape = &core->shapes.shapes[task->shape];
    struct need need;
    struct task_place place = {
        .task = index,
        .node = task->node,
        .node_name = names_text(&core->names, core->nodes.rows[task->node].name),
        .gpu_mask = task->gpu_mask,
    };

    (void)need_on(shape, nodes_class_of(&core->nodes, task->node), &need);
    place.mode = need.mode;
    place.gpu_memory_bytes = need.company != COMPANY_NONE ? need.memory_bytes : 0;
    if (need.mode == GPU_MIG)
        instance_place(core, task, &need, &place);
    qos_values(&row->qos, shape, &need, place.qos);
    vec_push(out->places, out->place_count, out->place_cap, place);
}

/* Of the tasks that were started last. */
static void decide_start(struct core *core, uint32_t job, uint32_t count, struct decisions *out)
{
    const struct job *row = &core->jobs.rows[job];
    struct slowdown slowdown;

    slowdown_of_job(core, job, &slowdown);
    const struct decision decision = {
        .type = DECISION_START,
        .job_id = row->id,
        .job = job,
        .run = row->run,
        .layout = row->layout,
        .slowdown = slowdown,
        .for_job = JOB_NONE,
        .place_first = out->place_count,
        .place_count = count,
    };

    vec_push(out->items, out->count, out->cap, decision);
    for (uint32_t i = 0; i < row->task_count; i++)
        if (job_task(core, row, i)->run == row->run)
            job_add_place(core, job, i, out);
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
    core->classes.rows[row->class_id].active++;
    row->state = JOB_STARTING;
    row->reason = REASON_NONE;
    row->moving = row->elsewhere = false;
    row->layout = layout;
    add_rows(core, job);
    start_tasks(core, job, mark);
    check(job_tasks_standing(row) >= job_tasks_min(core, row));
    ends_decided(core, job);
    reserve_forget(core, job);
    due_job(core, job);
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
    ends_started(core, job);
    due_job(core, job);
    elastic_update(core, job);
    orderer_started(core, job);
}

void job_task_started(struct core *core, uint32_t job, uint32_t task_index)
{
    struct task *task = job_task(core, &core->jobs.rows[job], task_index);

    if (task->started)
        return;
    task->started = true;
    mig_is_made(core, (uint32_t)(task - core->jobs.tasks));
    task->service_start_us = core->jobs.rows[job].service ? core->now_us : 0;
    task->missed = 0;
    task->missed_us = 0;
    core->jobs.rows[job].tasks_started++;
    job_try_running(core, job);
}

/* ---- stopping and leaving ---- */

void job_task_leaves(struct core *core, uint32_t task)
{
    if (core->jobs.tasks[task].left || core->jobs.tasks[task].leaving)
        return;
    job_book_task(core, task, -1);
    core->jobs.tasks[task].leaving = true;
    job_book_task(core, task, 1);
}

int64_t job_grace_us(const struct core *core, const struct job *job)
{
    return job->grace_us >= 0 ? job->grace_us : core->classes.rows[job->class_id].grace_us;
}

/* When tasks that were told to stop should be long gone. */
int64_t job_attend_us(const struct core *core, const struct job *job)
{
    return job->stop_us + job_grace_us(core, job) + ATTEND_AFTER_US;
}

int64_t job_min_run_us(const struct core *core, const struct job *job)
{
    return job->min_run_us >= 0 ? job->min_run_us : core->classes.rows[job->class_id].min_run_us;
}

bool job_has_claim(const struct job *job)
{
    return job->state == JOB_PENDING && job->task_first != ROW_NONE;
}

bool job_may_give_way(const struct core *core, const struct job *job)
{
    return job->state == JOB_RUNNING && !job->fixed && !core->classes.rows[job->class_id].fixed &&
           core->now_us - job->start_us >= job_min_run_us(core, job);
}

static enum reason stop_reason(const struct job *row, enum stop_mode mode)
{
    return row->cancelled       ? REASON_CANCELLED
           : mode == STOP_LIMIT ? REASON_LIMIT
           : row->lost          ? REASON_LOST
           : row->failed        ? REASON_FAILED
                                : REASON_GIVES_WAY;
}

void job_stop(struct core *core, uint32_t job, enum stop_mode mode, struct decisions *out)
{
    struct job *row = &core->jobs.rows[job];
    const enum reason reason = stop_reason(row, mode);
    const struct decision decision = {
        .type = DECISION_STOP,
        .job_id = row->id,
        .job = job,
        .run = row->run,
        .mode = mode,
        .for_job = reason == REASON_GIVES_WAY ? row->claimant : JOB_NONE,
        .grace_us = job_grace_us(core, row),
        .reason = reason,
    };

    check(row->state == JOB_STARTING || row->state == JOB_RUNNING);
    row->state = JOB_STOPPING;
    row->stop_us = core->now_us;
    row->reason = reason;
    row->preempted = mode == STOP_PREEMPT;
    for (uint32_t i = 0; i < row->task_count; i++)
        job_task_leaves(core, row->task_first + i);
    ends_stopping(core, job);
    due_job(core, job);
    elastic_update(core, job);
    vec_push(out->items, out->count, out->cap, decision);
}

/* Who lost a task waits again, whatever else its tasks did because of that. */
void job_stop_broken(struct core *core, uint32_t job, struct decisions *out)
{
    const struct job *row = &core->jobs.rows[job];
    const bool again = row->lost || row->retries_left > 0;

    job_stop(core, job, again && !row->cancelled ? STOP_PREEMPT : STOP_CANCEL, out);
}

void job_forget_claimant(struct core *core, uint32_t job)
{
    struct job *row = &core->jobs.rows[job];
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
    orderer_stopped(core, job);
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

void job_forget_victims(struct core *core, uint32_t job)
{
    struct job *row = &core->jobs.rows[job];

    for (uint32_t i = 0; row->victims > 0 && i < core->jobs.active_count; i++)
        if (core->jobs.rows[core->jobs.active[i]].claimant == row->id)
            job_forget_claimant(core, core->jobs.active[i]);
}

void job_gone(struct core *core, uint32_t job, enum job_state how)
{
    job_forget_victims(core, job); /* its id may come again */
    core->jobs.rows[job].state = how;
    if (how == JOB_FINISHED)
        learn(core, &core->jobs.rows[job]);
    orderer_finished(core, job);
    job_leave_claimants(core, job);
    reserve_forget(core, job);
    check(core->jobs.rows[job].task_first == ROW_NONE);
    gate_ended(core, job, how == JOB_FINISHED);
    queues_count_job(&core->queues, &core->jobs.rows[job].at, -1);
    amounts_add(&core->asks, &core->shapes.gangs[core->jobs.rows[job].gang].asks, -1);
    jobs_remove(&core->jobs, job);
    due_job(core, job);
}

static void tell_left(struct core *core, const struct job *row)
{
    for (uint32_t i = 0; core->placement->left != NULL && i < row->task_count; i++)
        core->placement->left(core->placement_state, core, job_task(core, row, i)->shape);
}

/* Now that all of its tasks have left. Who was told to stop keeps to what that was for; but a job
 * that was to wait again, and ended well first, has ended; a service never ends well. */
static bool waits_again(const struct job *row)
{
    if (row->cancelled)
        return false;
    if (row->state == JOB_STOPPING)
        return row->preempted && (row->lost || row->failed || row->service);
    return row->lost || (row->failed && row->retries_left > 0) || (row->service && !row->failed);
}

/* It waits again because a task of it failed by itself, and for nothing else. */
static bool uses_a_retry(const struct job *row)
{
    return row->failed && !row->lost &&
           (row->state != JOB_STOPPING || row->reason == REASON_FAILED);
}

static enum job_state end_of(const struct job *row)
{
    return row->cancelled                                              ? JOB_CANCELLED
           : row->state == JOB_STOPPING && row->reason == REASON_LIMIT ? JOB_LIMITED
           : row->failed || row->lost                                  ? JOB_FAILED
                                                                       : JOB_FINISHED;
}

static void all_left(struct core *core, uint32_t job)
{
    struct job *row = &core->jobs.rows[job];
    const bool again = waits_again(row);
    const enum job_state end = end_of(row);

    if (again && uses_a_retry(row))
        row->retries_left--;
    if (row->remaining_us != REMAINING_UNKNOWN)
        row->remaining_us = job_remaining_us(row, core->now_us);
    row->remaining_at_us = core->now_us;
    row->attained_us = job_attained_us(row, core->now_us);
    row->start_us = row->stop_us = row->ends_us = TIME_NONE;
    row->overran = false;
    row->bound_us = 0;
    row->attended = false;
    row->state = JOB_PENDING; /* for a moment, unless it waits again */
    due_job(core, job);
    jobs_deactivate(&core->jobs, job);
    core->classes.rows[row->class_id].active--;
    job_forget_claimant(core, job);
    if (!again)
        tell_left(core, row);
    jobs_tasks_remove(&core->jobs, row->task_first, row->task_count);
    row->task_first = ROW_NONE;
    row->tasks_absent = 0;
    elastic_update(core, job);
    if (again)
        requeue(core, job);
    else
        job_gone(core, job, end);
}

/* What the task held is free. */
static void give_back(struct core *core, struct task *task)
{
    job_unlink_task(core, (uint32_t)(task - core->jobs.tasks));
    ledger_give(core, task->node, task->shape, task->gpu_mask, task->mig_start);
    if (core->nodes.rows[task->node].deficit)
        ledger_reported(core, task->node); /* perhaps it is over */
    core->index.gains++;
    task->left = true;
    task->leaving = false;
    task->missed = 0;
    task->missed_us = 0;
    task->node = ROW_NONE;
    task->gpu_mask = 0;
    task->mig_start = 0;
    task->mig_makes = false;
}

/* With the last task that was told to stop for another job, that one has a victim less. */
static void has_shrunk(struct core *core, struct job *row, struct task *task)
{
    task->shrinking = false;
    row->tasks_shrinking--;
    if (row->tasks_shrinking == 0 && row->state != JOB_STOPPING)
        job_forget_claimant(core, (uint32_t)(row - core->jobs.rows));
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
