/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that are silent, lost, blinking, drained; GPUs on which nothing starts. */
#include "core/impl.h"
#include "unit/core_test.h"

#define SECOND INT64_C(1000000)

static void step_at(struct bed *bed, int64_t at_us)
{
    core_step(bed->core, at_us, &bed->out);
    bed_check(bed);
}

static struct event node_is(const char *node, enum node_health health)
{
    return (struct event){.type = EVENT_NODE_HEALTH, .node_health = {node, health}};
}

static void open_bed(struct bed *bed, const struct order_policy *order, uint32_t nodes)
{
    bed_open(bed, &place_first, order);
    bed_nodes(bed, nodes, 4);
}

static void run_job(struct bed *bed, const struct ask *ask)
{
    bed_submit(bed, ask);
    step_at(bed, core_now_us(bed->core));
    bed_run(bed, ask->id);
}
#define RUN_JOB(bed, ...) run_job(bed, &(struct ask){__VA_ARGS__})

static uint32_t out_of(const struct bed *bed, uint32_t node)
{
    return core_node_out(bed->core, node);
}

#define LOST_BITS (NODE_OUT_SILENT | NODE_OUT_LOST | NODE_OUT_UNLISTED)

static void lists(struct bed *bed, const char *node, const struct listed_task *tasks,
                  uint32_t count)
{
    apply(bed, (struct event){.type = EVENT_NODE_LISTED, .listed = {node, tasks, count}});
}

/* ---- silent ---- */

static void a_silent_node_gets_no_new_work_and_is_good_again_when_it_is_heard(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &in_turn, 2);
    apply(&bed, node_is("n0", NODE_SILENT));
    assert_int_equal(out_of(&bed, 0), NODE_OUT_SILENT);
    SUBMIT(&bed, .id = 1, .gpus = 1);
    SUBMIT(&bed, .id = 2, .gpus = 4);
    step_at(&bed, SECOND);
    assert_starts(&bed, 1, 0, "n1", 1);
    assert_int_equal(bed_reason(&bed, 2), REASON_ROOM); /* not never: the node is known */
    apply(&bed, node_is("n0", NODE_HEARD));
    assert_int_equal(out_of(&bed, 0), 0);
    step_at(&bed, 2 * SECOND);
    assert_starts(&bed, 2, 0, "n0", 0xf);
    bed_close(&bed);
}

static void what_runs_on_a_node_that_blinks_runs_on(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &in_turn, 1);
    RUN_JOB(&bed, .id = 1, .gpus = 4);
    apply(&bed, node_is("n0", NODE_SILENT));
    assert_int_equal(core_next_wake_us(bed.core), NODE_SILENT_US);
    step_at(&bed, NODE_SILENT_US - 1);
    assert_int_equal(bed.out.count, 0);
    apply(&bed, node_is("n0", NODE_HEARD));
    assert_int_equal(core_next_wake_us(bed.core), TIME_NONE);
    step_at(&bed, 1000 * SECOND);
    assert_int_equal(bed.out.count, 0);
    assert_int_equal(bed_state(&bed, 1), JOB_RUNNING);
    bed_close(&bed);
}

static void hearing_twice_that_a_node_is_silent_counts_once(void **state)
{
    struct bed bed;
    uint64_t before;

    (void)state;
    open_bed(&bed, &in_turn, 1);
    apply(&bed, node_is("n0", NODE_SILENT));
    step_at(&bed, 30 * SECOND);
    before = core_digest(bed.core);
    for (int i = 0; i < 9; i++)
        apply(&bed, node_is("n0", NODE_SILENT));
    assert_true(core_digest(bed.core) == before);
    assert_int_equal(core_next_wake_us(bed.core), NODE_SILENT_US);
    apply(&bed, node_is("n0", NODE_HEARD));
    before = core_digest(bed.core);
    apply(&bed, node_is("n0", NODE_HEARD));
    assert_true(core_digest(bed.core) == before);
    bed_close(&bed);
}

static void a_node_that_stays_silent_is_lost_with_its_tasks(void **state)
{
    struct bed bed;
    const struct decision *stop;

    (void)state;
    open_bed(&bed, &in_turn, 3);
    RUN_JOB(&bed, .id = 1, .gpus = 3, .retries = 1);
    RUN_JOB(&bed, .id = 2, .gpus = 4, .tasks = 2); /* n1, n2 */
    RUN_JOB(&bed, .id = 3, .gpus = 1);             /* n0 */
    apply(&bed, cancelled(3));
    step_at(&bed, 0);
    apply(&bed, node_is("n0", NODE_SILENT));
    apply(&bed, node_is("n1", NODE_SILENT));
    step_at(&bed, NODE_SILENT_US);
    assert_int_equal(out_of(&bed, 0), LOST_BITS);
    stop = bed_find(&bed, DECISION_STOP, 1);
    assert_int_equal(stop->mode, STOP_PREEMPT);
    assert_int_equal(stop->reason, REASON_LOST);
    assert_int_equal(stop->run, 1);
    assert_int_equal(bed_state(&bed, 1), JOB_PENDING);
    assert_int_equal(bed_job(&bed, 1)->retries_left, 1);
    assert_int_equal(bed_state(&bed, 2), JOB_STOPPING); /* its other task is still there */
    assert_int_equal(bed_state(&bed, 3), JOB_FREE);
    assert_int_equal(core_running_count(bed.core), 1);
    apply(&bed, exited(2, 1, 143));
    bed_step(&bed);
    assert_starts(&bed, 1, 0, "n2", 7);
    apply(&bed, node_is("n0", NODE_HEARD));
    apply(&bed, node_is("n1", NODE_HEARD));
    lists(&bed, "n0", NULL, 0);
    lists(&bed, "n1", NULL, 0);
    bed_step(&bed);
    assert_starts(&bed, 2, 0, "n0", 0xf);
    assert_starts(&bed, 2, 1, "n1", 0xf);
    bed_close(&bed);
}

static void a_node_that_was_lost_gets_work_after_a_listing_without_strays(void **state)
{
    const struct listed_task old = {1, 0, 1};
    struct bed bed;

    (void)state;
    open_bed(&bed, &in_turn, 1);
    RUN_JOB(&bed, .id = 1, .gpus = 1);
    apply(&bed, node_is("n0", NODE_SILENT));
    step_at(&bed, NODE_SILENT_US);
    lists(&bed, "n0", NULL, 0); /* silent: this is older */
    assert_int_equal(out_of(&bed, 0), LOST_BITS);
    apply(&bed, node_is("n0", NODE_HEARD));
    assert_int_equal(out_of(&bed, 0), NODE_OUT_UNLISTED);
    lists(&bed, "n0", &old, 1);
    bed_step(&bed);
    assert_int_equal(bed_state(&bed, 1), JOB_PENDING);
    assert_int_equal(bed_reason(&bed, 1), REASON_ROOM);
    apply(&bed, node_is("n0", NODE_SILENT)); /* a blink: it is not clean by that */
    apply(&bed, node_is("n0", NODE_HEARD));
    assert_int_equal(out_of(&bed, 0), NODE_OUT_UNLISTED);
    lists(&bed, "n0", NULL, 0);
    assert_int_equal(out_of(&bed, 0), 0);
    bed_step(&bed);
    assert_starts(&bed, 1, 0, "n0", 1);
    bed_run(&bed, 1);
    lists(&bed, "n0", &old, 1); /* it was not lost: that is another matter */
    assert_int_equal(out_of(&bed, 0), 0);
    bed_close(&bed);
}

static void a_task_that_was_on_its_way_is_lost_too(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &in_turn, 2);
    SUBMIT(&bed, .id = 1, .gpus = 4);
    step_at(&bed, 0);
    apply(&bed, node_is("n0", NODE_SILENT));
    step_at(&bed, NODE_SILENT_US);
    assert_starts(&bed, 1, 0, "n1", 0xf);
    assert_int_equal(bed_job(&bed, 1)->run, 2);
    bed_close(&bed);
}

static void a_claim_outlives_a_blink_and_ends_when_the_node_is_lost(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &by_queue, 1);
    RUN_JOB(&bed, .id = 1, .gpus = 4, .queue = "9");
    SUBMIT(&bed, .id = 2, .gpus = 4, .queue = "1");
    step_at(&bed, SECOND);
    apply(&bed, node_is("n0", NODE_SILENT));
    assert_true(bed_job(&bed, 2)->task_first != ROW_NONE);
    apply(&bed, node_is("n0", NODE_HEARD));
    assert_true(bed_job(&bed, 2)->task_first != ROW_NONE);
    apply(&bed, node_is("n0", NODE_SILENT));
    step_at(&bed, SECOND + NODE_SILENT_US);
    assert_true(bed_job(&bed, 2)->task_first == ROW_NONE);
    assert_int_equal(bed_job(&bed, 2)->victims, 0);
    bed_close(&bed);
}

/* ---- blinking ---- */

static void blink(struct bed *bed, int64_t at_us)
{
    struct event silent = node_is("n0", NODE_SILENT), heard = node_is("n0", NODE_HEARD);

    silent.at_us = heard.at_us = at_us;
    apply(bed, silent);
    apply(bed, heard);
}

static void a_node_that_was_silent_too_often_must_be_calm_for_a_while(void **state)
{
    const int64_t last_us = 400 * SECOND, calm_us = last_us + FLAP_WINDOW_US;
    struct bed bed;

    (void)state;
    open_bed(&bed, &in_turn, 1);
    for (int i = 0; i < 4; i++)
        blink(&bed, i * 100 * SECOND);
    assert_int_equal(out_of(&bed, 0), 0);
    RUN_JOB(&bed, .id = 1, .gpus = 1);
    blink(&bed, last_us);
    assert_int_equal(out_of(&bed, 0), NODE_OUT_FLAPPING);
    SUBMIT(&bed, .id = 2, .gpus = 1);
    step_at(&bed, calm_us - 1);
    assert_int_equal(bed_state(&bed, 1), JOB_RUNNING);
    assert_int_equal(bed_reason(&bed, 2), REASON_ROOM);
    assert_int_equal(core_next_wake_us(bed.core), calm_us);
    step_at(&bed, calm_us);
    assert_starts(&bed, 2, 0, "n0", 2);
    assert_int_equal(out_of(&bed, 0), 0);
    bed_close(&bed);
}

static void silences_that_are_far_apart_do_not_count(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &in_turn, 1);
    for (int i = 0; i < 20; i++)
        blink(&bed, i * 150 * SECOND); /* the fifth is 600 s after the first */
    assert_int_equal(out_of(&bed, 0), 0);
    blink(&bed, (19 * 150 + 149) * SECOND);
    assert_int_equal(out_of(&bed, 0), NODE_OUT_FLAPPING);
    bed_close(&bed);
}

static void who_blinks_again_must_be_calm_from_then_on(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &in_turn, 1);
    for (int i = 0; i < 5; i++)
        blink(&bed, i * SECOND);
    blink(&bed, 500 * SECOND);
    step_at(&bed, 604 * SECOND);
    assert_int_equal(out_of(&bed, 0), NODE_OUT_FLAPPING);
    step_at(&bed, 1100 * SECOND);
    assert_int_equal(out_of(&bed, 0), 0);
    bed_close(&bed);
}

/* ---- drained ---- */

static void only_a_person_gives_a_drained_node_back(void **state)
{
    struct bed bed;
    uint64_t before;

    (void)state;
    open_bed(&bed, &in_turn, 1);
    RUN_JOB(&bed, .id = 1, .gpus = 1);
    apply(&bed, node_is("n0", NODE_DRAINED));
    before = core_digest(bed.core);
    apply(&bed, node_is("n0", NODE_DRAINED));
    assert_true(core_digest(bed.core) == before);
    SUBMIT(&bed, .id = 2, .gpus = 1);
    SUBMIT(&bed, .id = 3, .gpus = 9);
    step_at(&bed, SECOND);
    assert_int_equal(bed_reason(&bed, 2), REASON_ROOM);
    assert_int_equal(bed_find(&bed, DECISION_REJECT, 3)->reason, REASON_NEVER);
    apply(&bed, node_is("n0", NODE_SILENT));
    apply(&bed, node_is("n0", NODE_HEARD));
    apply(&bed, health("n0", 0, GPU_LOST));
    apply(&bed, health("n0", 0, GPU_HEALTHY));
    bed_node(&bed, "n0", 8); /* described anew */
    step_at(&bed, 1000 * SECOND);
    assert_int_equal(out_of(&bed, 0), NODE_OUT_DRAINED);
    assert_int_equal(bed.out.count, 0);
    assert_int_equal(bed_state(&bed, 1), JOB_RUNNING);
    apply(&bed, node_is("n0", NODE_UNDRAINED));
    bed_step(&bed);
    assert_starts(&bed, 2, 0, "n0", 2);
    bed_close(&bed);
}

static void a_drained_node_that_is_silent_needs_both_to_come_back(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &in_turn, 1);
    apply(&bed, node_is("n0", NODE_SILENT));
    apply(&bed, node_is("n0", NODE_DRAINED));
    step_at(&bed, NODE_SILENT_US);
    assert_int_equal(out_of(&bed, 0), NODE_OUT_DRAINED | LOST_BITS);
    apply(&bed, node_is("n0", NODE_UNDRAINED));
    assert_int_equal(out_of(&bed, 0), LOST_BITS);
    apply(&bed, node_is("n0", NODE_HEARD));
    assert_int_equal(out_of(&bed, 0), NODE_OUT_UNLISTED);
    lists(&bed, "n0", NULL, 0);
    assert_int_equal(out_of(&bed, 0), 0);
    bed_close(&bed);
}

static void nobody_is_stopped_for_room_on_a_node_that_gets_no_work(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &by_queue, 1);
    RUN_JOB(&bed, .id = 1, .gpus = 4, .queue = "9");
    apply(&bed, node_is("n0", NODE_DRAINED));
    SUBMIT(&bed, .id = 2, .gpus = 4, .queue = "1");
    step_at(&bed, SECOND);
    assert_int_equal(bed_count(&bed, DECISION_STOP), 0);
    apply(&bed, node_is("n0", NODE_UNDRAINED));
    step_at(&bed, 2 * SECOND);
    assert_int_equal(bed_count(&bed, DECISION_STOP), 1);
    apply(&bed, node_is("n0", NODE_DRAINED)); /* the plan falls with it */
    assert_true(bed_job(&bed, 2)->task_first == ROW_NONE);
    apply(&bed, exited(1, 0, 143));
    bed_step(&bed);
    assert_int_equal(bed_count(&bed, DECISION_START), 0);
    bed_close(&bed);
}

static void a_gang_that_needs_a_node_that_is_out_waits_whole(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &in_turn, 3);
    apply(&bed, node_is("n1", NODE_DRAINED));
    SUBMIT(&bed, .id = 1, .gpus = 4, .tasks = 3);
    step_at(&bed, SECOND);
    assert_int_equal(bed_count(&bed, DECISION_START), 0);
    assert_int_equal(bed_reason(&bed, 1), REASON_GANG);
    apply(&bed, node_is("n1", NODE_UNDRAINED));
    bed_step(&bed);
    assert_int_equal(bed_count(&bed, DECISION_START), 1);
    bed_close(&bed);
}

static void a_node_that_is_removed_comes_back_as_a_new_one(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &in_turn, 1);
    apply(&bed, node_is("n0", NODE_DRAINED));
    apply(&bed, node_is("n0", NODE_SILENT));
    apply(&bed, removed("n0"));
    assert_int_equal(core_next_wake_us(bed.core), TIME_NONE);
    refuses(&bed, node_is("n0", NODE_HEARD), ENOENT);
    bed_node(&bed, "n0", 4);
    assert_int_equal(out_of(&bed, 0), 0);
    refuses(&bed, node_is("n0", NODE_HEALTH_COUNT), EINVAL);
    bed_close(&bed);
}

/* ---- GPUs on which nothing starts ---- */

static void fail_to_start(struct bed *bed, uint64_t id, int64_t at_us, const char *node,
                          uint64_t mask)
{
    SUBMIT(bed, .id = id, .gpus = 1);
    step_at(bed, at_us);
    assert_starts(bed, id, 0, node, mask);
    apply(bed, exited(id, 0, 127));
}

static void a_gpu_on_which_three_starts_failed_gets_no_new_work(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &in_turn, 1);
    fail_to_start(&bed, 1, 0, "n0", 1);
    fail_to_start(&bed, 2, 100 * SECOND, "n0", 1);
    assert_int_equal(bed_state(&bed, 2), JOB_FREE);
    fail_to_start(&bed, 3, 300 * SECOND - 1, "n0", 1);
    assert_true(core_node_quarantined_gpus(bed.core, 0) == 1);
    assert_true(core_node_lost_gpus(bed.core, 0) == 1);
    assert_int_equal(bed_state(&bed, 3), JOB_PENDING); /* it was not its fault */
    bed_step(&bed);
    assert_starts(&bed, 3, 0, "n0", 2);
    apply(&bed, health("n0", 0, GPU_HEALTHY));
    assert_true(core_node_quarantined_gpus(bed.core, 0) == 0);
    fail_to_start(&bed, 4, core_now_us(bed.core), "n0", 1); /* that counts from the beginning */
    assert_true(core_node_quarantined_gpus(bed.core, 0) == 0);
    bed_close(&bed);
}

static void failed_starts_that_are_far_apart_do_not_count(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &in_turn, 1);
    for (uint64_t i = 0; i < 6; i++)
        fail_to_start(&bed, i + 1, (int64_t)i * 150 * SECOND, "n0", 1);
    assert_true(core_node_quarantined_gpus(bed.core, 0) == 0);
    bed_close(&bed);
}

static void a_task_that_fails_after_it_started_is_not_held_against_its_gpu(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &in_turn, 1);
    for (uint64_t i = 0; i < 6; i++) {
        RUN_JOB(&bed, .id = i + 1, .gpus = 1);
        apply(&bed, exited(i + 1, 0, 127));
    }
    for (uint64_t i = 10; i < 16; i++) { /* nor one that was told to stop before it started */
        SUBMIT(&bed, .id = i, .gpus = 1);
        bed_step(&bed);
        apply(&bed, cancelled(i));
        apply(&bed, exited(i, 0, 143));
    }
    assert_true(core_node_quarantined_gpus(bed.core, 0) == 0);
    bed_close(&bed);
}

static void what_runs_on_a_quarantined_gpu_runs_on(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &in_turn, 1);
    RUN_JOB(&bed, .id = 9, .gpus = 1, .mgpu = 300);
    for (uint64_t i = 1; i <= 3; i++) {
        SUBMIT(&bed, .id = i, .gpus = 1, .mgpu = 300);
        bed_step(&bed);
        apply(&bed, exited(i, 0, 1));
    }
    assert_true(core_node_quarantined_gpus(bed.core, 0) == 1);
    bed_step(&bed);
    assert_int_equal(bed_state(&bed, 9), JOB_RUNNING);
    assert_starts(&bed, 3, 0, "n0", 2);
    apply(&bed, exited(9, 0, 0));
    bed_close(&bed);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(a_silent_node_gets_no_new_work_and_is_good_again_when_it_is_heard),
        TEST(what_runs_on_a_node_that_blinks_runs_on),
        TEST(hearing_twice_that_a_node_is_silent_counts_once),
        TEST(a_node_that_stays_silent_is_lost_with_its_tasks),
        TEST(a_node_that_was_lost_gets_work_after_a_listing_without_strays),
        TEST(a_task_that_was_on_its_way_is_lost_too),
        TEST(a_claim_outlives_a_blink_and_ends_when_the_node_is_lost),
        TEST(a_node_that_was_silent_too_often_must_be_calm_for_a_while),
        TEST(silences_that_are_far_apart_do_not_count),
        TEST(who_blinks_again_must_be_calm_from_then_on),
        TEST(only_a_person_gives_a_drained_node_back),
        TEST(a_drained_node_that_is_silent_needs_both_to_come_back),
        TEST(nobody_is_stopped_for_room_on_a_node_that_gets_no_work),
        TEST(a_gang_that_needs_a_node_that_is_out_waits_whole),
        TEST(a_node_that_is_removed_comes_back_as_a_new_one),
        TEST(a_gpu_on_which_three_starts_failed_gets_no_new_work),
        TEST(failed_starts_that_are_far_apart_do_not_count),
        TEST(a_task_that_fails_after_it_started_is_not_held_against_its_gpu),
        TEST(what_runs_on_a_quarantined_gpu_runs_on),
    };

    return RUN_TESTS(tests);
}
