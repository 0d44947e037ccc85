/* SPDX-License-Identifier: Apache-2.0 */
/* share.c - water-filling without counting units.
 *
 * Why it gives what unit by unit gives: unit k of child i has the key (k / weight_i, i), and the
 * keys of one child ascend, so giving unit by unit takes the units of the smallest keys of all.
 * Raise a real level until min(level * weight_i, room_i) add up to the amount. The units with
 * k / weight_i <= level and k <= room_i are the floors of these. They are the smallest keys, for a
 * key beyond them is larger than the level, and there are at most as many as the amount has units.
 * So unit by unit takes all of them too: no floor is above it. Each child that is not full lost
 * less than one unit to its floor, so fewer units are left than there are such children. */
#include "core/share.h"

#include <stdbool.h>
#include <stddef.h>

__extension__ typedef __int128 wide;

/* What a pour goes by, and between which marks of each child it runs. */
enum by {
    BY_GUARANTEE, /* from nothing to base */
    BY_WEIGHT,    /* from base to cap */
    BY_HEAD,      /* from base to cap, those of weight 0 equally */
};

struct pour {
    struct share_child *queues;
    const uint32_t *rows; /* [count] of queues; NULL: the first ones */
    uint32_t count;
    enum by by;
    int64_t left; /* not given yet */
    wide weights; /* of those that can take more */
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t cap_of(const struct share_child *c)
{
    return least(c->demand, c->limit);
}

static int64_t base_of(const struct share_child *c)
{
    return least(c->guarantee, cap_of(c));
}

static struct share_child *child_at(const struct pour *p, uint32_t i)
{
    return &p->queues[p->rows != NULL ? p->rows[i] : i];
}

static int64_t weight_of(const struct pour *p, const struct share_child *c)
{
    if (p->by == BY_GUARANTEE)
        return c->guarantee;
    return p->by == BY_WEIGHT ? c->weight : c->weight == 0;
}

static int64_t room_of(const struct pour *p, const struct share_child *c)
{
    return (p->by == BY_GUARANTEE ? base_of(c) : cap_of(c)) - c->deserved;
}

/* What this pour has given to the child so far. */
static int64_t given_to(const struct pour *p, const struct share_child *c)
{
    return c->deserved - (p->by == BY_GUARANTEE ? 0 : base_of(c));
}

static bool is_open(const struct pour *p, const struct share_child *c)
{
    return weight_of(p, c) > 0 && room_of(p, c) > 0;
}

/* The child's part of what is left, rounded down; the product has at most 126 bits. */
static int64_t part_of(const struct pour *p, const struct share_child *c, int64_t left)
{
    return (int64_t)((wide)left * weight_of(p, c) / p->weights);
}

static void give(struct pour *p, struct share_child *c, int64_t units)
{
    c->deserved += units;
    p->left -= units;
}

/* Fills each child that needs no more than its part. What it leaves raises the level for the
 * others, never lowers it, so who is filled once stays so. Returns whether anybody was. */
static bool fill_small(struct pour *p)
{
    bool any = false;

    for (uint32_t i = 0; i < p->count; i++) {
        struct share_child *c = child_at(p, i);
        const int64_t room = room_of(p, c);

        if (!is_open(p, c) || room > part_of(p, c, p->left))
            continue;
        give(p, c, room);
        p->weights -= weight_of(p, c);
        any = true;
    }
    return any;
}

static void give_floors(struct pour *p)
{
    const int64_t left = p->left;

    for (uint32_t i = 0; i < p->count; i++) {
        struct share_child *c = child_at(p, i);

        if (is_open(p, c))
            give(p, c, part_of(p, c, left));
    }
}

/* Whom the next unit goes to; NULL if all are full. */
static struct share_child *next_child(const struct pour *p)
{
    struct share_child *best = NULL;

    for (uint32_t i = 0; i < p->count; i++) {
        struct share_child *c = child_at(p, i);

        if (is_open(p, c) && (best == NULL || ((wide)given_to(p, c) + 1) * weight_of(p, best) <
                                                  ((wide)given_to(p, best) + 1) * weight_of(p, c)))
            best = c;
    }
    return best;
}

/* Pours what is left. At the start each child stands at its lower mark. */
static void pour(struct pour *p, enum by by)
{
    struct share_child *next;

    p->by = by;
    p->weights = 0;
    for (uint32_t i = 0; i < p->count; i++)
        if (is_open(p, child_at(p, i)))
            p->weights += weight_of(p, child_at(p, i));
    while (p->left > 0 && fill_small(p))
        continue;
    if (p->left > 0)
        give_floors(p);
    while (p->left > 0 && (next = next_child(p)) != NULL)
        give(p, next, 1);
}

static void divide(struct pour *p)
{
    wide bases = 0;

    for (uint32_t i = 0; i < p->count; i++)
        bases += base_of(child_at(p, i));
    for (uint32_t i = 0; i < p->count; i++) {
        struct share_child *c = child_at(p, i);

        c->deserved = bases > p->left ? 0 : base_of(c);
    }
    if (bases > p->left) {
        pour(p, BY_GUARANTEE);
        return;
    }
    p->left -= (int64_t)bases;
    pour(p, BY_WEIGHT);
    pour(p, BY_HEAD);
}

void share_divide(int64_t amount, struct share_child *children, uint32_t count)
{
    divide(&(struct pour){.queues = children, .count = count, .left = amount});
}

/* A family is the queues of one parent; family 0 is that of the queues without one. */
static uint32_t family_of(const uint32_t *parents, uint32_t queue)
{
    return parents[queue] == SHARE_NO_QUEUE ? 0 : parents[queue] + 1;
}

/* Sorts the queues by family, each in order: rows starts[f] to starts[f + 1] are of family f. */
static void list_families(const uint32_t *parents, uint32_t count, uint32_t *starts, uint32_t *rows)
{
    for (uint32_t f = 0; f <= count + 1; f++)
        starts[f] = 0;
    for (uint32_t q = 0; q < count; q++)
        starts[family_of(parents, q)]++;
    for (uint32_t f = 1; f <= count + 1; f++)
        starts[f] += starts[f - 1];
    for (uint32_t q = count; q-- > 0;)
        rows[--starts[family_of(parents, q)]] = q;
}

/* From the leaves up. A sum that is too large to be kept is as good as no bound. */
static void sum_demands(struct share_child *queues, const uint32_t *parents, uint32_t count,
                        const uint32_t *starts)
{
    for (uint32_t q = 0; q < count; q++)
        if (starts[q + 1] < starts[q + 2])
            queues[q].demand = 0;
    for (uint32_t q = count; q-- > 0;)
        if (parents[q] != SHARE_NO_QUEUE) {
            int64_t *sum = &queues[parents[q]].demand;

            *sum += least(cap_of(&queues[q]), INT64_MAX - *sum);
        }
}

void share_tree(int64_t amount, struct share_child *queues, const uint32_t *parents, uint32_t count,
                uint32_t *scratch)
{
    uint32_t *starts = scratch, *rows = &scratch[count + 2];

    list_families(parents, count, starts, rows);
    sum_demands(queues, parents, count, starts);
    for (uint32_t f = 0; f <= count; f++)
        divide(&(struct pour){.queues = queues,
                              .rows = &rows[starts[f]],
                              .count = starts[f + 1] - starts[f],
                              .left = f == 0 ? amount : queues[f - 1].deserved});
}
