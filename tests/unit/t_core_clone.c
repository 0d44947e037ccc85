/* SPDX-License-Identifier: Apache-2.0 */
/* A clone is the same core, and another one: what happens to it does not touch its origin. */
#include "core/impl.h"
#include "unit/core_random.h"

enum { SEEDS = 12, EVENTS = 400 };

static const struct core_config configs[] = {
    {.placement = &place_salted, .order = &in_turn, .seed = 3},
    {.placement = &place_drawn_by_lot, .order = &in_strict_turn, .seed = 3},
    {.placement = &place_full, .order = &by_queue},
    {.placement = &place_salted, .order = &by_attained},
    {.placement = &place_first, .order = &by_queue, .repack = REPACK_ANEW},
    {.placement = &place_salted,
     .order = &by_attained,
     .repack = REPACK_KEEP,
     .migrate_wait_us = 1000000,
     .migrate_gain_ppm = 100000},
};
enum { CONFIGS = sizeof configs / sizeof configs[0] };

static void open_with_orders(struct bed *bed, struct play *play, uint32_t c)
{
    struct core_config config = configs[c];

    config.orders = play->orders = test_orders;
    config.order_count = play->order_count = TEST_ORDERS;
    bed_open_with(bed, &config);
}

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

static void both(struct play *play, struct bed *a, struct bed *b)
{
    struct event event;
    int rc;

    play_event(play, a->core, &event);
    rc = core_apply(a->core, &event, NULL);
    assert_int_equal(core_apply(b->core, &event, NULL), rc);
    if (play_below(play, 3) == 0) {
        core_step(a->core, core_now_us(a->core), &a->out);
        core_step(b->core, core_now_us(b->core), &b->out);
        assert_same_decisions(&a->out, &b->out);
    }
    assert_true(core_digest(a->core) == core_digest(b->core));
}

static void a_clone_goes_the_same_way_as_its_origin(void **state)
{
    (void)state;
    for (uint32_t c = 0; c < CONFIGS; c++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct bed bed, copy = {0};
            struct play play;

            play_init(&play, seed, 9);
            play.levels = seed % 2 == 1;
            open_with_orders(&bed, &play, c);
            play_join(&play, bed.core);
            play_on(&play, &bed, EVENTS);
            decisions_init(&copy.out);
            copy.core = core_clone(bed.core);
            assert_true(core_digest(copy.core) == core_digest(bed.core));
            assert_true(core_next_wake_us(copy.core) == core_next_wake_us(bed.core));
            for (uint32_t i = 0; i < EVENTS; i++)
                both(&play, &bed, &copy);
            bed_check(&copy);
            bed_close(&bed);
            for (uint32_t i = 0; i < 20; i++) /* it needs nothing of its origin */
                play_on(&play, &copy, 1);
            bed_check(&copy);
            bed_close(&copy);
        }
}

static void what_a_clone_does_is_not_seen_by_its_origin(void **state)
{
    (void)state;
    for (uint32_t c = 0; c < CONFIGS; c++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct bed bed, copy = {0};
            struct play play, other;
            uint64_t before;

            play_init(&play, seed, 9);
            play_init(&other, seed + 1000, 12);
            open_with_orders(&bed, &play, c);
            play_join(&play, bed.core);
            play_on(&play, &bed, EVENTS);
            other.next_id = 1000000;
            before = core_digest(bed.core);
            decisions_init(&copy.out);
            copy.core = core_clone(bed.core);
            play_on(&other, &copy, EVENTS);
            assert_true(core_digest(copy.core) != before);
            assert_true(core_digest(bed.core) == before);
            core_free(copy.core);
            assert_true(core_digest(bed.core) == before);
            bed_check(&bed);
            copy.core = core_clone(bed.core); /* and what the origin does, not by the clone */
            play_on(&other, &bed, EVENTS);
            assert_true(core_digest(copy.core) == before);
            bed_check(&copy);
            bed_close(&copy);
            bed_close(&bed);
        }
}

static void an_empty_core_can_be_cloned(void **state)
{
    (void)state;
    for (uint32_t c = 0; c < CONFIGS; c++) {
        struct bed bed, copy = {0};

        bed_open_with(&bed, &configs[c]);
        decisions_init(&copy.out);
        copy.core = core_clone(bed.core);
        assert_true(core_digest(copy.core) == core_digest(bed.core));
        bed_node(&copy, "n0", 8);
        SUBMIT(&copy, .id = 1, .gpus = 8);
        bed_step(&copy);
        assert_non_null(bed_find(&copy, DECISION_START, 1));
        bed_close(&copy);
        bed_close(&bed);
    }
}

static void equal_histories_give_equal_digests_and_different_ones_do_not(void **state)
{
    (void)state;
    for (uint32_t c = 0; c < CONFIGS; c++) {
        struct bed a, b;
        struct play play, again;

        play_init(&play, 5, 9);
        play_init(&again, 5, 9);
        open_with_orders(&a, &play, c);
        open_with_orders(&b, &again, c);
        play_join(&play, a.core);
        play_join(&again, b.core);
        play_on(&play, &a, EVENTS);
        play_on(&again, &b, EVENTS);
        assert_true(core_digest(a.core) == core_digest(b.core));
        bed_step(&a);
        assert_true(core_digest(a.core) != core_digest(b.core)); /* its clock is ahead */
        bed_close(&a);
        bed_close(&b);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(a_clone_goes_the_same_way_as_its_origin),
        TEST(what_a_clone_does_is_not_seen_by_its_origin),
        TEST(an_empty_core_can_be_cloned),
        TEST(equal_histories_give_equal_digests_and_different_ones_do_not),
    };

    return RUN_TESTS(tests);
}
