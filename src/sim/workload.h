/* SPDX-License-Identifier: Apache-2.0 */
/* workload.h - which jobs arrive when: a trace made ready for one run.
 *
 * timed      the trace's own submission times and durations (muri, pollux, philly, generic)
 * fill       pods in random order until so many per cent of the cluster's GPU compute were asked
 *            for; they never leave (the protocol of FGD, USENIX ATC'23, for openb)
 * steady     jobs drawn with replacement, exponential gaps, lognormal lifetimes; the load in per
 *            cent of the cluster's GPU compute */
#pragma once
#include <stdint.h>

#include "core/event.h"
#include "wire/cluster.h"
#include "wire/trace.h"

struct err;

enum workload_kind { WORKLOAD_TIMED, WORKLOAD_FILL, WORKLOAD_STEADY };

#define STEADY_LIFETIME_US    (3600LL * 1000000) /* the mean; only ratios to it are reported */
#define STEADY_SIGMA          1.0                /* of the logarithm of a lifetime */
#define STEADY_WARM_LIFETIMES 10 /* of lognormal lifetimes a tenth of the load is older than 3 */

struct workload_options {
    enum workload_kind kind;
    uint64_t seed;
    int64_t jitter_us;         /* timed: each job arrives later by 0 to so much, drawn */
    uint32_t arrive_until_pct; /* fill: GPU compute asked for, per cent of the cluster's */
    uint32_t load_pct;         /* steady */
    uint32_t lifetimes;        /* steady: measured after the warm-up */
};

struct arrival {
    uint32_t trace_row;
    int64_t at_us;
    int64_t duration_us; /* -1 = never leaves */
};

struct workload {
    const struct trace *trace;
    struct arrival *arrivals; /* [count] in order of time */
    uint32_t count, cap;
    int64_t measure_from_us; /* steady: after the warm-up; else 0 */
    int64_t measure_to_us;   /* steady: the end; else INT64_MAX */
};

/* GPU compute of a job of the trace. */
int64_t trace_job_mgpu(const struct trace_job *job);

int workload_make(struct workload *w, const struct trace *trace, const struct cluster *cluster,
                  const struct workload_options *options, struct err *err);
void workload_done(struct workload *w);
