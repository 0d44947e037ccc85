/* SPDX-License-Identifier: Apache-2.0 */
/* bench.c - how fast a core places jobs on a large, busy cluster. */
#include "sim/bench.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "base/err.h"
#include "base/heap.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/sort.h"
#include "base/vec.h"
#include "core/core.h"
#include "core/view.h"
#include "policy/registry.h"
#include "sim/layout.h"
#include "sim/workload.h"

#define NODE_GPUS         8u
#define NODE_MCPU         192000
#define NODE_MEMORY_BYTES (1536LL << 30)
#define FULL_PPM          800000
#define LIFETIME_US       3600000000.0 /* the mean */

/* GPUs of each model per thousand, as in openb. */
static const struct {
    const char *model;
    uint32_t per_thousand;
} models[] = {{"G2", 707}, {"T4", 136}, {"G3", 50}, {"P100", 43}, {"V100M32", 33}, {"V100M16", 31}};

struct bench {
    const struct trace *trace;
    struct core *core;
    struct decisions decisions;
    struct rng rng;
    struct heap ends; /* by job id */
    int64_t *mgpu;    /* [jobs] of each job that runs */
    uint32_t mgpu_cap;
    uint64_t next_id;
    int64_t now_us, held_mgpu, capacity_mgpu;
    int64_t *step_ns; /* [step_count] */
    uint32_t step_count, step_cap;
    int64_t core_ns; /* spent in calls of the core */
    uint64_t placed;
};

static int64_t read_clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t clock_ns(void)
{
    return read_clock_ns(CLOCK_MONOTONIC);
}

static int apply(struct bench *b, const struct event *event, struct err *err)
{
    const int64_t before_ns = clock_ns();
    const int rc = core_apply(b->core, event, err);

    b->core_ns += clock_ns() - before_ns;
    return rc;
}

static const char *draw_model(uint32_t node)
{
    uint32_t at = (uint32_t)((uint64_t)node * 619 % 1000); /* spread evenly */

    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        if (at < models[i].per_thousand)
            return models[i].model;
        at -= models[i].per_thousand;
    }
    return models[0].model;
}

static int add_nodes(struct bench *b, uint32_t count, struct err *err)
{
    for (uint32_t i = 0; i < count; i++) {
        char name[24];
        struct event event = {.type = EVENT_NODE_UPSERTED};
        int rc;

        snprintf(name, sizeof name, "node-%u", i);
        event.node = (struct node_spec){.name = name,
                                        .model = draw_model(i),
                                        .gpus = NODE_GPUS,
                                        .cpu_mcpu = NODE_MCPU,
                                        .memory_bytes = NODE_MEMORY_BYTES};
        rc = apply(b, &event, err);
        if (rc < 0)
            return rc;
    }
    b->capacity_mgpu = (int64_t)count * NODE_GPUS * GPU_MGPU;
    return 0;
}

static double draw_exponential(struct rng *rng)
{
    return -log((double)((rng_next(rng) >> 11) + 1) * 0x1p-53);
}

static int exit_job(struct bench *b, uint32_t job, struct err *err)
{
    const struct event event = {
        .type = EVENT_TASK_EXITED,
        .at_us = b->now_us,
        .task = {.job_id = (uint64_t)job, .node = ""},
    };

    b->held_mgpu -= b->mgpu[job];
    return apply(b, &event, err);
}

static int leave_until(struct bench *b, int64_t until_us, struct err *err)
{
    struct heap_item first;

    while (heap_peek(&b->ends, &first) && first.key <= until_us) {
        int rc;

        heap_pop(&b->ends, &first);
        b->now_us = first.key;
        rc = exit_job(b, first.id, err);
        if (rc < 0)
            return rc;
    }
    b->now_us = until_us;
    return 0;
}

static void step(struct bench *b)
{
    const int64_t before_ns = clock_ns();
    int64_t took_ns;

    core_step(b->core, b->now_us, &b->decisions);
    took_ns = clock_ns() - before_ns;
    b->core_ns += took_ns;
    vec_push(b->step_ns, b->step_count, b->step_cap, took_ns);
}

static int start_decided(struct bench *b, struct err *err)
{
    for (uint32_t i = 0; i < b->decisions.count; i++) {
        const struct decision *d = &b->decisions.items[i];
        const struct event event = {
            .type = EVENT_TASK_STARTED,
            .at_us = b->now_us,
            .task = {.job_id = d->job_id, .run = d->run, .node = ""},
        };
        int rc;

        if (d->type != DECISION_START)
            continue;
        rc = apply(b, &event, err);
        if (rc < 0)
            return rc;
        b->placed++;
        b->held_mgpu += b->mgpu[d->job_id];
        heap_push(&b->ends, b->now_us + (int64_t)(LIFETIME_US * draw_exponential(&b->rng)) + 1,
                  d->job_id, (uint32_t)d->job_id);
    }
    return 0;
}

static int arrive(struct bench *b, struct err *err)
{
    const uint32_t row = (uint32_t)rng_below(&b->rng, b->trace->job_count);
    struct job_request request;
    struct event event = {.type = EVENT_JOB_SUBMITTED, .at_us = b->now_us};
    int rc;

    job_request_make(b->trace->format, &b->trace->jobs[row], b->next_id, NODE_GPUS, &request);
    vec_reserve(b->mgpu, b->mgpu_cap, (uint32_t)b->next_id + 1);
    b->mgpu[b->next_id++] = trace_job_mgpu(&b->trace->jobs[row]);
    event.job = request.spec;
    rc = apply(b, &event, err);
    if (rc < 0)
        return rc;
    step(b);
    return start_decided(b, err);
}

/* Jobs arrive at one instant until the cluster is as full as it shall be. */
static int fill(struct bench *b, struct err *err)
{
    while (b->held_mgpu < b->capacity_mgpu / 1000000 * FULL_PPM) {
        const int rc = arrive(b, err);

        if (rc < 0)
            return rc;
        if (core_pending_count(b->core) > 10000)
            return err_set(err, -ENOSPC, "bench: the cluster does not get 80 %% full");
    }
    return 0;
}

static int come_and_go(struct bench *b, uint32_t placements, struct err *err)
{
    const uint64_t until = b->placed + placements;
    double mean_mgpu = 0.0, gap_us, at_us = (double)b->now_us;

    for (uint32_t i = 0; i < b->trace->job_count; i++)
        mean_mgpu += (double)trace_job_mgpu(&b->trace->jobs[i]) / b->trace->job_count;
    gap_us = LIFETIME_US * mean_mgpu / ((double)b->capacity_mgpu * FULL_PPM / 1e6);
    while (b->placed < until) {
        int rc;

        at_us += gap_us * draw_exponential(&b->rng);
        rc = leave_until(b, (int64_t)at_us, err);
        rc = rc < 0 ? rc : arrive(b, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int compare_i64(const void *a, const void *b, void *arg)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    (void)arg;
    return x < y ? -1 : x > y;
}

static void summarise(struct bench *b, struct bench_result *out)
{
    out->per_second = (int64_t)out->placements * 1000000 / (out->elapsed_us + 1);
    sort_stable(b->step_ns, b->step_count, sizeof *b->step_ns, compare_i64, NULL);
    out->step_p50_ns = b->step_ns[b->step_count / 2];
    out->step_p99_ns = b->step_ns[(uint64_t)b->step_count * 99 / 100];
    out->step_max_ns = b->step_ns[b->step_count - 1];
    out->states = core_state_count(b->core);
    out->waiting = core_pending_count(b->core);
    out->allocated_ppm = b->held_mgpu * 1000 / (b->capacity_mgpu / 1000);
}

static int measure(struct bench *b, const struct bench_options *options, struct bench_result *out,
                   struct err *err)
{
    int64_t wall_ns, cpu_ns;
    int rc = fill(b, err);

    rc = rc < 0 ? rc : come_and_go(b, options->placements / 4, err); /* the policy settles */
    if (rc < 0)
        return rc;
    out->fill_us = b->core_ns / 1000;
    b->core_ns = 0;
    b->step_count = 0;
    out->placements = b->placed;
    wall_ns = clock_ns();
    cpu_ns = read_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    rc = come_and_go(b, options->placements, err);
    if (rc < 0)
        return rc;
    wall_ns = clock_ns() - wall_ns;
    cpu_ns = read_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns;
    /* The core's part of the processor time: others on the machine slow the wall clock only. */
    out->elapsed_us = (int64_t)((double)cpu_ns * (double)b->core_ns / (double)wall_ns / 1e3);
    out->placements = b->placed - out->placements;
    summarise(b, out);
    return 0;
}

int bench_place(const struct bench_options *options, const struct trace *trace,
                struct bench_result *out, struct err *err)
{
    const struct core_config config = {.placement = placement_find(options->policy),
                                       .order = order_find("fifo"),
                                       .seed = options->seed};
    struct bench b = {.trace = trace, .next_id = 1};
    int rc;

    if (config.placement == NULL)
        return err_set(err, -EINVAL,
                       "--policy: '%s': no such policy; 'berth sim --help' lists them",
                       options->policy);
    b.core = core_new(&config, err);
    if (b.core == NULL)
        return -EINVAL;
    rng_init(&b.rng, options->seed);
    heap_init(&b.ends);
    decisions_init(&b.decisions);
    *out = (struct bench_result){.policy = options->policy, .nodes = options->nodes};
    rc = add_nodes(&b, options->nodes, err);
    rc = rc < 0 ? rc : measure(&b, options, out, err);
    core_free(b.core);
    heap_done(&b.ends);
    decisions_done(&b.decisions);
    mem_free(b.mgpu);
    mem_free(b.step_ns);
    return rc;
}
