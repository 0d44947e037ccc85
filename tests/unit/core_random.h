/* SPDX-License-Identifier: Apache-2.0 */
/* core_random.h - random histories: events drawn from what a core holds just now, sensible for the
 * most part, late, doubled or nonsense now and then. The same seed and core, the same event. */
#pragma once
#include "base/rng.h"
#include "core/link_presets.h"
#include "unit/core_test.h"

/* All modes but that of split GPUs, which only some models can be. */
#define MODES_TOGETHER (MODES_ALL & ~MODE_BIT(GPU_MIG))

struct play {
    struct rng rng;
    uint64_t next_id;
    uint32_t nodes;  /* names n0.. that are used */
    uint32_t shapes; /* of the pool below that are asked for */
    bool one_group;  /* jobs of one group only, which need all of their tasks */
    bool one_queue;  /* no configuration, and one class, so that nothing but room keeps jobs */
    bool unsplit;    /* no GPUs that may be split, and nobody asks for a part of such */
    bool whole_gpus; /* that are all alike: what is asked for is what is held, on any node */
    bool levels;     /* nodes stand in racks of zones, and jobs ask for that; set before the join */
    bool tame;       /* no nonsense, no other GPUs than decided */
    int64_t step_us; /* largest step of time */
    const struct order_policy *const *orders; /* [order_count] that queues are given, or NULL */
    uint32_t order_count;
    /* what the last event points to */
    char name[24], queue[8];
    struct group_spec groups[2];
    struct job_layout_spec layouts[2];
    const char *labels[2];
    struct level_spec level_specs[2];
    uint32_t links[28];
    struct job_after after[2];
    struct listed_task listed[64];
    struct split_instance instances[16];
    struct queue_spec queues[12];
    struct class_spec classes[4];
};

static inline void play_init(struct play *play, uint64_t seed, uint32_t nodes)
{
    *play = (struct play){.nodes = nodes, .shapes = UINT32_MAX, .next_id = 1, .step_us = 900000};
    rng_init(&play->rng, seed);
}

static inline uint32_t play_below(struct play *play, uint32_t n)
{
    return (uint32_t)rng_below(&play->rng, n);
}

static const char *const play_models[] = {"A100", "T4", "V100"};
static const char *const play_labels[] = {"zone=a", "zone=b"};

static inline struct group_spec play_group(struct play *play)
{
    static const struct group_spec pool[] = {
        {.tasks = 1, .gpus = 1},
        {.tasks = 1, .gpus = 2},
        {.tasks = 1, .gpus = 4},
        {.tasks = 1, .gpus = 1, .gpu_mgpu = 500},
        {.tasks = 1, .gpus = 1, .gpu_mgpu = 300, .cpu_mcpu = 2000},
        {.tasks = 1, .gpus = 1, .gpu_mgpu = 700, .gpu_memory_bytes = GB},
        {.tasks = 1, .gpus = 1, .gpu_memory_bytes = 9 * GB},
        {.tasks = 1, .cpu_mcpu = 3000, .memory_bytes = 100 * GB},
        {.tasks = 1, .gpus = 2, .gpu_mgpu = 400},
        {.tasks = 1, .gpus = 1, .cpu_mcpu = 4000, .models = play_models, .model_count = 2},
        {.tasks = 1, .gpus = 1, .gpu_mgpu = 200, .labels = play_labels, .label_count = 1},
        {.tasks = 1, .gpus = 3, .memory_bytes = 300 * GB},
        {.tasks = 1, .gpus = 9},
        {.tasks = 1, .gpus = 1, .mig = "1g.10gb"},
        {.tasks = 1, .gpus = 1, .mig = "2g.20gb", .cpu_mcpu = 1000},
        {.tasks = 1, .gpus = 1, .mig = "3g.40gb"},
        {.tasks = 1, .gpus = 1, .mig = "1g.20gb"},
        {.tasks = 1, .gpus = 1, .mig = "any", .gpu_memory_bytes = 15 * GB},
        {.tasks = 1, .gpus = 1, .mig = "7g.80gb", .models = play_models, .model_count = 1},
    };
    const uint32_t count = sizeof pool / sizeof pool[0] - (play->unsplit ? 6 : 0);
    struct group_spec group = pool[play_below(play, play->whole_gpus       ? 3
                                                    : count < play->shapes ? count
                                                                           : play->shapes)];

    if (group.gpus != 2 && play_below(play, 4) == 0)
        group.tasks = 1 + play_below(play, 4);
    return group;
}

/* Some jobs have limits, are tried again, or do not give way. */
static inline void play_life(struct play *play, struct job_spec *job)
{
    const bool limited = play_below(play, 5) == 0, long_runner = play_below(play, 6) == 0;

    job->limit_us = limited ? 1 + (int64_t)play_below(play, 30000000) : 0;
    job->grace_us = play_below(play, 3) == 0 ? (int64_t)play_below(play, 20000000) : -1;
    job->min_run_us = long_runner ? (int64_t)play_below(play, 30000000) : -1;
    job->fixed = play_below(play, 12) == 0;
    job->retries = play_below(play, 3) == 0 ? play_below(play, 3) : 0;
}

/* Some jobs are held, of an array, or wait for others. */
static inline void play_keep_out(struct play *play, struct job_spec *job)
{
    static const char *const arrays[] = {"", "one", "three", "all"};
    static const uint32_t limits[] = {0, 1, 3, 0};
    const uint32_t array = play_below(play, 3) == 0 ? play_below(play, 4) : 0;

    job->held = play_below(play, 15) == 0;
    job->array = arrays[array];
    job->array_limit = limits[array];
    job->after = play->after;
    job->after_count = play_below(play, 8) == 0 ? 1 + play_below(play, 2) : 0;
    for (uint32_t i = 0; i < job->after_count; i++)
        play->after[i] = (struct job_after){job->id - 1 - rng_below(&play->rng, 8),
                                            (enum after_end)play_below(play, AFTER_COUNT)};
}

/* Some may run with fewer tasks, and some never end by themselves. */
static inline void play_elastic(struct play *play, struct job_spec *job)
{
    if (play->one_group || play_below(play, 3) > 0)
        return;
    if (job->layout_count == 1 && job->layouts[0].group_count == 1) {
        if (play_below(play, 2) == 0)
            play->groups[0].tasks += play_below(play, 5);
        job->tasks_min = play_below(play, play->groups[0].tasks + 1);
    }
    job->service = play_below(play, 3) == 0;
}

static const char *const play_users[] = {"", "ann", "bob", "cy"};
static const char *const play_classes[] = {"", "high", "medium", "low", "top"};

/* Most jobs name a queue that there is, and some a class; now and then one that there is not. */
static inline void play_stand(struct play *play, struct job_spec *job)
{
    const uint32_t class = play_below(play, 12);

    snprintf(play->queue, sizeof play->queue, "%u", play_below(play, 6));
    if (play_below(play, 30) == 0)
        snprintf(play->queue, sizeof play->queue, "%u", play_below(play, 10));
    if (play_below(play, 12) == 0)
        play->queue[0] = '\0';
    job->queue = play->queue;
    job->user = play_users[play_below(play, 4)];
    job->class = play_classes[class < 4 ? class : play_below(play, 40) == 0 ? 4 : 0];
    if (play->one_queue)
        job->class = "";
}

/* How it shares GPUs; most say nothing, and some what cannot be. */
static inline void play_sharing(struct play *play, struct job_spec *job)
{
    if (play_below(play, 3) == 0)
        job->modes = 1 + play_below(play, MODES_TOGETHER);
    if (play_below(play, 3) == 0)
        job->modes = MODES_TOGETHER;
    if (play_below(play, 4) == 0)
        job->qos.class = (enum qos_class)play_below(play, QOS_CLASSES);
    job->strict = play_below(play, 10) == 0;
    if (play_below(play, 8) == 0) {
        job->qos.stated = 1u << QOS_PREEMPTION | 1u << QOS_MPS_PERCENT;
        job->qos.values[QOS_PREEMPTION] = (int32_t)play_below(play, 2);
        job->qos.values[QOS_MPS_PERCENT] = 1 + (int32_t)play_below(play, 100);
    }
}

static const char *const play_level_names[] = {"", "zone", "rack", "", "row"};

/* Some must be near themselves, and some would like to; now and then near what there is not. */
static inline void play_together(struct play *play, struct job_spec *job)
{
    if (play_below(play, 2) == 0)
        job->within = play_level_names[play_below(play, play_below(play, 20) == 0 ? 5 : 3)];
    if (play_below(play, 3) == 0)
        job->near = play_level_names[1 + play_below(play, 2)];
    if (play_below(play, 4) == 0 && job->tasks_min == 0 && !job->service) {
        play->groups[0].tasks += play->groups[0].tasks % 2;
        job->group_within = play_level_names[1 + play_below(play, 2)];
        job->group_size = 2;
    }
    if (play_below(play, 3) == 0)
        job->slowdown_max_ppm = 1000000 + 500000 * play_below(play, 5);
}

static inline void play_submit(struct play *play, struct event *out)
{
    const uint64_t id = play->next_id++;
    const bool two = !play->one_group && play_below(play, 4) == 0;
    const uint32_t layouts = !play->one_group && play_below(play, 5) == 0 ? 2 : 1;

    play->groups[0] = play_group(play);
    play->groups[1] = play_group(play);
    play->layouts[0] = (struct job_layout_spec){.groups = play->groups,
                                                .group_count = two ? 2 : 1,
                                                .slowdown_ppm = 1000000,
                                                .apart = play_below(play, 10) == 0};
    play->layouts[1] = (struct job_layout_spec){
        .groups = &play->groups[1], .group_count = 1, .slowdown_ppm = 1300000};
    out->type = EVENT_JOB_SUBMITTED;
    out->job = (struct job_spec){.id = id,
                                 .name = "",
                                 .layouts = play->layouts,
                                 .layout_count = layouts,
                                 .remaining_us = (int64_t)play_below(play, 20) * 1000000 - 1,
                                 .deadline_us = (int64_t)(id % 3) * 50000000};
    play_stand(play, &out->job);
    play_keep_out(play, &out->job);
    play_life(play, &out->job);
    play_elastic(play, &out->job);
    if (!play->whole_gpus)
        play_sharing(play, &out->job);
    if (play->levels)
        play_together(play, &out->job);
}

/* ---- configurations ---- */

/* GPUs for the most part, and at times another resource; often nothing at all. */
static inline void play_amounts(struct play *play, uint32_t one_in, int64_t of[RES_COUNT])
{
    static const int64_t units[RES_COUNT] = {500, 8 * GB, 1000, GB};

    for (int r = 0; r < RES_COUNT; r++)
        of[r] = AMOUNT_NONE;
    if (play_below(play, one_in) > 0)
        return;
    of[RES_GPU_MGPU] = units[RES_GPU_MGPU] * play_below(play, 20);
    for (int r = 1; r < RES_COUNT; r++)
        if (play_below(play, 5) == 0)
            of[r] = units[r] * play_below(play, 20);
}

static inline const char *play_order(struct play *play)
{
    const uint32_t draw = play_below(play, 5 + play->order_count);

    if (draw >= 5)
        return play->orders[draw - 5]->name;
    return draw == 0 || draw == 1 ? "fair" : "";
}

/* Leaves are "0".."5", as jobs name them; above them stand "x", "y" and "z", if at all. */
static inline void play_queue(struct play *play, const char *name, const char *parent, bool leaf,
                              struct queue_spec *out)
{
    *out = (struct queue_spec){
        .name = name, .parent = parent, .order = play_order(play), .weight = play_below(play, 4)};
    play_amounts(play, 3, out->guarantee);
    play_amounts(play, 4, out->limit);
    play_amounts(play, 6, out->borrow);
    play_amounts(play, 6, out->lend);
    play_amounts(play, leaf ? 6 : UINT32_MAX, out->user_limit);
    for (int r = 0; r < RES_COUNT; r++)
        if (out->guarantee[r] != AMOUNT_NONE && out->guarantee[r] > out->limit[r])
            out->limit[r] = out->guarantee[r];
    out->user_jobs = leaf && play_below(play, 8) == 0 ? 1 + play_below(play, 6) : 0;
    out->users = play_users;
    out->user_count = play_below(play, 12) == 0 ? 2 + play_below(play, 2) : 0;
}

static inline void play_queues(struct play *play, struct rules_spec *rules)
{
    static const char *const inner[] = {"x", "y", "z"}, *const leaves[] = {"0", "1", "2",
                                                                           "3", "4", "5"};
    const uint32_t above = play_below(play, 4);
    uint32_t count = 0;

    for (uint32_t i = 0; i < above; i++)
        play_queue(play, inner[i], i > 0 && play_below(play, 2) == 0 ? inner[i - 1] : "", false,
                   &play->queues[count++]);
    for (uint32_t i = 0; i < 6; i++) {
        const uint32_t under = play_below(play, above + 1);

        if (play_below(play, 20) > 0) /* or jobs that are in it refuse the whole */
            play_queue(play, leaves[i], under < above ? inner[under] : "", true,
                       &play->queues[count++]);
    }
    rules->queues = play->queues;
    rules->queue_count = count;
    rules->default_queue = play_below(play, 10) > 0 ? "0" : "";
}

/* Mostly the same ones, whose links are others; now and then fewer, which jobs may refuse. */
static inline void play_levels(struct play *play, struct rules_spec *rules)
{
    if (!play->levels)
        return;
    for (uint32_t i = 0; i < 2; i++)
        play->level_specs[i] = (struct level_spec){
            .name = play_level_names[i + 1],
            .bandwidth_bytes = play_below(play, 4) > 0 ? 1 + play_below(play, 4) * GB : 0,
            .uplink_bytes = play_below(play, 4) > 0 ? GB / (1 + play_below(play, 3)) : 0};
    rules->levels = play->level_specs;
    rules->level_count = play_below(play, 8) == 0 ? play_below(play, 2) : 2;
}

static inline void play_config(struct play *play, struct event *out)
{
    static const uint32_t ranks[] = {300, 200, 100, 400};

    out->type = EVENT_CONFIG_CHANGED;
    out->rules = (struct rules_spec){.default_queue = "",
                                     .root_order = play_order(play),
                                     .default_class = play_below(play, 8) == 0 ? "low" : ""};
    if (play_below(play, 5) > 0)
        play_queues(play, &out->rules);
    play_levels(play, &out->rules);
    out->rules.share_half_life_us = play_below(play, 3) == 0 ? 1 + play_below(play, 9000000) : 0;
    out->rules.classes = play->classes;
    out->rules.class_count = play_below(play, 2) == 0 ? 3 + play_below(play, 2) : 0;
    for (uint32_t i = 0; i < out->rules.class_count; i++) {
        struct class_spec *class = &play->classes[i];

        *class = (struct class_spec){.name = play_classes[i + 1],
                                     .rank = ranks[i],
                                     .takes_below = play_below(play, ranks[i] + 1),
                                     .fixed = play_below(play, 8) == 0,
                                     .grace_us = play_below(play, 20000000),
                                     .users = play_users,
                                     .user_count = play_below(play, 12) == 0 ? 3 : 0};
        class->min_run_us = play_below(play, 4) == 0 ? play_below(play, 9000000) : 0;
        play_amounts(play, 5, class->user_limit);
    }
}

/* Some nodes say how their GPUs are wired: as a known machine, or in one of a few odd ways. */
static inline const uint32_t *play_links(struct play *play, uint32_t gpus)
{
    static const char *const presets[] = {"nvlink-pairs", "v100-dgx1", "pcie-8", "pcie-4"};
    const struct link_preset *preset = link_preset_find(presets[play_below(play, 4)]);
    uint32_t odd = play_below(play, 3);

    if (play_below(play, 2) == 0)
        return NULL;
    if (gpus > 0 && link_preset_fill(preset, gpus, play->links, NULL) == 0)
        return play->links;
    for (uint32_t i = 0; i < 28; i++)
        play->links[i] = 1000 * (1 + (i * (7 + odd) + i / 5) % 3);
    return play->links;
}

/* Few nodes do not share their GPUs, or only so; on some a context takes memory, or compute is
 * given out more than once. */
static inline void play_modes(struct play *play, struct node_spec *node)
{
    if (play_below(play, 6) == 0)
        node->modes = MODE_BIT(GPU_EXCLUSIVE);
    if (play_below(play, 4) == 0)
        node->gpu_context_bytes = GB / 2;
    if (play->whole_gpus)
        return;
    if (play_below(play, 3) == 0)
        node->modes = MODES_TOGETHER;
    if (play_below(play, 12) == 0)
        node->modes = 1 + play_below(play, MODES_TOGETHER);
    if (play_below(play, 6) == 0)
        node->compute_factor = 1000 + 700 * play_below(play, 4);
    if (play_below(play, 3) == 0)
        node->mps_clients = 1 + play_below(play, 3);
}

/* Some nodes have GPUs that may be split, and no others, or others as well. */
static inline void play_split(struct play *play, struct node_spec *node)
{
    if (play->whole_gpus || play->unsplit || node->gpus == 0 || play_below(play, 4) > 0)
        return;
    node->model = play_models[0];
    node->gpu_memory_bytes = INT64_C(80) << 30;
    node->modes = MODE_BIT(GPU_MIG) | (play_below(play, 2) == 0 ? MODES_DEFAULT : 0);
}

/* Where it is; of some one does not know. */
static inline void play_place(struct play *play, struct node_spec *node)
{
    static const char *const racks[] = {"rack=r0", "rack=r1", "rack=r2"};

    node->label_count = play_below(play, 6) > 0;
    if (play_below(play, 6) > 0)
        play->labels[node->label_count++] = racks[play_below(play, 3)];
}

static inline void play_node(struct play *play, struct event *out)
{
    const uint32_t kind = play_below(play, 5);

    snprintf(play->name, sizeof play->name, "n%u", play_below(play, play->nodes));
    play->labels[0] = play_labels[play_below(play, 2)];
    out->type = EVENT_NODE_UPSERTED;
    out->node = (struct node_spec){.name = play->name,
                                   .model = kind == 4 ? "" : play_models[kind % 3],
                                   .gpus = kind == 4 ? 0 : 1u << kind,
                                   .gpu_memory_bytes = kind == 1 ? 0 : 16 * GB,
                                   .cpu_mcpu = 8000 << (kind & 1),
                                   .memory_bytes = 1600 * GB,
                                   .labels = play->labels,
                                   .label_count = play_below(play, 3) == 0};
    if (play->whole_gpus)
        out->node.gpu_memory_bytes = 0;
    if (play->levels)
        play_place(play, &out->node);
    out->node.links_mbps = play_links(play, out->node.gpus);
    play_modes(play, &out->node);
    play_split(play, &out->node);
}

/* Nodes come back more often than they go. */
static inline enum node_health play_node_health(struct play *play)
{
    static const enum node_health healths[] = {NODE_SILENT,  NODE_SILENT,    NODE_SILENT,
                                               NODE_HEARD,   NODE_HEARD,     NODE_HEARD,
                                               NODE_DRAINED, NODE_UNDRAINED, NODE_UNDRAINED};

    return healths[play_below(play, sizeof healths / sizeof healths[0])];
}

/* A job on GPUs, ROW_NONE if there is none. */
static inline uint32_t play_active(struct play *play, const struct core *core)
{
    const uint32_t rows = core_job_rows(core);

    for (uint32_t i = 0, at = rows > 0 ? play_below(play, rows) : 0; i < rows; i++, at++) {
        const enum job_state state = core_job(core, at % rows)->state;

        if (state == JOB_STARTING || state == JOB_RUNNING || state == JOB_STOPPING)
            return at % rows;
    }
    return ROW_NONE;
}

static inline void play_task(struct play *play, const struct core *core, enum event_type type,
                             struct event *out)
{
    const uint32_t row = play_active(play, core);
    const struct job *job = row != ROW_NONE ? core_job(core, row) : NULL;
    const struct task *task;

    out->type = type;
    out->task.node = "";
    if (job == NULL || (!play->tame && play_below(play, 20) == 0)) { /* of nobody, or too late */
        out->task.job_id = rng_below(&play->rng, play->next_id + 1);
        out->task.task = play_below(play, 5);
        return;
    }
    out->task.job_id = job->id;
    out->task.task = play_below(play, job->task_count);
    task = core_task(core, job->task_first + out->task.task);
    if (play_below(play, 3) == 0) /* at times of an earlier run */
        out->task.run = play_below(play, 4) == 0 ? 1 + play_below(play, job->run) : task->run;
    if (type == EVENT_TASK_EXITED)
        out->task.exit_code = job->state == JOB_STOPPING || play_below(play, 6) == 0 ? 143 : 0;
    if (type != EVENT_TASK_STARTED || play->tame || play_below(play, 12) > 0)
        return;
    snprintf(play->name, sizeof play->name, "n%u", play_below(play, play->nodes));
    out->task.node = play->name;
    out->task.gpu_mask = task->gpu_mask << play_below(play, 2);
    out->task.gpu_mask >>= play_below(play, 3);
    out->task.mig_start = play_below(play, 2) == 0 ? task->mig_start : play_below(play, 8);
}

/* What is on a node, or nearly so: some are not there any more, and some are of nobody. */
static inline void play_list(struct play *play, const struct core *core, struct event *out)
{
    const uint32_t node = play_below(play, core_node_rows(core)), sharp = play_below(play, 4);
    uint32_t t = core_node_in_use(core, node) ? core_node_first_task(core, node) : ROW_NONE;

    snprintf(play->name, sizeof play->name, "n%u", node);
    if (core_node_in_use(core, node))
        snprintf(play->name, sizeof play->name, "%s", core_name(core, core_node_name(core, node)));
    out->type = EVENT_NODE_LISTED;
    out->listed.node = play->name;
    out->listed.tasks = play->listed;
    for (; t != ROW_NONE && out->listed.count < 60; t = core_task(core, t)->node_next) {
        const struct job *job = core_job(core, core_task(core, t)->job);

        if (!core_task(core, t)->claimed && (sharp > 0 || play_below(play, 3) > 0))
            play->listed[out->listed.count++] =
                (struct listed_task){job->id, t - job->task_first, job->run};
    }
    while (!play->tame && out->listed.count < 63 && play_below(play, 4) == 0)
        play->listed[out->listed.count++] = (struct listed_task){
            rng_below(&play->rng, play->next_id + 1), play_below(play, 5), play_below(play, 3)};
}

/* Reservations as configured from now on; refused where jobs are packed anew. */
static inline void play_rules(struct play *play, struct event *out)
{
    static const uint32_t depths[] = {0, 1, 2, RESERVE_ALL};

    out->type = EVENT_CONFIG_CHANGED;
    out->rules.reservation_depth = depths[play_below(play, 4)];
    play_levels(play, &out->rules);
}

/* A task of it has started, or left, now. */
static inline void tell(struct core *core, uint64_t id, uint32_t task, enum event_type type,
                        int32_t code)
{
    const struct event event = {
        .type = type,
        .at_us = core_now_us(core),
        .task = {.job_id = id, .task = task, .node = "", .exit_code = code},
    };

    (void)core_apply(core, &event, NULL);
}

/* What a GPU has that may be split: all but those that were to be taken away; at times one of these
 * as well, or one of somebody else. Nothing if there is none on the node. */
static inline void play_instances(struct play *play, const struct core *core, struct event *out)
{
    const uint32_t node = play_below(play, core_node_rows(core)), gpu = play_below(play, 4);
    uint64_t leaving;
    struct mig_gpu made;
    const struct mig_type *type;

    if (!core_node_in_use(core, node) || !core_gpu_instances(core, node, gpu, &made, &leaving))
        return;
    type = class_mig(core_class(core, core_node_class(core, node)));
    snprintf(play->name, sizeof play->name, "%s", core_name(core, core_node_name(core, node)));
    out->type = EVENT_GPU_SPLIT;
    out->split.node = play->name;
    out->split.gpu = gpu;
    out->split.instances = play->instances;
    for (uint32_t s = 0; s < type->memory_slices; s++) {
        const uint32_t profile = mig_gpu_at(&made, s);

        if (profile != MIG_NONE && ((leaving >> (4 * s) & 15) == 0 || play_below(play, 9) == 0))
            play->instances[out->split.count++] =
                (struct split_instance){type->profiles[profile].name, s, 0};
    }
    if (!play->tame && play_below(play, 12) == 0)
        play->instances[out->split.count++] =
            (struct split_instance){play_below(play, 2) == 0 ? "odd" : type->profiles[0].name,
                                    play_below(play, 8), 1 + play_below(play, 2)};
}

/* The next event. It may be refused. */
static inline void play_event(struct play *play, const struct core *core, struct event *out)
{
    const uint32_t draw = play_below(play, 100);

    *out = (struct event){.type = EVENT_TIME_PASSED,
                          .at_us = core_now_us(core) + play_below(play, (uint32_t)play->step_us)};
    if (draw < 1 && !play->one_queue) {
        play_config(play, out);
    } else if (draw < 22 && core_pending_count(core) < 40) {
        play_submit(play, out);
    } else if (draw < 55) {
        play_task(play, core, EVENT_TASK_STARTED, out);
    } else if (draw < 79) {
        play_task(play, core, EVENT_TASK_EXITED, out);
    } else if (draw < 80) {
        play_list(play, core, out);
    } else if (draw < 83) {
        play_task(play, core, EVENT_TASK_LOST, out);
        if (!play->unsplit && play_below(play, 6) == 0)
            out->type = EVENT_INSTANCE_FAILED;
    } else if (draw < 87) {
        out->type = EVENT_JOB_CANCELLED;
        out->job_id = play->next_id - 1 - rng_below(&play->rng, 30);
    } else if (draw < 91) {
        play_node(play, out);
    } else if (draw < 92) {
        out->type = EVENT_NODE_REMOVED;
        snprintf(play->name, sizeof play->name, "n%u", play_below(play, play->nodes));
        out->node_name = play->name;
    } else if (draw < 94) {
        out->type = EVENT_NODE_HEALTH;
        snprintf(play->name, sizeof play->name, "n%u", play_below(play, play->nodes));
        out->node_health.node = play->name;
        out->node_health.health = play_node_health(play);
    } else if (draw < 96 && !play->unsplit && play_below(play, 2) == 0) {
        play_instances(play, core, out);
    } else if (draw < 96) {
        out->type = EVENT_GPU_HEALTH;
        snprintf(play->name, sizeof play->name, "n%u", play_below(play, play->nodes));
        out->gpu.node = play->name;
        out->gpu.gpu = play_below(play, 4);
        out->gpu.health = play_below(play, 3) == 0 ? GPU_LOST : GPU_HEALTHY;
    } else if (draw < 97) {
        out->type = EVENT_JOB_CHECKPOINT;
        out->checkpoint.job_id = play->next_id - 1 - rng_below(&play->rng, 30);
        out->checkpoint.mark_us = core_now_us(core) + (int64_t)play_below(play, 9000000) - 8000000;
    } else if (draw < 98) {
        out->type = EVENT_JOB_PROGRESS;
        out->progress.job_id = play->next_id - 1 - rng_below(&play->rng, 30);
        out->progress.remaining_us = play_below(play, 9000000);
    } else if (!play->tame && !play->one_group && play_below(play, 8) == 0) {
        play_rules(play, out);
    } else {
        out->type = play_below(play, 3) == 0 ? EVENT_JOB_HELD : EVENT_JOB_RELEASED;
        out->job_id = play->next_id - 1 - rng_below(&play->rng, 30);
    }
}

/* All nodes join. */
static inline void play_join(struct play *play, struct core *core)
{
    struct event config = {.type = EVENT_CONFIG_CHANGED};

    play_levels(play, &config.rules);
    if (play->levels)
        (void)core_apply(core, &config, NULL); /* where jobs are packed anew it is refused */
    for (uint32_t i = 0; i < play->nodes; i++) {
        struct event event = {0};

        play_node(play, &event);
        snprintf(play->name, sizeof play->name, "n%u", i);
        assert_int_equal(core_apply(core, &event, NULL), 0);
    }
}

/* Decisions are equal, of whichever core. */
static inline void assert_same_decisions(const struct decisions *a, const struct decisions *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->place_count, b->place_count);
    for (uint32_t i = 0; i < a->count; i++) {
        const struct decision *x = &a->items[i], *y = &b->items[i];

        assert_true(x->type == y->type && x->job_id == y->job_id && x->job == y->job &&
                    x->layout == y->layout && x->mode == y->mode && x->reason == y->reason &&
                    x->slowdown.all_reduce_ppm == y->slowdown.all_reduce_ppm &&
                    x->slowdown.all_to_all_ppm == y->slowdown.all_to_all_ppm &&
                    x->place_first == y->place_first && x->place_count == y->place_count);
    }
    for (uint32_t i = 0; i < a->place_count; i++) {
        const struct task_place *x = &a->places[i], *y = &b->places[i];

        assert_true(x->task == y->task && x->node == y->node && x->gpu_mask == y->gpu_mask &&
                    x->mig_start == y->mig_start && x->mig_new == y->mig_new);
        assert_string_equal(x->node_name, y->node_name);
    }
}
