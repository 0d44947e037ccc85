/* SPDX-License-Identifier: Apache-2.0 */
/* bench_waiting.c - what a step and an explanation cost while very many jobs wait. */
#include "sim/bench_waiting.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/sort.h"
#include "base/vec.h"
#include "core/core.h"
#include "core/explain.h"
#include "core/forward.h"
#include "core/view.h"
#include "policy/registry.h"

#define NODE_GPUS         8u
#define NODE_MCPU         192000
#define NODE_MEMORY_BYTES (1536LL << 30)
#define SHAPES_MAX        1000u
#define HOPELESS_JOBS     10000u
#define HOPELESS_NODES    1000u
#define HOPELESS_ROUNDS   200u

struct bench {
    struct core *core;
    struct decisions decisions;
    struct rng rng;
    uint64_t next_id;
    int64_t now_us;
    uint64_t *running; /* [running_count] ids */
    uint32_t running_count, running_cap;
    int64_t *times_ns; /* [time_count] */
    uint32_t time_count, time_cap;
};

static int64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int open_bench(struct bench *b, uint64_t seed, uint32_t nodes, struct err *err)
{
    const struct core_config config = {
        .placement = placement_at(0), .order = order_find("fifo"), .seed = seed};

    *b = (struct bench){.core = core_new(&config, err), .next_id = 1};
    if (b->core == NULL)
        return -EINVAL;
    rng_init(&b->rng, seed);
    decisions_init(&b->decisions);
    for (uint32_t i = 0; i < nodes; i++) {
        char name[24];
        struct event event = {.type = EVENT_NODE_UPSERTED};
        int rc;

        snprintf(name, sizeof name, "node-%u", i);
        event.node = (struct node_spec){.name = name,
                                        .model = "A100",
                                        .gpus = NODE_GPUS,
                                        .gpu_memory_bytes = 80LL << 30,
                                        .cpu_mcpu = NODE_MCPU,
                                        .memory_bytes = NODE_MEMORY_BYTES};
        rc = core_apply(b->core, &event, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static void close_bench(struct bench *b)
{
    core_free(b->core);
    decisions_done(&b->decisions);
    mem_free(b->running);
    mem_free(b->times_ns);
}

/* ---- jobs ---- */

static int submit(struct bench *b, const struct group_spec *group, struct err *err)
{
    const struct job_layout_spec layout = {
        .groups = group, .group_count = 1, .slowdown_ppm = 1000000};
    const struct event event = {
        .type = EVENT_JOB_SUBMITTED,
        .at_us = b->now_us,
        .job = {.id = b->next_id++,
                .queue = "",
                .user = "",
                .name = "",
                .layouts = &layout,
                .layout_count = 1,
                .grace_us = -1,
                .min_run_us = -1,
                .remaining_us = -1},
    };

    return core_apply(b->core, &event, err);
}

/* Shapes differ in GPUs, and in CPUs so that no two are the same. */
static int submit_shape(struct bench *b, uint32_t shape, struct err *err)
{
    static const struct group_spec kinds[] = {
        {.tasks = 1, .gpus = 1},
        {.tasks = 1, .gpus = 2},
        {.tasks = 1, .gpus = 4},
        {.tasks = 1, .gpus = 8},
        {.tasks = 1, .gpus = 1, .gpu_mgpu = 500},
        {.tasks = 4, .gpus = 8},
        {.tasks = 1, .gpus = 1, .gpu_memory_bytes = 30LL << 30},
        {.tasks = 2, .gpus = 4},
    };
    struct group_spec group = kinds[shape % (sizeof kinds / sizeof kinds[0])];

    group.cpu_mcpu = 1000 + (int64_t)shape * 4;
    return submit(b, &group, err);
}

/* Returns the time that the step took. */
static int64_t step(struct bench *b, struct err *err)
{
    const int64_t before_ns = clock_ns();
    int64_t took_ns;

    core_step(b->core, b->now_us, &b->decisions);
    took_ns = clock_ns() - before_ns;
    for (uint32_t i = 0; i < b->decisions.count; i++) {
        const struct decision *d = &b->decisions.items[i];

        if (d->type != DECISION_START)
            continue;
        for (uint32_t t = 0; t < d->place_count; t++) {
            const struct event event = {
                .type = EVENT_TASK_STARTED,
                .at_us = b->now_us,
                .task = {.job_id = d->job_id, .task = t, .node = ""},
            };

            (void)core_apply(b->core, &event, err);
        }
        vec_push(b->running, b->running_count, b->running_cap, d->job_id);
    }
    return took_ns;
}

static void end_one(struct bench *b, uint32_t at)
{
    const uint64_t id = b->running[at];
    const uint32_t tasks = core_job(b->core, core_find_job(b->core, id))->task_count;

    b->running[at] = b->running[--b->running_count];
    for (uint32_t i = 0; i < tasks; i++) {
        const struct event event = {.type = EVENT_TASK_EXITED,
                                    .at_us = b->now_us,
                                    .task = {.job_id = id, .task = i, .node = ""}};

        (void)core_apply(b->core, &event, NULL);
    }
}

/* ---- many that wait ---- */

static int fill(struct bench *b, uint32_t waiting, uint32_t shapes, struct err *err)
{
    while (core_pending_count(b->core) < waiting) {
        for (uint32_t i = 0; i < 256; i++) {
            const int rc = submit_shape(b, (uint32_t)rng_below(&b->rng, shapes), err);

            if (rc < 0)
                return rc;
        }
        b->now_us += 1000000;
        (void)step(b, err);
    }
    return 0;
}

static int compare_i64(const void *a, const void *b, void *arg)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    (void)arg;
    return x < y ? -1 : x > y;
}

static int64_t percentile_ns(struct bench *b, uint32_t pct)
{
    sort_stable(b->times_ns, b->time_count, sizeof *b->times_ns, compare_i64, NULL);
    return b->times_ns[(uint64_t)b->time_count * pct / 100];
}

static int measure_steps(struct bench *b, uint32_t steps, uint32_t shapes, struct err *err)
{
    b->time_count = 0;
    for (uint32_t i = 0; i < steps; i++) {
        int64_t took_ns;
        int rc;

        b->now_us += 1000000;
        end_one(b, (uint32_t)rng_below(&b->rng, b->running_count));
        rc = submit_shape(b, (uint32_t)rng_below(&b->rng, shapes), err);
        if (rc < 0)
            return rc;
        took_ns = step(b, err);
        vec_push(b->times_ns, b->time_count, b->time_cap, took_ns);
    }
    return 0;
}

static int measure_explanations(struct bench *b, uint32_t count, struct err *err)
{
    b->time_count = 0;
    while (b->time_count < count) {
        const uint32_t row = (uint32_t)rng_below(&b->rng, core_job_rows(b->core));
        struct explanation e;
        int64_t took_ns;
        int rc;

        if (core_job(b->core, row)->state != JOB_PENDING)
            continue;
        took_ns = clock_ns();
        rc = explain(b->core, core_job(b->core, row)->id, NULL, &e, err);
        if (rc < 0)
            return rc;
        took_ns = clock_ns() - took_ns;
        explanation_done(&e);
        vec_push(b->times_ns, b->time_count, b->time_cap, took_ns);
    }
    return 0;
}

static int64_t measure_forward(const struct bench *b)
{
    const struct forward_limits all = {.until_job = JOB_NONE};
    const int64_t before_ns = clock_ns();
    struct forward forward;

    forward_run(b->core, &all, &forward);
    forward_done(&forward);
    return clock_ns() - before_ns;
}

static int measure_many(const struct bench_waiting_options *options,
                        struct bench_waiting_result *out, struct err *err)
{
    struct bench b;
    int rc;

    out->shapes = options->waiting / 100;
    out->shapes = out->shapes > SHAPES_MAX ? SHAPES_MAX : out->shapes < 1 ? 1 : out->shapes;
    rc = open_bench(&b, options->seed, options->nodes, err);
    rc = rc < 0 ? rc : fill(&b, options->waiting, out->shapes, err);
    rc = rc < 0 ? rc : measure_steps(&b, options->steps, out->shapes, err);
    if (rc == 0) {
        out->step_p50_ns = percentile_ns(&b, 50);
        out->step_p99_ns = percentile_ns(&b, 99);
        out->nodes = options->nodes;
        out->waiting = core_pending_count(b.core);
        out->running = core_running_count(b.core);
        rc = measure_explanations(&b, options->explanations, err);
    }
    if (rc == 0) {
        out->explain_p50_ns = percentile_ns(&b, 50);
        out->explain_p99_ns = percentile_ns(&b, 99);
        out->forward_ns = measure_forward(&b);
    }
    close_bench(&b);
    return rc;
}

/* ---- hopeless jobs in front of one that fits ---- */

/* The median time of a step that starts one job and looks at all others again. */
static int measure_front(uint32_t hopeless, uint64_t seed, int64_t *out_ns, struct err *err)
{
    const struct group_spec filler = {.tasks = 1, .gpus = 5}, whole = {.tasks = 1, .gpus = 8};
    const struct group_spec small = {.tasks = 1, .gpus = 1};
    struct bench b;
    int rc = open_bench(&b, seed, HOPELESS_NODES, err);

    for (uint32_t i = 0; i < HOPELESS_NODES && rc == 0; i++)
        rc = submit(&b, &filler, err);
    (void)step(&b, err);
    for (uint32_t i = 0; i < hopeless && rc == 0; i++)
        rc = submit(&b, &whole, err);
    (void)step(&b, err);
    b.time_count = 0;
    for (uint32_t i = 0; i < HOPELESS_ROUNDS && rc == 0; i++) {
        int64_t took_ns;

        b.now_us += 1000000;
        rc = submit(&b, &small, err);
        took_ns = step(&b, err);
        vec_push(b.times_ns, b.time_count, b.time_cap, took_ns);
        if (b.running_count != HOPELESS_NODES + 1)
            rc = err_set(err, -EINVAL, "bench: the small job did not start");
        else
            end_one(&b, HOPELESS_NODES);
    }
    *out_ns = rc == 0 ? percentile_ns(&b, 50) : 0;
    close_bench(&b);
    return rc;
}

int bench_waiting(const struct bench_waiting_options *options, struct bench_waiting_result *out,
                  struct err *err)
{
    int rc;

    *out = (struct bench_waiting_result){.hopeless = HOPELESS_JOBS};
    rc = measure_front(HOPELESS_JOBS, options->seed, &out->with_ns, err);
    rc = rc < 0 ? rc : measure_front(0, options->seed, &out->without_ns, err);
    if (rc == 0)
        out->ratio_ppm = out->with_ns * 1000000 / (out->without_ns + 1);
    return rc < 0 ? rc : measure_many(options, out, err);
}
