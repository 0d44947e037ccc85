/* SPDX-License-Identifier: Apache-2.0 */
/* measure.h - what a run shows: how full the cluster was, who waited, how long jobs took. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "sim/promises.h"
#include "wire/cluster.h"

struct run;
struct run_job;

#define RESULT_MODELS_MAX 64u
#define UNKNOWN_PPM       INT64_MIN /* a ratio that this run does not have */

enum job_class { CLASS_CPU_ONLY, CLASS_SHARED, CLASS_WHOLE, CLASS_MULTI, CLASS_COUNT };

const char *job_class_text(enum job_class job_class);

struct result {
    const char *trace, *policy, *order; /* borrowed from the caller's options */
    uint64_t seed;
    bool filled;                /* jobs arrived until the cluster was full, and stayed */
    int64_t unallocated_ppm;    /* mean at 100 % arrived; UNKNOWN_PPM where jobs leave */
    int64_t unallocated_95_ppm; /* at 95 % */
    int64_t fragmented_ppm;     /* of all GPU compute at the end, see fragment.h */
    int64_t allocated_ppm;      /* over time where jobs leave, at the end where they stay */
    uint32_t jobs, finished, failed, waiting;
    uint32_t never;     /* of the failed and waiting: no node could hold a task of it, even empty */
    uint32_t rejected;  /* of the failed: the core said that they can never run */
    char *rejected_job; /* the first of them, by its name or number in the trace, and why: */
    char *rejected_reason; /* both owned; NULL if there is none */
    uint64_t preemptions;
    int64_t jct_mean_us, jct_p50_us, jct_p95_us, jct_p99_us;
    int64_t wait_mean_us, wait_p50_us, wait_p95_us, wait_p99_us;
    int64_t class_wait_us[CLASS_COUNT]; /* mean; -1 without such jobs */
    uint32_t class_jobs[CLASS_COUNT];
    int64_t makespan_us;                /* the last end, on the trace's clock */
    __extension__ __int128 busy_gpu_us; /* GPU compute held, integrated: GPU-microseconds */
    struct model_use {
        const char *model;
        uint64_t gpus;
        int64_t used_ppm;
    } models[RESULT_MODELS_MAX]; /* [model_count] */
    uint32_t model_count;
    bool reserves; /* jobs had reservations */
    struct promises promises;
    uint64_t digest;
    uint64_t steps;
};

struct measure {
    int64_t capacity_mgpu;
    int64_t held_mgpu;      /* now */
    int64_t requested_mgpu; /* of all arrivals so far */
    int64_t from_us, to_us, last_us;
    __extension__ __int128 busy_mgpu_us;            /* over all time */
    __extension__ __int128 window_mgpu_us;          /* from from_us to to_us */
    __extension__ __int128 free_at_100, free_at_95; /* sums of free mgpu over steps */
    uint64_t steps_at_100, steps_at_95;
    uint64_t preemptions;
    uint32_t failed, never;
    const char *models[RESULT_MODELS_MAX];
    uint64_t model_gpus[RESULT_MODELS_MAX];
    int64_t model_held_mgpu[RESULT_MODELS_MAX];
    __extension__ __int128 model_mgpu_us[RESULT_MODELS_MAX];
    uint32_t model_count;
};

void measure_init(struct measure *m, const struct cluster *cluster);

/* The clock moves on: what is held was held until then. */
void measure_advance(struct measure *m, int64_t now_us);

/* A task takes (sign 1) or gives back (-1) so much on a node of this model. */
void measure_hold(struct measure *m, const char *model, int64_t mgpu, int sign);

/* A job has arrived and was placed or dropped: one point of the curve of FGD's figures. */
void measure_arrived(struct measure *m, int64_t mgpu);

/* *out needs result_done(). */
void measure_result(const struct run *run, struct result *out);
void result_done(struct result *result); /* a zeroed one is fine */
