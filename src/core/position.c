/* SPDX-License-Identifier: Apache-2.0 */
/* position.c - how many waiting jobs have their turn before one. */
#include "core/position.h"

#include "core/contest.h"
#include "core/impl.h"
#include "core/life.h"

static bool all_take_part(struct core *core, uint32_t bucket)
{
    (void)core, (void)bucket;
    return true;
}

/* The row of the configuration that the job was submitted to. */
static uint32_t queue_of(const struct core *core, uint32_t job)
{
    const uint32_t leaf = core->jobs.rows[job].at.leaf;
    const struct queue *row = &core->queues.rows[leaf];

    return row->kind == QUEUE_OF_USER ? row->parent : leaf;
}

static void count(struct core *core, uint32_t job, uint32_t other, struct position *out)
{
    out->before++;
    out->in_queue += queue_of(core, other) == queue_of(core, job);
}

/* Room was made for them: they go before all others. */
static void count_claimants(struct core *core, uint32_t job, struct position *out)
{
    for (uint32_t i = 0; i < core->claimant_count; i++)
        if (core->claimants[i] != job && core->jobs.rows[core->claimants[i]].state == JOB_PENDING &&
            !core->jobs.rows[core->claimants[i]].queued)
            count(core, job, core->claimants[i], out);
}

static void take_turn(struct core *core, uint32_t bucket)
{
    const uint32_t job = core->pending.buckets[bucket].heap[0].job;
    const struct job *row = &core->jobs.rows[job];

    job_dequeue(core, job);
    queues_book(&core->queues, &row->at, BOOK_CLAIMED, &core->shapes.gangs[row->gang].asks, 1,
                core->now_us);
    contest_next(core, bucket);
}

void position_count(struct core *spent, uint32_t job, struct position *out)
{
    const struct job *row = &spent->jobs.rows[job];
    uint32_t bucket;

    *out = (struct position){0};
    if (row->state != JOB_PENDING || (!row->queued && row->task_first == ROW_NONE))
        return;
    out->known = true;
    if (!row->queued)
        return; /* it has a claim */
    count_claimants(spent, job, out);
    contest_open(spent, all_take_part);
    while ((bucket = contest_best(spent)) != ROW_NONE) {
        const uint32_t first = spent->pending.buckets[bucket].heap[0].job;

        if (first == job)
            return;
        if (out->before >= POSITION_MAX)
            break;
        count(spent, job, first, out);
        take_turn(spent, bucket);
    }
    out->more = true;
}
