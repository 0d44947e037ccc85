/* SPDX-License-Identifier: Apache-2.0 */
/* The moves of a job from submission to its end, and that a refused fact changes nothing. */
#include "core/impl.h"
#include "unit/core_test.h"

static const struct heard *heard(const struct bed *bed)
{
    return bed->core->orderers[0].state;
}

static void a_job_is_submitted_started_and_ends_well(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 2);
    SUBMIT(&bed, .id = 1, .gpus = 1, .tasks = 2, .queue = "3");
    assert_int_equal(bed_state(&bed, 1), JOB_PENDING);
    assert_int_equal(bed_reason(&bed, 1), REASON_NEW);
    assert_int_equal(bed_step(&bed), 1);
    assert_starts(&bed, 1, 0, "n0", 1);
    assert_starts(&bed, 1, 1, "n0", 2);
    assert_int_equal(bed_state(&bed, 1), JOB_STARTING);
    apply(&bed, started(1, 1));
    assert_int_equal(bed_state(&bed, 1), JOB_STARTING);
    apply(&bed, started(1, 0));
    assert_int_equal(bed_state(&bed, 1), JOB_RUNNING);
    assert_int_equal(bed_step(&bed), 0);
    apply(&bed, exited(1, 0, 0));
    assert_int_equal(bed_state(&bed, 1), JOB_RUNNING);
    apply(&bed, exited(1, 1, 0));
    assert_int_equal(bed_state(&bed, 1), JOB_FREE);
    assert_int_equal(heard(&bed)->submitted, 1);
    assert_int_equal(heard(&bed)->started, 1);
    assert_int_equal(heard(&bed)->finished_state[JOB_FINISHED], 1);
    assert_int_equal(bed.core->index.whole_free, 2);
    bed_close(&bed);
}

static void hearing_an_ack_twice_is_harmless(void **state)
{
    struct bed bed;
    uint64_t before;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 4);
    SUBMIT(&bed, .id = 1, .gpus = 1, .tasks = 2);
    bed_step(&bed);
    apply(&bed, started(1, 0));
    before = core_digest(bed.core);
    apply(&bed, started(1, 0));
    assert_true(core_digest(bed.core) == before);
    apply(&bed, started(1, 1));
    apply(&bed, exited(1, 0, 0));
    before = core_digest(bed.core);
    apply(&bed, exited(1, 0, 0));
    apply(&bed, exited(1, 0, 9));
    apply(&bed, lost(1, 0));
    apply(&bed, started(1, 0));
    apply(&bed, started_on(1, 0, "n0", 8));
    assert_true(core_digest(bed.core) == before);
    apply(&bed, cancelled(1));
    before = core_digest(bed.core);
    apply(&bed, cancelled(1));
    assert_true(core_digest(bed.core) == before);
    bed_close(&bed);
}

static void a_waiting_job_that_is_cancelled_is_gone_at_once(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    SUBMIT(&bed, .id = 1, .gpus = 1);
    apply(&bed, cancelled(1));
    assert_int_equal(bed_state(&bed, 1), JOB_FREE);
    assert_int_equal(heard(&bed)->finished_state[JOB_CANCELLED], 1);
    assert_int_equal(bed_step(&bed), 0);
    bed_close(&bed);
}

static void a_starting_job_that_is_cancelled_is_told_to_stop_and_holds_until_it_left(void **state)
{
    struct bed bed;
    const struct decision *stop;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 1);
    SUBMIT(&bed, .id = 1, .gpus = 1);
    bed_step(&bed);
    apply(&bed, cancelled(1));
    SUBMIT(&bed, .id = 2, .gpus = 1);
    bed_step(&bed);
    stop = bed_find(&bed, DECISION_STOP, 1);
    assert_non_null(stop);
    assert_int_equal(stop->mode, STOP_CANCEL);
    assert_null(bed_find(&bed, DECISION_START, 2));
    apply(&bed, started(1, 0)); /* it was on its way */
    assert_int_equal(bed_state(&bed, 1), JOB_STOPPING);
    bed_step(&bed);
    assert_int_equal(bed_count(&bed, DECISION_STOP), 0);
    assert_null(bed_find(&bed, DECISION_START, 2));
    apply(&bed, exited(1, 0, 143));
    assert_int_equal(heard(&bed)->finished_state[JOB_CANCELLED], 1);
    bed_step(&bed);
    assert_starts(&bed, 2, 0, "n0", 1);
    bed_close(&bed);
}

static void a_task_that_fails_takes_its_gang_with_it(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 3);
    SUBMIT(&bed, .id = 1, .gpus = 1, .tasks = 3);
    bed_step(&bed);
    bed_run(&bed, 1);
    apply(&bed, exited(1, 1, 1));
    bed_step(&bed);
    assert_non_null(bed_find(&bed, DECISION_STOP, 1));
    assert_int_equal(bed_find(&bed, DECISION_STOP, 1)->mode, STOP_CANCEL);
    bed_end(&bed, 1, 0);
    assert_int_equal(bed_state(&bed, 1), JOB_FREE);
    assert_int_equal(heard(&bed)->finished_state[JOB_FAILED], 1);
    bed_close(&bed);
}

static void a_job_that_lost_a_task_waits_again_and_keeps_its_turn(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 2);
    SUBMIT(&bed, .id = 1, .gpus = 1, .tasks = 2);
    bed_step(&bed);
    bed_run(&bed, 1);
    SUBMIT(&bed, .id = 2, .gpus = 1, .tasks = 2);
    apply(&bed, lost(1, 0));
    bed_step(&bed);
    assert_int_equal(bed_find(&bed, DECISION_STOP, 1)->mode, STOP_PREEMPT);
    assert_int_equal(bed_state(&bed, 1), JOB_STOPPING);
    assert_null(bed_find(&bed, DECISION_START, 2));
    apply(&bed, exited(1, 1, 0)); /* ended well, but the job as a whole did not */
    assert_int_equal(bed_state(&bed, 1), JOB_PENDING);
    assert_int_equal(heard(&bed)->stopped, 1);
    bed_step(&bed);
    assert_non_null(bed_find(&bed, DECISION_START, 1));
    assert_null(bed_find(&bed, DECISION_START, 2));
    bed_close(&bed);
}

static void run_time_is_kept_over_preemption(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &by_queue);
    bed_node(&bed, "n0", 1);
    SUBMIT(&bed, .id = 1, .gpus = 1, .queue = "5", .remaining_us = 10000000);
    bed_step(&bed);
    bed_run(&bed, 1);
    bed_step(&bed);
    bed_step(&bed);
    assert_int_equal(job_attained_us(bed_job(&bed, 1), bed.now_us), 2000000);
    assert_int_equal(job_remaining_us(bed_job(&bed, 1), bed.now_us), 8000000);
    SUBMIT(&bed, .id = 2, .gpus = 1, .queue = "1");
    bed_step(&bed);
    assert_int_equal(bed_find(&bed, DECISION_STOP, 1)->mode, STOP_PREEMPT);
    bed_end(&bed, 1, 143);
    assert_int_equal(bed_state(&bed, 1), JOB_PENDING);
    assert_int_equal(bed_job(&bed, 1)->attained_us, 3000000);
    assert_int_equal(bed_job(&bed, 1)->remaining_us, 7000000);
    assert_int_equal(bed_job(&bed, 1)->preemptions, 1);
    bed_step(&bed);
    bed_run(&bed, 2);
    bed_end(&bed, 2, 0);
    bed_step(&bed);
    bed_run(&bed, 1);
    bed_step(&bed);
    assert_int_equal(job_attained_us(bed_job(&bed, 1), bed.now_us), 4000000);
    bed_close(&bed);
}

static void a_job_that_ends_well_while_told_to_give_way_has_ended(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &by_queue);
    bed_node(&bed, "n0", 1);
    SUBMIT(&bed, .id = 1, .gpus = 1, .queue = "5");
    bed_step(&bed);
    bed_run(&bed, 1);
    SUBMIT(&bed, .id = 2, .gpus = 1, .queue = "1");
    bed_step(&bed);
    bed_end(&bed, 1, 0);
    assert_int_equal(bed_state(&bed, 1), JOB_FREE);
    assert_int_equal(heard(&bed)->finished_state[JOB_FINISHED], 1);
    bed_step(&bed);
    assert_non_null(bed_find(&bed, DECISION_START, 2));
    bed_close(&bed);
}

static void a_preempted_job_that_is_cancelled_while_it_stops_does_not_come_back(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &by_queue);
    bed_node(&bed, "n0", 1);
    SUBMIT(&bed, .id = 1, .gpus = 1, .queue = "5");
    bed_step(&bed);
    bed_run(&bed, 1);
    SUBMIT(&bed, .id = 2, .gpus = 1, .queue = "1");
    bed_step(&bed);
    apply(&bed, cancelled(1));
    bed_step(&bed);
    assert_int_equal(bed_count(&bed, DECISION_STOP), 0); /* it was told already */
    bed_end(&bed, 1, 143);
    assert_int_equal(bed_state(&bed, 1), JOB_FREE);
    assert_int_equal(heard(&bed)->finished_state[JOB_CANCELLED], 1);
    bed_close(&bed);
}

/* The acks of a task may come out of order: it exits before it was heard to start. */
static void a_task_that_ended_before_it_was_heard_to_start_counts_as_started(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 2);
    SUBMIT(&bed, .id = 1, .gpus = 1, .tasks = 2);
    bed_step(&bed);
    apply(&bed, exited(1, 0, 0));
    apply(&bed, started(1, 0));
    apply(&bed, started(1, 1));
    assert_int_equal(bed_state(&bed, 1), JOB_RUNNING);
    assert_int_equal(heard(&bed)->started, 1);
    apply(&bed, exited(1, 1, 0));
    assert_int_equal(heard(&bed)->finished_state[JOB_FINISHED], 1);
    bed_close(&bed);
}

/* ---- nodes ---- */

static void a_removed_node_takes_its_tasks_along_and_the_job_waits_again(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_empty, &in_turn);
    bed_nodes(&bed, 2, 1);
    SUBMIT(&bed, .id = 1, .gpus = 1, .tasks = 2);
    SUBMIT(&bed, .id = 2, .gpus = 1);
    bed_step(&bed);
    bed_run(&bed, 1);
    apply(&bed, removed("n0"));
    assert_int_equal(bed_state(&bed, 1), JOB_RUNNING);
    bed_step(&bed);
    assert_non_null(bed_find(&bed, DECISION_STOP, 1));
    bed_end(&bed, 1, 143);
    assert_int_equal(bed_state(&bed, 1), JOB_PENDING);
    bed_step(&bed); /* job 1 needs two nodes; job 2 may have the one that is left */
    assert_null(bed_find(&bed, DECISION_START, 1));
    assert_starts(&bed, 2, 0, "n1", 1);
    bed_close(&bed);
}

static uint64_t total_gpus(const struct core *core)
{
    uint64_t total = 0;

    for (uint32_t i = 0; i < core_class_count(core); i++)
        total += (uint64_t)core_class_nodes(core, i) * core_class(core, i)->gpu_count;
    return total;
}

static void a_node_that_comes_back_with_fewer_gpus_has_fewer(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n1", 8);
    assert_int_equal(total_gpus(bed.core), 8);
    apply(&bed, removed("n1"));
    assert_int_equal(total_gpus(bed.core), 0);
    bed_node(&bed, "n1", 4);
    assert_int_equal(total_gpus(bed.core), 4);
    assert_int_equal(bed.core->index.whole_free, 4);
    SUBMIT(&bed, .id = 1, .gpus = 1, .tasks = 5);
    SUBMIT(&bed, .id = 2, .gpus = 1, .tasks = 4);
    bed_step(&bed);
    assert_null(bed_find(&bed, DECISION_START, 1));
    assert_non_null(bed_find(&bed, DECISION_START, 2));
    bed_close(&bed);
}

static void a_node_may_shrink_and_grow_around_what_runs_on_it(void **state)
{
    struct bed bed;
    struct event event = {.type = EVENT_NODE_UPSERTED,
                          .node = {.name = "n0",
                                   .model = "A100",
                                   .gpus = 1,
                                   .gpu_memory_bytes = 80 * GB,
                                   .cpu_mcpu = 100000,
                                   .memory_bytes = 1000 * GB}};

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 4);
    SUBMIT(&bed, .id = 1, .gpus = 2);
    bed_step(&bed);
    bed_refuses(&bed, &event, EBUSY); /* GPU 1 is used */
    event.node.gpus = 2;
    bed_apply(&bed, &event);
    assert_int_equal(bed.core->index.whole_free, 0);
    event.node.gpus = 6;
    bed_apply(&bed, &event);
    assert_int_equal(bed.core->index.whole_free, 4);
    bed_end(&bed, 1, 0);
    assert_int_equal(bed.core->index.whole_free, 6);
    bed_close(&bed);
}

static void a_node_with_less_memory_a_gpu_books_its_shares_anew(void **state)
{
    struct bed bed;
    const struct event event = {.type = EVENT_NODE_UPSERTED,
                                .node = {.name = "n0",
                                         .model = "A100",
                                         .gpus = 1,
                                         .gpu_memory_bytes = 40 * GB,
                                         .cpu_mcpu = 100000,
                                         .memory_bytes = 1000 * GB}};

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 1);
    SUBMIT(&bed, .id = 1, .gpus = 1, .mgpu = 500);
    SUBMIT(&bed, .id = 2, .gpus = 1, .gpu_bytes = 20 * GB);
    bed_step(&bed);
    assert_int_equal(bed.core->nodes.gpus[0].held_bytes, 60 * GB);
    assert_int_equal(bed.core->nodes.gpus[0].held_mgpu, 750);
    bed_apply(&bed, &event);
    assert_int_equal(bed.core->nodes.gpus[0].held_bytes, 40 * GB);
    assert_int_equal(bed.core->nodes.gpus[0].held_mgpu, 1000);
    bed_end(&bed, 1, 0);
    bed_end(&bed, 2, 0);
    assert_int_equal(bed.core->index.whole_free, 1);
    bed_close(&bed);
}

static void a_lost_gpu_is_not_given_out_until_it_is_healthy(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 8);
    apply(&bed, health("n0", 3, GPU_LOST));
    apply(&bed, health("n0", 3, GPU_LOST));
    for (uint64_t id = 1; id <= 8; id++)
        SUBMIT(&bed, .id = id, .gpus = 1);
    bed_step(&bed);
    assert_int_equal(bed_count(&bed, DECISION_START), 7);
    for (uint32_t i = 0; i < bed.out.place_count; i++)
        assert_true(bed.out.places[i].gpu_mask != 1u << 3);
    apply(&bed, health("n0", 3, GPU_HEALTHY));
    bed_step(&bed);
    assert_starts(&bed, 8, 0, "n0", 1u << 3);
    bed_close(&bed);
}

static void a_gpu_lost_under_a_job_frees_nothing_until_the_task_is_lost(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_nodes(&bed, 2, 1);
    SUBMIT(&bed, .id = 1, .gpus = 1);
    bed_step(&bed);
    bed_run(&bed, 1);
    apply(&bed, health("n0", 0, GPU_LOST));
    bed_step(&bed);
    assert_int_equal(bed_state(&bed, 1), JOB_RUNNING);
    apply(&bed, lost(1, 0));
    bed_step(&bed);
    assert_starts(&bed, 1, 0, "n1", 1);
    bed_close(&bed);
}

/* ---- taken otherwise ---- */

static void the_books_follow_the_gpus_that_were_really_taken(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_nodes(&bed, 2, 2);
    SUBMIT(&bed, .id = 1, .gpus = 1);
    SUBMIT(&bed, .id = 2, .gpus = 1);
    bed_step(&bed);
    assert_starts(&bed, 1, 0, "n0", 1);
    apply(&bed, started_on(1, 0, "n1", 2));
    SUBMIT(&bed, .id = 3, .gpus = 1, .tasks = 2);
    bed_step(&bed);
    assert_starts(&bed, 3, 0, "n0", 1);
    assert_starts(&bed, 3, 1, "n1", 1);
    bed_end(&bed, 1, 0);
    bed_end(&bed, 2, 0);
    bed_end(&bed, 3, 0);
    assert_int_equal(bed.core->index.whole_free, 4);
    bed_close(&bed);
}

static void a_gpu_taken_twice_is_a_deficit_until_one_has_left(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 2);
    SUBMIT(&bed, .id = 1, .gpus = 1);
    SUBMIT(&bed, .id = 2, .gpus = 1);
    bed_step(&bed);
    apply(&bed, started_on(1, 0, "n0", 2));
    assert_true(bed.core->nodes.rows[0].deficit);
    assert_int_equal(bed.core->index.whole_free, 1);
    SUBMIT(&bed, .id = 3, .gpus = 1);
    bed_step(&bed);
    assert_starts(&bed, 3, 0, "n0", 1);
    apply(&bed, started(2, 0));
    apply(&bed, exited(1, 0, 0));
    assert_false(bed.core->nodes.rows[0].deficit);
    assert_int_equal(bed.core->index.whole_free, 0);
    apply(&bed, exited(2, 0, 0));
    assert_int_equal(bed.core->index.whole_free, 1);
    bed_close(&bed);
}

/* ---- what is refused ---- */

static void refuses_job(struct bed *bed, const struct job_spec *job, int error)
{
    const struct event event = {.type = EVENT_JOB_SUBMITTED, .at_us = 99000000, .job = *job};

    bed_refuses(bed, &event, error);
}

static void a_job_out_of_range_is_refused_and_changes_nothing(void **state)
{
    static const char *terms[SELECTOR_TERMS_MAX + 1];
    struct group_spec groups[GANG_GROUPS_MAX + 1], good = {.tasks = 1, .gpus = 1};
    struct job_layout_spec layouts[GANG_LAYOUTS_MAX + 1],
        layout = {.groups = groups, .group_count = 1, .slowdown_ppm = 1000000};
    struct job_spec job = {.id = 9,
                           .queue = "new-queue",
                           .user = "new-user",
                           .name = "new-name",
                           .layouts = &layout,
                           .layout_count = 1,
                           .remaining_us = -1};
    const struct group_spec bad[] = {
        {.tasks = 0, .gpus = 1},
        {.tasks = JOB_TASKS_MAX + 1, .gpus = 1},
        {.tasks = 1, .gpus = NODE_GPUS_MAX + 1},
        {.tasks = 1, .gpus = 1, .gpu_mgpu = GPU_MGPU + 1},
        {.tasks = 1, .gpus = 0, .gpu_mgpu = 1},
        {.tasks = 1, .gpus = 0, .gpu_memory_bytes = 1},
        {.tasks = 1, .gpus = 1, .gpu_memory_bytes = -1},
        {.tasks = 1, .gpus = 1, .gpu_memory_bytes = MEMORY_BYTES_MAX + 1},
        {.tasks = 1, .cpu_mcpu = -1},
        {.tasks = 1, .cpu_mcpu = CPU_MCPU_MAX + 1},
        {.tasks = 1, .memory_bytes = -1},
        {.tasks = 1, .memory_bytes = MEMORY_BYTES_MAX + 1},
        {.tasks = 1, .gpus = 1, .models = terms, .model_count = SELECTOR_TERMS_MAX + 1},
        {.tasks = 1, .gpus = 1, .labels = terms, .label_count = SELECTOR_TERMS_MAX + 1},
    };
    struct bed bed;

    (void)state;
    for (uint32_t i = 0; i <= SELECTOR_TERMS_MAX; i++)
        terms[i] = "new-term";
    bed_open(&bed, &place_first, &in_turn);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        groups[0] = bad[i];
        refuses_job(&bed, &job, EINVAL);
        groups[0] = good; /* and as the second group, and in the second layout */
        groups[1] = bad[i];
        layout.group_count = 2;
        refuses_job(&bed, &job, EINVAL);
        layout.group_count = 1;
    }
    for (uint32_t i = 0; i <= GANG_GROUPS_MAX; i++)
        groups[i] = good;
    layout.group_count = 0;
    refuses_job(&bed, &job, EINVAL);
    layout.group_count = GANG_GROUPS_MAX + 1;
    refuses_job(&bed, &job, EINVAL);
    groups[0].tasks = groups[1].tasks = JOB_TASKS_MAX / 2 + 1;
    layout.group_count = 2;
    refuses_job(&bed, &job, EINVAL);
    groups[0] = groups[1] = good;
    for (uint32_t i = 0; i <= GANG_LAYOUTS_MAX; i++)
        layouts[i] =
            (struct job_layout_spec){.groups = groups, .group_count = 1, .slowdown_ppm = 1000000};
    job.layouts = layouts;
    job.layout_count = 0;
    refuses_job(&bed, &job, EINVAL);
    job.layout_count = GANG_LAYOUTS_MAX + 1;
    refuses_job(&bed, &job, EINVAL);
    job.layout_count = 2;
    layouts[1].group_count = 0;
    refuses_job(&bed, &job, EINVAL);
    layouts[1].group_count = 1;
    job.id = JOB_NONE;
    refuses_job(&bed, &job, EINVAL);
    bed_close(&bed);
}

static void a_deadline_before_all_time_is_refused_and_0_is_none(void **state)
{
    const struct group_spec group = {.tasks = 1, .gpus = 1};
    const struct job_layout_spec layout = {
        .groups = &group, .group_count = 1, .slowdown_ppm = 1000000};
    const struct job_spec job = {.id = 9,
                                 .queue = "",
                                 .user = "",
                                 .name = "",
                                 .layouts = &layout,
                                 .layout_count = 1,
                                 .deadline_us = -1};
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    refuses_job(&bed, &job, EINVAL);
    SUBMIT(&bed, .id = 1, .gpus = 1);
    SUBMIT(&bed, .id = 2, .gpus = 1, .deadline_us = 5);
    assert_true(bed_job(&bed, 1)->deadline_us == TIME_NONE);
    assert_true(bed_job(&bed, 2)->deadline_us == 5);
    bed_close(&bed);
}

static void the_largest_job_is_accepted(void **state)
{
    struct group_spec groups[GANG_GROUPS_MAX];
    const struct job_layout_spec layout = {
        .groups = groups, .group_count = GANG_GROUPS_MAX, .slowdown_ppm = 1000000};
    struct bed bed;

    (void)state;
    for (uint32_t i = 0; i < GANG_GROUPS_MAX; i++)
        groups[i] = (struct group_spec){.tasks = JOB_TASKS_MAX / GANG_GROUPS_MAX, .cpu_mcpu = i};
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", NODE_GPUS_MAX);
    bed_apply(&bed, &(struct event){.type = EVENT_JOB_SUBMITTED,
                                    .job = {.id = 1,
                                            .queue = "",
                                            .user = "",
                                            .name = "",
                                            .layouts = &layout,
                                            .layout_count = 1,
                                            .remaining_us = -1}});
    SUBMIT(&bed, .id = 2, .gpus = NODE_GPUS_MAX);
    bed_step(&bed);
    assert_int_equal(bed_find(&bed, DECISION_START, 2)->place_count, 1);
    assert_starts(&bed, 2, 0, "n0", UINT64_MAX);
    bed_close(&bed);
}

static void a_node_out_of_range_is_refused_and_changes_nothing(void **state)
{
    static const char *labels[SELECTOR_TERMS_MAX + 1];
    const struct node_spec bad[] = {
        {.name = "", .model = "new-model"},
        {.name = NULL, .model = "new-model"},
        {.name = "n9", .model = "new-model", .gpus = NODE_GPUS_MAX + 1},
        {.name = "n9", .model = "new-model", .gpu_memory_bytes = -1},
        {.name = "n9", .model = "new-model", .gpu_memory_bytes = MEMORY_BYTES_MAX + 1},
        {.name = "n9", .model = "new-model", .cpu_mcpu = -1},
        {.name = "n9", .model = "new-model", .cpu_mcpu = CPU_MCPU_MAX + 1},
        {.name = "n9", .model = "new-model", .memory_bytes = -1},
        {.name = "n9", .model = "new-model", .memory_bytes = MEMORY_BYTES_MAX + 1},
        {.name = "n9",
         .model = "new-model",
         .labels = labels,
         .label_count = SELECTOR_TERMS_MAX + 1},
    };
    struct bed bed;

    (void)state;
    for (uint32_t i = 0; i <= SELECTOR_TERMS_MAX; i++)
        labels[i] = "new=label";
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 1);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        bed_refuses(&bed, &(struct event){.type = EVENT_NODE_UPSERTED, .at_us = 5, .node = bad[i]},
                    EINVAL);
    refuses(&bed, removed("n9"), ENOENT);
    refuses(&bed, health("n9", 0, GPU_LOST), ENOENT);
    refuses(&bed, health("n0", 1, GPU_LOST), EINVAL);
    bed_close(&bed);
}

static void an_ack_of_nothing_is_refused_and_changes_nothing(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 2);
    bed_node(&bed, "cpu", 0);
    SUBMIT(&bed, .id = 1, .gpus = 1);
    refuses(&bed, started(1, 0), ENOENT); /* it waits */
    refuses(&bed, exited(1, 0, 0), ENOENT);
    refuses(&bed, lost(1, 0), ENOENT);
    bed_step(&bed);
    refuses(&bed, started(2, 0), ENOENT);
    refuses(&bed, exited(2, 0, 1), ENOENT);
    refuses(&bed, lost(2, 0), ENOENT);
    refuses(&bed, cancelled(2), ENOENT);
    refuses(&bed, started(1, 1), ENOENT);
    refuses(&bed, exited(1, 1, 1), ENOENT);
    refuses(&bed, lost(1, UINT32_MAX), ENOENT);
    refuses(&bed, started_on(1, 0, "n9", 1), ENOENT);
    refuses(&bed, started_on(1, 0, "n0", 0), EINVAL);
    refuses(&bed, started_on(1, 0, "n0", 3), EINVAL);
    refuses(&bed, started_on(1, 0, "n0", 4), EINVAL);
    refuses(&bed, started_on(1, 0, "cpu", 0), EINVAL);
    bed_refuses(&bed, &(struct event){.type = EVENT_JOB_PROGRESS, .progress = {2, 5}}, ENOENT);
    bed_refuses(&bed, &(struct event){.type = EVENT_JOB_PROGRESS, .progress = {1, -5}}, EINVAL);
    bed_refuses(&bed, &(struct event){.type = EVENT_TYPE_COUNT}, EINVAL);
    bed_refuses(&bed, &(struct event){.type = EVENT_TIME_PASSED, .at_us = -1}, EINVAL);
    bed_refuses(&bed, &(struct event){.type = EVENT_TIME_PASSED, .at_us = TIME_NONE}, EINVAL);
    bed_close(&bed);
}

static void a_job_that_is_known_is_refused(void **state)
{
    const struct group_spec group = {.tasks = 1, .gpus = 1};
    const struct job_layout_spec layout = {
        .groups = &group, .group_count = 1, .slowdown_ppm = 1000000};
    const struct job_spec again = {.id = 1,
                                   .queue = "other",
                                   .user = "",
                                   .name = "",
                                   .layouts = &layout,
                                   .layout_count = 1,
                                   .remaining_us = -1};
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 1);
    SUBMIT(&bed, .id = 1, .gpus = 1);
    refuses_job(&bed, &again, EEXIST);
    bed_step(&bed);
    refuses_job(&bed, &again, EEXIST);
    bed_close(&bed);
}

static void the_limits_of_the_configuration_hold(void **state)
{
    const struct core_config config = {
        .placement = &place_first, .order = &in_turn, .nodes_max = 2, .jobs_max = 3};
    const struct group_spec group = {.tasks = 1, .gpus = 1};
    const struct job_layout_spec layout = {
        .groups = &group, .group_count = 1, .slowdown_ppm = 1000000};
    const struct job_spec fourth = {.id = 4,
                                    .queue = "",
                                    .user = "",
                                    .name = "",
                                    .layouts = &layout,
                                    .layout_count = 1,
                                    .remaining_us = -1};
    struct bed bed;

    (void)state;
    bed_open_with(&bed, &config);
    bed_nodes(&bed, 2, 1);
    bed_refuses(&bed,
                &(struct event){.type = EVENT_NODE_UPSERTED,
                                .node = {.name = "n2", .model = "new-model", .gpus = 1}},
                ENOSPC);
    bed_node(&bed, "n1", 2); /* known nodes may change */
    for (uint64_t id = 1; id <= 3; id++)
        SUBMIT(&bed, .id = id, .gpus = 1);
    refuses_job(&bed, &fourth, ENOSPC);
    bed_step(&bed);
    refuses_job(&bed, &fourth, ENOSPC); /* running jobs count */
    apply(&bed, exited(1, 0, 0));
    SUBMIT(&bed, .id = 4, .gpus = 1);
    apply(&bed, removed("n0"));
    bed_node(&bed, "n2", 1);
    bed_close(&bed);
}

static void a_configuration_out_of_range_makes_no_core(void **state)
{
    struct order_policy no_hysteresis = in_turn;
    const struct group_spec bad_mix = {.tasks = 5, .gpus = NODE_GPUS_MAX + 1};
    const struct core_config bad[] = {
        {.order = &in_turn},
        {.placement = &place_first},
        {.placement = &place_first, .order = &no_hysteresis},
        {.placement = &place_first, .order = &in_turn, .nodes_max = NODES_MAX + 1},
        {.placement = &place_first, .order = &in_turn, .jobs_max = JOBS_MAX + 1},
        {.placement = &place_first, .order = &in_turn, .mix = &bad_mix, .mix_count = 1},
    };

    (void)state;
    no_hysteresis.hysteresis_ppm = 0;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct err err = {""};

        assert_null(core_new(&bad[i], &err));
        assert_true(err.text[0] != '\0');
        assert_null(core_new(&bad[i], NULL));
    }
}

/* ---- the clock ---- */

static void the_clock_never_goes_back(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_apply(&bed, &(struct event){.type = EVENT_TIME_PASSED, .at_us = 5000000});
    assert_int_equal(core_now_us(bed.core), 5000000);
    bed_apply(&bed, &(struct event){.type = EVENT_STEPPED, .at_us = 3000000});
    assert_int_equal(core_now_us(bed.core), 5000000);
    core_step(bed.core, 1000000, &bed.out);
    assert_int_equal(core_now_us(bed.core), 5000000);
    SUBMIT(&bed, .id = 1, .gpus = 1);
    assert_int_equal(bed_job(&bed, 1)->submit_us, 5000000);
    bed_close(&bed);
}

static void an_order_whose_keys_grow_wakes_the_core_while_a_job_waits(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &by_attained);
    bed_node(&bed, "n0", 2);
    bed_apply(&bed, &(struct event[]){health("n0", 1, GPU_LOST)}[0]);
    SUBMIT(&bed, .id = 1, .gpus = 2);
    bed_step(&bed);
    assert_true(core_next_wake_us(bed.core) == TIME_NONE); /* nobody runs whom it could take from */
    SUBMIT(&bed, .id = 2, .gpus = 1);
    bed_step(&bed);
    bed_run(&bed, 2);
    assert_true(core_next_wake_us(bed.core) == bed.now_us + 1000000);
    bed_apply(&bed, &(struct event){.type = EVENT_TIME_PASSED, .at_us = TIME_US_MAX});
    assert_true(core_next_wake_us(bed.core) == TIME_NONE); /* there is no later time */
    bed_close(&bed);
}

static void a_late_report_of_an_earlier_run_does_not_touch_the_present_one(void **state)
{
    struct event late = exited(1, 0, 0), started_late = started(1, 0), early = exited(1, 0, 0);
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 1);
    SUBMIT(&bed, .id = 1, .gpus = 1);
    bed_step(&bed);
    assert_int_equal(bed.out.items[0].run, 1);
    bed_run(&bed, 1);
    apply(&bed, lost(1, 0));
    late.task.run = 1;
    started_late.task.run = 1;
    apply(&bed, late); /* it waits again */
    assert_int_equal(bed_state(&bed, 1), JOB_PENDING);
    bed_step(&bed);
    assert_int_equal(bed_job(&bed, 1)->run, 2);
    apply(&bed, started_late);
    assert_int_equal(bed_state(&bed, 1), JOB_STARTING);
    bed_run(&bed, 1);
    apply(&bed, late);
    assert_int_equal(bed_state(&bed, 1), JOB_RUNNING);
    early.task.run = 3; /* there was no such run yet */
    assert_int_equal(core_apply(bed.core, &early, &bed.err), -ENOENT);
    late.task.run = 2;
    apply(&bed, late);
    assert_int_equal(bed_state(&bed, 1), JOB_FREE);
    bed_close(&bed);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(a_late_report_of_an_earlier_run_does_not_touch_the_present_one),
        TEST(a_job_is_submitted_started_and_ends_well),
        TEST(hearing_an_ack_twice_is_harmless),
        TEST(a_waiting_job_that_is_cancelled_is_gone_at_once),
        TEST(a_starting_job_that_is_cancelled_is_told_to_stop_and_holds_until_it_left),
        TEST(a_task_that_fails_takes_its_gang_with_it),
        TEST(a_job_that_lost_a_task_waits_again_and_keeps_its_turn),
        TEST(run_time_is_kept_over_preemption),
        TEST(a_job_that_ends_well_while_told_to_give_way_has_ended),
        TEST(a_preempted_job_that_is_cancelled_while_it_stops_does_not_come_back),
        TEST(a_task_that_ended_before_it_was_heard_to_start_counts_as_started),
        TEST(a_removed_node_takes_its_tasks_along_and_the_job_waits_again),
        TEST(a_node_that_comes_back_with_fewer_gpus_has_fewer),
        TEST(a_node_may_shrink_and_grow_around_what_runs_on_it),
        TEST(a_node_with_less_memory_a_gpu_books_its_shares_anew),
        TEST(a_lost_gpu_is_not_given_out_until_it_is_healthy),
        TEST(a_gpu_lost_under_a_job_frees_nothing_until_the_task_is_lost),
        TEST(the_books_follow_the_gpus_that_were_really_taken),
        TEST(a_gpu_taken_twice_is_a_deficit_until_one_has_left),
        TEST(a_job_out_of_range_is_refused_and_changes_nothing),
        TEST(a_deadline_before_all_time_is_refused_and_0_is_none),
        TEST(the_largest_job_is_accepted),
        TEST(a_node_out_of_range_is_refused_and_changes_nothing),
        TEST(an_ack_of_nothing_is_refused_and_changes_nothing),
        TEST(a_job_that_is_known_is_refused),
        TEST(the_limits_of_the_configuration_hold),
        TEST(a_configuration_out_of_range_makes_no_core),
        TEST(the_clock_never_goes_back),
        TEST(an_order_whose_keys_grow_wakes_the_core_while_a_job_waits),
    };

    return RUN_TESTS(tests);
}
