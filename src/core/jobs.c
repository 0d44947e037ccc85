/* SPDX-License-Identifier: Apache-2.0 */
/* jobs.c - the tables of jobs and of placed tasks. */
#include "core/jobs.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/tape.h"
#include "base/vec.h"
#include "core/rights.h"
#include "core/shape.h"

void jobs_init(struct jobs *j)
{
    memset(j, 0, sizeof *j);
    map_init(&j->by_id);
    j->free_first = ROW_NONE;
    j->task_free = mem_alloc(JOB_TASKS_MAX + 1, sizeof *j->task_free);
    memset(j->task_free, 0xff, (JOB_TASKS_MAX + 1) * sizeof *j->task_free);
}

void jobs_done(struct jobs *j)
{
    mem_free(j->rows);
    mem_free(j->next_free);
    mem_free(j->active);
    mem_free(j->tasks);
    mem_free(j->task_free);
    map_done(&j->by_id);
    memset(j, 0, sizeof *j);
}

void jobs_copy(struct jobs *dst, const struct jobs *src)
{
    *dst = *src;
    dst->rows = mem_copy(src->rows, src->count, sizeof *src->rows);
    dst->next_free = mem_copy(src->next_free, src->count, sizeof *src->next_free);
    dst->cap = dst->next_free_cap = src->count;
    dst->active = mem_copy(src->active, src->active_count, sizeof *src->active);
    dst->active_cap = src->active_count;
    dst->tasks = mem_copy(src->tasks, src->task_count, sizeof *src->tasks);
    dst->task_cap = src->task_count;
    dst->task_free = mem_copy(src->task_free, JOB_TASKS_MAX + 1, sizeof *src->task_free);
    map_copy(&dst->by_id, &src->by_id);
}

uint32_t jobs_add(struct jobs *j, const struct job *job)
{
    uint32_t row = j->free_first;

    if (row != ROW_NONE) {
        j->free_first = j->next_free[row];
    } else {
        vec_reserve(j->rows, j->cap, j->count + 1);
        vec_reserve(j->next_free, j->next_free_cap, j->count + 1);
        row = j->count++;
    }
    j->rows[row] = *job;
    j->live++;
    map_put(&j->by_id, job->id, row);
    return row;
}

void jobs_remove(struct jobs *j, uint32_t job)
{
    check(j->rows[job].state != JOB_FREE && j->rows[job].task_first == ROW_NONE);
    map_remove(&j->by_id, j->rows[job].id);
    j->rows[job].state = JOB_FREE;
    j->next_free[job] = j->free_first;
    j->free_first = job;
    j->live--;
}

uint32_t jobs_find(const struct jobs *j, uint64_t id)
{
    uint32_t row;

    return map_find(&j->by_id, id, &row) ? row : ROW_NONE;
}

void jobs_activate(struct jobs *j, uint32_t job)
{
    vec_reserve(j->active, j->active_cap, j->active_count + 1);
    j->rows[job].active_at = j->active_count;
    j->active[j->active_count++] = job;
}

void jobs_deactivate(struct jobs *j, uint32_t job)
{
    const uint32_t at = j->rows[job].active_at, last = j->active[--j->active_count];

    j->active[at] = last;
    j->rows[last].active_at = at;
}

uint32_t jobs_tasks_add(struct jobs *j, uint32_t count)
{
    uint32_t first = j->task_free[count];

    if (first != ROW_NONE) {
        j->task_free[count] = j->tasks[first].node_next;
        return first;
    }
    vec_reserve(j->tasks, j->task_cap, j->task_count + count);
    first = j->task_count;
    j->task_count += count;
    return first;
}

void jobs_tasks_remove(struct jobs *j, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        j->tasks[first + i].job = ROW_NONE;
    j->tasks[first].node_next = j->task_free[count];
    j->task_free[count] = first;
}

/* ---- the walk ---- */

static void task_walk(struct task *task, const struct jobs_limits *limits, struct tape *t)
{
    tape_bool(t, &task->left);
    if (task->left && tape_loads(t))
        task->node = ROW_NONE;
    if (!task->left) {
        tape_row(t, &task->node, limits->nodes, "node of a task");
        tape_u64(t, &task->gpu_mask);
        if (!tape_digests(t) || task->mig_start != 0)
            tape_max(t, &task->mig_start, MIG_SLICES_MAX - 1, "start of an instance");
        if (!tape_digests(t) || task->mig_makes)
            tape_bool(t, &task->mig_makes);
    }
    tape_row(t, &task->shape, limits->shapes->shape_count, "shape of a task");
    tape_u32(t, &task->run);
    tape_bool(t, &task->started);
    tape_bool(t, &task->absent);
    tape_bool(t, &task->shrinking);
    tape_bool(t, &task->claimed);
    tape_bool(t, &task->leaving);
    tape_max(t, &task->missed, MISSED_MAX - 1, "listings without a task");
    tape_i64_in(t, &task->missed_us, 0, JOB_TIME_MAX, "when a task was missed");
    if (!tape_digests(t) || task->service_start_us != 0)
        tape_i64_in(t, &task->service_start_us, 0, JOB_TIME_MAX, "start of a service's task");
}

static void tasks_walk(struct jobs *j, uint32_t job, const struct jobs_limits *limits,
                       struct tape *t)
{
    struct job *row = &j->rows[job];
    bool placed = row->task_first != ROW_NONE;

    tape_max(t, &row->task_count, JOB_TASKS_MAX, "tasks of a job");
    tape_bool(t, &placed);
    if (!placed)
        return;
    if (tape_loads(t)) {
        if (row->task_count == 0)
            tape_fail(t, "job %llu: is placed without tasks", (unsigned long long)row->id);
        row->task_first = j->task_count;
    }
    for (uint32_t i = 0; tape_more(t, i, row->task_count); i++) {
        tape_grow(t, j->tasks, j->task_count, j->task_cap);
        task_walk(&j->tasks[row->task_first + i], limits, t);
        if (tape_loads(t)) {
            struct task *task = &j->tasks[row->task_first + i];

            task->job = job;
            task->node_prev = row->task_first + i;
        }
    }
}

static void flags_walk(struct job *job, struct tape *t)
{
    tape_bool(t, &job->cancelled);
    tape_bool(t, &job->failed);
    tape_bool(t, &job->lost);
    tape_bool(t, &job->unsettled);
    tape_bool(t, &job->preempted);
    tape_bool(t, &job->moving);
    tape_bool(t, &job->queued);
    tape_bool(t, &job->held);
    tape_bool(t, &job->in_vain);
    tape_bool(t, &job->fixed);
    tape_bool(t, &job->attended);
    tape_bool(t, &job->overran);
    if (!tape_digests(t) || job->elsewhere) /* hardly ever: else digests are as without it */
        tape_bool(t, &job->elsewhere);
    tape_bool(t, &job->mark_ahead);
    tape_bool(t, &job->service);
}

/* None is the time 0 on a tape, and others are that much later. */
static void time_walk(int64_t *time_us, struct tape *t, const char *what)
{
    int64_t saved = *time_us == TIME_NONE ? 0 : *time_us + 1;

    tape_i64_in(t, &saved, 0, JOB_TIME_MAX, what);
    if (tape_loads(t))
        *time_us = saved == 0 ? TIME_NONE : saved - 1;
}

static void times_walk(struct job *job, struct tape *t)
{
    tape_i64_in(t, &job->submit_us, 0, JOB_TIME_MAX, "submission of a job");
    time_walk(&job->start_us, t, "start of a job");
    time_walk(&job->stop_us, t, "when a job was told to stop");
    tape_i64_in(t, &job->limit_us, 0, TIME_US_MAX, "limit of a job");
    tape_i64_in(t, &job->grace_us, -1, TIME_US_MAX, "grace of a job");
    tape_i64_in(t, &job->min_run_us, -1, TIME_US_MAX, "least run time of a job");
    time_walk(&job->ends_us, t, "when a job should be gone");
    tape_i64_in(t, &job->bound_us, 0, JOB_TIME_MAX, "bound of a run");
    tape_i64_in(t, &job->mark_us, 0, JOB_TIME_MAX, "checkpoint of a job");
    tape_i64(t, &job->mark_said_us);
    tape_u32(t, &job->retries_left);
    tape_i64_in(t, &job->deadline_us, 0, TIME_NONE, "deadline of a job");
    tape_i64_in(t, &job->attained_us, 0, JOB_TIME_MAX, "run time of a job");
    tape_i64_in(t, &job->remaining_us, REMAINING_UNKNOWN, INT64_MAX, "what is left of a job");
    tape_i64_in(t, &job->remaining_at_us, 0, JOB_TIME_MAX, "when that was told");
}

/* Failures of a service, written like a start. */
static void failures_walk(struct job *job, struct tape *t)
{
    for (uint32_t i = 0; i < SERVICE_FAILURES_MAX - 1; i++) {
        int64_t at = job->failed_us[i] == TIME_NONE ? 0 : job->failed_us[i] + 1;

        tape_i64_in(t, &at, 0, JOB_TIME_MAX, "failure of a service");
        if (tape_loads(t))
            job->failed_us[i] = at == 0 ? TIME_NONE : at - 1;
    }
}

/* Most jobs never give way like that, and then it adds nothing to a digest. */
static void yields_walk(struct job *job, struct tape *t)
{
    if (tape_digests(t) && job->yields == 0 && job->takes_after_us == 0 && job->took_by == 0 &&
        job->yielded_to == 0)
        return;
    tape_max(t, &job->took_by, RIGHTS_ALL, "rights that were used");
    tape_u32(t, &job->yields);
    tape_u64(t, &job->yielded_to);
    tape_i64_in(t, &job->takes_after_us, 0, JOB_TIME_MAX, "when a job may take again");
}

/* Where a job says nothing of it, its digest is as if there was nothing to say. */
static void qos_walk(struct qos *qos, struct tape *t)
{
    if (tape_digests(t) && !qos_says(qos))
        return;
    tape_enum(t, qos->class, QOS_CLASSES - 1, "quality of service of a job");
    tape_max(t, &qos->stated, (1u << QOS_KNOBS) - 1, "stated values of a job");
    for (uint32_t k = 0; k < QOS_KNOBS; k++) {
        const bool stated = qos->stated >> k & 1;

        tape_i32_in(t, &qos->values[k], stated ? qos_facts[k].least : 0,
                    stated ? qos_facts[k].most : 0, "stated value of a job");
    }
}

static void job_walk(struct jobs *j, uint32_t row, const struct jobs_limits *limits, struct tape *t)
{
    struct job *job = &j->rows[row];
    uint32_t of_class = job->at.of_class == QUEUE_NONE ? 0 : job->at.of_class + 1;

    tape_enum(t, job->state, JOB_STOPPING, "state of a job");
    if (job->state == JOB_FREE)
        return;
    tape_u64(t, &job->id);
    tape_u64(t, &job->sequence);
    tape_row(t, &job->gang, limits->shapes->gang_count, "gang of a job");
    tape_u32(t, &job->layout);
    tape_row(t, &job->queue, limits->names, "queue of a job");
    tape_row(t, &job->user, limits->names, "user of a job");
    tape_row(t, &job->name, limits->names, "name of a job");
    tape_row(t, &job->at.leaf, limits->queues, "queue row of a job");
    tape_row(t, &of_class, limits->queues + 1, "class row of a job");
    if (tape_loads(t))
        job->at.of_class = of_class > 0 ? of_class - 1 : QUEUE_NONE;
    tape_row(t, &job->class_id, limits->classes, "class of a job");
    tape_u32(t, &job->tasks_started);
    tape_u32(t, &job->tasks_left);
    tape_u32(t, &job->tasks_absent);
    tape_u32(t, &job->tasks_shrinking);
    flags_walk(job, t);
    qos_walk(&job->qos, t);
    failures_walk(job, t);
    tape_u32(t, &job->victims);
    tape_u64(t, &job->claimant);
    times_walk(job, t);
    tape_u32(t, &job->preemptions);
    yields_walk(job, t);
    tape_u32(t, &job->run);
    tape_enum(t, job->reason, REASON_COUNT - 1, "reason of a job");
    tape_enum(t, job->told, REASON_COUNT - 1, "told reason of a job");
    tasks_walk(j, row, limits, t);
}

/* Which row is used next; for rows, not for decisions, so it is in no digest. */
static void free_walk(struct jobs *j, struct tape *t)
{
    uint32_t *link = &j->free_first;

    if (tape_digests(t))
        return;
    for (uint32_t i = 0; tape_more(t, i, j->count - j->live); i++) {
        uint32_t row = *link;

        tape_row(t, &row, j->count, "free row of jobs");
        if (tape_loads(t) && !t->failed &&
            (j->rows[row].state != JOB_FREE || j->next_free[row] != row))
            tape_fail(t, "free rows of jobs: %u is used, or listed twice", row);
        if (tape_loads(t)) {
            *link = row;
            j->next_free[row] = ROW_NONE;
        }
        link = &j->next_free[row];
    }
}

/* What follows from a loaded row. */
static void job_loaded(struct jobs *j, uint32_t row, struct tape *t)
{
    const struct job *job = &j->rows[row];

    j->next_free[row] = row; /* not listed, so far */
    if (job->state == JOB_FREE)
        return;
    if (job->id == JOB_NONE || map_find(&j->by_id, job->id, NULL))
        tape_fail(t, "job %llu: is there twice", (unsigned long long)job->id);
    map_put(&j->by_id, job->id, row);
    j->live++;
    j->pending += job->state == JOB_PENDING;
    if (job->state != JOB_PENDING)
        jobs_activate(j, row);
}

void jobs_walk(struct jobs *j, const struct jobs_limits *limits, struct tape *t)
{
    uint32_t count = j->count;

    tape_u64(t, &j->submitted);
    tape_count(t, &count, "jobs");
    for (uint32_t i = 0; tape_more(t, i, count); i++) {
        if (tape_loads(t)) {
            vec_reserve(j->next_free, j->next_free_cap, j->count + 1);
            vec_reserve(j->rows, j->cap, j->count + 1);
            j->rows[j->count++] = (struct job){.task_first = ROW_NONE,
                                               .array = ROW_NONE,
                                               .reservation = ROW_NONE,
                                               .array_prev = ROW_NONE,
                                               .array_next = ROW_NONE,
                                               .growing_at = ROW_NONE};
        }
        job_walk(j, i, limits, t);
        if (tape_loads(t) && !t->failed)
            job_loaded(j, i, t);
    }
    if (!t->failed)
        free_walk(j, t);
}
