/* SPDX-License-Identifier: Apache-2.0 */
/* forward.c - when waiting jobs are expected to start. */
#include "core/forward.h"

#include <string.h>

#include "base/heap.h"
#include "base/mem.h"
#include "core/core.h"
#include "core/impl.h"
#include "core/life.h"
#include "core/rehearse.h"

struct run {
    const struct core *core; /* as things stand: what is known of run times */
    struct rehearsal rehearsal;
    struct forward *out;
    struct heap ends; /* running jobs by when they are expected to end */
    uint32_t waiting; /* jobs that have not started */
    int64_t now_us;
    uint64_t until_job;
    bool beyond; /* services end: what starts now would not start by itself */
};

/* Rows are those of the core: no job arrives, so none gets the row of another one. What ends in the
 * clone teaches nobody: that would be to learn from one's own guesses. */
static void expect_end(struct run *run, uint32_t job)
{
    const struct core *clone = run->rehearsal.core;
    const struct job *row = &clone->jobs.rows[job];
    int64_t left_us = core_expected_us(run->core, job) - job_attained_us(row, clone->now_us);

    if (row->state != JOB_RUNNING || heap_contains(&run->ends, job))
        return; /* it grows */
    if (row->service)
        return; /* it never ends by itself */
    left_us = left_us > 0 ? left_us : 0;
    heap_push(&run->ends, left_us < TIME_US_MAX ? clone->now_us + left_us : TIME_NONE - 1,
              row->sequence, job);
}

/* Who was told to stop leaves when it is killed, or before: at the latest, then. */
static void expect_kill(struct run *run, uint32_t job)
{
    const struct core *clone = run->rehearsal.core;
    const struct job *row = &clone->jobs.rows[job];
    const int64_t kill_us = row->stop_us + job_grace_us(clone, row);

    if (!row->attended)
        heap_push(&run->ends, kill_us > clone->now_us ? kill_us : clone->now_us, row->sequence,
                  job);
}

static void started(void *arg, uint32_t job)
{
    struct run *run = arg;
    const bool waited = run->core->jobs.rows[job].state == JOB_PENDING;

    if (run->beyond) {
        run->out->unending |= run->core->jobs.rows[job].id == run->until_job;
    } else if (waited && run->out->start_us[job] == TIME_NONE) {
        run->out->start_us[job] = run->rehearsal.core->now_us;
        run->waiting--;
    }
    expect_end(run, job);
}

static void stopped(void *arg, uint32_t job)
{
    struct run *run = arg;

    heap_remove(&run->ends, job);
}

static void end_all_until(struct run *run, int64_t now_us)
{
    struct heap_item item;

    while (heap_peek(&run->ends, &item) && item.key <= now_us) {
        heap_pop(&run->ends, &item);
        rehearse_end(&run->rehearsal, item.id, 0);
    }
}

static int64_t next_us(const struct run *run)
{
    int64_t next = core_next_wake_us(run->rehearsal.core);
    struct heap_item item;

    if (heap_peek(&run->ends, &item) && item.key < next)
        next = item.key;
    if (next > TIME_US_MAX)
        return TIME_NONE;
    return next > run->now_us ? next : run->now_us + 1;
}

static bool knows_enough(const struct run *run)
{
    const uint32_t row =
        run->until_job != JOB_NONE ? jobs_find(&run->core->jobs, run->until_job) : ROW_NONE;

    return run->waiting == 0 || run->out->unending ||
           (row != ROW_NONE && run->out->start_us[row] != TIME_NONE);
}

/* What never ends by itself, ends. Returns whether there was any. */
static bool end_the_unending(struct run *run)
{
    struct core *clone = run->rehearsal.core;
    uint32_t *active = mem_copy(clone->jobs.active, clone->jobs.active_count, sizeof *active);
    const uint32_t count = clone->jobs.active_count;
    bool any = false;

    for (uint32_t i = 0; i < count; i++) {
        const struct job *row = &clone->jobs.rows[active[i]];
        const bool stuck = row->state == JOB_STOPPING && row->attended;
        const struct event event = {
            .type = EVENT_JOB_CANCELLED, .at_us = clone->now_us, .job_id = row->id};

        if (stuck)
            rehearse_end(&run->rehearsal, active[i], 1);
        else if (row->service)
            (void)core_apply(clone, &event, NULL);
        any = any || stuck || row->service;
    }
    mem_free(active);
    return any;
}

static void play(struct run *run, const struct forward_limits *limits)
{
    const uint32_t instants = limits->instants > 0 ? limits->instants : FORWARD_INSTANTS_MAX;

    rehearse_arrive(&run->rehearsal);
    for (uint32_t i = 0; i < run->core->jobs.active_count; i++) {
        const uint32_t job = run->core->jobs.active[i];

        if (run->core->jobs.rows[job].state == JOB_RUNNING)
            expect_end(run, job);
        else if (run->core->jobs.rows[job].state == JOB_STOPPING)
            expect_kill(run, job);
    }
    end_all_until(run, run->now_us);
    rehearse_step(&run->rehearsal, run->now_us);
    for (uint32_t i = 0; i < instants && !knows_enough(run); i++) {
        const int64_t next = next_us(run);

        if (next == TIME_NONE) {
            run->out->whole = run->beyond = true;
            if (run->until_job == JOB_NONE || !end_the_unending(run))
                return;
        } else {
            run->now_us = next;
        }
        if (!run->beyond)
            run->out->end_us = next;
        end_all_until(run, run->now_us);
        rehearse_step(&run->rehearsal, run->now_us);
    }
}

void forward_run(const struct core *core, const struct forward_limits *limits, struct forward *out)
{
    struct run run = {.core = core,
                      .out = out,
                      .waiting = core->jobs.pending,
                      .now_us = core->now_us,
                      .until_job = limits->until_job};

    *out =
        (struct forward){.at_us = core->now_us, .end_us = core->now_us, .count = core->jobs.count};
    out->start_us = mem_alloc(out->count, sizeof *out->start_us);
    for (uint32_t i = 0; i < out->count; i++)
        out->start_us[i] = TIME_NONE;
    heap_init(&run.ends);
    rehearse_open(&run.rehearsal, core);
    run.rehearsal.started = started;
    run.rehearsal.stopped = stopped;
    run.rehearsal.arg = &run;
    play(&run, limits);
    rehearse_close(&run.rehearsal);
    heap_done(&run.ends);
}

void forward_done(struct forward *f)
{
    mem_free(f->start_us);
    memset(f, 0, sizeof *f);
}
