/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include <stddef.h>

#include "base/check.h"
#include "base/mem.h"

static uint32_t home_of(const struct map *map, uint64_t key)
{
    key ^= key >> 32;
    key *= 0xd6e8feb86659fd93u;
    key ^= key >> 32;
    key *= 0xd6e8feb86659fd93u;
    key ^= key >> 32;
    return (uint32_t)key & (map->slot_count - 1);
}

static uint32_t next_of(const struct map *map, uint32_t slot)
{
    return (slot + 1) & (map->slot_count - 1);
}

/* The slot that holds key, or the free one where it would go. The table is never full. */
static uint32_t slot_of(const struct map *map, uint64_t key)
{
    uint32_t slot = home_of(map, key);

    while (map->slots[slot].used && map->slots[slot].key != key)
        slot = next_of(map, slot);
    return slot;
}

static void rehash(struct map *map, uint32_t slot_count)
{
    struct map_slot *old = map->slots;
    uint32_t old_count = map->slot_count;

    map->slots = mem_alloc(slot_count, sizeof *map->slots);
    map->slot_count = slot_count;
    for (uint32_t i = 0; i < old_count; i++) {
        if (old[i].used)
            map->slots[slot_of(map, old[i].key)] = old[i];
    }
    mem_free(old);
}

void map_init(struct map *map)
{
    *map = (struct map){0};
}

void map_done(struct map *map)
{
    mem_free(map->slots);
    *map = (struct map){0};
}

void map_copy(struct map *dst, const struct map *src)
{
    *dst = *src;
    dst->slots = mem_copy(src->slots, src->slot_count, sizeof *src->slots);
}

bool map_find(const struct map *map, uint64_t key, uint32_t *out)
{
    const struct map_slot *slot;

    if (map->count == 0)
        return false;
    slot = &map->slots[slot_of(map, key)];
    if (!slot->used)
        return false;
    if (out)
        *out = slot->value;
    return true;
}

void map_put(struct map *map, uint64_t key, uint32_t value)
{
    struct map_slot *slot;

    if (map->count >= map->slot_count / 4 * 3) {
        check(map->slot_count <= UINT32_MAX / 4);
        rehash(map, map->slot_count ? map->slot_count * 2 : 16);
    }
    slot = &map->slots[slot_of(map, key)];
    if (!slot->used)
        map->count++;
    *slot = (struct map_slot){.key = key, .value = value, .used = 1};
}

/* Moves later members of the probe run back over the hole, so that no tombstones are needed: a
 * member may move when its home is not cyclically between the hole (exclusive) and itself. */
static void close_hole(struct map *map, uint32_t hole)
{
    uint32_t mask = map->slot_count - 1;

    for (uint32_t at = next_of(map, hole); map->slots[at].used; at = next_of(map, at)) {
        uint32_t home = home_of(map, map->slots[at].key);

        if (((at - home) & mask) >= ((at - hole) & mask)) {
            map->slots[hole] = map->slots[at];
            hole = at;
        }
    }
    map->slots[hole] = (struct map_slot){0};
}

bool map_remove(struct map *map, uint64_t key)
{
    uint32_t slot;

    if (map->count == 0)
        return false;
    slot = slot_of(map, key);
    if (!map->slots[slot].used)
        return false;
    close_hole(map, slot);
    map->count--;
    return true;
}

uint32_t map_count(const struct map *map)
{
    return map->count;
}
