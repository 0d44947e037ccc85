/* SPDX-License-Identifier: Apache-2.0 */
/* ledger.c - the only writer of what is held on nodes. */
#include "core/ledger.h"

#include "base/bits.h"
#include "base/check.h"
#include "core/fit.h"
#include "core/impl.h"

/* 0: a share of a GPU, k: k whole GPUs. */
static uint32_t kind_of(const struct shape *shape)
{
    if (shape_is_share(shape))
        return 0;
    return shape->gpus < NODE_KINDS ? shape->gpus : NODE_KINDS - 1;
}

void ledger_refresh(struct core *core, uint32_t node)
{
    if (node_takes_work(&core->nodes.rows[node]))
        index_update(&core->index, &core->nodes, node, nodes_kinds(&core->nodes, node));
    else
        index_remove(&core->index, &core->nodes, node);
}

static void book(struct core *core, uint32_t node, uint32_t shape_id, uint64_t gpu_mask, int sign)
{
    struct node *row = &core->nodes.rows[node];
    const struct shape *shape = &core->shapes.shapes[shape_id];
    struct holding holding;
    struct need need;

    fit_ever(core, shape_id, row->class_id, &need);
    holding = holding_on(shape, nodes_class_of(&core->nodes, node), &need, gpu_mask);
    if (shape->gpus > 0)
        nodes_count_kind(&core->nodes, node, kind_of(shape), sign);
    row->held_mcpu += sign * holding.mcpu;
    row->held_memory_bytes += sign * holding.memory_bytes;
    for (uint64_t left = holding.gpus; left != 0; left &= left - 1) {
        struct gpu_book *gpu = &core->nodes.gpus[row->gpu_first + (uint32_t)__builtin_ctzll(left)];

        gpu->held_mgpu += sign * (int32_t)holding.need.mgpu;
        gpu->held_bytes += sign * holding.need.memory_bytes;
        if (holding.need.company != COMPANY_NONE)
            sharers_add(&gpu->sharers, holding.need.company, sign);
        check(gpu->held_mgpu >= 0 && gpu->held_bytes >= 0);
    }
    check(row->held_mcpu >= 0 && row->held_memory_bytes >= 0);
}

static bool over_capacity(const struct core *core, uint32_t node)
{
    const struct node *row = &core->nodes.rows[node];
    const struct node_class *class = nodes_class_of(&core->nodes, node);

    if (row->held_mcpu > class->cpu_mcpu || row->held_memory_bytes > class->memory_bytes)
        return true;
    for (uint32_t i = 0; i < class->gpu_count; i++) {
        const struct gpu_book *gpu = &core->nodes.gpus[row->gpu_first + i];

        if (gpu->held_mgpu > GPU_MGPU || gpu->held_bytes > class->gpu_memory_bytes ||
            !sharers_may(&gpu->sharers, class))
            return true;
    }
    return false;
}

void ledger_reported(struct core *core, uint32_t node)
{
    core->nodes.rows[node].deficit = over_capacity(core, node);
}

void ledger_take(struct core *core, uint32_t node, uint32_t shape, uint64_t gpu_mask)
{
    book(core, node, shape, gpu_mask, 1);
    ledger_refresh(core, node);
}

void ledger_give(struct core *core, uint32_t node, uint32_t shape, uint64_t gpu_mask)
{
    book(core, node, shape, gpu_mask, -1);
    ledger_refresh(core, node);
}

void hold_add(const struct core *core, uint32_t node, uint32_t shape_id, uint64_t gpu_mask,
              struct hold *hold)
{
    const struct shape *shape = &core->shapes.shapes[shape_id];
    const struct node_class *class = nodes_class_of(&core->nodes, node);
    struct holding holding;
    struct need need;

    (void)need_on(shape, class, &need);
    holding = holding_on(shape, class, &need, gpu_mask);
    hold->mcpu += holding.mcpu;
    hold->memory_bytes += holding.memory_bytes;
    for (uint64_t left = holding.gpus; left != 0; left = mask_drop_lowest(left)) {
        hold->gpu_mgpu[mask_lowest(left)] += (int32_t)holding.need.mgpu;
        hold->gpu_bytes[mask_lowest(left)] += holding.need.memory_bytes;
        if (holding.need.company != COMPANY_NONE)
            sharers_add(&hold->sharers[mask_lowest(left)], holding.need.company, 1);
    }
}

void ledger_hold(struct core *core, uint32_t node, const struct hold *hold, int sign)
{
    struct node *row = &core->nodes.rows[node];

    row->held_mcpu += sign * hold->mcpu;
    row->held_memory_bytes += sign * hold->memory_bytes;
    for (uint32_t i = 0; i < nodes_class_of(&core->nodes, node)->gpu_count; i++) {
        struct gpu_book *gpu = &core->nodes.gpus[row->gpu_first + i];

        gpu->held_mgpu += sign * hold->gpu_mgpu[i];
        gpu->held_bytes += sign * hold->gpu_bytes[i];
        sharers_join(&gpu->sharers, &hold->sharers[i], sign);
    }
    ledger_refresh(core, node);
}
