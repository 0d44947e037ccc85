/* SPDX-License-Identifier: Apache-2.0 */
/* protocol_none.c - no quirks: a job runs for its duration times the slowdown of its layout; a
 * restart costs --restart-cost, and the work since the last checkpoint. */
#include "core/view.h"
#include "sim/protocol.h"
#include "sim/run.h"

__extension__ typedef __int128 wide;

static int64_t none_next_us(struct run *run)
{
    struct heap_item first;

    return heap_peek(&run->ends, &first) ? first.key : TIME_NONE;
}

static int none_advance(struct run *run, int64_t now_us, struct err *err)
{
    struct heap_item first;

    while (heap_peek(&run->ends, &first) && first.key <= now_us) {
        heap_pop(&run->ends, &first);
        const int rc = run_end_job(run, first.id, first.key, err);

        if (rc < 0)
            return rc;
    }
    return 0;
}

static uint32_t slowdown_ppm(const struct run *run, uint32_t job)
{
    const struct core *core = run->world.core;
    const struct job *row = core_job(core, core_find_job(core, (uint64_t)job + 1));

    return core_layout(core, core_gang(core, row->gang)->first_layout + row->layout)->slowdown_ppm;
}

static void none_started(struct run *run, uint32_t job)
{
    struct run_job *j = &run->jobs[job];
    wide end_us = run->now_us;

    if (j->duration_us < 0)
        return;
    end_us += j->starts > 1 ? run->options->restart_cost_us : 0;
    end_us += (wide)j->left_us * slowdown_ppm(run, job) / 1000000;
    heap_push(&run->ends, end_us < TIME_NONE ? (int64_t)end_us : TIME_NONE - 1, job, job);
}

/* What was done in this run, less the restart's cost and what no checkpoint holds. */
static void none_stopped(struct run *run, uint32_t job)
{
    struct run_job *j = &run->jobs[job];
    int64_t done_us = run->now_us - j->start_us;

    if (j->duration_us < 0)
        return;
    heap_remove(&run->ends, job);
    done_us -= j->starts > 1 ? run->options->restart_cost_us : 0;
    if (run->options->checkpoint_every_us > 0)
        done_us -= done_us % run->options->checkpoint_every_us;
    j->left_us -= done_us > 0 ? done_us : 0;
}

const struct protocol protocol_none = {
    .name = "none",
    .summary = "durations as they are, restarts cost --restart-cost",
    .next_us = none_next_us,
    .advance = none_advance,
    .started = none_started,
    .stopped = none_stopped,
};
