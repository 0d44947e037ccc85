/* SPDX-License-Identifier: Apache-2.0 */
/* rights.c - from which running jobs a waiting one may take. */
#include "core/rights.h"

#include "core/entitle.h"
#include "core/impl.h"
#include "core/life.h"
#include "core/victims.h"

static const struct priority *class_of(const struct core *core, uint32_t job)
{
    return &core->classes.rows[core->jobs.rows[job].class_id];
}

static const struct amounts *asks_of(const struct core *core, uint32_t job)
{
    return &core->shapes.gangs[core->jobs.rows[job].gang].asks;
}

static bool may_reclaim(const struct core *core, uint32_t job)
{
    const struct queues *q = &core->queues;
    uint32_t row = core->jobs.rows[job].at.leaf;

    for (; q->books && q->rows[row].parent != QUEUE_NONE; row = q->rows[row].parent)
        if (q->rows[q->rows[row].parent].children > 1 &&
            queue_is_entitled(&q->rows[row], asks_of(core, job)))
            return true;
    return false;
}

void rights_gave_way(struct core *core, uint32_t job, enum right by, uint64_t to)
{
    struct job *row = &core->jobs.rows[job];
    const bool ran = row->state == JOB_RUNNING && core->now_us - row->start_us >= YIELD_SOON_US;
    const bool turned = (row->took_by & (RIGHT_CLASS | RIGHT_ORDER)) != 0 && row->took_by != by;
    uint32_t doublings;

    row->took_by = RIGHT_NONE;
    if (!ran && !turned)
        return;
    if (ran || row->yielded_to != to)
        row->yields = 0;
    row->yields += !ran && row->yields < UINT32_MAX;
    row->yielded_to = to;
    row->takes_after_us = 0;
    if (row->yields <= YIELDS_FREE)
        return;
    doublings = row->yields - YIELDS_FREE - 1;
    row->takes_after_us =
        core->now_us +
        (TAKES_AGAIN_US << (doublings < TAKES_DOUBLE_MAX ? doublings : TAKES_DOUBLE_MAX));
}

/* It gave way too often of late to take by its class or its order (rights.h). */
static bool holds_off(const struct core *core, uint32_t job)
{
    return core->jobs.rows[job].takes_after_us > core->now_us;
}

bool rights_some(const struct core *core, uint32_t job)
{
    const bool first = orderer_of(core, job)->policy->preempts == PREEMPT_TAKE ||
                       classes_may_take(&core->classes, core->jobs.rows[job].class_id);

    return core->jobs.active_count > 0 &&
           ((first && !holds_off(core, job)) || may_reclaim(core, job));
}

static bool has_class_over(const struct core *core, uint32_t job, uint32_t victim)
{
    return class_of(core, victim)->rank < class_of(core, job)->takes_below;
}

static bool has_order_over(struct core *core, uint32_t job, uint32_t victim)
{
    const struct orderer *o = orderer_of(core, job);

    return class_of(core, victim)->rank == class_of(core, job)->rank &&
           o->policy->preempts == PREEMPT_TAKE && o == orderer_of(core, victim) &&
           job_order_key(core, victim) > job_order_key(core, job);
}

/* Every queue from the victim's up to this one holds too much of what it would lose. */
static bool all_above(const struct core *core, uint32_t victim, uint32_t top,
                      const struct amounts *held, enum overshoot overshoot)
{
    const struct queues *q = &core->queues;
    uint32_t row = core->jobs.rows[victim].at.leaf;

    for (;; row = q->rows[row].parent) {
        if (overshoot == OVERSHOOT_NEVER ? !queue_stays_above(&q->rows[row], held)
                                         : !queue_is_above(&q->rows[row], held))
            return false;
        if (row == top)
            return true;
    }
}

/* From its leaf up to this queue, is none that another one beside it could reclaim from, with what
 * the job asks for? */
static bool is_safe_below(const struct core *core, uint32_t job, uint32_t top)
{
    const struct queues *q = &core->queues;
    uint32_t row = core->jobs.rows[job].at.leaf;

    for (; row != top; row = q->rows[row].parent) {
        const struct queue *parent = &q->rows[q->rows[row].parent];

        if (parent->children > 1 && (parent->fair || parent->child_guaranteed) &&
            !queue_is_entitled(&q->rows[row], asks_of(core, job)))
            return false;
    }
    return true;
}

/* A job with a claim does not run yet, so nothing of what it is promised while it runs counts. */
static bool may_lose(const struct core *core, const struct job *victim)
{
    return job_has_claim(victim) || job_may_give_way(core, victim);
}

enum right rights_over(struct core *core, uint32_t job, uint32_t victim, uint32_t task,
                       enum overshoot overshoot)
{
    const bool takes = !holds_off(core, job);
    const enum right first = !takes                              ? RIGHT_NONE
                             : has_class_over(core, job, victim) ? RIGHT_CLASS
                             : has_order_over(core, job, victim) ? RIGHT_ORDER
                                                                 : RIGHT_NONE;
    uint32_t own, other;
    struct amounts held;
    bool entitled, safe;

    if (!may_lose(core, &core->jobs.rows[victim]))
        return RIGHT_NONE;
    queues_diverge(&core->queues, core->jobs.rows[job].at.leaf, core->jobs.rows[victim].at.leaf,
                   &own, &other);
    if (own == other)
        return first;
    entitled = queue_is_entitled(&core->queues.rows[own], asks_of(core, job));
    safe = first != RIGHT_NONE && is_safe_below(core, job, own);
    if (!entitled && !safe)
        return RIGHT_NONE;
    if (entitled && safe && first == RIGHT_CLASS)
        return RIGHT_CLASS;
    held = job_amounts(core, &core->jobs.rows[victim], task);
    if (!all_above(core, victim, other, &held, entitled ? overshoot : OVERSHOOT_NEVER))
        return RIGHT_NONE;
    return entitled ? RIGHT_RECLAIM : first;
}

uint32_t rights_reach(struct core *core, uint32_t job)
{
    const struct victims *v = &core->victims;
    const struct priority *class = class_of(core, job);
    const bool takes = orderer_of(core, job)->policy->preempts == PREEMPT_TAKE;
    const int64_t key = takes ? job_order_key(core, job) : INT64_MAX;
    uint32_t low = 0, high = v->count;

    if (may_reclaim(core, job))
        return v->count;
    if (holds_off(core, job))
        return 0;
    while (low < high) { /* by rank, then from large keys to small ones */
        const uint32_t middle = low + (high - low) / 2;
        const struct victim *victim = &v->list[middle];

        if (victim->rank < class->takes_below ||
            (takes &&
             (victim->rank < class->rank || (victim->rank == class->rank && victim->key > key))))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
