/* SPDX-License-Identifier: Apache-2.0 */
/* mig_game.h - every split of one type's GPU, and what can still come from there.
 *
 * Instances come one after the other, nobody knows which comes next, and none moves. How well a
 * rule for the choice of starts does is the part of all multisets of profiles that fit a GPU at
 * all which it places whole, where each multiset counts the same and each order in which it can
 * arrive is as likely. The best that any rule can reach is found by search over all layouts, once
 * for each type; a rule that goes to the layout of the largest value reaches it.
 *
 * There are two sets of profiles that may come: plain ones (no attributes, and no other profile
 * has as many compute slices in less memory; on most GPUs 1g, 2g, 3g, 4g, 7g), and all.
 *
 * What follows from a type alone is worked out when it is first needed, and never changes. */
#pragma once
#include <stdint.h>

#include "base/map.h"
#include "core/mig.h"

/* A type with more layouts or states is not searched: values and rooms are 0, and choices go by
 * what still fits. The most of all types in the table are 2,319 layouts and 382 states. */
#define MIG_LAYOUTS_MAX 65536u
#define MIG_STATES_MAX  4096u
#define MIG_ROOMS_MAX   65536u

enum mig_set { MIG_PLAIN, MIG_ALL, MIG_SETS };

/* A multiset of profiles: 4 bits each, from profile 0 on; a count is at most MIG_COPIES_MAX. */
typedef uint64_t mig_multiset;

static inline uint32_t mig_multiset_count(mig_multiset multiset, uint32_t profile)
{
    return (uint32_t)(multiset >> (4 * profile)) & 7;
}

static inline mig_multiset mig_multiset_one(uint32_t profile)
{
    return UINT64_C(1) << (4 * profile);
}

/* Whether of each profile part has no more than whole. */
static inline bool mig_multiset_within(mig_multiset part, mig_multiset whole)
{
    const uint64_t tops = UINT64_C(0x8888888888888888);

    return (((whole | tops) - part) & tops) == tops;
}

/* One way in which a GPU can be split. */
struct mig_layout {
    uint64_t layout; /* as in struct mig_gpu */
    uint64_t
        value[MIG_SETS]; /* what the best rule still places whole from here; larger is better */
    uint32_t state;      /* row of states */
    uint16_t used;       /* slices */
};

/* Layouts that leave the same slices and the same of all limits leave the same room. */
struct mig_state {
    uint32_t first, count;   /* its rows of rooms */
    uint32_t open[MIG_SETS]; /* slices that each profile could still have, added up */
    uint16_t used;           /* slices */
    uint32_t layout;         /* row of the first layout of this state */
};

struct mig_game {
    const struct mig_type *type; /* borrowed; const data */
    uint16_t sets[MIG_SETS];     /* bit p: profile p is in it */
    struct mig_layout *layouts;  /* [layout_count] fewer instances first; row 0 is the empty GPU */
    uint32_t layout_count, layout_cap;
    struct mig_state *states; /* [state_count] */
    uint32_t state_count, state_cap;
    mig_multiset *rooms; /* [room_count] the largest multisets that still fit, by state */
    uint32_t room_count, room_cap;
    struct map by_layout; /* layout -> row */
};

/* Searches the type. Cost: O(layouts x profiles x starts) and O(states x rooms^2); about 3 ms and
 * 220 KiB for a type of 7 profiles. type is borrowed. */
void mig_game_init(struct mig_game *game, const struct mig_type *type);
void mig_game_done(struct mig_game *game); /* a zeroed one is fine */

/* dst is not initialised before. Cost: the copy. */
void mig_game_copy(struct mig_game *dst, const struct mig_game *src);

/* The row of a layout, or NULL: of a GPU with blocked slices, or of a type that was not searched.
 */
const struct mig_layout *mig_game_find(const struct mig_game *game, const struct mig_gpu *gpu);

/* A layout that holds these instances, counts[profile] of each; of several the one with the
 * smallest number. 0, or -ENOSPC. Cost: O(layouts). */
int mig_layout_for(const struct mig_game *game, const uint8_t counts[MIG_PROFILES_MAX],
                   uint64_t *out);

/* Whether no profile of the set fits beside what is on the GPU. */
bool mig_layout_full(const struct mig_game *game, uint64_t layout, enum mig_set set);
