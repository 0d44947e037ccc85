/* SPDX-License-Identifier: Apache-2.0 */
/* fit.c - whether a task fits on a node, and the GPUs it takes there. */
#include "core/fit.h"

#include "base/bits.h"
#include "base/check.h"
#include "core/impl.h"

bool fit_ever(struct core *core, uint32_t shape_id, uint32_t class_id, struct need *out)
{
    const struct fit *fit = fits_get(&core->fits, &core->shapes, &core->nodes, shape_id, class_id);

    *out = fit->need;
    return fit->ever;
}

bool fit_shares(const struct core *core, uint32_t state, const struct shape *shape,
                const struct need *need)
{
    const struct index *x = &core->index;
    uint32_t fitting = 0;

    if (shape->gpus == 0)
        return true;
    for (uint32_t i = core->nodes.classes[x->rows[state].class_id].gpu_count; i-- > 0;) {
        const size_t at = (size_t)state * x->stride + i;

        if (x->gpu_mgpu[at] < need->mgpu)
            return false;
        fitting += x->gpu_bytes[at] >= need->memory_bytes &&
                   company_admits(x->gpu_mgpu[at], x->gpu_company[at], need);
        if (fitting == shape->gpus)
            return true;
    }
    return false;
}

bool fit_now(struct core *core, uint32_t shape_id, uint32_t state, struct need *out)
{
    const struct state *s = &core->index.rows[state];
    const struct shape *shape = &core->shapes.shapes[shape_id];

    if (shape->cpu_mcpu > s->cpu_free_mcpu || shape->memory_bytes > s->memory_free_bytes ||
        !fit_ever(core, shape_id, s->class_id, out))
        return false;
    if (shape->exclusive)
        return state_is_empty(&core->nodes.classes[s->class_id], s->whole_free, s->cpu_free_mcpu,
                              s->memory_free_bytes);
    return out->mgpu == GPU_MGPU ? s->whole_free >= shape->gpus
                                 : fit_shares(core, state, shape, out);
}

/* The lowest GPU of the node with exactly these free amounts, and such sharers. */
static uint32_t gpu_with(const struct core *core, uint32_t node, uint32_t mgpu, int64_t bytes,
                         uint32_t company)
{
    const uint32_t count = nodes_class_of(&core->nodes, node)->gpu_count;

    for (uint32_t i = 0; i < count; i++)
        if (nodes_gpu_free_mgpu(&core->nodes, node, i) == mgpu &&
            nodes_gpu_free_bytes(&core->nodes, node, i) == bytes &&
            nodes_gpu_company(&core->nodes, node, i) == company)
            return i;
    check_failed("a state's GPU is on its nodes", __FILE__, __LINE__);
}

/* The fitting GPU outside `taken` with the least, or the most, left. */
static uint32_t gpu_by_left(const struct core *core, uint32_t node, const struct need *need,
                            uint64_t taken, bool most)
{
    const uint32_t count = nodes_class_of(&core->nodes, node)->gpu_count;
    uint32_t best = NODE_GPUS_MAX, best_mgpu = 0;

    for (uint32_t i = 0; i < count; i++) {
        const uint32_t mgpu = nodes_gpu_free_mgpu(&core->nodes, node, i);

        if ((taken >> i & 1) || !nodes_gpu_has(&core->nodes, node, i, need))
            continue;
        if (best < NODE_GPUS_MAX && (most ? mgpu <= best_mgpu : mgpu >= best_mgpu))
            continue;
        best = i;
        best_mgpu = mgpu;
    }
    check(best < NODE_GPUS_MAX);
    return best;
}

/* GPUs outside `taken` that nobody uses, and that have the memory. */
static uint64_t unused_gpus(const struct core *core, uint32_t node, const struct need *need,
                            uint64_t taken)
{
    const uint32_t count = nodes_class_of(&core->nodes, node)->gpu_count;
    uint64_t unused = 0;

    for (uint32_t i = 0; i < count; i++)
        if (nodes_gpu_free_mgpu(&core->nodes, node, i) == GPU_MGPU &&
            nodes_gpu_free_bytes(&core->nodes, node, i) >= need->memory_bytes)
            unused |= 1ull << i;
    return unused & ~taken;
}

uint64_t fit_rewired(struct core *core, uint32_t node, const struct need *need, uint64_t gpu_mask)
{
    const uint32_t links = nodes_class_of(&core->nodes, node)->links;
    const uint64_t unused = unused_gpus(core, node, need, 0);

    if (links == LINKS_UNKNOWN || (gpu_mask & unused) == 0)
        return gpu_mask;
    return (gpu_mask & ~unused) | subset_choose(&core->subsets, &core->nodes.links, links, unused,
                                                mask_popcount(gpu_mask & unused));
}

/* One of these GPUs would do, by what is left on it. If it is an unused one, those that are chosen
 * by how they are wired, up to `wanted`; else itself. */
static uint64_t wired(struct core *core, uint32_t node, const struct need *need, uint64_t taken,
                      uint32_t gpu, uint32_t wanted)
{
    const uint32_t links = nodes_class_of(&core->nodes, node)->links;
    uint64_t unused;
    uint32_t count;

    if (links == LINKS_UNKNOWN || nodes_gpu_free_mgpu(&core->nodes, node, gpu) < GPU_MGPU)
        return 1ull << gpu;
    unused = unused_gpus(core, node, need, taken);
    count = mask_popcount(unused);
    return subset_choose(&core->subsets, &core->nodes.links, links, unused,
                         wanted < count ? wanted : count);
}

uint64_t fit_gpus(struct core *core, uint32_t node, const struct shape *shape,
                  const struct need *need, uint32_t slot)
{
    uint64_t taken = 0;

    if (shape->gpus == 1 && need->mgpu < GPU_MGPU && slot != SLOT_FULLEST) {
        const size_t at = (size_t)core->nodes.rows[node].state * core->index.stride + slot;
        const uint32_t gpu = gpu_with(core, node, core->index.gpu_mgpu[at],
                                      core->index.gpu_bytes[at], core->index.gpu_company[at]);

        return wired(core, node, need, 0, gpu, 1);
    }
    for (uint32_t count = 0; count < shape->gpus; count = mask_popcount(taken)) {
        const uint32_t gpu = gpu_by_left(core, node, need, taken, slot == FIT_MOST_LEFT);

        taken |= wired(core, node, need, taken, gpu, shape->gpus - count);
    }
    return taken;
}
