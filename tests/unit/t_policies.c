/* SPDX-License-Identifier: Apache-2.0 */
/* What holds for every policy of the registry: equal histories give equal digests, copies go the
 * same way, and places are those that judging every node gives. */
#include <signal.h>
#include <stdlib.h>

#include "policy/registry.h"
#include "unit/core_mirror.h"

enum { EVENTS = 500, SEEDS = 4 };

static void play_on(struct play *play, struct bed *bed, uint32_t events)
{
    for (uint32_t i = 0; i < events; i++) {
        struct event event;

        play_event(play, bed->core, &event);
        (void)core_apply(bed->core, &event, NULL);
        if (play_below(play, 3) == 0)
            core_step(bed->core, core_now_us(bed->core), &bed->out);
    }
}

static void check_copy(const struct core_config *config, uint64_t seed)
{
    struct bed bed, copy = {0};
    struct play play;

    play_init(&play, seed, 9);
    play.levels = seed % 2 == 1;
    bed_open_with(&bed, config);
    play_join(&play, bed.core);
    play_on(&play, &bed, EVENTS);
    decisions_init(&copy.out);
    copy.core = core_clone(bed.core);
    assert_true(core_digest(copy.core) == core_digest(bed.core));
    for (uint32_t i = 0; i < EVENTS; i++) {
        struct event event;

        play_event(&play, bed.core, &event);
        assert_int_equal(core_apply(bed.core, &event, NULL), core_apply(copy.core, &event, NULL));
        core_step(bed.core, core_now_us(bed.core), &bed.out);
        core_step(copy.core, core_now_us(copy.core), &copy.out);
        assert_same_decisions(&bed.out, &copy.out);
        if (core_digest(bed.core) != core_digest(copy.core))
            fail_msg("%s, %s: a copy has another digest", config->placement->name,
                     config->order->name);
    }
    bed_check(&bed);
    bed_close(&bed);
    play_on(&play, &copy, EVENTS);
    bed_check(&copy);
    bed_close(&copy);
}

static void copies_of_all_policies_go_the_same_way(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        for (uint32_t i = 0; placement_at(i) != NULL; i++)
            check_copy(&(struct core_config){.placement = placement_at(i),
                                             .order = order_at(0),
                                             .seed = 9},
                       seed);
        for (uint32_t i = 0; order_at(i) != NULL; i++)
            for (enum repack r = REPACK_NEVER; r < REPACK_COUNT; r++)
                check_copy(&(struct core_config){.placement = placement_find("bestfit"),
                                                 .order = order_at(i),
                                                 .repack = r},
                           seed);
    }
}

static void places_of_all_policies_are_those_of_judging_every_node(void **state)
{
    (void)state;
    for (uint32_t i = 0; placement_at(i) != NULL; i++)
        for (uint64_t seed = 0; placement_at(i)->tie == TIE_FIRST_NODE && seed < 3; seed++) {
            mirror_compare(placement_at(i), seed, 3 + (uint32_t)seed * 5, 600);
            mirror_compare(placement_at(i), seed, 150, 600);
        }
}

static void names_of_policies_are_found_and_are_their_own(void **state)
{
    (void)state;
    for (uint32_t i = 0; placement_at(i) != NULL; i++) {
        assert_ptr_equal(placement_find(placement_at(i)->name), placement_at(i));
        assert_true(placement_at(i)->summary[0] != '\0');
    }
    for (uint32_t i = 0; order_at(i) != NULL; i++) {
        assert_ptr_equal(order_find(order_at(i)->name), order_at(i));
        assert_true(order_at(i)->summary[0] != '\0');
    }
    assert_null(placement_find("no-such-policy"));
    assert_null(order_find(""));
}

/* ---- state ---- */

/* A flipped byte may be part of a pointer or of a count, so the digest may run into the wild; it
 * only reads, and comes back from there by a jump. Sanitizers would see that as what it is. */
#if !defined(__SANITIZE_ADDRESS__)
static sigjmp_buf wild;

static void jump_back(int signal)
{
    siglongjmp(wild, signal);
}

static bool flip_is_seen(const struct core *core, uint8_t *byte, uint64_t before)
{
    volatile bool seen = true;

    *byte ^= 1;
    if (sigsetjmp(wild, 1) == 0)
        seen = core_digest(core) != before;
    *byte ^= 1;
    return seen;
}

/* How many bytes of the flat state are in the digest, or lead to what is. The others must be
 * capacities, padding, constants and what follows; TEST_SHOW=1 lists them for the reader. */
static uint32_t seen_bytes(const struct core *core, void *state, size_t size, const char *name)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT};
    const struct sigaction jump = {.sa_handler = jump_back};
    const uint64_t before = core_digest(core);
    struct sigaction old[3];
    uint32_t seen = 0;

    for (int i = 0; i < 3; i++)
        sigaction(signals[i], &jump, &old[i]);
    for (size_t i = 0; i < size; i++)
        if (flip_is_seen(core, (uint8_t *)state + i, before))
            seen++;
        else if (getenv("TEST_SHOW") != NULL)
            print_message("# %s: byte %zu of %zu is not in the digest\n", name, i, size);
    for (int i = 0; i < 3; i++)
        sigaction(signals[i], &old[i], NULL);
    return seen;
}
#else
static uint32_t seen_bytes(const struct core *core, void *state, size_t size, const char *name)
{
    (void)core, (void)state, (void)name;
    return (uint32_t)size;
}
#endif

static void check_state(const struct placement_policy *placement, const struct order_policy *order)
{
    struct bed bed;
    struct play play;

    assert_true(placement->state_size == 0 || placement->walk != NULL);
    assert_true(order->state_size == 0 || order->walk != NULL);
    play_init(&play, 1, 9);
    bed_open(&bed, placement, order);
    play_join(&play, bed.core);
    play_on(&play, &bed, EVENTS);
    if (placement->state_size > 0)
        assert_true(seen_bytes(bed.core, bed.core->placement_state, placement->state_size,
                               placement->name) > 0);
    if (order->state_size > 0)
        assert_true(
            seen_bytes(bed.core, bed.core->orderers[0].state, order->state_size, order->name) > 0);
    bed_close(&bed);
}

static void what_a_policy_knows_is_in_the_digest(void **state)
{
    (void)state;
    for (uint32_t i = 0; placement_at(i) != NULL; i++)
        check_state(placement_at(i), order_find("fifo"));
    for (uint32_t i = 0; order_at(i) != NULL; i++)
        check_state(placement_find("firstfit"), order_at(i));
}

/* A cluster of nodes without GPUs, and jobs that want none. */
static void jobs_without_gpus_run_on_nodes_without_gpus(void **state)
{
    (void)state;
    for (uint32_t i = 0; placement_at(i) != NULL; i++) {
        struct bed bed;

        bed_open(&bed, placement_at(i), order_at(0));
        bed_nodes(&bed, 3, 0);
        SUBMIT(&bed, .id = 1, .cpu_mcpu = 100000);
        SUBMIT(&bed, .id = 2, .memory_bytes = GB, .tasks = 3);
        bed_step(&bed);
        assert_non_null(bed_find(&bed, DECISION_START, 1));
        assert_non_null(bed_find(&bed, DECISION_START, 2));
        bed_close(&bed);
    }
}

/* ---- orders ---- */

static void open_order(struct bed *bed, const char *order)
{
    bed_open(bed, placement_find("firstfit"), order_find(order));
    bed_node(bed, "n0", 1);
}

/* The job runs for so long, and then all others are looked at. */
static void run_and_end(struct bed *bed, uint64_t id, int64_t run_us)
{
    assert_non_null(bed_find(bed, DECISION_START, id));
    bed_run(bed, id);
    apply(bed, (struct event){.type = EVENT_TIME_PASSED, .at_us = bed->now_us + run_us});
    bed_end(bed, id, 0);
    bed_step(bed);
}

static void predicted_starts_first_what_was_short_before(void **state)
{
    struct bed bed;

    (void)state;
    open_order(&bed, "predicted");
    SUBMIT(&bed, .id = 1, .gpus = 1, .queue = "long");
    bed_step(&bed);
    SUBMIT(&bed, .id = 2, .gpus = 1, .queue = "short");
    run_and_end(&bed, 1, 50000000000);
    run_and_end(&bed, 2, 60000000);
    SUBMIT(&bed, .id = 3, .gpus = 1, .queue = "long");
    bed_step(&bed);
    SUBMIT(&bed, .id = 4, .gpus = 1, .queue = "long");
    SUBMIT(&bed, .id = 5, .gpus = 1, .queue = "short");
    run_and_end(&bed, 3, 60000000);
    assert_non_null(bed_find(&bed, DECISION_START, 5));
    assert_int_equal(bed_state(&bed, 4), JOB_PENDING);
    bed_close(&bed);
}

static void predicted_looks_at_waiting_jobs_anew_as_it_learns(void **state)
{
    struct bed bed;

    (void)state;
    open_order(&bed, "predicted");
    SUBMIT(&bed, .id = 1, .gpus = 1, .queue = "now short");
    bed_step(&bed);
    SUBMIT(&bed, .id = 2, .gpus = 1, .queue = "other");
    SUBMIT(&bed, .id = 3, .gpus = 1, .queue = "now short"); /* nothing is known: equal keys */
    SUBMIT(&bed, .id = 4, .gpus = 1, .queue = "other");
    run_and_end(&bed, 1, 60000000);
    run_and_end(&bed, 2, 50000000000);
    assert_non_null(bed_find(&bed, DECISION_START, 3));
    assert_int_equal(bed_state(&bed, 4), JOB_PENDING);
    bed_close(&bed);
}

static void predicted_lets_nobody_overtake_for_ever(void **state)
{
    struct bed bed;
    uint32_t overtook = 0;

    (void)state;
    open_order(&bed, "predicted");
    SUBMIT(&bed, .id = 1, .gpus = 1, .queue = "long");
    bed_step(&bed);
    SUBMIT(&bed, .id = 2, .gpus = 1, .queue = "short");
    run_and_end(&bed, 1, 3600 * 1000000ll);
    run_and_end(&bed, 2, 600 * 1000000ll);
    SUBMIT(&bed, .id = 3, .gpus = 1, .queue = "short");
    bed_step(&bed);
    SUBMIT(&bed, .id = 4, .gpus = 1, .queue = "long");
    for (uint64_t id = 3; bed_state(&bed, 4) == JOB_PENDING; id = id == 3 ? 5 : id + 1) {
        SUBMIT(&bed, .id = id == 3 ? 5 : id + 1, .gpus = 1, .queue = "short");
        run_and_end(&bed, id, 600 * 1000000ll);
        overtook++;
    }
    assert_in_range(overtook, 1000, 2000); /* 300 x 50 minutes, at 10 minutes each */
    bed_close(&bed);
}

static void deadline_starts_the_earliest_first_and_those_without_last(void **state)
{
    static const uint64_t wanted[] = {5, 3, 4, 1, 2};
    struct bed bed;

    (void)state;
    open_order(&bed, "deadline");
    SUBMIT(&bed, .id = 1, .gpus = 1);
    SUBMIT(&bed, .id = 2, .gpus = 1);
    SUBMIT(&bed, .id = 3, .gpus = 1, .deadline_us = 3000000);
    SUBMIT(&bed, .id = 4, .gpus = 1, .deadline_us = 3000000);
    SUBMIT(&bed, .id = 5, .gpus = 1, .deadline_us = 1);
    bed_step(&bed);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        run_and_end(&bed, wanted[i], 2000000);
    bed_close(&bed);
}

static void deadline_stops_no_running_job(void **state)
{
    struct bed bed;

    (void)state;
    open_order(&bed, "deadline");
    SUBMIT(&bed, .id = 1, .gpus = 1);
    bed_step(&bed);
    bed_run(&bed, 1);
    SUBMIT(&bed, .id = 2, .gpus = 1, .deadline_us = 9000000);
    bed_step(&bed);
    assert_int_equal(bed_state(&bed, 1), JOB_RUNNING);
    assert_int_equal(bed_state(&bed, 2), JOB_PENDING);
    bed_close(&bed);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(copies_of_all_policies_go_the_same_way),
        TEST(places_of_all_policies_are_those_of_judging_every_node),
        TEST(names_of_policies_are_found_and_are_their_own),
        TEST(what_a_policy_knows_is_in_the_digest),
        TEST(jobs_without_gpus_run_on_nodes_without_gpus),
        TEST(predicted_starts_first_what_was_short_before),
        TEST(predicted_looks_at_waiting_jobs_anew_as_it_learns),
        TEST(predicted_lets_nobody_overtake_for_ever),
        TEST(deadline_starts_the_earliest_first_and_those_without_last),
        TEST(deadline_stops_no_running_job),
    };

    return RUN_TESTS(tests);
}
