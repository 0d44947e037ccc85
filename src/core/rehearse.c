/* SPDX-License-Identifier: Apache-2.0 */
/* rehearse.c - a clone plays on: what it decides comes true at once. */
#include "core/rehearse.h"

#include "base/bits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "core/core.h"
#include "core/impl.h"
#include "core/split.h"

#define EXIT_TOLD_TO_STOP 143 /* 128 + SIGTERM */

void rehearse_open(struct rehearsal *r, const struct core *core)
{
    *r = (struct rehearsal){.core = core_clone(core)};
    decisions_init(&r->out);
}

void rehearse_close(struct rehearsal *r)
{
    decisions_done(&r->out);
    core_free(r->core);
}

/* The core that is told may have let go of the job meanwhile: then this is nothing new. */
static void tell(struct rehearsal *r, uint64_t job_id, uint32_t task, enum event_type type,
                 int32_t exit_code)
{
    const struct event event = {
        .type = type,
        .at_us = r->core->now_us,
        .task = {.job_id = job_id, .task = task, .node = "", .exit_code = exit_code},
    };

    (void)core_apply(r->core, &event, NULL);
}

/* Does it still hold something, as the same run? */
static bool holds(const struct rehearsal *r, uint32_t job, uint64_t job_id, uint32_t run)
{
    const struct job *row = &r->core->jobs.rows[job];

    return jobs_find(&r->core->jobs, job_id) == job && row->state != JOB_PENDING && row->run == run;
}

void rehearse_end(struct rehearsal *r, uint32_t job, int32_t exit_code)
{
    const struct job row = r->core->jobs.rows[job];
    const int32_t code = row.state == JOB_STOPPING ? EXIT_TOLD_TO_STOP : exit_code;

    for (uint32_t i = 0; i < row.task_count && holds(r, job, row.id, row.run); i++)
        tell(r, row.id, i, EVENT_TASK_EXITED, code);
}

static void start_all(struct rehearsal *r, uint32_t job)
{
    const struct job row = r->core->jobs.rows[job];

    for (uint32_t i = 0; i < row.task_count; i++)
        tell(r, row.id, i, EVENT_TASK_STARTED, 0);
    if (r->started != NULL)
        r->started(r->arg, job);
}

void rehearse_arrive(struct rehearsal *r)
{
    const struct jobs *jobs = &r->core->jobs;
    uint32_t *active = mem_copy(jobs->active, jobs->active_count, sizeof *jobs->active);
    const uint32_t count = jobs->active_count;

    for (uint32_t i = 0; i < count; i++)
        if (jobs->rows[active[i]].state == JOB_STARTING)
            start_all(r, active[i]);
    mem_free(active);
}

static void begin(struct rehearsal *r, const struct decision *d)
{
    for (uint32_t i = 0; i < d->place_count; i++)
        tell(r, d->job_id, r->out.places[d->place_first + i].task, EVENT_TASK_STARTED, 0);
    if (r->started != NULL && holds(r, d->job, d->job_id, d->run))
        r->started(r->arg, d->job);
}

/* A stop without places is of all its tasks. */
static void stop(struct rehearsal *r, const struct decision *d)
{
    for (uint32_t i = 0; i < d->place_count; i++)
        tell(r, d->job_id, r->out.places[d->place_first + i].task, EVENT_TASK_EXITED,
             EXIT_TOLD_TO_STOP);
    if (d->mode == STOP_SHRINK)
        return;
    if (holds(r, d->job, d->job_id, d->run))
        rehearse_end(r, d->job, EXIT_TOLD_TO_STOP);
    if (r->stopped != NULL)
        r->stopped(r->arg, d->job);
}

void rehearse_step(struct rehearsal *r, int64_t now_us)
{
    bool more = true;

    for (uint32_t steps = 0; more && steps < REHEARSE_STEPS_MAX; steps++) {
        more = false;
        core_step(r->core, now_us, &r->out);
        for (uint32_t i = 0; i < r->out.count; i++) {
            const struct decision *d = &r->out.items[i];

            if (d->type == DECISION_START)
                begin(r, d);
            else if (d->type == DECISION_STOP)
                stop(r, d);
            else if (d->type == DECISION_REPARTITION)
                split_is_done(r->core, r->out.places[d->place_first].node,
                              mask_lowest(r->out.places[d->place_first].gpu_mask));
            more = more || d->type == DECISION_REPARTITION || d->type == DECISION_START ||
                   d->type == DECISION_STOP;
        }
    }
}
