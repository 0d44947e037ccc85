/* SPDX-License-Identifier: Apache-2.0 */
/* workload.c - a trace made ready for one run. */
#include "sim/workload.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/sort.h"
#include "base/vec.h"
#include "sim/steady.h"

int64_t trace_job_mgpu(const struct trace_job *job)
{
    return (int64_t)job->gpus * (job->gpu_mgpu > 0 ? job->gpu_mgpu : GPU_MGPU);
}

static int compare_time(const void *a, const void *b, void *arg)
{
    const struct arrival *x = a, *y = b;

    (void)arg;
    return x->at_us < y->at_us ? -1 : x->at_us > y->at_us;
}

static void make_timed(struct workload *w, const struct workload_options *options)
{
    struct rng rng;

    rng_init(&rng, options->seed);
    for (uint32_t i = 0; i < w->trace->job_count; i++) {
        const struct trace_job *job = &w->trace->jobs[i];
        const int64_t late_us =
            options->jitter_us > 0 ? (int64_t)rng_below(&rng, (uint64_t)options->jitter_us + 1) : 0;
        const struct arrival arrival = {i, job->submit_us + late_us, job->duration_us};

        vec_push(w->arrivals, w->count, w->cap, arrival);
    }
    sort_stable(w->arrivals, w->count, sizeof *w->arrivals, compare_time, NULL);
}

static void fill_add(struct workload *w, uint32_t row, int64_t *asked_mgpu)
{
    const struct arrival arrival = {row, (int64_t)w->count, -1};

    vec_push(w->arrivals, w->count, w->cap, arrival);
    *asked_mgpu += trace_job_mgpu(&w->trace->jobs[row]);
}

/* All pods in random order, then pods drawn with replacement until the next one would ask for
 * more than the target. A list that is too long is cut at random, which after shuffling is to cut
 * its end. One pod a microsecond, so that each is a step of its own. */
static void make_fill(struct workload *w, int64_t target_mgpu, uint64_t seed)
{
    const uint32_t count = w->trace->job_count;
    uint32_t *rows = mem_alloc(count, sizeof *rows);
    int64_t asked_mgpu = 0;
    struct rng rng;

    rng_init(&rng, seed);
    for (uint32_t i = 0; i < count; i++)
        rows[i] = i;
    rng_shuffle_u32(&rng, rows, count);
    for (uint32_t i = 0; i < count; i++) {
        if (asked_mgpu + trace_job_mgpu(&w->trace->jobs[rows[i]]) > target_mgpu)
            break;
        fill_add(w, rows[i], &asked_mgpu);
    }
    for (bool full = w->count < count; !full && w->count <= TRACE_JOBS_MAX;) {
        const uint32_t row = (uint32_t)rng_below(&rng, count);

        full = asked_mgpu + trace_job_mgpu(&w->trace->jobs[row]) > target_mgpu;
        if (!full)
            fill_add(w, row, &asked_mgpu);
    }
    mem_free(rows);
}

static bool asks_for_gpus(const struct trace *trace)
{
    for (uint32_t i = 0; i < trace->job_count; i++)
        if (trace_job_mgpu(&trace->jobs[i]) > 0)
            return true;
    return false;
}

int workload_make(struct workload *w, const struct trace *trace, const struct cluster *cluster,
                  const struct workload_options *options, struct err *err)
{
    const int64_t capacity_mgpu = (int64_t)cluster->gpu_count * GPU_MGPU;

    memset(w, 0, sizeof *w);
    w->trace = trace;
    w->measure_to_us = INT64_MAX;
    if (options->kind == WORKLOAD_TIMED) {
        make_timed(w, options);
        return 0;
    }
    if (capacity_mgpu == 0 || !asks_for_gpus(trace))
        return err_set(err, -EINVAL,
                       "trace '%s': a load in per cent of GPU compute needs a "
                       "cluster and a trace with GPUs",
                       trace->label);
    if (options->kind == WORKLOAD_FILL)
        make_fill(w, capacity_mgpu / 100 * options->arrive_until_pct, options->seed);
    else
        steady_make(w, capacity_mgpu, options);
    if (w->count <= TRACE_JOBS_MAX)
        return 0;
    workload_done(w);
    return err_set(
        err, -ERANGE,
        "trace '%s': its jobs are so small that more than %u would arrive; use a smaller "
        "cluster, or a lower --arrive-until or --steady",
        trace->label, TRACE_JOBS_MAX);
}

void workload_done(struct workload *w)
{
    mem_free(w->arrivals);
    memset(w, 0, sizeof *w);
}
