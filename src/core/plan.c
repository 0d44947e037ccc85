/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c - candidates to give way, and taking them off on trial. */
#include "core/plan.h"

#include "base/mem.h"
#include "base/sort.h"
#include "core/entitle.h"
#include "core/fit.h"
#include "core/impl.h"
#include "core/life.h"
#include "core/place.h"
#include "core/victims.h"

__extension__ typedef __int128 wide;

static int64_t price_of(const struct plan *p, uint32_t job)
{
    const struct core *core = p->core;
    const struct job *row = &core->jobs.rows[job];
    const int64_t mgpu = core->shapes.gangs[row->gang].mgpu;
    wide price;

    if (orderer_of(core, p->job)->policy->preempts == PREEMPT_TAKE)
        return mgpu + 1;
    price = ((wide)job_lost_work_us(row, core->now_us) + RESTART_US) * (mgpu + 1) / 1000;
    return price < INT64_MAX >> 16 ? (int64_t)price : INT64_MAX >> 16; /* can be added up */
}

static int cheaper_first(const void *a, const void *b, void *arg)
{
    const struct leaver *x = a, *y = b;

    (void)arg;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->price != y->price)
        return x->price < y->price ? -1 : 1;
    return x->sequence > y->sequence ? -1 : x->sequence < y->sequence;
}

void plan_open(struct plan *p, struct core *core, uint32_t job, enum overshoot overshoot)
{
    *p = (struct plan){.core = core, .job = job, .overshoot = overshoot};
    for (uint32_t v = 0; v < core->victims.count; v++) {
        const struct victim *victim = &core->victims.list[v];
        const struct leaver candidate = {
            .job = victim->job,
            .rank = victim->rank,
            .sequence = victim->sequence,
            .price = price_of(p, victim->job),
        };

        if (rights_over(core, job, victim->job, overshoot))
            vec_push(p->leavers, p->count, p->cap, candidate);
    }
    if (orderer_of(core, job)->policy->preempts != PREEMPT_TAKE)
        sort_stable(p->leavers, p->count, sizeof *p->leavers, cheaper_first, NULL);
}

void plan_close(struct plan *p)
{
    mem_free(p->leavers);
    mem_free(p->places);
}

/* ---- taking off and putting back ---- */

static void book_leaving(struct plan *p, const struct job *row, int sign)
{
    for (uint32_t i = 0; i < row->task_count; i++) {
        const struct task *task = job_task(p->core, row, i);
        const struct amounts amounts = task_amounts(p->core, task);

        if (!task->left)
            queues_book(&p->core->queues, &row->at, BOOK_LEAVING, &amounts, sign, p->core->now_us);
    }
}

bool plan_take(struct plan *p, uint32_t candidate)
{
    const struct job *row = &p->core->jobs.rows[p->leavers[candidate].job];

    if (!rights_over(p->core, p->job, p->leavers[candidate].job, p->overshoot))
        return false;
    p->leavers[candidate].chosen = true;
    for (uint32_t i = 0; i < row->task_count; i++) {
        const struct task *task = job_task(p->core, row, i);

        if (!task->left)
            trial_give(p->core, task->node, task->shape, task->gpu_mask, i);
    }
    book_leaving(p, row, 1);
    return true;
}

void plan_untake(struct plan *p, uint32_t candidate)
{
    p->leavers[candidate].chosen = false;
    book_leaving(p, &p->core->jobs.rows[p->leavers[candidate].job], -1);
}

/* Could all tasks of this chosen job stay where they are? They are taken on trial. */
static bool can_stay(struct core *core, const struct job *row)
{
    for (uint32_t i = 0; i < row->task_count; i++) {
        const struct task *task = job_task(core, row, i);
        const struct shape *shape = &core->shapes.shapes[task->shape];
        struct need need;

        if (task->left)
            continue;
        fit_ever(core, task->shape, core->nodes.rows[task->node].class_id, &need);
        if (nodes_free_mcpu(&core->nodes, task->node) < shape->cpu_mcpu ||
            nodes_free_memory_bytes(&core->nodes, task->node) < shape->memory_bytes)
            return false;
        for (uint64_t left = task->gpu_mask; left != 0; left &= left - 1) {
            const uint32_t gpu = (uint32_t)__builtin_ctzll(left);

            if (nodes_gpu_free_mgpu(&core->nodes, task->node, gpu) < need.mgpu ||
                nodes_gpu_free_bytes(&core->nodes, task->node, gpu) < need.memory_bytes)
                return false;
        }
        trial_take(core, task->node, task->shape, task->gpu_mask, i);
    }
    return true;
}

void plan_retake(struct plan *p, uint32_t candidate)
{
    p->leavers[candidate].chosen = true;
    book_leaving(p, &p->core->jobs.rows[p->leavers[candidate].job], 1);
}

bool plan_put_back(struct plan *p, uint32_t candidate)
{
    const uint32_t mark = trial_mark(&p->core->trial);
    const struct job *row = &p->core->jobs.rows[p->leavers[candidate].job];
    uint32_t queue;

    if (can_stay(p->core, row)) {
        plan_untake(p, candidate);
        if (plan_admits(p, &queue))
            return true;
        plan_retake(p, candidate);
    }
    trial_undo(p->core, mark);
    return false;
}

/* ---- bounds and places ---- */

bool plan_admits(const struct plan *p, uint32_t *out_queue)
{
    const struct job *row = &p->core->jobs.rows[p->job];
    struct refusal refusal;

    if (queues_admit(&p->core->queues, &row->at, &p->core->shapes.gangs[row->gang].asks,
                     &p->core->capacity, HELD_IN_FUTURE, &refusal))
        return true;
    *out_queue = refusal.bound == BOUND_LEND ? QUEUE_ROOT : refusal.queue;
    return false;
}

bool plan_note(struct plan *p, uint32_t mark, uint32_t layout)
{
    struct refusal refusal;

    if (!trial_is_admitted(p->core, p->job, mark, HELD_IN_FUTURE, &refusal))
        return false;
    p->layout = layout;
    p->place_count = 0;
    for (uint32_t i = mark; i < p->core->trial.count; i++)
        if (!p->core->trial.log[i].given)
            vec_push(p->places, p->place_count, p->place_cap, p->core->trial.log[i]);
    return true;
}

void plan_unbook(struct plan *p)
{
    for (uint32_t v = 0; v < p->count; v++)
        if (p->leavers[v].chosen)
            book_leaving(p, &p->core->jobs.rows[p->leavers[v].job], -1);
}
