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
#include "core/entitle.h"
#include "core/impl.h"
#include "core/life.h"
#include "core/place.h"
#include "core/preempt.h"
#include "core/rights.h"
#include "core/split.h"
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
static enum placing place(struct core *core, uint32_t job, uint32_t *out_layout,
                          enum reason *out_reason, struct refusal *out_refusal)
{
    const uint32_t mark = trial_mark(&core->trial);
    enum placing placing;

    if (!core->reserve.open || !reserve_binds(core, job))
        return place_job(core, job, HELD_NOW, out_layout, out_reason, out_refusal);
    if (reserve_place(core, job, out_layout))
        return PLACE_DONE;
    placing = place_job(core, job, HELD_NOW, out_layout, out_reason, out_refusal);
    if (placing != PLACE_DONE)
        return placing;
    trial_undo(core, mark);
    *out_reason = REASON_RESERVED;
    return PLACE_NO_ROOM;
}

/* An elastic job starts with its minimum while others wait too, and grows into what these leave; a
 * service should have all of its replicas. */
static void leave_room_for_others(struct core *core, uint32_t job, uint32_t layout, uint32_t mark)
{
    const struct gang *gang = &core->shapes.gangs[core->jobs.rows[job].gang];
    const uint32_t least = core->shapes.layouts[gang->first_layout + layout].tasks_min;
    const bool alone = core->pending.open_count == 1 &&
                       core->pending.buckets[core->jobs.rows[job].bucket].count == 1;

    if (!alone && !core->jobs.rows[job].service && trial_mark(&core->trial) - mark > least)
        trial_undo(core, mark + least);
}

/* Start it, or remember why not. */
static bool try_start(struct core *core, uint32_t job, struct decisions *out)
{
    const struct job *row = &core->jobs.rows[job];
    struct bucket *bucket = &core->pending.buckets[row->bucket];
    struct gang_note *note = &core->pending.gangs[row->gang];
    const uint32_t mark = trial_mark(&core->trial);
    struct refusal refusal;
    enum placing placing;
    enum reason reason;
    uint32_t layout;

    if (bucket->refused_at == core->index.gains &&
        (bucket->reason != REASON_RESERVED || !core->reserve.open))
        return false;
    if (!queues_admit(&core->queues, &row->at, &core->shapes.gangs[row->gang].asks, &core->capacity,
                      HELD_NOW, &refusal))
        return refuse(core, bucket, &refusal);
    if (note->refused_at != core->index.gains) {
        placing = place(core, job, &layout, &reason, &refusal);
        if (placing == PLACE_DONE) {
            leave_room_for_others(core, job, layout, mark);
            job_start(core, job, layout, mark, out);
            return true;
        }
        if (placing == PLACE_BEYOND)
            return refuse(core, bucket, &refusal);
        if (reason == REASON_RESERVED) {
            bucket->refused_at = core->index.gains; /* of another bucket it may be shorter */
            wait_for(bucket, REASON_RESERVED, QUEUE_NONE);
            return false;
        }
        note->refused_at = core->index.gains;
        note->reason =
            reason_is_of_room(reason) && place_never(core, row->gang) ? REASON_NEVER : reason;
    }
    wait_for(bucket, note->reason, QUEUE_NONE);
    return false;
}

/* Where its claim is, unless something else is in the way there now, or makes it too slow there;
 * then anywhere. Its claim stays while it is for others to leave, from its places or its queues.
 * *out_waits: that is so. */
static bool start_claimant(struct core *core, uint32_t job, bool *out_waits, struct decisions *out)
{
    const bool free = claim_is_free(core, job) && slowdown_accepted(core, job);

    *out_waits =
        free ? !claim_is_admitted(core, job) : claim_awaits(core, job) || split_awaited(core, job);
    if (*out_waits)
        return false;
    if (free) {
        claim_redeem(core, job, out);
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
        bool waits;

        if (core->jobs.rows[job].victims > 0 || core->jobs.rows[job].state != JOB_PENDING) {
            i++;
            continue;
        }
        if (!start_claimant(core, job, &waits, out) && !waits)
            core->claimants[i] = ROW_NONE; /* it had its chance; in line again */
        i += core->claimant_count == before;
    }
    for (uint32_t i = 0; i < core->claimant_count; i++)
        if (core->claimants[i] != ROW_NONE)
            core->claimants[kept++] = core->claimants[i];
    core->claimant_count = kept;
}

/* Those whose room is free and whose queues did not admit them, until somebody else started or made
 * way: what their queues may hold can depend on what others hold. True if some started. */
static bool start_admitted(struct core *core, struct decisions *out)
{
    bool some = false;

    for (uint32_t i = 0; i < core->claimant_count;) {
        const uint32_t job = core->claimants[i];

        if (core->jobs.rows[job].victims == 0 && claim_is_free(core, job) &&
            slowdown_accepted(core, job) && claim_is_admitted(core, job)) {
            claim_redeem(core, job, out); /* off the list */
            some = true;
        } else {
            i++;
        }
    }
    return some;
}

/* What the turns of one contest have come to. */
struct turns {
    bool victims_known; /* those who give way are looked for once, if at all */
    bool made_way;
    bool borrowed; /* somebody started, and others may reclaim that from a queue above it now */
    bool entitled_anew; /* what queues are entitled to has changed: who had a turn may have more */
};

static bool make_way(struct core *core, uint32_t job, struct turns *turns, struct decisions *out)
{
    bool done;

    turns->entitled_anew |= entitle_again(core);
    if (!rights_some(core, job))
        return false;
    if (!turns->victims_known)
        victims_refresh(core);
    turns->victims_known = true;
    if (!core->reserve.open)
        return preempt_for(core, job, out);
    reserve_show(core, job);
    done = preempt_for(core, job, out);
    reserve_hide(core);
    return done;
}

/* It is passed by, or holds back all behind it. */
static void pass_by(struct core *core, uint32_t b, uint32_t job)
{
    if (orderer_of(core, job)->policy->blocks)
        contest_hold_back(core, b);
    else
        contest_drop(core, b);
}

/* It waits, if possible with a reservation; then the next one of its bucket has its turn, unless it
 * holds that back. */
static void wait_in_line(struct core *core, uint32_t b, uint32_t job)
{
    if (core->reserve.open && reserve_for(core, job) && core->pending.buckets[b].count > 1 &&
        !orderer_of(core, job)->policy->blocks) {
        reserve_set_aside(core, job);
        contest_next(core, b);
    } else {
        pass_by(core, b, job);
    }
}

/* Some queue that the job is in holds more than it is entitled to. */
static bool is_in_queue_above(const struct core *core, uint32_t job)
{
    const struct queues *q = &core->queues;
    const struct amounts *asks = &core->shapes.gangs[core->jobs.rows[job].gang].asks;
    uint32_t row = core->jobs.rows[job].at.leaf;

    for (; q->books && q->rows[row].parent != QUEUE_NONE; row = q->rows[row].parent)
        if (queue_is_above(&q->rows[row], asks))
            return true;
    return false;
}

/* The first job of a bucket has its turn. Who has a claim holds nobody back: its room is kept. */
static void take_turn(struct core *core, uint32_t b, struct turns *turns, struct decisions *out)
{
    struct bucket *bucket = &core->pending.buckets[b];
    const uint32_t job = bucket->heap[0].job;

    if (core->jobs.rows[job].victims > 0) {
        wait_for(bucket, REASON_VICTIMS, QUEUE_NONE); /* its claim was lost; they still leave */
        pass_by(core, b, job);
    } else if (try_start(core, job, out)) {
        turns->borrowed |= is_in_queue_above(core, job);
        contest_next(core, b);
    } else if (make_way(core, job, turns, out)) {
        turns->made_way = true;
        contest_next(core, b); /* it has a claim; the next one may have one too */
        contest_refresh(core);
    } else {
        wait_in_line(core, b, job);
    }
}

/* All have another turn: in any case when `changed`, else if reservations have moved, so that
 * somebody before them may have room now; that is not for ever. */
static bool another_turn(struct core *core, bool changed, uint32_t *moved)
{
    if (!core->reserve.open)
        return changed;
    return (changed || (*moved)++ < RESERVE_AGAIN) && reserve_again(core, changed);
}

static void open_contest(struct core *core)
{
    contest_open(core, takes_part);
    if (core->reserve.open || core->reserve.count == 0 || contest_best(core) == ROW_NONE)
        return;
    reserve_upset(core); /* somebody may take from others now, and that is not all of it */
    (void)reserve_open(core);
    contest_open(core, takes_part);
}

/* When somebody has made way, others may have fewer to ask, and find a plan that they did not see
 * before; and when somebody has started, others may be entitled to more, or have somebody to take
 * from, which is who may claim what leaves. So all have a turn again, until nothing of that
 * happens. */
void step_fill(struct core *core, struct decisions *out)
{
    uint32_t bucket, lowest, moved = 0;
    struct turns turns;
    bool changed;

    (void)reserve_open(core);
    start_claimants(core, out);
    do {
        turns = (struct turns){0};
        lowest = classes_lowest(&core->classes);
        open_contest(core);
        while ((bucket = contest_best(core)) != ROW_NONE)
            take_turn(core, bucket, &turns, out);
        changed = start_admitted(core, out);
        changed = entitle_again(core) || changed || turns.entitled_anew || turns.made_way ||
                  turns.borrowed || classes_lowest(&core->classes) < lowest;
    } while (another_turn(core, changed, &moved));
    trial_commit(core);
    if (core->reserve.open)
        reserve_close(core, out);
}
