/* SPDX-License-Identifier: Apache-2.0 */
/* What is judged, and how often: the counts that make a step cheap on a large cluster. */
#include "core/impl.h"
#include "unit/core_test.h"

enum { NODES = 10000 };

/* 10,000 nodes of 8 GPUs, of which `used` on each are taken. */
static void open_cluster(struct bed *bed, uint32_t used)
{
    const struct group_spec group = {.tasks = 1, .gpus = used};
    const struct job_layout_spec layout = {
        .groups = &group, .group_count = 1, .slowdown_ppm = 1000000};

    bed_open(bed, &place_full, &in_turn);
    for (uint32_t i = 0; i < NODES; i++) {
        char name[16];
        const struct event event = {
            .type = EVENT_NODE_UPSERTED,
            .node = {.name = name, .model = "A100", .gpus = 8, .cpu_mcpu = 64000}};

        snprintf(name, sizeof name, "n%u", i);
        assert_int_equal(core_apply(bed->core, &event, &bed->err), 0);
    }
    for (uint64_t id = 1; used > 0 && id <= NODES; id++) {
        const struct event event = {.type = EVENT_JOB_SUBMITTED,
                                    .job = {.id = id,
                                            .queue = "",
                                            .user = "",
                                            .name = "",
                                            .layouts = &layout,
                                            .layout_count = 1,
                                            .remaining_us = -1}};

        assert_int_equal(core_apply(bed->core, &event, &bed->err), 0);
    }
    core_step(bed->core, 0, &bed->out);
    assert_int_equal(bed->out.count, used > 0 ? NODES : 0);
}

static uint64_t calls_of_step(struct bed *bed)
{
    score_calls = 0;
    core_step(bed->core, core_now_us(bed->core), &bed->out);
    return score_calls;
}

static void eighty_gpus_on_a_full_cluster_are_refused_without_judging(void **state)
{
    struct bed bed;

    (void)state;
    open_cluster(&bed, 8);
    SUBMIT(&bed, .id = 20000, .gpus = 8, .tasks = 10);
    assert_int_equal(calls_of_step(&bed), 0);
    assert_int_equal(bed_reason(&bed, 20000), REASON_ROOM);
    bed_close(&bed);
}

static void eighty_gpus_where_each_node_has_one_left_are_refused_without_judging(void **state)
{
    struct bed bed;

    (void)state;
    open_cluster(&bed, 7);
    SUBMIT(&bed, .id = 20000, .gpus = 8, .tasks = 10);
    SUBMIT(&bed, .id = 20001, .gpus = 8, .mgpu = 500, .tasks = 10);
    assert_int_equal(calls_of_step(&bed), 0);
    assert_int_equal(bed_count(&bed, DECISION_START), 0);
    bed_close(&bed);
}

static void nodes_in_one_state_are_judged_once(void **state)
{
    struct bed bed;

    (void)state;
    open_cluster(&bed, 0);
    assert_int_equal(core_state_count(bed.core), 1);
    SUBMIT(&bed, .id = 20000, .gpus = 1);
    assert_true(calls_of_step(&bed) <= 2);
    assert_non_null(bed_find(&bed, DECISION_START, 20000));
    SUBMIT(&bed, .id = 20001, .gpus = 1);
    assert_true(calls_of_step(&bed) <= 4); /* the state that is new, and the one that changed */
    assert_int_equal(bed_place(&bed, 20001, 0)->node, 0);
    bed_close(&bed);
}

static void a_gang_of_eighty_is_placed_with_a_few_judgements_a_task(void **state)
{
    struct bed bed;

    (void)state;
    open_cluster(&bed, 0);
    SUBMIT(&bed, .id = 20000, .gpus = 1, .tasks = 80);
    assert_true(calls_of_step(&bed) <= 3 * 80);
    assert_int_equal(bed_find(&bed, DECISION_START, 20000)->place_count, 80);
    bed_close(&bed);
}

static void hopeless_jobs_of_one_shape_cost_one_test(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_full, &in_turn);
    bed_nodes(&bed, 4, 1);
    SUBMIT(&bed, .id = 1, .gpus = 1, .mgpu = 600, .tasks = 4);
    bed_step(&bed);
    for (uint64_t id = 2; id < 300; id++)
        SUBMIT(&bed, .id = id, .gpus = 1, .mgpu = 300, .tasks = 5); /* four fit: judged, undone */
    assert_true(calls_of_step(&bed) <= 20);
    assert_int_equal(bed_reason(&bed, 299), REASON_GANG);
    assert_int_equal(calls_of_step(&bed), 0); /* nothing got free */
    SUBMIT(&bed, .id = 300, .cpu_mcpu = 1);
    assert_true(calls_of_step(&bed) <= 8);
    assert_non_null(bed_find(&bed, DECISION_START, 300));
    bed_close(&bed);
}

static void ten_thousand_hopeless_jobs_do_not_hold_back_one_that_fits(void **state)
{
    const struct group_spec group = {.tasks = 1, .gpus = 1};
    const struct job_layout_spec layout = {
        .groups = &group, .group_count = 1, .slowdown_ppm = 1000000};
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_full, &in_turn);
    bed_nodes(&bed, 1, 1);
    for (uint64_t id = 1; id <= 10001; id++)
        assert_int_equal(core_apply(bed.core,
                                    &(struct event){.type = EVENT_JOB_SUBMITTED,
                                                    .job = {.id = id,
                                                            .queue = "",
                                                            .user = "",
                                                            .name = "",
                                                            .layouts = &layout,
                                                            .layout_count = 1,
                                                            .remaining_us = -1}},
                                    NULL),
                         0);
    assert_true(calls_of_step(&bed) <= 2);
    assert_non_null(bed_find(&bed, DECISION_START, 1));
    assert_int_equal(bed_count(&bed, DECISION_NOTE), 1);
    SUBMIT(&bed, .id = 20000, .cpu_mcpu = 100);
    assert_true(calls_of_step(&bed) <= 2);
    assert_non_null(bed_find(&bed, DECISION_START, 20000));
    bed_close(&bed);
}

static void freeing_one_node_judges_what_changed_only(void **state)
{
    struct bed bed;

    (void)state;
    open_cluster(&bed, 8);
    for (uint64_t id = 20000; id < 20050; id++)
        SUBMIT(&bed, .id = id, .gpus = 4);
    calls_of_step(&bed);
    assert_int_equal(core_apply(bed.core, &(struct event[]){exited(5000, 0, 0)}[0], NULL), 0);
    assert_true(calls_of_step(&bed) <= 4);
    assert_int_equal(bed_count(&bed, DECISION_START), 2);
    assert_int_equal(bed_place(&bed, 20000, 0)->node, bed_place(&bed, 20001, 0)->node);
    bed_close(&bed);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(eighty_gpus_on_a_full_cluster_are_refused_without_judging),
        TEST(eighty_gpus_where_each_node_has_one_left_are_refused_without_judging),
        TEST(nodes_in_one_state_are_judged_once),
        TEST(a_gang_of_eighty_is_placed_with_a_few_judgements_a_task),
        TEST(hopeless_jobs_of_one_shape_cost_one_test),
        TEST(ten_thousand_hopeless_jobs_do_not_hold_back_one_that_fits),
        TEST(freeing_one_node_judges_what_changed_only),
    };

    return RUN_TESTS(tests);
}
