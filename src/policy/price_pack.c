/* SPDX-License-Identifier: Apache-2.0 */
/* price_pack.c - all fillings of a node at once: their value, and what they hold on average.
 *
 * A partly free GPU is filled with one-GPU tasks, in any number of each shape. Fillings are counted
 * as multisets: size by size, the value of level g gains one more task on top of g - size.
 * Whole free GPUs are filled one after the other, each as a GPU at level 100, or by a task of
 * several GPUs at a time. The averages follow the same recursions backwards. */
#include <string.h>

#include "base/bits.h"
#include "policy/price.h"

#define LEVELS    (PRICE_LEVELS + 1)
#define NEVER     (-(1 << 28)) /* gain of a size that does not occur */
#define WORTHLESS (-4096)      /* of weight 0 next to leaving the room empty */

const int32_t price_lane_cpu[PRICE_LANES] = {0, 2, 8, 32, 128, 0, 0, 0};
const int32_t price_lane_memory[PRICE_LANES] = {0, 0, 0, 0, 0, 4, 16, 64};

/* ---- values ---- */

static void gains(struct price *p)
{
    for (uint32_t i = 0; i < p->shape_count; i++)
        for (uint32_t lane = 0; lane < PRICE_LANES; lane++)
            p->gain[i][lane] =
                p->shapes[i].price - price_host(lane, p->shapes[i].cpu, p->shapes[i].memory);
}

/* All shapes of one size of a table: one gain. */
static void size_gains(struct price *p, const struct price_table *t, int32_t (*out)[PRICE_LANES])
{
    for (uint32_t size = 0; size < LEVELS; size++)
        for (uint32_t lane = 0; lane < PRICE_LANES; lane++)
            out[size][lane] = NEVER;
    for (uint32_t i = bit_set_lowest(t->shapes, PRICE_MASK_WORDS); i != BITS_NONE;
         i = bit_set_next(t->shapes, PRICE_MASK_WORDS, i + 1))
        for (uint32_t lane = 0; lane < PRICE_LANES; lane++) {
            int32_t *gain = &out[p->shapes[i].size][lane];

            *gain = price_add(&p->math, *gain, p->gain[i][lane]);
        }
}

/* The value of one GPU at each level, in one lane. */
static void part_values(struct price *p, const struct price_table *t, uint32_t row, uint32_t lane)
{
    int32_t value[LEVELS] = {0};

    for (uint32_t i = 0; i < t->size_count; i++) {
        const uint32_t size = t->sizes[i];
        const int32_t gain = p->size_gain[row + size][lane];

        if (gain <= WORTHLESS)
            continue;
        for (uint32_t level = size; level < LEVELS; level++)
            value[level] = price_add(&p->math, value[level], gain + value[level - size]);
    }
    for (uint32_t level = 0; level < LEVELS; level++)
        p->part[row + level][lane] = value[level];
}

/* May a node of this kind with n free GPUs hold this shape of several? */
static bool can_hold(const struct price *p, const struct price_kind *kind, uint32_t shape,
                     uint32_t n)
{
    return p->shapes[shape].gpus <= n && bit_set_get(kind->shapes, shape);
}

/* The value of 0..gpu_count wholly free GPUs of a kind. */
static void whole_values(struct price *p, uint32_t kind)
{
    const struct price_kind *k = &p->kinds[kind];
    const int32_t *one = p->part[k->table * LEVELS + PRICE_LEVELS];
    int32_t(*whole)[PRICE_LANES] = p->whole + (size_t)kind * (p->whole_max + 1);

    memset(whole[0], 0, sizeof whole[0]);
    for (uint32_t n = 1; n <= k->gpu_count; n++) {
        for (uint32_t lane = 0; lane < PRICE_LANES; lane++)
            whole[n][lane] = whole[n - 1][lane] + one[lane];
        for (uint32_t s = 0; s < p->several_count; s++) {
            const uint32_t i = p->several[s];

            if (!can_hold(p, k, i, n))
                continue;
            for (uint32_t lane = 0; lane < PRICE_LANES; lane++)
                whole[n][lane] = price_add(&p->math, whole[n][lane],
                                           p->gain[i][lane] + whole[n - p->shapes[i].gpus][lane]);
        }
    }
}

void price_values(struct price *p)
{
    gains(p);
    for (uint32_t t = 0; t < p->table_count; t++) {
        size_gains(p, &p->tables[t], p->size_gain + (size_t)t * LEVELS);
        for (uint32_t lane = 0; lane < PRICE_LANES; lane++)
            part_values(p, &p->tables[t], t * LEVELS, lane);
    }
    for (uint32_t kind = 0; kind < p->kind_count; kind++)
        whole_values(p, kind);
}

/* ---- what is held ---- */

static uint32_t cheapest_lane(const struct price *p, const struct price_pile *pile)
{
    const int32_t *w = p->whole[pile->kind * (p->whole_max + 1) + pile->whole];
    const uint32_t row = p->kinds[pile->kind].table * LEVELS;
    int32_t lanes[PRICE_LANES];
    uint32_t best = 0;

    for (uint32_t lane = 0; lane < PRICE_LANES; lane++)
        lanes[lane] = w[lane] + price_host(lane, pile->cpu, pile->memory);
    for (uint32_t i = 0; i < pile->part_count; i++)
        for (uint32_t lane = 0; lane < PRICE_LANES; lane++)
            lanes[lane] += p->part[row + p->parts[pile->part_first + i]][lane];
    for (uint32_t lane = 1; lane < PRICE_LANES; lane++)
        if (lanes[lane] < lanes[best])
            best = lane;
    return best;
}

/* Count nodes by free GPUs and GPUs by level, each in its node's cheapest lane. */
static void count_rooms(struct price *p)
{
    const size_t parts = (size_t)p->table_count * LEVELS * PRICE_LANES;
    const size_t wholes = (size_t)p->kind_count * (p->whole_max + 1) * PRICE_LANES;

    memset(p->count_part, 0, parts * sizeof *p->count_part);
    memset(p->count_whole, 0, wholes * sizeof *p->count_whole);
    for (uint32_t i = 0; i < p->pile_count; i++) {
        const struct price_pile *pile = &p->piles[i];
        const size_t row = (size_t)p->kinds[pile->kind].table * LEVELS;
        const size_t whole = (size_t)pile->kind * (p->whole_max + 1) + pile->whole;
        const uint32_t lane = cheapest_lane(p, pile);
        const int64_t nodes = (int64_t)pile->nodes * PRICE_ONE;

        p->count_whole[whole * PRICE_LANES + lane] += nodes;
        for (uint32_t g = 0; g < pile->part_count; g++)
            p->count_part[(row + p->parts[pile->part_first + g]) * PRICE_LANES + lane] += nodes;
    }
}

/* count * PRICE_ONE-scaled part, without overflow: up to 2^48 * 2^20. */
static int64_t part_of(int64_t count, int64_t part)
{
    return (count >> 8) * part >> 12;
}

/* Nodes with n free GPUs: some hold a task of several, the rest fill one GPU alone. */
static void hold_whole(struct price *p, uint32_t kind, uint32_t lane)
{
    const struct price_kind *k = &p->kinds[kind];
    const size_t first = (size_t)kind * (p->whole_max + 1);
    int64_t *one = &p->count_part[((size_t)k->table * LEVELS + PRICE_LEVELS) * PRICE_LANES + lane];

    for (uint32_t n = k->gpu_count; n >= 1; n--) {
        const int64_t nodes = p->count_whole[(first + n) * PRICE_LANES + lane];
        int64_t left = nodes;

        if (nodes == 0)
            continue;
        for (uint32_t s = 0; s < p->several_count; s++) {
            const uint32_t i = p->several[s];
            size_t rest;
            int64_t held;

            if (!can_hold(p, k, i, n))
                continue;
            rest = first + n - p->shapes[i].gpus;
            held = part_of(nodes, price_exp(&p->math, p->gain[i][lane] + p->whole[rest][lane] -
                                                          p->whole[first + n][lane]));
            held = held < left ? held : left;
            left -= held;
            p->shapes[i].held += held;
            p->count_whole[rest * PRICE_LANES + lane] += held;
        }
        p->count_whole[(first + n - 1) * PRICE_LANES + lane] += left;
        *one += left;
    }
}

/* Tasks of each size on GPUs at one level: the k-th task of a size is there in the part of the
 * fillings that e^(k gain + value of what is left) is of e^(value). */
static void hold_level(const struct price *p, const struct price_table *t, uint32_t row,
                       uint32_t lane, uint32_t level, int64_t *held)
{
    const int64_t gpus = p->count_part[((size_t)row + level) * PRICE_LANES + lane];
    const int32_t value = p->part[row + level][lane];

    for (uint32_t i = 0; gpus > 0 && i < t->size_count && t->sizes[i] <= level; i++) {
        const uint32_t size = t->sizes[i];
        const int32_t gain = p->size_gain[row + size][lane];

        if (gain <= WORTHLESS)
            continue;
        for (uint32_t k = 1; k * size <= level; k++) {
            const int64_t part = price_exp(
                &p->math, (int64_t)k * gain + p->part[row + level - k * size][lane] - value);

            if (part == 0)
                break;
            held[size] += part_of(gpus, part);
        }
    }
}

/* Share out what a table's GPUs hold of each size among the shapes of that size. */
static void hold_parts(struct price *p, uint32_t table, uint32_t lane)
{
    const struct price_table *t = &p->tables[table];
    const uint32_t row = table * LEVELS;
    int64_t held[LEVELS] = {0};

    for (uint32_t level = 1; level < LEVELS; level++)
        hold_level(p, t, row, lane, level, held);
    for (uint32_t i = bit_set_lowest(t->shapes, PRICE_MASK_WORDS); i != BITS_NONE;
         i = bit_set_next(t->shapes, PRICE_MASK_WORDS, i + 1)) {
        const uint32_t size = p->shapes[i].size;

        if (held[size] > 0)
            p->shapes[i].held += part_of(
                held[size], price_exp(&p->math, p->gain[i][lane] - p->size_gain[row + size][lane]));
    }
}

void price_hold(struct price *p)
{
    for (uint32_t i = 0; i < p->shape_count; i++)
        p->shapes[i].held = 0;
    count_rooms(p);
    for (uint32_t kind = 0; kind < p->kind_count; kind++)
        for (uint32_t lane = 0; lane < PRICE_LANES; lane++)
            hold_whole(p, kind, lane);
    for (uint32_t table = 0; table < p->table_count; table++)
        for (uint32_t lane = 0; lane < PRICE_LANES; lane++)
            hold_parts(p, table, lane);
}
