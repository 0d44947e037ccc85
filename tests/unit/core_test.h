/* SPDX-License-Identifier: Apache-2.0 */
/* core_test.h - a core on a test bed: facts and steps in one line each, the rules checked after
 * every one, and small policies whose choices are easy to foresee. */
#pragma once
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/rng.h"
#include "core/core.h"
#include "core/view.h"
#include "unit/test.h"

#define GB 1000000000ll

/* ---- placement policies ---- */

static uint64_t score_calls; /* how often any of these was asked */

/* The node that joined first. */
static inline int64_t score_first(const void *state, const struct core *core,
                                  const struct state_view *view, const struct request *request,
                                  uint32_t *out_slot)
{
    (void)state, (void)core;
    score_calls++;
    if (request->shape->gpus == 1 && request->need.mgpu < GPU_MGPU)
        *out_slot = slot_fullest(view, &request->need);
    return 0;
}

static inline int64_t score_full(const void *state, const struct core *core,
                                 const struct state_view *view, const struct request *request,
                                 uint32_t *out_slot)
{
    return score_first(state, core, view, request, out_slot) - (int64_t)view->free_mgpu;
}

static inline int64_t score_empty(const void *state, const struct core *core,
                                  const struct state_view *view, const struct request *request,
                                  uint32_t *out_slot)
{
    return score_first(state, core, view, request, out_slot) + (int64_t)view->free_mgpu;
}

/* Any order of states, and any fitting GPU, but always the same for the same salt. */
struct salt {
    uint64_t steps, every, salt;
};

static inline uint64_t salted(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 31);
}

static inline int64_t score_salted(const void *state, const struct core *core,
                                   const struct state_view *view, const struct request *request,
                                   uint32_t *out_slot)
{
    const struct salt *salt = state;
    uint64_t h = salted(salted(salt->salt, request->shape_id), view->class_id);
    uint32_t fitting = 0, slots[NODE_GPUS_MAX];

    (void)core;
    score_calls++;
    h = salted(salted(h, (uint64_t)view->cpu_free_mcpu), (uint64_t)view->memory_free_bytes);
    h = salted(h, view->kinds);
    for (uint32_t i = 0; i < view->gpu_count; i++) {
        h = salted(salted(h, view->gpu_free_mgpu[i]), (uint64_t)view->gpu_free_bytes[i]);
        if (view_gpu_has(view, i, &request->need))
            slots[fitting++] = i;
    }
    if (request->shape->gpus == 1 && request->need.mgpu < GPU_MGPU)
        *out_slot = slots[h % fitting];
    return (int64_t)(h >> 8 & 15); /* few values, so that ties are common */
}

static inline void salt_init(void *state, const struct placement_config *config)
{
    struct salt *salt = state;

    salt->every = 7;
    salt->salt = config->seed;
}

static inline void salt_walk(void *state, const struct core *core, struct tape *t)
{
    struct salt *salt = state;

    (void)core;
    tape_u64(t, &salt->steps);
    tape_u64(t, &salt->every);
    tape_u64(t, &salt->salt);
}

static inline bool salt_refresh(void *state, const struct core *core)
{
    struct salt *salt = state;

    (void)core;
    if (++salt->steps % salt->every != 0)
        return false;
    salt->salt = salted(salt->salt, salt->steps);
    return true;
}

static inline uint64_t salt_draw(void *state, uint64_t n)
{
    struct salt *salt = state;

    salt->salt = salted(salt->salt, n);
    return (salt->salt >> 11) % n;
}

__attribute__((unused)) static const struct placement_policy place_first = {.name = "test-first",
                                                                            .score = score_first};
__attribute__((unused)) static const struct placement_policy place_full = {.name = "test-full",
                                                                           .score = score_full};
__attribute__((unused)) static const struct placement_policy place_empty = {.name = "test-empty",
                                                                            .score = score_empty};
__attribute__((unused)) static const struct placement_policy place_salted = {
    .name = "test-salted",
    .state_size = sizeof(struct salt),
    .sees_kinds = true,
    .init = salt_init,
    .walk = salt_walk,
    .refresh = salt_refresh,
    .score = score_salted,
};
__attribute__((unused)) static const struct placement_policy place_drawn_by_lot = {
    .name = "test-lot",
    .state_size = sizeof(struct salt),
    .tie = TIE_RANDOM_NODE,
    .init = salt_init,
    .walk = salt_walk,
    .score = score_first,
    .draw = salt_draw,
};

/* ---- orders ---- */

static inline int64_t key_equal(void *state, const struct core *core, uint32_t job, int64_t now_us)
{
    (void)state, (void)core, (void)job, (void)now_us;
    return 0;
}

/* The queue of a job is a number: smaller goes first. */
static inline int64_t key_queue(void *state, const struct core *core, uint32_t job, int64_t now_us)
{
    int64_t key = 0;

    (void)state, (void)now_us;
    for (const char *c = core_name(core, core_job(core, job)->queue); *c != '\0'; c++)
        key = key * 10 + (*c - '0');
    return key;
}

/* Who has run less goes first; counted in seconds. */
static inline int64_t key_attained(void *state, const struct core *core, uint32_t job,
                                   int64_t now_us)
{
    (void)state;
    return job_attained_us(core_job(core, job), now_us) / 1000000;
}

/* What the hooks of an order heard. */
struct heard {
    uint64_t submitted, started, stopped, finished, steps, stepped;
    uint64_t finished_state[JOB_CANCELLED + 1];
};

static inline void hear_submitted(void *state, const struct core *core, uint32_t job)
{
    (void)core, (void)job;
    ((struct heard *)state)->submitted++;
}

static inline void hear_started(void *state, const struct core *core, uint32_t job)
{
    /* or on its way out, for an order that gets it with a new configuration */
    assert_true(core_job(core, job)->start_us != TIME_NONE);
    ((struct heard *)state)->started++;
}

static inline void hear_stopped(void *state, const struct core *core, uint32_t job)
{
    assert_int_equal(core_job(core, job)->state, JOB_PENDING);
    ((struct heard *)state)->stopped++;
}

static inline void hear_finished(void *state, const struct core *core, uint32_t job)
{
    struct heard *heard = state;

    assert_true(core_job(core, job)->state >= JOB_FINISHED);
    heard->finished++;
    heard->finished_state[core_job(core, job)->state]++;
}

static inline void hear_step(void *state, const struct core *core, int64_t now_us)
{
    assert_int_equal(core_now_us(core), now_us);
    ((struct heard *)state)->steps++;
}

static inline void hear_stepped(void *state, const struct core *core, int64_t now_us)
{
    (void)core, (void)now_us;
    ((struct heard *)state)->stepped++;
}

static inline void heard_walk(void *state, const struct core *core, struct tape *t)
{
    struct heard *heard = state;

    (void)core;
    tape_u64(t, &heard->submitted);
    tape_u64(t, &heard->started);
    tape_u64(t, &heard->stopped);
    tape_u64(t, &heard->finished);
    tape_u64(t, &heard->steps);
    tape_u64(t, &heard->stepped);
    for (uint32_t i = 0; i <= JOB_CANCELLED; i++)
        tape_u64(t, &heard->finished_state[i]);
}

static inline int64_t in_a_second(const void *state, const struct core *core, uint32_t job,
                                  int64_t now_us)
{
    (void)state;
    (void)core;
    (void)job;
    return now_us + 1000000;
}

#define ORDER_HOOKS                                                                                \
    .state_size = sizeof(struct heard), .hysteresis_ppm = 1000000, .walk = heard_walk,             \
    .submitted = hear_submitted, .started = hear_started, .stopped = hear_stopped,                 \
    .finished = hear_finished, .step = hear_step, .stepped = hear_stepped

__attribute__((unused)) static const struct order_policy in_turn = {
    .name = "test-in-turn", .preempts = PREEMPT_NEVER, .key = key_equal, ORDER_HOOKS};
__attribute__((unused)) static const struct order_policy in_strict_turn = {.name = "test-strict",
                                                                           .preempts =
                                                                               PREEMPT_NEVER,
                                                                           .blocks = true,
                                                                           .key = key_queue,
                                                                           ORDER_HOOKS};
__attribute__((unused)) static const struct order_policy by_queue = {
    .name = "test-queue", .preempts = PREEMPT_TAKE, .key = key_queue, ORDER_HOOKS};
__attribute__((unused)) static const struct order_policy by_attained = {.name = "test-attained",
                                                                        .preempts = PREEMPT_TAKE,
                                                                        .next_change_us =
                                                                            in_a_second,
                                                                        .key = key_attained,
                                                                        ORDER_HOOKS};
/* All of them, for queues to name. */
__attribute__((unused)) static const struct order_policy *const test_orders[] = {
    &in_turn, &in_strict_turn, &by_queue, &by_attained};
enum { TEST_ORDERS = sizeof test_orders / sizeof test_orders[0] };

/* ---- the bed ---- */

struct bed {
    struct core *core;
    struct decisions out; /* of the last step */
    struct err err;
    int64_t now_us;
};

static inline void bed_check(struct bed *bed)
{
    if (core_check_rules(bed->core, &bed->err) < 0)
        fail_msg("%s", bed->err.text);
}

static inline void bed_open_with(struct bed *bed, const struct core_config *config)
{
    *bed = (struct bed){0};
    bed->core = core_new(config, &bed->err);
    if (bed->core == NULL)
        fail_msg("%s", bed->err.text);
    decisions_init(&bed->out);
}

static inline void bed_open(struct bed *bed, const struct placement_policy *placement,
                            const struct order_policy *order)
{
    bed_open_with(bed, &(struct core_config){.placement = placement, .order = order, .seed = 7});
}

static inline void bed_close(struct bed *bed)
{
    decisions_done(&bed->out);
    core_free(bed->core);
}

static inline void bed_apply(struct bed *bed, const struct event *event)
{
    const int rc = core_apply(bed->core, event, &bed->err);

    if (rc < 0)
        fail_msg("%s", bed->err.text);
    bed_check(bed);
}

/* The fact is refused with this error, and nothing has changed. */
static inline void bed_refuses(struct bed *bed, const struct event *event, int error)
{
    const uint64_t before = core_digest(bed->core);
    const int64_t now_us = core_now_us(bed->core);

    bed->err.text[0] = '\0';
    assert_int_equal(core_apply(bed->core, event, &bed->err), -error);
    assert_true(bed->err.text[0] != '\0');
    assert_true(core_digest(bed->core) == before);
    assert_true(core_now_us(bed->core) == now_us);
    assert_int_equal(core_apply(bed->core, event, NULL), -error);
    bed_check(bed);
}

/* A step one second later. */
static inline uint32_t bed_step(struct bed *bed)
{
    bed->now_us = core_now_us(bed->core) + 1000000;
    core_step(bed->core, bed->now_us, &bed->out);
    bed_check(bed);
    return bed->out.count;
}

/* ---- facts ---- */

static inline void bed_node(struct bed *bed, const char *name, uint32_t gpus)
{
    bed_apply(bed, &(struct event){.type = EVENT_NODE_UPSERTED,
                                   .node = {.name = name,
                                            .model = gpus > 0 ? "A100" : "",
                                            .gpus = gpus,
                                            .gpu_memory_bytes = 80 * GB,
                                            .cpu_mcpu = 100000,
                                            .memory_bytes = 1000 * GB}});
}

static inline void bed_nodes(struct bed *bed, uint32_t count, uint32_t gpus)
{
    for (uint32_t i = 0; i < count; i++) {
        char name[16];

        snprintf(name, sizeof name, "n%u", i);
        bed_node(bed, name, gpus);
    }
}

static inline struct event removed(const char *node)
{
    return (struct event){.type = EVENT_NODE_REMOVED, .node_name = node};
}

static inline struct event health(const char *node, uint32_t gpu, enum gpu_health health)
{
    return (struct event){.type = EVENT_GPU_HEALTH, .gpu = {node, gpu, health}};
}

/* A job of one group; what is 0 is not asked for. */
struct ask {
    uint64_t id;
    uint32_t tasks; /* 0 = 1 */
    uint32_t gpus, mgpu;
    int64_t gpu_bytes, cpu_mcpu, memory_bytes;
    const char *queue, *model, *label;
    int64_t remaining_us; /* 0 = unknown */
    int64_t deadline_us;  /* 0 = none */
    int64_t limit_us;     /* 0 = none */
    int64_t grace_us;     /* 0 = that of its class */
    int64_t min_run_us;
    uint32_t retries;
    bool fixed;
    uint32_t min; /* so few tasks are enough; 0 = all */
    bool service;
};

static inline struct group_spec ask_group(const struct ask *ask)
{
    return (struct group_spec){
        .tasks = ask->tasks > 0 ? ask->tasks : 1,
        .cpu_mcpu = ask->cpu_mcpu,
        .memory_bytes = ask->memory_bytes,
        .gpus = ask->gpus,
        .gpu_mgpu = ask->mgpu,
        .gpu_memory_bytes = ask->gpu_bytes,
        .models = &ask->model,
        .model_count = ask->model != NULL,
        .labels = &ask->label,
        .label_count = ask->label != NULL,
    };
}

static inline void bed_submit(struct bed *bed, const struct ask *ask)
{
    const struct group_spec group = ask_group(ask);
    const struct job_layout_spec layout = {
        .groups = &group, .group_count = 1, .slowdown_ppm = 1000000};

    bed_apply(
        bed, &(struct event){.type = EVENT_JOB_SUBMITTED,
                             .job = {.id = ask->id,
                                     .queue = ask->queue != NULL ? ask->queue : "",
                                     .user = "",
                                     .name = "",
                                     .layouts = &layout,
                                     .layout_count = 1,
                                     .remaining_us = ask->remaining_us > 0 ? ask->remaining_us : -1,
                                     .deadline_us = ask->deadline_us,
                                     .limit_us = ask->limit_us,
                                     .grace_us = ask->grace_us > 0 ? ask->grace_us : -1,
                                     .min_run_us = ask->min_run_us,
                                     .retries = ask->retries,
                                     .fixed = ask->fixed,
                                     .tasks_min = ask->min,
                                     .service = ask->service}});
}
#define SUBMIT(bed, ...) bed_submit(bed, &(struct ask){__VA_ARGS__})

/* A job of these groups, all at once. */
static inline void bed_submit_groups(struct bed *bed, uint64_t id, const struct ask *asks,
                                     uint32_t count)
{
    struct group_spec groups[GANG_GROUPS_MAX];
    const struct job_layout_spec layout = {
        .groups = groups, .group_count = count, .slowdown_ppm = 1000000};

    for (uint32_t i = 0; i < count; i++)
        groups[i] = ask_group(&asks[i]);
    bed_apply(bed, &(struct event){.type = EVENT_JOB_SUBMITTED,
                                   .job = {.id = id,
                                           .queue = asks[0].queue != NULL ? asks[0].queue : "",
                                           .user = "",
                                           .name = "",
                                           .layouts = &layout,
                                           .layout_count = 1,
                                           .grace_us = -1,
                                           .min_run_us = -1,
                                           .remaining_us = -1}});
}

static inline struct event cancelled(uint64_t id)
{
    return (struct event){.type = EVENT_JOB_CANCELLED, .job_id = id};
}

static inline struct event started(uint64_t id, uint32_t task)
{
    return (struct event){.type = EVENT_TASK_STARTED,
                          .task = {.job_id = id, .task = task, .node = ""}};
}

static inline struct event started_on(uint64_t id, uint32_t task, const char *node, uint64_t mask)
{
    return (struct event){.type = EVENT_TASK_STARTED,
                          .task = {.job_id = id, .task = task, .node = node, .gpu_mask = mask}};
}

static inline struct event exited(uint64_t id, uint32_t task, int32_t code)
{
    return (struct event){.type = EVENT_TASK_EXITED,
                          .task = {.job_id = id, .task = task, .node = "", .exit_code = code}};
}

static inline struct event lost(uint64_t id, uint32_t task)
{
    return (struct event){.type = EVENT_TASK_LOST,
                          .task = {.job_id = id, .task = task, .node = ""}};
}

/* The same with one of the events above, by value. */
static inline void apply(struct bed *bed, struct event event)
{
    bed_apply(bed, &event);
}

static inline void refuses(struct bed *bed, struct event event, int error)
{
    bed_refuses(bed, &event, error);
}

/* ---- what was decided ---- */

static inline const struct decision *bed_find(const struct bed *bed, enum decision_type type,
                                              uint64_t id)
{
    for (uint32_t i = 0; i < bed->out.count; i++)
        if (bed->out.items[i].type == type && bed->out.items[i].job_id == id)
            return &bed->out.items[i];
    return NULL;
}

static inline uint32_t bed_count(const struct bed *bed, enum decision_type type)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < bed->out.count; i++)
        count += bed->out.items[i].type == type;
    return count;
}

static inline const struct task_place *bed_place(const struct bed *bed, uint64_t id, uint32_t task)
{
    const struct decision *start = bed_find(bed, DECISION_START, id);

    check(start != NULL && task < start->place_count); /* fails the test, and says so to gcc */
    return &bed->out.places[start->place_first + task];
}

static inline void assert_starts(const struct bed *bed, uint64_t id, uint32_t task,
                                 const char *node, uint64_t mask)
{
    const struct task_place *place = bed_place(bed, id, task);

    assert_int_equal(place->task, task);
    assert_string_equal(place->node_name, node);
    assert_true(place->gpu_mask == mask);
}

static inline const struct job *bed_job(const struct bed *bed, uint64_t id)
{
    const uint32_t row = core_find_job(bed->core, id);

    assert_true(row != ROW_NONE);
    return core_job(bed->core, row);
}

static inline enum job_state bed_state(const struct bed *bed, uint64_t id)
{
    const uint32_t row = core_find_job(bed->core, id);

    return row == ROW_NONE ? JOB_FREE : core_job(bed->core, row)->state;
}

static inline enum reason bed_reason(const struct bed *bed, uint64_t id)
{
    return core_job_reason(bed->core, core_find_job(bed->core, id));
}

/* Says of every task of the job that it has started, as decided. */
static inline void bed_run(struct bed *bed, uint64_t id)
{
    for (uint32_t i = 0; i < bed_job(bed, id)->task_count; i++)
        if (!core_task(bed->core, bed_job(bed, id)->task_first + i)->left)
            apply(bed, started(id, i));
    assert_int_equal(bed_state(bed, id), JOB_RUNNING);
}

/* Every task that is still there has left. */
static inline void bed_end(struct bed *bed, uint64_t id, int32_t code)
{
    const uint32_t tasks = bed_job(bed, id)->task_count;

    for (uint32_t i = 0; i < tasks && core_find_job(bed->core, id) != ROW_NONE; i++)
        if (bed_state(bed, id) != JOB_PENDING &&
            !core_task(bed->core, bed_job(bed, id)->task_first + i)->left)
            apply(bed, exited(id, i, code));
}
