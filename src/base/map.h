/* SPDX-License-Identifier: Apache-2.0 */
/* map.h - hash map from a 64-bit key to a 32-bit value.
 *
 * Open addressing with linear probing in a table of a power of two slots, at most 3/4 full. There
 * is no iteration on purpose: the order of a hash table must never reach a decision. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct map_slot {
    uint64_t key;
    uint32_t value;
    uint32_t used; /* 0 or 1 */
};

struct map {
    struct map_slot *slots; /* [slot_count] or NULL */
    uint32_t slot_count;    /* 0 or a power of two */
    uint32_t count;
};

void map_init(struct map *map);
void map_done(struct map *map);

/* Makes dst, which is not initialised before, a copy of src. */
void map_copy(struct map *dst, const struct map *src);

/* Whether key is there; *out gets its value and is untouched otherwise. out may be NULL. */
bool map_find(const struct map *map, uint64_t key, uint32_t *out);

/* Adds key, or replaces its value. */
void map_put(struct map *map, uint64_t key, uint32_t value);

/* Whether key was there. */
bool map_remove(struct map *map, uint64_t key);

uint32_t map_count(const struct map *map);
