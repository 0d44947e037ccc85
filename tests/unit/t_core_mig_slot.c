/* SPDX-License-Identifier: Apache-2.0 */
#include "core/mig_slot.h"

#include <errno.h>

#include "base/mem.h"
#include "base/rng.h"

#include "unit/test.h"

/* What follows from the type is worked out once for each test. */
struct bed {
    const struct mig_type *type;
    struct mig_game game;
    struct mig_gpu gpus[8];
    struct mig_demand demand;
};

static void bed_open(struct bed *bed, const char *key)
{
    *bed = (struct bed){.type = mig_type_find(key, 0)};
    assert_non_null(bed->type);
    mig_game_init(&bed->game, bed->type);
}

static void bed_close(struct bed *bed)
{
    mig_game_done(&bed->game);
}

static uint32_t profile_of(const struct bed *bed, const char *name)
{
    uint32_t profile = MIG_NONE;

    assert_int_equal(mig_profile_find(bed->type, name, &profile, NULL), 0);
    return profile;
}

static void put(struct bed *bed, uint32_t gpu, const char *name, uint32_t start)
{
    mig_gpu_add(bed->type, &bed->gpus[gpu], profile_of(bed, name), start);
}

static void waits(struct bed *bed, const char *name, uint32_t count)
{
    bed->demand.waiting[profile_of(bed, name)] = count;
}

#define NOWHERE MIG_NONE

/* The choice among the first count GPUs. */
static struct mig_choice chosen(const struct bed *bed, uint32_t count, const char *name)
{
    struct mig_choice choice = {.gpu = NOWHERE, .start = NOWHERE};

    mig_choose(&bed->game, bed->gpus, count, profile_of(bed, name), &bed->demand, &choice);
    return choice;
}

static void goes_to(const struct bed *bed, uint32_t count, const char *name, uint32_t gpu,
                    uint32_t start)
{
    const struct mig_choice choice = chosen(bed, count, name);

    assert_int_equal(choice.gpu, gpu);
    assert_int_equal(choice.start, start);
}

static void fault_26_an_instance_goes_where_large_ones_stay_possible(void **state)
{
    static const char *const keys[] = {"a100-40", "a100-80", "h100-80-sxm", "h200-141", "b200-180"};

    (void)state;
    for (uint32_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        struct bed bed;
        uint32_t one, two, three, four;

        bed_open(&bed, keys[i]);
        one = 0; /* profiles of these types: 1g, 1g+me, 1g with double memory, 2g, 3g, 4g, 7g */
        two = 3;
        three = 4;
        four = 5;
        goes_to(&bed, 1, bed.type->profiles[one].name, 0, 6); /* not 0 */
        mig_gpu_add(bed.type, &bed.gpus[0], one, 0);
        mig_gpu_add(bed.type, &bed.gpus[0], one, 1);
        mig_gpu_add(bed.type, &bed.gpus[0], one, 5);
        goes_to(&bed, 1, bed.type->profiles[three].name, NOWHERE, NOWHERE);
        goes_to(&bed, 1, bed.type->profiles[two].name, 0, 2);
        mig_gpu_add(bed.type, &bed.gpus[1], four, 0);
        bed.gpus[0] = bed.gpus[1];
        goes_to(&bed, 1, bed.type->profiles[three].name, 0, 4);
        bed.gpus[0] = (struct mig_gpu){0};
        mig_gpu_add(bed.type, &bed.gpus[0], three, 0);
        mig_gpu_add(bed.type, &bed.gpus[0], three, 4);
        goes_to(&bed, 1, bed.type->profiles[one].name, NOWHERE, NOWHERE);
        bed_close(&bed);
    }
}

static void fault_29_an_instance_is_made_beside_what_runs(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, "a100-40");
    put(&bed, 0, "1g.5gb", 0);
    goes_to(&bed, 1, "4g.20gb", NOWHERE, NOWHERE);
    goes_to(&bed, 2, "4g.20gb", 1, 0); /* another GPU */
    goes_to(&bed, 1, "3g.20gb", 0, 4);
    bed_close(&bed);
}

static void what_waits_keeps_its_room(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, "a100-40");
    goes_to(&bed, 1, "2g.10gb", 0, 4); /* 4g is still possible */
    waits(&bed, "3g.20gb", 1);
    waits(&bed, "1g.5gb", 2); /* which need not be kept: 3g at 4 or 0, 2g, and two 1g fit */
    assert_true(chosen(&bed, 1, "2g.10gb").backlog_lost == 0);
    bed.demand = (struct mig_demand){.expected = 0};
    waits(&bed, "4g.20gb", 1);
    waits(&bed, "1g.10gb", 1); /* the only room beside 4g and 2g is from 6 on */
    goes_to(&bed, 1, "1g.5gb", 0, 4);
    bed_close(&bed);
}

static void what_is_worth_more_keeps_its_room_first(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, "a100-40");
    put(&bed, 0, "3g.20gb", 4); /* 0 to 3 are free: a 3g, or two 2g, but not both */
    put(&bed, 1, "1g.5gb", 0);
    put(&bed, 1, "1g.5gb", 3);
    put(&bed, 1, "2g.10gb", 4);
    waits(&bed, "3g.20gb", 1);
    waits(&bed, "2g.10gb", 2);
    assert_int_equal(chosen(&bed, 1, "1g.5gb").backlog_lost, 1); /* a 2g is left */
    bed.demand.worth[profile_of(&bed, "3g.20gb")] = 5;
    assert_int_equal(chosen(&bed, 1, "1g.5gb").backlog_lost, 4); /* 3g was worth 5, a 2g is 1 */
    goes_to(&bed, 2, "1g.5gb", 1, 1); /* the other GPU costs nothing that waits */
    bed_close(&bed);
}

static void what_another_gpu_can_take_is_not_lost(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, "a100-40");
    put(&bed, 0, "3g.20gb", 4);
    waits(&bed, "3g.20gb", 1);
    assert_int_equal(chosen(&bed, 1, "2g.10gb").backlog_lost, 1);
    assert_int_equal(chosen(&bed, 2, "2g.10gb").backlog_lost, 0); /* there is an empty one */
    bed_close(&bed);
}

static void an_instance_goes_to_the_gpu_that_loses_least(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, "h100-80-sxm");
    put(&bed, 1, "4g.40gb", 0);
    goes_to(&bed, 4, "1g.10gb", 1, 6);
    put(&bed, 1, "1g.10gb", 6);
    goes_to(&bed, 4, "2g.20gb", 1, 4);
    goes_to(&bed, 4, "7g.80gb", 0, 0);
    bed_close(&bed);
}

static void where_instances_of_double_memory_may_come_they_keep_the_last_slices(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, "a100-40");
    goes_to(&bed, 1, "1g.5gb", 0, 6);
    bed.demand.expected = (uint16_t)(1u << profile_of(&bed, "1g.10gb"));
    goes_to(&bed, 1, "1g.5gb", 0, 4);
    bed_close(&bed);
}

static void slices_of_unknown_instances_are_left_alone(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, "a100-40");
    bed.gpus[0].blocked = 1u << 5;
    goes_to(&bed, 1, "3g.20gb", 0, 0);
    goes_to(&bed, 1, "7g.40gb", NOWHERE, NOWHERE);
    goes_to(&bed, 1, "1g.5gb", 0, 4); /* 0 to 3 stay whole */
    waits(&bed, "2g.10gb", 2);
    assert_int_equal(chosen(&bed, 1, "3g.20gb").backlog_lost, 2);
    bed_close(&bed);
}

static void a_layout_is_found_for_what_an_operator_wants_on_a_gpu(void **state)
{
    uint8_t counts[MIG_PROFILES_MAX] = {0};
    struct mig_gpu gpu = {0};
    struct bed bed;

    (void)state;
    bed_open(&bed, "h100-80-sxm");
    counts[profile_of(&bed, "1g.10gb")] = 4;
    counts[profile_of(&bed, "3g.40gb")] = 1;
    assert_int_equal(mig_layout_for(&bed.game, counts, &gpu.layout), 0);
    assert_true(mig_gpu_valid(bed.type, &gpu));
    assert_int_equal(mig_gpu_at(&gpu, 4), profile_of(&bed, "3g.40gb"));
    assert_int_equal(mig_gpu_used(bed.type, &gpu), 0xff);
    assert_true(mig_layout_full(&bed.game, gpu.layout, MIG_ALL));
    counts[profile_of(&bed, "1g.10gb")] = 5;
    assert_int_equal(mig_layout_for(&bed.game, counts, &gpu.layout), -ENOSPC);
    bed_close(&bed);
}

/* Random GPUs, blocked slices and demand: a choice is legal, there is one if and only if there is a
 * legal start, it is the same again, and the same with a copy of what the type says. */
static void a_choice_is_legal_and_depends_on_nothing_else(void **state)
{
    static const char *const keys[] = {"a100-40", "a30", "rtx-pro-6000-96"};
    struct rng rng;

    (void)state;
    rng_init(&rng, 3);
    for (uint32_t k = 0; k < 3; k++) {
        struct mig_game copy;
        struct bed bed;

        bed_open(&bed, keys[k]);
        mig_game_copy(&copy, &bed.game);
        for (uint32_t i = 0; i < 5000; i++) {
            const uint32_t p = (uint32_t)rng_below(&rng, bed.type->profile_count);
            struct mig_choice choice, again;
            bool any = false, found;

            bed.demand = (struct mig_demand){.expected = 0};
            for (uint32_t q = 0; q < bed.type->profile_count; q++)
                if (rng_below(&rng, 3) == 0)
                    bed.demand.waiting[q] = (uint32_t)rng_below(&rng, 12);
            for (uint32_t g = 0; g < 3; g++) {
                bed.gpus[g] = (struct mig_gpu){
                    .layout = bed.game.layouts[rng_below(&rng, bed.game.layout_count)].layout};
                if (rng_below(&rng, 4) == 0)
                    bed.gpus[g] = (struct mig_gpu){
                        .blocked = (uint16_t)rng_below(&rng, 1u << bed.type->memory_slices)};
                any = any || mig_gpu_starts(bed.type, &bed.gpus[g], p) != 0;
            }
            found = mig_choose(&bed.game, bed.gpus, 3, p, &bed.demand, &choice);
            assert_int_equal(found, any);
            if (!found)
                continue;
            assert_true(mig_choose(&copy, bed.gpus, 3, p, &bed.demand, &again));
            assert_true(choice.gpu == again.gpu && choice.start == again.start &&
                        choice.backlog_lost == again.backlog_lost &&
                        choice.open_lost == again.open_lost);
            mig_gpu_add(bed.type, &bed.gpus[choice.gpu], p, choice.start);
            assert_true(mig_gpu_valid(bed.type, &bed.gpus[choice.gpu]));
        }
        mig_game_done(&copy);
        bed_close(&bed);
    }
}

static void what_is_searched_of_a_type_stays_within_what_is_stated(void **state)
{
    uint32_t layouts = 0, states = 0, rooms = 0;

    (void)state;
    for (uint32_t t = 0; t < mig_type_count; t++) {
        struct mig_game game;

        mig_game_init(&game, &mig_types[t]);
        assert_true(game.layout_count > 0);
        layouts = game.layout_count > layouts ? game.layout_count : layouts;
        states = game.state_count > states ? game.state_count : states;
        for (uint32_t s = 0; s < game.state_count; s++)
            rooms = game.states[s].count > rooms ? game.states[s].count : rooms;
        mig_game_done(&game);
    }
    assert_int_equal(layouts, 2319);
    assert_int_equal(states, 382);
    assert_int_equal(rooms, 64); /* of the RTX PRO 6000; 44 where there are 7 profiles */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(fault_26_an_instance_goes_where_large_ones_stay_possible),
        TEST(fault_29_an_instance_is_made_beside_what_runs),
        TEST(what_waits_keeps_its_room),
        TEST(what_is_worth_more_keeps_its_room_first),
        TEST(what_another_gpu_can_take_is_not_lost),
        TEST(an_instance_goes_to_the_gpu_that_loses_least),
        TEST(where_instances_of_double_memory_may_come_they_keep_the_last_slices),
        TEST(slices_of_unknown_instances_are_left_alone),
        TEST(a_layout_is_found_for_what_an_operator_wants_on_a_gpu),
        TEST(a_choice_is_legal_and_depends_on_nothing_else),
        TEST(what_is_searched_of_a_type_stays_within_what_is_stated),
    };

    return RUN_TESTS(tests);
}
