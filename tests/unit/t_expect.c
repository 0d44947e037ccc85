/* SPDX-License-Identifier: Apache-2.0 */
/* What is expected of run times, from jobs that finished: as a table, and in a core. */
#include "base/rng.h"
#include "base/tape.h"
#include "core/expect.h"
#include "core/impl.h"
#include "unit/core_test.h"

#define SECOND 1000000LL
#define HOUR   (3600 * SECOND)

static const struct expect_facts ada_trains = {.queue = 1, .user = 2, .name = 3, .mgpu = 1000};
static const struct expect_facts ada = {.queue = 1, .user = 2, .name = EXPECT_NONE, .mgpu = 1000};
static const struct expect_facts bob_trains = {.queue = 1, .user = 9, .name = 3, .mgpu = 1000};
static const struct expect_facts wide_job = {
    .queue = 1, .user = EXPECT_NONE, .name = EXPECT_NONE, .mgpu = 8000};

static void learn(struct expect *e, const struct expect_facts *facts, uint32_t jobs, int64_t us)
{
    for (uint32_t i = 0; i < jobs; i++)
        expect_learn(e, facts, us);
}

static void assert_about(int64_t got_us, int64_t want_us)
{
    if (got_us < want_us - want_us / 8 || got_us > want_us + want_us / 8)
        fail_msg("%lld us, not about %lld us", (long long)got_us, (long long)want_us);
}

static uint64_t digest_of(const struct expect *e)
{
    struct expect top = *e;
    struct tape t;

    tape_digest_init(&t);
    expect_walk(&top, &t);
    return tape_digest(&t);
}

static void before_any_job_has_finished_a_stated_time_is_expected(void **state)
{
    struct expect e;

    (void)state;
    expect_init(&e);
    assert_true(expect_run_us(&e, &ada, 0) == EXPECT_RUN_US);
    assert_true(expect_long_us(&e, &ada, 0) == EXPECT_LONG_US);
    assert_true(expect_run_us(&e, &ada, HOUR) == 2 * HOUR);
    assert_true(expect_long_us(&e, &ada, 99 * HOUR) == 198 * HOUR);
    assert_true(expect_run_us(&e, &ada, INT64_MAX) == INT64_MAX);
    expect_done(&e);
}

static void one_job_is_known_within_an_eighth_up_to_203_days(void **state)
{
    (void)state;
    for (int64_t us = 2 * SECOND; us < INT64_C(1) << 44; us += us / 7) {
        struct expect e;

        expect_init(&e);
        expect_learn(&e, &ada, us);
        assert_about(expect_run_us(&e, &ada, 0), us);
        assert_true(expect_long_us(&e, &ada, 0) >= expect_run_us(&e, &ada, 0));
        expect_done(&e);
    }
}

static void the_shortest_and_the_longest_times_are_kept_in_bounds(void **state)
{
    struct expect e;

    (void)state;
    expect_init(&e);
    expect_learn(&e, &ada, 0);
    assert_true(expect_run_us(&e, &ada, 0) < SECOND);
    expect_done(&e);
    expect_init(&e);
    expect_learn(&e, &ada, INT64_MAX);
    assert_true(expect_run_us(&e, &ada, 0) > INT64_C(1) << 44);
    assert_true(expect_run_us(&e, &ada, INT64_MAX / 2) == INT64_MAX - 1);
    expect_done(&e);
}

static void the_most_specific_key_that_knows_a_job_answers(void **state)
{
    struct expect e;

    (void)state;
    expect_init(&e);
    learn(&e, &wide_job, 1, 100 * HOUR);
    assert_about(expect_run_us(&e, &ada_trains, 0), 100 * HOUR); /* of all jobs */
    learn(&e, &ada, 99, 10 * HOUR);
    assert_about(expect_run_us(&e, &ada_trains, 0), 10 * HOUR); /* of queue and GPUs */
    learn(&e, &ada_trains, 1, HOUR);
    assert_about(expect_run_us(&e, &ada_trains, 0), HOUR);
    assert_about(expect_run_us(&e, &bob_trains, 0), 10 * HOUR);
    assert_about(expect_run_us(&e, &ada, 0), 10 * HOUR);
    assert_about(expect_run_us(&e, &wide_job, 0), 100 * HOUR);
    expect_done(&e);
}

static void a_user_without_a_name_is_no_key(void **state)
{
    const struct expect_facts same_user = {
        .queue = 7, .user = 2, .name = EXPECT_NONE, .mgpu = 1000};
    struct expect e;

    (void)state;
    expect_init(&e);
    learn(&e, &ada, 1, HOUR);
    assert_int_equal(e.count, 2); /* all jobs, queue and GPUs */
    learn(&e, &wide_job, 9, 100 * HOUR);
    assert_true(expect_run_us(&e, &same_user, 0) > 50 * HOUR);
    expect_done(&e);
}

static void a_job_that_still_runs_is_not_one_of_the_short_ones(void **state)
{
    struct expect e;

    (void)state;
    expect_init(&e);
    for (uint32_t i = 0; i < 10; i++) {
        learn(&e, &ada, 9, 60 * SECOND);
        learn(&e, &ada, 1, 10 * HOUR);
    }
    assert_about(expect_run_us(&e, &ada, 0), HOUR);
    assert_about(expect_run_us(&e, &ada, 120 * SECOND), 10 * HOUR);
    assert_in_range(expect_long_us(&e, &ada, 120 * SECOND), 9 * HOUR, 12 * HOUR);
    for (int64_t age_us = 0; age_us < 200 * HOUR; age_us += 1 + age_us / 3) {
        assert_true(expect_run_us(&e, &ada, age_us) >= age_us);
        assert_true(expect_long_us(&e, &ada, age_us) >= expect_run_us(&e, &ada, age_us));
    }
    expect_done(&e);
}

static void what_ran_longer_than_its_key_knows_asks_the_next_key(void **state)
{
    struct expect e;

    (void)state;
    expect_init(&e);
    learn(&e, &ada_trains, 5, HOUR);
    learn(&e, &wide_job, 5, 100 * HOUR);
    assert_about(expect_run_us(&e, &ada_trains, 2 * HOUR), 100 * HOUR);
    assert_true(expect_run_us(&e, &ada_trains, 200 * HOUR) == 400 * HOUR);
    expect_done(&e);
}

static void nine_of_ten_jobs_run_no_longer_than_the_long_answer(void **state)
{
    struct expect e;
    struct rng rng;
    uint32_t longer = 0;
    enum { JOBS = 4000 };

    (void)state;
    expect_init(&e);
    rng_init(&rng, 5);
    for (uint32_t i = 0; i < JOBS; i++) {
        const int64_t ran_us = SECOND + (int64_t)rng_below(&rng, 1000 * SECOND);

        longer += i >= JOBS / 2 && ran_us > expect_long_us(&e, &ada, 0);
        expect_learn(&e, &ada, ran_us);
    }
    assert_in_range(longer, JOBS / 2 * 8 / 100, JOBS / 2 * 12 / 100);
    expect_done(&e);
}

static void what_was_long_ago_fades(void **state)
{
    struct expect e;

    (void)state;
    expect_init(&e);
    learn(&e, &ada, 5000, 10 * HOUR);
    learn(&e, &ada, 512, 60 * SECOND);
    assert_in_range(expect_run_us(&e, &ada, 0), 3 * HOUR, 5 * HOUR); /* 1/e is left */
    learn(&e, &ada, 9000, 60 * SECOND);
    assert_about(expect_run_us(&e, &ada, 0), 60 * SECOND); /* and in the end nothing */
    expect_done(&e);
}

static void beyond_the_most_keys_a_job_is_known_by_the_next_key_up(void **state)
{
    struct expect_facts facts = ada_trains;
    struct expect e;

    (void)state;
    expect_init(&e);
    for (facts.name = 0; e.count < EXPECT_KEYS_MAX; facts.name++)
        expect_learn(&e, &facts, HOUR);
    learn(&e, &facts, 5000, 10 * HOUR);
    assert_int_equal(e.count, EXPECT_KEYS_MAX);
    assert_about(expect_run_us(&e, &facts, 0), 10 * HOUR);
    facts.name = 0;
    assert_about(expect_run_us(&e, &facts, 0), HOUR);
    expect_done(&e);
}

static void a_copy_is_equal_and_its_own(void **state)
{
    struct expect e, copy;
    uint64_t before;

    (void)state;
    expect_init(&e);
    learn(&e, &ada_trains, 5, HOUR);
    before = digest_of(&e);
    expect_copy(&copy, &e);
    assert_true(digest_of(&copy) == before);
    learn(&copy, &bob_trains, 5, 9 * HOUR);
    assert_true(digest_of(&copy) != before);
    assert_true(digest_of(&e) == before);
    expect_done(&e);
    assert_about(expect_run_us(&copy, &bob_trains, 0), 9 * HOUR);
    expect_done(&copy);
}

/* ---- in a core ---- */

static int64_t run_us(const struct bed *bed, uint64_t id)
{
    return core_expected_us(bed->core, core_find_job(bed->core, id));
}

/* Starts the job and lets it run for so many steps of a second. */
static void run_for(struct bed *bed, uint64_t id, uint32_t seconds)
{
    SUBMIT(bed, .id = id, .gpus = 1);
    bed_step(bed);
    bed_run(bed, id);
    for (uint32_t i = 0; i < seconds; i++)
        bed_step(bed);
}

static void a_core_learns_from_jobs_that_finish_and_from_no_others(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 8);
    bed_apply(&bed, &(struct event[]){health("n0", 7, GPU_LOST)}[0]);
    SUBMIT(&bed, .id = 99, .gpus = 8); /* never runs */
    run_for(&bed, 1, 40);
    bed_end(&bed, 1, 1);
    bed_step(&bed);
    assert_int_equal(bed_state(&bed, 1), JOB_FREE);
    run_for(&bed, 2, 40);
    apply(&bed, cancelled(2));
    bed_step(&bed);
    bed_end(&bed, 2, 143);
    assert_int_equal(bed_state(&bed, 2), JOB_FREE);
    run_for(&bed, 3, 40);
    apply(&bed, lost(3, 0));
    assert_true(run_us(&bed, 99) == EXPECT_RUN_US);
    assert_true(core_expected_long_us(bed.core, core_find_job(bed.core, 99)) == EXPECT_LONG_US);
    bed_step(&bed);
    bed_run(&bed, 3);
    for (uint32_t i = 0; i < 20; i++)
        bed_step(&bed);
    bed_end(&bed, 3, 0);
    assert_int_equal(bed_state(&bed, 3), JOB_FREE);
    assert_about(run_us(&bed, 99), 60 * SECOND); /* both runs of job 3 */
    bed_close(&bed);
}

static void a_running_job_is_expected_to_run_longer_than_it_has(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 4);
    run_for(&bed, 1, 40);
    bed_end(&bed, 1, 0);
    run_for(&bed, 2, 10);
    assert_about(run_us(&bed, 2), 40 * SECOND);
    for (uint32_t i = 0; i < 90; i++)
        bed_step(&bed);
    assert_true(run_us(&bed, 2) == EXPECT_RUN_US); /* nobody ran so long */
    bed_close(&bed);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(before_any_job_has_finished_a_stated_time_is_expected),
        TEST(one_job_is_known_within_an_eighth_up_to_203_days),
        TEST(the_shortest_and_the_longest_times_are_kept_in_bounds),
        TEST(the_most_specific_key_that_knows_a_job_answers),
        TEST(a_user_without_a_name_is_no_key),
        TEST(a_job_that_still_runs_is_not_one_of_the_short_ones),
        TEST(what_ran_longer_than_its_key_knows_asks_the_next_key),
        TEST(nine_of_ten_jobs_run_no_longer_than_the_long_answer),
        TEST(what_was_long_ago_fades),
        TEST(beyond_the_most_keys_a_job_is_known_by_the_next_key_up),
        TEST(a_copy_is_equal_and_its_own),
        TEST(a_core_learns_from_jobs_that_finish_and_from_no_others),
        TEST(a_running_job_is_expected_to_run_longer_than_it_has),
    };

    return RUN_TESTS(tests);
}
