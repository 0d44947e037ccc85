/* SPDX-License-Identifier: Apache-2.0 */
/* step.c - core_step(): the phases of a step, in order. */
#include "core/step.h"

#include "core/core.h"
#include "core/impl.h"
#include "core/life.h"

/* It waits for what cannot happen any more. */
static void reject(struct core *core, uint32_t job, enum reason reason, struct decisions *out)
{
    const struct decision decision = {
        .type = DECISION_REJECT,
        .job_id = core->jobs.rows[job].id,
        .job = ROW_NONE,
        .reason = reason,
        .for_job = JOB_NONE,
    };

    vec_push(out->items, out->count, out->cap, decision);
    core->jobs.pending--;
    job_gone(core, job, JOB_CANCELLED);
}

/* Why a job is not even in the queue, once for each change. */
static void note_kept_out(struct core *core, uint32_t job, struct decisions *out)
{
    struct job *row = &core->jobs.rows[job];
    const struct decision decision = {
        .type = DECISION_NOTE,
        .job_id = row->id,
        .job = job,
        .reason = row->reason,
        .for_job = JOB_NONE,
    };

    if (row->told == row->reason)
        return;
    row->told = row->reason;
    vec_push(out->items, out->count, out->cap, decision);
}

/* Cancelled, failed and lost: what is left of such jobs is told to stop. Jobs that are kept out of
 * the queue are told why, or rejected. A rejected job may add others to the list. */
static void settle(struct core *core, struct decisions *out)
{
    for (uint32_t i = 0; i < core->unsettled_count; i++) {
        const uint32_t job = core->unsettled[i];
        struct job *row = &core->jobs.rows[job];

        if (!row->unsettled)
            continue;
        row->unsettled = false;
        if (row->state == JOB_PENDING && row->in_vain)
            reject(core, job, REASON_IN_VAIN, out);
        else if (row->state == JOB_PENDING && !row->queued)
            note_kept_out(core, job, out);
        else if (row->state == JOB_STARTING || row->state == JOB_RUNNING)
            job_stop(core, job, row->cancelled || row->failed ? STOP_CANCEL : STOP_PREEMPT, out);
    }
    core->unsettled_count = 0;
}

static void rekey(struct core *core)
{
    uint32_t job;

    while (core->order->next_rekey != NULL &&
           core->order->next_rekey(core->order_state, core, &job))
        if (core->jobs.rows[job].state == JOB_PENDING && core->jobs.rows[job].queued)
            job_rekey(core, job);
}

/* Tell why the first job of each gang waits, once for each change. */
static void note(struct core *core, struct decisions *out)
{
    for (uint32_t i = 0; i < core->pending.open_count; i++) {
        struct bucket *bucket = &core->pending.buckets[core->pending.open[i]];
        const struct job *row = &core->jobs.rows[bucket->heap[0].job];
        const struct decision decision = {
            .type = DECISION_NOTE,
            .job_id = row->id,
            .job = bucket->heap[0].job,
            .reason = bucket->reason,
            .for_job = JOB_NONE,
        };

        if (bucket->told == bucket->reason)
            continue;
        bucket->told = bucket->reason;
        vec_push(out->items, out->count, out->cap, decision);
    }
}

uint32_t core_step(struct core *core, int64_t now_us, struct decisions *out)
{
    decisions_clear(out);
    if (now_us > core->now_us)
        core->now_us = now_us < TIME_US_MAX ? now_us : TIME_US_MAX;
    settle(core, out);
    if (core->placement->refresh != NULL && core->placement->refresh(core->placement_state, core))
        core->score_epoch++;
    if (core->order->step != NULL)
        core->order->step(core->order_state, core, core->now_us);
    rekey(core);
    step_mend(core, out);
    if (core->repack != REPACK_NEVER)
        step_repack(core, out);
    else
        step_fill(core, out);
    step_grow(core, out);
    note(core, out);
    if (core->order->stepped != NULL)
        core->order->stepped(core->order_state, core, core->now_us);
    return out->count;
}
