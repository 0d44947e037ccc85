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

/* What a job will hold that takes whole nodes depends on the nodes, so it is not known to be within
 * what its queue is entitled to: it takes nothing back, or two of these would take turns. */
static bool holds_what_it_asks(const struct core *core, uint32_t job)
{
    const struct gang *gang = &core->shapes.gangs[core->jobs.rows[job].gang];
    const struct layout *layout = &core->shapes.layouts[gang->first_layout];

    return !core->shapes.shapes[core->shapes.groups[layout->first_group].shape].exclusive;
}

static bool is_entitled(const struct core *core, uint32_t job, uint32_t queue)
{
    return holds_what_it_asks(core, job) &&
           queue_is_entitled(&core->queues.rows[queue], asks_of(core, job));
}

static bool may_reclaim(const struct core *core, uint32_t job)
{
    const struct queues *q = &core->queues;
    uint32_t row = core->jobs.rows[job].at.leaf;

    for (; q->books && q->rows[row].parent != QUEUE_NONE; row = q->rows[row].parent)
        if (q->rows[q->rows[row].parent].children > 1 && is_entitled(core, job, row))
            return true;
    return false;
}

bool rights_some(const struct core *core, uint32_t job)
{
    return core->jobs.active_count > 0 &&
           (orderer_of(core, job)->policy->preempts == PREEMPT_TAKE ||
            classes_may_take(&core->classes, core->jobs.rows[job].class_id) ||
            may_reclaim(core, job));
}

/* By class or order, were there one queue only. */
static bool goes_first(struct core *core, uint32_t job, uint32_t victim)
{
    const struct priority *class = class_of(core, job), *other = class_of(core, victim);
    const struct orderer *o = orderer_of(core, job);

    if (other->rank < class->takes_below)
        return true;
    return other->rank == class->rank && o->policy->preempts == PREEMPT_TAKE &&
           o == orderer_of(core, victim) && job_order_key(core, victim) > job_order_key(core, job);
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

/* What is taken back is something that the job asks for: of what it does not name it holds what the
 * place brings, so that its queue could be above by that, and be taken from in turn. */
static struct amounts asked_part(const struct core *core, uint32_t job, const struct amounts *held)
{
    struct amounts part = *held;

    for (int r = 0; r < RES_COUNT; r++)
        if (asks_of(core, job)->of[r] == 0)
            part.of[r] = 0;
    return part;
}

bool rights_over(struct core *core, uint32_t job, uint32_t victim, const struct amounts *held,
                 enum overshoot overshoot)
{
    const bool first = goes_first(core, job, victim);
    uint32_t own, other;
    struct amounts part;
    bool entitled;

    if (!job_may_give_way(core, &core->jobs.rows[victim]))
        return false;
    queues_diverge(&core->queues, core->jobs.rows[job].at.leaf, core->jobs.rows[victim].at.leaf,
                   &own, &other);
    if (own == other)
        return first;
    entitled = is_entitled(core, job, own);
    if (!first && !entitled)
        return false;
    if (first && entitled)
        return true;
    part = first ? *held : asked_part(core, job, held);
    return all_above(core, victim, other, &part, first ? OVERSHOOT_NEVER : overshoot);
}
