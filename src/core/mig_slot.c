/* SPDX-License-Identifier: Apache-2.0 */
/* mig_slot.c - the choice of a GPU and a start for an instance. */
#include "core/mig_slot.h"

#include <stddef.h>

#include "base/bits.h"
#include "base/check.h"

/* A question: what stays the same for all candidates. */
struct ask {
    const struct mig_game *game;
    const struct mig_gpu *gpus;
    uint32_t count, profile;
    const struct mig_demand *demand;
    enum mig_set set;
    uint16_t waiting;                 /* bit p: some of profile p wait */
    mig_multiset dealt[MIG_GPUS_MAX]; /* of what waits, to each GPU */
    mig_multiset left;                /* what no GPU was dealt, up to MIG_COPIES_MAX of each */
};

/* A GPU as it would be, with what decides. */
struct candidate {
    struct mig_choice choice;
    uint64_t value; /* of its layout */
    uint32_t open;
};

/* ---- what waits ---- */

static uint64_t worth_of(const struct ask *ask, mig_multiset multiset)
{
    uint64_t worth = 0;

    for (uint64_t m = ask->waiting; m != 0; m = mask_drop_lowest(m)) {
        const uint32_t p = mask_lowest(m), each = ask->demand->worth[p];

        worth += (uint64_t)mig_multiset_count(multiset, p) * (each == 0 ? 1 : each);
    }
    return worth;
}

/* Of each profile the smaller count, profiles that do not wait left out. */
static mig_multiset common(const struct ask *ask, mig_multiset a, mig_multiset b)
{
    mig_multiset both = 0;

    for (uint64_t m = ask->waiting; m != 0; m = mask_drop_lowest(m)) {
        const uint32_t p = mask_lowest(m);
        const uint32_t x = mig_multiset_count(a, p), y = mig_multiset_count(b, p);

        both |= (mig_multiset)(x < y ? x : y) << (4 * p);
    }
    return both;
}

static mig_multiset plus(const struct ask *ask, mig_multiset a, mig_multiset b)
{
    mig_multiset sum = 0;

    for (uint64_t m = ask->waiting; m != 0; m = mask_drop_lowest(m)) {
        const uint32_t p = mask_lowest(m);
        const uint32_t both = mig_multiset_count(a, p) + mig_multiset_count(b, p);

        sum |= (mig_multiset)(both < MIG_COPIES_MAX ? both : MIG_COPIES_MAX) << (4 * p);
    }
    return sum;
}

/* Blocked slices: as many of each profile as fit if nothing else comes. */
static mig_multiset holds_blocked(const struct ask *ask, const struct mig_gpu *gpu,
                                  mig_multiset wanted)
{
    mig_multiset fits = 0;

    for (uint64_t m = ask->waiting; m != 0; m = mask_drop_lowest(m)) {
        const uint32_t p = mask_lowest(m);

        if (mig_multiset_count(wanted, p) > 0)
            fits |= (mig_multiset)mig_gpu_fits(ask->game->type, gpu, p) << (4 * p);
    }
    return common(ask, fits, wanted);
}

/* The part of what is wanted that is worth most of what fits on the GPU together. */
static mig_multiset holds(const struct ask *ask, const struct mig_gpu *gpu, mig_multiset wanted)
{
    const struct mig_layout *layout = mig_game_find(ask->game, gpu);
    const struct mig_state *state;
    mig_multiset best = 0;
    uint64_t best_worth = 0;

    if (wanted == 0)
        return 0;
    if (layout == NULL)
        return holds_blocked(ask, gpu, wanted);
    state = &ask->game->states[layout->state];
    for (uint32_t i = 0; i < state->count; i++) {
        const mig_multiset part = common(ask, ask->game->rooms[state->first + i], wanted);
        const uint64_t worth = worth_of(ask, part);

        if (worth > best_worth) {
            best = part;
            best_worth = worth;
        }
    }
    return best;
}

/* Deals what waits out over the GPUs, in their order. */
static void deal(struct ask *ask)
{
    uint32_t left[MIG_PROFILES_MAX];

    for (uint32_t p = 0; p < MIG_PROFILES_MAX; p++)
        left[p] = ask->demand->waiting[p];
    for (uint32_t g = 0; g <= ask->count; g++) {
        mig_multiset wanted = 0;

        for (uint64_t m = ask->waiting; m != 0; m = mask_drop_lowest(m)) {
            const uint32_t p = mask_lowest(m);

            wanted |= (mig_multiset)(left[p] < MIG_COPIES_MAX ? left[p] : MIG_COPIES_MAX)
                      << (4 * p);
        }
        if (g == ask->count) {
            ask->left = wanted;
            break;
        }
        ask->dealt[g] = holds(ask, &ask->gpus[g], wanted);
        for (uint64_t m = ask->waiting; m != 0; m = mask_drop_lowest(m))
            left[mask_lowest(m)] -= mig_multiset_count(ask->dealt[g], mask_lowest(m));
    }
}

/* Worth of what waits and has no place any more, if GPU g were as gpu says. */
static uint64_t lost_by(const struct ask *ask, uint32_t g, const struct mig_gpu *gpu)
{
    const mig_multiset dealt = ask->dealt[g];
    const mig_multiset kept = holds(ask, gpu, plus(ask, dealt, ask->left));
    const uint64_t before = worth_of(ask, dealt);
    uint64_t after = worth_of(ask, kept);
    mig_multiset lost = dealt - common(ask, dealt, kept);

    for (uint32_t h = 0; h < ask->count && lost != 0 && after < before; h++) {
        mig_multiset more;

        if (h == g)
            continue;
        more = holds(ask, &ask->gpus[h], plus(ask, ask->dealt[h], lost));
        if (worth_of(ask, more) <= worth_of(ask, ask->dealt[h]))
            continue;
        after += worth_of(ask, more) - worth_of(ask, ask->dealt[h]);
        more -= common(ask, more, ask->dealt[h]);
        lost -= common(ask, lost, more);
    }
    return after < before ? before - after : 0;
}

/* ---- what may come ---- */

static uint32_t open_of(const struct ask *ask, const struct mig_gpu *gpu,
                        const struct mig_layout *layout)
{
    const struct mig_type *type = ask->game->type;
    uint32_t open = 0;

    if (layout != NULL)
        return ask->game->states[layout->state].open[ask->set];
    for (uint64_t m = ask->game->sets[ask->set]; m != 0; m = mask_drop_lowest(m))
        open += type->profiles[mask_lowest(m)].size * mig_gpu_fits(type, gpu, mask_lowest(m));
    return open;
}

/* All, if any other than a plain profile is placed now, waits, is expected, or is there. */
static enum mig_set set_of(const struct ask *ask)
{
    const uint16_t plain = ask->game->sets[MIG_PLAIN];

    if (((1u << ask->profile | ask->waiting | ask->demand->expected) & ~(uint32_t)plain) != 0)
        return MIG_ALL;
    for (uint32_t g = 0; g < ask->count; g++)
        for (uint64_t layout = ask->gpus[g].layout; layout != 0; layout >>= 4)
            if ((layout & 15) != 0 && (plain >> ((layout & 15) - 1) & 1) == 0)
                return MIG_ALL;
    return MIG_PLAIN;
}

/* ---- the choice ---- */

static bool better_start(const struct candidate *a, const struct candidate *b)
{
    if (a->choice.backlog_lost != b->choice.backlog_lost)
        return a->choice.backlog_lost < b->choice.backlog_lost;
    if (a->value != b->value)
        return a->value > b->value;
    return a->open > b->open;
}

static bool better_gpu(const struct candidate *a, const struct candidate *b)
{
    if (a->choice.backlog_lost != b->choice.backlog_lost)
        return a->choice.backlog_lost < b->choice.backlog_lost;
    if (a->choice.open_lost != b->choice.open_lost)
        return a->choice.open_lost < b->choice.open_lost;
    return a->value < b->value;
}

/* The best start of one GPU, which has one of these. */
static struct candidate best_start(const struct ask *ask, uint32_t g, uint16_t starts)
{
    const struct mig_gpu *now = &ask->gpus[g];
    const uint32_t open = open_of(ask, now, mig_game_find(ask->game, now));
    struct candidate best = {.value = 0};

    for (uint64_t m = starts; m != 0; m = mask_drop_lowest(m)) {
        const uint32_t start = mask_lowest(m);
        const struct mig_gpu then = {.layout = mig_layout_with(now->layout, ask->profile, start),
                                     .blocked = now->blocked};
        const struct mig_layout *layout = mig_game_find(ask->game, &then);
        struct candidate candidate = {.choice = {.gpu = g, .start = start},
                                      .value = layout == NULL ? 0 : layout->value[ask->set],
                                      .open = open_of(ask, &then, layout)};

        candidate.choice.open_lost = open - candidate.open;
        if (ask->waiting != 0)
            candidate.choice.backlog_lost = lost_by(ask, g, &then);
        if (m == starts || better_start(&candidate, &best))
            best = candidate;
    }
    return best;
}

bool mig_choose(const struct mig_game *game, const struct mig_gpu *gpus, uint32_t count,
                uint32_t profile, const struct mig_demand *demand, struct mig_choice *out)
{
    struct ask ask = {
        .game = game, .gpus = gpus, .count = count, .profile = profile, .demand = demand};
    struct candidate best;
    bool found = false;

    check(count <= MIG_GPUS_MAX && profile < game->type->profile_count);
    for (uint32_t p = 0; p < game->type->profile_count; p++)
        if (demand->waiting[p] > 0)
            ask.waiting = (uint16_t)(ask.waiting | 1u << p);
    ask.set = set_of(&ask);
    if (ask.waiting != 0)
        deal(&ask);
    for (uint32_t g = 0; g < count; g++) {
        const uint16_t starts = mig_gpu_starts(game->type, &gpus[g], profile);
        struct candidate candidate;

        if (starts == 0)
            continue;
        candidate = best_start(&ask, g, starts);
        if (!found || better_gpu(&candidate, &best))
            best = candidate;
        found = true;
    }
    if (found)
        *out = best.choice;
    return found;
}
