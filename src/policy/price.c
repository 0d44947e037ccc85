/* SPDX-License-Identifier: Apache-2.0 */
/* price.c - what is priced, the search for prices, and the answers. */
#include "policy/price.h"

#include <string.h>

#include "base/bits.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/vec.h"

#define CEILING     2 /* a task is worth at most so many times its GPUs */
#define LEVEL       7 /* over LEVEL_OVER: what the demand's GPUs are worth */
#define LEVEL_OVER  4
#define STEP_MAX    (3 * PRICE_T)     /* of a price in one round */
#define PRICE_FLOOR (-2000)           /* cheap enough not to be held at all */
#define FEW         (PRICE_ONE / 100) /* tasks too few to matter for a ratio */
#define LEVELS      (PRICE_LEVELS + 1)

void price_init(struct price *p)
{
    price_math_init(&p->math);
}

void price_done(struct price *p)
{
    mem_free(p->size_gain);
    mem_free(p->part);
    mem_free(p->whole);
    mem_free(p->piles);
    mem_free(p->parts);
    mem_free(p->count_whole);
    mem_free(p->count_part);
    memset(p, 0, sizeof *p);
}

void price_copy(struct price *dst, const struct price *src)
{
    *dst = *src;
    dst->size_gain = mem_copy(src->size_gain, src->table_cap, sizeof *src->size_gain);
    dst->part = mem_copy(src->part, src->table_cap, sizeof *src->part);
    dst->whole = mem_copy(src->whole, src->whole_cap, sizeof *src->whole);
    dst->count_part = mem_alloc((size_t)src->table_cap * PRICE_LANES, sizeof *dst->count_part);
    dst->count_whole = mem_alloc((size_t)src->whole_cap * PRICE_LANES, sizeof *dst->count_whole);
    dst->piles = NULL;
    dst->parts = NULL;
    dst->pile_count = dst->pile_cap = dst->part_count = dst->part_cap = 0;
}

/* ---- what is priced ---- */

void price_begin(struct price *p)
{
    p->shape_count = p->several_count = p->kind_count = p->table_count = p->whole_max = 0;
    p->pile_count = p->part_count = 0;
}

uint32_t price_add_shape(struct price *p, const struct price_shape *shape)
{
    check(p->shape_count < PRICE_SHAPES_MAX);
    check(shape->size >= 1 && shape->size <= PRICE_LEVELS);
    check(shape->gpus == 1 || shape->size == PRICE_LEVELS);
    if (shape->gpus > 1)
        p->several[p->several_count++] = p->shape_count;
    p->shapes[p->shape_count] = *shape;
    return p->shape_count++;
}

/* The table of these one-GPU shapes. */
static uint32_t add_table(struct price *p, const uint64_t *shapes)
{
    struct price_table t = {0};
    bool occurs[LEVELS] = {false};

    for (uint32_t i = 0; i < p->shape_count; i++)
        if ((shapes[i / 64] >> (i % 64) & 1) && p->shapes[i].gpus == 1) {
            t.shapes[i / 64] |= UINT64_C(1) << (i % 64);
            occurs[p->shapes[i].size] = true;
        }
    for (uint32_t k = 0; k < p->table_count; k++)
        if (memcmp(p->tables[k].shapes, t.shapes, sizeof t.shapes) == 0)
            return k;
    for (uint32_t size = 1; size <= PRICE_LEVELS; size++)
        if (occurs[size])
            t.sizes[t.size_count++] = (uint8_t)size;
    p->tables[p->table_count] = t;
    return p->table_count++;
}

uint32_t price_add_kind(struct price *p, uint32_t gpu_count, const uint64_t *shapes)
{
    uint32_t stand_in = PRICE_KIND_NONE;
    uint64_t any = 0;

    for (uint32_t i = 0; i < PRICE_MASK_WORDS; i++)
        any |= shapes[i];
    if (any == 0)
        return PRICE_KIND_NONE;
    for (uint32_t k = 0; k < p->kind_count; k++) {
        if (p->kinds[k].gpu_count != gpu_count)
            continue;
        stand_in = k;
        if (memcmp(p->kinds[k].shapes, shapes, sizeof p->kinds[k].shapes) == 0)
            return k;
    }
    if (p->kind_count == PRICE_KINDS_MAX)
        return stand_in;
    p->kinds[p->kind_count].gpu_count = gpu_count;
    memcpy(p->kinds[p->kind_count].shapes, shapes, sizeof p->kinds[0].shapes);
    p->kinds[p->kind_count].table = add_table(p, shapes);
    if (gpu_count > p->whole_max)
        p->whole_max = gpu_count;
    return p->kind_count++;
}

void price_add_pile(struct price *p, const struct price_pile *pile, const uint8_t *levels)
{
    struct price_pile added = *pile;

    check(pile->kind < p->kind_count && pile->whole <= p->kinds[pile->kind].gpu_count);
    added.part_first = p->part_count;
    vec_reserve(p->parts, p->part_cap, p->part_count + pile->part_count);
    for (uint32_t i = 0; i < pile->part_count; i++)
        p->parts[p->part_count++] = levels[i];
    vec_push(p->piles, p->pile_count, p->pile_cap, added);
}

/* ---- the search for prices ---- */

/* One step of each price towards what makes demand and held agree. */
static void adjust(struct price *p)
{
    for (uint32_t i = 0; i < p->shape_count; i++) {
        struct price_shape *s = &p->shapes[i];
        const int32_t ceiling = CEILING * price_plain(s);
        int32_t step = price_ln(&p->math, (uint64_t)(s->demand + FEW)) -
                       price_ln(&p->math, (uint64_t)(s->held + FEW));

        /* Several small tasks share a GPU, so each step in their price counts several times. */
        if (s->size < PRICE_LEVELS / 2)
            step /= 2;
        else
            step = step * (int32_t)s->size / PRICE_LEVELS;
        step = step > STEP_MAX ? STEP_MAX : step < -STEP_MAX ? -STEP_MAX : step;
        s->price += step;
        s->price = s->price > ceiling ? ceiling : s->price < PRICE_FLOOR ? PRICE_FLOOR : s->price;
    }
}

/* The shift that brings every demand to at most 2^30. */
static uint32_t demand_shift(const struct price *p)
{
    uint32_t shift = 0;

    for (uint32_t i = 0; i < p->shape_count; i++)
        while (p->shapes[i].demand >> shift > 1 << 30)
            shift++;
    return shift;
}

/* Free room that the demand cannot fill to the last level makes all prices rise together. Once they
 * are at their ceilings they say nothing, so the mean of the demand is held to LEVEL. */
static void hold_level_down(struct price *p)
{
    const uint32_t shift = demand_shift(p);
    int64_t asked = 0, level = 0, factor_q16;

    for (uint32_t i = 0; i < p->shape_count; i++) {
        const int64_t demand = p->shapes[i].demand >> shift;

        asked += demand * p->shapes[i].price;
        level += demand * price_plain(&p->shapes[i]);
    }
    level = level / LEVEL_OVER * LEVEL;
    if (asked <= level || asked >> 16 == 0)
        return;
    factor_q16 = level / (asked >> 16);
    for (uint32_t i = 0; i < p->shape_count; i++)
        p->shapes[i].price = (int32_t)(p->shapes[i].price * factor_q16 / (1 << 16));
}

/* Room for the values of all tables and kinds. */
static void make_room(struct price *p)
{
    const uint32_t tables = p->table_count * LEVELS, wholes = p->kind_count * (p->whole_max + 1);

    if (tables > p->table_cap) {
        p->size_gain = mem_resize(p->size_gain, p->table_cap, tables, sizeof *p->size_gain);
        p->part = mem_resize(p->part, p->table_cap, tables, sizeof *p->part);
        p->count_part = mem_resize(p->count_part, (size_t)p->table_cap * PRICE_LANES,
                                   (size_t)tables * PRICE_LANES, sizeof *p->count_part);
        p->table_cap = tables;
    }
    if (wholes > p->whole_cap) {
        p->whole = mem_resize(p->whole, p->whole_cap, wholes, sizeof *p->whole);
        p->count_whole = mem_resize(p->count_whole, (size_t)p->whole_cap * PRICE_LANES,
                                    (size_t)wholes * PRICE_LANES, sizeof *p->count_whole);
        p->whole_cap = wholes;
    }
}

void price_solve(struct price *p, uint32_t rounds)
{
    make_room(p);
    price_values(p);
    for (uint32_t i = 0; i < rounds; i++) {
        price_hold(p);
        adjust(p);
        hold_level_down(p);
        price_values(p);
    }
}

/* ---- the walk ---- */

/* Loaded prices are as solving leaves them, within the rounding of hold_level_down(). */
static void shape_walk(struct price_shape *s, uint32_t ids, struct tape *t)
{
    tape_row(t, &s->id, ids, "priced shape");
    tape_max(t, &s->gpus, 64, "GPUs of a priced shape");
    tape_max(t, &s->size, PRICE_LEVELS, "size of a priced shape");
    tape_i32_in(t, &s->cpu, 0, PRICE_HOST_MAX, "CPU of a priced shape");
    tape_i32_in(t, &s->memory, 0, PRICE_HOST_MAX, "memory of a priced shape");
    tape_i32_in(t, &s->price, 2 * PRICE_FLOOR, 2 * CEILING * price_plain(s), "price");
    tape_i64_in(t, &s->demand, 0, INT64_MAX - FEW, "demand");
    tape_i64_in(t, &s->held, 0, INT64_MAX - FEW, "tasks held");
    if (tape_loads(t) && (s->gpus < 1 || s->size < 1 || (s->gpus > 1 && s->size < PRICE_LEVELS)))
        tape_fail(t, "priced shape: %u GPUs, %u of each", s->gpus, s->size);
}

static void kind_walk(struct price_kind *k, uint32_t shapes, struct tape *t)
{
    tape_max(t, &k->gpu_count, 64, "GPUs of a kind");
    for (uint32_t i = 0; i < PRICE_MASK_WORDS; i++)
        tape_u64(t, &k->shapes[i]);
    if (tape_loads(t) && bit_set_next(k->shapes, PRICE_MASK_WORDS, shapes) != BITS_NONE)
        tape_fail(t, "kind: may hold a shape that is not priced");
}

void price_walk(struct price *p, uint32_t ids, struct tape *t)
{
    uint32_t shapes = p->shape_count, kinds = p->kind_count;

    if (tape_loads(t))
        price_begin(p);
    tape_max(t, &shapes, PRICE_SHAPES_MAX, "priced shapes");
    for (uint32_t i = 0; tape_more(t, i, shapes); i++) {
        struct price_shape none = {0};

        shape_walk(tape_loads(t) ? &none : &p->shapes[i], ids, t);
        if (tape_loads(t) && !t->failed)
            price_add_shape(p, &none);
    }
    tape_max(t, &kinds, PRICE_KINDS_MAX, "kinds");
    for (uint32_t k = 0; tape_more(t, k, kinds); k++) {
        struct price_kind none = {0};

        kind_walk(tape_loads(t) ? &none : &p->kinds[k], shapes, t);
        if (tape_loads(t) && !t->failed && price_add_kind(p, none.gpu_count, none.shapes) != k)
            tape_fail(t, "kind %u is empty or there twice", k);
    }
    if (tape_loads(t) && !t->failed)
        price_solve(p, 0);
}

/* ---- answers ---- */

static int32_t least(const int32_t *lanes)
{
    int32_t min = lanes[0];

    for (uint32_t lane = 1; lane < PRICE_LANES; lane++)
        min = lanes[lane] < min ? lanes[lane] : min;
    return min;
}

/* Value with `whole` free GPUs, this CPU and memory left; parts: [PRICE_LANES]. */
static int32_t value_of(const struct price_room *r, const int32_t *parts, uint32_t whole,
                        int32_t cpu, int32_t memory)
{
    const struct price *p = r->price;
    const int32_t *w = p->whole[r->kind * (p->whole_max + 1) + whole];
    int32_t lanes[PRICE_LANES];

    for (uint32_t lane = 0; lane < PRICE_LANES; lane++)
        lanes[lane] = parts[lane] + w[lane] + price_host(lane, cpu, memory);
    return least(lanes);
}

void price_room(const struct price *p, const struct price_pile *room, const uint8_t *levels,
                struct price_room *out)
{
    int32_t lanes[PRICE_LANES] = {0}; /* apart from *out, so that the loop below can be SIMD */

    out->price = p;
    out->kind = room->kind;
    out->whole = room->whole;
    out->cpu = room->cpu;
    out->memory = room->memory;
    out->value = 0;
    if (room->kind == PRICE_KIND_NONE)
        return;
    for (uint32_t i = 0; i < room->part_count; i++) {
        const int32_t *part = p->part[p->kinds[room->kind].table * LEVELS + levels[i]];

        for (uint32_t lane = 0; lane < PRICE_LANES; lane++)
            lanes[lane] += part[lane];
    }
    memcpy(out->lanes, lanes, sizeof lanes);
    out->value = value_of(out, out->lanes, out->whole, out->cpu, out->memory);
}

int32_t price_take_whole(const struct price_room *r, uint32_t gpus, int32_t cpu, int32_t memory)
{
    if (r->kind == PRICE_KIND_NONE)
        return 0;
    return value_of(r, r->lanes, r->whole - gpus, r->cpu - cpu, r->memory - memory) - r->value;
}

int32_t price_take_parts(const struct price_room *r, const struct price_move *moves, uint32_t count,
                         int32_t cpu, int32_t memory)
{
    const struct price *p = r->price;
    uint32_t row, whole = r->whole;
    int32_t parts[PRICE_LANES];

    if (r->kind == PRICE_KIND_NONE)
        return 0;
    row = p->kinds[r->kind].table * LEVELS;
    memcpy(parts, r->lanes, sizeof parts);
    for (uint32_t i = 0; i < count; i++) {
        const bool was_whole = moves[i].from == PRICE_LEVELS;
        const int32_t *from = p->part[row + (was_whole ? 0 : moves[i].from)];
        const int32_t *to = p->part[row + moves[i].to];

        whole -= was_whole;
        for (uint32_t lane = 0; lane < PRICE_LANES; lane++)
            parts[lane] += to[lane] - from[lane];
    }
    return value_of(r, parts, whole, r->cpu - cpu, r->memory - memory) - r->value;
}
