/* SPDX-License-Identifier: Apache-2.0 */
/* bench.h - how fast a core places jobs on a large, busy cluster.
 *
 * Nodes of 8 GPUs, models in the proportions of openb's GPUs; jobs drawn from a trace's shapes in
 * their proportions; the cluster is filled to 80 % of its GPU compute with jobs whose remaining
 * lifetimes are exponential, which is a steady state at once; then jobs come and go. Timed is
 * everything the core does: submit, step, start, exit. */
#pragma once
#include <stdint.h>

#include "wire/trace.h"

struct err;

struct bench_options {
    const char *policy;
    uint32_t nodes;
    uint32_t placements; /* to measure */
    uint64_t seed;
};

struct bench_result {
    const char *policy;
    uint32_t nodes;
    uint32_t states; /* distinct node states at the end */
    uint64_t placements;
    int64_t elapsed_us; /* processor time in calls of the core */
    int64_t per_second;
    int64_t step_p50_ns, step_p99_ns, step_max_ns;
    uint32_t waiting; /* jobs that did not fit, at the end */
    int64_t fill_us;  /* the same while the cluster was filled */
    int64_t allocated_ppm;
};

int bench_place(const struct bench_options *options, const struct trace *trace,
                struct bench_result *out, struct err *err);
