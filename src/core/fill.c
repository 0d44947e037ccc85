/* SPDX-License-Identifier: Apache-2.0 */
/* fill.c - waiting jobs in order: each starts where it fits, or makes others give way.
 *
 * Only the first job of each gang competes. When it starts, the next one of its gang takes its
 * place in the competition; when it does not fit, none behind it does, and the whole gang is out
 * until something gets free. So a step costs O(gangs that may fit + jobs started), however many
 * jobs wait. */
#include "core/claim.h"
#include "core/impl.h"
#include "core/life.h"
#include "core/place.h"
#include "core/preempt.h"
#include "core/step.h"
#include "core/victims.h"

struct contest {
    uint32_t *gangs; /* [count] heap by first waiting job */
    uint32_t count;
};

static bool goes_before(const struct core *core, uint32_t a, uint32_t b)
{
    return waiting_before(&core->pending.buckets[a].heap[0], &core->pending.buckets[b].heap[0]);
}

static void sift_down(const struct core *core, struct contest *c, uint32_t at)
{
    const uint32_t item = c->gangs[at];

    for (uint32_t child; (child = 2 * at + 1) < c->count; at = child) {
        if (child + 1 < c->count && goes_before(core, c->gangs[child + 1], c->gangs[child]))
            child++;
        if (!goes_before(core, c->gangs[child], item))
            break;
        c->gangs[at] = c->gangs[child];
    }
    c->gangs[at] = item;
}

static void contest_start(struct core *core, struct contest *c)
{
    const bool all = core->order->blocks || core->order->preempts != PREEMPT_NEVER;

    vec_reserve(core->contest, core->contest_cap, core->pending.open_count);
    c->gangs = core->contest;
    c->count = 0;
    for (uint32_t i = 0; i < core->pending.open_count; i++) {
        const uint32_t gang = core->pending.open[i];

        if (all || core->pending.buckets[gang].refused_at != core->index.gains)
            c->gangs[c->count++] = gang;
    }
    for (uint32_t i = c->count / 2; i-- > 0;)
        sift_down(core, c, i);
}

static void contest_drop_first(const struct core *core, struct contest *c)
{
    c->gangs[0] = c->gangs[--c->count];
    if (c->count > 0)
        sift_down(core, c, 0);
}

/* Start it, or remember why not. */
static bool try_start(struct core *core, uint32_t job, struct decisions *out)
{
    const uint32_t gang = core->jobs.rows[job].gang;
    struct bucket *bucket = &core->pending.buckets[gang];
    const uint32_t mark = trial_mark(&core->trial);
    enum reason reason;
    uint32_t layout;

    if (bucket->refused_at == core->index.gains)
        return false;
    if (place_gang(core, gang, UINT32_MAX, &layout, &reason)) {
        job_start(core, job, layout, mark, out);
        return true;
    }
    bucket->refused_at = core->index.gains;
    bucket->reason = reason == REASON_ROOM && place_never(core, gang) ? REASON_NEVER : reason;
    return false;
}

/* Those for whom others were stopped come first, as soon as all of these have left. */
static void start_claimants(struct core *core, struct decisions *out)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < core->claimant_count;) {
        const uint32_t job = core->claimants[i], before = core->claimant_count;

        if (core->jobs.rows[job].victims > 0 || core->jobs.rows[job].state != JOB_PENDING) {
            i++;
            continue;
        }
        claim_drop(core, job);
        if (!try_start(core, job, out))
            core->claimants[i] = ROW_NONE; /* it had its chance; in line again */
        i += core->claimant_count == before;
    }
    for (uint32_t i = 0; i < core->claimant_count; i++)
        if (core->claimants[i] != ROW_NONE)
            core->claimants[kept++] = core->claimants[i];
    core->claimant_count = kept;
}

static void hold_back_rest(struct core *core, const struct contest *c)
{
    for (uint32_t i = 1; i < c->count; i++) {
        core->pending.buckets[c->gangs[i]].reason = REASON_ORDER;
        core->pending.buckets[c->gangs[i]].refused_at = NOT_REFUSED; /* to find its own reason */
    }
}

static void fill_in_order(struct core *core, struct contest *c, struct decisions *out)
{
    bool victims_known = false;

    while (c->count > 0) {
        const uint32_t gang = c->gangs[0];
        const struct waiting first = core->pending.buckets[gang].heap[0];

        if (core->jobs.rows[first.job].victims == 0 && try_start(core, first.job, out)) {
            if (pending_first(&core->pending, gang) != NULL)
                sift_down(core, c, 0);
            else
                contest_drop_first(core, c);
            continue;
        }
        if (core->order->blocks) {
            hold_back_rest(core, c);
            break;
        }
        if (core->order->preempts == PREEMPT_TAKE && !victims_known) {
            victims_refresh(core);
            victims_known = true;
        }
        if (core->jobs.rows[first.job].victims > 0 ||
            (core->order->preempts == PREEMPT_TAKE &&
             preempt_for(core, first.job, first.key, out))) {
            core->pending.buckets[gang].reason = REASON_VICTIMS;
            core->pending.buckets[gang].refused_at = NOT_REFUSED; /* to find its own reason */
        }
        contest_drop_first(core, c);
    }
}

void step_fill(struct core *core, struct decisions *out)
{
    struct contest contest;

    start_claimants(core, out);
    contest_start(core, &contest);
    fill_in_order(core, &contest, out);
    trial_commit(core);
}
