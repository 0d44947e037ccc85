/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c - who can leave, and taking it off on trial. */
#include "core/plan.h"

#include "base/mem.h"
#include "base/sort.h"
#include "core/elastic.h"
#include "core/entitle.h"
#include "core/fit.h"
#include "core/impl.h"
#include "core/life.h"
#include "core/place.h"
#include "core/victims.h"

__extension__ typedef __int128 wide;

/* ---- who can leave ---- */

static int64_t work_price(int64_t lost_us, int64_t mgpu)
{
    const wide price = (wide)lost_us * (mgpu + 1) / 1000 + 1;

    return price < INT64_MAX >> 16 ? (int64_t)price : INT64_MAX >> 16; /* can be added up */
}

static void set_prices(const struct plan *p, struct leaving_job *out)
{
    const struct core *core = p->core;
    const struct job *row = &core->jobs.rows[out->job];
    const int64_t mgpu = core->shapes.gangs[row->gang].mgpu;
    const int64_t task_mgpu = mgpu / row->task_count;

    if (orderer_of(core, p->job)->policy->preempts == PREEMPT_TAKE) {
        out->price = 2 * (mgpu + 1);
        out->task_price = task_mgpu + 1;
        return;
    }
    out->price = work_price(job_lost_work_us(row, core->now_us) + RESTART_US, mgpu);
    out->task_price = work_price(RESTART_US / 2, task_mgpu);
}

static int cheaper_first(const void *a, const void *b, void *arg)
{
    const struct leaving_job *x = a, *y = b;

    (void)arg;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if ((x->spare > 0) != (y->spare > 0))
        return x->spare > 0 ? -1 : 1;
    if (x->price != y->price)
        return x->price < y->price ? -1 : 1;
    return x->sequence > y->sequence ? -1 : x->sequence < y->sequence;
}

static void list_leavers(struct plan *p, struct leaving_job *of, uint32_t row)
{
    const struct job *job = &p->core->jobs.rows[of->job];
    struct leaver leaver = {.of = row, .task = ROW_NONE};

    of->first = p->count;
    if (of->spare == 0)
        vec_push(p->leavers, p->count, p->cap, leaver);
    for (uint32_t i = job->task_count; of->spare > 0 && i-- > 0;) {
        leaver.task = i;
        if (task_can_be_spared(job_task(p->core, job, i)) ||
            (of->whole && !job_task(p->core, job, i)->left))
            vec_push(p->leavers, p->count, p->cap, leaver);
    }
    of->count = p->count - of->first;
}

/* By what it could lose at least: its whole, or one task. */
static bool has_right(const struct plan *p, const struct leaving_job *of)
{
    const struct job *row = &p->core->jobs.rows[of->job];
    uint32_t task = ROW_NONE;

    for (uint32_t i = 0; of->spare > 0 && i < row->task_count; i++)
        if (!job_task(p->core, row, i)->left)
            task = i;
    return rights_over(p->core, p->job, of->job, task, p->overshoot);
}

void plan_open(struct plan *p, struct core *core, uint32_t job, enum overshoot overshoot)
{
    const uint32_t reach = rights_reach(core, job);

    *p = (struct plan){.core = core, .job = job, .overshoot = overshoot};
    for (uint32_t v = 0; v < reach; v++) {
        const struct job *row = &core->jobs.rows[core->victims.list[v].job];
        struct leaving_job leaving = {
            .job = core->victims.list[v].job,
            .rank = core->victims.list[v].rank,
            .sequence = core->victims.list[v].sequence,
            .spare = job_spare_tasks(core, core->victims.list[v].job),
            .whole = !row->service && row->claimant == JOB_NONE && row->tasks_shrinking == 0,
        };

        if ((leaving.spare == 0 && !leaving.whole) || !has_right(p, &leaving))
            continue;
        set_prices(p, &leaving);
        vec_push(p->jobs, p->job_count, p->job_cap, leaving);
    }
    if (orderer_of(core, job)->policy->preempts != PREEMPT_TAKE)
        sort_stable(p->jobs, p->job_count, sizeof *p->jobs, cheaper_first, NULL);
    for (uint32_t i = 0; i < p->job_count; i++)
        list_leavers(p, &p->jobs[i], i);
}

void plan_close(struct plan *p)
{
    mem_free(p->jobs);
    mem_free(p->leavers);
    mem_free(p->claims);
    mem_free(p->places);
}

/* ---- taking off and putting back ---- */

static const struct job *job_of(const struct plan *p, uint32_t leaver)
{
    return &p->core->jobs.rows[p->jobs[p->leavers[leaver].of].job];
}

static void book_leaving(struct plan *p, uint32_t leaver, int sign)
{
    const struct job *row = job_of(p, leaver);
    const struct amounts amounts = job_amounts(p->core, row, p->leavers[leaver].task);

    queues_book(&p->core->queues, &row->at, BOOK_LEAVING, &amounts, sign, p->core->now_us);
}

bool plan_take(struct plan *p, uint32_t leaver)
{
    struct leaver *l = &p->leavers[leaver];
    const struct job *row = job_of(p, leaver);

    l->by = rights_over(p->core, p->job, p->jobs[l->of].job, l->task, p->overshoot);
    if (l->by == RIGHT_NONE)
        return false;
    for (uint32_t i = 0; i < row->task_count; i++) {
        const struct task *task = job_task(p->core, row, i);

        if (!task->left && (l->task == ROW_NONE || l->task == i))
            trial_give(p->core, task->node, task->shape, task->gpu_mask, task->mig_start, i);
    }
    plan_retake(p, leaver);
    return true;
}

void plan_untake(struct plan *p, uint32_t leaver)
{
    p->leavers[leaver].chosen = false;
    p->jobs[p->leavers[leaver].of].taken--;
    book_leaving(p, leaver, -1);
}

void plan_untake_all(struct plan *p, uint32_t mark)
{
    for (uint32_t v = 0; v < p->count; v++)
        if (p->leavers[v].chosen)
            plan_untake(p, v);
    trial_undo(p->core, mark);
}

int64_t leaving_price(const struct leaving_job *job, uint32_t taken)
{
    return taken <= job->spare ? taken * job->task_price : job->price;
}

void plan_retake(struct plan *p, uint32_t leaver)
{
    p->leavers[leaver].chosen = true;
    p->jobs[p->leavers[leaver].of].taken++;
    book_leaving(p, leaver, 1);
}

/* Of a GPU that is being split anew, and so takes nobody: nobody has come where the task was. */
static bool takes_nobody(const struct core *core, uint32_t node, uint32_t gpu)
{
    return core->nodes.rows[node].mig_first != ROW_NONE &&
           nodes_mig(&core->nodes, node, gpu)->leaving != 0;
}

static bool gpu_can_keep(const struct core *core, const struct task *task, uint32_t gpu,
                         const struct need *need)
{
    if (takes_nobody(core, task->node, gpu))
        return true;
    return nodes_gpu_has(&core->nodes, task->node, gpu, need) &&
           (need->mode != GPU_MIG || mig_room_has_at(nodes_mig_room(&core->nodes, task->node, gpu),
                                                     need->profile, task->mig_start));
}

bool plan_can_stay(struct core *core, const struct task *task, uint32_t index)
{
    struct holding h;
    struct need need;

    fit_ever(core, task->shape, core->nodes.rows[task->node].class_id, &need);
    h = holding_on(&core->shapes.shapes[task->shape], nodes_class_of(&core->nodes, task->node),
                   &need, task->gpu_mask);
    if (nodes_free_mcpu(&core->nodes, task->node) < h.mcpu ||
        nodes_free_memory_bytes(&core->nodes, task->node) < h.memory_bytes)
        return false;
    for (uint64_t left = h.gpus; left != 0; left &= left - 1)
        if (!gpu_can_keep(core, task, (uint32_t)__builtin_ctzll(left), &h.need))
            return false;
    trial_take(core, task->node, task->shape, task->gpu_mask, task->mig_start, index);
    return true;
}

static bool all_can_stay(const struct plan *p, uint32_t leaver)
{
    const struct job *row = job_of(p, leaver);
    const uint32_t only = p->leavers[leaver].task;

    for (uint32_t i = 0; i < row->task_count; i++)
        if (!job_task(p->core, row, i)->left && (only == ROW_NONE || only == i) &&
            !plan_can_stay(p->core, job_task(p->core, row, i), i))
            return false;
    return true;
}

bool plan_put_back(struct plan *p, uint32_t leaver)
{
    const uint32_t mark = trial_mark(&p->core->trial);
    uint32_t queue;

    if (all_can_stay(p, leaver)) {
        plan_untake(p, leaver);
        if (plan_admits(p, &queue) && plan_places_admitted(p))
            return true;
        plan_retake(p, leaver);
    }
    trial_undo(p->core, mark);
    return false;
}

void plan_unbook(struct plan *p)
{
    for (uint32_t v = 0; v < p->count; v++)
        if (p->leavers[v].chosen)
            book_leaving(p, v, -1);
    plan_unbook_claims(p);
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

static struct amounts places_hold(const struct plan *p)
{
    return place_amounts(p->core, p->places, p->place_count);
}

bool plan_places_admitted(const struct plan *p)
{
    const struct core *core = p->core;
    const struct amounts holds = places_hold(p);
    struct refusal refusal;

    return queues_admit(&core->queues, &core->jobs.rows[p->job].at, &holds, &core->capacity,
                        HELD_IN_FUTURE, &refusal);
}

/* The job that loses something to the plan: of its jobs, then of its claims; ROW_NONE = not it. */
static uint32_t loser(const struct plan *p, uint32_t i)
{
    if (i < p->job_count)
        return p->jobs[i].taken > 0 ? p->jobs[i].job : ROW_NONE;
    i -= p->job_count;
    return p->claims[i].taken ? p->claims[i].job : ROW_NONE;
}

bool plan_is_entitled(const struct plan *p)
{
    const struct queues *q = &p->core->queues;
    const struct job *row = &p->core->jobs.rows[p->job];
    const struct amounts *asks = &p->core->shapes.gangs[row->gang].asks;
    const struct amounts holds = places_hold(p);
    uint32_t own, other, seen = QUEUE_NONE;

    if (!q->books || amounts_within(&holds, asks))
        return true;
    for (uint32_t i = 0; i < p->job_count + p->claim_count; i++) {
        const uint32_t from = loser(p, i);

        if (from == ROW_NONE)
            continue;
        queues_diverge(q, row->at.leaf, p->core->jobs.rows[from].at.leaf, &own, &other);
        if (own == other || own == seen || !queue_is_entitled(&q->rows[own], asks))
            continue; /* it takes as of its own queue, or from who is above in any case */
        if (!entitled_to_hold(p->core, &row->at, own, asks, &holds))
            return false;
        seen = own;
    }
    return true;
}
