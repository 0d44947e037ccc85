/* SPDX-License-Identifier: Apache-2.0 */
/* without.c - would a job fit if others had left? */
#include "core/without.h"

#include "core/elastic.h"
#include "core/impl.h"
#include "core/life.h"
#include "core/place.h"
#include "core/rights.h"
#include "core/victims.h"

static bool has_right(struct core *core, uint32_t job, uint32_t victim)
{
    return rights_over(core, job, victim, ROW_NONE, OVERSHOOT_ONCE) != RIGHT_NONE;
}

/* It would have a right over the victim if that had run for long enough. */
bool without_is_too_young(struct core *core, uint32_t job, uint32_t victim)
{
    struct job *row = &core->jobs.rows[victim];
    const int64_t min_run_us = row->min_run_us;
    bool right;

    if (core->now_us - row->start_us >= job_min_run_us(core, row))
        return false;
    row->min_run_us = 0;
    right = has_right(core, job, victim);
    row->min_run_us = min_run_us;
    return right;
}

/* So many of its last tasks are off, on trial. */
static void take_off(struct core *core, const struct job *row, uint32_t count)
{
    for (uint32_t i = row->task_count; i-- > 0 && count > 0;) {
        const struct task *task = job_task(core, row, i);

        if (task->left || task->leaving)
            continue;
        trial_give(core, task->node, task->shape, task->gpu_mask, task->mig_start, i);
        count--;
    }
}

/* Does the gang fit once those have left that it may take from? */
bool without_fits(struct core *core, uint32_t job, const struct leaving *leaving)
{
    const uint32_t mark = trial_mark(&core->trial), reach = rights_reach(core, job);
    enum reason reason;
    uint32_t layout;
    bool fits;

    for (uint32_t v = 0; v < reach; v++) {
        const uint32_t other = core->victims.list[v].job;
        const struct job *row = &core->jobs.rows[other];
        const bool all = leaving->services || !row->service;

        if (has_right(core, job, other) ||
            (leaving->young && without_is_too_young(core, job, other)))
            take_off(core, row, all ? row->task_count : job_spare_tasks(core, other));
    }
    fits = place_gang(core, core->jobs.rows[job].gang, UINT32_MAX, &layout, &reason);
    trial_undo(core, mark);
    return fits;
}
