/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that are kept out of the queue: held, waiting for other jobs, or for their array. */
#include "base/mem.h"
#include "core/impl.h"
#include "unit/core_test.h"

struct kept {
    uint64_t id, after;
    enum after_end end;
    bool held;
    const char *array, *user;
    uint32_t limit;
};

static int submit(struct bed *bed, const struct kept *kept)
{
    static const struct group_spec group = {.tasks = 1, .gpus = 1};
    static const struct job_layout_spec layout = {
        .groups = &group, .group_count = 1, .slowdown_ppm = 1000000};
    const struct job_after after = {kept->after, kept->end};

    return core_apply(bed->core,
                      &(struct event){.type = EVENT_JOB_SUBMITTED,
                                      .at_us = bed->now_us,
                                      .job = {.id = kept->id,
                                              .queue = "",
                                              .user = kept->user != NULL ? kept->user : "",
                                              .name = "",
                                              .held = kept->held,
                                              .array = kept->array != NULL ? kept->array : "",
                                              .array_limit = kept->limit,
                                              .after = &after,
                                              .after_count = kept->after > 0,
                                              .layouts = &layout,
                                              .layout_count = 1,
                                              .remaining_us = -1}},
                      &bed->err);
}
#define KEEP(bed, ...) assert_int_equal(submit(bed, &(struct kept){__VA_ARGS__}), 0)

static struct event held(uint64_t id)
{
    return (struct event){.type = EVENT_JOB_HELD, .job_id = id};
}

static struct event released(uint64_t id)
{
    return (struct event){.type = EVENT_JOB_RELEASED, .job_id = id};
}

static void open_with(struct bed *bed, uint32_t gpus)
{
    bed_open(bed, &place_first, &in_turn);
    bed_node(bed, "n0", gpus);
}

static void a_held_job_starts_when_it_is_released(void **state)
{
    struct bed bed;

    (void)state;
    open_with(&bed, 2);
    KEEP(&bed, .id = 1, .held = true);
    KEEP(&bed, .id = 2);
    bed_step(&bed);
    assert_int_equal(bed_state(&bed, 1), JOB_PENDING);
    assert_int_equal(bed_reason(&bed, 1), REASON_HELD);
    assert_int_equal(bed_state(&bed, 2), JOB_STARTING);
    bed_step(&bed);
    assert_int_equal(bed.out.count, 0); /* it is told once */
    apply(&bed, released(1));
    bed_step(&bed);
    assert_int_equal(bed_state(&bed, 1), JOB_STARTING);
    bed_close(&bed);
}

static void a_waiting_job_that_is_held_gives_its_turn_away(void **state)
{
    struct bed bed;

    (void)state;
    open_with(&bed, 1);
    for (uint64_t id = 1; id <= 3; id++)
        KEEP(&bed, .id = id);
    bed_step(&bed);
    bed_run(&bed, 1);
    apply(&bed, held(2));
    apply(&bed, held(2)); /* hearing it twice is harmless */
    bed_end(&bed, 1, 0);
    bed_step(&bed);
    assert_int_equal(bed_state(&bed, 3), JOB_STARTING);
    assert_int_equal(bed_reason(&bed, 2), REASON_HELD);
    apply(&bed, cancelled(2));
    assert_int_equal(bed_state(&bed, 2), JOB_FREE);
    bed_close(&bed);
}

static void a_running_job_that_is_held_runs_on_and_is_held_when_it_must_wait_again(void **state)
{
    struct bed bed;

    (void)state;
    open_with(&bed, 1);
    KEEP(&bed, .id = 1);
    bed_step(&bed);
    bed_run(&bed, 1);
    apply(&bed, held(1));
    assert_int_equal(bed_state(&bed, 1), JOB_RUNNING);
    apply(&bed, lost(1, 0));
    bed_step(&bed);
    assert_int_equal(bed_reason(&bed, 1), REASON_HELD);
    bed_close(&bed);
}

/* What a job that waits for another does once that has ended so. */
static void check_after(enum after_end end, int32_t code, bool cancel, bool starts)
{
    struct bed bed;

    open_with(&bed, 2);
    KEEP(&bed, .id = 1);
    KEEP(&bed, .id = 2, .after = 1, .end = end);
    bed_step(&bed);
    bed_run(&bed, 1);
    assert_int_equal(bed_reason(&bed, 2), REASON_AFTER);
    if (cancel)
        apply(&bed, cancelled(1));
    bed_end(&bed, 1, code);
    bed_step(&bed);
    assert_int_equal(bed_state(&bed, 2), starts ? JOB_STARTING : JOB_FREE);
    assert_int_equal(bed_count(&bed, DECISION_REJECT), !starts);
    if (!starts)
        assert_int_equal(bed.out.items[0].reason, REASON_IN_VAIN);
    bed_close(&bed);
}

static void a_job_waits_for_others_to_end_as_it_says(void **state)
{
    (void)state;
    check_after(AFTER_OK, 0, false, true);
    check_after(AFTER_OK, 1, false, false);
    check_after(AFTER_OK, 143, true, false);
    check_after(AFTER_ANY, 0, false, true);
    check_after(AFTER_ANY, 1, false, true);
    check_after(AFTER_FAILED, 0, false, false);
    check_after(AFTER_FAILED, 1, false, true);
}

static void a_chain_of_jobs_that_wait_in_vain_is_rejected_whole(void **state)
{
    struct bed bed;

    (void)state;
    open_with(&bed, 4);
    KEEP(&bed, .id = 1, .held = true);
    for (uint64_t id = 2; id <= 5; id++)
        KEEP(&bed, .id = id, .after = id - 1);
    KEEP(&bed, .id = 6, .after = 5, .end = AFTER_FAILED);
    apply(&bed, cancelled(1));
    bed_step(&bed);
    assert_int_equal(bed_count(&bed, DECISION_REJECT), 4);
    assert_int_equal(bed_state(&bed, 6), JOB_STARTING);
    bed_close(&bed);
}

static void a_job_cannot_wait_for_one_that_is_not_there(void **state)
{
    struct bed bed;

    (void)state;
    open_with(&bed, 1);
    assert_int_equal(submit(&bed, &(struct kept){.id = 1, .after = 9}), -ENOENT);
    assert_int_equal(submit(&bed, &(struct kept){.id = 1, .after = 1}), -ENOENT);
    bed_close(&bed);
}

/* The core goes on as what was saved of it. */
static void reload(struct bed *bed)
{
    size_t count;
    uint8_t *bytes = core_save(bed->core, &count);

    core_free(bed->core);
    bed->core = core_load(&(struct core_config){.placement = &place_first, .order = &in_turn},
                          bytes, count, &bed->err);
    mem_free(bytes);
    assert_non_null(bed->core);
}

/* Job 1 ends so, and only then job 2 comes and wants it to have ended in some way. */
static void check_late(enum after_end end, int32_t code, bool restart, bool starts)
{
    struct bed bed;

    open_with(&bed, 2);
    KEEP(&bed, .id = 1);
    bed_step(&bed);
    bed_run(&bed, 1);
    bed_end(&bed, 1, code);
    bed_step(&bed);
    if (restart)
        reload(&bed);
    KEEP(&bed, .id = 2, .after = 1, .end = end);
    bed_step(&bed);
    assert_int_equal(bed_state(&bed, 2), starts ? JOB_STARTING : JOB_FREE);
    assert_int_equal(bed_count(&bed, DECISION_REJECT), !starts);
    if (!starts)
        assert_int_equal(bed.out.items[0].reason, REASON_IN_VAIN);
    bed_close(&bed);
}

static void a_job_that_comes_when_what_it_waits_for_is_over_need_not_wait(void **state)
{
    (void)state;
    for (int restart = 0; restart <= 1; restart++) {
        check_late(AFTER_OK, 0, restart, true);
        check_late(AFTER_OK, 1, restart, false);
        check_late(AFTER_ANY, 0, restart, true);
        check_late(AFTER_ANY, 1, restart, true);
        check_late(AFTER_FAILED, 0, restart, false);
        check_late(AFTER_FAILED, 1, restart, true);
    }
}

static void a_held_job_that_waits_in_vain_is_rejected_for_that(void **state)
{
    struct bed bed;

    (void)state;
    open_with(&bed, 1);
    KEEP(&bed, .id = 1, .held = true);
    KEEP(&bed, .id = 2, .after = 1, .held = true);
    apply(&bed, cancelled(1));
    KEEP(&bed, .id = 3, .after = 1, .held = true);
    bed_step(&bed);
    assert_int_equal(bed.out.count, 2);
    for (uint32_t i = 0; i < bed.out.count; i++) {
        assert_int_equal(bed.out.items[i].type, DECISION_REJECT);
        assert_int_equal(bed.out.items[i].reason, REASON_IN_VAIN);
    }
    bed_close(&bed);
}

static void an_end_that_is_forgotten_is_told_from_a_job_that_was_never_there(void **state)
{
    struct bed bed;

    (void)state;
    open_with(&bed, 1);
    for (uint64_t id = 1; id <= ENDED_MAX + 1; id++) {
        KEEP(&bed, .id = id);
        apply(&bed, cancelled(id));
    }
    KEEP(&bed, .id = 200000, .after = 2, .end = AFTER_ANY);
    assert_int_equal(submit(&bed, &(struct kept){.id = 200001, .after = 1}), -ENOENT);
    assert_non_null(strstr(bed.err.text, "job 1: unknown, or it ended too long ago"));
    assert_int_equal(submit(&bed, &(struct kept){.id = 200001, .after = 150000}), -ENOENT);
    assert_string_equal(bed.err.text, "job 200001: after[0]: job 150000: unknown");
    bed_close(&bed);
}

static void so_many_jobs_of_an_array_run_as_it_says_in_the_order_of_submission(void **state)
{
    struct bed bed;

    (void)state;
    open_with(&bed, 8);
    for (uint64_t id = 1; id <= 5; id++)
        KEEP(&bed, .id = id, .array = "a", .limit = 2);
    KEEP(&bed, .id = 6, .array = "a", .user = "bob", .limit = 1); /* another's */
    bed_step(&bed);
    for (uint64_t id = 1; id <= 6; id++)
        assert_int_equal(bed_state(&bed, id), id <= 2 || id == 6 ? JOB_STARTING : JOB_PENDING);
    assert_int_equal(bed_reason(&bed, 3), REASON_ARRAY);
    bed_run(&bed, 1);
    bed_run(&bed, 2);
    apply(&bed, cancelled(4));
    bed_end(&bed, 2, 0);
    bed_step(&bed);
    assert_int_equal(bed_state(&bed, 3), JOB_STARTING);
    bed_end(&bed, 1, 1);
    bed_step(&bed);
    assert_int_equal(bed_state(&bed, 5), JOB_STARTING);
    bed_close(&bed);
}

static void a_held_job_of_an_array_lets_the_next_one_in_and_keeps_its_place(void **state)
{
    struct bed bed;

    (void)state;
    open_with(&bed, 1);
    KEEP(&bed, .id = 9); /* has the GPU */
    bed_step(&bed);
    bed_run(&bed, 9);
    for (uint64_t id = 1; id <= 3; id++)
        KEEP(&bed, .id = id, .array = "a", .limit = 1);
    apply(&bed, held(1));
    bed_step(&bed);
    assert_int_equal(bed_reason(&bed, 1), REASON_HELD);
    assert_int_equal(bed_reason(&bed, 2), REASON_ROOM);
    apply(&bed, released(1));
    assert_int_equal(bed_reason(&bed, 1), REASON_ARRAY);
    apply(&bed, cancelled(2));
    bed_end(&bed, 9, 0);
    bed_step(&bed);
    assert_int_equal(bed_state(&bed, 1), JOB_STARTING); /* before the third */
    bed_close(&bed);
}

static void jobs_of_one_array_state_one_limit(void **state)
{
    struct bed bed;

    (void)state;
    open_with(&bed, 1);
    KEEP(&bed, .id = 1, .array = "a", .limit = 2);
    assert_int_equal(submit(&bed, &(struct kept){.id = 2, .array = "a", .limit = 3}), -EINVAL);
    assert_int_equal(submit(&bed, &(struct kept){.id = 2, .limit = 3}), -EINVAL);
    apply(&bed, cancelled(1));
    KEEP(&bed, .id = 2, .array = "a", .limit = 3); /* nobody is left of the other */
    bed_close(&bed);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(a_held_job_starts_when_it_is_released),
        TEST(a_waiting_job_that_is_held_gives_its_turn_away),
        TEST(a_running_job_that_is_held_runs_on_and_is_held_when_it_must_wait_again),
        TEST(a_job_waits_for_others_to_end_as_it_says),
        TEST(a_chain_of_jobs_that_wait_in_vain_is_rejected_whole),
        TEST(a_job_cannot_wait_for_one_that_is_not_there),
        TEST(a_job_that_comes_when_what_it_waits_for_is_over_need_not_wait),
        TEST(a_held_job_that_waits_in_vain_is_rejected_for_that),
        TEST(an_end_that_is_forgotten_is_told_from_a_job_that_was_never_there),
        TEST(so_many_jobs_of_an_array_run_as_it_says_in_the_order_of_submission),
        TEST(a_held_job_of_an_array_lets_the_next_one_in_and_keeps_its_place),
        TEST(jobs_of_one_array_state_one_limit),
    };

    return RUN_TESTS(tests);
}
