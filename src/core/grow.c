/* SPDX-License-Identifier: Apache-2.0 */
/* grow.c - running jobs get more of their tasks, where there is room.
 *
 * Jobs that could grow are few, and listed (elastic.h), so a step does not look at all that run.
 * Nor at those again that were refused, until something got free anywhere. */
#include "base/mem.h"
#include "base/sort.h"
#include "core/impl.h"
#include "core/life.h"
#include "core/place.h"
#include "core/step.h"

static int compare(const void *a, const void *b, void *arg)
{
    const struct waiting *x = a, *y = b;

    (void)arg;
    return waiting_before(x, y) ? -1 : waiting_before(y, x);
}

/* Tasks that a service has too few, when those that give way have left. */
static uint32_t missing(const struct core *core, const struct job *row)
{
    const uint32_t stand = job_tasks_standing(row), min = job_tasks_min(core, row);

    return row->service && stand < min ? min - stand : 0;
}

/* The first job that waits, if its order lets it hold back those behind it. */
static bool blocker(const struct core *core, struct waiting *out)
{
    const struct pending *p = &core->pending;
    bool any = false;

    for (uint32_t i = 0; core->order->blocks && i < p->open_count; i++) {
        const struct waiting *first = &p->buckets[p->open[i]].heap[0];

        if (!any || waiting_before(first, out))
            *out = *first;
        any = true;
    }
    return any;
}

/* With a policy that draws it may be that nothing fits though this says so. */
static bool may_fit(struct core *core, const struct job *row)
{
    const uint32_t first = core->shapes.gangs[row->gang].first_layout;

    return place_some_fit(core, &core->shapes.layouts[first + row->layout], true);
}

/* Those of the list that may find room, in order. */
static uint32_t list_candidates(struct core *core, bool services, struct waiting *out)
{
    struct elastic *e = &core->elastic;
    uint32_t count = 0;

    for (uint32_t i = 0; i < e->count; i++) {
        struct growing *growing = &e->growing[i];
        const struct job *row = &core->jobs.rows[growing->job];

        if (growing->refused_at == core->index.gains || (services && missing(core, row) == 0))
            continue;
        if (may_fit(core, row))
            out[count++] = (struct waiting){
                .key = orderer_key(core, growing->job),
                .sequence = row->sequence,
                .job = growing->job,
            };
        else
            growing->refused_at = core->index.gains;
    }
    sort_stable(out, count, sizeof *out, compare, NULL);
    return count;
}

/* As many as fit, at most `max`; on trial. */
static uint32_t place_more(struct core *core, uint32_t job, uint32_t max, uint32_t mark)
{
    struct refusal refusal;

    if (may_fit(core, &core->jobs.rows[job]))
        (void)place_absent(core, job, max);
    (void)place_within_bounds(core, job, mark, 0, HELD_NOW, &refusal);
    return trial_mark(&core->trial) - mark;
}

/* What reservations are in the way of may have room though nothing gets free. */
static void grow_job(struct core *core, uint32_t job, uint32_t max, struct decisions *out)
{
    const uint32_t mark = trial_mark(&core->trial);
    const struct job *row = &core->jobs.rows[job];
    uint32_t placed;

    if (core->reserve.open)
        reserve_show_beside(core, job);
    placed = place_more(core, job, max, mark);
    if (core->reserve.open)
        reserve_hide_beside(core, job);
    if (placed > 0)
        job_grow(core, job, mark, out);
    if (placed < max && row->growing_at != ROW_NONE)
        core->elastic.growing[row->growing_at].refused_at =
            core->reserve.open ? NOT_REFUSED : core->index.gains;
}

void step_mend(struct core *core, struct decisions *out)
{
    struct waiting *candidates;
    uint32_t count;

    if (core->elastic.settled_at == core->index.gains || core->elastic.count == 0)
        return;
    candidates = mem_alloc(core->elastic.count, sizeof *candidates);
    count = list_candidates(core, true, candidates);
    for (uint32_t i = 0; i < count; i++)
        grow_job(core, candidates[i].job, missing(core, &core->jobs.rows[candidates[i].job]), out);
    trial_commit(core);
    mem_free(candidates);
}

void step_grow(struct core *core, struct decisions *out)
{
    struct waiting *candidates, first;
    bool blocked, looking;
    uint32_t count;

    if (core->elastic.settled_at == core->index.gains || core->elastic.count == 0)
        return;
    candidates = mem_alloc(core->elastic.count, sizeof *candidates);
    blocked = blocker(core, &first);
    count = list_candidates(core, false, candidates);
    looking = count > 0 && reserve_look(core);
    core->elastic.settled_at = core->index.gains;
    for (uint32_t i = 0; i < count; i++) {
        if (!blocked || waiting_before(&candidates[i], &first))
            grow_job(core, candidates[i].job, UINT32_MAX, out);
        else
            core->elastic.settled_at = NOT_REFUSED;
    }
    if (looking)
        reserve_look_done(core);
    trial_commit(core);
    mem_free(candidates);
}
