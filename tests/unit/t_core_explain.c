/* SPDX-License-Identifier: Apache-2.0 */
/* Why a job waits, where it stands, when it starts, and what would start it now. */
#include "base/rng.h"
#include "core/explain.h"
#include "core/forward.h"
#include "core/impl.h"
#include "unit/core_test.h"

#define S   1000000LL
#define GIB (1LL << 30)

/* ---- telling and asking ---- */

static struct explanation asked(struct bed *bed, uint64_t id)
{
    const uint64_t before = core_digest(bed->core);
    struct explanation e;

    assert_int_equal(explain(bed->core, id, NULL, &e, &bed->err), 0);
    assert_true(core_digest(bed->core) == before);
    assert_int_equal(e.job_id, id);
    return e;
}

static const struct obstacle *item(const struct explanation *e, enum obstacle_kind kind,
                                   uint32_t what)
{
    for (uint32_t i = 0; i < e->obstacles.count; i++)
        if (e->obstacles.items[i].kind == kind && e->obstacles.items[i].what == what)
            return &e->obstacles.items[i];
    fail_msg("no obstacle of kind %d, %u", (int)kind, what);
    return NULL;
}

static void run_now(struct bed *bed, const struct ask *ask)
{
    bed_submit(bed, ask);
    bed_step(bed);
    assert_non_null(bed_find(bed, DECISION_START, ask->id));
    bed_run(bed, ask->id);
}
#define RUN(bed, ...) run_now(bed, &(struct ask){__VA_ARGS__})

/* A job of one task on so many GPUs, in a class, and what else a spec may say. */
static void submit_as(struct bed *bed, const struct job_spec *more, uint32_t gpus)
{
    const struct group_spec group = {.tasks = 1, .gpus = gpus};
    const struct job_layout_spec layout = {
        .groups = &group, .group_count = 1, .slowdown_ppm = 1000000};
    struct event event = {.type = EVENT_JOB_SUBMITTED, .job = *more};

    event.job.queue = more->queue != NULL ? more->queue : "";
    event.job.user = more->user != NULL ? more->user : "";
    event.job.name = "";
    event.job.class = more->class != NULL ? more->class : "";
    event.job.array = more->array != NULL ? more->array : "";
    event.job.grace_us = event.job.min_run_us = event.job.remaining_us = -1;
    if (event.job.layouts == NULL) {
        event.job.layouts = &layout;
        event.job.layout_count = 1;
    }
    bed_apply(bed, &event);
}

static struct queue_spec queue_of(const char *name)
{
    struct queue_spec queue = {.name = name, .parent = "", .order = "", .weight = 1};

    for (int r = 0; r < RES_COUNT; r++)
        queue.guarantee[r] = queue.limit[r] = queue.borrow[r] = queue.lend[r] =
            queue.user_limit[r] = AMOUNT_NONE;
    return queue;
}

static void configure(struct bed *bed, const struct queue_spec *queues, uint32_t count)
{
    bed_apply(bed, &(struct event){.type = EVENT_CONFIG_CHANGED,
                                   .rules = {.queues = queues,
                                             .queue_count = count,
                                             .default_queue = "",
                                             .root_order = "",
                                             .default_class = ""}});
}

/* ---- reasons by count ---- */

static void a_node(struct bed *bed, const char *name, const char *model, uint32_t gpus,
                   int64_t gpu_bytes, const char *label)
{
    bed_apply(bed, &(struct event){.type = EVENT_NODE_UPSERTED,
                                   .node = {.name = name,
                                            .model = model,
                                            .gpus = gpus,
                                            .gpu_memory_bytes = gpu_bytes,
                                            .cpu_mcpu = 8000,
                                            .memory_bytes = 64 * GB,
                                            .labels = &label,
                                            .label_count = label != NULL}});
}

static void each_node_is_counted_for_the_first_thing_in_its_way(void **state)
{
    static const char *const model = "A100", *const label = "zone=a";
    const struct group_spec group = {.tasks = 1,
                                     .gpus = 2,
                                     .models = &model,
                                     .model_count = 1,
                                     .labels = &label,
                                     .label_count = 1};
    const struct job_layout_spec layout = {
        .groups = &group, .group_count = 1, .slowdown_ppm = 1000000};
    struct explanation e;
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    a_node(&bed, "busy0", "A100", 2, 40 * GB, label);
    a_node(&bed, "busy1", "A100", 2, 40 * GB, label);
    RUN(&bed, .id = 1, .gpus = 1);
    RUN(&bed, .id = 2, .gpus = 2);
    a_node(&bed, "t4", "T4", 8, 16 * GB, label);
    a_node(&bed, "t5", "T4", 8, 16 * GB, NULL);
    a_node(&bed, "b", "A100", 8, 40 * GB, "zone=b");
    a_node(&bed, "small", "A100", 1, 40 * GB, label);
    a_node(&bed, "out", "A100", 8, 40 * GB, label);
    a_node(&bed, "lost", "A100", 2, 40 * GB, label);
    apply(&bed, health("lost", 1, GPU_LOST));
    apply(&bed, (struct event){.type = EVENT_NODE_HEALTH, .node_health = {"out", NODE_DRAINED}});
    submit_as(&bed, &(struct job_spec){.id = 3, .layouts = &layout, .layout_count = 1}, 0);
    bed_step(&bed);
    e = asked(&bed, 3);
    assert_int_equal(e.reason, REASON_ROOM);
    assert_int_equal(e.obstacles.nodes, 8);
    assert_int_equal(e.obstacles.fitting, 0);
    assert_int_equal(item(&e, OBSTACLE_MODEL, 0)->nodes, 2);
    assert_int_equal(item(&e, OBSTACLE_LABEL, names_find(&bed.core->names, label))->nodes, 1);
    assert_int_equal(item(&e, OBSTACLE_SMALL, SHORT_GPUS)->nodes, 1);
    assert_int_equal(item(&e, OBSTACLE_SMALL, SHORT_GPUS)->most, 1);
    assert_int_equal(item(&e, OBSTACLE_OUT, NODE_OUT_DRAINED)->nodes, 1);
    assert_int_equal(item(&e, OBSTACLE_LOST, 0)->most, 1);
    assert_int_equal(item(&e, OBSTACLE_BUSY, SHORT_GPUS)->nodes, 2);
    assert_int_equal(item(&e, OBSTACLE_BUSY, SHORT_GPUS)->asked, 2);
    assert_int_equal(item(&e, OBSTACLE_BUSY, SHORT_GPUS)->most, 1);
    assert_int_equal(e.obstacles.count, 6);
    explanation_done(&e);
    bed_close(&bed);
}

static void a_gang_says_how_many_of_its_tasks_fit(void **state)
{
    struct explanation e;
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_nodes(&bed, 5, 4);
    RUN(&bed, .id = 1, .gpus = 2);
    RUN(&bed, .id = 2, .gpus = 4);
    SUBMIT(&bed, .id = 3, .tasks = 5, .gpus = 3);
    bed_step(&bed);
    e = asked(&bed, 3);
    assert_int_equal(e.reason, REASON_GANG);
    assert_int_equal(e.tasks, 5);
    assert_int_equal(e.tasks_fit, 3);
    assert_int_equal(e.remedy.type, REMEDY_TASKS);
    assert_int_equal(e.remedy.to, 3);
    explanation_done(&e);
    bed_close(&bed);
}

/* ---- the nearest change, made ---- */

static void asking_for_what_is_free_starts_it(void **state)
{
    struct explanation e;
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    a_node(&bed, "n0", "A100", 1, 80 * GIB, NULL);
    a_node(&bed, "n1", "A100", 1, 80 * GIB, NULL);
    RUN(&bed, .id = 1, .gpus = 1, .mgpu = 100, .gpu_bytes = 42 * GIB);
    RUN(&bed, .id = 2, .gpus = 1, .mgpu = 100, .gpu_bytes = 50 * GIB);
    SUBMIT(&bed, .id = 3, .gpus = 1, .mgpu = 100, .gpu_bytes = 40 * GIB);
    bed_step(&bed);
    e = asked(&bed, 3);
    assert_int_equal(item(&e, OBSTACLE_BUSY, SHORT_GPU_BYTES)->nodes, 2);
    assert_true(item(&e, OBSTACLE_BUSY, SHORT_GPU_BYTES)->most == 38 * GIB);
    assert_int_equal(e.remedy.type, REMEDY_LESS);
    assert_int_equal(e.remedy.what, SHORT_GPU_BYTES);
    assert_true(e.remedy.from == 40 * GIB && e.remedy.to == 38 * GIB);
    explanation_done(&e);
    apply(&bed, cancelled(3));
    SUBMIT(&bed, .id = 4, .gpus = 1, .mgpu = 100, .gpu_bytes = 38 * GIB);
    bed_step(&bed);
    assert_int_equal(bed_state(&bed, 4), JOB_STARTING);
    bed_close(&bed);
}

static void a_gang_asks_for_what_all_of_its_tasks_find(void **state)
{
    struct explanation e;
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    a_node(&bed, "n0", "A100", 1, 80 * GIB, NULL);
    a_node(&bed, "n1", "A100", 1, 80 * GIB, NULL);
    a_node(&bed, "n2", "A100", 1, 80 * GIB, NULL);
    RUN(&bed, .id = 1, .gpus = 1, .mgpu = 100, .gpu_bytes = 42 * GIB);
    RUN(&bed, .id = 2, .gpus = 1, .mgpu = 100, .gpu_bytes = 50 * GIB);
    RUN(&bed, .id = 3, .gpus = 1, .mgpu = 950, .gpu_bytes = 10 * GIB); /* no compute is left */
    RUN(&bed, .id = 4, .gpus = 1, .mgpu = 50, .gpu_bytes = 1 * GIB);   /* beside the first */
    SUBMIT(&bed, .id = 5, .tasks = 2, .gpus = 1, .mgpu = 500, .gpu_bytes = 40 * GIB);
    bed_step(&bed);
    e = asked(&bed, 5);
    assert_int_equal(item(&e, OBSTACLE_BUSY, SHORT_GPU_MGPU)->nodes, 1);
    assert_int_equal(item(&e, OBSTACLE_BUSY, SHORT_GPU_BYTES)->nodes, 2);
    assert_true(item(&e, OBSTACLE_BUSY, SHORT_GPU_BYTES)->most == 37 * GIB);
    assert_int_equal(e.remedy.type, REMEDY_LESS);
    assert_true(e.remedy.to == 30 * GIB);
    explanation_done(&e);
    bed_close(&bed);
}

static void bytes_alone_mean_compute_too_and_are_told_as_bytes(void **state)
{
    struct explanation e;
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    a_node(&bed, "n0", "A100", 1, 80 * GIB, NULL);
    RUN(&bed, .id = 1, .gpus = 1, .gpu_bytes = 60 * GIB);
    SUBMIT(&bed, .id = 2, .gpus = 1, .gpu_bytes = 40 * GIB);
    bed_step(&bed);
    e = asked(&bed, 2);
    assert_true(item(&e, OBSTACLE_BUSY, SHORT_GPU_BYTES)->most == 20 * GIB);
    assert_int_equal(e.remedy.type, REMEDY_LESS);
    assert_true(e.remedy.to == 20 * GIB);
    explanation_done(&e);
    bed_close(&bed);
}

static void dropping_the_label_or_the_model_starts_it(void **state)
{
    struct explanation e;
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    a_node(&bed, "a", "A100", 1, 40 * GB, "zone=a");
    a_node(&bed, "b", "T4", 1, 40 * GB, NULL);
    RUN(&bed, .id = 1, .gpus = 1, .model = "A100");
    SUBMIT(&bed, .id = 2, .gpus = 1, .label = "zone=a");
    SUBMIT(&bed, .id = 3, .gpus = 1, .model = "A100");
    bed_step(&bed);
    e = asked(&bed, 2);
    assert_int_equal(e.remedy.type, REMEDY_LABEL);
    assert_string_equal(core_name(bed.core, e.remedy.name), "zone=a");
    explanation_done(&e);
    e = asked(&bed, 3);
    assert_int_equal(e.remedy.type, REMEDY_MODELS);
    explanation_done(&e);
    apply(&bed, cancelled(2));
    SUBMIT(&bed, .id = 4, .gpus = 1);
    bed_step(&bed);
    assert_starts(&bed, 4, 0, "b", 1);
    bed_close(&bed);
}

static void a_higher_limit_by_just_so_much_starts_it(void **state)
{
    struct queue_spec queue = queue_of("vision");
    struct explanation e;
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 8);
    queue.limit[RES_GPU_MGPU] = 4000;
    configure(&bed, &queue, 1);
    RUN(&bed, .id = 1, .gpus = 3, .queue = "vision");
    RUN(&bed, .id = 2, .gpus = 1, .queue = "vision");
    SUBMIT(&bed, .id = 3, .gpus = 2, .queue = "vision");
    bed_step(&bed);
    e = asked(&bed, 3);
    assert_int_equal(e.reason, REASON_QUOTA);
    assert_int_equal(e.bound.refusal.bound, BOUND_LIMIT);
    assert_int_equal(e.bound.refusal.resource, RES_GPU_MGPU);
    assert_true(e.bound.limit == 4000 && e.bound.held == 4000 && e.bound.asked == 2000);
    assert_int_equal(e.remedy.type, REMEDY_LIMIT);
    assert_true(e.remedy.from == 4000 && e.remedy.to == 6000);
    explanation_done(&e);
    queue.limit[RES_GPU_MGPU] = 6000;
    configure(&bed, &queue, 1);
    bed_step(&bed);
    assert_int_equal(bed_state(&bed, 3), JOB_STARTING);
    bed_close(&bed);
}

static void a_higher_class_starts_it_when_others_give_way_to_that(void **state)
{
    struct explanation e;
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 4);
    submit_as(&bed, &(struct job_spec){.id = 1, .class = "low"}, 4);
    bed_step(&bed);
    bed_run(&bed, 1);
    submit_as(&bed, &(struct job_spec){.id = 2, .class = "low"}, 4);
    bed_step(&bed);
    e = asked(&bed, 2);
    assert_int_equal(e.remedy.type, REMEDY_CLASS);
    assert_string_equal(core_name(bed.core, e.remedy.name), "medium");
    explanation_done(&e);
    apply(&bed, cancelled(2));
    submit_as(&bed, &(struct job_spec){.id = 3, .class = "medium"}, 4);
    bed_step(&bed);
    bed_end(&bed, 1, 143);
    bed_step(&bed);
    assert_int_equal(bed_state(&bed, 3), JOB_STARTING);
    bed_close(&bed);
}

static void no_class_is_named_to_who_cannot_say_one(void **state)
{
    const struct explain_terms terms = {.class_fixed = true};
    struct explanation e;
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 4);
    submit_as(&bed, &(struct job_spec){.id = 1, .class = "low"}, 4);
    bed_step(&bed);
    bed_run(&bed, 1);
    submit_as(&bed, &(struct job_spec){.id = 2, .class = "low"}, 4);
    bed_step(&bed);
    assert_int_equal(explain(bed.core, 2, &terms, &e, &bed.err), 0);
    assert_int_equal(e.remedy.type, REMEDY_JOB_ENDS);
    assert_int_equal(e.remedy.job_id, 1);
    explanation_done(&e);
    bed_close(&bed);
}

static void a_drained_node_that_comes_back_starts_it(void **state)
{
    struct explanation e;
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_nodes(&bed, 2, 4);
    apply(&bed, (struct event){.type = EVENT_NODE_HEALTH, .node_health = {"n0", NODE_DRAINED}});
    RUN(&bed, .id = 1, .gpus = 4, .fixed = true);
    SUBMIT(&bed, .id = 2, .gpus = 4);
    bed_step(&bed);
    e = asked(&bed, 2);
    assert_int_equal(e.remedy.type, REMEDY_NODE);
    assert_string_equal(core_name(bed.core, e.remedy.name), "n0");
    explanation_done(&e);
    apply(&bed, (struct event){.type = EVENT_NODE_HEALTH, .node_health = {"n0", NODE_UNDRAINED}});
    bed_step(&bed);
    assert_starts(&bed, 2, 0, "n0", 0xf);
    bed_close(&bed);
}

static void the_smallest_job_whose_end_would_do_is_named(void **state)
{
    struct explanation e;
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_full, &in_turn);
    bed_nodes(&bed, 2, 8);
    RUN(&bed, .id = 1, .gpus = 5, .fixed = true);
    RUN(&bed, .id = 2, .gpus = 3, .fixed = true);
    RUN(&bed, .id = 3, .gpus = 4, .fixed = true);
    RUN(&bed, .id = 4, .gpus = 3, .fixed = true);
    SUBMIT(&bed, .id = 5, .gpus = 5);
    bed_step(&bed);
    e = asked(&bed,
              5); /* 1 frees 5; 2 frees 3 of n0; 3 frees 4 with 1 that is free, and is smaller */
    assert_int_equal(e.remedy.type, REMEDY_JOB_ENDS);
    assert_int_equal(e.remedy.job_id, 3);
    explanation_done(&e);
    bed_end(&bed, 3, 0);
    bed_step(&bed);
    assert_int_equal(bed_state(&bed, 5), JOB_STARTING);
    bed_close(&bed);
}

/* FAULTS 3. V would give way, but W does not: nobody is stopped, and W is what is in the way. */
static void the_job_that_does_not_give_way_is_named_beside_one_that_would(void **state)
{
    const struct group_spec group = {.tasks = 2, .gpus = 4};
    const struct job_layout_spec layout = {
        .groups = &group, .group_count = 1, .slowdown_ppm = 1000000};
    struct explanation e;
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n1", 4);
    bed_node(&bed, "n2", 4);
    submit_as(&bed, &(struct job_spec){.id = 1, .class = "low"}, 4);
    submit_as(&bed, &(struct job_spec){.id = 2, .class = "low", .fixed = true}, 4);
    bed_step(&bed);
    bed_run(&bed, 1);
    bed_run(&bed, 2);
    submit_as(&bed,
              &(struct job_spec){.id = 3, .class = "high", .layouts = &layout, .layout_count = 1},
              0);
    bed_step(&bed);
    assert_int_equal(bed_count(&bed, DECISION_STOP), 0);
    e = asked(&bed, 3);
    assert_int_equal(e.remedy.type, REMEDY_JOB_ENDS);
    assert_int_equal(e.remedy.job_id, 2);
    explanation_done(&e);
    bed_close(&bed);
}

static void nothing_is_named_when_no_single_change_is_enough(void **state)
{
    struct explanation e;
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 4);
    RUN(&bed, .id = 1, .gpus = 2, .fixed = true);
    RUN(&bed, .id = 2, .gpus = 2, .fixed = true);
    SUBMIT(&bed, .id = 3, .gpus = 4);
    bed_step(&bed);
    e = asked(&bed, 3);
    assert_int_equal(e.remedy.type, REMEDY_NONE);
    assert_true(e.tries > 0);
    explanation_done(&e);
    bed_close(&bed);
}

/* ---- jobs that are not in line ---- */

static void a_held_job_wants_to_be_released(void **state)
{
    struct explanation e;
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 4);
    submit_as(&bed, &(struct job_spec){.id = 1, .held = true}, 4);
    bed_step(&bed);
    e = asked(&bed, 1);
    assert_int_equal(e.reason, REASON_HELD);
    assert_int_equal(e.remedy.type, REMEDY_RELEASE);
    assert_false(e.position.known);
    explanation_done(&e);
    bed_close(&bed);
}

static void a_job_names_those_that_it_waits_for(void **state)
{
    const struct job_after after[] = {{1, AFTER_FAILED}, {2, AFTER_OK}};
    struct explanation e;
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 4);
    RUN(&bed, .id = 1, .gpus = 1);
    RUN(&bed, .id = 2, .gpus = 1);
    submit_as(&bed, &(struct job_spec){.id = 3, .after = after, .after_count = 2}, 1);
    submit_as(&bed, &(struct job_spec){.id = 4, .after = after, .after_count = 1}, 1);
    bed_step(&bed);
    e = asked(&bed, 3);
    assert_int_equal(e.reason, REASON_AFTER);
    assert_int_equal(e.other_count, 2);
    assert_int_equal(e.remedy.type, REMEDY_NONE); /* two would have to end */
    explanation_done(&e);
    e = asked(&bed, 4);
    assert_int_equal(e.others[0], 1);
    assert_int_equal(e.other_end[0], AFTER_FAILED);
    assert_int_equal(e.remedy.type, REMEDY_JOB_ENDS);
    assert_true(e.remedy.badly);
    explanation_done(&e);
    bed_end(&bed, 1, 1);
    bed_step(&bed);
    assert_int_equal(bed_state(&bed, 4), JOB_STARTING);
    bed_close(&bed);
}

static void a_full_array_names_those_that_are_in(void **state)
{
    struct explanation e;
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 4);
    for (uint64_t id = 1; id <= 3; id++)
        submit_as(&bed, &(struct job_spec){.id = id, .array = "sweep", .array_limit = 2}, 1);
    bed_step(&bed);
    e = asked(&bed, 3);
    assert_int_equal(e.reason, REASON_ARRAY);
    assert_int_equal(e.array_limit, 2);
    assert_int_equal(e.other_count, 2);
    assert_int_equal(e.remedy.type, REMEDY_JOB_ENDS);
    assert_int_equal(e.remedy.job_id, 1);
    explanation_done(&e);
    bed_close(&bed);
}

static void who_waits_for_victims_knows_when_the_last_is_killed(void **state)
{
    struct explanation e;
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &by_queue);
    bed_node(&bed, "n0", 8);
    RUN(&bed, .id = 1, .gpus = 4, .queue = "9", .grace_us = 20 * S);
    RUN(&bed, .id = 2, .gpus = 4, .queue = "9", .grace_us = 90 * S);
    SUBMIT(&bed, .id = 3, .gpus = 8, .queue = "1");
    bed_step(&bed);
    e = asked(&bed, 3);
    assert_int_equal(e.reason, REASON_VICTIMS);
    assert_int_equal(e.other_count, 2);
    assert_true(e.killed_us == bed.now_us + 90 * S);
    assert_true(e.position.known && e.position.before == 0);
    explanation_done(&e);
    bed_close(&bed);
}

static void who_is_about_to_be_rejected_is_told_what_no_node_has(void **state)
{
    struct explanation e;
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &by_queue);
    bed_node(&bed, "n0", 4);
    SUBMIT(&bed, .id = 1, .gpus = 5);
    SUBMIT(&bed, .id = 2, .gpus = 1, .model = "H300");
    e = asked(&bed, 1);
    assert_true(e.rejected && e.reason == REASON_NEVER);
    assert_int_equal(e.never.kind, NEVER_SMALL);
    assert_int_equal(e.never.what, SHORT_GPUS);
    assert_true(e.never.asked == 5 && e.never.most == 4);
    explanation_done(&e);
    e = asked(&bed, 2);
    assert_int_equal(e.never.kind, NEVER_MODEL);
    assert_string_equal(core_name(bed.core, e.never.name), "H300");
    explanation_done(&e);
    bed_close(&bed);
}

/* Fault 10: it is told that it waits because of the minimum, and only where that is so. */
static void services_that_keep_their_minimum_from_it_are_named(void **state)
{
    struct explanation e;
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &by_queue);
    bed_node(&bed, "n0", 4);
    RUN(&bed, .id = 1, .gpus = 1, .tasks = 4, .min = 3, .service = true, .queue = "9");
    SUBMIT(&bed, .id = 2, .gpus = 2, .queue = "1");
    SUBMIT(&bed, .id = 3, .gpus = 2, .queue = "9"); /* has no right over it */
    bed_step(&bed);
    e = asked(&bed, 2);
    assert_int_equal(e.reason, REASON_ROOM);
    assert_int_equal(e.service_count, 1);
    assert_int_equal(e.services[0], 1);
    assert_int_equal(e.service_tasks_min, 3);
    explanation_done(&e);
    e = asked(&bed, 3);
    assert_int_equal(e.service_count, 0);
    explanation_done(&e);
    bed_node(&bed, "n1", 1);
    SUBMIT(&bed, .id = 4, .gpus = 2, .tasks = 3, .queue = "0"); /* not even without it */
    bed_step(&bed);
    assert_int_equal(bed_state(&bed, 4), JOB_FREE);
    bed_node(&bed, "n2", 4);
    RUN(&bed, .id = 5, .gpus = 4, .queue = "0");
    SUBMIT(&bed, .id = 6, .gpus = 2, .tasks = 3, .queue = "1");
    bed_step(&bed);
    e = asked(&bed, 6);
    assert_int_equal(e.service_count, 0);
    explanation_done(&e);
    bed_close(&bed);
}

static void a_job_that_is_new_or_runs_is_said_to_be_so(void **state)
{
    struct explanation e;
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 4);
    SUBMIT(&bed, .id = 1, .gpus = 4);
    e = asked(&bed, 1);
    assert_true(e.starts);
    explanation_done(&e);
    bed_step(&bed);
    e = asked(&bed, 1);
    assert_int_equal(e.state, JOB_STARTING);
    explanation_done(&e);
    assert_int_equal(explain(bed.core, 7, NULL, &e, &bed.err), -ENOENT);
    bed_close(&bed);
}

/* ---- reservations ---- */

/* Job 1 has half of the node for 130 s, its grace counted, and job 2 a reservation for all of it.
 */
static void open_reserved(struct bed *bed, const struct queue_spec *queue)
{
    bed_open(bed, &place_first, &in_turn);
    bed_node(bed, "n0", 4);
    bed_apply(bed, &(struct event){.type = EVENT_CONFIG_CHANGED,
                                   .rules = {.queues = queue,
                                             .queue_count = queue != NULL,
                                             .default_queue = queue != NULL ? queue->name : "",
                                             .root_order = "",
                                             .default_class = "",
                                             .reservation_depth = 1}});
    RUN(bed, .id = 1, .gpus = 2, .limit_us = 100 * S);
    SUBMIT(bed, .id = 2, .gpus = queue != NULL ? 3 : 4, .limit_us = 10 * S);
    bed_step(bed);
}

static void a_job_with_a_reservation_is_told_for_when(void **state)
{
    struct explanation e;
    struct bed bed;

    (void)state;
    open_reserved(&bed, NULL);
    e = asked(&bed, 2);
    assert_int_equal(e.reason, REASON_ROOM);
    assert_true(e.reserved_us == core_reservation(bed.core, core_find_job(bed.core, 2)));
    assert_true(e.reserved_us > bed.now_us && e.reserved_first_us == e.reserved_us);
    assert_true(e.reserved_late_by == JOB_NONE && e.ahead_job == JOB_NONE);
    explanation_done(&e);
    bed_close(&bed);
}

/* The books are as before, on which the answer was found. */
static void who_would_run_into_a_reservation_is_told_whose(void **state)
{
    struct explanation e;
    uint64_t before;
    struct bed bed;

    (void)state;
    open_reserved(&bed, NULL);
    SUBMIT(&bed, .id = 3, .gpus = 2, .limit_us = 200 * S);
    SUBMIT(&bed, .id = 4, .gpus = 3, .limit_us = 200 * S);
    bed_step(&bed);
    e = asked(&bed, 3);
    assert_int_equal(e.reason, REASON_RESERVED);
    assert_int_equal(e.ahead_job, 2);
    assert_true(e.ahead_us == core_reservation(bed.core, core_find_job(bed.core, 2)));
    assert_true(e.run_until_us == bed.now_us + 230 * S);
    assert_true(e.reserved_us == TIME_NONE);
    explanation_done(&e);
    e = asked(&bed, 4); /* it has no room in any case */
    assert_int_equal(e.reason, REASON_ROOM);
    assert_true(e.ahead_job == JOB_NONE);
    explanation_done(&e);
    before = core_digest(bed.core);
    assert_int_equal(reserve_in_the_way(bed.core, core_find_job(bed.core, 3)), 0);
    assert_int_equal(reserve_in_the_way(bed.core, core_find_job(bed.core, 4)), ROW_NONE);
    assert_int_equal(reserve_in_the_way(bed.core, core_find_job(bed.core, 2)), ROW_NONE);
    assert_true(core_digest(bed.core) == before);
    bed_check(&bed);
    bed_close(&bed);
}

/* There are GPUs for both, but the queue lets them have three. */
static void a_reservation_is_in_the_way_by_the_bound_of_a_queue_too(void **state)
{
    struct queue_spec queue = queue_of("q");
    struct explanation e;
    struct bed bed;

    (void)state;
    queue.limit[RES_GPU_MGPU] = 3000;
    open_reserved(&bed, &queue);
    SUBMIT(&bed, .id = 3, .gpus = 1, .limit_us = 200 * S);
    bed_step(&bed);
    e = asked(&bed, 3);
    assert_int_equal(e.reason, REASON_RESERVED);
    assert_int_equal(e.ahead_job, 2);
    explanation_done(&e);
    bed_close(&bed);
}

/* ---- position ---- */

static void the_position_counts_who_has_a_turn_before(void **state)
{
    struct queue_spec queues[2] = {queue_of("a"), queue_of("b")};
    struct explanation e;
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 4);
    configure(&bed, queues, 2);
    RUN(&bed, .id = 1, .gpus = 4, .queue = "a");
    SUBMIT(&bed, .id = 2, .gpus = 4, .queue = "a");
    SUBMIT(&bed, .id = 3, .gpus = 2, .queue = "b");
    SUBMIT(&bed, .id = 4, .gpus = 3, .queue = "a");
    SUBMIT(&bed, .id = 5, .gpus = 4, .queue = "b");
    submit_as(&bed, &(struct job_spec){.id = 6, .class = "high", .queue = "a", .held = true}, 4);
    bed_step(&bed);
    e = asked(&bed, 2);
    assert_true(e.position.known && e.position.before == 0);
    explanation_done(&e);
    e = asked(&bed, 5);
    assert_int_equal(e.position.before, 3);
    assert_int_equal(e.position.in_queue, 1);
    assert_false(e.position.more);
    explanation_done(&e);
    bed_close(&bed);
}

static void shares_move_on_while_turns_are_counted(void **state)
{
    struct queue_spec queues[2] = {queue_of("a"), queue_of("b")};
    struct explanation e;
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 4);
    bed_apply(&bed, &(struct event){.type = EVENT_CONFIG_CHANGED,
                                    .rules = {.queues = queues,
                                              .queue_count = 2,
                                              .default_queue = "",
                                              .root_order = "fair",
                                              .default_class = ""}});
    RUN(&bed, .id = 1, .gpus = 4, .queue = "a", .fixed = true);
    for (uint64_t id = 2; id <= 11; id++)
        SUBMIT(&bed, .id = id, .gpus = 4, .queue = id <= 6 ? "a" : "b", .fixed = true);
    bed_step(&bed);
    e = asked(&bed, 2); /* b's first goes before, not all of b's */
    assert_int_equal(e.position.in_queue, 0);
    assert_in_range(e.position.before, 1, 2);
    explanation_done(&e);
    bed_close(&bed);
}

/* Three queues with shares, users and classes; nobody starts while the node is drained. */
static void submit_many(struct bed *bed, uint32_t jobs, uint64_t seed)
{
    static const char *const queues[] = {"a", "b", "c"}, *const users[] = {"u", "v"};
    static const char *const classes[] = {"low", "medium", "high"};
    struct rng rng;

    rng_init(&rng, seed);
    for (uint64_t id = 1; id <= jobs; id++) {
        const uint32_t gpus = 1 + (uint32_t)rng_below(&rng, 3);
        const struct job_spec spec = {.id = id,
                                      .queue = queues[rng_below(&rng, 3)],
                                      .user = users[rng_below(&rng, 2)],
                                      .class = classes[rng_below(&rng, 3)]};

        submit_as(bed, &spec, gpus);
    }
}

static void jobs_start_in_the_order_of_their_positions(void **state)
{
    enum { JOBS = 20 };
    struct queue_spec queues[3] = {queue_of("a"), queue_of("b"), queue_of("c")};

    (void)state;
    queues[0].guarantee[RES_GPU_MGPU] = 9000;
    queues[1].weight = 3;
    queues[2].order = "fair"; /* its users by share */
    for (uint64_t seed = 0; seed < 10; seed++) {
        uint32_t before[JOBS + 1], start = 0;
        struct bed bed;

        bed_open(&bed, &place_first, &in_turn);
        bed_node(&bed, "n0", 60);
        bed_apply(&bed, &(struct event){.type = EVENT_CONFIG_CHANGED,
                                        .rules = {.queues = queues,
                                                  .queue_count = 3,
                                                  .default_queue = "",
                                                  .root_order = seed % 2 == 0 ? "fair" : "",
                                                  .default_class = ""}});
        apply(&bed, (struct event){.type = EVENT_NODE_HEALTH, .node_health = {"n0", NODE_DRAINED}});
        submit_many(&bed, JOBS, seed);
        bed_step(&bed);
        for (uint64_t id = 1; id <= JOBS; id++) {
            struct explanation e = asked(&bed, id);

            assert_true(e.position.known && !e.position.more);
            before[id] = e.position.before;
            explanation_done(&e);
        }
        apply(&bed,
              (struct event){.type = EVENT_NODE_HEALTH, .node_health = {"n0", NODE_UNDRAINED}});
        bed_step(&bed);
        for (uint32_t i = 0; i < bed.out.count; i++)
            if (bed.out.items[i].type == DECISION_START)
                assert_int_equal(before[bed.out.items[i].job_id], start++);
        assert_int_equal(start, JOBS);
        bed_close(&bed);
    }
}

static void turns_are_counted_up_to_a_bound(void **state)
{
    struct explanation e;
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 1);
    RUN(&bed, .id = 1, .gpus = 1);
    for (uint64_t id = 2; id <= POSITION_MAX + 3; id++)
        SUBMIT(&bed, .id = id, .gpus = 1);
    bed_step(&bed);
    e = asked(&bed, POSITION_MAX + 2);
    assert_int_equal(e.position.before, POSITION_MAX);
    assert_false(e.position.more);
    explanation_done(&e);
    e = asked(&bed, POSITION_MAX + 3);
    assert_int_equal(e.position.before, POSITION_MAX);
    assert_true(e.position.more);
    explanation_done(&e);
    bed_close(&bed);
}

/* ---- the forward run ---- */

static int64_t start_of(const struct bed *bed, const struct forward *f, uint64_t id)
{
    return f->start_us[core_find_job(bed->core, id)];
}

static void jobs_start_one_after_the_other_as_limits_end_them(void **state)
{
    const struct forward_limits all = {.until_job = JOB_NONE};
    struct forward f;
    struct bed bed;
    int64_t from_us;
    uint64_t before;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 4);
    RUN(&bed, .id = 1, .gpus = 4, .limit_us = 100 * S);
    from_us = bed.now_us;
    SUBMIT(&bed, .id = 2, .gpus = 3, .limit_us = 50 * S);
    SUBMIT(&bed, .id = 3, .gpus = 2, .limit_us = 50 * S);
    SUBMIT(&bed, .id = 4, .gpus = 1, .limit_us = 10 * S);
    submit_as(&bed, &(struct job_spec){.id = 5, .held = true}, 1);
    bed_step(&bed);
    before = core_digest(bed.core);
    forward_run(bed.core, &all, &f);
    assert_true(core_digest(bed.core) == before);
    assert_true(f.at_us == bed.now_us);
    assert_true(start_of(&bed, &f, 2) == from_us + 100 * S);
    assert_true(start_of(&bed, &f, 4) == from_us + 100 * S);
    assert_true(start_of(&bed, &f, 3) == from_us + 150 * S);
    assert_true(start_of(&bed, &f, 5) == TIME_NONE);
    assert_true(f.whole);
    forward_done(&f);
    bed_close(&bed);
}

static void a_job_without_limit_ends_when_it_is_expected_to(void **state)
{
    const struct forward_limits all = {.until_job = JOB_NONE};
    struct forward f;
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 4);
    RUN(&bed, .id = 1, .gpus = 4);
    SUBMIT(&bed, .id = 2, .gpus = 4);
    bed_step(&bed);
    forward_run(bed.core, &all, &f);
    assert_true(start_of(&bed, &f, 2) ==
                bed_job(&bed, 1)->start_us +
                    core_expected_us(bed.core, core_find_job(bed.core, 1)));
    assert_false(f.whole); /* it was left as soon as all were known */
    forward_done(&f);
    bed_close(&bed);
}

/* The small job stops for the large one, and its hour begins anew, less what it ran. */
static void who_gives_way_ends_later(void **state)
{
    const struct forward_limits all = {.until_job = JOB_NONE};
    struct forward f;
    struct bed bed;
    int64_t stopped_us;

    (void)state;
    bed_open(&bed, &place_first, &by_queue);
    bed_node(&bed, "n0", 4);
    bed_node(&bed, "n1", 4);
    RUN(&bed, .id = 1, .gpus = 4, .queue = "5", .limit_us = 100 * S, .fixed = true);
    RUN(&bed, .id = 2, .gpus = 3, .queue = "5", .min_run_us = 60 * S);
    SUBMIT(&bed, .id = 3, .gpus = 4, .tasks = 2, .queue = "1", .limit_us = 500 * S);
    SUBMIT(&bed, .id = 4, .gpus = 4, .tasks = 2, .queue = "9");
    bed_step(&bed);
    forward_run(bed.core, &all, &f);
    stopped_us = bed_job(&bed, 1)->start_us + 100 * S;
    assert_true(start_of(&bed, &f, 3) == stopped_us);
    /* 2 ran until then, starts again when 3 has had its 500 s, and runs the rest of its hour */
    assert_true(start_of(&bed, &f, 4) ==
                stopped_us + 500 * S + EXPECT_RUN_US - (stopped_us - bed_job(&bed, 2)->start_us));
    forward_done(&f);
    bed_close(&bed);
}

/* It may have left before; so the time is the latest one, not now. */
static void who_was_told_to_stop_leaves_when_it_is_killed(void **state)
{
    const struct forward_limits all = {.until_job = JOB_NONE};
    struct forward f;
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &by_queue);
    bed_node(&bed, "n0", 4);
    RUN(&bed, .id = 1, .gpus = 4, .queue = "5");
    SUBMIT(&bed, .id = 2, .gpus = 4, .queue = "1");
    bed_step(&bed);
    assert_int_equal(bed_state(&bed, 1), JOB_STOPPING);
    forward_run(bed.core, &all, &f);
    assert_true(start_of(&bed, &f, 2) == bed_job(&bed, 1)->stop_us + GRACE_US_DEFAULT);
    assert_true(start_of(&bed, &f, 1) > start_of(&bed, &f, 2));
    forward_done(&f);
    bed_close(&bed);
}

static void a_forward_run_ends_at_its_bound_and_says_where(void **state)
{
    const struct forward_limits two = {.instants = 2, .until_job = JOB_NONE};
    struct forward f;
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 1);
    RUN(&bed, .id = 1, .gpus = 1, .limit_us = 10 * S);
    for (uint64_t id = 2; id <= 6; id++)
        SUBMIT(&bed, .id = id, .gpus = 1, .limit_us = 10 * S);
    bed_step(&bed);
    forward_run(bed.core, &two, &f);
    assert_true(start_of(&bed, &f, 3) == f.end_us);
    assert_true(start_of(&bed, &f, 4) == TIME_NONE);
    assert_false(f.whole);
    forward_done(&f);
    bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_node_is_counted_for_the_first_thing_in_its_way),
        TEST(a_gang_says_how_many_of_its_tasks_fit),
        TEST(asking_for_what_is_free_starts_it),
        TEST(a_gang_asks_for_what_all_of_its_tasks_find),
        TEST(bytes_alone_mean_compute_too_and_are_told_as_bytes),
        TEST(dropping_the_label_or_the_model_starts_it),
        TEST(a_higher_limit_by_just_so_much_starts_it),
        TEST(a_higher_class_starts_it_when_others_give_way_to_that),
        TEST(no_class_is_named_to_who_cannot_say_one),
        TEST(a_drained_node_that_comes_back_starts_it),
        TEST(the_smallest_job_whose_end_would_do_is_named),
        TEST(the_job_that_does_not_give_way_is_named_beside_one_that_would),
        TEST(nothing_is_named_when_no_single_change_is_enough),
        TEST(a_held_job_wants_to_be_released),
        TEST(a_job_names_those_that_it_waits_for),
        TEST(a_full_array_names_those_that_are_in),
        TEST(who_waits_for_victims_knows_when_the_last_is_killed),
        TEST(who_is_about_to_be_rejected_is_told_what_no_node_has),
        TEST(services_that_keep_their_minimum_from_it_are_named),
        TEST(a_job_that_is_new_or_runs_is_said_to_be_so),
        TEST(a_job_with_a_reservation_is_told_for_when),
        TEST(who_would_run_into_a_reservation_is_told_whose),
        TEST(a_reservation_is_in_the_way_by_the_bound_of_a_queue_too),
        TEST(the_position_counts_who_has_a_turn_before),
        TEST(shares_move_on_while_turns_are_counted),
        TEST(jobs_start_in_the_order_of_their_positions),
        TEST(turns_are_counted_up_to_a_bound),
        TEST(jobs_start_one_after_the_other_as_limits_end_them),
        TEST(a_job_without_limit_ends_when_it_is_expected_to),
        TEST(who_gives_way_ends_later),
        TEST(who_was_told_to_stop_leaves_when_it_is_killed),
        TEST(a_forward_run_ends_at_its_bound_and_says_where),
    };

    return RUN_TESTS(tests);
}
