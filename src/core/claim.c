/* SPDX-License-Identifier: Apache-2.0 */
/* claim.c - room that is kept for a waiting job. */
#include "core/claim.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "core/due.h"
#include "core/ends.h"
#include "core/impl.h"
#include "core/ledger.h"
#include "core/life.h"

void claim_make(struct core *core, uint32_t job, uint32_t layout, const struct trial_item *places,
                uint32_t count)
{
    struct job *row = &core->jobs.rows[job];

    check(row->state == JOB_PENDING && row->task_first == ROW_NONE && count > 0);
    row->task_first = jobs_tasks_add(&core->jobs, count);
    row->task_count = count;
    row->layout = layout;
    job_dequeue(core, job); /* what it claims is not asked for any more */
    row->reason = REASON_VICTIMS;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t task = row->task_first + places[i].slot;

        check(places[i].slot < count);
        core->jobs.tasks[task] = (struct task){
            .job = job,
            .node = places[i].node,
            .shape = places[i].shape,
            .gpu_mask = places[i].gpu_mask,
            .mig_start = places[i].mig_start,
            .claimed = true,
        };
        job_link_task(core, task);
        ledger_take(core, places[i].node, places[i].shape, places[i].gpu_mask, places[i].mig_start);
    }
    ends_claimed(core, job);
    due_job(core, job);
}

static void give_places(struct core *core, uint32_t job)
{
    struct job *row = &core->jobs.rows[job];

    for (uint32_t i = 0; i < row->task_count; i++) {
        const struct task *task = job_task(core, row, i);

        job_unlink_task(core, row->task_first + i);
        ledger_give(core, task->node, task->shape, task->gpu_mask, task->mig_start);
        if (core->nodes.rows[task->node].deficit)
            ledger_reported(core, task->node); /* perhaps it is over */
    }
    jobs_tasks_remove(&core->jobs, row->task_first, row->task_count);
    row->task_first = ROW_NONE;
    row->ends_us = TIME_NONE;
    row->task_count = 0;
    row->layout = 0;
    due_job(core, job);
    job_enqueue(core, job);
}

void claim_drop(struct core *core, uint32_t job)
{
    struct job *row = &core->jobs.rows[job];

    if (!job_has_claim(row))
        return;
    give_places(core, job);
    core->index.gains++;
}

bool claim_awaits(const struct core *core, uint32_t job)
{
    const struct job *row = &core->jobs.rows[job];

    for (uint32_t i = 0; row->task_first != ROW_NONE && i < row->task_count; i++) {
        uint32_t at = core->nodes.rows[job_task(core, row, i)->node].first_task;

        for (; at != ROW_NONE; at = core->jobs.tasks[at].node_next)
            if (core->jobs.tasks[at].leaving && !core->jobs.rows[core->jobs.tasks[at].job].attended)
                return true;
    }
    return false;
}

static bool is_admitted(struct core *core, uint32_t job, enum held held)
{
    const struct job *row = &core->jobs.rows[job];
    const struct amounts sum = job_amounts(core, row, ROW_NONE);
    struct refusal refusal;
    bool admitted;

    queues_book(&core->queues, &row->at, BOOK_CLAIMED, &sum, -1, core->now_us);
    admitted = queues_admit(&core->queues, &row->at, &sum, &core->capacity, held, &refusal);
    queues_book(&core->queues, &row->at, BOOK_CLAIMED, &sum, 1, core->now_us);
    return admitted;
}

bool claim_is_admitted(struct core *core, uint32_t job)
{
    return is_admitted(core, job, HELD_NOW);
}

void claim_judge_anew(struct core *core, uint32_t job)
{
    const struct job *row = &core->jobs.rows[job];

    if (job_has_claim(row) && !is_admitted(core, job, HELD_IN_FUTURE))
        claim_drop(core, job);
}

void claim_redeem(struct core *core, uint32_t job, struct decisions *out)
{
    const struct job *row = &core->jobs.rows[job];
    const uint32_t mark = trial_mark(&core->trial), count = row->task_count, layout = row->layout;
    struct task *tasks = mem_copy(job_task(core, row, 0), count, sizeof *tasks);

    give_places(core, job);
    for (uint32_t i = 0; i < count; i++)
        trial_take(core, tasks[i].node, tasks[i].shape, tasks[i].gpu_mask, tasks[i].mig_start, i);
    job_start(core, job, layout, mark, out);
    mem_free(tasks);
}

/* What tasks really hold of a node, and what this job claims there. Other claims are on top of what
 * their victims still hold, so they are in nobody's way. */
static void sum_taken(const struct core *core, uint32_t node, uint32_t job, struct hold *out)
{
    uint32_t at = core->nodes.rows[node].first_task;

    hold_clear(core, node, out);
    for (; at != ROW_NONE; at = core->jobs.tasks[at].node_next) {
        const struct task *task = &core->jobs.tasks[at];

        if (!task->claimed || task->job == job)
            hold_add(core, node, task->shape, task->gpu_mask, task->mig_start, out);
    }
}

/* Of the GPUs of its node. */
static uint64_t claimed_gpus(const struct core *core, const struct task *task)
{
    const struct node_class *class = nodes_class_of(&core->nodes, task->node);
    const struct shape *shape = &core->shapes.shapes[task->shape];
    struct need need;

    (void)need_on(shape, class, &need);
    return holding_on(shape, class, &need, task->gpu_mask).gpus;
}

/* It is being split anew; or other things than instances are to be there, and some stand. */
static bool mig_is_in_the_way(const struct core *core, uint32_t node, uint32_t gpu,
                              const struct mig_held *own)
{
    const struct mig_book *book = nodes_mig(&core->nodes, node, gpu);

    return book->leaving != 0 ||
           (own->layout == 0 && (book->made.layout | book->made.blocked) != 0);
}

/* Out, or with more on what the task claims than there is. */
static bool is_in_the_way(const struct core *core, const struct task *task)
{
    const struct node *row = &core->nodes.rows[task->node];
    const struct node_class *class = nodes_class_of(&core->nodes, task->node);
    const uint64_t gpus = claimed_gpus(core, task);
    struct hold taken, own;

    sum_taken(core, task->node, task->job, &taken);
    hold_clear(core, task->node, &own);
    hold_add(core, task->node, task->shape, task->gpu_mask, task->mig_start, &own);
    if (row->state == ROW_NONE || (row->lost_mask & gpus) != 0 || taken.mcpu > class->cpu_mcpu ||
        taken.memory_bytes > class->memory_bytes)
        return true;
    for (uint64_t left = gpus; left != 0; left &= left - 1) {
        const uint32_t gpu = (uint32_t)__builtin_ctzll(left);

        if (taken.gpu_mgpu[gpu] > GPU_MGPU || taken.gpu_bytes[gpu] > class->gpu_memory_bytes ||
            !sharers_may(&taken.sharers[gpu], class))
            return true;
        if (class->mig_type > 0 && mig_is_in_the_way(core, task->node, gpu, &own.mig[gpu]))
            return true;
        if (class->mig_type > 0 && own.mig[gpu].layout != 0 &&
            (mig_held_clashes(&taken.mig[gpu], &own.mig[gpu]) ||
             !mig_held_stands(&nodes_mig(&core->nodes, task->node, gpu)->made, class_mig(class),
                              &own.mig[gpu])))
            return true;
    }
    return false;
}

bool claim_is_free(const struct core *core, uint32_t job)
{
    const struct job *row = &core->jobs.rows[job];

    if (row->task_first == ROW_NONE)
        return false;
    for (uint32_t i = 0; i < row->task_count; i++)
        if (is_in_the_way(core, job_task(core, row, i)))
            return false;
    return true;
}

static void drop_some(struct core *core, uint32_t node, bool all, uint64_t gpus)
{
    uint32_t task = core->nodes.rows[node].first_task;

    while (task != ROW_NONE) {
        const struct task *t = &core->jobs.tasks[task];

        if (t->claimed && (all || (claimed_gpus(core, t) & gpus) != 0)) {
            claim_drop(core, t->job);
            task = core->nodes.rows[node].first_task; /* the list has changed */
        } else {
            task = t->node_next;
        }
    }
}

void claims_drop_on(struct core *core, uint32_t node)
{
    drop_some(core, node, true, 0);
}

void claims_drop_on_gpus(struct core *core, uint32_t node, uint64_t gpus)
{
    drop_some(core, node, false, gpus);
}
