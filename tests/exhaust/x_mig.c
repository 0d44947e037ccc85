/* SPDX-License-Identifier: Apache-2.0 */
/* Every arrival order of every multiset of profiles, on one GPU of each of six types: an instance
 * is never refused while a legal start exists, and the choice reaches what the best of all rules
 * reaches that do not know what comes next. That best is searched for here anew, over histories
 * with nothing but the table of starts; first fit, and the rule "1g and 3g from the high end, 2g
 * from the low", are shown beside it.
 *
 * Once with the plain profiles (1g, 2g, 3g, 4g, 7g), once with all of them. */
#include <string.h>

#include "base/map.h"
#include "base/vec.h"
#include "core/mig_slot.h"

#include "unit/test.h"

enum { SEVEN = 7 };
static const char *const keys[] = {"a100-40",  "a100-80",  "h100-80-sxm",
                                   "h200-141", "b200-180", "a30"};
enum { TYPES = sizeof keys / sizeof keys[0] };

/* ---- brute force: what may stand where, from the table alone ---- */

struct brute {
    const struct mig_type *type;
    uint16_t set;
    uint64_t *layouts; /* [count] fewer instances first */
    uint32_t count, cap;
    struct map rows;
};

static bool brute_legal(const struct mig_type *type, uint64_t layout, uint32_t profile,
                        uint32_t start)
{
    uint32_t taken[MIG_SLICES_MAX] = {0}, compute = 0, engines[MIG_ENGINES] = {0}, same = 0;

    layout = mig_layout_with(layout, profile, start);
    for (uint32_t s = 0; s < MIG_SLICES_MAX; s++) {
        const uint32_t there = (uint32_t)(layout >> (4 * s)) & 15;
        const struct mig_profile *p = &type->profiles[there - 1];

        if (there == 0)
            continue;
        if ((p->starts >> s & 1) == 0)
            return false;
        for (uint32_t i = 0; i < p->size; i++)
            if (s + i >= type->memory_slices || taken[s + i]++ > 0)
                return false;
        same += there - 1 == profile;
        compute += p->compute_slices;
        for (uint32_t e = 0; e < MIG_ENGINES; e++)
            engines[e] += p->engines[e];
    }
    for (uint32_t e = 0; e < MIG_ENGINES; e++)
        if (type->engines[e] != MIG_NO_LIMIT && engines[e] > type->engines[e])
            return false;
    return compute <= type->compute_slices && same <= type->profiles[profile].max_instances;
}

static uint16_t brute_starts(const struct mig_type *type, uint64_t layout, uint32_t profile)
{
    uint16_t starts = 0;

    for (uint32_t s = 0; s < MIG_SLICES_MAX; s++)
        if ((layout >> (4 * s) & 15) == 0 && brute_legal(type, layout, profile, s))
            starts = (uint16_t)(starts | 1u << s);
    return starts;
}

static void brute_open(struct brute *b, const char *key, enum mig_set set)
{
    struct mig_game game;

    *b = (struct brute){.type = mig_type_find(key, 0)};
    assert_non_null(b->type);
    mig_game_init(&game, b->type);
    b->set = game.sets[set];
    mig_game_done(&game);
    map_init(&b->rows);
    map_put(&b->rows, 0, 0);
    vec_push(b->layouts, b->count, b->cap, 0);
    for (uint32_t row = 0; row < b->count; row++)
        for (uint32_t p = 0; p < b->type->profile_count; p++)
            for (uint32_t s = 0; (b->set >> p & 1) != 0 && s < MIG_SLICES_MAX; s++) {
                const uint64_t next = mig_layout_with(b->layouts[row], p, s);

                if ((brute_starts(b->type, b->layouts[row], p) >> s & 1) == 0 ||
                    map_find(&b->rows, next, NULL))
                    continue;
                map_put(&b->rows, next, b->count);
                vec_push(b->layouts, b->count, b->cap, next);
            }
}

static void brute_close(struct brute *b)
{
    mem_free(b->layouts);
    map_done(&b->rows);
}

static uint32_t brute_row(const struct brute *b, uint64_t layout)
{
    uint32_t row = 0;

    assert_true(map_find(&b->rows, layout, &row));
    return row;
}

/* ---- multisets, their orders ---- */

static mig_multiset multiset_of(uint64_t layout)
{
    mig_multiset multiset = 0;

    for (; layout != 0; layout >>= 4)
        if ((layout & 15) != 0)
            multiset += mig_multiset_one((uint32_t)(layout & 15) - 1);
    return multiset;
}

static uint64_t factorial(uint64_t n)
{
    return n < 2 ? 1 : n * factorial(n - 1);
}

/* In how many orders it can arrive. */
static uint64_t orders_of(mig_multiset multiset)
{
    uint64_t n = 0, same = 1;

    for (uint32_t p = 0; p < MIG_PROFILES_MAX; p++) {
        n += mig_multiset_count(multiset, p);
        same *= factorial(mig_multiset_count(multiset, p));
    }
    return factorial(n) / same;
}

/* ---- what a rule reaches ---- */

/* 7! for each multiset that is placed whole in every order; for the others the part of it that is
 * the part of their orders. Seven instances are the most that a GPU of these types holds. */
struct score {
    uint64_t placed;  /* in units of 1/7! multisets */
    uint32_t orders;  /* in which all of a multiset was placed */
    uint32_t whole;   /* multisets that are placed whole in every order */
    uint32_t refused; /* times that the rule refused though there was a legal start */
};

typedef bool rule(const struct mig_game *game, uint16_t set, uint64_t layout, uint32_t profile,
                  uint32_t *start);

static bool first_fit(const struct mig_game *game, uint16_t set, uint64_t layout, uint32_t profile,
                      uint32_t *start)
{
    const uint16_t starts = brute_starts(game->type, layout, profile);

    (void)set;
    for (*start = 0; *start < MIG_SLICES_MAX; ++*start)
        if ((starts >> *start & 1) != 0)
            return true;
    return false;
}

static bool fixed_ends(const struct mig_game *game, uint16_t set, uint64_t layout, uint32_t profile,
                       uint32_t *start)
{
    const uint16_t starts = brute_starts(game->type, layout, profile);
    const uint8_t compute = game->type->profiles[profile].compute_slices;

    if (compute != 1 && compute != 3)
        return first_fit(game, set, layout, profile, start);
    for (*start = MIG_SLICES_MAX; (*start)-- > 0;)
        if ((starts >> *start & 1) != 0)
            return true;
    return false;
}

static bool ours(const struct mig_game *game, uint16_t set, uint64_t layout, uint32_t profile,
                 uint32_t *start)
{
    const struct mig_gpu gpu = {.layout = layout};
    const struct mig_demand demand = {.expected = set};
    struct mig_choice choice;

    if (!mig_choose(game, &gpu, 1, profile, &demand, &choice))
        return false;
    *start = choice.start;
    return true;
}

/* Adds the orders that end in each layout to its multiset. */
static struct score count_multisets(const struct brute *b, const uint32_t *ways)
{
    struct score score = {0};
    struct map seen;
    uint64_t *placed = mem_alloc(b->count, sizeof *placed); /* orders, by first row of multiset */

    map_init(&seen);
    for (uint32_t row = 0; row < b->count; row++) {
        const mig_multiset multiset = multiset_of(b->layouts[row]);
        uint32_t at = row;

        if (!map_find(&seen, multiset, &at))
            map_put(&seen, multiset, row);
        placed[at] += ways[row];
    }
    for (uint32_t row = 0; row < b->count; row++) {
        const uint64_t orders = orders_of(multiset_of(b->layouts[row]));

        score.placed += placed[row] * (factorial(SEVEN) / orders);
        score.orders += (uint32_t)placed[row];
        score.whole += placed[row] == orders;
    }
    map_done(&seen);
    mem_free(placed);
    return score;
}

/* All orders at once: in how many of them the rule comes to each layout. */
static struct score play(const struct brute *b, const struct mig_game *game, rule *choose)
{
    uint32_t *ways = mem_alloc(b->count, sizeof *ways), refused = 0;
    struct score score;

    ways[0] = 1;
    for (uint32_t row = 0; row < b->count; row++)
        for (uint32_t p = 0; ways[row] > 0 && p < b->type->profile_count; p++) {
            const uint16_t starts = brute_starts(b->type, b->layouts[row], p);
            uint32_t start = 0;

            if ((b->set >> p & 1) == 0)
                continue;
            if (!choose(game, b->set, b->layouts[row], p, &start)) {
                refused += starts != 0;
                continue;
            }
            assert_true((starts >> start & 1) != 0);
            ways[brute_row(b, mig_layout_with(b->layouts[row], p, start))] += ways[row];
        }
    score = count_multisets(b, ways);
    score.refused = refused;
    mem_free(ways);
    return score;
}

/* The most that any rule can place, in units of 1/7! multisets: what is reached so far, and for
 * each profile that can come next the best way to go on. */
static uint64_t best_of_all_rules(const struct brute *b)
{
    uint64_t *best = mem_alloc(b->count, sizeof *best), result;

    for (uint32_t row = b->count; row-- > 0;) {
        const uint64_t layout = b->layouts[row];

        best[row] = factorial(SEVEN) / orders_of(multiset_of(layout));
        for (uint32_t p = 0; p < b->type->profile_count; p++) {
            const uint16_t starts = brute_starts(b->type, layout, p);
            uint64_t most = 0;

            for (uint32_t s = 0; (b->set >> p & 1) != 0 && s < MIG_SLICES_MAX; s++)
                if ((starts >> s & 1) != 0) {
                    const uint64_t next = best[brute_row(b, mig_layout_with(layout, p, s))];

                    most = next > most ? next : most;
                }
            best[row] += most;
        }
    }
    result = best[0];
    mem_free(best);
    return result;
}

static uint32_t multisets_of(const struct brute *b)
{
    struct map seen;
    uint32_t count;

    map_init(&seen);
    for (uint32_t row = 0; row < b->count; row++)
        map_put(&seen, multiset_of(b->layouts[row]), 0);
    count = map_count(&seen);
    map_done(&seen);
    return count;
}

static void show(const char *name, const struct score *score, uint32_t multisets)
{
    const uint64_t ppm = score->placed * 1000000 / factorial(SEVEN) / multisets;

    print_message("#   %-22s %3u.%02u %%  whole in every order %3u  orders %4u\n", name,
                  (unsigned)(ppm / 10000), (unsigned)(ppm % 10000 / 100), score->whole,
                  score->orders);
}

static void compare(const char *key, enum mig_set set)
{
    struct score us, first, fixed;
    struct mig_game game;
    struct brute b;
    uint32_t multisets;
    uint64_t best;

    brute_open(&b, key, set);
    mig_game_init(&game, b.type);
    multisets = multisets_of(&b);
    best = best_of_all_rules(&b);
    us = play(&b, &game, ours);
    first = play(&b, &game, first_fit);
    fixed = play(&b, &game, fixed_ends);
    print_message("# %s, %s profiles: %u layouts, %u multisets\n", key,
                  set == MIG_PLAIN ? "plain" : "all", b.count, multisets);
    show("ours", &us, multisets);
    print_message("#   the best of all rules  %s\n", us.placed == best ? "the same" : "more");
    show("first fit", &first, multisets);
    show("fixed ends", &fixed, multisets);
    assert_int_equal(us.refused, 0);
    assert_true(us.placed == best);
    assert_true(us.placed >= first.placed && us.placed >= fixed.placed);
    mig_game_done(&game);
    brute_close(&b);
}

static void plain_profiles_are_placed_as_the_best_of_all_rules_would(void **state)
{
    (void)state;
    for (uint32_t t = 0; t < TYPES; t++)
        compare(keys[t], MIG_PLAIN);
}

static void all_profiles_are_placed_as_the_best_of_all_rules_would(void **state)
{
    (void)state;
    for (uint32_t t = 0; t < TYPES; t++)
        compare(keys[t], MIG_ALL);
    compare("rtx-pro-6000-96", MIG_ALL);
}

/* ---- no rule is whole in every order more often ----
 *
 * A multiset of which some order fails makes all that contain it fail too, so what a rule places
 * whole in every order is everything but what contains one of those left out. */

struct family {
    const struct brute *b;
    const mig_multiset *left_out; /* [left_out_count] */
    uint32_t left_out_count;
    int8_t *known; /* by row: 0 not yet, 1 yes, -1 no */
};

static bool is_in(const struct family *f, mig_multiset multiset)
{
    for (uint32_t i = 0; i < f->left_out_count; i++)
        if (mig_multiset_within(f->left_out[i], multiset))
            return false;
    return true;
}

/* Whether from this layout some rule places every multiset of the family in every order. */
static bool safe(const struct family *f, uint32_t row)
{
    const struct brute *b = f->b;
    const uint64_t layout = b->layouts[row];
    bool good = true;

    if (f->known[row] != 0)
        return f->known[row] > 0;
    for (uint32_t p = 0; good && p < b->type->profile_count; p++) {
        const uint16_t starts = brute_starts(b->type, layout, p);
        const mig_multiset next = multiset_of(layout) + mig_multiset_one(p);
        bool feasible = false, some = false;

        if ((b->set >> p & 1) == 0)
            continue;
        for (uint32_t i = 0; !feasible && i < b->count; i++)
            feasible = multiset_of(b->layouts[i]) == next;
        if (!feasible || !is_in(f, next))
            continue;
        for (uint32_t s = 0; !some && s < MIG_SLICES_MAX; s++)
            some = (starts >> s & 1) != 0 && safe(f, brute_row(b, mig_layout_with(layout, p, s)));
        good = some;
    }
    f->known[row] = good ? 1 : -1;
    return good;
}

/* Whether leaving out these two, and what contains them, lets all others be placed in every order.
 * all: every multiset. false as well if that leaves out more than most. */
static bool can_leave_out(const struct brute *b, const mig_multiset *two, const mig_multiset *all,
                          uint32_t count, uint32_t most)
{
    struct family f = {.b = b, .left_out = two, .left_out_count = 2};
    uint32_t out = 0;
    bool possible;

    for (uint32_t i = 0; i < count; i++)
        out += !is_in(&f, all[i]);
    if (out > most)
        return false;
    f.known = mem_alloc(b->count, sizeof *f.known);
    possible = safe(&f, 0);
    mem_free(f.known);
    return possible;
}

static void three_of_38_multisets_fail_in_some_order_and_no_rule_fails_on_fewer(void **state)
{
    mig_multiset all[64];
    uint32_t count = 0;
    struct mig_game game;
    struct brute b;

    (void)state;
    brute_open(&b, "a100-40", MIG_PLAIN);
    mig_game_init(&game, b.type);
    for (uint32_t row = 0; row < b.count; row++) {
        const mig_multiset multiset = multiset_of(b.layouts[row]);
        uint32_t i = 0;

        while (i < count && all[i] != multiset)
            i++;
        if (i == count)
            all[count++] = multiset;
    }
    assert_int_equal(count, 38);
    assert_int_equal(play(&b, &game, ours).whole, 35);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = i; k < count; k++) {
            const mig_multiset two[] = {all[i], all[k]};

            assert_false(can_leave_out(&b, two, all, count, 2));
        }
    mig_game_done(&game);
    brute_close(&b);
}

/* ---- layouts ---- */

/* Whether our choices lead to the layout: its instances come in some order, each as one of those
 * that may still come, and the rest of it is what waits. */
static bool leads_to(const struct mig_game *game, uint64_t goal, uint64_t layout)
{
    const struct mig_gpu gpu = {.layout = layout};

    if (layout == goal)
        return true;
    for (uint32_t s = 0; s < MIG_SLICES_MAX; s++) {
        const uint32_t p = (uint32_t)(goal >> (4 * s)) & 15;
        struct mig_demand demand = {.expected = 0};
        struct mig_choice choice;
        mig_multiset rest;

        if (p == 0 || (layout >> (4 * s) & 15) != 0)
            continue;
        rest = multiset_of(goal) - multiset_of(layout) - mig_multiset_one(p - 1);
        for (uint32_t q = 0; q < MIG_PROFILES_MAX; q++)
            demand.waiting[q] = mig_multiset_count(rest, q);
        if (mig_choose(game, &gpu, 1, p - 1, &demand, &choice) && choice.start == s &&
            leads_to(game, goal, mig_layout_with(layout, p - 1, s)))
            return true;
    }
    return false;
}

/* Maximal layouts of the plain profiles: each can be built, and is what our choices end in when its
 * instances come in some order, known to wait. */
static void count_maximal(const char *key, uint32_t maximal, uint32_t multisets, uint32_t layouts)
{
    uint32_t found = 0, distinct = 0, reached = 0;
    const struct mig_type *type = mig_type_find(key, 0);
    struct mig_game game;
    struct brute b;
    struct map seen;

    brute_open(&b, key, MIG_PLAIN);
    mig_game_init(&game, type);
    map_init(&seen);
    for (uint32_t row = 0; row < b.count; row++) {
        struct mig_gpu gpu = {0};

        if (!mig_layout_full(&game, b.layouts[row], MIG_PLAIN))
            continue;
        found++;
        for (uint32_t s = 0; s < MIG_SLICES_MAX; s++) /* reachable by adding, one after another */
            if ((b.layouts[row] >> (4 * s) & 15) != 0)
                mig_gpu_add(type, &gpu, (uint32_t)(b.layouts[row] >> (4 * s) & 15) - 1, s);
        assert_true(gpu.layout == b.layouts[row]);
        reached += leads_to(&game, b.layouts[row], 0);
        map_put(&seen, multiset_of(b.layouts[row]), 0);
    }
    distinct = map_count(&seen);
    print_message("# %s: %u maximal layouts of %u, %u multisets; our choices lead to %u\n", key,
                  found, b.count - 1, distinct, reached);
    assert_int_equal(found, maximal);
    assert_int_equal(distinct, multisets);
    assert_int_equal(b.count - 1, layouts);
    assert_int_equal(reached, found);
    map_done(&seen);
    mig_game_done(&game);
    brute_close(&b);
}

static void the_maximal_layouts_are_those_of_the_user_guide_and_can_be_reached(void **state)
{
    (void)state;
    count_maximal("a100-40", 19, 14, 297);
    count_maximal("a100-80", 19, 14, 297);
    count_maximal("h100-80-sxm", 19, 14, 297);
    count_maximal("h200-141", 19, 14, 297);
    count_maximal("b200-180", 19, 14, 297);
    count_maximal("a30", 5, 4, 25);
}

/* ---- what is known to wait ---- */

/* Whether all orders of the rest are placed whole when the rest is known to wait. */
static bool known_backlog(const struct mig_game *game, uint64_t layout, mig_multiset rest)
{
    const struct mig_gpu gpu = {.layout = layout};

    for (uint32_t p = 0; p < game->type->profile_count; p++) {
        struct mig_demand demand = {.expected = 0};
        struct mig_choice choice;

        if (mig_multiset_count(rest, p) == 0)
            continue;
        for (uint32_t q = 0; q < MIG_PROFILES_MAX; q++)
            demand.waiting[q] = mig_multiset_count(rest, q) - (p == q);
        if (!mig_choose(game, &gpu, 1, p, &demand, &choice) || choice.backlog_lost != 0 ||
            !known_backlog(game, mig_layout_with(layout, p, choice.start),
                           rest - mig_multiset_one(p)))
            return false;
    }
    return true;
}

static void what_is_known_to_wait_is_placed_whole_in_every_order(void **state)
{
    (void)state;
    for (uint32_t t = 0; t < TYPES; t++) {
        struct mig_game game;
        struct brute b;

        brute_open(&b, keys[t], MIG_ALL);
        mig_game_init(&game, b.type);
        for (uint32_t row = 0; row < b.count; row++)
            assert_true(known_backlog(&game, 0, multiset_of(b.layouts[row])));
        mig_game_done(&game);
        brute_close(&b);
        if (t == 0)
            t = TYPES - 2; /* those between are split alike; the last is not */
    }
}

/* ---- the tables against the brute force, on every type ---- */

static void starts_and_room_are_those_of_the_brute_force(void **state)
{
    (void)state;
    for (uint32_t t = 0; t < mig_type_count; t++) {
        struct mig_game game;
        struct brute b;

        brute_open(&b, mig_types[t].key, MIG_ALL);
        mig_game_init(&game, b.type);
        assert_int_equal(game.layout_count, b.count);
        for (uint32_t row = 0; row < b.count; row++) {
            const struct mig_gpu gpu = {.layout = b.layouts[row]};
            const struct mig_layout *layout = mig_game_find(&game, &gpu);
            const struct mig_state *s = &game.states[layout->state];

            assert_true(mig_gpu_valid(b.type, &gpu));
            for (uint32_t p = 0; p < b.type->profile_count; p++) {
                uint32_t most = 0;

                assert_int_equal(mig_gpu_starts(b.type, &gpu, p),
                                 brute_starts(b.type, gpu.layout, p));
                for (uint32_t i = 0; i < s->count; i++) {
                    const uint32_t n = mig_multiset_count(game.rooms[s->first + i], p);

                    most = n > most ? n : most;
                }
                assert_int_equal(mig_gpu_fits(b.type, &gpu, p), most);
            }
        }
        mig_game_done(&game);
        brute_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(plain_profiles_are_placed_as_the_best_of_all_rules_would),
        TEST(all_profiles_are_placed_as_the_best_of_all_rules_would),
        TEST(three_of_38_multisets_fail_in_some_order_and_no_rule_fails_on_fewer),
        TEST(the_maximal_layouts_are_those_of_the_user_guide_and_can_be_reached),
        TEST(what_is_known_to_wait_is_placed_whole_in_every_order),
        TEST(starts_and_room_are_those_of_the_brute_force),
    };

    return RUN_TESTS(tests);
}
