/* SPDX-License-Identifier: Apache-2.0 */
/* What holds for every policy of the registry: equal histories give equal digests, copies go the
 * same way, places are those that judging every node gives, and no byte of state is forgotten. */
#include <signal.h>
#include <stdlib.h>

#include "base/mem.h"
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
            check_copy(&(struct core_config){.placement = placement_at(i), .order = order_at(0),
                                             .seed = 9}, seed);
        for (uint32_t i = 0; order_at(i) != NULL; i++)
            for (enum repack r = REPACK_NEVER; r < REPACK_COUNT; r++)
                check_copy(&(struct core_config){.placement = placement_find("bestfit"),
                                                 .order = order_at(i), .repack = r}, seed);
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

/* ---- every byte of state ---- */

/* A flipped byte may be part of a pointer or of a count, so the digest may run into the wild; it
 * only reads, and comes back from there by a jump. */
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

/* How many bytes of the flat state are in no digest: capacities and padding, nothing else. */
static uint32_t unseen_bytes(const struct core *core, void *state, size_t size, const char *name)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT};
    const struct sigaction jump = {.sa_handler = jump_back};
    struct sigaction old[3];
    const uint64_t before = core_digest(core);
    uint32_t unseen = 0;

    for (int i = 0; i < 3; i++)
        sigaction(signals[i], &jump, &old[i]);
    for (size_t i = 0; i < size; i++)
        if (!flip_is_seen(core, (uint8_t *)state + i, before)) {
            if (getenv("SHOW")) print_message("# %s: byte %zu of %zu\n", name, i, size);
            unseen++;
        }
    for (int i = 0; i < 3; i++)
        sigaction(signals[i], &old[i], NULL);
    return unseen;
}

static void print_unseen(void **state)
{
    (void)state;
    for (uint32_t i = 0; placement_at(i) != NULL; i++) {
        struct bed bed;
        struct play play;

        play_init(&play, 1, 9);
        bed_open(&bed, placement_at(i), order_at(0));
        play_join(&play, bed.core);
        play_on(&play, &bed, EVENTS);
        if (1)
        print_message("# %s %u\n", placement_at(i)->name,
                      unseen_bytes(bed.core, bed.core->placement_state,
                                   placement_at(i)->state_size, placement_at(i)->name));
        else print_message("# %s is %zu\n", placement_at(i)->name, placement_at(i)->state_size);
        bed_close(&bed);
    }
    for (uint32_t i = 0; order_at(i) != NULL; i++) {
        struct bed bed;
        struct play play;

        play_init(&play, 1, 9);
        bed_open(&bed, placement_at(0), order_at(i));
        play_join(&play, bed.core);
        play_on(&play, &bed, EVENTS);
        if (1)
        print_message("# %s %u\n", order_at(i)->name,
                      unseen_bytes(bed.core, bed.core->order_state,
                                   order_at(i)->state_size, order_at(i)->name));
        else print_message("# %s is %zu\n", order_at(i)->name, order_at(i)->state_size);
        bed_close(&bed);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(copies_of_all_policies_go_the_same_way),
        TEST(places_of_all_policies_are_those_of_judging_every_node),
        TEST(names_of_policies_are_found_and_are_their_own),
        TEST(print_unseen),
    };

    return RUN_TESTS(tests);
}
