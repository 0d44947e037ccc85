/* SPDX-License-Identifier: Apache-2.0 */
/* What time does to running jobs: limits with grace, tasks that will not die, saved work, tries
 * that are used up, and how long a job is left alone before it gives way. */
#include "core/impl.h"
#include "core/life.h"
#include "unit/core_test.h"

#define SECOND INT64_C(1000000)

static void step_at(struct bed *bed, int64_t at_us)
{
    core_step(bed->core, at_us, &bed->out);
    bed_check(bed);
}

/* Submitted, started and reported to run, all at the same time. */
static void run_job(struct bed *bed, const struct ask *ask)
{
    bed_submit(bed, ask);
    step_at(bed, core_now_us(bed->core));
    assert_non_null(bed_find(bed, DECISION_START, ask->id));
    bed_run(bed, ask->id);
}
#define RUN_JOB(bed, ...) run_job(bed, &(struct ask){__VA_ARGS__})

static void open_bed(struct bed *bed, const struct order_policy *order, uint32_t nodes)
{
    bed_open(bed, &place_first, order);
    bed_nodes(bed, nodes, 4);
}

static const struct heard *heard(const struct bed *bed)
{
    return bed->core->orderers[0].state;
}

/* ---- limits ---- */

static void a_job_is_told_to_stop_when_its_limit_is_over_and_not_before(void **state)
{
    struct bed bed;
    const struct decision *stop;

    (void)state;
    open_bed(&bed, &in_turn, 1);
    RUN_JOB(&bed, .id = 1, .gpus = 4, .limit_us = 10 * SECOND, .grace_us = 7 * SECOND);
    assert_int_equal(core_next_wake_us(bed.core), 10 * SECOND);
    step_at(&bed, 10 * SECOND - 1);
    assert_int_equal(bed.out.count, 0);
    assert_int_equal(core_next_wake_us(bed.core), 10 * SECOND);
    step_at(&bed, 10 * SECOND);
    assert_int_equal(bed.out.count, 1);
    stop = bed_find(&bed, DECISION_STOP, 1);
    assert_int_equal(stop->mode, STOP_LIMIT);
    assert_int_equal(stop->reason, REASON_LIMIT);
    assert_int_equal(stop->grace_us, 7 * SECOND);
    apply(&bed, exited(1, 0, 0)); /* well or not: it had its time */
    assert_int_equal(heard(&bed)->finished_state[JOB_LIMITED], 1);
    assert_int_equal(core_next_wake_us(bed.core), TIME_NONE);
    bed_close(&bed);
}

static void the_limit_counts_anew_for_each_run(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &in_turn, 1);
    RUN_JOB(&bed, .id = 1, .gpus = 4, .limit_us = 10 * SECOND);
    step_at(&bed, 8 * SECOND);
    apply(&bed, lost(1, 0));
    assert_int_equal(core_next_wake_us(bed.core), TIME_NONE);
    step_at(&bed, 9 * SECOND);
    bed_run(&bed, 1);
    assert_int_equal(core_next_wake_us(bed.core), 19 * SECOND);
    bed_close(&bed);
}

static void a_job_that_starts_has_used_no_time(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &in_turn, 1);
    SUBMIT(&bed, .id = 1, .gpus = 1, .tasks = 2, .limit_us = SECOND);
    bed_step(&bed);
    apply(&bed, started(1, 0));
    step_at(&bed, 50 * SECOND);
    assert_int_equal(bed.out.count, 0);
    apply(&bed, started(1, 1));
    assert_int_equal(core_next_wake_us(bed.core), 51 * SECOND);
    bed_close(&bed);
}

static void a_job_that_gives_way_is_not_ended_by_its_limit(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &by_queue, 1);
    RUN_JOB(&bed, .id = 1, .gpus = 4, .queue = "5", .limit_us = 10 * SECOND);
    SUBMIT(&bed, .id = 2, .gpus = 4, .queue = "1");
    step_at(&bed, 9 * SECOND);
    assert_int_equal(bed_find(&bed, DECISION_STOP, 1)->mode, STOP_PREEMPT);
    step_at(&bed, 20 * SECOND);
    assert_int_equal(bed.out.count, 0);
    apply(&bed, exited(1, 0, 143));
    assert_int_equal(bed_state(&bed, 1), JOB_PENDING);
    bed_close(&bed);
}

static void at_its_limit_a_job_is_nobodys_victim(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &by_queue, 1);
    RUN_JOB(&bed, .id = 1, .gpus = 4, .queue = "5", .limit_us = 10 * SECOND);
    SUBMIT(&bed, .id = 2, .gpus = 4, .queue = "1");
    step_at(&bed, 10 * SECOND);
    assert_int_equal(bed_count(&bed, DECISION_STOP), 1);
    assert_int_equal(bed_find(&bed, DECISION_STOP, 1)->mode, STOP_LIMIT);
    assert_true(bed_find(&bed, DECISION_STOP, 1)->for_job == JOB_NONE);
    apply(&bed, exited(1, 0, 143));
    assert_int_equal(bed_state(&bed, 1), JOB_FREE);
    bed_close(&bed);
}

static void what_was_heard_at_the_time_of_the_limit_goes_before_it(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &in_turn, 1);
    RUN_JOB(&bed, .id = 1, .gpus = 1, .tasks = 2, .limit_us = 10 * SECOND);
    RUN_JOB(&bed, .id = 2, .gpus = 1, .limit_us = 10 * SECOND);
    step_at(&bed, 9 * SECOND);
    apply(&bed, exited(1, 0, 1));
    apply(&bed, cancelled(2));
    step_at(&bed, 10 * SECOND);
    assert_int_equal(bed_find(&bed, DECISION_STOP, 1)->reason, REASON_FAILED);
    assert_int_equal(bed_find(&bed, DECISION_STOP, 2)->reason, REASON_CANCELLED);
    assert_int_equal(bed_count(&bed, DECISION_STOP), 2);
    bed_close(&bed);
}

static void a_job_that_is_cancelled_after_its_limit_is_cancelled(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &in_turn, 1);
    RUN_JOB(&bed, .id = 1, .gpus = 1, .limit_us = 10 * SECOND);
    RUN_JOB(&bed, .id = 2, .gpus = 1, .limit_us = 10 * SECOND);
    step_at(&bed, 10 * SECOND);
    assert_int_equal(bed_count(&bed, DECISION_STOP), 2);
    apply(&bed, cancelled(1));
    apply(&bed, lost(2, 0)); /* a lost task does not give it another chance */
    step_at(&bed, 11 * SECOND);
    assert_int_equal(bed.out.count, 0);
    apply(&bed, exited(1, 0, 143));
    assert_int_equal(heard(&bed)->finished_state[JOB_CANCELLED], 1);
    assert_int_equal(heard(&bed)->finished_state[JOB_LIMITED], 1);
    bed_close(&bed);
}

static void times_out_of_range_are_refused(void **state)
{
    static const struct group_spec group = {.tasks = 1};
    static const struct job_layout_spec layout = {.groups = &group, .group_count = 1};
    static const int64_t bad[] = {-2, INT64_MIN, TIME_US_MAX + 1, INT64_MAX};
    struct bed bed;

    (void)state;
    open_bed(&bed, &in_turn, 1);
    for (size_t i = 0; i < 4; i++)
        for (int field = 0; field < 3; field++) {
            struct event event = {.type = EVENT_JOB_SUBMITTED,
                                  .job = {.id = 1,
                                          .queue = "",
                                          .user = "",
                                          .name = "",
                                          .layouts = &layout,
                                          .layout_count = 1}};
            int64_t *times[] = {&event.job.limit_us, &event.job.grace_us, &event.job.min_run_us};

            *times[field] = bad[i];
            refuses(&bed, event, EINVAL);
        }
    bed_close(&bed);
}

/* ---- tasks that will not die ---- */

static void who_is_still_there_long_after_its_grace_needs_a_person_once(void **state)
{
    struct bed bed;
    const struct decision *attend;
    const int64_t due_us = 10 * SECOND + 7 * SECOND + ATTEND_AFTER_US;

    (void)state;
    open_bed(&bed, &in_turn, 1);
    RUN_JOB(&bed, .id = 1, .gpus = 1, .tasks = 3, .grace_us = 7 * SECOND);
    apply(&bed, cancelled(1));
    step_at(&bed, 10 * SECOND);
    apply(&bed, exited(1, 1, 143));
    assert_int_equal(core_next_wake_us(bed.core), due_us);
    step_at(&bed, due_us - 1);
    assert_int_equal(bed.out.count, 0);
    step_at(&bed, due_us);
    assert_int_equal(bed.out.count, 1);
    attend = bed_find(&bed, DECISION_ATTEND, 1);
    assert_int_equal(attend->place_count, 2);
    assert_int_equal(bed.out.places[attend->place_first].task, 0);
    assert_int_equal(bed.out.places[attend->place_first + 1].task, 2);
    assert_string_equal(bed.out.places[attend->place_first].node_name, "n0");
    assert_int_equal(core_next_wake_us(bed.core), TIME_NONE);
    step_at(&bed, due_us + 1000 * SECOND);
    assert_int_equal(bed.out.count, 0);
    bed_close(&bed);
}

static void its_node_gets_no_new_work_until_it_is_gone(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &in_turn, 2);
    RUN_JOB(&bed, .id = 1, .gpus = 2);
    apply(&bed, cancelled(1));
    step_at(&bed, SECOND);
    step_at(&bed, 100 * SECOND);
    assert_non_null(bed_find(&bed, DECISION_ATTEND, 1));
    SUBMIT(&bed, .id = 2, .gpus = 1);
    SUBMIT(&bed, .id = 3, .gpus = 4);
    bed_step(&bed);
    assert_starts(&bed, 2, 0, "n1", 1); /* though n0 comes first */
    assert_int_equal(bed_reason(&bed, 3), REASON_ROOM);
    apply(&bed, exited(1, 0, 137));
    bed_step(&bed);
    assert_starts(&bed, 3, 0, "n0", 0xf);
    bed_close(&bed);
}

static void a_job_does_not_wait_for_a_victim_that_will_not_die(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &by_queue, 2);
    RUN_JOB(&bed, .id = 1, .gpus = 4, .queue = "9");
    RUN_JOB(&bed, .id = 2, .gpus = 4, .queue = "8");
    SUBMIT(&bed, .id = 3, .gpus = 4, .queue = "1");
    bed_step(&bed);
    assert_int_equal(bed_find(&bed, DECISION_STOP, 1)->for_job, 3);
    step_at(&bed, 100 * SECOND);
    assert_non_null(bed_find(&bed, DECISION_ATTEND, 1));
    assert_int_equal(bed_find(&bed, DECISION_STOP, 2)->for_job, 3); /* then from another */
    apply(&bed, exited(2, 0, 143));
    bed_step(&bed);
    assert_starts(&bed, 3, 0, "n1", 0xf);
    apply(&bed, exited(1, 0, 143));
    assert_int_equal(bed_state(&bed, 1), JOB_PENDING);
    bed_step(&bed);
    assert_starts(&bed, 2, 0, "n0", 0xf);
    bed_close(&bed);
}

/* It was told to stop before it started, and then says that it took a place elsewhere. */
static void a_task_that_turns_up_elsewhere_takes_the_need_for_a_person_with_it(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &in_turn, 2);
    SUBMIT(&bed, .id = 1, .gpus = 1);
    bed_step(&bed);
    apply(&bed, cancelled(1));
    bed_step(&bed);
    step_at(&bed, 100 * SECOND);
    assert_non_null(bed_find(&bed, DECISION_ATTEND, 1));
    apply(&bed, started_on(1, 0, "n1", 2));
    SUBMIT(&bed, .id = 2, .gpus = 1);
    SUBMIT(&bed, .id = 3, .gpus = 4);
    bed_step(&bed);
    assert_starts(&bed, 2, 0, "n0", 1);
    assert_int_equal(bed_reason(&bed, 3), REASON_ROOM);
    apply(&bed, removed("n1"));
    assert_int_equal(bed_state(&bed, 1), JOB_FREE);
    bed_close(&bed);
}

/* ---- saved work ---- */

static struct event saved(uint64_t id, int64_t mark_us)
{
    return (struct event){.type = EVENT_JOB_CHECKPOINT, .checkpoint = {id, mark_us}};
}

static void what_was_saved_is_not_lost(void **state)
{
    struct bed bed;
    uint64_t before;

    (void)state;
    open_bed(&bed, &in_turn, 1);
    SUBMIT(&bed, .id = 1, .gpus = 1);
    assert_int_equal(job_lost_work_us(bed_job(&bed, 1), 0), 0);
    step_at(&bed, 10 * SECOND);
    assert_int_equal(job_lost_work_us(bed_job(&bed, 1), 11 * SECOND), 0);
    bed_run(&bed, 1);
    step_at(&bed, 100 * SECOND);
    assert_int_equal(job_lost_work_us(bed_job(&bed, 1), 100 * SECOND), 90 * SECOND);
    apply(&bed, saved(1, 5 * SECOND)); /* from before this run: as good as none */
    assert_int_equal(job_lost_work_us(bed_job(&bed, 1), 100 * SECOND), 90 * SECOND);
    apply(&bed, saved(1, 70 * SECOND));
    assert_int_equal(job_lost_work_us(bed_job(&bed, 1), 100 * SECOND), 30 * SECOND);
    apply(&bed, saved(1, 60 * SECOND)); /* that is older */
    assert_int_equal(job_lost_work_us(bed_job(&bed, 1), 100 * SECOND), 30 * SECOND);
    before = core_digest(bed.core);
    apply(&bed, saved(1, 60 * SECOND));
    assert_true(core_digest(bed.core) == before);
    assert_false(bed_job(&bed, 1)->mark_ahead);
    apply(&bed, lost(1, 0));
    assert_int_equal(job_lost_work_us(bed_job(&bed, 1), 100 * SECOND), 0);
    bed_close(&bed);
}

static void a_mark_from_the_future_is_taken_as_now_and_counted_once(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &in_turn, 1);
    RUN_JOB(&bed, .id = 1, .gpus = 1);
    step_at(&bed, 100 * SECOND);
    apply(&bed, saved(1, 3700 * SECOND));
    assert_true(bed_job(&bed, 1)->mark_ahead);
    assert_int_equal(core_marks_ahead(bed.core), 1);
    assert_int_equal(job_lost_work_us(bed_job(&bed, 1), 100 * SECOND), 0);
    step_at(&bed, 150 * SECOND);
    apply(&bed, saved(1, 3700 * SECOND)); /* heard twice */
    assert_int_equal(core_marks_ahead(bed.core), 1);
    assert_int_equal(job_lost_work_us(bed_job(&bed, 1), 150 * SECOND), 50 * SECOND);
    bed_close(&bed);
}

static void only_a_job_on_gpus_saves_work(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &in_turn, 1);
    SUBMIT(&bed, .id = 1, .gpus = 1);
    refuses(&bed, saved(1, 0), ENOENT);
    refuses(&bed, saved(2, 0), ENOENT);
    bed_step(&bed);
    apply(&bed, saved(1, INT64_MAX));
    assert_int_equal(bed_job(&bed, 1)->mark_us, core_now_us(bed.core));
    apply(&bed, saved(1, INT64_MIN));
    assert_int_equal(bed_job(&bed, 1)->mark_us, core_now_us(bed.core));
    bed_close(&bed);
}

/* ---- trying again ---- */

static void a_job_is_tried_again_as_often_as_it_says_and_then_fails(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &in_turn, 1);
    SUBMIT(&bed, .id = 1, .gpus = 1, .tasks = 2, .retries = 2);
    for (uint32_t left = 2; left > 0; left--) {
        bed_step(&bed);
        bed_run(&bed, 1);
        apply(&bed, exited(1, 0, 1));
        bed_step(&bed);
        assert_int_equal(bed_find(&bed, DECISION_STOP, 1)->mode, STOP_PREEMPT);
        assert_int_equal(bed_find(&bed, DECISION_STOP, 1)->reason, REASON_FAILED);
        apply(&bed, exited(1, 1, 143)); /* both have failed: that is one try */
        assert_int_equal(bed_state(&bed, 1), JOB_PENDING);
        assert_int_equal(bed_job(&bed, 1)->retries_left, left - 1);
    }
    bed_step(&bed);
    bed_run(&bed, 1);
    apply(&bed, exited(1, 0, 1));
    bed_step(&bed);
    assert_int_equal(bed_find(&bed, DECISION_STOP, 1)->mode, STOP_CANCEL);
    apply(&bed, lost(1, 1)); /* too late to matter */
    assert_int_equal(heard(&bed)->finished_state[JOB_FAILED], 1);
    bed_close(&bed);
}

static void lost_tasks_and_giving_way_use_up_no_retry(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &by_queue, 1);
    RUN_JOB(&bed, .id = 1, .gpus = 2, .tasks = 2, .queue = "5", .retries = 1);
    apply(&bed, exited(1, 0, 1)); /* because the other one was gone, as is heard next */
    apply(&bed, lost(1, 1));
    assert_int_equal(bed_state(&bed, 1), JOB_PENDING);
    assert_int_equal(bed_job(&bed, 1)->retries_left, 1);
    bed_step(&bed);
    bed_run(&bed, 1);
    apply(&bed, exited(1, 0, 1));
    bed_step(&bed);
    apply(&bed, lost(1, 1)); /* the same, but heard after it was told to stop */
    assert_int_equal(bed_job(&bed, 1)->retries_left, 1);
    bed_step(&bed);
    bed_run(&bed, 1);
    SUBMIT(&bed, .id = 2, .gpus = 4, .queue = "1");
    bed_step(&bed);
    assert_int_equal(bed_find(&bed, DECISION_STOP, 1)->for_job, 2);
    bed_end(&bed, 1, 143);
    assert_int_equal(bed_job(&bed, 1)->retries_left, 1);
    bed_close(&bed);
}

static void a_task_that_fails_alone_is_tried_again_at_once(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &in_turn, 1);
    RUN_JOB(&bed, .id = 1, .gpus = 1, .retries = 1);
    apply(&bed, exited(1, 0, 1));
    assert_int_equal(bed_state(&bed, 1), JOB_PENDING);
    bed_step(&bed);
    bed_run(&bed, 1);
    apply(&bed, cancelled(1));
    apply(&bed, exited(1, 0, 1));
    assert_int_equal(heard(&bed)->finished_state[JOB_CANCELLED], 1);
    bed_close(&bed);
}

/* ---- giving way ---- */

static void a_job_is_left_alone_until_it_ran_so_long(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &by_queue, 1);
    RUN_JOB(&bed, .id = 1, .gpus = 4, .queue = "9", .min_run_us = 600 * SECOND);
    step_at(&bed, 5 * SECOND);
    SUBMIT(&bed, .id = 2, .gpus = 4, .queue = "1");
    step_at(&bed, 5 * SECOND);
    assert_int_equal(bed_count(&bed, DECISION_STOP), 0);
    assert_int_equal(core_next_wake_us(bed.core), 600 * SECOND);
    assert_true(job_since_us(bed_job(&bed, 1)) < 5 * SECOND);
    step_at(&bed, 600 * SECOND);
    assert_int_equal(bed_find(&bed, DECISION_STOP, 1)->for_job, 2);
    assert_true(job_since_us(bed_job(&bed, 1)) == 600 * SECOND);
    bed_close(&bed);
}

static void another_victim_is_taken_if_there_is_one(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &by_queue, 2);
    RUN_JOB(&bed, .id = 1, .gpus = 4, .queue = "9", .min_run_us = 600 * SECOND);
    RUN_JOB(&bed, .id = 2, .gpus = 4, .queue = "8");
    SUBMIT(&bed, .id = 3, .gpus = 4, .queue = "1");
    bed_step(&bed);
    assert_int_equal(bed_count(&bed, DECISION_STOP), 1);
    assert_int_equal(bed_find(&bed, DECISION_STOP, 2)->for_job, 3);
    bed_close(&bed);
}

static void a_fixed_job_never_gives_way(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, &by_queue, 1);
    RUN_JOB(&bed, .id = 1, .gpus = 4, .queue = "9", .fixed = true);
    SUBMIT(&bed, .id = 2, .gpus = 4, .queue = "1");
    step_at(&bed, 100000 * SECOND);
    assert_int_equal(bed_count(&bed, DECISION_STOP), 0);
    assert_int_equal(core_next_wake_us(bed.core), TIME_NONE);
    bed_close(&bed);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(a_job_is_told_to_stop_when_its_limit_is_over_and_not_before),
        TEST(the_limit_counts_anew_for_each_run),
        TEST(a_job_that_starts_has_used_no_time),
        TEST(a_job_that_gives_way_is_not_ended_by_its_limit),
        TEST(at_its_limit_a_job_is_nobodys_victim),
        TEST(what_was_heard_at_the_time_of_the_limit_goes_before_it),
        TEST(a_job_that_is_cancelled_after_its_limit_is_cancelled),
        TEST(times_out_of_range_are_refused),
        TEST(who_is_still_there_long_after_its_grace_needs_a_person_once),
        TEST(its_node_gets_no_new_work_until_it_is_gone),
        TEST(a_job_does_not_wait_for_a_victim_that_will_not_die),
        TEST(a_task_that_turns_up_elsewhere_takes_the_need_for_a_person_with_it),
        TEST(what_was_saved_is_not_lost),
        TEST(a_mark_from_the_future_is_taken_as_now_and_counted_once),
        TEST(only_a_job_on_gpus_saves_work),
        TEST(a_job_is_tried_again_as_often_as_it_says_and_then_fails),
        TEST(lost_tasks_and_giving_way_use_up_no_retry),
        TEST(a_task_that_fails_alone_is_tried_again_at_once),
        TEST(a_job_is_left_alone_until_it_ran_so_long),
        TEST(another_victim_is_taken_if_there_is_one),
        TEST(a_fixed_job_never_gives_way),
    };

    return RUN_TESTS(tests);
}
