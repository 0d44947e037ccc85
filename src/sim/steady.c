/* SPDX-License-Identifier: Apache-2.0 */
/* steady.c - arrivals of a cluster in a steady state. Floating point is fine here: it makes the
 * input, and what the core sees are whole microseconds. */
#include "sim/steady.h"

#include <math.h>

#include "base/rng.h"
#include "base/vec.h"
#include "sim/workload.h"

/* Uniform in (0, 1]. */
static double draw_unit(struct rng *rng)
{
    return (double)((rng_next(rng) >> 11) + 1) * 0x1p-53;
}

static double draw_exponential(struct rng *rng)
{
    return -log(draw_unit(rng));
}

/* Box and Muller. */
static double draw_normal(struct rng *rng)
{
    const double radius = sqrt(-2.0 * log(draw_unit(rng)));

    return radius * cos(6.283185307179586 * draw_unit(rng));
}

/* Lognormal of mean 1: the logarithm has mean -sigma^2 / 2. */
static double draw_lifetime(struct rng *rng)
{
    return exp(STEADY_SIGMA * draw_normal(rng) - STEADY_SIGMA * STEADY_SIGMA / 2.0);
}

static double mean_mgpu(const struct trace *trace)
{
    double sum = 0.0;

    for (uint32_t i = 0; i < trace->job_count; i++)
        sum += (double)trace_job_mgpu(&trace->jobs[i]);
    return sum / trace->job_count;
}

void steady_make(struct workload *w, int64_t capacity_mgpu, const struct workload_options *options)
{
    const double lifetime_us = (double)STEADY_LIFETIME_US;
    const double load_mgpu = (double)capacity_mgpu * options->load_pct / 100.0;
    const double gap_us = lifetime_us * mean_mgpu(w->trace) / load_mgpu;
    struct rng rng;
    double at_us = 0.0;

    rng_init(&rng, options->seed);
    w->measure_from_us = STEADY_WARM_LIFETIMES * STEADY_LIFETIME_US;
    w->measure_to_us = w->measure_from_us + (int64_t)options->lifetimes * STEADY_LIFETIME_US;
    while (w->count <= TRACE_JOBS_MAX) { /* more is for the caller to refuse */
        struct arrival arrival;

        at_us += gap_us * draw_exponential(&rng);
        arrival.at_us = (int64_t)at_us;
        if (arrival.at_us >= w->measure_to_us)
            return;
        arrival.trace_row = (uint32_t)rng_below(&rng, w->trace->job_count);
        arrival.duration_us = (int64_t)(lifetime_us * draw_lifetime(&rng)) + 1;
        vec_push(w->arrivals, w->count, w->cap, arrival);
    }
}
