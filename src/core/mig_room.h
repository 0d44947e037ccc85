/* SPDX-License-Identifier: Apache-2.0 */
/* mig_room.h - how GPUs that can be split stand, interned: equal GPUs have one room, which is asked
 * once for each profile.
 *
 * Two things are known of such a GPU. Which instances stand on it, or are made now: facts, that
 * change when a task is started and when somebody reports what the device has. And which instances
 * tasks hold, claims and what is held on trial included: books. An instance that stands and is not
 * held is idle: one like it goes there; another may not be made on its slices.
 *
 * Several may hold the same slices: a claim, and those that leave for it; or what is held at
 * different times, see timeline.h. Then the GPU is closed: nobody else gets an instance there. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "core/mig.h"

/* A node's company word for a GPU that is split: this bit, and its room; see nodes_gpu_company().
 */
#define MIG_ROOM_BIT (UINT32_C(1) << 31)

/* What is held on a GPU: sums, so that it can be taken out in any order. All zero: nothing. */
struct mig_held {
    uint64_t layout;  /* of the instances, as in struct mig_gpu; nonsense where any are on others */
    uint32_t clashes; /* more than that two are on each other: see timeline.c */
    uint16_t slices[MIG_SLICES_MAX]; /* how many instances have this slice */
};

/* Add an instance (sign 1), or take it out again (-1). */
void mig_held_add(struct mig_held *held, const struct mig_type *type, uint32_t profile,
                  uint32_t start, int sign);
void mig_held_join(struct mig_held *held, const struct mig_held *more, int sign);

/* At most what is held at either of two times. */
void mig_held_most(struct mig_held *most, const struct mig_held *other);

/* Does an instance that `used` has share slices with another one in `held`, which has it too? */
bool mig_held_clashes(const struct mig_held *held, const struct mig_held *used);

/* Are the instances of `used` among those that stand, or where nothing stands? */
bool mig_held_stands(const struct mig_gpu *made, const struct mig_type *type,
                     const struct mig_held *used);

#define MIG_BARRED   1u /* it takes nobody: it is being split anew */
#define MIG_NONE_NEW 2u /* only instances that stand are to be had */

struct mig_room {
    uint32_t type; /* row of mig_types */
    uint32_t bars; /* MIG_BARRED, MIG_NONE_NEW */
    struct mig_gpu made;
    uint64_t held;                     /* layout of those that are held; 0 if closed */
    bool clashes;                      /* two have one slice, or where none may be */
    bool closed;                       /* it takes nobody */
    uint16_t starts[MIG_PROFILES_MAX]; /* bit s: a new instance may be made at s */
    uint16_t idle[MIG_PROFILES_MAX];   /* one stands at s that nobody holds */
};

struct mig_rooms {
    struct mig_room *rows; /* [count] row 0 is no room: a GPU with nothing on it */
    uint32_t count, cap;
    struct map by_digest;
};

void mig_rooms_init(struct mig_rooms *r);
void mig_rooms_done(struct mig_rooms *r);
void mig_rooms_copy(struct mig_rooms *dst, const struct mig_rooms *src);

/* The room of a GPU that stands so; 0 if there is nothing on it. O(1), or when it is new
 * O(profiles * slices). */
uint32_t mig_room_of(struct mig_rooms *r, uint32_t type, uint32_t bars, const struct mig_gpu *made,
                     const struct mig_held *held);

/* Is it that? For checks. */
bool mig_room_is(const struct mig_rooms *r, uint32_t room, uint32_t type, uint32_t bars,
                 const struct mig_gpu *made, const struct mig_held *held);

/* And just there? Not of row 0. */
static inline bool mig_room_has_at(const struct mig_room *room, uint32_t profile, uint32_t start)
{
    return ((room->starts[profile] | room->idle[profile]) >> start & 1) != 0;
}

/* Could one have an instance of the profile on a GPU that stands so? As mig_room_has(), of a room
 * that is only thought of. O(slices). */
bool mig_could_have(const struct mig_type *type, const struct mig_gpu *made,
                    const struct mig_held *held, uint32_t profile);

/* All instances, idle or held. Not of a closed room. */
static inline struct mig_gpu mig_room_gpu(const struct mig_room *room)
{
    return (struct mig_gpu){.layout = room->made.layout | room->held,
                            .blocked = room->made.blocked};
}

/* Can one have an instance of the profile there? word: see MIG_ROOM_BIT. */
static inline bool mig_room_has(const struct mig_rooms *r, uint32_t word, uint32_t profile)
{
    const struct mig_room *room = &r->rows[word & ~MIG_ROOM_BIT];

    return (word & MIG_ROOM_BIT) != 0 && (room->starts[profile] | room->idle[profile]) != 0;
}
