/* SPDX-License-Identifier: Apache-2.0 */
/* migrate.c - running jobs move to a faster layout when there is room for one. */
#include "core/migrate.h"

#include "base/mem.h"
#include "base/sort.h"
#include "core/impl.h"
#include "core/life.h"
#include "core/place.h"

/* The first so many of its layouts are faster than now by the gain that is asked for. */
static uint32_t faster_layouts(const struct core *core, const struct job *row)
{
    const struct gang *gang = &core->shapes.gangs[row->gang];
    const uint64_t now_ppm = core->shapes.layouts[gang->first_layout + row->layout].slowdown_ppm;
    uint32_t count = 0;

    while (count < row->layout) {
        const uint64_t ppm = core->shapes.layouts[gang->first_layout + count].slowdown_ppm;

        if ((now_ppm - ppm) * 1000000 < core->migrate_gain_ppm * now_ppm || ppm > now_ppm)
            break;
        count++;
    }
    return count;
}

static void give_all(struct core *core, const struct job *row)
{
    for (uint32_t i = 0; i < row->task_count; i++) {
        const struct task *task = job_task(core, row, i);

        if (!task->left)
            trial_give(core, task->node, task->shape, task->gpu_mask, task->mig_start, i);
    }
}

static int compare(const void *a, const void *b, void *arg)
{
    const struct core *core = arg;
    const uint64_t x = core->jobs.rows[*(const uint32_t *)a].sequence;
    const uint64_t y = core->jobs.rows[*(const uint32_t *)b].sequence;

    return x < y ? -1 : x > y;
}

/* Stop it and remember it as its own claimant. */
static void move(struct core *core, uint32_t job, struct decisions *out)
{
    struct job *row = &core->jobs.rows[job];

    row->claimant = row->id;
    row->victims++;
    row->moving = true;
    vec_push(core->claimants, core->claimant_count, core->claimant_cap, job);
    job_stop(core, job, STOP_PREEMPT, out);
}

void migrate(struct core *core, struct decisions *out)
{
    uint32_t *jobs = mem_copy(core->jobs.active, core->jobs.active_count, sizeof *jobs);
    const uint32_t count = core->jobs.active_count;

    sort_stable(jobs, count, sizeof *jobs, compare, core);
    for (uint32_t i = 0; i < count; i++) {
        const struct job *row = &core->jobs.rows[jobs[i]];
        const uint32_t mark = trial_mark(&core->trial);
        enum reason reason;
        uint32_t layout;

        if (row->state != JOB_RUNNING || core->now_us - row->start_us < core->migrate_wait_us ||
            faster_layouts(core, row) == 0)
            continue;
        give_all(core, row);
        if (place_gang(core, row->gang, faster_layouts(core, row), &layout, &reason))
            move(core, jobs[i], out);
        else
            trial_undo(core, mark);
    }
    trial_undo(core, 0);
    mem_free(jobs);
}

void restart_movers(struct core *core, struct decisions *out)
{
    for (uint32_t i = 0; i < core->claimant_count;) {
        const uint32_t job = core->claimants[i], mark = trial_mark(&core->trial);
        enum reason reason;
        uint32_t layout;

        if (core->jobs.rows[job].queued && core->jobs.rows[job].victims == 0 &&
            place_gang(core, core->jobs.rows[job].gang, UINT32_MAX, &layout, &reason))
            job_start(core, job, layout, mark, out); /* it leaves the list */
        else
            i++;
    }
}
