/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that may run with some of their tasks: elastic ones, and services. */
#include "core/impl.h"
#include "unit/core_test.h"

/* The step starts just these tasks of the job, in this order, ending with NONE. */
enum { NONE = -1 };

static void assert_started(const struct bed *bed, uint64_t id, const int *tasks)
{
    const struct decision *start = bed_find(bed, DECISION_START, id);
    uint32_t count = 0;

    assert_non_null(start);
    for (; tasks[count] != NONE; count++)
        assert_true(count < start->place_count &&
                    bed->out.places[start->place_first + count].task == (uint32_t)tasks[count]);
    assert_int_equal(start->place_count, count);
}
#define STARTED(bed, id, ...) assert_started(bed, id, (const int[]){__VA_ARGS__, NONE})

static uint32_t row_of(const struct bed *bed, uint64_t id)
{
    return core_find_job(bed->core, id);
}

/* Tasks that are there. */
static uint32_t present(const struct bed *bed, uint64_t id)
{
    return bed_job(bed, id)->task_count - bed_job(bed, id)->tasks_left;
}

static uint32_t spare(const struct bed *bed, uint64_t id)
{
    return job_spare_tasks(bed->core, row_of(bed, id));
}

static void shrink(struct bed *bed, uint64_t id, uint32_t task, uint64_t for_job)
{
    decisions_clear(&bed->out);
    job_shrink(bed->core, row_of(bed, id), &task, 1, for_job, &bed->out);
    bed_check(bed);
}

static struct event of_run(struct event event, uint32_t run)
{
    event.task.run = run;
    return event;
}

static void open_with(struct bed *bed, uint32_t gpus)
{
    bed_open(bed, &place_first, &in_turn);
    bed_node(bed, "n0", gpus);
}

/* Job 1 has 3 of its 4 tasks, of which 2 are enough, on all GPUs of the node. */
static void open_elastic(struct bed *bed)
{
    open_with(bed, 3);
    SUBMIT(bed, .id = 1, .gpus = 1, .tasks = 4, .min = 2);
    bed_step(bed);
    bed_run(bed, 1);
}

/* Job 1 is a service of 3 tasks, of which 2 are to be there always, on all GPUs of the node. */
static void open_service(struct bed *bed)
{
    open_with(bed, 3);
    SUBMIT(bed, .id = 1, .gpus = 1, .tasks = 3, .min = 2, .service = true);
    bed_step(bed);
    bed_run(bed, 1);
}

/* ---- starting and growing ---- */

static void it_starts_with_as_many_tasks_as_fit(void **state)
{
    struct bed bed;

    (void)state;
    open_with(&bed, 3);
    SUBMIT(&bed, .id = 1, .gpus = 1, .tasks = 4, .min = 2);
    bed_step(&bed);
    STARTED(&bed, 1, 0, 1, 2);
    assert_starts(&bed, 1, 2, "n0", 4);
    apply(&bed, started(1, 0));
    apply(&bed, started(1, 1));
    assert_int_equal(bed_state(&bed, 1), JOB_STARTING);
    apply(&bed, started(1, 2));
    assert_int_equal(bed_state(&bed, 1), JOB_RUNNING);
    refuses(&bed, started(1, 3), ENOENT); /* nobody started it */
    refuses(&bed, exited(1, 3, 0), ENOENT);
    refuses(&bed, lost(1, 4), ENOENT);
    bed_close(&bed);
}

static void it_waits_if_fewer_fit_than_its_minimum(void **state)
{
    struct bed bed;

    (void)state;
    open_with(&bed, 4);
    apply(&bed, health("n0", 0, GPU_LOST));
    apply(&bed, health("n0", 1, GPU_LOST));
    SUBMIT(&bed, .id = 1, .gpus = 1, .tasks = 4, .min = 3);
    SUBMIT(&bed, .id = 2, .gpus = 1, .tasks = 4); /* asks for the same, but for all of it */
    SUBMIT(&bed, .id = 3, .gpus = 1, .tasks = 4, .min = 1);
    bed_step(&bed);
    assert_int_equal(bed_reason(&bed, 1), REASON_GANG);
    assert_int_equal(bed_reason(&bed, 2), REASON_GANG);
    STARTED(&bed, 3, 0); /* others wait too */
    bed_run(&bed, 3);
    bed_step(&bed);
    STARTED(&bed, 3, 1); /* and nobody else can use what is left */
    bed_close(&bed);
}

static void it_grows_into_room_that_becomes_free(void **state)
{
    struct bed bed;
    int64_t start_us;

    (void)state;
    open_elastic(&bed);
    start_us = bed_job(&bed, 1)->start_us;
    bed_step(&bed);
    assert_int_equal(bed.out.count, 0);
    bed_node(&bed, "n1", 2);
    bed_step(&bed);
    STARTED(&bed, 1, 3);
    assert_int_equal(bed_find(&bed, DECISION_START, 1)->run, 2);
    assert_int_equal(bed_state(&bed, 1), JOB_RUNNING);
    assert_true(bed_job(&bed, 1)->start_us == start_us);
    apply(&bed, of_run(started(1, 3), 2));
    bed_step(&bed);
    assert_int_equal(bed.out.count, 0); /* it has all of its tasks */
    bed_end(&bed, 1, 0);
    assert_int_equal(bed_state(&bed, 1), JOB_FREE);
    bed_close(&bed);
}

static void who_goes_first_grows_first_and_who_waits_goes_before_both(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &by_queue);
    bed_node(&bed, "n0", 2);
    SUBMIT(&bed, .id = 1, .gpus = 1, .tasks = 3, .min = 1, .queue = "5");
    bed_step(&bed);
    bed_run(&bed, 1);
    bed_node(&bed, "n1", 1);
    SUBMIT(&bed, .id = 2, .gpus = 1, .tasks = 2, .min = 1, .queue = "5");
    SUBMIT(&bed, .id = 3, .gpus = 1, .tasks = 2, .min = 1, .queue = "4");
    bed_step(&bed);
    STARTED(&bed, 3, 0); /* not the third task of 1 */
    bed_run(&bed, 3);
    bed_node(&bed, "n2", 2);
    bed_step(&bed);
    STARTED(&bed, 2, 0, 1);
    assert_null(bed_find(&bed, DECISION_START, 3));
    bed_node(&bed, "n3", 1);
    bed_step(&bed);
    STARTED(&bed, 3, 1);
    bed_node(&bed, "n4", 1);
    bed_step(&bed);
    STARTED(&bed, 1, 2);
    bed_close(&bed);
}

static void an_order_that_blocks_holds_back_growth_behind_the_first(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_strict_turn);
    bed_node(&bed, "n0", 2);
    bed_node(&bed, "n9", 9);
    for (uint32_t gpu = 0; gpu < 9; gpu++) /* there is such a node, but not now */
        apply(&bed, health("n9", gpu, GPU_LOST));
    SUBMIT(&bed, .id = 1, .gpus = 1, .tasks = 2, .min = 1, .queue = "1");
    bed_step(&bed);
    SUBMIT(&bed, .id = 2, .gpus = 1, .tasks = 4, .min = 1, .queue = "7");
    bed_step(&bed);
    bed_run(&bed, 1);
    apply(&bed, lost(1, 1));
    SUBMIT(&bed, .id = 3, .gpus = 9, .queue = "4");
    bed_step(&bed);
    STARTED(&bed, 1, 1); /* 3 waits behind it */
    apply(&bed, cancelled(3));
    bed_node(&bed, "n1", 1);
    bed_step(&bed);
    STARTED(&bed, 2, 0);
    bed_run(&bed, 2);
    SUBMIT(&bed, .id = 4, .gpus = 9, .queue = "4");
    bed_node(&bed, "n2", 1);
    bed_step(&bed);
    assert_null(bed_find(&bed, DECISION_START, 2)); /* it is behind 4 */
    apply(&bed, cancelled(4));
    bed_step(&bed);
    STARTED(&bed, 2, 1);
    bed_close(&bed);
}

static void tasks_that_stay_apart_grow_onto_nodes_of_their_own(void **state)
{
    const struct group_spec group = {.tasks = 3, .gpus = 1};
    const struct job_layout_spec layout = {
        .groups = &group, .group_count = 1, .slowdown_ppm = 1000000, .apart = 1};
    struct bed bed;

    (void)state;
    open_with(&bed, 4);
    apply(&bed, (struct event){.type = EVENT_JOB_SUBMITTED,
                               .job = {.id = 1,
                                       .queue = "",
                                       .user = "",
                                       .name = "",
                                       .layouts = &layout,
                                       .layout_count = 1,
                                       .tasks_min = 1,
                                       .remaining_us = -1}});
    bed_step(&bed);
    STARTED(&bed, 1, 0);
    bed_run(&bed, 1);
    bed_node(&bed, "n1", 4);
    bed_step(&bed);
    STARTED(&bed, 1, 1);
    assert_string_equal(bed_place(&bed, 1, 0)->node_name, "n1");
    SUBMIT(&bed, .id = 2, .gpus = 3); /* the nodes can be used by others again */
    SUBMIT(&bed, .id = 3, .gpus = 3);
    bed_step(&bed);
    assert_int_equal(bed_count(&bed, DECISION_START), 2);
    bed_close(&bed);
}

static void who_was_refused_is_not_asked_again_until_something_is_free(void **state)
{
    struct bed bed;
    uint64_t before;

    (void)state;
    open_elastic(&bed);
    bed_step(&bed);
    before = score_calls;
    assert_true(bed.core->elastic.settled_at == bed.core->index.gains);
    bed_step(&bed);
    assert_int_equal(score_calls, before);
    assert_int_equal(bed.core->elastic.count, 1);
    bed_close(&bed);
}

/* ---- shrinking ---- */

static void shrinking_stops_some_tasks_and_the_job_goes_on(void **state)
{
    struct bed bed;
    const struct decision *stop;

    (void)state;
    open_elastic(&bed);
    assert_int_equal(spare(&bed, 1), 1);
    shrink(&bed, 1, 2, JOB_NONE);
    stop = bed_find(&bed, DECISION_STOP, 1);
    assert_true(stop->mode == STOP_SHRINK && stop->reason == REASON_GIVES_WAY);
    assert_int_equal(stop->place_count, 1);
    assert_int_equal(bed.out.places[stop->place_first].task, 2);
    assert_int_equal(spare(&bed, 1), 0);
    SUBMIT(&bed, .id = 2, .gpus = 1);
    bed_step(&bed);
    assert_int_equal(bed_state(&bed, 2), JOB_PENDING); /* it still holds its GPU */
    apply(&bed, exited(1, 2, 143));                    /* this is no failure */
    assert_int_equal(bed_state(&bed, 1), JOB_RUNNING);
    bed_step(&bed);
    assert_int_equal(bed_state(&bed, 2), JOB_STARTING);
    bed_run(&bed, 2);
    bed_end(&bed, 2, 0);
    bed_step(&bed);
    STARTED(&bed, 1, 2); /* the first of those that are absent */
    bed_close(&bed);
}

static void nobody_takes_what_is_needed_for_the_minimum(void **state)
{
    struct bed bed;

    (void)state;
    open_with(&bed, 8);
    SUBMIT(&bed, .id = 1, .gpus = 1, .tasks = 4, .min = 1);
    bed_step(&bed);
    SUBMIT(&bed, .id = 2, .gpus = 1, .tasks = 2);
    SUBMIT(&bed, .id = 3, .gpus = 1, .tasks = 2, .min = 1, .service = true);
    bed_step(&bed);
    assert_int_equal(spare(&bed, 1), 0); /* who is on its way is not there yet */
    for (uint64_t id = 1; id <= 3; id++)
        bed_run(&bed, id);
    assert_int_equal(spare(&bed, 1), 3);
    assert_int_equal(spare(&bed, 2), 0);
    assert_int_equal(spare(&bed, 3), 1);
    shrink(&bed, 1, 3, JOB_NONE);
    assert_int_equal(spare(&bed, 1), 2);
    apply(&bed, lost(1, 2));
    assert_int_equal(spare(&bed, 1), 1);
    apply(&bed, exited(1, 0, 0)); /* done: of no use to who needs room */
    assert_int_equal(spare(&bed, 1), 0);
    apply(&bed, lost(1, 3)); /* and the other one goes on */
    assert_int_equal(bed_state(&bed, 1), JOB_RUNNING);
    bed_close(&bed);
}

static void a_job_shrinks_for_one_other_at_a_time_which_waits_for_that(void **state)
{
    struct bed bed;

    (void)state;
    open_with(&bed, 4);
    SUBMIT(&bed, .id = 1, .gpus = 1, .tasks = 4, .min = 1);
    bed_step(&bed);
    bed_run(&bed, 1);
    SUBMIT(&bed, .id = 2, .gpus = 1);
    bed_step(&bed);
    shrink(&bed, 1, 3, 2);
    assert_true(bed_find(&bed, DECISION_STOP, 1)->for_job == 2);
    assert_int_equal(bed_job(&bed, 2)->victims, 1);
    assert_int_equal(spare(&bed, 1), 0); /* 3 more could go, but not for somebody else */
    apply(&bed, exited(1, 3, 0));
    assert_int_equal(bed_job(&bed, 2)->victims, 0);
    assert_int_equal(spare(&bed, 1), 2);
    bed_step(&bed);
    assert_int_equal(bed_state(&bed, 2), JOB_STARTING);
    bed_close(&bed);
}

/* Fault 2: members above the minimum go first, and no more of them than needed. */
static void to_give_way_it_shrinks_by_what_is_needed(void **state)
{
    struct bed bed;
    const struct decision *stop;

    (void)state;
    bed_open(&bed, &place_first, &by_queue);
    bed_node(&bed, "n0", 11);
    SUBMIT(&bed, .id = 1, .gpus = 1, .tasks = 11, .min = 1, .queue = "5");
    bed_step(&bed);
    bed_run(&bed, 1);
    SUBMIT(&bed, .id = 2, .gpus = 1, .queue = "1");
    bed_step(&bed);
    stop = bed_find(&bed, DECISION_STOP, 1);
    assert_true(stop->mode == STOP_SHRINK && stop->for_job == 2 && stop->place_count == 1);
    assert_int_equal(bed.out.places[stop->place_first].task, 10);
    assert_int_equal(bed_reason(&bed, 2), REASON_VICTIMS);
    bed_step(&bed);
    assert_int_equal(bed.out.count, 0);
    apply(&bed, exited(1, 10, 143));
    bed_step(&bed);
    STARTED(&bed, 2, 0);
    assert_int_equal(bed.out.count, 1); /* 1 does not take the room back */
    bed_run(&bed, 2);
    SUBMIT(&bed, .id = 3, .gpus = 11, .queue = "0");
    bed_step(&bed);
    assert_true(bed_find(&bed, DECISION_STOP, 1)->mode == STOP_PREEMPT); /* all of it was needed */
    bed_close(&bed);
}

static void of_the_tasks_that_could_go_those_stay_that_do_not_help(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &by_queue);
    bed_node(&bed, "n0", 2);
    SUBMIT(&bed, .id = 1, .gpus = 1, .tasks = 2, .min = 1, .queue = "9");
    bed_step(&bed);
    bed_run(&bed, 1);
    bed_node(&bed, "n1", 3);
    SUBMIT(&bed, .id = 2, .gpus = 1, .tasks = 3, .min = 1, .queue = "5");
    bed_step(&bed);
    bed_run(&bed, 2);
    SUBMIT(&bed, .id = 3, .gpus = 2, .queue = "1");
    bed_step(&bed);
    assert_int_equal(bed_count(&bed, DECISION_STOP), 1); /* not the last task of 1 on n0 */
    assert_int_equal(bed_find(&bed, DECISION_STOP, 2)->place_count, 2);
    bed_close(&bed);
}

/* Fault 10: a service is never below its min available by what others need. */
static void a_service_gives_what_it_can_spare_and_no_more(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &by_queue);
    bed_node(&bed, "n0", 4);
    SUBMIT(&bed, .id = 1, .gpus = 1, .tasks = 4, .min = 3, .service = true, .queue = "9");
    bed_step(&bed);
    bed_run(&bed, 1);
    SUBMIT(&bed, .id = 2, .gpus = 2, .queue = "1");
    bed_step(&bed);
    assert_int_equal(bed_count(&bed, DECISION_STOP), 0);
    assert_int_equal(bed_reason(&bed, 2), REASON_ROOM);
    SUBMIT(&bed, .id = 3, .gpus = 1, .queue = "1");
    SUBMIT(&bed, .id = 4, .gpus = 1, .queue = "1");
    bed_step(&bed);
    assert_int_equal(bed_count(&bed, DECISION_STOP), 1);
    assert_int_equal(bed_find(&bed, DECISION_STOP, 1)->place_count, 1);
    apply(&bed, exited(1, 3, 0));
    bed_step(&bed);
    assert_int_equal(bed_state(&bed, 3), JOB_STARTING);
    assert_int_equal(bed_count(&bed, DECISION_STOP), 0);
    assert_int_equal(present(&bed, 1), 3);
    bed_close(&bed);
}

static void what_is_heard_late_of_an_earlier_start_is_not_taken_for_the_new_one(void **state)
{
    struct bed bed;

    (void)state;
    open_elastic(&bed);
    shrink(&bed, 1, 2, JOB_NONE);
    apply(&bed, of_run(exited(1, 2, 143), 1));
    bed_step(&bed);
    STARTED(&bed, 1, 2);
    assert_int_equal(bed_job(&bed, 1)->run, 2);
    apply(&bed, of_run(exited(1, 2, 143), 1));
    apply(&bed, of_run(exited(1, 2, 0), 1));
    apply(&bed, of_run(lost(1, 2), 1));
    apply(&bed, of_run(started(1, 2), 1));
    assert_int_equal(present(&bed, 1), 3);
    assert_int_equal(bed_job(&bed, 1)->tasks_started, 2);
    apply(&bed, of_run(started(1, 2), 2));
    assert_int_equal(bed_job(&bed, 1)->tasks_started, 3);
    refuses(&bed, of_run(started(1, 2), 3), ENOENT);
    apply(&bed, of_run(exited(1, 0, 1), 2)); /* 0 was started with the first decision */
    assert_false(bed_job(&bed, 1)->failed);
    apply(&bed, of_run(exited(1, 0, 1), 1));
    assert_true(bed_job(&bed, 1)->failed);
    bed_close(&bed);
}

/* ---- tasks that end, or are lost ---- */

static void once_a_task_is_done_the_job_grows_no_more(void **state)
{
    struct bed bed;

    (void)state;
    open_elastic(&bed);
    apply(&bed, exited(1, 1, 0));
    bed_step(&bed);
    assert_int_equal(bed.out.count, 0);
    apply(&bed, exited(1, 0, 0));
    assert_int_equal(bed_state(&bed, 1), JOB_RUNNING);
    apply(&bed, exited(1, 2, 0));
    assert_int_equal(bed_state(&bed, 1), JOB_FREE);
    bed_close(&bed);
}

static void a_task_that_fails_fails_the_job(void **state)
{
    struct bed bed;

    (void)state;
    open_elastic(&bed);
    apply(&bed, exited(1, 1, 9));
    bed_step(&bed);
    assert_int_equal(bed_find(&bed, DECISION_STOP, 1)->reason, REASON_FAILED);
    bed_end(&bed, 1, 143);
    assert_int_equal(bed_state(&bed, 1), JOB_FREE);
    bed_close(&bed);
}

static void a_lost_task_is_started_again_while_the_others_are_enough(void **state)
{
    struct bed bed;

    (void)state;
    open_elastic(&bed);
    apply(&bed, lost(1, 0));
    apply(&bed, lost(1, 0)); /* hearing it twice is harmless */
    assert_int_equal(bed_state(&bed, 1), JOB_RUNNING);
    bed_step(&bed);
    STARTED(&bed, 1, 0);
    assert_int_equal(bed_count(&bed, DECISION_STOP), 0);
    bed_close(&bed);
}

static void below_its_minimum_it_stops_and_waits_again(void **state)
{
    struct bed bed;

    (void)state;
    open_elastic(&bed);
    apply(&bed, lost(1, 0));
    apply(&bed, lost(1, 1));
    bed_step(&bed);
    assert_true(bed_find(&bed, DECISION_STOP, 1)->mode == STOP_PREEMPT);
    assert_int_equal(bed_find(&bed, DECISION_STOP, 1)->reason, REASON_LOST);
    assert_null(bed_find(&bed, DECISION_START, 1));
    apply(&bed, exited(1, 2, 143));
    assert_int_equal(bed_state(&bed, 1), JOB_PENDING);
    bed_step(&bed);
    STARTED(&bed, 1, 0, 1, 2);
    assert_int_equal(bed_find(&bed, DECISION_START, 1)->run, 2);
    bed_close(&bed);
}

/* Who is done counts for the minimum; but when the last one at work is lost, its work is too. */
static void the_last_task_at_work_is_not_lost_for_nothing(void **state)
{
    struct bed bed;

    (void)state;
    open_elastic(&bed);
    apply(&bed, exited(1, 0, 0));
    apply(&bed, exited(1, 1, 0));
    apply(&bed, lost(1, 2));
    assert_int_equal(bed_state(&bed, 1), JOB_PENDING);
    bed_close(&bed);
}

static void a_start_of_which_enough_is_left_is_a_start(void **state)
{
    struct bed bed;

    (void)state;
    open_with(&bed, 3);
    SUBMIT(&bed, .id = 1, .gpus = 1, .tasks = 3, .min = 2);
    bed_step(&bed);
    apply(&bed, started(1, 0));
    apply(&bed, started(1, 1));
    apply(&bed, lost(1, 2));
    assert_int_equal(bed_state(&bed, 1), JOB_RUNNING);
    bed_step(&bed);
    STARTED(&bed, 1, 2);
    bed_close(&bed);
}

static void a_job_that_is_cancelled_while_it_grows_stops_whole(void **state)
{
    struct bed bed;

    (void)state;
    open_elastic(&bed);
    bed_node(&bed, "n1", 1);
    bed_step(&bed);
    STARTED(&bed, 1, 3);
    apply(&bed, cancelled(1));
    bed_step(&bed);
    assert_int_equal(bed_find(&bed, DECISION_STOP, 1)->place_count, 0); /* all of them */
    for (uint32_t i = 0; i < 3; i++)
        apply(&bed, of_run(exited(1, i, 143), 1));
    assert_int_equal(bed_state(&bed, 1), JOB_STOPPING);
    apply(&bed, of_run(started(1, 3), 2));
    apply(&bed, of_run(exited(1, 3, 143), 2));
    assert_int_equal(bed_state(&bed, 1), JOB_FREE);
    bed_close(&bed);
}

static void a_node_that_goes_takes_what_grew_onto_it(void **state)
{
    struct bed bed;

    (void)state;
    open_elastic(&bed);
    bed_node(&bed, "n1", 1);
    bed_step(&bed);
    STARTED(&bed, 1, 3);
    apply(&bed, removed("n1"));
    assert_int_equal(bed_state(&bed, 1), JOB_RUNNING);
    assert_int_equal(present(&bed, 1), 3);
    apply(&bed, of_run(started(1, 3), 2)); /* it came up just before */
    bed_step(&bed);
    assert_int_equal(bed.out.count, 0);
    bed_node(&bed, "n1", 1);
    bed_step(&bed);
    STARTED(&bed, 1, 3);
    apply(&bed, removed("n0")); /* with three of four */
    bed_step(&bed);
    assert_true(bed_find(&bed, DECISION_STOP, 1)->mode == STOP_PREEMPT);
    bed_close(&bed);
}

/* ---- services ---- */

static void a_task_of_a_service_that_exits_is_started_again(void **state)
{
    struct bed bed;

    (void)state;
    open_service(&bed);
    apply(&bed, exited(1, 0, 0));
    bed_step(&bed);
    STARTED(&bed, 1, 0);
    apply(&bed, exited(1, 1, 7));
    bed_step(&bed);
    STARTED(&bed, 1, 1);
    assert_int_equal(bed_state(&bed, 1), JOB_RUNNING);
    assert_int_equal(bed_job(&bed, 1)->run, 3);
    bed_close(&bed);
}

static void a_service_without_any_task_waits_again_in_its_old_place(void **state)
{
    struct bed bed;

    (void)state;
    open_with(&bed, 1);
    SUBMIT(&bed, .id = 1, .gpus = 1, .service = true);
    SUBMIT(&bed, .id = 2, .gpus = 1);
    bed_step(&bed);
    bed_run(&bed, 1);
    apply(&bed, exited(1, 0, 0));
    assert_int_equal(bed_state(&bed, 1), JOB_PENDING);
    bed_step(&bed);
    STARTED(&bed, 1, 0);
    assert_true(core_expected_us(bed.core, row_of(&bed, 2)) == EXPECT_RUN_US); /* learned nothing */
    apply(&bed, cancelled(1));
    bed_step(&bed);
    bed_end(&bed, 1, 0);
    assert_int_equal(bed_state(&bed, 1), JOB_FREE);
    assert_true(core_expected_us(bed.core, row_of(&bed, 2)) == EXPECT_RUN_US);
    bed_close(&bed);
}

static void a_service_below_its_minimum_goes_on_and_is_mended_before_all_others(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &by_queue);
    bed_node(&bed, "n0", 2);
    bed_node(&bed, "n1", 2);
    SUBMIT(&bed, .id = 1, .gpus = 1, .tasks = 4, .min = 3, .service = true, .queue = "9");
    bed_step(&bed);
    bed_run(&bed, 1);
    apply(&bed, removed("n1"));
    bed_step(&bed);
    assert_int_equal(bed.out.count, 0); /* it is told nothing */
    assert_int_equal(present(&bed, 1), 2);
    SUBMIT(&bed, .id = 2, .gpus = 1, .queue = "1");
    bed_step(&bed);
    assert_int_equal(bed_count(&bed, DECISION_STOP), 0); /* nor does it give way */
    bed_node(&bed, "n1", 2);
    bed_step(&bed);
    STARTED(&bed, 1, 2); /* up to its minimum; then who waits has its turn */
    STARTED(&bed, 2, 0);
    bed_close(&bed);
}

/* Failures `every_us` apart; which of them is the last for the service, 0 if none of 12 is. */
static uint32_t failures_until_it_fails(int64_t every_us)
{
    uint32_t count = 0;
    struct bed bed;

    open_with(&bed, 1);
    SUBMIT(&bed, .id = 1, .gpus = 1, .service = true);
    for (uint32_t i = 1; i <= 12 && count == 0; i++) {
        bed_step(&bed);
        apply(&bed, (struct event){.type = EVENT_TIME_PASSED, .at_us = i * every_us});
        apply(&bed, exited(1, 0, 1));
        count = bed_state(&bed, 1) == JOB_FREE ? i : 0;
    }
    bed_close(&bed);
    return count;
}

static void a_service_that_fails_too_often_in_a_short_time_has_failed(void **state)
{
    struct bed bed;

    (void)state;
    assert_int_equal(failures_until_it_fails(2000000), 5);
    assert_int_equal(failures_until_it_fails(150 * 1000000ll), 5);
    assert_int_equal(failures_until_it_fails(150 * 1000000ll + 1), 0);
    open_service(&bed);
    for (uint32_t i = 0; i < 4; i++) {
        apply(&bed, exited(1, i % 3, 1));
        bed_step(&bed);
        STARTED(&bed, 1, (int)i % 3);
    }
    bed_run(&bed, 1);
    apply(&bed, (struct event){.type = EVENT_TIME_PASSED,
                               .at_us = core_now_us(bed.core) + SERVICE_LEAST_RUN_US});
    apply(&bed, exited(1, 1, 0)); /* well */
    bed_step(&bed);
    apply(&bed, exited(1, 1, 1));
    bed_step(&bed);
    assert_int_equal(bed_find(&bed, DECISION_STOP, 1)->reason, REASON_FAILED);
    assert_null(bed_find(&bed, DECISION_START, 1));
    bed_end(&bed, 1, 143);
    assert_int_equal(bed_state(&bed, 1), JOB_FREE);
    bed_close(&bed);
}

static void a_task_of_a_service_that_ends_well_at_once_has_failed(void **state)
{
    struct bed bed;

    (void)state;
    open_with(&bed, 1);
    SUBMIT(&bed, .id = 1, .gpus = 1, .service = true);
    for (uint32_t i = 0; i < SERVICE_FAILURES_MAX; i++) {
        bed_step(&bed);
        bed_run(&bed, 1);
        apply(&bed, (struct event){.type = EVENT_TIME_PASSED,
                                   .at_us = core_now_us(bed.core) + SERVICE_LEAST_RUN_US - 1});
        assert_int_equal(bed_state(&bed, 1), JOB_RUNNING);
        apply(&bed, exited(1, 0, 0));
    }
    assert_int_equal(bed_state(&bed, 1), JOB_FREE);
    SUBMIT(&bed, .id = 2, .gpus = 1, .service = true);
    for (uint32_t i = 0; i < 2 * SERVICE_FAILURES_MAX; i++) {
        bed_step(&bed);
        bed_run(&bed, 2);
        apply(&bed, (struct event){.type = EVENT_TIME_PASSED,
                                   .at_us = core_now_us(bed.core) + SERVICE_LEAST_RUN_US});
        apply(&bed, exited(2, 0, 0));
        assert_int_equal(bed_state(&bed, 2), JOB_PENDING);
    }
    bed_close(&bed);
}

/* ---- what is refused ---- */

static void only_tasks_that_are_alike_may_be_fewer(void **state)
{
    const struct group_spec groups[2] = {{.tasks = 4, .gpus = 1}, {.tasks = 1, .cpu_mcpu = 1}};
    struct job_layout_spec layouts[2] = {{groups, 1, 1000000, 0}, {groups, 1, 1200000, 0}};
    struct event event = {.type = EVENT_JOB_SUBMITTED,
                          .job = {.id = 1,
                                  .queue = "",
                                  .user = "",
                                  .name = "",
                                  .layouts = layouts,
                                  .layout_count = 1,
                                  .tasks_min = 5,
                                  .remaining_us = -1}};
    struct bed bed;

    (void)state;
    open_with(&bed, 4);
    refuses(&bed, event, EINVAL);
    event.job.tasks_min = 4;
    event.job.layout_count = 2;
    refuses(&bed, event, EINVAL);
    event.job.layout_count = 1;
    layouts[0].group_count = 2;
    refuses(&bed, event, EINVAL);
    layouts[0].group_count = 1;
    apply(&bed, event);
    bed_close(&bed);
    bed_open_with(&bed, &(struct core_config){
                            .placement = &place_first, .order = &by_queue, .repack = REPACK_KEEP});
    refuses(&bed, event, EINVAL);
    event.job.tasks_min = 0;
    event.job.service = true;
    refuses(&bed, event, EINVAL);
    bed_close(&bed);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(it_starts_with_as_many_tasks_as_fit),
        TEST(it_waits_if_fewer_fit_than_its_minimum),
        TEST(it_grows_into_room_that_becomes_free),
        TEST(who_goes_first_grows_first_and_who_waits_goes_before_both),
        TEST(an_order_that_blocks_holds_back_growth_behind_the_first),
        TEST(tasks_that_stay_apart_grow_onto_nodes_of_their_own),
        TEST(who_was_refused_is_not_asked_again_until_something_is_free),
        TEST(shrinking_stops_some_tasks_and_the_job_goes_on),
        TEST(nobody_takes_what_is_needed_for_the_minimum),
        TEST(a_job_shrinks_for_one_other_at_a_time_which_waits_for_that),
        TEST(to_give_way_it_shrinks_by_what_is_needed),
        TEST(of_the_tasks_that_could_go_those_stay_that_do_not_help),
        TEST(a_service_gives_what_it_can_spare_and_no_more),
        TEST(what_is_heard_late_of_an_earlier_start_is_not_taken_for_the_new_one),
        TEST(once_a_task_is_done_the_job_grows_no_more),
        TEST(a_task_that_fails_fails_the_job),
        TEST(a_lost_task_is_started_again_while_the_others_are_enough),
        TEST(below_its_minimum_it_stops_and_waits_again),
        TEST(the_last_task_at_work_is_not_lost_for_nothing),
        TEST(a_start_of_which_enough_is_left_is_a_start),
        TEST(a_job_that_is_cancelled_while_it_grows_stops_whole),
        TEST(a_node_that_goes_takes_what_grew_onto_it),
        TEST(a_task_of_a_service_that_exits_is_started_again),
        TEST(a_service_without_any_task_waits_again_in_its_old_place),
        TEST(a_service_below_its_minimum_goes_on_and_is_mended_before_all_others),
        TEST(a_service_that_fails_too_often_in_a_short_time_has_failed),
        TEST(a_task_of_a_service_that_ends_well_at_once_has_failed),
        TEST(only_tasks_that_are_alike_may_be_fewer),
    };

    return RUN_TESTS(tests);
}
