/* SPDX-License-Identifier: Apache-2.0 */
/* node.c - what a request means on a class of nodes. */
#include "core/node.h"

#include "base/bits.h"

static uint32_t share_of_bytes(int64_t bytes, int64_t gpu_memory_bytes)
{
    __extension__ typedef __int128 wide;
    int64_t mgpu = (int64_t)((wide)GPU_MGPU * bytes / gpu_memory_bytes);

    return mgpu < 1 ? 1 : (uint32_t)mgpu;
}

static int64_t bytes_of_share(uint32_t mgpu, int64_t gpu_memory_bytes)
{
    return gpu_memory_bytes / GPU_MGPU * mgpu + gpu_memory_bytes % GPU_MGPU * mgpu / GPU_MGPU;
}

/* A part of a GPU, where it is shared. False: it is not, or the part is too large for that. */
static bool part_on(const struct shape *shape, const struct node_class *class, struct need *out)
{
    const uint32_t modes = shape_modes(shape) & class->modes;
    const bool mps = (modes & MODE_BIT(GPU_MPS)) && shape->trust != 0;
    const int64_t memory = class->gpu_memory_bytes;

    if (shape->gpu_memory_bytes > 0)
        out->memory_bytes += class->context_bytes;
    if ((!mps && !(modes & MODE_BIT(GPU_TIMESLICE))) || out->memory_bytes > memory)
        return false;
    if (out->mgpu == 0)
        out->mgpu = share_of_bytes(out->memory_bytes, memory);
    if (out->mgpu == GPU_MGPU)
        return false;
    if (out->memory_bytes == 0)
        out->memory_bytes = bytes_of_share(out->mgpu, memory);
    if (class->compute_factor > 1000)
        out->mgpu = (out->mgpu * 1000 + class->compute_factor - 1) / class->compute_factor;
    out->mode = mps ? GPU_MPS : GPU_TIMESLICE;
    out->company = mps              ? COMPANY_MPS + shape->trust
                   : shape->latency ? COMPANY_LATENCY
                                    : COMPANY_TURNS;
    return true;
}

bool need_on(const struct shape *shape, const struct node_class *class, struct need *out)
{
    const int64_t memory = class->gpu_memory_bytes;

    *out = (struct need){shape->gpu_mgpu, shape->gpu_memory_bytes, GPU_EXCLUSIVE, COMPANY_NONE};
    if (shape->gpus == 0)
        return true;
    if (shape->gpus > class->gpu_count || shape->gpu_memory_bytes > memory)
        return false;
    if (shape->gpu_mgpu < GPU_MGPU && part_on(shape, class, out))
        return true;
    out->mgpu = GPU_MGPU;
    out->memory_bytes = memory;
    return (class->modes & MODE_BIT(GPU_EXCLUSIVE)) &&
           (!shape_is_share(shape) || (shape_modes(shape) & MODE_BIT(GPU_EXCLUSIVE)));
}

struct holding holding_on(const struct shape *shape, const struct node_class *class,
                          const struct need *need, uint64_t gpu_mask)
{
    if (!shape->exclusive)
        return (struct holding){shape->cpu_mcpu, shape->memory_bytes, gpu_mask, *need};
    return (struct holding){
        .mcpu = class->cpu_mcpu,
        .memory_bytes = class->memory_bytes,
        .gpus = mask_first(class->gpu_count),
        .need = {GPU_MGPU, class->gpu_memory_bytes, GPU_EXCLUSIVE, COMPANY_NONE},
    };
}

static bool has_term(const uint32_t *terms, uint32_t count, uint32_t term)
{
    for (uint32_t i = 0; i < count; i++)
        if (terms[i] == term)
            return true;
    return false;
}

bool selector_admits(const struct selector *selector, const struct node_class *class)
{
    if (selector->model_count > 0 &&
        !has_term(selector->models, selector->model_count, class->model))
        return false;
    for (uint32_t i = 0; i < selector->label_count; i++)
        if (!has_term(class->labels, class->label_count, selector->labels[i]))
            return false;
    return true;
}
