/* SPDX-License-Identifier: Apache-2.0 */
/* bench_waiting.h - what a step and an explanation cost while very many jobs wait.
 *
 * A cluster of 8-GPU nodes is full, and jobs of a thousand shapes wait (fewer if few wait). In each
 * round one running job ends, one arrives, and the core is stepped; then waiting jobs, drawn at
 * random, are explained. And by itself: the time of a step that starts a job behind so many jobs of
 * one shape that fits nowhere, against the same step without them. */
#pragma once
#include <stdint.h>

struct err;

struct bench_waiting_options {
    uint32_t waiting; /* jobs */
    uint32_t nodes;
    uint32_t steps, explanations; /* to measure */
    uint64_t seed;
};

struct bench_waiting_result {
    uint32_t nodes, waiting, running, shapes; /* as it was */
    int64_t step_p50_ns, step_p99_ns;
    int64_t explain_p50_ns, explain_p99_ns;
    int64_t forward_ns;                     /* one forward run, to its bound */
    uint32_t hopeless;                      /* jobs in front of one that fits */
    int64_t with_ns, without_ns, ratio_ppm; /* medians of that step */
};

int bench_waiting(const struct bench_waiting_options *options, struct bench_waiting_result *out,
                  struct err *err);
