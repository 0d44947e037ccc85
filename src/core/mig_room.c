/* SPDX-License-Identifier: Apache-2.0 */
/* mig_room.c - how GPUs that can be split stand. */
#include "core/mig_room.h"

#include <string.h>

#include "base/bits.h"
#include "base/digest.h"
#include "base/mem.h"
#include "base/vec.h"

/* ---- what is held ---- */

void mig_held_add(struct mig_held *held, const struct mig_type *type, uint32_t profile,
                  uint32_t start, int sign)
{
    const uint64_t word = mig_layout_with(0, profile, start);
    const uint64_t slices = mig_slices(&type->profiles[profile], start);

    held->layout += sign > 0 ? word : -word;
    for (uint64_t left = slices; left != 0; left = mask_drop_lowest(left))
        held->slices[mask_lowest(left)] = (uint16_t)(held->slices[mask_lowest(left)] + sign);
}

void mig_held_join(struct mig_held *held, const struct mig_held *more, int sign)
{
    held->layout += sign > 0 ? more->layout : -more->layout;
    held->clashes += sign > 0 ? more->clashes : -more->clashes;
    for (uint32_t s = 0; s < MIG_SLICES_MAX; s++)
        held->slices[s] = (uint16_t)(held->slices[s] + sign * more->slices[s]);
}

void mig_held_most(struct mig_held *most, const struct mig_held *other)
{
    bool agree = true;

    for (uint32_t s = 0; s < MIG_SLICES_MAX; s++) {
        const uint64_t a = most->layout >> (4 * s) & 15, b = other->layout >> (4 * s) & 15;

        agree = agree && (a == 0 || b == 0 || a == b);
        if (most->slices[s] < other->slices[s])
            most->slices[s] = other->slices[s];
    }
    most->layout |= other->layout;
    most->clashes += other->clashes + !agree;
}

bool mig_held_clashes(const struct mig_held *held, const struct mig_held *used)
{
    for (uint32_t s = 0; s < MIG_SLICES_MAX; s++)
        if (used->slices[s] > 0 && held->slices[s] > 1)
            return true;
    return false;
}

bool mig_held_stands(const struct mig_gpu *made, const struct mig_type *type,
                     const struct mig_held *used)
{
    struct mig_gpu others = *made;

    for (uint32_t s = 0; s < MIG_SLICES_MAX; s++)
        if (mig_gpu_at(made, s) != MIG_NONE &&
            (used->layout >> (4 * s) & 15) == (made->layout >> (4 * s) & 15))
            mig_gpu_remove(&others, s);
    for (uint64_t left = mig_gpu_used(type, &others); left != 0; left = mask_drop_lowest(left))
        if (used->slices[mask_lowest(left)] > 0)
            return false;
    return true;
}

/* ---- rooms ---- */

void mig_rooms_init(struct mig_rooms *r)
{
    const struct mig_room none = {.type = 0};

    memset(r, 0, sizeof *r);
    map_init(&r->by_digest);
    vec_push(r->rows, r->count, r->cap, none);
}

void mig_rooms_done(struct mig_rooms *r)
{
    mem_free(r->rows);
    map_done(&r->by_digest);
    memset(r, 0, sizeof *r);
}

void mig_rooms_copy(struct mig_rooms *dst, const struct mig_rooms *src)
{
    *dst = *src;
    dst->rows = mem_copy(src->rows, src->count, sizeof *src->rows);
    dst->cap = src->count;
    map_copy(&dst->by_digest, &src->by_digest);
}

/* Instances that are held and stand, at the same start, are one. */
static bool is_possible(const struct mig_type *type, const struct mig_gpu *made,
                        const struct mig_held *held)
{
    struct mig_gpu both = {.layout = made->layout, .blocked = made->blocked};

    if (held->clashes > 0)
        return false;
    for (uint32_t s = 0; s < MIG_SLICES_MAX; s++) {
        const uint64_t a = made->layout >> (4 * s) & 15, b = held->layout >> (4 * s) & 15;

        if (held->slices[s] > 1 || (a != 0 && b != 0 && a != b))
            return false;
    }
    both.layout |= held->layout;
    return mig_gpu_valid(type, &both);
}

static void work_out(struct mig_room *room)
{
    const struct mig_type *type = &mig_types[room->type];
    const struct mig_gpu both = mig_room_gpu(room);

    for (uint32_t p = 0; p < type->profile_count && !room->closed && room->bars == 0; p++)
        room->starts[p] = mig_gpu_starts(type, &both, p);
    for (uint32_t s = 0; s < type->memory_slices && !room->closed; s++) {
        const uint32_t profile = mig_gpu_at(&room->made, s);

        if (profile != MIG_NONE && (room->held >> (4 * s) & 15) == 0)
            room->idle[profile] |= (uint16_t)(1u << s);
    }
}

static bool is_same(const struct mig_room *a, const struct mig_room *b)
{
    return a->type == b->type && a->bars == b->bars && a->made.layout == b->made.layout &&
           a->made.blocked == b->made.blocked && a->held == b->held && a->clashes == b->clashes;
}

static uint64_t key_of(const struct mig_room *room, uint64_t salt)
{
    struct digest d;

    digest_init(&d);
    digest_u64(&d, salt);
    digest_u32(&d, room->type);
    digest_u32(&d, room->bars);
    digest_u64(&d, room->made.layout);
    digest_u32(&d, room->made.blocked);
    digest_u64(&d, room->held);
    digest_u32(&d, room->clashes);
    return digest_value(&d);
}

/* Without what is worked out. */
static struct mig_room room_like(uint32_t type, uint32_t bars, const struct mig_gpu *made,
                                 const struct mig_held *held)
{
    struct mig_room room = {.type = type, .bars = bars, .made = *made};

    room.clashes = !is_possible(&mig_types[type], made, held);
    room.closed = room.clashes || (bars & MIG_BARRED) != 0;
    room.held = room.closed ? 0 : held->layout;
    return room;
}

static bool is_none(const struct mig_room *room)
{
    return !room->closed && room->bars == 0 &&
           (room->made.layout | room->held | room->made.blocked) == 0;
}

bool mig_room_is(const struct mig_rooms *r, uint32_t room, uint32_t type, uint32_t bars,
                 const struct mig_gpu *made, const struct mig_held *held)
{
    const struct mig_room like = room_like(type, bars, made, held);

    return room == 0 ? is_none(&like) : room < r->count && is_same(&r->rows[room], &like);
}

uint32_t mig_room_of(struct mig_rooms *r, uint32_t type, uint32_t bars, const struct mig_gpu *made,
                     const struct mig_held *held)
{
    struct mig_room room = room_like(type, bars, made, held);
    uint32_t id;

    if (is_none(&room))
        return 0;
    for (uint64_t salt = 0;; salt++) {
        const uint64_t key = key_of(&room, salt);

        if (map_find(&r->by_digest, key, &id)) {
            if (is_same(&r->rows[id], &room))
                return id;
            continue;
        }
        map_put(&r->by_digest, key, r->count);
        break;
    }
    work_out(&room);
    vec_push(r->rows, r->count, r->cap, room);
    return r->count - 1;
}

bool mig_could_have(const struct mig_type *type, const struct mig_gpu *made,
                    const struct mig_held *held, uint32_t profile)
{
    struct mig_gpu both = *made;

    if (!is_possible(type, made, held))
        return false;
    for (uint32_t s = 0; s < type->memory_slices; s++)
        if (mig_gpu_at(made, s) == profile && (held->layout >> (4 * s) & 15) == 0)
            return true;
    both.layout |= held->layout;
    return mig_gpu_starts(type, &both, profile) != 0;
}
