/* SPDX-License-Identifier: Apache-2.0 */
/* Gangs start whole or not at all; layouts in the order that was asked for; who waits, and why. */
#include "core/impl.h"
#include "unit/core_test.h"

static void of_two_gangs_that_want_everything_one_runs_and_the_other_holds_nothing(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_nodes(&bed, 100, 1);
    SUBMIT(&bed, .id = 1, .gpus = 1, .tasks = 100);
    SUBMIT(&bed, .id = 2, .gpus = 1, .tasks = 100);
    bed_step(&bed);
    assert_int_equal(bed_find(&bed, DECISION_START, 1)->place_count, 100);
    assert_int_equal(bed_count(&bed, DECISION_START), 1);
    assert_int_equal(bed_job(&bed, 2)->task_first, ROW_NONE);
    for (uint32_t i = 0; i < 100; i++)
        apply(&bed, exited(1, i, 0));
    bed_step(&bed);
    assert_int_equal(bed_find(&bed, DECISION_START, 2)->place_count, 100);
    bed_close(&bed);
}

static void groups_of_a_gang_start_together(void **state)
{
    static const struct ask two[] = {{.gpus = 2}, {.gpus = 2, .cpu_mcpu = 1}};
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 4);
    bed_submit_groups(&bed, 1, two, 2);
    bed_submit_groups(&bed, 2, two, 2);
    bed_step(&bed);
    assert_starts(&bed, 1, 0, "n0", 12); /* the second group is larger, so it goes first */
    assert_starts(&bed, 1, 1, "n0", 3);
    assert_int_equal(bed_state(&bed, 2), JOB_PENDING);
    assert_int_equal(bed_job(&bed, 2)->task_first, ROW_NONE);
    bed_close(&bed);
}

static void a_small_task_does_not_block_the_large_one_of_its_gang(void **state)
{
    static const struct ask both[] = {{.gpus = 1}, {.gpus = 4}};
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_empty, &in_turn);
    bed_node(&bed, "n0", 4);
    bed_node(&bed, "n1", 1);
    bed_submit_groups(&bed, 1, both, 2);
    bed_step(&bed);
    assert_starts(&bed, 1, 0, "n1", 1);
    assert_starts(&bed, 1, 1, "n0", 15);
    bed_close(&bed);
}

/* Larger tasks first is not enough: the larger one prefers the only node of the smaller. */
static void a_gang_whose_first_choice_blocks_itself_is_placed_otherwise(void **state)
{
    static const struct ask both[] = {{.gpus = 1, .cpu_mcpu = 1}, {.gpus = 1, .label = "a=1"}};
    static const char *const labels[] = {"a=1"};
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_apply(&bed, &(struct event){.type = EVENT_NODE_UPSERTED,
                                    .node = {.name = "n0",
                                             .model = "A100",
                                             .gpus = 1,
                                             .cpu_mcpu = 9,
                                             .labels = labels,
                                             .label_count = 1}});
    bed_node(&bed, "n1", 1);
    bed_submit_groups(&bed, 1, both, 2);
    bed_step(&bed);
    assert_starts(&bed, 1, 0, "n1", 1);
    assert_starts(&bed, 1, 1, "n0", 1);
    bed_close(&bed);
}

/* Free 1.0, 0.7, 0.5: only the first and the last GPU leave 0.7 and 0.5 for the other tasks. */
static void a_share_of_two_gpus_takes_the_pair_that_leaves_room(void **state)
{
    static const struct ask gang[] = {
        {.gpus = 2, .mgpu = 500}, {.gpus = 1, .mgpu = 700}, {.gpus = 1, .mgpu = 500}};
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 3);
    SUBMIT(&bed, .id = 1, .gpus = 1, .mgpu = 300);
    SUBMIT(&bed, .id = 2, .gpus = 1, .mgpu = 500);
    bed_step(&bed);
    apply(&bed, started_on(1, 0, "n0", 2));
    apply(&bed, started_on(2, 0, "n0", 4));
    bed_submit_groups(&bed, 3, gang, 3);
    bed_step(&bed);
    assert_starts(&bed, 3, 0, "n0", 5);
    assert_starts(&bed, 3, 1, "n0", 2);
    assert_starts(&bed, 3, 2, "n0", 1);
    bed_close(&bed);
}

/* ---- layouts ---- */

static void submit_layouts(struct bed *bed, uint64_t id, const struct job_layout_spec *layouts,
                           uint32_t count)
{
    bed_apply(bed, &(struct event){.type = EVENT_JOB_SUBMITTED,
                                   .job = {.id = id,
                                           .queue = "",
                                           .user = "",
                                           .name = "",
                                           .layouts = layouts,
                                           .layout_count = count,
                                           .remaining_us = -1}});
}

static void the_first_layout_that_fits_is_taken(void **state)
{
    static const struct group_spec one = {.tasks = 1, .gpus = 4}, two = {.tasks = 2, .gpus = 2},
                                   four = {.tasks = 4, .gpus = 1};
    static const struct job_layout_spec layouts[] = {
        {.groups = &one, .group_count = 1, .slowdown_ppm = 1000000},
        {.groups = &two, .group_count = 1, .slowdown_ppm = 1200000},
        {.groups = &four, .group_count = 1, .slowdown_ppm = 1500000}};
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_nodes(&bed, 2, 4);
    submit_layouts(&bed, 1, layouts, 3);
    SUBMIT(&bed, .id = 2, .gpus = 1);
    submit_layouts(&bed, 3, layouts, 3);
    bed_step(&bed);
    assert_int_equal(bed_find(&bed, DECISION_START, 1)->layout, 0);
    assert_int_equal(bed_find(&bed, DECISION_START, 1)->place_count, 1);
    assert_null(bed_find(&bed, DECISION_START, 3)); /* 3 GPUs are left */
    bed_node(&bed, "n2", 1);
    bed_step(&bed);
    assert_int_equal(bed_find(&bed, DECISION_START, 3)->layout, 2);
    assert_int_equal(bed_find(&bed, DECISION_START, 3)->place_count, 4);
    assert_int_equal(bed_job(&bed, 3)->layout, 2);
    bed_run(&bed, 3);
    bed_end(&bed, 3, 0);
    submit_layouts(&bed, 4, layouts, 3);
    bed_node(&bed, "n3", 2);
    bed_step(&bed);
    assert_int_equal(bed_find(&bed, DECISION_START, 4)->layout, 1);
    assert_int_equal(bed_find(&bed, DECISION_START, 4)->place_count, 2);
    bed_close(&bed);
}

static void a_lost_job_comes_back_in_the_best_layout_that_fits_then(void **state)
{
    static const struct group_spec one = {.tasks = 1, .gpus = 2}, two = {.tasks = 2, .gpus = 1};
    static const struct job_layout_spec layouts[] = {
        {.groups = &one, .group_count = 1, .slowdown_ppm = 1000000},
        {.groups = &two, .group_count = 1, .slowdown_ppm = 1200000}};
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_nodes(&bed, 2, 1);
    submit_layouts(&bed, 1, layouts, 2);
    bed_step(&bed);
    assert_int_equal(bed_find(&bed, DECISION_START, 1)->layout, 1);
    bed_run(&bed, 1);
    bed_node(&bed, "big", 2);
    apply(&bed, lost(1, 0));
    apply(&bed, lost(1, 1));
    bed_step(&bed);
    assert_int_equal(bed_find(&bed, DECISION_START, 1)->layout, 0);
    assert_starts(&bed, 1, 0, "big", 3);
    bed_close(&bed);
}

static void tasks_that_stay_apart_go_to_a_node_each(void **state)
{
    static const struct group_spec group = {.tasks = 3, .gpus = 1};
    static const struct job_layout_spec apart = {
        .groups = &group, .group_count = 1, .slowdown_ppm = 1000000, .apart = 1};
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_full, &in_turn);
    bed_nodes(&bed, 3, 8);
    for (uint32_t gpu = 0; gpu < 8; gpu++)
        bed_apply(&bed, &(struct event[]){health("n2", gpu, GPU_LOST)}[0]);
    submit_layouts(&bed, 1, &apart, 1);
    bed_step(&bed);
    assert_int_equal(bed_reason(&bed, 1), REASON_GANG);
    assert_int_equal(bed.core->index.whole_free, 16);
    for (uint32_t gpu = 0; gpu < 8; gpu++)
        bed_apply(&bed, &(struct event[]){health("n2", gpu, GPU_HEALTHY)}[0]);
    bed_step(&bed);
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t k = 0; k < i; k++)
            assert_int_not_equal(bed_place(&bed, 1, i)->node, bed_place(&bed, 1, k)->node);
    SUBMIT(&bed, .id = 2, .gpus = 7, .tasks = 3); /* the nodes are as open to others as ever */
    bed_step(&bed);
    assert_int_equal(bed_find(&bed, DECISION_START, 2)->place_count, 3);
    bed_close(&bed);
}

/* ---- the order ---- */

static void equal_jobs_start_in_the_order_of_submission(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 1);
    for (uint64_t id = 9; id >= 5; id--)
        SUBMIT(&bed, .id = id, .gpus = 1, .cpu_mcpu = (int64_t)id % 2);
    for (uint64_t id = 9; id >= 5; id--) {
        bed_step(&bed);
        assert_int_equal(bed_count(&bed, DECISION_START), 1);
        assert_starts(&bed, id, 0, "n0", 1);
        bed_end(&bed, id, 0);
    }
    bed_close(&bed);
}

static void a_small_job_passes_a_large_one_unless_the_order_blocks(void **state)
{
    struct bed bed;

    (void)state;
    for (int blocks = 0; blocks <= 1; blocks++) {
        bed_open(&bed, &place_first, blocks ? &in_strict_turn : &in_turn);
        bed_node(&bed, "n0", 3);
        SUBMIT(&bed, .id = 1, .gpus = 1);
        SUBMIT(&bed, .id = 2, .gpus = 3);
        SUBMIT(&bed, .id = 3, .gpus = 1, .cpu_mcpu = 1);
        bed_step(&bed);
        assert_non_null(bed_find(&bed, DECISION_START, 1));
        assert_int_equal(bed_reason(&bed, 2), REASON_ROOM);
        assert_int_equal(bed_reason(&bed, 3), blocks ? REASON_ORDER : REASON_NONE);
        bed_close(&bed);
    }
}

static void a_job_that_was_held_back_says_so_only_while_it_is(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_strict_turn);
    bed_node(&bed, "n0", 3);
    SUBMIT(&bed, .id = 1, .gpus = 1, .queue = "0");
    SUBMIT(&bed, .id = 2, .gpus = 3, .queue = "5");
    bed_step(&bed);
    assert_int_equal(bed_reason(&bed, 2), REASON_ROOM);
    SUBMIT(&bed, .id = 3, .gpus = 3, .cpu_mcpu = 1, .queue = "1");
    bed_step(&bed);
    assert_int_equal(bed_reason(&bed, 2), REASON_ORDER);
    apply(&bed, cancelled(3));
    bed_step(&bed);
    assert_int_equal(bed_reason(&bed, 2), REASON_ROOM);
    bed_close(&bed);
}

/* ---- why a job waits ---- */

static void every_waiting_job_has_the_reason_of_the_last_step(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_nodes(&bed, 2, 2);
    SUBMIT(&bed, .id = 1, .gpus = 1, .tasks = 3);
    SUBMIT(&bed, .id = 2, .gpus = 2);
    SUBMIT(&bed, .id = 3, .gpus = 1, .tasks = 2);
    assert_int_equal(bed_reason(&bed, 1), REASON_NEW);
    bed_step(&bed);
    assert_int_equal(bed_reason(&bed, 1), REASON_NONE);
    assert_int_equal(bed_reason(&bed, 2), REASON_ROOM);
    assert_int_equal(bed_reason(&bed, 3), REASON_GANG); /* one GPU is free, two are asked for */
    SUBMIT(&bed, .id = 4, .gpus = 1, .mgpu = 600, .tasks = 2);
    bed_step(&bed);
    assert_int_equal(bed_reason(&bed, 4), REASON_GANG);
    SUBMIT(&bed, .id = 5, .gpus = 2);
    assert_int_not_equal(bed_reason(&bed, 5), REASON_NONE);
    bed_close(&bed);
}

static void a_job_for_which_all_nodes_would_not_do_is_rejected(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    SUBMIT(&bed, .id = 9, .gpus = 1); /* without any node there may be some later */
    bed_step(&bed);
    assert_int_equal(bed_state(&bed, 9), JOB_PENDING);
    bed_nodes(&bed, 2, 2);
    SUBMIT(&bed, .id = 1, .gpus = 3);
    SUBMIT(&bed, .id = 2, .gpus = 1, .model = "V100");
    SUBMIT(&bed, .id = 3, .gpus = 1, .tasks = 5); /* together, though each fits */
    SUBMIT(&bed, .id = 4, .gpus = 1, .mgpu = 500, .tasks = 9);
    SUBMIT(&bed, .id = 5, .gpus = 1, .mgpu = 500, .tasks = 8);
    assert_int_equal(bed_state(&bed, 1), JOB_PENDING);
    bed_step(&bed);
    for (uint64_t id = 1; id <= 4; id++)
        assert_int_equal(bed_find(&bed, DECISION_REJECT, id)->reason, REASON_NEVER);
    assert_int_equal(bed_state(&bed, 5), JOB_PENDING); /* job 9 uses a part of what it needs */
    assert_int_not_equal(bed_reason(&bed, 5), REASON_NEVER);
    bed_close(&bed);
}

static void a_job_whose_nodes_have_gone_waits_and_says_never(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 2);
    bed_node(&bed, "n1", 4);
    SUBMIT(&bed, .id = 1, .gpus = 2);
    SUBMIT(&bed, .id = 2, .gpus = 2);
    bed_step(&bed);
    SUBMIT(&bed, .id = 3, .gpus = 3);
    bed_apply(&bed, &(struct event[]){removed("n1")}[0]);
    bed_step(&bed);
    assert_int_equal(bed_reason(&bed, 3), REASON_NEVER);
    bed_node(&bed, "n9", 8);
    bed_step(&bed);
    assert_non_null(bed_find(&bed, DECISION_START, 3));
    bed_close(&bed);
}

static void a_note_tells_each_change_of_a_reason_once(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_nodes(&bed, 2, 2);
    SUBMIT(&bed, .id = 1, .gpus = 1, .tasks = 4);
    SUBMIT(&bed, .id = 2, .gpus = 1, .mgpu = 600, .tasks = 3);
    bed_step(&bed);
    assert_int_equal(bed_count(&bed, DECISION_NOTE), 1);
    assert_int_equal(bed_find(&bed, DECISION_NOTE, 2)->reason, REASON_ROOM);
    assert_int_equal(bed_step(&bed), 0);
    bed_run(&bed, 1);
    apply(&bed, exited(1, 0, 0));
    bed_step(&bed);
    assert_int_equal(bed.out.count, 1);
    assert_int_equal(bed_find(&bed, DECISION_NOTE, 2)->reason, REASON_GANG);
    assert_int_equal(bed_step(&bed), 0);
    bed_close(&bed);
}

/* ---- what the policies hear ---- */

static uint32_t arrived_tasks, left_tasks;

static void count_arrived(void *state, const struct core *core, uint32_t shape, uint32_t tasks)
{
    (void)state;
    assert_true(shape < core_shape_count(core));
    arrived_tasks += tasks;
}

static void count_left(void *state, const struct core *core, uint32_t shape)
{
    (void)state;
    assert_true(shape < core_shape_count(core));
    left_tasks++;
}

static void a_placement_policy_hears_who_arrives_and_who_leaves_for_good(void **state)
{
    struct placement_policy policy = place_first;
    struct bed bed;

    (void)state;
    policy.arrived = count_arrived;
    policy.left = count_left;
    arrived_tasks = left_tasks = 0;
    bed_open(&bed, &policy, &by_queue);
    bed_node(&bed, "n0", 2);
    SUBMIT(&bed, .id = 1, .gpus = 1, .tasks = 2, .queue = "5");
    SUBMIT(&bed, .id = 2, .gpus = 99 / 2, .tasks = 7, .queue = "9"); /* fits nowhere */
    assert_int_equal(arrived_tasks, 9);
    bed_step(&bed);
    bed_run(&bed, 1);
    SUBMIT(&bed, .id = 3, .gpus = 1, .queue = "1");
    bed_step(&bed);
    bed_end(&bed, 1, 143); /* preempted: it comes back */
    assert_int_equal(left_tasks, 0);
    bed_step(&bed);
    bed_run(&bed, 3);
    bed_end(&bed, 3, 0);
    assert_int_equal(left_tasks, 1);
    bed_step(&bed);
    bed_run(&bed, 1);
    bed_end(&bed, 1, 0);
    assert_int_equal(left_tasks, 3);
    assert_int_equal(bed_state(&bed, 2), JOB_FREE); /* rejected */
    assert_int_equal(left_tasks, 3);                /* it never ran */
    assert_int_equal(arrived_tasks, 10);
    bed_close(&bed);
}

static void an_order_hears_every_step(void **state)
{
    const struct heard *heard;
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    heard = bed.core->orderers[0].state;
    bed_step(&bed);
    bed_step(&bed);
    assert_int_equal(heard->steps, 2);
    assert_int_equal(heard->stepped, 2);
    bed_close(&bed);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(of_two_gangs_that_want_everything_one_runs_and_the_other_holds_nothing),
        TEST(groups_of_a_gang_start_together),
        TEST(a_small_task_does_not_block_the_large_one_of_its_gang),
        TEST(a_gang_whose_first_choice_blocks_itself_is_placed_otherwise),
        TEST(a_share_of_two_gpus_takes_the_pair_that_leaves_room),
        TEST(the_first_layout_that_fits_is_taken),
        TEST(a_lost_job_comes_back_in_the_best_layout_that_fits_then),
        TEST(tasks_that_stay_apart_go_to_a_node_each),
        TEST(equal_jobs_start_in_the_order_of_submission),
        TEST(a_small_job_passes_a_large_one_unless_the_order_blocks),
        TEST(a_job_that_was_held_back_says_so_only_while_it_is),
        TEST(every_waiting_job_has_the_reason_of_the_last_step),
        TEST(a_job_for_which_all_nodes_would_not_do_is_rejected),
        TEST(a_job_whose_nodes_have_gone_waits_and_says_never),
        TEST(a_note_tells_each_change_of_a_reason_once),
        TEST(a_placement_policy_hears_who_arrives_and_who_leaves_for_good),
        TEST(an_order_hears_every_step),
    };

    return RUN_TESTS(tests);
}
