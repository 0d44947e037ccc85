/* SPDX-License-Identifier: Apache-2.0 */
/* place_berth.c - the default: a task goes where the value of the free room drops least.
 *
 * The demand is the free GPU compute times the recent mix: counts of what was submitted (whether or
 * not it fitted), which halve as newer tasks come. Prices that make this demand fit the free room
 * (price.h) give each node a value, and the score of a placement is its change, plus a little for
 * nodes with less left. Nobody needs to say whether tasks ever leave: with full nodes or idle ones
 * the question is what the next tasks need of the room that is there.
 *
 * Prices are worked out anew after ever more arrivals, in the end as many as a part of the node
 * states, so that the cost of an arrival does not grow with the cluster. */
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "base/vec.h"
#include "core/view.h"
#include "policy/policies.h"
#include "policy/price.h"
#include "policy/recent.h"

#define PERIOD_MIN               64   /* arrivals between prices, when the policy has settled */
#define STATES_SMALL             2048 /* up to so many, an arrival pays for ... */
#define STATES_PER_ARRIVAL       40   /* ... so many states judged anew; */
#define STATES_PER_ARRIVAL_LARGE 4    /* beyond, where memory is slow */
#define ROUNDS                   8    /* of price_solve(), when settled */
#define ROUNDS_FIRST             20   /* for the first prices, which start from nothing */
#define FIRST_COUNT              8    /* prices worked out with ROUNDS_FIRST */
#define TIE_SHIFT                6    /* mGPU left on the node, in units: 1/64 mGPU a mGPU */
#define UNPRICED                 INT32_MIN
#define PRICE_SANE               (1 << 23) /* more than any price, and far from an overflow */
#define MEAN_MAX                 (INT64_C(1) << 31)
#define SHIFT_MAX                32   /* of amounts to host units */
#define HOST_USUAL               8192 /* host units beside each GPU of the usual task, at least */

/* A class of nodes: its kind for the prices, and how bytes of its GPUs become levels. */
struct class_facts {
    uint32_t kind;
    uint32_t bytes_shift;
    uint64_t levels_q32; /* levels a (byte >> bytes_shift); 0 = memory is unknown */
};

struct berth {
    struct price price;
    struct recent recent;
    int32_t *prices; /* [price_cap] by shape id, as last worked out; UNPRICED = never */
    uint32_t price_cap;
    struct class_facts *classes; /* [class_count] of those there were at the last prices */
    uint32_t class_count, class_cap;
    int32_t cpu_shift, bytes_shift; /* >> makes host units */
    uint32_t worked_out;            /* times, up to FIRST_COUNT */
    uint32_t live_states;           /* that priced shapes may use, at the last prices */
};

static void berth_init(void *state, const struct placement_config *config)
{
    struct berth *b = state;

    (void)config; /* what comes is learned, even where it is known */
    price_init(&b->price);
    recent_init(&b->recent);
}

static void berth_done(void *state)
{
    struct berth *b = state;

    price_done(&b->price);
    recent_done(&b->recent);
    mem_free(b->prices);
    mem_free(b->classes);
}

static void berth_copy(void *dst, const void *src)
{
    const struct berth *from = src;
    struct berth *to = dst;

    *to = *from;
    price_copy(&to->price, &from->price);
    recent_copy(&to->recent, &from->recent);
    to->prices = mem_copy(from->prices, from->price_cap, sizeof *from->prices);
    to->classes = mem_copy(from->classes, from->class_cap, sizeof *from->classes);
}

static void berth_arrived(void *state, const struct core *core, uint32_t shape_id, uint32_t tasks)
{
    struct berth *b = state;

    (void)core;
    recent_add(&b->recent, shape_id, tasks);
}

/* ---- units ---- */

static int32_t host_units(int64_t amount, int32_t shift)
{
    if (shift < 0)
        amount = amount > PRICE_HOST_MAX ? PRICE_HOST_MAX : amount << -shift;
    else
        amount >>= shift;
    return amount > PRICE_HOST_MAX ? PRICE_HOST_MAX : (int32_t)amount;
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The part of a GPU that is free in both compute and memory, 0..PRICE_LEVELS. */
static uint32_t level_of(const struct class_facts *c, uint32_t mgpu, int64_t bytes)
{
    const uint32_t compute = mgpu / (GPU_MGPU / PRICE_LEVELS);

    if (c->levels_q32 == 0)
        return compute;
    return min_u32(compute, (uint32_t)(((uint64_t)bytes >> c->bytes_shift) * c->levels_q32 >> 32));
}

static void class_facts_set(struct class_facts *c, const struct node_class *class, uint32_t kind)
{
    memset(c, 0, sizeof *c);
    c->kind = kind;
    if (class->gpu_memory_bytes <= 0)
        return;
    while (class->gpu_memory_bytes >> c->bytes_shift >= 1 << 16)
        c->bytes_shift++;
    c->levels_q32 =
        ((uint64_t)PRICE_LEVELS << 32) / (uint64_t)(class->gpu_memory_bytes >> c->bytes_shift);
}

/* ---- which shapes are priced ---- */

/* A shape in the running for a price. */
struct choice {
    uint32_t shape, size;
    uint32_t parts;  /* equal one-GPU tasks that one task counts as: shares of several GPUs */
    uint64_t weight; /* count times mGPU */
};

static int by_weight(const void *a, const void *b, void *arg)
{
    const struct choice *x = a, *y = b;

    (void)arg;
    return x->weight > y->weight ? -1 : x->weight < y->weight;
}

/* The part of a GPU that a shape takes, in hundredths, rounded up, on the first class of nodes
 * that can hold it; 0 = on none. GPUs of different memory make it another part elsewhere; one
 * price for all is near enough. */
static uint32_t size_on(const struct core *core, uint32_t shape_id)
{
    const struct shape *shape = core_shape(core, shape_id);

    for (uint32_t c = 0; c < core_class_count(core); c++) {
        const struct node_class *class = core_class(core, c);
        struct need need;
        uint64_t size, bytes;

        if (core_class_nodes(core, c) == 0 || !core_shape_fits_class(core, shape_id, c) ||
            !need_on(shape, class, &need))
            continue;
        size = (need.mgpu * PRICE_LEVELS + GPU_MGPU - 1) / GPU_MGPU;
        if (class->gpu_memory_bytes == 0)
            return (uint32_t)size;
        bytes =
            (uint64_t)need.memory_bytes / ((uint64_t) class->gpu_memory_bytes / PRICE_LEVELS + 1);
        return (uint32_t)(bytes + 1 > size && size < PRICE_LEVELS ? bytes + 1 : size);
    }
    return 0;
}

/* The PRICE_SHAPES_MAX shapes that ask for most, largest first. Returns how many. */
static uint32_t choose(const struct berth *b, const struct core *core, struct choice **out)
{
    struct choice *choices = NULL;
    uint32_t count = 0, cap = 0;

    for (uint32_t i = 0; i < b->recent.cap; i++) {
        const struct shape *shape;
        struct choice c = {.shape = i};

        if (b->recent.count[i] == 0)
            continue;
        shape = core_shape(core, i);
        if (shape->gpus == 0)
            continue;
        c.size = size_on(core, i);
        if (c.size == 0)
            continue;
        c.parts = c.size < PRICE_LEVELS ? shape->gpus : 1;
        c.weight = (b->recent.count[i] >> 8) * c.size * shape->gpus;
        vec_push(choices, count, cap, c);
    }
    if (count > 0)
        sort_stable(choices, count, sizeof *choices, by_weight, NULL);
    *out = choices;
    return min_u32(count, PRICE_SHAPES_MAX);
}

/* ---- host units ---- */

/* The shift that brings the mean, a GPU's worth, into HOST_USUAL..2 HOST_USUAL - 1. */
static int32_t shift_for(uint64_t mean)
{
    int32_t shift = 0;

    for (; mean >= 2 * HOST_USUAL; mean >>= 1)
        shift++;
    for (; mean > 0 && mean < HOST_USUAL; mean <<= 1)
        shift--;
    return shift;
}

static uint64_t capped(int64_t amount)
{
    return (uint64_t)(amount < MEAN_MAX ? amount : MEAN_MAX);
}

/* Counts of at most 2^20, so that sums of products stay below 2^63. */
static uint32_t count_shift(const struct berth *b, const struct choice *choices, uint32_t count)
{
    uint32_t shift = 0;

    for (uint32_t i = 0; i < count; i++)
        while (b->recent.count[choices[i].shape] >> shift > 1 << 20)
            shift++;
    return shift;
}

static void set_host_units(struct berth *b, const struct core *core, const struct choice *choices,
                           uint32_t count)
{
    const uint32_t down = count_shift(b, choices, count);
    uint64_t cpu = 0, mib = 0, levels = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct shape *shape = core_shape(core, choices[i].shape);
        const uint64_t n = b->recent.count[choices[i].shape] >> down;

        cpu += n * capped(shape->cpu_mcpu);
        mib += n * capped(shape->memory_bytes >> 20);
        levels += n * choices[i].size * shape->gpus;
    }
    levels = levels / PRICE_LEVELS + 1;
    b->cpu_shift = shift_for(cpu / levels);
    b->bytes_shift = shift_for(mib / levels) + 20;
}

/* ---- shapes, kinds and rooms ---- */

static void reserve_prices(struct berth *b, uint32_t shapes)
{
    const uint32_t known = b->price_cap;

    vec_reserve(b->prices, b->price_cap, shapes);
    for (uint32_t i = known; i < b->price_cap; i++)
        b->prices[i] = UNPRICED;
}

static void add_shapes(struct berth *b, const struct core *core, const struct choice *choices,
                       uint32_t count)
{
    reserve_prices(b, b->recent.cap);
    for (uint32_t i = 0; i < count; i++) {
        const struct choice *c = &choices[i];
        const struct shape *shape = core_shape(core, c->shape);
        struct price_shape s = {.id = c->shape, .size = c->size};

        s.gpus = shape->gpus / c->parts;
        s.cpu = host_units(shape->cpu_mcpu / c->parts, b->cpu_shift);
        s.memory = host_units(shape->memory_bytes / c->parts, b->bytes_shift);
        s.price = b->prices[c->shape] == UNPRICED ? price_plain(&s) : b->prices[c->shape];
        price_add_shape(&b->price, &s);
    }
}

static void priced_shapes_on(const struct berth *b, const struct core *core, uint32_t class_id,
                             uint64_t *mask)
{
    memset(mask, 0, PRICE_MASK_WORDS * sizeof *mask);
    for (uint32_t i = 0; i < b->price.shape_count; i++)
        if (core_shape_fits_class(core, b->price.shapes[i].id, class_id))
            mask[i / 64] |= UINT64_C(1) << (i % 64);
}

static void add_kinds(struct berth *b, const struct core *core)
{
    uint64_t mask[PRICE_MASK_WORDS];

    b->class_count = core_class_count(core);
    vec_reserve(b->classes, b->class_cap, b->class_count);
    for (uint32_t c = 0; c < b->class_count; c++) {
        const struct node_class *class = core_class(core, c);

        priced_shapes_on(b, core, c, mask);
        class_facts_set(&b->classes[c], class, price_add_kind(&b->price, class->gpu_count, mask));
    }
}

/* Classes that have joined since the last prices are of no kind yet. */
static const struct class_facts *facts_of(const struct berth *b, uint32_t class_id)
{
    static const struct class_facts unknown = {.kind = PRICE_KIND_NONE};

    return class_id < b->class_count ? &b->classes[class_id] : &unknown;
}

/* The room of a state, as prices see it. levels: [NODE_GPUS_MAX], those of the GPUs in use. */
static void room_of(const struct class_facts *c, const struct berth *b,
                    const struct state_view *view, struct price_pile *out, uint8_t *levels)
{
    out->kind = c->kind;
    out->whole = view->whole_free;
    out->part_count = view->gpu_count - view->whole_free;
    out->cpu = host_units(view->cpu_free_mcpu, b->cpu_shift);
    out->memory = host_units(view->memory_free_bytes, b->bytes_shift);
    for (uint32_t i = 0; i < out->part_count; i++)
        levels[i] = (uint8_t)level_of(c, view->gpu_free_mgpu[i], view->gpu_free_bytes[i]);
}

/* Every node state that somebody may use. Returns its free mGPU in all. */
static uint64_t add_rooms(struct berth *b, const struct core *core)
{
    uint64_t free_mgpu = 0;

    b->live_states = 0;
    for (uint32_t s = 0; s < core_state_rows(core); s++) {
        const uint32_t nodes = core_state_nodes(core, s);
        struct price_pile pile = {.nodes = nodes};
        uint8_t levels[NODE_GPUS_MAX];
        struct state_view view;

        if (nodes == 0)
            continue;
        core_state_view(core, s, &view);
        room_of(facts_of(b, view.class_id), b, &view, &pile, levels);
        if (pile.kind == PRICE_KIND_NONE)
            continue;
        price_add_pile(&b->price, &pile, levels);
        free_mgpu += (uint64_t)nodes * view.free_mgpu;
        b->live_states++;
    }
    return free_mgpu;
}

/* ---- demand ---- */

/* free * count / total, times PRICE_ONE; free up to 2^38, count up to 2^20, total up to 2^53. */
static int64_t share_of(uint64_t free_mgpu, uint64_t count, uint64_t total)
{
    const uint64_t product = free_mgpu * count;

    return (int64_t)((product / total << 20) + ((product % total << 10) / total << 10));
}

/* As many tasks of each shape as fill the free compute in the recent mix. */
static void set_demand(struct berth *b, const struct core *core, const struct choice *choices,
                       uint64_t free_mgpu)
{
    const uint32_t count = b->price.shape_count, down = count_shift(b, choices, count);
    uint64_t total_mgpu = 1;

    for (uint32_t i = 0; i < count; i++)
        total_mgpu += (b->recent.count[choices[i].shape] >> down) * choices[i].size *
                      core_shape(core, choices[i].shape)->gpus * (GPU_MGPU / PRICE_LEVELS);
    for (uint32_t i = 0; i < count; i++)
        b->price.shapes[i].demand =
            share_of(free_mgpu, b->recent.count[choices[i].shape] >> down, total_mgpu) *
            choices[i].parts;
}

/* ---- when ---- */

/* Has a class of nodes joined that priced shapes may use? */
static bool has_new_room(const struct berth *b, const struct core *core)
{
    uint64_t mask[PRICE_MASK_WORDS];

    for (uint32_t c = b->class_count; c < core_class_count(core); c++) {
        priced_shapes_on(b, core, c, mask);
        for (uint32_t i = 0; i < PRICE_MASK_WORDS; i++)
            if (mask[i])
                return true;
    }
    return false;
}

static void work_out(struct berth *b, const struct core *core, const struct choice *choices,
                     uint32_t count)
{
    const uint32_t rounds = b->worked_out < FIRST_COUNT ? ROUNDS_FIRST : ROUNDS;

    set_host_units(b, core, choices, count);
    price_begin(&b->price);
    add_shapes(b, core, choices, count);
    add_kinds(b, core);
    set_demand(b, core, choices, add_rooms(b, core));
    price_solve(&b->price, rounds);
    for (uint32_t i = 0; i < count; i++)
        b->prices[choices[i].shape] = b->price.shapes[i].price;
    if (b->worked_out < FIRST_COUNT)
        b->worked_out++;
}

/* Arrivals until the next prices, so that what a refresh costs is spread over enough of them. */
static uint32_t period_of(uint32_t live_states)
{
    const uint32_t small = live_states < STATES_SMALL ? live_states : STATES_SMALL;
    const uint32_t period =
        small / STATES_PER_ARRIVAL + (live_states - small) / STATES_PER_ARRIVAL_LARGE;

    return period > PERIOD_MIN ? period : PERIOD_MIN;
}

static bool berth_refresh(void *state, const struct core *core)
{
    struct berth *b = state;
    struct choice *choices;
    uint32_t count;

    if (!recent_is_due(&b->recent) && !has_new_room(b, core))
        return false;
    count = choose(b, core, &choices);
    if (count > 0)
        work_out(b, core, choices, count);
    mem_free(choices);
    recent_fade(&b->recent, core_running_count(core), period_of(b->live_states));
    return count > 0;
}

/* ---- scores ---- */

/* What a task does to one of the GPUs. */
static struct price_move move_of(const struct class_facts *c, const struct state_view *view,
                                 uint32_t gpu, const struct need *need)
{
    const uint32_t mgpu = view->gpu_free_mgpu[gpu];
    const int64_t bytes = view->gpu_free_bytes[gpu];
    const bool whole = gpu >= view->gpu_count - view->whole_free;

    return (struct price_move){
        .from = (uint8_t)(whole ? PRICE_LEVELS : level_of(c, mgpu, bytes)),
        .to = (uint8_t)level_of(c, mgpu - need->mgpu, bytes - need->memory_bytes)};
}

/* A share of one GPU: the GPU on which it costs least. */
static int32_t take_share(const struct class_facts *c, const struct price_room *room,
                          const struct state_view *view, const struct need *need,
                          const int32_t *host, uint32_t *out_slot)
{
    int32_t best = INT32_MIN;

    for (uint32_t i = 0; i < view->gpu_count; i++) {
        struct price_move move;
        int32_t change;

        if (!view_gpu_has(view, i, need) ||
            (i > 0 && view->gpu_free_mgpu[i] == view->gpu_free_mgpu[i - 1] &&
             view->gpu_free_bytes[i] == view->gpu_free_bytes[i - 1] &&
             view->gpu_company[i] == view->gpu_company[i - 1]))
            continue;
        move = move_of(c, view, i, need);
        change = price_take_parts(room, &move, 1, host[0], host[1]);
        if (change > best) {
            best = change;
            *out_slot = i;
        }
    }
    return best;
}

/* Shares of several GPUs: the core takes the fitting ones with the least left. */
static int32_t take_shares(const struct class_facts *c, const struct price_room *room,
                           const struct state_view *view, const struct request *request,
                           const int32_t *host)
{
    struct price_move moves[NODE_GPUS_MAX];
    uint32_t count = 0;

    for (uint32_t i = 0; i < view->gpu_count && count < request->shape->gpus; i++)
        if (view_gpu_has(view, i, &request->need))
            moves[count++] = move_of(c, view, i, &request->need);
    return price_take_parts(room, moves, count, host[0], host[1]);
}

static int64_t berth_score(const void *state, const struct core *core,
                           const struct state_view *view, const struct request *request,
                           uint32_t *out_slot)
{
    const struct berth *b = state;
    const struct shape *shape = request->shape;
    const struct class_facts *c = facts_of(b, view->class_id);
    const int32_t host[2] = {host_units(shape->cpu_mcpu, b->cpu_shift),
                             host_units(shape->memory_bytes, b->bytes_shift)};
    const uint32_t left_mgpu = view->free_mgpu - shape->gpus * request->need.mgpu;
    uint8_t levels[NODE_GPUS_MAX];
    struct price_pile pile;
    struct price_room room;
    int32_t change;

    (void)core;
    room_of(c, b, view, &pile, levels);
    price_room(&b->price, &pile, levels, &room);
    if (request->need.mgpu % GPU_MGPU == 0)
        change = price_take_whole(&room, shape->gpus, host[0], host[1]);
    else if (shape->gpus == 1)
        change = take_share(c, &room, view, &request->need, host, out_slot);
    else
        change = take_shares(c, &room, view, request, host);
    return (int64_t)change - (left_mgpu >> TIE_SHIFT);
}

/* ---- the walk ---- */

/* Up to the last shape that was ever priced; room behind it does not count. */
static uint32_t prices_used(const struct berth *b)
{
    uint32_t used = b->price_cap;

    while (used > 0 && b->prices[used - 1] == UNPRICED)
        used--;
    return used;
}

static void prices_walk(struct berth *b, uint32_t shapes, struct tape *t)
{
    uint32_t used = prices_used(b);

    tape_max(t, &used, shapes, "shapes with a price");
    for (uint32_t i = 0; tape_more(t, i, used); i++) {
        if (tape_loads(t))
            reserve_prices(b, i + 1);
        tape_i32(t, &b->prices[i]);
        if (tape_loads(t) && b->prices[i] != UNPRICED &&
            (b->prices[i] < -PRICE_SANE || b->prices[i] > PRICE_SANE))
            tape_fail(t, "price of shape %u: is %d", i, b->prices[i]);
    }
}

/* What is known of a class follows from the class, but for its kind. */
static void classes_walk(struct berth *b, const struct core *core, struct tape *t)
{
    uint32_t count = b->class_count;

    tape_max(t, &count, core_class_count(core), "classes with a kind");
    for (uint32_t c = 0; tape_more(t, c, count); c++) {
        uint32_t kind = tape_loads(t) ? 0 : b->classes[c].kind;

        tape_u32(t, &kind);
        if (!tape_loads(t) || t->failed)
            continue;
        tape_grow(t, b->classes, b->class_count, b->class_cap);
        class_facts_set(&b->classes[c], core_class(core, c), kind);
        if (kind != PRICE_KIND_NONE &&
            (kind >= b->price.kind_count ||
             b->price.kinds[kind].gpu_count != core_class(core, c)->gpu_count))
            tape_fail(t, "class %u: is of no such kind", c);
    }
}

static void berth_walk(void *state, const struct core *core, struct tape *t)
{
    struct berth *b = state;

    price_walk(&b->price, core_shape_count(core), t);
    recent_walk(&b->recent, core_shape_count(core), t);
    prices_walk(b, core_shape_count(core), t);
    classes_walk(b, core, t);
    tape_i32_in(t, &b->cpu_shift, -SHIFT_MAX, SHIFT_MAX, "shift of CPU");
    tape_i32_in(t, &b->bytes_shift, -SHIFT_MAX, 20 + SHIFT_MAX, "shift of memory");
    tape_u32(t, &b->worked_out);
    tape_u32(t, &b->live_states);
}

const struct placement_policy place_berth = {
    .name = "berth",
    .summary = "keep the free room worth most to the recent demand (prices per shape)",
    .state_size = sizeof(struct berth),
    .tie = TIE_FIRST_NODE,
    .init = berth_init,
    .done = berth_done,
    .copy = berth_copy,
    .walk = berth_walk,
    .arrived = berth_arrived,
    .refresh = berth_refresh,
    .score = berth_score,
};
