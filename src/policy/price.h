/* SPDX-License-Identifier: Apache-2.0 */
/* price.h - what free room is worth to the demand there is.
 *
 * Every shape of task has a price. At given prices each way to fill a node's free room with tasks
 * has a weight, e^(its summed prices / T), and the node's value is T times the logarithm of all
 * these weights together: nearly the best filling's worth, but smooth. The same weights say how
 * many tasks of each shape all nodes together are expected to hold. A shape that is demanded more
 * than it is held grows dearer, one demanded less grows cheaper, until both agree (they are the
 * dual prices of a packing of the free room by the demand).
 * CPU and memory are bought: a node pays for them at one of PRICE_LANES pairs of unit prices, the
 * pair at which it comes out cheapest, which is the bound that Lagrange multipliers give.
 * A placement costs the value before less the value after. Room that no shape may use has no
 * value. To use: begin, add shapes, kinds and rooms, solve; then ask for values.
 *
 * Units: prices and values in 1/16 mGPU. Sizes in hundredths of a GPU, the levels of a GPU's free
 * part. CPU and memory in host units, which the caller scales so that a GPU's worth of the usual
 * task takes 8192 to 16383 of each. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/tape.h"
#include "policy/price_math.h"

#define PRICE_UNIT       16  /* units of a mGPU */
#define PRICE_LEVELS     100 /* of a GPU; size of a whole one */
#define PRICE_LANES      8
#define PRICE_SHAPES_MAX 256
#define PRICE_KINDS_MAX  64
#define PRICE_MASK_WORDS (PRICE_SHAPES_MAX / 64)
#define PRICE_KIND_NONE  UINT32_MAX /* of nodes that no priced shape may use: value 0 */
#define PRICE_HOST_MAX   ((1 << 22) - 1)

struct price_shape {
    uint32_t id;    /* the caller's */
    uint32_t gpus;  /* 1..64; more than 1 only with size PRICE_LEVELS */
    uint32_t size;  /* of each GPU, 1..PRICE_LEVELS */
    int32_t cpu;    /* host units, 0..PRICE_HOST_MAX */
    int32_t memory; /* host units, 0..PRICE_HOST_MAX */
    int32_t price;
    int64_t demand; /* tasks, times PRICE_ONE */
    int64_t held;   /* tasks in the expected filling, times PRICE_ONE */
};

/* What the GPUs of a shape are worth by the mGPU: where its price starts. */
static inline int32_t price_plain(const struct price_shape *s)
{
    return (int32_t)(s->gpus * s->size * (1000 / PRICE_LEVELS) * PRICE_UNIT);
}

/* Nodes that the same shapes may use. */
struct price_kind {
    uint32_t gpu_count;
    uint64_t shapes[PRICE_MASK_WORDS]; /* bit i: shape i fits on an empty node */
    uint32_t table;                    /* of `one`: kinds with equal one-GPU shapes share one */
};

/* Nodes with the same free room. */
struct price_pile {
    uint32_t kind, nodes;
    uint32_t whole;                  /* GPUs wholly free */
    uint32_t part_first, part_count; /* levels of the partly free ones, in `parts` */
    int32_t cpu, memory;             /* host units */
};

/* The one-GPU shapes of some kinds. */
struct price_table {
    uint64_t shapes[PRICE_MASK_WORDS];
    uint32_t size_count;
    uint8_t sizes[PRICE_LEVELS]; /* ascending, those that occur */
};

struct price {
    struct price_math math;
    struct price_shape shapes[PRICE_SHAPES_MAX];
    uint32_t shape_count;
    uint32_t several[PRICE_SHAPES_MAX]; /* [several_count] shapes of more than one GPU */
    uint32_t several_count;
    struct price_kind kinds[PRICE_KINDS_MAX];
    uint32_t kind_count;
    uint32_t whole_max; /* most GPUs of a kind */

    /* What follows is worked out from the above by price_solve(). */
    struct price_table tables[PRICE_KINDS_MAX];
    uint32_t table_count;
    int32_t gain[PRICE_SHAPES_MAX][PRICE_LANES]; /* price less the CPU and memory bought */
    int32_t (*size_gain)[PRICE_LANES]; /* [table * levels + size]: all one-GPU shapes of the size */
    int32_t (*part)[PRICE_LANES];      /* [table * levels + level]: value of such a GPU */
    int32_t (*whole)[PRICE_LANES];     /* [kind * (whole_max + 1) + n]: value of n free GPUs */
    uint32_t table_cap, whole_cap;     /* rows of the three */

    /* Only during a solve. */
    struct price_pile *piles;
    uint8_t *parts;
    uint32_t pile_count, pile_cap, part_count, part_cap;
    int64_t *count_whole, *count_part; /* GPUs at each (row of the above, lane), times PRICE_ONE */
};

void price_init(struct price *p); /* p is zeroed */
void price_done(struct price *p);
void price_copy(struct price *dst, const struct price *src);

/* Shapes with their prices, and kinds; when it loads, values are worked out at these prices.
 * ids: how many the caller has. */
void price_walk(struct price *p, uint32_t ids, struct tape *t);

/* Forget shapes, kinds and rooms. Values are not to be asked for before the next solve. */
void price_begin(struct price *p);

/* At most PRICE_SHAPES_MAX. Returns its index, the bit in a kind's shapes. */
uint32_t price_add_shape(struct price *p, const struct price_shape *shape);

/* shapes: [PRICE_MASK_WORDS]. Equal kinds are one. No shapes: PRICE_KIND_NONE. When there are
 * PRICE_KINDS_MAX, the last one that has as many GPUs stands in, or else none. */
uint32_t price_add_kind(struct price *p, uint32_t gpu_count, const uint64_t *shapes);

/* pile->part_first is set here. levels: [pile->part_count], 0..PRICE_LEVELS. */
void price_add_pile(struct price *p, const struct price_pile *pile, const uint8_t *levels);

/* Adjust prices `rounds` times and work out values at the last ones. A round costs
 * O(tables * sizes * levels + kinds * GPUs * shapes + piles * GPUs), each times PRICE_LANES. */
void price_solve(struct price *p, uint32_t rounds);

/* ---- values (after a solve) ---- */

/* One node's free room, ready for questions. */
struct price_room {
    const struct price *price;
    uint32_t kind, whole;
    int32_t cpu, memory;
    int32_t lanes[PRICE_LANES]; /* value of the partly free GPUs */
    int32_t value;
};

/* levels: [part_count] of the partly free GPUs. Cost: O(part_count). */
void price_room(const struct price *p, const struct price_pile *room, const uint8_t *levels,
                struct price_room *out);

/* Change of value, 0 or less but for rounding, if a task took `gpus` whole GPUs (0 too), cpu and
 * memory. */
int32_t price_take_whole(const struct price_room *room, uint32_t gpus, int32_t cpu, int32_t memory);

/* A GPU whose free level changes; `from` PRICE_LEVELS is a wholly free one. */
struct price_move {
    uint8_t from, to;
};

/* The same for shares of [count] GPUs. */
int32_t price_take_parts(const struct price_room *room, const struct price_move *moves,
                         uint32_t count, int32_t cpu, int32_t memory);

/* ---- between price.c and price_pack.c ---- */

void price_values(struct price *p); /* gain, size_gain, part, whole at the present prices */
void price_hold(struct price *p);   /* shapes[].held at the present values */

/* Unit prices in the lanes, in 1/16 unit a host unit. */
extern const int32_t price_lane_cpu[PRICE_LANES], price_lane_memory[PRICE_LANES];

/* What this CPU and memory cost in a lane. */
static inline int32_t price_host(uint32_t lane, int32_t cpu, int32_t memory)
{
    return (cpu * price_lane_cpu[lane] + memory * price_lane_memory[lane]) >> 4;
}
