/* SPDX-License-Identifier: Apache-2.0 */
/* A node tells what really runs there: what was not heard before is repaired, and counted. */
#include "core/impl.h"
#include "unit/core_test.h"

#define SECOND INT64_C(1000000)

/* The tasks that a node lists: {job, task, run}. */
#define LISTED(bed, node, ...)                                                                     \
    do {                                                                                           \
        const struct listed_task listed_[] = {__VA_ARGS__};                                        \
        bed_list(bed, node, listed_, sizeof listed_ / sizeof listed_[0]);                          \
    } while (0)

static void bed_list(struct bed *bed, const char *node, const struct listed_task *tasks,
                     uint32_t count)
{
    bed_apply(bed, &(struct event){.type = EVENT_NODE_LISTED, .listed = {node, tasks, count}});
}

static void list_nothing(struct bed *bed, const char *node)
{
    bed_list(bed, node, NULL, 0);
}

static void assert_drift(const struct bed *bed, uint64_t started, uint64_t left, uint64_t lost,
                         uint64_t stray)
{
    const struct drift *drift = core_drift(bed->core);

    assert_int_equal(drift->started, started);
    assert_int_equal(drift->left, left);
    assert_int_equal(drift->lost, lost);
    assert_int_equal(drift->stray, stray);
}

static void open_bed(struct bed *bed, const struct order_policy *order)
{
    bed_open(bed, &place_first, order);
    bed_nodes(bed, 2, 4);
}

static void run_job(struct bed *bed, const struct ask *ask)
{
    bed_submit(bed, ask);
    bed_step(bed);
    bed_run(bed, ask->id);
}
#define RUN_JOB(bed, ...) run_job(bed, &(struct ask){__VA_ARGS__})

static void a_listing_of_what_is_known_changes_nothing(void **state)
{
    struct bed bed;
    uint64_t before;

    (void)state;
    open_bed(&bed, &in_turn);
    RUN_JOB(&bed, .id = 1, .gpus = 2, .tasks = 3); /* n0, n0, n1 */
    before = core_digest(bed.core);
    LISTED(&bed, "n0", {1, 1, 1}, {1, 0, 1});
    LISTED(&bed, "n1", {1, 2, 0}); /* run 0: the present one */
    LISTED(&bed, "n1", {1, 2, 1}, {1, 2, 1});
    assert_true(core_digest(bed.core) == before);
    assert_drift(&bed, 0, 0, 0, 0);
    bed_close(&bed);
}

static void a_task_that_is_not_listed_is_lost_and_the_job_starts_anew(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &in_turn);
    RUN_JOB(&bed, .id = 1, .gpus = 4, .tasks = 2, .retries = 3);
    list_nothing(&bed, "n0");
    assert_drift(&bed, 0, 0, 1, 0);
    bed_step(&bed);
    assert_int_equal(bed_find(&bed, DECISION_STOP, 1)->reason, REASON_LOST);
    list_nothing(&bed, "n1"); /* it was told to stop, and has */
    assert_drift(&bed, 0, 1, 1, 0);
    assert_int_equal(bed_state(&bed, 1), JOB_PENDING);
    assert_int_equal(bed_job(&bed, 1)->retries_left, 3);
    list_nothing(&bed, "n0");
    assert_drift(&bed, 0, 1, 1, 0);
    bed_step(&bed);
    assert_int_equal(bed_job(&bed, 1)->run, 2);
    bed_close(&bed);
}

static void a_job_whose_exit_was_not_heard_ends_as_it_was_told_to(void **state)
{
    const struct heard *heard;
    struct bed bed;

    (void)state;
    open_bed(&bed, &by_queue);
    heard = bed.core->orderers[0].state;
    RUN_JOB(&bed, .id = 1, .gpus = 2, .queue = "9", .limit_us = 100 * SECOND, .fixed = true);
    RUN_JOB(&bed, .id = 2, .gpus = 2, .queue = "8");
    RUN_JOB(&bed, .id = 3, .gpus = 4, .queue = "7");
    apply(&bed, cancelled(2));
    SUBMIT(&bed, .id = 4, .gpus = 4, .queue = "0"); /* takes n1 from 3 */
    bed_step(&bed);
    core_step(bed.core, 200 * SECOND, &bed.out);
    assert_int_equal(bed_state(&bed, 1), JOB_STOPPING);
    assert_int_equal(bed_state(&bed, 2), JOB_STOPPING);
    assert_int_equal(bed_state(&bed, 3), JOB_STOPPING);
    list_nothing(&bed, "n0");
    list_nothing(&bed, "n1");
    assert_int_equal(heard->finished_state[JOB_LIMITED], 1);
    assert_int_equal(heard->finished_state[JOB_CANCELLED], 1);
    assert_int_equal(heard->finished, 2);
    assert_int_equal(bed_state(&bed, 3), JOB_PENDING);
    assert_drift(&bed, 0, 3, 0, 0);
    bed_step(&bed);
    assert_non_null(bed_find(&bed, DECISION_START, 4));
    bed_close(&bed);
}

static void a_task_that_is_listed_has_started(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &in_turn);
    SUBMIT(&bed, .id = 1, .gpus = 1, .tasks = 2, .limit_us = 10 * SECOND);
    bed_step(&bed);
    LISTED(&bed, "n0", {1, 0, 1}, {1, 1, 1});
    assert_int_equal(bed_state(&bed, 1), JOB_RUNNING);
    assert_drift(&bed, 2, 0, 0, 0);
    assert_int_equal(core_next_wake_us(bed.core), bed.now_us + 10 * SECOND);
    apply(&bed, started(1, 0)); /* which is no news any more */
    apply(&bed, started(1, 1));
    assert_int_equal(bed_job(&bed, 1)->tasks_started, 2);
    bed_close(&bed);
}

/* The listing may have been made before the start arrived there. */
static void a_task_on_its_way_is_lost_only_when_it_is_missing_twice_in_a_row(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &in_turn);
    SUBMIT(&bed, .id = 1, .gpus = 1);
    SUBMIT(&bed, .id = 2, .gpus = 1);
    bed_step(&bed);
    list_nothing(&bed, "n0");
    list_nothing(&bed, "n1"); /* which is another node */
    list_nothing(&bed, "n0"); /* at the same time: the same one, heard twice */
    assert_int_equal(bed_state(&bed, 1), JOB_STARTING);
    bed_step(&bed);
    LISTED(&bed, "n0", {1, 0, 1});
    assert_drift(&bed, 1, 0, 1, 0);
    assert_int_equal(bed_state(&bed, 1), JOB_RUNNING);
    assert_int_equal(bed_state(&bed, 2), JOB_PENDING);
    bed_close(&bed);
}

static void a_task_that_came_up_in_between_counts_from_the_beginning(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &in_turn);
    SUBMIT(&bed, .id = 1, .gpus = 1);
    bed_step(&bed);
    list_nothing(&bed, "n0");
    apply(&bed, lost(1, 0));
    bed_step(&bed); /* it starts again */
    list_nothing(&bed, "n0");
    assert_int_equal(bed_state(&bed, 1), JOB_STARTING);
    assert_drift(&bed, 0, 0, 0, 0);
    bed_step(&bed);
    list_nothing(&bed, "n0");
    assert_int_equal(bed_state(&bed, 1), JOB_PENDING);
    bed_close(&bed);
}

static void what_is_listed_and_not_ours_is_counted_and_left_alone(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &in_turn);
    RUN_JOB(&bed, .id = 1, .gpus = 1);
    apply(&bed, lost(1, 0));
    bed_step(&bed);
    bed_run(&bed, 1);
    SUBMIT(&bed, .id = 2, .gpus = 9);
    LISTED(&bed, "n0", {1, 0, 2}, {1, 0, 1}, {1, 7, 2}, {1, 0, 3}, {2, 0, 0}, {77, 0, 0});
    assert_drift(&bed, 0, 0, 0, 5);
    LISTED(&bed, "n0", {1, 0, 2}, {1, 0, 1}, {1, 7, 2}); /* they are counted already */
    assert_drift(&bed, 0, 0, 0, 5);
    LISTED(&bed, "n1", {1, 0, 2}); /* it is on n0 */
    assert_drift(&bed, 0, 0, 0, 6);
    assert_int_equal(bed_state(&bed, 1), JOB_RUNNING);
    assert_int_equal(bed_step(&bed), 1);
    bed_close(&bed);
}

/* An earlier run that is listed does not stand for the present one. */
static void an_earlier_run_is_not_the_present_one(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &in_turn);
    RUN_JOB(&bed, .id = 1, .gpus = 1);
    apply(&bed, lost(1, 0));
    bed_step(&bed);
    bed_run(&bed, 1);
    LISTED(&bed, "n0", {1, 0, 1});
    assert_drift(&bed, 0, 0, 1, 1);
    assert_int_equal(bed_state(&bed, 1), JOB_PENDING);
    bed_close(&bed);
}

static void a_claim_is_not_missing(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &by_queue);
    RUN_JOB(&bed, .id = 1, .gpus = 4, .queue = "9");
    RUN_JOB(&bed, .id = 2, .gpus = 4, .queue = "8");
    SUBMIT(&bed, .id = 3, .gpus = 4, .queue = "0");
    bed_step(&bed);
    LISTED(&bed, "n0", {1, 0, 1});
    LISTED(&bed, "n0", {1, 0, 1}, {3, 0, 0});
    assert_true(bed_job(&bed, 3)->task_first != ROW_NONE);
    assert_drift(&bed, 0, 0, 0, 1);
    bed_close(&bed);
}

static void a_node_that_is_not_known_lists_nothing(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &in_turn);
    RUN_JOB(&bed, .id = 1, .gpus = 1);
    apply(&bed, removed("n0"));
    refuses(&bed, (struct event){.type = EVENT_NODE_LISTED, .listed = {"n0", NULL, 0}}, ENOENT);
    bed_node(&bed, "n0", 4);
    LISTED(&bed, "n0", {1, 0, 1});
    assert_drift(&bed, 0, 0, 0, 1);
    bed_close(&bed);
}

/* All tasks of several jobs go at once, some jobs with them. */
static void a_node_that_forgot_everything_is_free(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &in_turn);
    RUN_JOB(&bed, .id = 1, .gpus = 1, .tasks = 2);
    RUN_JOB(&bed, .id = 2, .gpus = 2, .tasks = 2); /* n0, n1 */
    RUN_JOB(&bed, .id = 3, .gpus = 2);             /* n1 */
    apply(&bed, cancelled(1));
    bed_step(&bed);
    list_nothing(&bed, "n0");
    assert_int_equal(bed_state(&bed, 1), JOB_FREE);
    assert_int_equal(bed_state(&bed, 2), JOB_RUNNING);
    assert_true(bed_job(&bed, 2)->lost);
    assert_int_equal(bed_state(&bed, 3), JOB_RUNNING);
    assert_drift(&bed, 0, 2, 1, 0);
    assert_int_equal(bed.core->index.whole_free, 4);
    bed_close(&bed);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(a_listing_of_what_is_known_changes_nothing),
        TEST(a_task_that_is_not_listed_is_lost_and_the_job_starts_anew),
        TEST(a_job_whose_exit_was_not_heard_ends_as_it_was_told_to),
        TEST(a_task_that_is_listed_has_started),
        TEST(a_task_on_its_way_is_lost_only_when_it_is_missing_twice_in_a_row),
        TEST(a_task_that_came_up_in_between_counts_from_the_beginning),
        TEST(what_is_listed_and_not_ours_is_counted_and_left_alone),
        TEST(an_earlier_run_is_not_the_present_one),
        TEST(a_claim_is_not_missing),
        TEST(a_node_that_is_not_known_lists_nothing),
        TEST(a_node_that_forgot_everything_is_free),
    };

    return RUN_TESTS(tests);
}
