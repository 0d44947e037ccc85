/* SPDX-License-Identifier: Apache-2.0 */
#include "base/heap.h"

#include <stddef.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/vec.h"

static bool is_before(const struct heap_item *a, const struct heap_item *b)
{
    if (a->key != b->key)
        return a->key < b->key;
    if (a->tie != b->tie)
        return a->tie < b->tie;
    return a->id < b->id;
}

static void put(struct heap *heap, uint32_t index, struct heap_item item)
{
    heap->items[index] = item;
    heap->places[item.id] = index + 1;
}

/* Finds the place of item from the hole at index towards the root. */
static void sift_up(struct heap *heap, uint32_t index, struct heap_item item)
{
    while (index > 0) {
        uint32_t parent = (index - 1) / 2;

        if (!is_before(&item, &heap->items[parent]))
            break;
        put(heap, index, heap->items[parent]);
        index = parent;
    }
    put(heap, index, item);
}

/* Finds the place of item from the hole at index towards the leaves. */
static void sift_down(struct heap *heap, uint32_t index, struct heap_item item)
{
    for (;;) {
        uint32_t child = 2 * index + 1;

        if (child >= heap->count)
            break;
        if (child + 1 < heap->count && is_before(&heap->items[child + 1], &heap->items[child]))
            child++;
        if (!is_before(&heap->items[child], &item))
            break;
        put(heap, index, heap->items[child]);
        index = child;
    }
    put(heap, index, item);
}

static void settle(struct heap *heap, uint32_t index, struct heap_item item)
{
    if (index > 0 && is_before(&item, &heap->items[(index - 1) / 2]))
        sift_up(heap, index, item);
    else
        sift_down(heap, index, item);
}

static void remove_at(struct heap *heap, uint32_t index)
{
    struct heap_item last = heap->items[--heap->count];

    heap->places[heap->items[index].id] = 0;
    if (index < heap->count)
        settle(heap, index, last);
}

void heap_init(struct heap *heap)
{
    *heap = (struct heap){0};
}

void heap_done(struct heap *heap)
{
    mem_free(heap->items);
    mem_free(heap->places);
    *heap = (struct heap){0};
}

void heap_copy(struct heap *dst, const struct heap *src)
{
    *dst = *src;
    dst->items = mem_copy(src->items, src->cap, sizeof *src->items);
    dst->places = mem_copy(src->places, src->place_cap, sizeof *src->places);
}

void heap_clear(struct heap *heap)
{
    for (uint32_t i = 0; i < heap->count; i++)
        heap->places[heap->items[i].id] = 0;
    heap->count = 0;
}

void heap_push(struct heap *heap, int64_t key, uint64_t tie, uint32_t id)
{
    check(!heap_contains(heap, id));
    check(id < UINT32_MAX / 2);
    vec_reserve(heap->places, heap->place_cap, id + 1);
    vec_reserve(heap->items, heap->cap, heap->count + 1);
    heap->count++;
    sift_up(heap, heap->count - 1, (struct heap_item){.key = key, .tie = tie, .id = id});
}

bool heap_peek(const struct heap *heap, struct heap_item *out)
{
    if (heap->count == 0)
        return false;
    *out = heap->items[0];
    return true;
}

bool heap_pop(struct heap *heap, struct heap_item *out)
{
    if (!heap_peek(heap, out))
        return false;
    remove_at(heap, 0);
    return true;
}

bool heap_remove(struct heap *heap, uint32_t id)
{
    if (!heap_contains(heap, id))
        return false;
    remove_at(heap, heap->places[id] - 1);
    return true;
}

void heap_update(struct heap *heap, uint32_t id, int64_t key)
{
    uint32_t index;
    struct heap_item item;

    check(heap_contains(heap, id));
    index = heap->places[id] - 1;
    item = heap->items[index];
    item.key = key;
    settle(heap, index, item);
}

bool heap_contains(const struct heap *heap, uint32_t id)
{
    return id < heap->place_cap && heap->places[id] != 0;
}

uint32_t heap_count(const struct heap *heap)
{
    return heap->count;
}
