/* SPDX-License-Identifier: Apache-2.0 */
/* step.c - core_step(): the phases of a step, in order. */
#include "core/step.h"

#include "core/core.h"
#include "core/entitle.h"
#include "core/impl.h"
#include "core/life.h"
#include "core/overdue.h"
#include "core/split.h"

/* Whose bound it is, in words: the queue, or the class. */
static const char *queue_label(const struct core *core, uint32_t row)
{
    const struct queue *queue = &core->queues.rows[row];

    if (queue->kind == QUEUE_OF_USER)
        queue = &core->queues.rows[queue->parent];
    return names_text(&core->names, queue->kind == QUEUE_OF_CLASS
                                        ? core->classes.rows[queue->orderer].name
                                        : queue->name);
}

/* It waits for what cannot happen, or not any more. */
static void reject(struct core *core, uint32_t job, enum reason reason, struct decisions *out)
{
    const struct job *row = &core->jobs.rows[job];
    const struct amounts *asks = &core->shapes.gangs[row->gang].asks;
    struct refusal refusal;
    const bool bound = !queues_admit_ever(&core->queues, &row->at, asks, &refusal) &&
                       reason == queue_bound_reason(refusal.bound);
    struct decision decision = {
        .type = DECISION_REJECT,
        .job_id = core->jobs.rows[job].id,
        .job = ROW_NONE,
        .reason = reason,
        .for_job = JOB_NONE,
    };

    if (bound) {
        decision.queue = queue_label(core, refusal.queue);
        decision.resource = refusal.resource;
        decision.asked = asks->of[refusal.resource];
        decision.limit = queues_bound_amount(&core->queues, &refusal);
    }
    if (reason == REASON_NEVER)
        decision.never = never_find(core, row->gang);
    if (decision.never.kind == NEVER_MODEL || decision.never.kind == NEVER_LABEL)
        decision.never_name = names_text(&core->names, decision.never.name);
    vec_push(out->items, out->count, out->cap, decision);
    core->jobs.pending--;
    job_gone(core, job, JOB_CANCELLED);
}

/* What is overdue. Cancelled, failed and lost: what is left of such jobs is told to stop. Jobs that
 * are kept out of the queue are told why, or rejected. A rejected job may add others to the list.
 */
static void settle(struct core *core, struct decisions *out)
{
    settle_overdue(core, out);
    for (uint32_t i = 0; i < core->unsettled_count; i++) {
        const uint32_t job = core->unsettled[i];
        struct job *row = &core->jobs.rows[job];

        if (!row->unsettled)
            continue;
        row->unsettled = false;
        if (row->state == JOB_PENDING && row->in_vain)
            reject(core, job, row->reason == REASON_AFTER ? REASON_IN_VAIN : row->reason, out);
        else if (row->state == JOB_PENDING && !row->queued)
            job_note(core, job, out);
        else if (row->state == JOB_STARTING || row->state == JOB_RUNNING)
            job_stop_broken(core, job, out);
    }
    core->unsettled_count = 0;
}

/* Tell why the first job of each bucket waits, once for each change. */
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
            .queue = bucket->bound != QUEUE_NONE ? queue_label(core, bucket->bound) : NULL,
            .for_job = JOB_NONE,
        };

        if (bucket->told == bucket->reason && bucket->told_bound == bucket->bound)
            continue;
        bucket->told = bucket->reason;
        bucket->told_bound = bucket->bound;
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
    orderers_step(core);
    entitle(core);
    step_mend(core, out);
    if (core->repack != REPACK_NEVER)
        step_repack(core, out);
    else
        step_fill(core, out);
    step_split(core, out);
    step_grow(core, out);
    note(core, out);
    orderers_stepped(core);
    return out->count;
}
