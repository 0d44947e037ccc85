/* SPDX-License-Identifier: Apache-2.0 */
/* Packing all jobs anew at each step: who goes on, who stops, who moves to a faster layout. */
#include "core/impl.h"
#include "unit/core_test.h"

static const struct group_spec one = {.tasks = 1, .gpus = 2}, two = {.tasks = 2, .gpus = 1};
static const struct job_layout_spec layouts[] = {
    {.groups = &one, .group_count = 1, .slowdown_ppm = 1000000},
    {.groups = &two, .group_count = 1, .slowdown_ppm = 1500000}};

static void open_repacked(struct bed *bed, enum repack repack, uint32_t gain_ppm)
{
    bed_open_with(bed, &(struct core_config){.placement = &place_first,
                                             .order = &by_queue,
                                             .repack = repack,
                                             .migrate_wait_us = 3000000,
                                             .migrate_gain_ppm = gain_ppm});
}

static void submit_layouts(struct bed *bed, uint64_t id, const char *queue,
                           const struct job_layout_spec *two_layouts)
{
    bed_apply(bed, &(struct event){.type = EVENT_JOB_SUBMITTED,
                                   .job = {.id = id,
                                           .queue = queue,
                                           .user = "",
                                           .name = "",
                                           .layouts = two_layouts,
                                           .layout_count = 2,
                                           .remaining_us = -1}});
}

static void a_job_that_is_packed_where_it_runs_goes_on(void **state)
{
    struct bed bed;

    (void)state;
    open_repacked(&bed, REPACK_ANEW, 0);
    bed_nodes(&bed, 2, 2);
    SUBMIT(&bed, .id = 1, .gpus = 2, .queue = "1");
    bed_step(&bed);
    bed_run(&bed, 1);
    SUBMIT(&bed, .id = 2, .gpus = 2, .queue = "2");
    bed_step(&bed);
    assert_int_equal(bed_count(&bed, DECISION_STOP), 0);
    assert_starts(&bed, 2, 0, "n1", 3);
    bed_close(&bed);
}

static void a_job_with_a_smaller_key_takes_the_place_when_it_is_really_free(void **state)
{
    struct bed bed;

    (void)state;
    open_repacked(&bed, REPACK_ANEW, 0);
    bed_nodes(&bed, 2, 2);
    SUBMIT(&bed, .id = 1, .gpus = 2, .queue = "5");
    bed_step(&bed);
    bed_run(&bed, 1);
    SUBMIT(&bed, .id = 2, .gpus = 2, .queue = "1");
    bed_step(&bed);
    assert_non_null(bed_find(&bed, DECISION_STOP, 1));
    assert_int_equal(bed_count(&bed, DECISION_START), 0);
    bed_end(&bed, 1, 143);
    bed_step(&bed);
    assert_starts(&bed, 2, 0, "n0", 3);
    assert_starts(&bed, 1, 0, "n1", 3);
    bed_close(&bed);
}

static void a_job_on_other_gpus_of_its_node_than_it_is_packed_on_moves(void **state)
{
    struct bed bed;

    (void)state;
    open_repacked(&bed, REPACK_ANEW, 0);
    bed_node(&bed, "n0", 2);
    SUBMIT(&bed, .id = 1, .gpus = 1, .queue = "1");
    bed_step(&bed);
    apply(&bed, started_on(1, 0, "n0", 2));
    bed_step(&bed);
    assert_non_null(bed_find(&bed, DECISION_STOP, 1));
    bed_close(&bed);
}

static void who_is_kept_stays_where_it_is(void **state)
{
    struct bed bed;

    (void)state;
    open_repacked(&bed, REPACK_KEEP, 0);
    bed_nodes(&bed, 2, 2);
    SUBMIT(&bed, .id = 1, .gpus = 2, .queue = "5");
    bed_step(&bed);
    bed_run(&bed, 1);
    SUBMIT(&bed, .id = 2, .gpus = 2, .queue = "1");
    bed_step(&bed);
    assert_int_equal(bed_count(&bed, DECISION_STOP), 0);
    assert_starts(&bed, 2, 0, "n1", 3);
    bed_run(&bed, 2);
    SUBMIT(&bed, .id = 3, .gpus = 2, .queue = "3"); /* two of the three, by key */
    bed_step(&bed);
    assert_int_equal(bed_count(&bed, DECISION_STOP), 1);
    assert_non_null(bed_find(&bed, DECISION_STOP, 1));
    bed_close(&bed);
}

/* Runs job 1 in the slower layout, and then makes room for the faster one. */
static void run_slowly(struct bed *bed, uint32_t gain_ppm)
{
    open_repacked(bed, REPACK_KEEP, gain_ppm);
    bed_nodes(bed, 2, 1);
    submit_layouts(bed, 1, "1", layouts);
    bed_step(bed);
    assert_int_equal(bed_find(bed, DECISION_START, 1)->layout, 1);
    bed_run(bed, 1);
    bed_node(bed, "big", 2);
}

static void a_job_moves_to_a_faster_layout_once_it_has_run_long_enough(void **state)
{
    struct bed bed;

    (void)state;
    run_slowly(&bed, 300000);
    bed_step(&bed);
    assert_int_equal(bed_count(&bed, DECISION_STOP), 0);
    bed_step(&bed);
    assert_int_equal(bed_count(&bed, DECISION_STOP), 0);
    bed_step(&bed);
    assert_non_null(bed_find(&bed, DECISION_STOP, 1));
    assert_true(bed_job(&bed, 1)->moving);
    bed_step(&bed);
    assert_int_equal(bed_count(&bed, DECISION_START), 0);
    bed_end(&bed, 1, 143);
    SUBMIT(&bed, .id = 2, .gpus = 2, .queue = "0"); /* comes too late for the room */
    bed_step(&bed);
    assert_int_equal(bed_find(&bed, DECISION_START, 1)->layout, 0);
    assert_starts(&bed, 1, 0, "big", 3);
    assert_false(bed_job(&bed, 1)->moving);
    assert_null(bed_find(&bed, DECISION_START, 2));
    assert_int_equal(bed.core->claimant_count, 0);
    bed_close(&bed);
}

static void a_job_does_not_move_for_too_little(void **state)
{
    struct bed bed;

    (void)state;
    run_slowly(&bed, 400000); /* it would be a third faster */
    for (int i = 0; i < 8; i++) {
        bed_step(&bed);
        assert_int_equal(bed_count(&bed, DECISION_STOP), 0);
    }
    bed_close(&bed);
    run_slowly(&bed, 0);
    for (int i = 0; i < 8; i++) {
        bed_step(&bed);
        assert_int_equal(bed_count(&bed, DECISION_STOP), 0);
    }
    bed_close(&bed);
}

static void a_mover_that_is_cancelled_is_gone(void **state)
{
    struct bed bed;

    (void)state;
    run_slowly(&bed, 300000);
    for (int i = 0; i < 3; i++)
        bed_step(&bed);
    assert_int_equal(bed_state(&bed, 1), JOB_STOPPING);
    apply(&bed, cancelled(1));
    bed_end(&bed, 1, 143);
    assert_int_equal(bed_state(&bed, 1), JOB_FREE);
    assert_int_equal(bed.core->claimant_count, 0);
    bed_step(&bed);
    assert_int_equal(bed.out.count, 0);
    bed_close(&bed);
}

/* It runs on the GPUs that its other layout would take, but holds more of them. */
static void a_job_in_another_layout_on_the_same_gpu_does_not_go_on(void **state)
{
    static const struct group_spec part = {
        .tasks = 1, .gpus = 1, .gpu_mgpu = 300, .cpu_mcpu = 50000};
    static const struct group_spec all = {.tasks = 1, .gpus = 1};
    static const struct job_layout_spec either[] = {
        {.groups = &part, .group_count = 1, .slowdown_ppm = 1000000},
        {.groups = &all, .group_count = 1, .slowdown_ppm = 1000000}};
    struct bed bed;

    (void)state;
    open_repacked(&bed, REPACK_ANEW, 0);
    bed_nodes(&bed, 1, 1);
    SUBMIT(&bed, .id = 1, .cpu_mcpu = 100000, .queue = "0");
    bed_step(&bed);
    bed_run(&bed, 1);
    submit_layouts(&bed, 2, "1", either);
    bed_step(&bed);
    bed_run(&bed, 2);
    assert_int_equal(bed_job(&bed, 2)->layout, 1);
    bed_end(&bed, 1, 0);
    SUBMIT(&bed, .id = 3, .gpus = 1, .mgpu = 700, .queue = "2");
    bed_step(&bed); /* checks the rules: together they hold the GPU once */
    assert_int_equal(bed_count(&bed, DECISION_STOP), 1);
    assert_int_equal(bed_count(&bed, DECISION_START), 0);
    bed_close(&bed);
}

static void a_repack_that_is_unknown_is_refused(void **state)
{
    const struct core_config bad[] = {
        {.placement = &place_first, .order = &by_queue, .repack = REPACK_COUNT},
        {.placement = &place_first, .order = &by_queue, .migrate_wait_us = -1}};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct err err = {""};

        assert_null(core_new(&bad[i], &err));
        assert_true(err.text[0] != '\0');
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(a_job_that_is_packed_where_it_runs_goes_on),
        TEST(a_job_with_a_smaller_key_takes_the_place_when_it_is_really_free),
        TEST(a_job_on_other_gpus_of_its_node_than_it_is_packed_on_moves),
        TEST(who_is_kept_stays_where_it_is),
        TEST(a_job_moves_to_a_faster_layout_once_it_has_run_long_enough),
        TEST(a_job_does_not_move_for_too_little),
        TEST(a_mover_that_is_cancelled_is_gone),
        TEST(a_job_in_another_layout_on_the_same_gpu_does_not_go_on),
        TEST(a_repack_that_is_unknown_is_refused),
    };

    return RUN_TESTS(tests);
}
