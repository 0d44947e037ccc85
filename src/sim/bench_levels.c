/* SPDX-License-Identifier: Apache-2.0 */
/* bench_levels.c - what a place for a large gang costs that must be near itself. */
#include "sim/bench_levels.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/sort.h"
#include "core/core.h"
#include "core/decision.h"
#include "policy/registry.h"

enum { NODE_GPUS = 8, NODES = 10000, LEAF_NODES = 20, SPINE_NODES = 500, ROUNDS = 50 };
enum { GANG_TASKS = 128, LARGE_TASKS = 3 * GANG_TASKS, GROUP_TASKS = 16, BUSY_MAX = 8 };
enum { RACK_NODES = 10, RACKS = 100, RACK_ROUNDS = 20 };

struct bench {
    struct core *core;
    struct decisions decisions;
    uint64_t next_id;
    int64_t now_us;
};

static int64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- the cluster ---- */

static int join(struct bench *b, uint32_t node, uint32_t spine_nodes, uint32_t leaf_nodes,
                struct err *err)
{
    char name[24], spine[24], leaf[24];
    const char *const labels[] = {leaf, spine};
    const struct event event = {.type = EVENT_NODE_UPSERTED,
                                .node = {.name = name,
                                         .model = "H100",
                                         .gpus = NODE_GPUS,
                                         .gpu_memory_bytes = 80LL << 30,
                                         .cpu_mcpu = 192000,
                                         .memory_bytes = 1536LL << 30,
                                         .labels = labels,
                                         .label_count = 2}};

    snprintf(name, sizeof name, "node-%u", node);
    snprintf(spine, sizeof spine, "spine=%u", node / spine_nodes);
    snprintf(leaf, sizeof leaf, "leaf=%u", node / leaf_nodes);
    return core_apply(b->core, &event, err);
}

static int open_bench(struct bench *b, uint32_t nodes, uint32_t spine_nodes, uint32_t leaf_nodes,
                      struct err *err)
{
    static const struct level_spec levels[] = {
        {.name = "spine", .bandwidth_bytes = 50000000000, .uplink_bytes = 200000000000},
        {.name = "leaf", .bandwidth_bytes = 50000000000, .uplink_bytes = 100000000000}};
    const struct core_config config = {.placement = placement_at(0), .order = order_find("fifo")};
    const struct event rules = {.type = EVENT_CONFIG_CHANGED,
                                .rules = {.levels = levels, .level_count = 2}};
    int rc;

    *b = (struct bench){.core = core_new(&config, err), .next_id = 1};
    if (b->core == NULL)
        return -EINVAL;
    decisions_init(&b->decisions);
    rc = core_apply(b->core, &rules, err);
    for (uint32_t i = 0; rc == 0 && i < nodes; i++)
        rc = join(b, i, spine_nodes, leaf_nodes, err);
    return rc;
}

static void close_bench(struct bench *b)
{
    core_free(b->core);
    decisions_done(&b->decisions);
}

/* ---- jobs ---- */

static int submit(struct bench *b, uint32_t tasks, uint32_t gpus, const char *within,
                  uint32_t group_size, struct err *err)
{
    const struct group_spec group = {.tasks = tasks, .gpus = gpus};
    const struct job_layout_spec layout = {
        .groups = &group, .group_count = 1, .slowdown_ppm = 1000000};
    const struct event event = {.type = EVENT_JOB_SUBMITTED,
                                .at_us = b->now_us,
                                .job = {.id = b->next_id++,
                                        .queue = "",
                                        .user = "",
                                        .name = "",
                                        .layouts = &layout,
                                        .layout_count = 1,
                                        .within = within,
                                        .group_within = group_size > 0 ? "leaf" : "",
                                        .group_size = group_size,
                                        .grace_us = -1,
                                        .min_run_us = -1,
                                        .remaining_us = -1}};

    return core_apply(b->core, &event, err);
}

static void step(struct bench *b)
{
    core_step(b->core, b->now_us += 1000000, &b->decisions);
}

static void tell_exit(struct bench *b, uint64_t id, uint32_t task)
{
    const struct event event = {.type = EVENT_TASK_EXITED,
                                .at_us = b->now_us,
                                .task = {.job_id = id, .task = task, .node = ""}};

    (void)core_apply(b->core, &event, NULL);
}

/* The last job is over, whether it ran or waits. */
static void drop_last(struct bench *b, uint32_t tasks)
{
    const struct event event = {
        .at_us = b->now_us, .type = EVENT_JOB_CANCELLED, .job_id = b->next_id - 1};

    (void)core_apply(b->core, &event, NULL);
    step(b);
    for (uint32_t i = 0; i < tasks; i++)
        tell_exit(b, b->next_id - 1, i);
}

/* All nodes are taken, and then given back but for up to BUSY_MAX in each leaf. */
static int fill(struct bench *b, uint64_t seed, struct err *err)
{
    uint32_t *busy = mem_alloc(NODES / LEAF_NODES, sizeof *busy);
    struct rng rng;
    int rc = 0;

    rng_init(&rng, seed);
    for (uint32_t leaf = 0; leaf < NODES / LEAF_NODES; leaf++)
        busy[leaf] = (uint32_t)rng_below(&rng, BUSY_MAX + 1);
    for (uint32_t node = 0; rc == 0 && node < NODES; node++)
        rc = submit(b, 1, NODE_GPUS, "", 0, err);
    step(b);
    for (uint32_t i = 0; i < b->decisions.count; i++) {
        const struct decision *d = &b->decisions.items[i];
        const uint32_t node = b->decisions.places[d->place_first].node; /* in order of joining */

        if (d->type != DECISION_START)
            continue;
        if (busy[node / LEAF_NODES] == 0)
            tell_exit(b, d->job_id, 0);
        else
            busy[node / LEAF_NODES]--;
    }
    mem_free(busy);
    return rc;
}

/* ---- measuring ---- */

static int by_time(const void *a, const void *b, void *arg)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    (void)arg;
    return x < y ? -1 : x > y;
}

/* The gang comes and goes, so many times. *out_first: of the first, which is in no other number. */
static int measure(struct bench *b, uint32_t tasks, const char *within, uint32_t group_size,
                   uint32_t rounds, bool starts, int64_t *out_first, int64_t *out_p50,
                   int64_t *out_max, struct err *err)
{
    int64_t times[ROUNDS];

    for (uint32_t i = 0; i <= rounds; i++) {
        const int64_t before_ns = clock_ns();
        const int rc = submit(b, tasks, NODE_GPUS, within, group_size, err);
        int64_t took_ns;

        if (rc < 0)
            return rc;
        step(b);
        took_ns = clock_ns() - before_ns;
        if ((b->decisions.place_count == tasks) != starts)
            return err_set(err, -EINVAL, "a gang of %u tasks was%s placed", tasks,
                           starts ? " not" : "");
        if (i == 0)
            *out_first = took_ns;
        else
            times[i - 1] = took_ns;
        drop_last(b, starts ? tasks : 0);
    }
    sort_stable(times, rounds, sizeof times[0], by_time, NULL);
    *out_p50 = times[rounds / 2];
    *out_max = times[rounds - 1];
    return 0;
}

static int measure_spines(uint64_t seed, struct bench_levels_result *out, struct err *err)
{
    struct bench b;
    int64_t first;
    int rc = open_bench(&b, NODES, SPINE_NODES, LEAF_NODES, err);

    if (b.core == NULL)
        return rc;
    rc = rc < 0 ? rc : fill(&b, seed, err);
    if (rc == 0)
        rc = measure(&b, GANG_TASKS, "spine", GROUP_TASKS, ROUNDS, true, &out->first_ns,
                     &out->placed_p50_ns, &out->placed_max_ns, err);
    if (rc == 0)
        rc = measure(&b, LARGE_TASKS, "spine", GROUP_TASKS, ROUNDS, false, &first,
                     &out->refused_p50_ns, &out->refused_max_ns, err);
    close_bench(&b);
    return rc;
}

static int measure_racks(struct bench_levels_result *out, struct err *err)
{
    struct bench b;
    int64_t first;
    int rc = open_bench(&b, RACKS * RACK_NODES, RACKS * RACK_NODES, RACK_NODES, err);

    if (b.core == NULL)
        return rc;
    if (rc == 0)
        rc = measure(&b, RACKS * RACK_NODES, "", RACK_NODES, RACK_ROUNDS, true, &first,
                     &out->groups_p50_ns, &out->groups_max_ns, err);
    close_bench(&b);
    return rc;
}

int bench_levels(uint64_t seed, struct bench_levels_result *out, struct err *err)
{
    int rc;

    *out = (struct bench_levels_result){.nodes = NODES, .rounds = ROUNDS};
    rc = measure_spines(seed, out, err);
    rc = rc < 0 ? rc : measure_racks(out, err);
    return rc < 0 ? err_prefix(err, rc, "levels: ") : 0;
}
