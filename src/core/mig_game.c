/* SPDX-License-Identifier: Apache-2.0 */
/* mig_game.c - all layouts of a type, their values by search, and the room that each leaves. */
#include "core/mig_game.h"

#include <errno.h>

#include "base/bits.h"
#include "base/check.h"
#include "base/vec.h"

/* Plain: no attributes, and the least memory for its compute slices. */
static bool is_plain(const struct mig_type *type, uint32_t profile)
{
    const struct mig_profile *p = &type->profiles[profile];

    if (p->attributes != 0)
        return false;
    for (uint32_t i = 0; i < type->profile_count; i++) {
        const struct mig_profile *other = &type->profiles[i];

        if (other->attributes == 0 && other->compute_slices == p->compute_slices &&
            other->size < p->size)
            return false;
    }
    return true;
}

/* ---- layouts ---- */

static void add_layout(struct mig_game *game, uint64_t layout)
{
    const struct mig_gpu gpu = {.layout = layout};

    if (map_find(&game->by_layout, layout, NULL))
        return;
    map_put(&game->by_layout, layout, game->layout_count);
    vec_push(game->layouts, game->layout_count, game->layout_cap,
             ((struct mig_layout){.layout = layout, .used = mig_gpu_used(game->type, &gpu)}));
}

/* Breadth first: what has one more instance comes after all that have one less. */
static bool find_layouts(struct mig_game *game)
{
    add_layout(game, 0);
    for (uint32_t row = 0; row < game->layout_count; row++) {
        const struct mig_gpu gpu = {.layout = game->layouts[row].layout};

        for (uint32_t p = 0; p < game->type->profile_count; p++)
            for (uint64_t m = mig_gpu_starts(game->type, &gpu, p); m; m = mask_drop_lowest(m))
                add_layout(game, mig_layout_with(gpu.layout, p, mask_lowest(m)));
        if (game->layout_count > MIG_LAYOUTS_MAX)
            return false;
    }
    return true;
}

static uint32_t row_of(const struct mig_game *game, uint64_t layout)
{
    uint32_t row = 0;
    const bool found = map_find(&game->by_layout, layout, &row);

    check(found);
    return row;
}

static uint32_t instances(uint64_t layout)
{
    uint32_t count = 0;

    for (; layout != 0; layout >>= 4)
        count += (layout & 15) != 0;
    return count;
}

/* ---- values ---- */

static uint64_t factorial(uint32_t n)
{
    return n < 2 ? 1 : n * factorial(n - 1);
}

/* What one order of the layout's multiset is worth: unit divided by the number of its orders,
 * which is n! / (a! b! ...), so that all orders together are worth unit. unit is a multiple of n!.
 */
static uint64_t worth_of_order(const struct mig_game *game, uint64_t layout, uint64_t unit)
{
    const struct mig_gpu gpu = {.layout = layout};
    uint8_t counts[MIG_PROFILES_MAX];
    uint64_t worth = unit / factorial(instances(layout));

    mig_gpu_counts(game->type, &gpu, counts);
    for (uint32_t p = 0; p < game->type->profile_count; p++)
        worth *= factorial(counts[p]);
    return worth;
}

/* Larger layouts first: the value of one is what its own order is worth, and for each profile that
 * may come next the best of the layouts that lead on. At most the number of multisets x 12!, so
 * it fits 64 bits. */
static void find_values(struct mig_game *game, enum mig_set set)
{
    const uint64_t unit = factorial(instances(game->layouts[game->layout_count - 1].layout));

    for (uint32_t row = game->layout_count; row-- > 0;) {
        struct mig_layout *layout = &game->layouts[row];
        const struct mig_gpu gpu = {.layout = layout->layout};

        layout->value[set] = worth_of_order(game, gpu.layout, unit);
        for (uint64_t s = game->sets[set]; s != 0; s = mask_drop_lowest(s)) {
            const uint32_t p = mask_lowest(s);
            uint64_t best = 0;

            for (uint64_t m = mig_gpu_starts(game->type, &gpu, p); m; m = mask_drop_lowest(m)) {
                const uint32_t to = row_of(game, mig_layout_with(gpu.layout, p, mask_lowest(m)));

                if (game->layouts[to].value[set] > best)
                    best = game->layouts[to].value[set];
            }
            layout->value[set] += best;
        }
    }
}

/* ---- states and rooms ---- */

/* How much of something limited, of which a profile needs needs[p], a GPU can use at most by its
 * slices alone, where a profile of which one may be there is there once. If that is no more than
 * the limit, the limit never binds and states need not tell how much is used. */
static uint32_t usable(const struct mig_type *type, const uint8_t needs[MIG_PROFILES_MAX],
                       uint32_t start, uint32_t seen)
{
    uint32_t most = start < type->memory_slices ? usable(type, needs, start + 1, seen) : 0;

    for (uint32_t p = 0; start < type->memory_slices && p < type->profile_count; p++) {
        const bool once = type->profiles[p].max_instances == 1;
        uint32_t used;

        if ((type->profiles[p].starts >> start & 1) == 0 || (once && (seen >> p & 1) != 0))
            continue;
        used = needs[p] +
               usable(type, needs, start + type->profiles[p].size, once ? seen | (1u << p) : seen);
        most = used > most ? used : most;
    }
    return most;
}

#define LIMIT_BITS 5u /* a profile has at most 31 of an engine; the largest so far is 7 */

/* What can run short besides slices. */
struct limits {
    uint8_t needs[MIG_PROFILES_MAX + MIG_ENGINES + 1][MIG_PROFILES_MAX]; /* of each, by profile */
    uint32_t count;
};

/* Keeps the limit whose needs were written last, if it can bind. */
static void add_limit(const struct mig_type *type, struct limits *limits, uint32_t most)
{
    if (usable(type, limits->needs[limits->count], 0, 0) > most)
        limits->count++;
    else
        for (uint32_t p = 0; p < MIG_PROFILES_MAX; p++)
            limits->needs[limits->count][p] = 0;
}

/* false if there are more than a key can hold. */
static bool find_limits(const struct mig_type *type, struct limits *limits)
{
    *limits = (struct limits){.count = 0};
    for (uint32_t p = 0; p < type->profile_count; p++)
        limits->needs[0][p] = type->profiles[p].compute_slices;
    add_limit(type, limits, type->compute_slices);
    for (uint32_t e = 0; e < MIG_ENGINES; e++) {
        for (uint32_t p = 0; p < type->profile_count; p++)
            limits->needs[limits->count][p] = type->profiles[p].engines[e];
        add_limit(type, limits, type->engines[e] == MIG_NO_LIMIT ? UINT32_MAX : type->engines[e]);
    }
    for (uint32_t p = 0; p < type->profile_count; p++) {
        if (mask_popcount(type->profiles[p].starts) > type->profiles[p].max_instances)
            limits->needs[limits->count++][p] = 1;
    }
    return limits->count <= (64 - MIG_SLICES_MAX) / LIMIT_BITS;
}

/* Slices, and how much of each limit is used. */
static uint64_t state_key(const struct mig_game *game, const struct limits *limits,
                          const struct mig_layout *layout)
{
    const struct mig_gpu gpu = {.layout = layout->layout};
    uint8_t counts[MIG_PROFILES_MAX];
    uint64_t key = layout->used;

    mig_gpu_counts(game->type, &gpu, counts);
    for (uint32_t l = 0; l < limits->count; l++) {
        uint32_t used = 0;

        for (uint32_t p = 0; p < game->type->profile_count; p++)
            used += (uint32_t)counts[p] * limits->needs[l][p];
        check(used < 1u << LIMIT_BITS);
        key |= (uint64_t)used << (MIG_SLICES_MAX + LIMIT_BITS * l);
    }
    return key;
}

static uint32_t open_slices(const struct mig_type *type, const struct mig_gpu *gpu, uint16_t set)
{
    uint32_t open = 0;

    for (uint64_t m = set; m != 0; m = mask_drop_lowest(m))
        open += type->profiles[mask_lowest(m)].size * mig_gpu_fits(type, gpu, mask_lowest(m));
    return open;
}

static void add_state(struct mig_game *game, uint32_t row)
{
    const struct mig_gpu gpu = {.layout = game->layouts[row].layout};
    struct mig_state state = {.used = game->layouts[row].used, .layout = row};

    for (uint32_t set = 0; set < MIG_SETS; set++)
        state.open[set] = open_slices(game->type, &gpu, game->sets[set]);
    vec_push(game->states, game->state_count, game->state_cap, state);
}

static bool find_states(struct mig_game *game)
{
    struct limits limits;
    struct map by_key;

    if (!find_limits(game->type, &limits))
        return false;
    map_init(&by_key);
    for (uint32_t row = 0; row < game->layout_count; row++) {
        const uint64_t key = state_key(game, &limits, &game->layouts[row]);
        uint32_t state = game->state_count;

        if (!map_find(&by_key, key, &state)) {
            map_put(&by_key, key, state);
            add_state(game, row);
        }
        game->layouts[row].state = state;
    }
    map_done(&by_key);
    return game->state_count <= MIG_STATES_MAX;
}

/* Adds a multiset to the rooms from first on, unless it is within one of these; those that are
 * within it go. */
static void add_room(struct mig_game *game, uint32_t first, mig_multiset room)
{
    uint32_t kept = first;

    for (uint32_t i = first; i < game->room_count; i++)
        if (mig_multiset_within(room, game->rooms[i]))
            return;
    for (uint32_t i = first; i < game->room_count; i++)
        if (!mig_multiset_within(game->rooms[i], room))
            game->rooms[kept++] = game->rooms[i];
    game->room_count = kept;
    vec_push(game->rooms, game->room_count, game->room_cap, room);
}

/* The largest multisets that fit: one instance more, and the largest that fit then. States with
 * more slices used are done before. */
static void find_room(struct mig_game *game, struct mig_state *state)
{
    const struct mig_gpu gpu = {.layout = game->layouts[state->layout].layout};

    state->first = game->room_count;
    add_room(game, state->first, 0);
    for (uint32_t p = 0; p < game->type->profile_count; p++)
        for (uint64_t m = mig_gpu_starts(game->type, &gpu, p); m; m = mask_drop_lowest(m)) {
            const uint64_t next = mig_layout_with(gpu.layout, p, mask_lowest(m));
            const struct mig_state *to = &game->states[game->layouts[row_of(game, next)].state];

            for (uint32_t i = 0; i < to->count; i++)
                add_room(game, state->first, game->rooms[to->first + i] + mig_multiset_one(p));
        }
    state->count = game->room_count - state->first;
}

static bool find_rooms(struct mig_game *game)
{
    for (uint32_t used = game->type->memory_slices + 1u; used-- > 0;)
        for (uint32_t s = 0; s < game->state_count; s++) {
            if (mask_popcount(game->states[s].used) == used)
                find_room(game, &game->states[s]);
            if (game->room_count > MIG_ROOMS_MAX)
                return false;
        }
    return true;
}

/* ---- the whole ---- */

void mig_game_init(struct mig_game *game, const struct mig_type *type)
{
    *game = (struct mig_game){.type = type};
    map_init(&game->by_layout);
    for (uint32_t p = 0; p < type->profile_count; p++) {
        game->sets[MIG_ALL] = (uint16_t)(game->sets[MIG_ALL] | (1u << p));
        if (is_plain(type, p))
            game->sets[MIG_PLAIN] = (uint16_t)(game->sets[MIG_PLAIN] | 1u << p);
    }
    if (find_layouts(game) && find_states(game) && find_rooms(game)) {
        find_values(game, MIG_PLAIN);
        find_values(game, MIG_ALL);
        return;
    }
    mig_game_done(game);
    game->type = type;
}

void mig_game_done(struct mig_game *game)
{
    const struct mig_type *type = game->type;
    const uint16_t plain = game->sets[MIG_PLAIN], all = game->sets[MIG_ALL];

    mem_free(game->layouts);
    mem_free(game->states);
    mem_free(game->rooms);
    map_done(&game->by_layout);
    *game = (struct mig_game){.type = type, .sets = {plain, all}};
}

void mig_game_copy(struct mig_game *dst, const struct mig_game *src)
{
    *dst = *src;
    dst->layouts = mem_copy(src->layouts, src->layout_cap, sizeof *src->layouts);
    dst->states = mem_copy(src->states, src->state_cap, sizeof *src->states);
    dst->rooms = mem_copy(src->rooms, src->room_cap, sizeof *src->rooms);
    map_copy(&dst->by_layout, &src->by_layout);
}

const struct mig_layout *mig_game_find(const struct mig_game *game, const struct mig_gpu *gpu)
{
    uint32_t row;

    if (gpu->blocked != 0 || !map_find(&game->by_layout, gpu->layout, &row))
        return NULL;
    return &game->layouts[row];
}

int mig_layout_for(const struct mig_game *game, const uint8_t counts[MIG_PROFILES_MAX],
                   uint64_t *out)
{
    bool found = false;

    for (uint32_t row = 0; row < game->layout_count; row++) {
        const struct mig_gpu gpu = {.layout = game->layouts[row].layout};
        uint8_t there[MIG_PROFILES_MAX];
        bool equal = true;

        mig_gpu_counts(game->type, &gpu, there);
        for (uint32_t p = 0; p < game->type->profile_count; p++)
            equal = equal && there[p] == counts[p];
        if (!equal || (found && gpu.layout >= *out))
            continue;
        *out = gpu.layout;
        found = true;
    }
    return found ? 0 : -ENOSPC;
}

bool mig_layout_full(const struct mig_game *game, uint64_t layout, enum mig_set set)
{
    const struct mig_gpu gpu = {.layout = layout};

    for (uint64_t m = game->sets[set]; m != 0; m = mask_drop_lowest(m))
        if (mig_gpu_starts(game->type, &gpu, mask_lowest(m)) != 0)
            return false;
    return true;
}
