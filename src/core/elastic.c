/* SPDX-License-Identifier: Apache-2.0 */
/* elastic.c - jobs that may run with some of their tasks. */
#include "core/elastic.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/tape.h"
#include "core/impl.h"
#include "core/life.h"

void elastic_init(struct elastic *e)
{
    memset(e, 0, sizeof *e);
    e->settled_at = NOT_REFUSED;
}

void elastic_done(struct elastic *e)
{
    mem_free(e->growing);
    memset(e, 0, sizeof *e);
}

void elastic_copy(struct elastic *dst, const struct elastic *src)
{
    *dst = *src;
    dst->growing = mem_copy(src->growing, src->count, sizeof *src->growing);
    dst->cap = src->count;
}

static const struct layout *layout_of(const struct core *core, const struct job *job)
{
    return &core->shapes.layouts[core->shapes.gangs[job->gang].first_layout + job->layout];
}

uint32_t job_tasks_min(const struct core *core, const struct job *job)
{
    return layout_of(core, job)->tasks_min;
}

bool job_is_elastic(const struct core *core, const struct job *job)
{
    const struct layout *layout = layout_of(core, job);

    return job->service || layout->tasks_min < layout_tasks(&core->shapes, layout);
}

/* ---- who could grow ---- */

static bool could_grow(const struct job *job)
{
    return job->state == JOB_RUNNING && job->tasks_absent > 0 &&
           job->tasks_left == job->tasks_absent;
}

void elastic_update(struct core *core, uint32_t job)
{
    struct elastic *e = &core->elastic;
    struct job *row = &core->jobs.rows[job];
    const bool listed = row->growing_at != ROW_NONE;

    if (could_grow(row) == listed)
        return;
    if (!listed) {
        const struct growing growing = {job, NOT_REFUSED};

        row->growing_at = e->count;
        vec_push(e->growing, e->count, e->cap, growing);
        e->settled_at = NOT_REFUSED;
        return;
    }
    e->growing[row->growing_at] = e->growing[--e->count];
    core->jobs.rows[e->growing[row->growing_at].job].growing_at = row->growing_at;
    row->growing_at = ROW_NONE;
}

/* The list is in no order, so for a digest those who were refused are added up. */
static void refused_digest(const struct core *core, struct tape *t)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < core->elastic.count; i++) {
        uint64_t id = core->jobs.rows[core->elastic.growing[i].job].id;
        struct tape one;

        if (core->elastic.growing[i].refused_at != core->index.gains)
            continue;
        tape_digest_init(&one);
        tape_u64(&one, &id);
        sum += tape_digest(&one);
    }
    tape_u64(t, &sum);
}

void elastic_walk(struct core *core, struct tape *t)
{
    struct elastic *e = &core->elastic;

    if (tape_digests(t)) {
        if (e->count > 0)
            refused_digest(core, t);
        return;
    }
    for (uint32_t job = 0; tape_more(t, job, core->jobs.count); job++) {
        const uint32_t at = core->jobs.rows[job].growing_at;
        bool refused;

        if (core->jobs.rows[job].state == JOB_FREE || at == ROW_NONE)
            continue;
        refused = e->growing[at].refused_at == core->index.gains;
        tape_bool(t, &refused);
        if (tape_loads(t) && refused)
            e->growing[at].refused_at = core->index.gains;
    }
}

/* ---- shrinking ---- */

uint32_t job_spare_tasks(const struct core *core, uint32_t job)
{
    const struct job *row = &core->jobs.rows[job];
    const uint32_t min = job_tasks_min(core, row);
    uint32_t there = 0;

    if (row->task_count <= min || (row->state != JOB_STARTING && row->state != JOB_RUNNING) ||
        row->claimant != JOB_NONE)
        return 0;
    for (uint32_t i = 0; i < row->task_count; i++)
        there += task_can_be_spared(job_task(core, row, i));
    return there > min ? there - min : 0;
}

static void tell_task(struct core *core, struct job *row, uint32_t index, struct decisions *out)
{
    struct task *task = job_task(core, row, index);

    check(!task->left && !task->shrinking);
    job_task_leaves(core, row->task_first + index);
    task->shrinking = true;
    row->tasks_shrinking++;
    job_add_place(core, (uint32_t)(row - core->jobs.rows), index, out);
}

void job_shrink(struct core *core, uint32_t job, const uint32_t *tasks, uint32_t count,
                uint64_t for_job, struct decisions *out)
{
    struct job *row = &core->jobs.rows[job];
    const struct decision decision = {
        .type = DECISION_STOP,
        .job_id = row->id,
        .job = job,
        .run = row->run,
        .mode = STOP_SHRINK,
        .reason = REASON_GIVES_WAY,
        .for_job = for_job,
        .grace_us = job_grace_us(core, row),
        .place_first = out->place_count,
        .place_count = count,
    };

    check(count > 0 && count <= job_spare_tasks(core, job));
    for (uint32_t i = 0; i < count; i++)
        tell_task(core, row, tasks[i], out);
    row->claimant = for_job;
    if (for_job != JOB_NONE)
        core->jobs.rows[jobs_find(&core->jobs, for_job)].victims++;
    vec_push(out->items, out->count, out->cap, decision);
}

/* ---- tasks that leave ---- */

/* Is this one more failure than a service may have? The oldest of those that are remembered goes.
 */
static bool is_too_many(struct job *row, int64_t now_us)
{
    const int64_t oldest_us = row->failed_us[0];

    memmove(row->failed_us, row->failed_us + 1, sizeof row->failed_us - sizeof row->failed_us[0]);
    row->failed_us[SERVICE_FAILURES_MAX - 2] = now_us;
    return oldest_us != TIME_NONE && now_us - oldest_us <= SERVICE_FAILURES_US;
}

void elastic_task_exited(struct core *core, uint32_t job, uint32_t task_index, int32_t exit_code)
{
    struct job *row = &core->jobs.rows[job];
    const struct task *task = job_task(core, row, task_index);
    const bool told = task->shrinking;
    const bool at_once =
        row->service && core->now_us - task->service_start_us < SERVICE_LEAST_RUN_US;

    if (!told && (exit_code != 0 || at_once) && (!row->service || is_too_many(row, core->now_us))) {
        row->failed = true;
        job_unsettle(core, job);
    }
    job_task_left(core, job, task_index, told || row->service);
}

/* A job that needs all of its tasks has lost itself with one. Of another, those that are left may
 * be enough. */
void job_task_lost(struct core *core, uint32_t job, uint32_t task_index)
{
    struct job *row = &core->jobs.rows[job];
    const uint32_t standing = job_tasks_standing(row) - !job_task(core, row, task_index)->shrinking;
    const bool absent = job_is_elastic(core, row) && row->state != JOB_STOPPING;
    const bool enough = row->service || standing >= job_tasks_min(core, row);

    if (!absent || !enough || row->tasks_left + 1 == row->task_count) {
        row->lost = true;
        job_unsettle(core, job);
    }
    job_task_left(core, job, task_index, absent);
}
