/* SPDX-License-Identifier: Apache-2.0 */
/* owed.c - what queues are entitled to and do not hold, though they ask for it. */
#include "core/core.h"
#include "core/entitle.h"
#include "core/impl.h"
#include "core/victims.h"
#include "core/without.h"

static bool path_is_entitled(const struct core *core, uint32_t queue, const struct amounts *asks)
{
    const struct queues *q = &core->queues;

    for (; q->rows[queue].parent != QUEUE_NONE; queue = q->rows[queue].parent)
        if (q->rows[q->rows[queue].parent].children > 1 &&
            !queue_is_entitled(&q->rows[queue], asks))
            return false;
    return true;
}

static bool is_owed_to(const struct core *core, uint32_t queue, const struct bucket *bucket)
{
    return bucket->ask.leaf == queue &&
           path_is_entitled(core, queue, &core->shapes.gangs[bucket->ask.gang].asks);
}

bool core_queue_is_owed(const struct core *core, uint32_t queue)
{
    const struct pending *p = &core->pending;

    for (uint32_t i = 0; core->queues.books && queue != QUEUE_ROOT && i < p->open_count; i++)
        if (is_owed_to(core, queue, &p->buckets[p->open[i]]))
            return true;
    return false;
}

bool core_queue_could_have(const struct core *core, uint32_t queue)
{
    struct core *scratch = core_clone(core);
    const struct pending *p = &scratch->pending;
    bool fits = false;

    victims_refresh(scratch);
    for (uint32_t i = 0; !fits && i < p->open_count; i++) {
        const struct waiting *first = pending_first(p, p->open[i]);

        fits = first != NULL && is_owed_to(scratch, queue, &p->buckets[p->open[i]]) &&
               without_fits(scratch, first->job, &(struct leaving){false, false});
    }
    core_free(scratch);
    return fits;
}
