/* SPDX-License-Identifier: Apache-2.0 */
/* search.c - room for a gang of different tasks, by trying. */
#include "core/search.h"

#include "core/fit.h"
#include "core/impl.h"

struct search {
    struct core *core;
    const uint32_t *shapes, *tasks, *first_task;
    uint32_t group_count;
    uint32_t tries_left;
};

static bool place_from(struct search *s, uint32_t group, uint32_t task);

static bool place_next(struct search *s, uint32_t group, uint32_t task)
{
    if (task + 1 < s->tasks[group])
        return place_from(s, group, task + 1);
    return group + 1 == s->group_count || place_from(s, group + 1, 0);
}

static bool try_place(struct search *s, uint32_t group, uint32_t task, uint32_t node,
                      uint64_t gpu_mask)
{
    const uint32_t mark = trial_mark(&s->core->trial);

    s->tries_left--;
    trial_take(s->core, node, s->shapes[group], gpu_mask, s->first_task[group] + task);
    if (place_next(s, group, task))
        return true;
    trial_undo(s->core, mark);
    return false;
}

static bool gpu_fits(const struct search *s, uint32_t node, uint32_t gpu, const struct need *need)
{
    return nodes_gpu_has(&s->core->nodes, node, gpu, need);
}

/* GPUs with equal amounts left are alike, so of such the lowest are taken first. */
static bool has_twin_below(const struct search *s, uint32_t node, uint32_t gpu, uint64_t taken)
{
    const struct nodes *n = &s->core->nodes;

    for (uint32_t i = 0; i < gpu; i++)
        if (!(taken >> i & 1) &&
            nodes_gpu_free_mgpu(n, node, i) == nodes_gpu_free_mgpu(n, node, gpu) &&
            nodes_gpu_free_bytes(n, node, i) == nodes_gpu_free_bytes(n, node, gpu) &&
            nodes_gpu_company(n, node, i) == nodes_gpu_company(n, node, gpu))
            return true;
    return false;
}

/* Shares of several GPUs each: every set of fitting GPUs that differs in what is left on them. */
static bool try_spread(struct search *s, uint32_t group, uint32_t task, uint32_t node,
                       const struct need *need, uint64_t taken)
{
    const uint32_t wanted = s->core->shapes.shapes[s->shapes[group]].gpus;
    const uint32_t gpus = nodes_class_of(&s->core->nodes, node)->gpu_count;
    uint32_t gpu = taken != 0 ? 64 - (uint32_t)__builtin_clzll(taken) : 0;

    if ((uint32_t)__builtin_popcountll(taken) == wanted)
        return try_place(s, group, task, node, fit_rewired(s->core, node, need, taken));
    for (; gpu < gpus && s->tries_left > 0; gpu++)
        if (gpu_fits(s, node, gpu, need) && !has_twin_below(s, node, gpu, taken) &&
            try_spread(s, group, task, node, need, taken | 1ull << gpu))
            return true;
    return false;
}

/* A share may go to any GPU with a different amount free; whole GPUs are one choice a node. */
static bool try_node(struct search *s, uint32_t group, uint32_t task, uint32_t node)
{
    struct core *core = s->core;
    const struct shape *shape = &core->shapes.shapes[s->shapes[group]];
    const uint32_t class_id = core->nodes.rows[node].class_id;
    uint64_t tried = 0;
    struct need need;

    fit_ever(core, s->shapes[group], class_id, &need);
    if (shape->gpus == 0 || need.mgpu == GPU_MGPU)
        return try_place(s, group, task, node, fit_gpus(core, node, shape, &need, SLOT_FULLEST));
    if (shape->gpus > 1)
        return try_spread(s, group, task, node, &need, 0);
    for (uint32_t slot = 0; slot < core->nodes.classes[class_id].gpu_count; slot++) {
        const size_t at = (size_t)core->nodes.rows[node].state * core->index.stride + slot;
        uint64_t mask;

        if (core->index.gpu_mgpu[at] < need.mgpu || core->index.gpu_bytes[at] < need.memory_bytes ||
            !company_admits(core->index.gpu_mgpu[at], core->index.gpu_company[at], &need))
            continue;
        mask = fit_gpus(core, node, shape, &need, slot);
        if (tried & mask)
            continue;
        tried |= mask;
        if (s->tries_left > 0 && try_place(s, group, task, node, mask))
            return true;
    }
    return false;
}

/* Nodes of one state are alike, so only the first node of each state is tried. Every failed try
 * is undone before the next node is looked at, so the walk sees one unchanging cluster. */
static bool place_from(struct search *s, uint32_t group, uint32_t task)
{
    struct core *core = s->core;
    struct need need;

    for (uint32_t node = 0; node < core->nodes.count && s->tries_left > 0; node++) {
        const struct node *row = &core->nodes.rows[node];

        if (!row->in_use || row->state == ROW_NONE ||
            core->index.rows[row->state].first_node != node ||
            !fit_now(core, s->shapes[group], row->state, &need))
            continue;
        if (try_node(s, group, task, node))
            return true;
    }
    return false;
}

bool search_layout(struct core *core, const uint32_t *shapes, const uint32_t *tasks,
                   const uint32_t *first_task, uint32_t group_count)
{
    struct search s = {core, shapes, tasks, first_task, group_count, SEARCH_TRIES};
    uint32_t total = 0;

    for (uint32_t g = 0; g < group_count; g++)
        total += tasks[g];
    return total <= SEARCH_TASKS_MAX && place_from(&s, 0, 0);
}
