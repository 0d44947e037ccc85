/* SPDX-License-Identifier: Apache-2.0 */
/* Who gives way to whom: no more than needed, nothing in vain, and freed room is not stolen. */
#include "core/impl.h"
#include "unit/core_test.h"

/* Submits, steps, and says of every task that it has started. */
static void run_now(struct bed *bed, const struct ask *ask)
{
    bed_submit(bed, ask);
    bed_step(bed);
    assert_non_null(bed_find(bed, DECISION_START, ask->id));
    bed_run(bed, ask->id);
}
#define RUN(bed, ...) run_now(bed, &(struct ask){__VA_ARGS__})

/* FAULTS 1. The first victim leaves early; neither it nor anybody else takes its room. */
static void freed_room_is_kept_for_whom_it_was_freed(void **state)
{
    struct bed bed;
    uint32_t stops = 0;

    (void)state;
    bed_open(&bed, &place_first, &by_queue);
    bed_node(&bed, "n0", 8);
    RUN(&bed, .id = 1, .gpus = 4, .queue = "9");
    RUN(&bed, .id = 2, .gpus = 4, .queue = "9");
    SUBMIT(&bed, .id = 3, .gpus = 8, .queue = "1");
    bed_step(&bed);
    stops += bed_count(&bed, DECISION_STOP);
    assert_int_equal(stops, 2);
    assert_int_equal(bed_reason(&bed, 3), REASON_VICTIMS);
    bed_end(&bed, 1, 143);
    assert_int_equal(bed_state(&bed, 1), JOB_PENDING);
    SUBMIT(&bed, .id = 4, .gpus = 1, .queue = "5");
    SUBMIT(&bed, .id = 5, .gpus = 4, .queue = "0"); /* more urgent, but later */
    for (int i = 0; i < 60; i++) {
        bed_step(&bed);
        stops += bed_count(&bed, DECISION_STOP);
        assert_int_equal(bed_count(&bed, DECISION_START), 0);
    }
    assert_int_equal(stops, 2);
    bed_end(&bed, 2, 143);
    bed_step(&bed);
    assert_starts(&bed, 3, 0, "n0", 0xff);
    assert_int_equal(bed_count(&bed, DECISION_START), 1);
    bed_close(&bed);
}

static void a_claim_is_given_up_when_its_job_is_cancelled(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &by_queue);
    bed_node(&bed, "n0", 8);
    RUN(&bed, .id = 1, .gpus = 4, .queue = "9");
    RUN(&bed, .id = 2, .gpus = 4, .queue = "9");
    SUBMIT(&bed, .id = 3, .gpus = 8, .queue = "1");
    bed_step(&bed);
    bed_end(&bed, 1, 143);
    apply(&bed, cancelled(3));
    bed_step(&bed);
    assert_starts(&bed, 1, 0, "n0", 0xf);
    bed_end(&bed, 2, 143);
    bed_step(&bed);
    assert_starts(&bed, 2, 0, "n0", 0xf0);
    bed_close(&bed);
}

static void a_claim_ends_with_its_node_and_the_job_finds_room_elsewhere(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &by_queue);
    bed_nodes(&bed, 2, 4);
    RUN(&bed, .id = 1, .gpus = 4, .queue = "9");
    RUN(&bed, .id = 2, .gpus = 4, .queue = "8");
    SUBMIT(&bed, .id = 3, .gpus = 4, .queue = "1");
    bed_step(&bed);
    assert_non_null(bed_find(&bed, DECISION_STOP, 1));
    apply(&bed, removed("n0"));
    assert_int_equal(bed_state(&bed, 1), JOB_PENDING);
    bed_step(&bed);
    assert_non_null(bed_find(&bed, DECISION_STOP, 2));
    bed_end(&bed, 2, 143);
    bed_step(&bed);
    assert_starts(&bed, 3, 0, "n1", 0xf);
    bed_close(&bed);
}

static void a_claim_on_a_gpu_that_is_lost_does_not_hold_its_job(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &by_queue);
    bed_node(&bed, "n0", 1);
    RUN(&bed, .id = 1, .gpus = 1, .queue = "9");
    SUBMIT(&bed, .id = 2, .gpus = 1, .queue = "1");
    bed_step(&bed);
    apply(&bed, health("n0", 0, GPU_LOST));
    bed_node(&bed, "n1", 1);
    apply(&bed, lost(1, 0));
    bed_step(&bed);
    assert_starts(&bed, 2, 0, "n1", 1);
    bed_close(&bed);
}

/* A claim is a plan, and a plan does not stop the owner of a node from changing it. */
static void a_claim_does_not_stop_a_node_from_shrinking(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &by_queue);
    bed_nodes(&bed, 1, 2);
    RUN(&bed, .id = 1, .gpus = 1, .queue = "9");
    SUBMIT(&bed, .id = 2, .gpus = 2, .queue = "1");
    bed_step(&bed);
    assert_non_null(bed_find(&bed, DECISION_STOP, 1));
    bed_node(&bed, "n0", 1); /* GPU 1 is claimed, but nobody uses it */
    assert_int_equal(bed_job(&bed, 2)->task_first, ROW_NONE);
    assert_int_equal(bed.core->nodes.gpus[1].held_mgpu, 0);
    bed_end(&bed, 1, 143);
    bed_step(&bed);
    assert_int_equal(bed_state(&bed, 2), JOB_PENDING);
    assert_starts(&bed, 1, 0, "n0", 1);
    bed_close(&bed);
}

/* FAULTS 2. */
static void no_more_jobs_give_way_than_needed(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &by_queue);
    bed_node(&bed, "n0", 11);
    for (uint64_t id = 1; id <= 11; id++)
        RUN(&bed, .id = id, .gpus = 1, .queue = "9");
    SUBMIT(&bed, .id = 20, .gpus = 1, .queue = "1");
    bed_step(&bed);
    assert_int_equal(bed_count(&bed, DECISION_STOP), 1);
    assert_non_null(bed_find(&bed, DECISION_STOP, 11)); /* the latest of equals */
    bed_step(&bed);
    assert_int_equal(bed_count(&bed, DECISION_STOP), 0);
    bed_close(&bed);
}

/* FAULTS 2, the variant: the worst job is not enough, and then it is not needed. */
static void a_job_that_is_not_needed_after_all_stays(void **state)
{
    (void)state;
    for (int worst = 1; worst <= 2; worst++) {
        struct bed bed;

        bed_open(&bed, &place_first, &by_queue);
        bed_node(&bed, "n0", 5);
        RUN(&bed, .id = 1, .gpus = 1, .queue = worst == 1 ? "9" : "8");
        RUN(&bed, .id = 2, .gpus = 4, .queue = worst == 2 ? "9" : "8");
        SUBMIT(&bed, .id = 3, .gpus = 4, .queue = "1");
        bed_step(&bed);
        assert_non_null(bed_find(&bed, DECISION_STOP, 2));
        assert_null(bed_find(&bed, DECISION_STOP, 1));
        bed_end(&bed, 2, 143);
        bed_step(&bed);
        assert_starts(&bed, 3, 0, "n0", 0x1e);
        assert_int_equal(bed_state(&bed, 1), JOB_RUNNING);
        bed_close(&bed);
    }
}

/* FAULTS 3. */
static void nothing_is_signalled_if_the_gang_cannot_be_placed_afterwards(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &by_queue);
    bed_nodes(&bed, 2, 4);
    RUN(&bed, .id = 1, .gpus = 4, .queue = "9");
    RUN(&bed, .id = 2, .gpus = 4, .queue = "0");
    SUBMIT(&bed, .id = 3, .gpus = 4, .tasks = 2, .queue = "1");
    for (int i = 0; i < 3; i++) {
        bed_step(&bed);
        assert_int_equal(bed_count(&bed, DECISION_STOP), 0);
    }
    assert_int_equal(bed_state(&bed, 3), JOB_PENDING);
    assert_int_equal(bed_job(&bed, 3)->task_first, ROW_NONE);
    assert_int_not_equal(bed_reason(&bed, 3), REASON_VICTIMS);
    bed_close(&bed);
}

static void a_gang_takes_from_several_nodes_at_once(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &by_queue);
    bed_nodes(&bed, 3, 4);
    RUN(&bed, .id = 1, .gpus = 4, .queue = "7");
    RUN(&bed, .id = 2, .gpus = 4, .queue = "8");
    RUN(&bed, .id = 3, .gpus = 2, .queue = "9");
    SUBMIT(&bed, .id = 4, .gpus = 2, .tasks = 3, .queue = "1");
    bed_step(&bed);
    assert_int_equal(bed_count(&bed, DECISION_STOP), 1); /* 2 GPUs free, 4 more; not 2 and 4 */
    assert_null(bed_find(&bed, DECISION_START, 4));
    for (uint64_t id = 1; id <= 3; id++)
        if (bed_state(&bed, id) == JOB_STOPPING)
            bed_end(&bed, id, 143);
    bed_step(&bed);
    assert_int_equal(bed_find(&bed, DECISION_START, 4)->place_count, 3);
    bed_close(&bed);
}

static void a_job_takes_only_from_those_with_a_larger_key(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &by_queue);
    bed_node(&bed, "n0", 2);
    RUN(&bed, .id = 1, .gpus = 1, .queue = "5");
    RUN(&bed, .id = 2, .gpus = 1, .queue = "3");
    SUBMIT(&bed, .id = 3, .gpus = 1, .queue = "5");
    bed_step(&bed);
    assert_int_equal(bed_count(&bed, DECISION_STOP), 0);
    SUBMIT(&bed, .id = 4, .gpus = 1, .queue = "4");
    bed_step(&bed);
    assert_int_equal(bed_count(&bed, DECISION_STOP), 1);
    assert_non_null(bed_find(&bed, DECISION_STOP, 1));
    bed_close(&bed);
}

static void jobs_that_start_are_left_alone(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &by_queue);
    bed_node(&bed, "n0", 1);
    SUBMIT(&bed, .id = 1, .gpus = 1, .queue = "9");
    bed_step(&bed);
    SUBMIT(&bed, .id = 2, .gpus = 1, .queue = "1");
    bed_step(&bed);
    assert_int_equal(bed_count(&bed, DECISION_STOP), 0);
    bed_run(&bed, 1);
    bed_step(&bed);
    assert_non_null(bed_find(&bed, DECISION_STOP, 1));
    bed_close(&bed);
}

static void hysteresis_keeps_near_equals_from_swapping(void **state)
{
    struct order_policy order = by_attained;
    struct bed bed;
    uint32_t stops = 0;

    (void)state;
    order.hysteresis_ppm = 2000000; /* twice as much, or it stays */
    bed_open(&bed, &place_first, &order);
    bed_node(&bed, "n0", 1);
    SUBMIT(&bed, .id = 1, .gpus = 1);
    SUBMIT(&bed, .id = 2, .gpus = 1);
    for (int i = 0; i < 400; i++) {
        bed_step(&bed);
        for (uint64_t id = 1; id <= 2; id++) {
            if (bed_state(&bed, id) == JOB_STOPPING)
                bed_end(&bed, id, 143);
            if (bed_state(&bed, id) == JOB_STARTING)
                bed_run(&bed, id);
        }
        stops += bed_count(&bed, DECISION_STOP);
    }
    assert_in_range(stops, 4, 40); /* each turn at least as long as all before */
    bed_close(&bed);
}

/* A claim books on top of what its victim still holds. What another job would free there has to
 * be more than that before anybody counts on it. */
static void a_claimed_gpu_is_not_counted_as_freed_by_its_other_tenant(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &by_queue);
    bed_node(&bed, "n0", 1);
    RUN(&bed, .id = 1, .gpus = 1, .mgpu = 700, .queue = "9");
    RUN(&bed, .id = 2, .gpus = 1, .mgpu = 300, .queue = "5");
    SUBMIT(&bed, .id = 3, .gpus = 1, .mgpu = 500, .queue = "6");
    bed_step(&bed);
    assert_non_null(bed_find(&bed, DECISION_STOP, 1));
    SUBMIT(&bed, .id = 4, .gpus = 1, .mgpu = 300, .queue = "1");
    bed_step(&bed); /* of what job 1 leaves, 0.5 is claimed and 0.2 is too little: 2 goes too */
    assert_non_null(bed_find(&bed, DECISION_STOP, 2));
    bed_end(&bed, 1, 143);
    bed_step(&bed);
    assert_non_null(bed_find(&bed, DECISION_START, 3));
    bed_close(&bed);
}

static void claimed_cpus_are_not_counted_as_freed(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &by_queue);
    bed_node(&bed, "n0", 2);
    RUN(&bed, .id = 1, .gpus = 1, .cpu_mcpu = 90000, .queue = "9");
    RUN(&bed, .id = 2, .gpus = 1, .cpu_mcpu = 10000, .queue = "5");
    SUBMIT(&bed, .id = 3, .gpus = 1, .cpu_mcpu = 80000, .queue = "6");
    bed_step(&bed);
    assert_non_null(bed_find(&bed, DECISION_STOP, 1));
    SUBMIT(&bed, .id = 4, .gpus = 1, .cpu_mcpu = 5000, .queue = "1");
    bed_step(&bed);
    bed_end(&bed, 1, 143);
    bed_step(&bed);
    assert_non_null(bed_find(&bed, DECISION_START, 3));
    bed_close(&bed);
}

/* Looking for victims takes tasks off on trial; a deficit must survive that. */
static void a_deficit_outlives_a_step_that_only_thinks(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &by_queue);
    bed_node(&bed, "n0", 2);
    RUN(&bed, .id = 1, .gpus = 1, .queue = "9");
    SUBMIT(&bed, .id = 2, .gpus = 1, .queue = "9");
    bed_step(&bed);
    apply(&bed, started_on(2, 0, "n0", 1)); /* both on GPU 0 */
    assert_true(bed.core->nodes.rows[0].deficit);
    SUBMIT(&bed, .id = 3, .gpus = 1, .tasks = 3, .queue = "1");
    bed_step(&bed);
    assert_int_equal(bed_count(&bed, DECISION_STOP), 0);
    assert_true(bed.core->nodes.rows[0].deficit);
    bed_close(&bed);
}

/* Two GPUs are asked for where both running jobs were put on one: stopping them frees one GPU. */
static void a_gpu_used_twice_is_freed_once(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &by_queue);
    bed_node(&bed, "n0", 1);
    bed_node(&bed, "n1", 1);
    RUN(&bed, .id = 1, .gpus = 1, .queue = "8");
    SUBMIT(&bed, .id = 2, .gpus = 1, .queue = "7");
    bed_step(&bed);
    apply(&bed, started_on(2, 0, "n0", 1));
    RUN(&bed, .id = 4, .gpus = 1, .queue = "0");
    SUBMIT(&bed, .id = 3, .gpus = 1, .queue = "1");
    bed_step(&bed); /* both have to go */
    assert_int_equal(bed_count(&bed, DECISION_STOP), 2);
    bed_close(&bed);
}

/* Two tasks that stay apart, and only one node that others would leave: nothing is gained. */
static void tasks_that_stay_apart_do_not_make_one_node_empty_in_vain(void **state)
{
    static const struct group_spec group = {.tasks = 2, .gpus = 1};
    static const struct job_layout_spec apart = {
        .groups = &group, .group_count = 1, .slowdown_ppm = 1000000, .apart = 1};
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &by_queue);
    bed_nodes(&bed, 2, 2);
    RUN(&bed, .id = 1, .gpus = 2, .queue = "9");
    RUN(&bed, .id = 2, .gpus = 2, .queue = "0");
    bed_apply(&bed, &(struct event){.type = EVENT_JOB_SUBMITTED,
                                    .job = {.id = 3,
                                            .queue = "1",
                                            .user = "",
                                            .name = "",
                                            .layouts = &apart,
                                            .layout_count = 1,
                                            .remaining_us = -1}});
    bed_step(&bed);
    assert_int_equal(bed_count(&bed, DECISION_STOP), 0);
    bed_node(&bed, "n2", 1);
    bed_step(&bed); /* now one node is enough */
    assert_int_equal(bed_count(&bed, DECISION_STOP), 1);
    bed_end(&bed, 1, 143);
    bed_step(&bed);
    assert_int_equal(bed_find(&bed, DECISION_START, 3)->place_count, 2);
    bed_close(&bed);
}

/* The worst job is taken off, is not enough, and is put back: the claim is of the one that goes. */
static void a_claim_keeps_no_room_for_jobs_that_stay(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &by_queue);
    bed_node(&bed, "n0", 6);
    RUN(&bed, .id = 1, .gpus = 1, .queue = "9");
    RUN(&bed, .id = 2, .gpus = 4, .queue = "8");
    SUBMIT(&bed, .id = 3, .gpus = 4, .queue = "1");
    bed_step(&bed);
    assert_non_null(bed_find(&bed, DECISION_STOP, 2));
    assert_null(bed_find(&bed, DECISION_STOP, 1));
    assert_int_equal(core_job(bed.core, core_find_job(bed.core, 3))->task_count, 1);
    bed_check(&bed);
    bed_close(&bed);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(freed_room_is_kept_for_whom_it_was_freed),
        TEST(a_claim_is_given_up_when_its_job_is_cancelled),
        TEST(a_claim_ends_with_its_node_and_the_job_finds_room_elsewhere),
        TEST(a_claim_on_a_gpu_that_is_lost_does_not_hold_its_job),
        TEST(a_claim_does_not_stop_a_node_from_shrinking),
        TEST(no_more_jobs_give_way_than_needed),
        TEST(a_job_that_is_not_needed_after_all_stays),
        TEST(nothing_is_signalled_if_the_gang_cannot_be_placed_afterwards),
        TEST(a_gang_takes_from_several_nodes_at_once),
        TEST(a_job_takes_only_from_those_with_a_larger_key),
        TEST(jobs_that_start_are_left_alone),
        TEST(hysteresis_keeps_near_equals_from_swapping),
        TEST(a_claimed_gpu_is_not_counted_as_freed_by_its_other_tenant),
        TEST(claimed_cpus_are_not_counted_as_freed),
        TEST(a_deficit_outlives_a_step_that_only_thinks),
        TEST(a_gpu_used_twice_is_freed_once),
        TEST(tasks_that_stay_apart_do_not_make_one_node_empty_in_vain),
        TEST(a_claim_keeps_no_room_for_jobs_that_stay),
    };

    return RUN_TESTS(tests);
}
