/* SPDX-License-Identifier: Apache-2.0 */
/* heap.h - binary min-heap of (key, tie, id) that also knows where each id is.
 *
 * The order is key, then tie (a sequence number), then id, so the same members always leave in the
 * same order, however they came. Ids are dense: memory grows with the largest id, and an id is in
 * the heap at most once. All changes are O(log count). */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct heap_item {
    int64_t key;
    uint64_t tie;
    uint32_t id;
};

struct heap {
    struct heap_item *items; /* [count] items[0] is the least */
    uint32_t count, cap;
    uint32_t *places; /* [place_cap] by id: index in items + 1, or 0 */
    uint32_t place_cap;
};

void heap_init(struct heap *heap);
void heap_done(struct heap *heap);

/* Makes dst, which is not initialised before, a copy of src. */
void heap_copy(struct heap *dst, const struct heap *src);

/* Empties the heap and keeps its memory. O(count). */
void heap_clear(struct heap *heap);

/* id must not be in the heap. */
void heap_push(struct heap *heap, int64_t key, uint64_t tie, uint32_t id);

/* The least item into *out; false when the heap is empty. heap_pop also removes it. */
bool heap_peek(const struct heap *heap, struct heap_item *out);
bool heap_pop(struct heap *heap, struct heap_item *out);

/* Whether id was there. */
bool heap_remove(struct heap *heap, uint32_t id);

/* Gives id, which must be in the heap, another key; its tie stays. */
void heap_update(struct heap *heap, uint32_t id, int64_t key);

bool heap_contains(const struct heap *heap, uint32_t id);
uint32_t heap_count(const struct heap *heap);
