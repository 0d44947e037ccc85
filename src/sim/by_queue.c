/* SPDX-License-Identifier: Apache-2.0 */
/* by_queue.c - what a run was like for each queue. */
#include "sim/by_queue.h"

#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "base/vec.h"
#include "core/view.h"
#include "sim/run.h"

void by_queue_init(struct by_queue *q)
{
    memset(q, 0, sizeof *q);
    names_init(&q->names);
}

void by_queue_done(struct by_queue *q)
{
    names_done(&q->names);
    mem_free(q->rows);
    memset(q, 0, sizeof *q);
}

static struct queue_run *row_of(struct by_queue *q, const char *queue)
{
    const uint32_t id = names_intern(&q->names, queue);

    while (q->count <= id) {
        const struct queue_run row = {.owed_since_us = -1, .could_since_us = -1};

        vec_push(q->rows, q->count, q->cap, row);
    }
    return &q->rows[id];
}

/* Until now it could have had the room; from now on perhaps. */
static void could_until(struct queue_run *row, int64_t now_us, bool still)
{
    if (row->could_since_us >= 0)
        row->could_us += now_us - row->could_since_us;
    row->could_since_us = still ? now_us : -1;
}

static void owed_ends(struct queue_run *row, int64_t now_us)
{
    const int64_t us = now_us - row->owed_since_us;

    row->owed_us += us;
    row->owed_longest_us = us > row->owed_longest_us ? us : row->owed_longest_us;
    row->owed_since_us = -1;
    could_until(row, now_us, false);
}

void by_queue_settled(struct by_queue *q, const struct run *run)
{
    const struct core *core = run->world.core;
    uint8_t *owed = mem_alloc(q->count + core_queue_rows(core), sizeof *owed);

    for (uint32_t row = 0; row < core_queue_rows(core); row++)
        if (core_queue_is_owed(core, row)) {
            const uint32_t id = (uint32_t)(row_of(q, core_queue_name(core, row)) - q->rows);

            owed[id] = 1;
            if (q->rows[id].owed_since_us < 0) {
                q->rows[id].owed_since_us = run->now_us;
                q->rows[id].owed_times++;
            }
            could_until(&q->rows[id], run->now_us, core_queue_could_have(core, row));
        }
    for (uint32_t id = 0; id < q->count; id++)
        if (!owed[id] && q->rows[id].owed_since_us >= 0)
            owed_ends(&q->rows[id], run->now_us);
    mem_free(owed);
}

static int compare(const void *a, const void *b, void *arg)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    (void)arg;
    return x < y ? -1 : x > y;
}

/* One queue's jobs: jct is room for all. */
static void work_out(struct queue_run *row, const struct run *run, const char *queue, int64_t *jct)
{
    __extension__ __int128 sum = 0, waited = 0;
    uint32_t starts = 0;

    for (uint32_t i = 0; i < run->workload.count; i++) {
        const struct run_job *job = &run->jobs[i];

        if (strcmp(job->row->queue, queue) != 0)
            continue;
        row->jobs++;
        if (job->first_start_us >= 0) {
            waited += job->first_start_us - job->submit_us;
            starts++;
        }
        if (job->state != RUN_ENDED)
            continue;
        jct[row->finished++] = job->end_us - job->submit_us;
        sum += job->end_us - job->submit_us;
    }
    sort_stable(jct, row->finished, sizeof *jct, compare, NULL);
    row->jct_mean_us = row->finished > 0 ? (int64_t)(sum / row->finished) : 0;
    row->jct_p99_us = row->finished > 0 ? jct[(uint64_t)row->finished * 99 / 100] : 0;
    row->wait_mean_us = starts > 0 ? (int64_t)(waited / starts) : 0;
}

void by_queue_finish(struct by_queue *q, const struct run *run)
{
    int64_t *jct = mem_alloc(run->workload.count, sizeof *jct);

    for (uint32_t i = 0; i < run->workload.count; i++)
        (void)row_of(q, run->jobs[i].row->queue);
    for (uint32_t id = 0; id < q->count; id++) {
        if (q->rows[id].owed_since_us >= 0)
            owed_ends(&q->rows[id], run->now_us);
        work_out(&q->rows[id], run, names_text(&q->names, id), jct);
    }
    mem_free(jct);
}
