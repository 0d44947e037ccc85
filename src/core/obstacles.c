/* SPDX-License-Identifier: Apache-2.0 */
/* obstacles.c - why tasks of one shape cannot go to the nodes of the cluster. */
#include "core/obstacles.h"

#include <string.h>

#include "base/bits.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/vec.h"
#include "core/fit.h"
#include "core/impl.h"

__extension__ typedef __int128 wide;

static void note(struct obstacles *o, enum obstacle_kind kind, uint32_t what, int64_t asked,
                 int64_t most)
{
    const struct obstacle new = {kind, what, 0, asked, most};
    uint32_t i = 0;

    while (i < o->count && (o->items[i].kind != kind || o->items[i].what != what))
        i++;
    if (i == o->count)
        vec_push(o->items, o->count, o->cap, new);
    o->items[i].nodes++;
    if (o->items[i].most < most || o->items[i].nodes == 1) {
        o->items[i].most = most;
        o->items[i].asked = asked; /* a share means other bytes on another model */
    }
}

/* ---- what a node is ---- */

static bool has_label(const struct node_class *class, uint32_t label)
{
    for (uint32_t i = 0; i < class->label_count; i++)
        if (class->labels[i] == label)
            return true;
    return false;
}

static bool is_another_model(const struct selector *selector, const struct node_class *class)
{
    for (uint32_t i = 0; i < selector->model_count; i++)
        if (selector->models[i] == class->model)
            return false;
    return selector->model_count > 0;
}

static bool is_too_small(struct obstacles *o, const struct shape *shape,
                         const struct node_class *class)
{
    const struct {
        enum shortage what;
        int64_t asked, most;
    } amounts[] = {
        {SHORT_GPUS, shape->gpus, class->gpu_count},
        {SHORT_GPU_BYTES, shape->gpus > 0 ? shape->gpu_memory_bytes : 0, class->gpu_memory_bytes},
        {SHORT_CPU_MCPU, shape->cpu_mcpu, class->cpu_mcpu},
        {SHORT_MEMORY_BYTES, shape->memory_bytes, class->memory_bytes},
    };

    for (size_t i = 0; i < sizeof amounts / sizeof amounts[0]; i++)
        if (amounts[i].asked > amounts[i].most) {
            const bool unknown = amounts[i].what == SHORT_GPU_BYTES && amounts[i].most == 0;

            note(o, unknown ? OBSTACLE_UNKNOWN : OBSTACLE_SMALL, unknown ? 0 : amounts[i].what,
                 amounts[i].asked, amounts[i].most);
            return true;
        }
    return false;
}

/* False if tasks of the shape can never go to nodes of the class. */
static bool class_will_do(struct core *core, struct obstacles *o, const struct node_class *class)
{
    const struct shape *shape = &core->shapes.shapes[o->shape];
    const struct selector *selector = &core->shapes.selectors[shape->selector];
    struct need need;

    if (is_another_model(selector, class)) {
        note(o, OBSTACLE_MODEL, 0, 0, 0);
        return false;
    }
    for (uint32_t i = 0; i < selector->label_count; i++)
        if (!has_label(class, selector->labels[i])) {
            note(o, OBSTACLE_LABEL, selector->labels[i], 0, 0);
            return false;
        }
    if (is_too_small(o, shape, class))
        return false;
    if (need_on(shape, class, &need))
        return true;
    note(o, shape_is_mig(shape) && class->mig_type > 0 ? OBSTACLE_PROFILE : OBSTACLE_MODES, 0, 0,
         0);
    return false;
}

/* ---- what is in its way now ---- */

static uint32_t out_bit(uint32_t out)
{
    static const uint32_t bits[] = {NODE_OUT_DRAINED,  NODE_OUT_LOST,     NODE_OUT_SILENT,
                                    NODE_OUT_UNLISTED, NODE_OUT_FLAPPING, NODE_OUT_STUCK};

    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++)
        if (out & bits[i])
            return bits[i];
    return 0;
}

/* The amount that so many GPUs have at least: puts it into the list of the largest ones. */
struct largest {
    int64_t of[NODE_GPUS_MAX]; /* [count] largest first */
    uint32_t count;
};

static void largest_add(struct largest *l, int64_t amount)
{
    uint32_t at = l->count++;

    for (; at > 0 && l->of[at - 1] < amount; at--)
        l->of[at] = l->of[at - 1];
    l->of[at] = amount;
}

static int64_t largest_of(const struct largest *l, uint32_t gpus)
{
    return l->count >= gpus ? l->of[gpus - 1] : 0;
}

/* What the node has free of a thing, and what is asked; asked 0 = it is not short. */
struct room {
    int64_t asked[SHORT_COUNT], free[SHORT_COUNT];
};

static void want(struct room *room, enum shortage what, int64_t asked, int64_t free)
{
    room->free[what] = free;
    room->asked[what] = asked > free ? asked : 0;
}

/* Whole GPUs are counted. Of others, first the compute is looked at, and then the memory of those
 * with compute enough; but bytes alone mean compute in proportion, so there both are bytes. */
static void gpu_room(const struct core *core, uint32_t node, const struct shape *shape,
                     const struct need *need, struct room *room)
{
    const struct node_class *class = nodes_class_of(&core->nodes, node);
    struct largest mgpu = {.count = 0}, bytes = {.count = 0};
    uint32_t whole = 0;

    for (uint32_t i = 0; i < class->gpu_count; i++) {
        const uint32_t free_mgpu = nodes_gpu_free_mgpu(&core->nodes, node, i);
        int64_t free_bytes = nodes_gpu_free_bytes(&core->nodes, node, i);
        const int64_t in_proportion = (int64_t)((wide) class->gpu_memory_bytes * free_mgpu / 1000);

        whole += free_mgpu == GPU_MGPU;
        largest_add(&mgpu, free_mgpu);
        if (shape->gpu_mgpu == 0)
            free_bytes = in_proportion < free_bytes ? in_proportion : free_bytes;
        if (shape->gpu_mgpu == 0 || free_mgpu >= need->mgpu)
            largest_add(&bytes, free_bytes);
    }
    if (shape->gpu_mgpu == GPU_MGPU) {
        want(room, SHORT_GPUS, shape->gpus, whole);
        return;
    }
    if (shape->gpu_mgpu > 0)
        want(room, SHORT_GPU_MGPU, need->mgpu, largest_of(&mgpu, shape->gpus));
    if (room->asked[SHORT_GPU_MGPU] == 0)
        want(room, SHORT_GPU_BYTES, need->memory_bytes, largest_of(&bytes, shape->gpus));
}

static bool is_split(const struct core *core, uint32_t node, uint32_t gpu)
{
    return core->nodes.rows[node].mig_first != ROW_NONE &&
           nodes_mig(&core->nodes, node, gpu)->room != 0;
}

/* GPUs that have the room, and on which nobody but the company is in the way. */
static uint32_t refused_gpus(const struct core *core, uint32_t node, const struct need *need)
{
    const struct node *row = &core->nodes.rows[node];
    const struct node_class *class = nodes_class_of(&core->nodes, node);
    uint32_t count = 0;

    for (uint32_t i = 0; i < class->gpu_count; i++) {
        const struct gpu_book *gpu = &core->nodes.gpus[row->gpu_first + i];

        count += !(row->lost_mask >> i & 1) &&
                 (gpu->sharers.count > 0 || is_split(core, node, i)) &&
                 gpu->held_mgpu + (int32_t)need->mgpu <= GPU_MGPU &&
                 gpu->held_bytes + need->memory_bytes <= class->gpu_memory_bytes &&
                 !nodes_gpu_has(&core->nodes, node, i, need);
    }
    return count;
}

/* True if the GPUs would do, but for the company on them. */
static bool is_refused(const struct core *core, uint32_t node, const struct shape *shape,
                       const struct need *need, struct room *room)
{
    const uint32_t refused = refused_gpus(core, node, need);
    uint32_t fitting = 0;

    for (uint32_t i = 0; i < nodes_class_of(&core->nodes, node)->gpu_count; i++)
        fitting += nodes_gpu_has(&core->nodes, node, i, need);
    if (fitting >= shape->gpus || fitting + refused < shape->gpus)
        return false;
    want(room, SHORT_SHARED, shape->gpus, fitting);
    return true;
}

static void what_is_taken(struct core *core, uint32_t node, struct obstacles *o,
                          const struct need *need)
{
    const struct shape *shape = &core->shapes.shapes[o->shape];
    uint32_t first = SHORT_COUNT, count = 0;
    struct room room = {{0}, {0}};

    want(&room, SHORT_CPU_MCPU, shape->cpu_mcpu, nodes_free_mcpu(&core->nodes, node));
    want(&room, SHORT_MEMORY_BYTES, shape->memory_bytes,
         nodes_free_memory_bytes(&core->nodes, node));
    if (need->mode == GPU_MIG)
        want(&room, SHORT_MIG, 1, 0);
    else if (shape->gpus > 0 &&
             (need->company == COMPANY_NONE || !is_refused(core, node, shape, need, &room)))
        gpu_room(core, node, shape, need, &room);
    for (uint32_t what = SHORT_COUNT; what-- > 0;)
        if (room.asked[what] > 0) {
            first = what;
            count++;
        }
    if (first == SHORT_COUNT) { /* by the rounding of shares */
        first = SHORT_GPU_BYTES;
        room.asked[first] = need->memory_bytes;
    }
    note(o, OBSTACLE_BUSY, first, room.asked[first], room.free[first]);
    if (count == 1 && room.free[first] > 0)
        vec_push(o->nearly[first].most, o->nearly[first].count, o->nearly[first].cap,
                 room.free[first]);
}

static void judge(struct core *core, uint32_t node, struct obstacles *o)
{
    const struct node *row = &core->nodes.rows[node];
    const struct node_class *class = nodes_class_of(&core->nodes, node);
    const uint32_t gpus = core->shapes.shapes[o->shape].gpus, out = core_node_out(core, node);
    const uint32_t usable = class->gpu_count - mask_popcount(row->lost_mask);
    struct need need;

    o->nodes++;
    if (!class_will_do(core, o, class))
        return;
    fit_ever(core, o->shape, row->class_id, &need);
    if (out != 0)
        note(o, OBSTACLE_OUT, out_bit(out), 0, 0);
    else if (usable < gpus)
        note(o, OBSTACLE_LOST, 0, gpus, usable);
    else if (row->state != ROW_NONE && fit_now(core, o->shape, row->state, &need))
        o->fitting++;
    else
        what_is_taken(core, node, o, &need);
}

static int by_kind(const void *a, const void *b, void *arg)
{
    const struct obstacle *x = a, *y = b;

    (void)arg;
    return x->kind != y->kind ? (x->kind < y->kind ? -1 : 1) : 0;
}

static int most_first(const void *a, const void *b, void *arg)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    (void)arg;
    return x > y ? -1 : x < y;
}

void obstacles_find(struct core *core, uint32_t shape, struct obstacles *out)
{
    *out = (struct obstacles){.shape = shape};
    for (uint32_t node = 0; node < core->nodes.count; node++)
        if (core->nodes.rows[node].in_use)
            judge(core, node, out);
    sort_stable(out->items, out->count, sizeof *out->items, by_kind, NULL);
    for (int i = 0; i < SHORT_COUNT; i++)
        sort_stable(out->nearly[i].most, out->nearly[i].count, sizeof *out->nearly[i].most,
                    most_first, NULL);
}

void obstacles_done(struct obstacles *o)
{
    mem_free(o->items);
    for (int i = 0; i < SHORT_COUNT; i++)
        mem_free(o->nearly[i].most);
    memset(o, 0, sizeof *o);
}
