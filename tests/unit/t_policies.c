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
        assert_true(seen_bytes(bed.core, bed.core->order_state, order->state_size, order->name) >
                    0);
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

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(copies_of_all_policies_go_the_same_way),
        TEST(places_of_all_policies_are_those_of_judging_every_node),
        TEST(names_of_policies_are_found_and_are_their_own),
        TEST(what_a_policy_knows_is_in_the_digest),
        TEST(jobs_without_gpus_run_on_nodes_without_gpus),
    };

    return RUN_TESTS(tests);
}
