/* SPDX-License-Identifier: Apache-2.0 */
/* spread.c - how many tasks of a gang each node takes. */
#include "core/spread.h"

#include "base/check.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/vec.h"

/* Below the last level, each node is its own. */
static uint32_t node_depth(const struct spread *s)
{
    return s->levels->count + 1;
}

/* Where the slot that begins at node i ends. */
static uint32_t slot_end(const struct spread *s, uint32_t i, uint32_t depth)
{
    const struct slot *slot;

    if (depth == 0)
        return s->levels->node_count;
    if (depth == node_depth(s))
        return i + 1;
    slot = &s->levels->slots[levels_slot(s->levels, i, depth)];
    return slot->first + slot->count;
}

static bool is_domain(const struct spread *s, uint32_t i, uint32_t depth)
{
    return depth == 0 || depth == node_depth(s) ||
           s->levels->slots[levels_slot(s->levels, i, depth)].is_domain;
}

static uint64_t sum_of(const struct spread *s, uint32_t first, uint32_t end)
{
    uint64_t sum = 0;

    for (uint32_t i = first; i < end; i++)
        sum += s->room[i];
    return sum;
}

uint64_t spread_room(const struct spread *s, uint32_t first, uint32_t count, uint32_t depth)
{
    const uint32_t end = first + count;
    uint64_t room = 0;

    if (s->group == 0 || depth > s->group)
        return sum_of(s, first, end);
    for (uint32_t i = first, next; i < end; i = next) {
        uint64_t sum;

        next = slot_end(s, i, s->group);
        sum = sum_of(s, i, next);
        room += sum - sum % s->group_size;
    }
    return room;
}

/* ---- which slot ---- */

/* Gangs that cross from one slot inside it to another. */
static uint64_t load_in(const struct spread *s, const struct spread_slot *slot)
{
    const uint32_t depth = slot->depth + 1, end = slot->first + slot->count;
    uint64_t load = 0;

    for (uint32_t i = slot->first; depth <= s->levels->count && i < end; i = slot_end(s, i, depth))
        load += s->levels->slots[levels_slot(s->levels, i, depth)].crossing;
    return load;
}

static int best_first(const void *a, const void *b, void *arg)
{
    const struct spread_slot *x = a, *y = b;

    (void)arg;
    if (x->room != y->room)
        return x->room < y->room ? -1 : 1;
    if (x->load != y->load)
        return x->load < y->load ? -1 : 1;
    return 0; /* in the order of the tree */
}

uint32_t spread_slots(const struct spread *s, uint32_t first, uint32_t count, uint32_t depth,
                      uint64_t tasks, struct spread_slot **out)
{
    uint32_t found = 0, cap = 0;

    *out = NULL;
    for (uint32_t i = first, next; i < first + count; i = next) {
        struct spread_slot slot = {.first = i, .depth = depth};

        next = slot_end(s, i, depth);
        slot.count = next - i;
        if (!is_domain(s, i, depth))
            continue;
        slot.room = spread_room(s, i, slot.count, depth);
        if (slot.room < tasks)
            continue;
        slot.load = load_in(s, &slot);
        vec_push(*out, found, cap, slot);
    }
    sort_stable(*out, found, sizeof **out, best_first, NULL);
    return found;
}

/* ---- inside it ---- */

struct child {
    uint32_t first, count;
    uint64_t room;
    uint32_t takes;
};

static int largest_first(const void *a, const void *b, void *arg)
{
    const struct child *x = *(const struct child *const *)a, *y = *(const struct child *const *)b;

    (void)arg;
    return x->room > y->room ? -1 : x->room < y->room;
}

static uint32_t list_children(const struct spread *s, const struct spread_slot *slot,
                              struct child **out)
{
    const uint32_t depth = slot->depth + 1, end = slot->first + slot->count;
    uint32_t count = 0, cap = 0;

    *out = NULL;
    for (uint32_t i = slot->first, next; i < end; i = next) {
        struct child child = {.first = i};

        next = slot_end(s, i, depth);
        child.count = next - i;
        child.room = spread_room(s, i, child.count, depth);
        vec_push(*out, count, cap, child);
    }
    return count;
}

/* Whole children from the largest on, until one holds the rest: the smallest that does. */
static void fill(struct child *children, uint32_t count, uint32_t tasks)
{
    struct child **sorted = mem_alloc(count, sizeof(struct child *));
    uint32_t next = 0;

    for (uint32_t c = 0; c < count; c++)
        sorted[c] = &children[c];
    sort_stable(sorted, count, sizeof(struct child *), largest_first, NULL);
    for (; next < count && sorted[next]->room < tasks; next++) {
        sorted[next]->takes = (uint32_t)sorted[next]->room;
        tasks -= sorted[next]->takes;
    }
    for (uint32_t c = next + 1; c < count && sorted[c]->room >= tasks; c++)
        if (sorted[c]->room < sorted[next]->room)
            next = c;
    check(tasks == 0 || next < count);
    if (tasks > 0)
        sorted[next]->takes = tasks;
    mem_free(sorted);
}

void spread_over(const struct spread *s, const struct spread_slot *slot, uint32_t tasks)
{
    struct child *children;
    uint32_t count;

    if (slot->depth == node_depth(s) || tasks == 0) {
        for (uint32_t i = slot->first; i < slot->first + slot->count; i++)
            s->takes[i] = tasks;
        return;
    }
    count = list_children(s, slot, &children);
    fill(children, count, tasks);
    for (uint32_t c = 0; c < count; c++)
        spread_over(s,
                    &(struct spread_slot){.first = children[c].first,
                                          .count = children[c].count,
                                          .depth = slot->depth + 1},
                    children[c].takes);
    mem_free(children);
}
