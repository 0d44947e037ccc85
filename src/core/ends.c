/* SPDX-License-Identifier: Apache-2.0 */
/* ends.c - when a job that holds room is gone at the latest. */
#include "core/ends.h"

#include "core/impl.h"
#include "core/life.h"

#define LEAST_US 1000000LL /* of a prediction: nothing is looked at again in less */

/* What is left of a run by what is known of jobs like it, having run in all for so long. */
static int64_t predicted_us(const struct core *core, const struct job *row, int64_t attained_us)
{
    const struct expect_facts facts = job_expect_facts(core, row);
    const int64_t left_us = expect_long_us(&core->expect, &facts, attained_us) - attained_us;

    if (left_us < LEAST_US)
        return LEAST_US;
    return left_us < TIME_US_MAX ? left_us : TIME_US_MAX;
}

int64_t run_bound_us(const struct core *core, const struct job *row)
{
    if (row->service)
        return TIME_US_MAX;
    if (row->limit_us > 0)
        return row->limit_us + job_grace_us(core, row);
    if (row->reservation != ROW_NONE) {
        const struct reservation *reservation = &core->reserve.rows[row->reservation];

        return reservation->until_us - reservation->at_us; /* as others were promised */
    }
    return predicted_us(core, row, row->attained_us);
}

void ends_decided(struct core *core, uint32_t job)
{
    struct job *row = &core->jobs.rows[job];

    row->overran = false;
    if (core->reservation_depth == 0)
        return;
    row->bound_us = run_bound_us(core, row);
    row->ends_us = row->service ? TIME_NONE : core->now_us + row->bound_us;
}

/* Its time counts from now; a report that came late has cost others as much. */
void ends_started(struct core *core, uint32_t job)
{
    struct job *row = &core->jobs.rows[job];

    if (row->ends_us == TIME_NONE)
        return;
    row->overran = row->overran || core->now_us + row->bound_us > row->ends_us;
    row->ends_us = core->now_us + row->bound_us;
}

void ends_stopping(struct core *core, uint32_t job)
{
    struct job *row = &core->jobs.rows[job];
    const int64_t killed_us = core->now_us + job_grace_us(core, row);

    if (row->ends_us > killed_us && core->reservation_depth > 0)
        row->ends_us = killed_us;
}

/* Its grace is over, and that it was killed is about to be heard. */
static bool is_being_killed(const struct core *core, const struct job *row)
{
    return row->state == JOB_STOPPING &&
           core->now_us < row->stop_us + job_grace_us(core, row) + KILLED_WITHIN_US;
}

bool ends_some_are_killed(const struct core *core, int64_t by_us)
{
    for (uint32_t i = 0; i < core->jobs.active_count; i++) {
        const struct job *row = &core->jobs.rows[core->jobs.active[i]];

        if (is_being_killed(core, row) && row->ends_us <= by_us)
            return true;
    }
    return false;
}

void ends_overran(struct core *core, uint32_t job)
{
    struct job *row = &core->jobs.rows[job];

    if (is_being_killed(core, row)) {
        row->ends_us = row->stop_us + job_grace_us(core, row) + KILLED_WITHIN_US;
        return;
    }
    row->overran = true;
    if (row->state == JOB_STOPPING)
        row->ends_us =
            job_attend_us(core, row) > core->now_us ? job_attend_us(core, row) : TIME_NONE;
    else if (row->limit_us > 0)
        row->ends_us = core->now_us + (row->bound_us > LEAST_US ? row->bound_us : LEAST_US);
    else
        row->ends_us = core->now_us + predicted_us(core, row, job_attained_us(row, core->now_us));
}

/* ---- claims ---- */

/* When those that were told to stop on this node are gone, as far as that is known. */
static int64_t emptied_us(const struct core *core, uint32_t node)
{
    int64_t last_us = 0;

    for (uint32_t t = core->nodes.rows[node].first_task; t != ROW_NONE;
         t = core->jobs.tasks[t].node_next) {
        const struct job *job = &core->jobs.rows[core->jobs.tasks[t].job];

        if (job->state == JOB_STOPPING && job->ends_us != TIME_NONE && job->ends_us > last_us)
            last_us = job->ends_us;
    }
    return last_us;
}

void ends_claimed(struct core *core, uint32_t job)
{
    struct job *row = &core->jobs.rows[job];

    row->ends_us = TIME_NONE;
    if (core->reservation_depth == 0 || row->service)
        return;
    row->bound_us = run_bound_us(core, row);
    if (row->bound_us < 2 * KILLED_WITHIN_US)
        row->bound_us = 2 * KILLED_WITHIN_US; /* it does not end before it is due */
    row->ends_us = core->now_us + row->bound_us;
    ends_claim_moved(core, job);
}

void ends_claim_moved(struct core *core, uint32_t job)
{
    struct job *row = &core->jobs.rows[job];

    for (uint32_t i = 0; row->ends_us != TIME_NONE && i < row->task_count; i++) {
        const int64_t gone_us = emptied_us(core, job_task(core, row, i)->node);

        if (row->ends_us < gone_us + row->bound_us)
            row->ends_us = gone_us + row->bound_us;
    }
}

int64_t ends_claim_due_us(const struct job *row)
{
    return row->ends_us != TIME_NONE ? row->ends_us - row->bound_us + KILLED_WITHIN_US : TIME_NONE;
}

void ends_claim_waits(struct core *core, uint32_t job)
{
    struct job *row = &core->jobs.rows[job];

    ends_claim_moved(core, job);
    if (ends_claim_due_us(row) <= core->now_us)
        row->ends_us = core->now_us + ATTEND_AFTER_US + row->bound_us;
}

void ends_configured(struct core *core, uint32_t job)
{
    struct job *row = &core->jobs.rows[job];
    const int64_t ends_us = row->ends_us;

    row->ends_us = TIME_NONE;
    if (row->state == JOB_PENDING || core->reservation_depth == 0 || row->attended)
        return;
    row->ends_us = ends_us;
    if (ends_us != TIME_NONE || (row->service && row->state != JOB_STOPPING))
        return; /* it is held to what was said */
    if (row->state == JOB_STOPPING) {
        row->ends_us = row->stop_us + job_grace_us(core, row);
    } else {
        row->bound_us = run_bound_us(core, row);
        row->ends_us = (row->start_us != TIME_NONE ? row->start_us : core->now_us) + row->bound_us;
    }
    if (row->ends_us <= core->now_us)
        ends_overran(core, job);
}
