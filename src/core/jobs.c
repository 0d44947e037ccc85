/* SPDX-License-Identifier: Apache-2.0 */
/* jobs.c - the tables of jobs and of placed tasks. */
#include "core/jobs.h"

#include <string.h>

#include "base/check.h"
#include "base/digest.h"
#include "base/mem.h"
#include "base/vec.h"

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

static void digest_task(struct digest *d, const struct task *task)
{
    digest_u32(d, task->node);
    digest_u32(d, task->shape);
    digest_u64(d, task->gpu_mask);
    digest_u32(d,
               (uint32_t)task->started | (uint32_t)task->left << 1 | (uint32_t)task->claimed << 2);
}

static void digest_job(struct digest *d, const struct jobs *j, const struct job *job)
{
    digest_u32(d, job->state);
    if (job->state == JOB_FREE)
        return;
    digest_u64(d, job->id);
    digest_u64(d, job->sequence);
    digest_u32(d, job->gang);
    digest_u32(d, job->layout);
    digest_u32(d, job->queue);
    digest_u32(d, job->user);
    digest_u32(d, job->name);
    digest_u32(d, job->task_count);
    digest_u32(d, job->tasks_started);
    digest_u32(d, job->tasks_left);
    digest_u32(d, (uint32_t)job->cancelled | (uint32_t)job->failed << 1 | (uint32_t)job->lost << 2 |
                      (uint32_t)job->unsettled << 3 | (uint32_t)job->preempted << 4 |
                      (uint32_t)job->moving << 5);
    digest_u32(d, job->victims);
    digest_u64(d, job->claimant);
    digest_i64(d, job->submit_us);
    digest_i64(d, job->deadline_us);
    digest_i64(d, job->start_us);
    digest_i64(d, job->attained_us);
    digest_i64(d, job->remaining_us);
    digest_i64(d, job->remaining_at_us);
    digest_u32(d, job->preemptions);
    digest_u32(d, job->reason);
    for (uint32_t i = 0; job->task_first != ROW_NONE && i < job->task_count; i++)
        digest_task(d, &j->tasks[job->task_first + i]);
}

void jobs_digest(const struct jobs *j, struct digest *d)
{
    digest_u64(d, j->submitted);
    digest_u32(d, j->count);
    for (uint32_t i = 0; i < j->count; i++)
        digest_job(d, j, &j->rows[i]);
}
