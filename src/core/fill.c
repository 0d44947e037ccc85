/* SPDX-License-Identifier: Apache-2.0 */
/* fill.c - waiting jobs in their turn: each starts where it fits, or makes others give way.
 *
 * Only the first job of each bucket takes part in the contest. When it starts, the next one of its
 * bucket takes its place; when it does not fit, none behind it does, and the whole bucket is out
 * until something got free. Where jobs have reservations, it is out only after those of its jobs
 * that get one. So a step costs O(buckets that may fit + jobs started), however many
 * jobs wait. */
#include "core/claim.h"
#include "core/contest.h"
#include "core/impl.h"
#include "core/life.h"
#include "core/place.h"
#include "core/preempt.h"
#include "core/rights.h"
#include "core/step.h"
#include "core/victims.h"

static void wait_for(struct bucket *bucket, enum reason reason, uint32_t bound)
{
    bucket->reason = reason;
    bucket->bound = bound;
}

/* Something was known to be in its way, and nothing got free since. */
static bool is_refused(const struct core *core, const struct bucket *bucket)
{
    return bucket->refused_at == core->index.gains ||
           core->pending.gangs[bucket->ask.gang].refused_at == core->index.gains;
}

static bool takes_part(struct core *core, uint32_t b)
{
    struct bucket *bucket = &core->pending.buckets[b];
    const uint32_t job = bucket->heap[0].job;

    if (core->reserve.open || !is_refused(core, bucket) || core->jobs.rows[job].victims > 0 ||
        orderer_of(core, job)->policy->blocks || rights_some(core, job))
        return true;
    if (bucket->refused_at != core->index.gains)
        wait_for(bucket, core->pending.gangs[bucket->ask.gang].reason, QUEUE_NONE);
    return false;
}

static bool refuse(struct core *core, struct bucket *bucket, const struct refusal *refusal)
{
    bucket->refused_at = core->index.gains;
    wait_for(bucket, queue_bound_reason(refusal->bound), refusal->queue);
    return false;
}

/* A place that delays no reservation. Reasons are those of the gang alone, unless it would fit. */
static bool place(struct core *core, uint32_t job, uint32_t *out_layout, enum reason *out_reason)
{
    const uint32_t mark = trial_mark(&core->trial), gang = core->jobs.rows[job].gang;

    if (!core->reserve.open || !reserve_binds(core, job))
        return place_gang(core, gang, UINT32_MAX, out_layout, out_reason);
    if (reserve_place(core, job, out_layout))
        return true;
    if (place_gang(core, gang, UINT32_MAX, out_layout, out_reason))
        *out_reason = REASON_RESERVED;
    trial_undo(core, mark);
    return false;
}

/* Start it, or remember why not. */
static bool try_start(struct core *core, uint32_t job, struct decisions *out)
{
    const struct job *row = &core->jobs.rows[job];
    struct bucket *bucket = &core->pending.buckets[row->bucket];
    struct gang_note *note = &core->pending.gangs[row->gang];
    const uint32_t mark = trial_mark(&core->trial);
    struct refusal refusal;
    enum reason reason = REASON_NONE;
    uint32_t layout;

    if (bucket->refused_at == core->index.gains &&
        (bucket->reason != REASON_RESERVED || !core->reserve.open))
        return false;
    if (!queues_admit(&core->queues, &row->at, &core->shapes.gangs[row->gang].asks, &core->capacity,
                      HELD_NOW, &refusal))
        return refuse(core, bucket, &refusal);
    if (note->refused_at != core->index.gains && place(core, job, &layout, &reason)) {
        if (trial_is_admitted(core, job, mark, HELD_NOW, &refusal)) {
            job_start(core, job, layout, mark, out);
            return true;
        }
        trial_undo(core, mark);
        return refuse(core, bucket, &refusal);
    }
    if (reason == REASON_RESERVED) {
        bucket->refused_at = core->index.gains; /* of another bucket it may be shorter */
        wait_for(bucket, REASON_RESERVED, QUEUE_NONE);
        return false;
    }
    if (note->refused_at != core->index.gains) {
        note->refused_at = core->index.gains;
        note->reason =
            reason == REASON_ROOM && place_never(core, row->gang) ? REASON_NEVER : reason;
    }
    wait_for(bucket, note->reason, QUEUE_NONE);
    return false;
}

/* Where its claim is, unless something else is in the way there now; then anywhere. */
static bool start_claimant(struct core *core, uint32_t job, struct decisions *out)
{
    if (claim_is_free(core, job)) {
        job_start_claimed(core, job, out);
        return true;
    }
    claim_drop(core, job);
    return try_start(core, job, out);
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
        if (!start_claimant(core, job, out))
            core->claimants[i] = ROW_NONE; /* it had its chance; in line again */
        i += core->claimant_count == before;
    }
    for (uint32_t i = 0; i < core->claimant_count; i++)
        if (core->claimants[i] != ROW_NONE)
            core->claimants[kept++] = core->claimants[i];
    core->claimant_count = kept;
}

/* Those who give way are looked for once a step, if at all. */
static bool make_way(struct core *core, uint32_t job, bool *victims_known, struct decisions *out)
{
    bool done = false;

    if (!rights_some(core, job))
        return false;
    if (!*victims_known)
        victims_refresh(core);
    *victims_known = true;
    if (!core->reserve.open)
        return preempt_for(core, job, out);
    if (reserve_show(core, job))
        done = preempt_for(core, job, out);
    reserve_hide(core);
    return done;
}

/* It waits, if possible with a reservation; then the next one of its bucket has its turn. */
static void pass_by(struct core *core, uint32_t b, uint32_t job)
{
    if (core->reserve.open && reserve_for(core, job) && core->pending.buckets[b].count > 1) {
        reserve_set_aside(core, job);
        contest_next(core, b);
    } else {
        contest_drop(core, b);
    }
}

/* One turn of the first job of a bucket. */
static void take_turn(struct core *core, uint32_t b, bool *victims_known, struct decisions *out)
{
    struct bucket *bucket = &core->pending.buckets[b];
    const uint32_t job = bucket->heap[0].job;

    if (core->jobs.rows[job].victims > 0) {
        wait_for(bucket, REASON_VICTIMS, QUEUE_NONE); /* its claim was lost; they still leave */
        contest_drop(core, b);
    } else if (try_start(core, job, out)) {
        contest_next(core, b);
    } else if (orderer_of(core, job)->policy->blocks) {
        if (core->reserve.open)
            (void)reserve_for(core, job);
        contest_hold_back(core, b);
    } else if (make_way(core, job, victims_known, out)) {
        contest_next(core, b); /* it has a claim; the next one may have one too */
        contest_refresh(core);
    } else {
        pass_by(core, b, job);
    }
}

/* Reservations have moved, so that somebody before them may have room now. */
static bool another_turn(struct core *core)
{
    if (!reserve_again(core))
        return false;
    contest_open(core, takes_part);
    return true;
}

void step_fill(struct core *core, struct decisions *out)
{
    bool reserves = reserve_open(core);
    bool victims_known = false;
    uint32_t bucket, again = 0;

    start_claimants(core, out);
    contest_open(core, takes_part);
    if (!reserves && core->reserve.count > 0 && contest_best(core) != ROW_NONE) {
        reserve_upset(core); /* somebody may take from others now, and that is not all of it */
        reserves = reserve_open(core);
        contest_open(core, takes_part);
    }
    do {
        while ((bucket = contest_best(core)) != ROW_NONE)
            take_turn(core, bucket, &victims_known, out);
    } while (reserves && again++ < RESERVE_AGAIN && another_turn(core));
    trial_commit(core);
    if (reserves)
        reserve_close(core, out);
}
