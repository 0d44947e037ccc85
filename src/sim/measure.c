/* SPDX-License-Identifier: Apache-2.0 */
/* measure.c - what a run shows. */
#include "sim/measure.h"

#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "core/limits.h"
#include "sim/fragment.h"
#include "sim/run.h"

__extension__ typedef __int128 wide;

const char *job_class_text(enum job_class job_class)
{
    static const char *const texts[CLASS_COUNT] = {"CPU-only", "shared", "whole", "multi"};

    return texts[job_class];
}

static enum job_class class_of(const struct trace_job *job)
{
    if (job->gpus == 0)
        return CLASS_CPU_ONLY;
    if (job->gpus > 1)
        return CLASS_MULTI;
    return trace_job_mgpu(job) < GPU_MGPU ? CLASS_SHARED : CLASS_WHOLE;
}

static uint32_t model_row(struct measure *m, const char *model)
{
    for (uint32_t i = 0; i < m->model_count; i++)
        if (strcmp(m->models[i], model) == 0)
            return i;
    if (m->model_count == RESULT_MODELS_MAX)
        return RESULT_MODELS_MAX - 1; /* the rest is counted with the last */
    m->models[m->model_count] = model;
    return m->model_count++;
}

void measure_init(struct measure *m, const struct cluster *cluster)
{
    memset(m, 0, sizeof *m);
    m->to_us = INT64_MAX;
    m->capacity_mgpu = (int64_t)cluster->gpu_count * GPU_MGPU;
    for (uint32_t i = 0; i < cluster->node_count; i++)
        if (cluster->nodes[i].gpus > 0)
            m->model_gpus[model_row(m, cluster->nodes[i].model)] += cluster->nodes[i].gpus;
}

static int64_t overlap_us(const struct measure *m, int64_t now_us)
{
    const int64_t from_us = m->last_us > m->from_us ? m->last_us : m->from_us;
    const int64_t to_us = now_us < m->to_us ? now_us : m->to_us;

    return to_us > from_us ? to_us - from_us : 0;
}

void measure_advance(struct measure *m, int64_t now_us)
{
    const int64_t window_us = overlap_us(m, now_us);

    m->busy_mgpu_us += (wide)m->held_mgpu * (now_us - m->last_us);
    m->window_mgpu_us += (wide)m->held_mgpu * window_us;
    for (uint32_t i = 0; i < m->model_count && window_us > 0; i++)
        m->model_mgpu_us[i] += (wide)m->model_held_mgpu[i] * window_us;
    m->last_us = now_us;
}

void measure_hold(struct measure *m, const char *model, int64_t mgpu, int sign)
{
    if (mgpu == 0)
        return;
    m->held_mgpu += sign * mgpu;
    m->model_held_mgpu[model_row(m, model)] += sign * mgpu;
}

/* Per cent arrived, rounded to the nearest. */
static int64_t arrived_pct(const struct measure *m)
{
    return (200 * m->requested_mgpu + m->capacity_mgpu) / (2 * m->capacity_mgpu);
}

void measure_arrived(struct measure *m, int64_t mgpu)
{
    int64_t pct;

    m->requested_mgpu += mgpu;
    if (m->capacity_mgpu == 0)
        return;
    pct = arrived_pct(m);
    if (pct == 100) {
        m->free_at_100 += m->capacity_mgpu - m->held_mgpu;
        m->steps_at_100++;
    } else if (pct == 95) {
        m->free_at_95 += m->capacity_mgpu - m->held_mgpu;
        m->steps_at_95++;
    }
}

/* ---- the result ---- */

static int64_t ratio_ppm(wide part, wide whole)
{
    return whole > 0 ? (int64_t)((part * 2000000 + whole) / (2 * whole)) : UNKNOWN_PPM;
}

static int compare_i64(const void *a, const void *b, void *arg)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    (void)arg;
    return x < y ? -1 : x > y;
}

/* sorted[int(part * n)], as the published numbers are made. */
static int64_t percentile(const int64_t *sorted, uint32_t count, uint32_t per_cent)
{
    uint64_t at = (uint64_t)count * per_cent / 100;

    if (count == 0)
        return 0;
    return sorted[at < count ? at : count - 1];
}

static int64_t mean(const int64_t *values, uint32_t count)
{
    wide sum = 0;

    for (uint32_t i = 0; i < count; i++)
        sum += values[i];
    return count > 0 ? (int64_t)(sum / count) : 0;
}

static bool is_measured(const struct run *run, const struct run_job *job)
{
    return job->submit_us >= run->workload.measure_from_us &&
           job->submit_us < run->workload.measure_to_us;
}

/* A job that never started has waited until the end. */
static int64_t wait_us(const struct run *run, const struct run_job *job)
{
    return (job->first_start_us >= 0 ? job->first_start_us : run->now_us) - job->submit_us;
}

static void result_times(const struct run *run, struct result *out)
{
    int64_t *jct = mem_alloc(run->workload.count, sizeof *jct);
    int64_t *wait = mem_alloc(run->workload.count, sizeof *wait);
    uint32_t ended = 0, waits = 0;

    for (uint32_t i = 0; i < run->workload.count; i++) {
        const struct run_job *job = &run->jobs[i];

        if (job->state == RUN_ENDED && is_measured(run, job))
            jct[ended++] = job->end_us - job->submit_us;
        if (job->state != RUN_COMING && job->state != RUN_DROPPED && is_measured(run, job))
            wait[waits++] = wait_us(run, job);
    }
    out->jct_mean_us = mean(jct, ended);
    out->wait_mean_us = mean(wait, waits);
    sort_stable(jct, ended, sizeof *jct, compare_i64, NULL);
    sort_stable(wait, waits, sizeof *wait, compare_i64, NULL);
    out->jct_p50_us = percentile(jct, ended, 50);
    out->jct_p95_us = percentile(jct, ended, 95);
    out->jct_p99_us = percentile(jct, ended, 99);
    out->wait_p50_us = percentile(wait, waits, 50);
    out->wait_p95_us = percentile(wait, waits, 95);
    out->wait_p99_us = percentile(wait, waits, 99);
    mem_free(jct);
    mem_free(wait);
}

static void result_classes(const struct run *run, struct result *out)
{
    wide sums[CLASS_COUNT] = {0};

    for (uint32_t i = 0; i < run->workload.count; i++) {
        const struct run_job *job = &run->jobs[i];

        if (job->state == RUN_COMING || job->state == RUN_DROPPED || !is_measured(run, job))
            continue;
        sums[class_of(job->row)] += wait_us(run, job);
        out->class_jobs[class_of(job->row)]++;
    }
    for (uint32_t c = 0; c < CLASS_COUNT; c++)
        out->class_wait_us[c] =
            out->class_jobs[c] > 0 ? (int64_t)(sums[c] / out->class_jobs[c]) : -1;
}

static void result_counts(const struct run *run, struct result *out)
{
    for (uint32_t i = 0; i < run->workload.count; i++) {
        const struct run_job *job = &run->jobs[i];

        out->jobs += job->state != RUN_COMING;
        out->finished += job->state == RUN_ENDED;
        out->waiting += job->state == RUN_WAITING;
        out->rejected += job->state == RUN_DROPPED && job->rejected;
        out->never += job->state == RUN_WAITING && run_job_never(run, i);
        if (job->state == RUN_ENDED && job->end_us > out->makespan_us)
            out->makespan_us = job->end_us;
    }
    out->failed = run->measure.failed;
    out->never += run->measure.never;
    out->preemptions = run->measure.preemptions;
}

static char *copy_text(const char *text)
{
    return mem_copy(text, strlen(text) + 1, 1);
}

static void result_rejected(const struct run *run, struct result *out)
{
    char number[RUN_NUMBER_BYTES];

    if (run->why_count == 0)
        return;
    out->rejected_job = copy_text(run_job_name(run, (uint32_t)(run->whys[0].job_id - 1), number));
    out->rejected_reason = copy_text(run->whys[0].text);
}

static void result_use(const struct run *run, struct result *out)
{
    const struct measure *m = &run->measure;
    const int64_t end_us = run->now_us < m->to_us ? run->now_us : m->to_us;
    const wide window_us = end_us > m->from_us ? end_us - m->from_us : 0;
    const bool stays = run->options->workload.kind == WORKLOAD_FILL;

    out->unallocated_ppm = ratio_ppm(m->free_at_100, (wide)m->capacity_mgpu * m->steps_at_100);
    out->unallocated_95_ppm = ratio_ppm(m->free_at_95, (wide)m->capacity_mgpu * m->steps_at_95);
    if (!stays)
        out->unallocated_ppm = out->unallocated_95_ppm = UNKNOWN_PPM;
    out->allocated_ppm = stays ? ratio_ppm(m->held_mgpu, m->capacity_mgpu)
                               : ratio_ppm(m->window_mgpu_us, m->capacity_mgpu * window_us);
    out->fragmented_ppm =
        ratio_ppm(fragmented_mgpu(run->world.core, run->workload.trace), m->capacity_mgpu);
    out->busy_gpu_us = m->busy_mgpu_us / GPU_MGPU;
    out->model_count = m->model_count;
    for (uint32_t i = 0; i < m->model_count; i++) {
        const int64_t capacity_mgpu = (int64_t)m->model_gpus[i] * GPU_MGPU;

        out->models[i].model = m->models[i];
        out->models[i].gpus = m->model_gpus[i];
        out->models[i].used_ppm = stays ? ratio_ppm(m->model_held_mgpu[i], capacity_mgpu)
                                        : ratio_ppm(m->model_mgpu_us[i], capacity_mgpu * window_us);
    }
}

void measure_result(const struct run *run, struct result *out)
{
    out->policy = run->placement;
    out->filled = run->options->workload.kind == WORKLOAD_FILL;
    result_counts(run, out);
    result_rejected(run, out);
    result_times(run, out);
    result_classes(run, out);
    result_use(run, out);
    out->digest = core_digest(run->world.core);
    out->steps = run->world.steps;
}

void result_done(struct result *result)
{
    mem_free(result->rejected_job);
    mem_free(result->rejected_reason);
    result->rejected_job = result->rejected_reason = NULL;
}
