/* SPDX-License-Identifier: Apache-2.0 */
/* Reservations as an outsider sees them; tests/exhaust/x_reserve.c holds all small cases against a
 * brute force, and scenarios tell stories. */
#include "core/impl.h"
#include "unit/core_test.h"

#define SECOND_US INT64_C(1000000)

static void open_bed(struct bed *bed, uint32_t depth)
{
    bed_open(bed, &place_first, &in_turn);
    bed_node(bed, "n0", 4);
    apply(bed, (struct event){.type = EVENT_CONFIG_CHANGED, .rules = {.reservation_depth = depth}});
}

/* Job 1 has half of the node for 100 s and a grace of 30 s; 2 needs all of it. */
static void open_with_a_reservation(struct bed *bed)
{
    open_bed(bed, 1);
    SUBMIT(bed, .id = 1, .gpus = 2, .limit_us = 100 * SECOND_US);
    SUBMIT(bed, .id = 2, .gpus = 4, .limit_us = 10 * SECOND_US);
    bed_step(bed);
    bed_run(bed, 1);
    bed_step(bed);
}

static int64_t reserved_us(const struct bed *bed, uint64_t id)
{
    return core_reservation(bed->core, core_find_job(bed->core, id));
}

static void a_job_is_told_when_and_where_it_starts_at_the_latest(void **state)
{
    const struct decision *told;
    struct bed bed;

    (void)state;
    open_bed(&bed, 1);
    SUBMIT(&bed, .id = 1, .gpus = 2, .limit_us = 100 * SECOND_US);
    SUBMIT(&bed, .id = 2, .gpus = 4, .limit_us = 10 * SECOND_US);
    bed_step(&bed);
    told = bed_find(&bed, DECISION_RESERVE, 2);
    assert_non_null(told);
    assert_true(told->at_us == bed.now_us + 130 * SECOND_US);
    assert_true(told->for_job == JOB_NONE && told->place_count == 1);
    assert_true(bed.out.places[told->place_first].gpu_mask == 15);
    assert_true(reserved_us(&bed, 2) == told->at_us);
    assert_true(reserved_us(&bed, 1) == TIME_NONE);
    bed_close(&bed);
}

static void a_run_counts_from_the_report_that_it_has_started(void **state)
{
    struct bed bed;

    (void)state;
    open_with_a_reservation(&bed); /* which came a second later */
    assert_true(reserved_us(&bed, 2) == bed.now_us + 130 * SECOND_US - SECOND_US);
    bed_close(&bed);
}

static void nothing_is_looked_at_again_before_something_happens(void **state)
{
    struct bed bed;

    (void)state;
    open_with_a_reservation(&bed);
    assert_false(bed.core->reserve.upset);
    apply(&bed, (struct event){.type = EVENT_TIME_PASSED, .at_us = 5 * SECOND_US});
    assert_false(bed.core->reserve.upset);
    assert_int_equal(bed_step(&bed), 0);
    SUBMIT(&bed, .id = 3, .cpu_mcpu = 1);
    assert_true(bed.core->reserve.upset);
    bed_step(&bed);
    assert_false(bed.core->reserve.upset);
    bed_close(&bed);
}

static void a_reservation_ends_with_its_job(void **state)
{
    struct bed bed;

    (void)state;
    open_with_a_reservation(&bed);
    apply(&bed, cancelled(2));
    assert_int_equal(bed.core->reserve.count, 0);
    bed_step(&bed);
    assert_null(bed_find(&bed, DECISION_RESERVE, 2));
    bed_close(&bed);
}

static void without_reservations_configured_all_are_taken_back(void **state)
{
    const struct decision *told;
    struct bed bed;

    (void)state;
    open_with_a_reservation(&bed);
    apply(&bed, (struct event){.type = EVENT_CONFIG_CHANGED});
    bed_step(&bed);
    told = bed_find(&bed, DECISION_RESERVE, 2);
    assert_non_null(told);
    assert_true(told->at_us == TIME_NONE);
    assert_true(reserved_us(&bed, 2) == TIME_NONE);
    assert_true(bed_job(&bed, 1)->ends_us == TIME_NONE);
    bed_close(&bed);
}

static void a_node_that_goes_takes_its_places_with_it(void **state)
{
    struct bed bed;

    (void)state;
    open_with_a_reservation(&bed);
    bed_node(&bed, "n1", 4);
    apply(&bed, removed("n0"));
    bed_step(&bed);
    assert_starts(&bed, 1, 0, "n1", 3);
    assert_non_null(bed_find(&bed, DECISION_RESERVE, 2));
    assert_int_equal(bed_find(&bed, DECISION_RESERVE, 2)->place_count, 1);
    bed_close(&bed);
}

static void the_core_wakes_when_a_run_should_be_over(void **state)
{
    struct bed bed;

    (void)state;
    open_bed(&bed, 1);
    SUBMIT(&bed, .id = 1, .gpus = 4); /* a day, as far as anybody knows */
    bed_step(&bed);
    bed_run(&bed, 1);
    assert_true(core_next_wake_us(bed.core) == bed.now_us + 86400 * SECOND_US);
    SUBMIT(&bed, .id = 2, .gpus = 1);
    core_step(bed.core, bed.now_us + 86400 * SECOND_US, &bed.out);
    bed_check(&bed);
    assert_true(core_next_wake_us(bed.core) == bed.now_us + 2 * 86400 * SECOND_US);
    bed_close(&bed);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(a_job_is_told_when_and_where_it_starts_at_the_latest),
        TEST(a_run_counts_from_the_report_that_it_has_started),
        TEST(nothing_is_looked_at_again_before_something_happens),
        TEST(a_reservation_ends_with_its_job),
        TEST(without_reservations_configured_all_are_taken_back),
        TEST(a_node_that_goes_takes_its_places_with_it),
        TEST(the_core_wakes_when_a_run_should_be_over),
    };

    return RUN_TESTS(tests);
}
