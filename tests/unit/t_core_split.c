/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs that are split (MIG) in the core: who gets which instance, and what stays when it has gone.
 */
#include "core/impl.h"
#include "unit/core_test.h"

#define GIB   (INT64_C(1) << 30)
#define MIG   MODE_BIT(GPU_MIG)
#define WHOLE MODE_BIT(GPU_EXCLUSIVE)
#define PARTS MODE_BIT(GPU_TIMESLICE)

static struct event described(const char *model, uint32_t gpus, uint32_t modes)
{
    return (struct event){.type = EVENT_NODE_UPSERTED,
                          .node = {.name = "n0",
                                   .model = model,
                                   .gpus = gpus,
                                   .gpu_memory_bytes = 80 * GIB,
                                   .cpu_mcpu = 100000,
                                   .memory_bytes = 1000 * GB,
                                   .modes = modes}};
}

static void bed_split(struct bed *bed, uint32_t gpus, uint32_t modes)
{
    const struct event event = described("A100", gpus, modes);

    bed_open(bed, &place_first, &in_turn);
    bed_apply(bed, &event);
}

static void bed_wait(struct bed *bed, int64_t us)
{
    bed_apply(bed,
              &(struct event){.type = EVENT_TIME_PASSED, .at_us = core_now_us(bed->core) + us});
}

/* Submitted, with a step after it. */
static void want(struct bed *bed, uint64_t id, const char *profile, uint32_t tasks)
{
    SUBMIT(bed, .id = id, .gpus = 1, .mig = profile, .tasks = tasks);
    bed_step(bed);
}

static const struct task_place *place_of(const struct bed *bed, uint64_t id)
{
    const struct decision *d = bed_find(bed, DECISION_START, id);

    return d != NULL ? &bed->out.places[d->place_first] : NULL;
}

static void expect_at(const struct bed *bed, uint64_t id, uint32_t gpu, uint32_t start, bool new)
{
    const struct task_place *place = place_of(bed, id);

    assert_non_null(place);
    assert_int_equal(place->mode, GPU_MIG);
    assert_true(place->gpu_mask == UINT64_C(1) << gpu);
    assert_int_equal(place->mig_start, start);
    assert_true(place->mig_new == new);
}

static void end(struct bed *bed, uint64_t id)
{
    bed_run(bed, id);
    bed_end(bed, id, 0);
    bed_step(bed);
}

/* ---- where ---- */

static void a_small_one_goes_where_large_ones_cannot_start(void **state)
{
    struct bed bed;

    (void)state;
    bed_split(&bed, 1, MIG);
    want(&bed, 1, "1g.10gb", 1);
    expect_at(&bed, 1, 0, 6, true);
    assert_string_equal(place_of(&bed, 1)->mig_profile, "1g.10gb");
    assert_int_equal(bed.core->nodes.gpus[0].held_mgpu, 142);
    assert_int_equal(bed.core->nodes.gpus[0].held_bytes, 10 * GIB);
    want(&bed, 2, "4g.40gb", 1);
    expect_at(&bed, 2, 0, 0, true);
    want(&bed, 3, "3g.40gb", 1); /* 2 compute slices are left, and 3 of memory */
    assert_null(place_of(&bed, 3));
    want(&bed, 4, "2g.20gb", 1);
    expect_at(&bed, 4, 0, 4, true);
    bed_close(&bed);
}

/* Fault 26. */
static void free_slices_without_a_legal_start_are_no_room(void **state)
{
    struct bed bed;

    (void)state;
    bed_split(&bed, 1, MIG);
    want(&bed, 1, "3g.40gb", 1);
    expect_at(&bed, 1, 0, 4, true); /* not on the only start of a 4g */
    want(&bed, 2, "3g.40gb", 1);
    expect_at(&bed, 2, 0, 0, true);
    want(&bed, 3, "1g.10gb", 1); /* a seventh of the compute is left, and no memory */
    assert_null(place_of(&bed, 3));
    assert_int_equal(bed_reason(&bed, 3), REASON_ROOM);
    bed_close(&bed);
}

static void names_mean_slices_and_attributes_on_whichever_gpu(void **state)
{
    struct event event = described("NVIDIA H100 80GB HBM3", 1, MIG);
    struct bed bed;

    (void)state;
    bed_split(&bed, 1, MIG);
    event.node.name = "n1";
    bed_apply(&bed, &event);
    want(&bed, 1, "3g.39gb", 1); /* as another driver prints it */
    assert_string_equal(place_of(&bed, 1)->mig_profile, "3g.40gb");
    want(&bed, 2, "1g.10gb+me", 1);
    assert_string_equal(place_of(&bed, 2)->mig_profile, "1g.10gb+me");
    assert_string_equal(place_of(&bed, 2)->node_name, "n0");
    want(&bed, 3, "1g.10gb+me", 1); /* a GPU has media engines for one */
    assert_string_equal(place_of(&bed, 3)->node_name, "n1");
    bed_close(&bed);
}

static void memory_gets_the_smallest_that_serves(void **state)
{
    struct bed bed;

    (void)state;
    bed_split(&bed, 2, MIG);
    SUBMIT(&bed, .id = 1, .gpus = 1, .mig = "any", .gpu_bytes = 18 * GIB);
    SUBMIT(&bed, .id = 2, .gpus = 1, .mig = "any", .gpu_bytes = 20 * GIB);
    bed_step(&bed);
    assert_string_equal(place_of(&bed, 1)->mig_profile, "1g.20gb");
    assert_true(place_of(&bed, 1)->gpu_memory_bytes >= 18 * GIB);
    assert_string_equal(place_of(&bed, 2)->mig_profile, "3g.40gb");
    SUBMIT(&bed, .id = 3, .gpus = 1, .mig = "any", .gpu_bytes = 90 * GIB);
    bed_step(&bed);
    assert_non_null(bed_find(&bed, DECISION_REJECT, 3));
    bed_close(&bed);
}

static void equal_tasks_fill_gpus_to_the_last_start(void **state)
{
    struct bed bed;

    (void)state;
    bed_split(&bed, 2, MIG);
    want(&bed, 1, "1g.10gb", 14);
    assert_non_null(place_of(&bed, 1));
    want(&bed, 2, "1g.10gb", 1);
    assert_null(place_of(&bed, 2));
    bed_close(&bed);
    bed_split(&bed, 2, MIG);
    want(&bed, 1, "1g.10gb", 15); /* never */
    assert_non_null(bed_find(&bed, DECISION_REJECT, 1));
    bed_close(&bed);
}

static void different_tasks_of_a_gang_are_placed_where_any_order_would_do(void **state)
{
    static const struct ask groups[] = {
        {.gpus = 1, .mig = "1g.10gb"},
        {.gpus = 1, .mig = "2g.20gb"},
        {.gpus = 1, .mig = "4g.40gb"},
    };
    struct bed bed;

    (void)state;
    bed_split(&bed, 1, MIG);
    bed_submit_groups(&bed, 1, groups, 3);
    bed_step(&bed);
    assert_non_null(place_of(&bed, 1));
    bed_close(&bed);
}

static void what_waits_keeps_its_start(void **state)
{
    struct bed bed;

    (void)state;
    bed_split(&bed, 1, MIG);
    want(&bed, 1, "4g.40gb", 1);
    want(&bed, 2, "4g.40gb", 1); /* it waits, for the start that the first has */
    end(&bed, 1);
    expect_at(&bed, 2, 0, 0, false);
    SUBMIT(&bed, .id = 3, .gpus = 1, .mig = "1g.20gb");
    SUBMIT(&bed, .id = 4, .gpus = 1, .mig = "1g.10gb");
    bed_step(&bed);
    expect_at(&bed, 3, 0, 6, true); /* 6 and 7 are one start for it */
    expect_at(&bed, 4, 0, 4, true);
    bed_close(&bed);
}

/* ---- what stays ---- */

static void an_instance_stays_and_is_had_again(void **state)
{
    struct bed bed;

    (void)state;
    bed_split(&bed, 2, MIG);
    want(&bed, 1, "2g.20gb", 1);
    expect_at(&bed, 1, 0, 4, true);
    want(&bed, 2, "2g.20gb", 1);
    end(&bed, 1);
    want(&bed, 3, "2g.20gb", 1);
    expect_at(&bed, 3, 0, 4, false);
    want(&bed, 4, "7g.80gb", 1);
    expect_at(&bed, 4, 1, 0, true);
    bed_close(&bed);
}

static void an_idle_instance_of_another_profile_is_in_the_way(void **state)
{
    struct bed bed;

    (void)state;
    bed_split(&bed, 1, MIG | WHOLE | PARTS);
    want(&bed, 1, "3g.40gb", 1);
    end(&bed, 1);
    want(&bed, 2, "7g.80gb", 1);
    assert_null(place_of(&bed, 2));
    SUBMIT(&bed, .id = 3, .gpus = 1);
    SUBMIT(&bed, .id = 4, .gpus = 1, .mgpu = 100);
    bed_step(&bed);
    assert_null(place_of(&bed, 3));
    assert_null(place_of(&bed, 4));
    want(&bed, 5, "3g.40gb", 1);
    expect_at(&bed, 5, 0, 4, false);
    bed_close(&bed);
}

static void modes_of_a_node_are_mixed_but_not_those_of_a_gpu(void **state)
{
    struct bed bed;

    (void)state;
    bed_split(&bed, 3, MIG | WHOLE | PARTS);
    want(&bed, 1, "1g.10gb", 1);
    SUBMIT(&bed, .id = 2, .gpus = 1, .mgpu = 100);
    SUBMIT(&bed, .id = 3, .gpus = 1);
    bed_step(&bed);
    assert_true(place_of(&bed, 2)->gpu_mask == 2);
    assert_true(place_of(&bed, 3)->gpu_mask == 4);
    want(&bed, 4, "7g.80gb", 1);
    assert_null(place_of(&bed, 4));
    want(&bed, 5, "1g.10gb", 6);
    for (uint32_t i = 0; i < 6; i++)
        assert_true(place_of(&bed, 5)[i].gpu_mask == 1);
    bed_close(&bed);
}

/* ---- split anew ---- */

static struct event has(const struct split_instance *instances, uint32_t count)
{
    return (struct event){
        .type = EVENT_GPU_SPLIT,
        .split = {.node = "n0", .gpu = 0, .instances = instances, .count = count}};
}

static void an_idle_instance_is_taken_away_for_who_has_waited_long_enough(void **state)
{
    static const struct split_instance kept = {.profile = "1g.10gb", .start = 6};
    const struct event event = has(&kept, 1);
    const struct decision *d;
    int64_t since_us;
    struct bed bed;

    (void)state;
    bed_split(&bed, 1, MIG);
    want(&bed, 1, "1g.10gb", 1);
    want(&bed, 2, "3g.40gb", 1); /* at 0, as 4 has no compute for it beside a 4g */
    bed_run(&bed, 1);
    end(&bed, 2);
    since_us = core_now_us(bed.core);
    want(&bed, 3, "4g.40gb", 1);
    assert_null(bed_find(&bed, DECISION_REPARTITION, 3));
    assert_true(core_next_wake_us(bed.core) == since_us + 10000001);
    bed_wait(&bed, 8000000);
    bed_step(&bed); /* it has waited as long as it takes, and no longer */
    assert_true(core_now_us(bed.core) == since_us + 10000000);
    assert_null(bed_find(&bed, DECISION_REPARTITION, 3));
    bed_step(&bed);
    d = bed_find(&bed, DECISION_REPARTITION, 3);
    assert_non_null(d);
    assert_int_equal(d->place_count, 1); /* that of job 1 is not touched */
    assert_string_equal(bed.out.places[d->place_first].mig_profile, "3g.40gb");
    assert_int_equal(bed_reason(&bed, 3), REASON_SPLIT);
    want(&bed, 4, "1g.10gb", 1); /* the GPU takes nobody */
    assert_null(place_of(&bed, 4));
    bed_apply(&bed, &event);
    bed_step(&bed);
    expect_at(&bed, 3, 0, 0, true);
    assert_non_null(place_of(&bed, 4));
    bed_close(&bed);
}

static void what_stays_on_the_device_is_in_the_way_still(void **state)
{
    static const struct split_instance stayed = {.profile = "3g.40gb", .start = 4};
    const struct event event = has(&stayed, 1);
    struct bed bed;

    (void)state;
    bed_split(&bed, 1, MIG);
    want(&bed, 1, "3g.40gb", 1);
    end(&bed, 1);
    want(&bed, 2, "7g.80gb", 1);
    bed_wait(&bed, 10000001);
    bed_step(&bed);
    assert_non_null(bed_find(&bed, DECISION_REPARTITION, 2));
    bed_apply(&bed, &event);
    bed_step(&bed);
    assert_null(place_of(&bed, 2));
    assert_null(bed_find(&bed, DECISION_REPARTITION, 2)); /* not again so soon */
    assert_int_equal(bed_reason(&bed, 2), REASON_ROOM);
    want(&bed, 3, "3g.40gb", 1);
    expect_at(&bed, 3, 0, 4, false);
    bed_close(&bed);
}

/* Demand that changes from one layout to another every 30 s, for a day. */
static void a_storm_of_demand_is_no_storm_of_resets(void **state)
{
    static const char *const profiles[] = {"4g.40gb", "3g.40gb"};
    uint32_t splits = 0;
    uint64_t id = 1;
    struct bed bed;

    (void)state;
    bed_split(&bed, 1, MIG);
    for (uint32_t i = 0; i < 2880; i++, id++) {
        const struct event none = has(NULL, 0);

        SUBMIT(&bed, .id = id, .gpus = 1, .mig = profiles[i % 2], .tasks = 1 + i % 2);
        for (uint32_t s = 0; s < 2; s++) {
            bed_step(&bed);
            if (bed_find(&bed, DECISION_REPARTITION, id) != NULL) {
                splits++;
                bed_apply(&bed, &none);
                bed_step(&bed);
            }
            bed_wait(&bed, 15000000);
        }
        if (bed_state(&bed, id) == JOB_STARTING)
            end(&bed, id);
        else
            apply(&bed, cancelled(id));
    }
    assert_true(splits > 100); /* it is not refused for ever */
    assert_true(splits <= mig_price_bound(&mig_price_defaults, core_now_us(bed.core)));
    bed_close(&bed);
}

static void instances_of_others_are_left_alone_and_their_slices_out(void **state)
{
    static const struct split_instance others[] = {{.profile = "odd", .start = 0, .size = 3},
                                                   {.profile = "1g.10gb", .start = 6}};
    struct event event = has(others, 2);
    struct bed bed;

    (void)state;
    bed_split(&bed, 1, MIG | WHOLE);
    bed_apply(&bed, &event);
    bed_apply(&bed, &event);
    SUBMIT(&bed, .id = 1, .gpus = 1);
    want(&bed, 2, "3g.40gb", 1);
    want(&bed, 3, "2g.20gb", 1);
    assert_null(place_of(&bed, 2));
    expect_at(&bed, 3, 0, 4, true);
    bed_wait(&bed, 30000000);
    bed_step(&bed);
    assert_int_equal(bed.out.count, 0);
    event.split.count = 13;
    bed_refuses(&bed, &event, EINVAL);
    event = has(others, 2);
    event.split.gpu = 1;
    bed_refuses(&bed, &event, EINVAL);
    bed_close(&bed);
}

static void an_instance_that_cannot_be_made_is_made_elsewhere(void **state)
{
    struct event event = {.type = EVENT_INSTANCE_FAILED, .task = {.job_id = 1}};
    struct bed bed;

    (void)state;
    bed_split(&bed, 2, MIG);
    want(&bed, 1, "3g.40gb", 1);
    expect_at(&bed, 1, 0, 4, true);
    bed_apply(&bed, &event);
    assert_true(nodes_mig(&bed.core->nodes, 0, 0)->made.layout == 0);
    bed_step(&bed);
    expect_at(&bed, 1, 1, 4, true);
    bed_run(&bed, 1);
    bed_refuses(&bed, &event, EINVAL); /* it has started */
    want(&bed, 2, "7g.80gb", 1);
    assert_null(place_of(&bed, 2));
    bed_wait(&bed, 60000000);
    bed_step(&bed);
    expect_at(&bed, 2, 0, 0, true);
    bed_close(&bed);
}

/* ---- giving way ---- */

static void a_job_that_goes_before_gets_the_instance_of_another(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &by_queue);
    bed_apply(&bed,
              &(struct event){.type = EVENT_NODE_UPSERTED, .node = described("A100", 1, MIG).node});
    SUBMIT(&bed, .id = 1, .gpus = 1, .mig = "4g.40gb", .queue = "5");
    SUBMIT(&bed, .id = 2, .gpus = 1, .mig = "3g.40gb", .queue = "5");
    bed_step(&bed);
    bed_run(&bed, 1);
    bed_run(&bed, 2);
    SUBMIT(&bed, .id = 3, .gpus = 1, .mig = "3g.40gb", .queue = "1");
    bed_step(&bed);
    assert_non_null(bed_find(&bed, DECISION_STOP, 2));
    assert_null(bed_find(&bed, DECISION_STOP, 1));
    bed_end(&bed, 2, 143);
    bed_step(&bed);
    expect_at(&bed, 3, 0, 4, false);
    bed_close(&bed);
}

/* ---- reports ---- */

static void what_a_task_really_takes_is_booked(void **state)
{
    struct event event = {.type = EVENT_TASK_STARTED,
                          .task = {.job_id = 1, .node = "n0", .gpu_mask = 2, .mig_start = 3}};
    struct bed bed;

    (void)state;
    bed_split(&bed, 2, MIG);
    want(&bed, 1, "1g.10gb", 1);
    expect_at(&bed, 1, 0, 6, true);
    event.task.mig_start = 7; /* where none may start */
    bed_refuses(&bed, &event, EINVAL);
    event.task.mig_start = 3;
    bed_apply(&bed, &event);
    assert_true(mig_gpu_at(&nodes_mig(&bed.core->nodes, 0, 1)->made, 3) == 0);
    assert_true(nodes_mig(&bed.core->nodes, 0, 0)->made.layout == 0);
    want(&bed, 2, "4g.40gb", 1);
    expect_at(&bed, 2, 0, 0, true);
    bed_close(&bed);
}

static void instances_on_each_other_are_a_deficit_until_one_is_gone(void **state)
{
    struct event event = {.type = EVENT_TASK_STARTED,
                          .task = {.job_id = 2, .node = "n0", .gpu_mask = 1, .mig_start = 6}};
    struct bed bed;

    (void)state;
    bed_split(&bed, 2, MIG);
    want(&bed, 1, "1g.10gb", 1);
    bed_run(&bed, 1);
    want(&bed, 2, "1g.10gb", 1);
    bed_apply(&bed, &event);
    assert_true(bed.core->nodes.rows[0].deficit);
    want(&bed, 3, "1g.10gb", 1); /* nobody joins them */
    expect_at(&bed, 3, 1, 6, true);
    bed_end(&bed, 2, 0);
    assert_false(bed.core->nodes.rows[0].deficit);
    bed_close(&bed);
}

/* ---- descriptions and requests that are refused ---- */

static void a_node_whose_gpus_cannot_be_split_is_refused(void **state)
{
    struct event event = described("T4", 1, MIG);
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_refuses(&bed, &event, EINVAL);
    event = described("A100", 1, MIG);
    event.node.gpu_memory_bytes = 0; /* one of 40 or of 80 GiB */
    bed_refuses(&bed, &event, EINVAL);
    bed_close(&bed);
}

static void a_node_keeps_its_split_gpus_while_tasks_are_on_them(void **state)
{
    struct event event = described("H200", 1, MIG);
    struct bed bed;

    (void)state;
    bed_split(&bed, 1, MIG);
    want(&bed, 1, "1g.10gb", 1);
    event.node.gpu_memory_bytes = 141 * GIB;
    bed_refuses(&bed, &event, EBUSY);
    event = described("A100", 1, WHOLE);
    bed_refuses(&bed, &event, EBUSY);
    event = described("A100", 1, WHOLE | MIG);
    bed_apply(&bed, &event);
    end(&bed, 1);
    event = described("A100", 1, WHOLE);
    bed_apply(&bed, &event);
    SUBMIT(&bed, .id = 2, .gpus = 1);
    bed_step(&bed);
    assert_non_null(place_of(&bed, 2));
    bed_close(&bed);
}

static void refuses_group(struct bed *bed, struct group_spec group)
{
    const struct job_layout_spec layout = {
        .groups = &group, .group_count = 1, .slowdown_ppm = 1000000};

    group.tasks = 1;
    bed_refuses(bed,
                &(struct event){.type = EVENT_JOB_SUBMITTED,
                                .job = {.id = 1,
                                        .queue = "",
                                        .user = "",
                                        .name = "",
                                        .layouts = &layout,
                                        .layout_count = 1}},
                EINVAL);
}

static void requests_that_make_no_sense_are_refused(void **state)
{
    struct bed bed;

    (void)state;
    bed_split(&bed, 1, MIG);
    refuses_group(&bed, (struct group_spec){.gpus = 2, .mig = "1g.10gb"});
    refuses_group(&bed, (struct group_spec){.gpus = 0, .mig = "1g.10gb"});
    refuses_group(&bed, (struct group_spec){.gpus = 1, .gpu_mgpu = 500, .mig = "1g.10gb"});
    refuses_group(&bed, (struct group_spec){.gpus = 1, .gpu_memory_bytes = 1, .mig = "1g.10gb"});
    refuses_group(&bed, (struct group_spec){.gpus = 1, .mig = "any"});
    refuses_group(&bed, (struct group_spec){.gpus = 1, .mig = "some"});
    bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_small_one_goes_where_large_ones_cannot_start),
        TEST(free_slices_without_a_legal_start_are_no_room),
        TEST(names_mean_slices_and_attributes_on_whichever_gpu),
        TEST(memory_gets_the_smallest_that_serves),
        TEST(equal_tasks_fill_gpus_to_the_last_start),
        TEST(different_tasks_of_a_gang_are_placed_where_any_order_would_do),
        TEST(what_waits_keeps_its_start),
        TEST(an_instance_stays_and_is_had_again),
        TEST(an_idle_instance_of_another_profile_is_in_the_way),
        TEST(modes_of_a_node_are_mixed_but_not_those_of_a_gpu),
        TEST(an_idle_instance_is_taken_away_for_who_has_waited_long_enough),
        TEST(what_stays_on_the_device_is_in_the_way_still),
        TEST(a_storm_of_demand_is_no_storm_of_resets),
        TEST(instances_of_others_are_left_alone_and_their_slices_out),
        TEST(an_instance_that_cannot_be_made_is_made_elsewhere),
        TEST(a_job_that_goes_before_gets_the_instance_of_another),
        TEST(what_a_task_really_takes_is_booked),
        TEST(instances_on_each_other_are_a_deficit_until_one_is_gone),
        TEST(a_node_whose_gpus_cannot_be_split_is_refused),
        TEST(a_node_keeps_its_split_gpus_while_tasks_are_on_them),
        TEST(requests_that_make_no_sense_are_refused),
    };

    return RUN_TESTS(tests);
}
