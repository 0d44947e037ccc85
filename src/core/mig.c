/* SPDX-License-Identifier: Apache-2.0 */
/* mig.c - legal splits of a GPU. */
#include "core/mig.h"

#include "base/bits.h"
#include "base/check.h"

uint16_t mig_gpu_used(const struct mig_type *type, const struct mig_gpu *gpu)
{
    uint16_t used = gpu->blocked;

    for (uint32_t start = 0; start < type->memory_slices; start++) {
        const uint32_t profile = mig_gpu_at(gpu, start);

        if (profile != MIG_NONE)
            used |= mig_slices(&type->profiles[profile], start);
    }
    return used;
}

void mig_gpu_counts(const struct mig_type *type, const struct mig_gpu *gpu,
                    uint8_t counts[MIG_PROFILES_MAX])
{
    for (uint32_t profile = 0; profile < MIG_PROFILES_MAX; profile++)
        counts[profile] = 0;
    for (uint32_t start = 0; start < type->memory_slices; start++) {
        const uint32_t profile = mig_gpu_at(gpu, start);

        if (profile != MIG_NONE)
            counts[profile]++;
    }
}

/* How often need goes into what is left of limit, at most most. */
static uint32_t goes_into(uint32_t limit, uint32_t used, uint32_t need, uint32_t most)
{
    const uint32_t left = limit > used ? limit - used : 0;

    return need > 0 && left / need < most ? left / need : most;
}

uint32_t mig_gpu_allowance(const struct mig_type *type, const struct mig_gpu *gpu, uint32_t profile)
{
    const struct mig_profile *wanted = &type->profiles[profile];
    uint32_t compute = 0, same = 0, engines[MIG_ENGINES] = {0}, most;

    for (uint32_t start = 0; start < type->memory_slices; start++) {
        const uint32_t there = mig_gpu_at(gpu, start);

        if (there == MIG_NONE)
            continue;
        same += there == profile;
        compute += type->profiles[there].compute_slices;
        for (uint32_t e = 0; e < MIG_ENGINES; e++)
            engines[e] += type->profiles[there].engines[e];
    }
    most = goes_into(wanted->max_instances, same, 1, MIG_COPIES_MAX);
    most = goes_into(type->compute_slices, compute, wanted->compute_slices, most);
    for (uint32_t e = 0; e < MIG_ENGINES; e++)
        if (type->engines[e] != MIG_NO_LIMIT)
            most = goes_into(type->engines[e], engines[e], wanted->engines[e], most);
    return most;
}

/* Starts of the profile at which none of its slices is used. */
static uint16_t free_starts(const struct mig_profile *profile, uint16_t used)
{
    uint16_t starts = 0;

    for (uint64_t m = profile->starts; m != 0; m = mask_drop_lowest(m)) {
        const uint32_t start = mask_lowest(m);

        if ((mig_slices(profile, start) & used) == 0)
            starts |= (uint16_t)(1u << start);
    }
    return starts;
}

uint16_t mig_gpu_starts(const struct mig_type *type, const struct mig_gpu *gpu, uint32_t profile)
{
    check(profile < type->profile_count);
    if (mig_gpu_allowance(type, gpu, profile) == 0)
        return 0;
    return free_starts(&type->profiles[profile], mig_gpu_used(type, gpu));
}

/* Slices of equal size: taking the lowest start that is left, again and again, takes the most. */
uint32_t mig_gpu_fits(const struct mig_type *type, const struct mig_gpu *gpu, uint32_t profile)
{
    const struct mig_profile *wanted = &type->profiles[profile];
    const uint32_t most = mig_gpu_allowance(type, gpu, profile);
    uint16_t used = mig_gpu_used(type, gpu);
    uint32_t count = 0;

    for (uint64_t m = wanted->starts; m != 0 && count < most; m = mask_drop_lowest(m)) {
        const uint16_t slices = mig_slices(wanted, mask_lowest(m));

        if ((slices & used) != 0)
            continue;
        used |= slices;
        count++;
    }
    return count;
}

void mig_gpu_add(const struct mig_type *type, struct mig_gpu *gpu, uint32_t profile, uint32_t start)
{
    check(start < type->memory_slices);
    check((mig_gpu_starts(type, gpu, profile) >> start & 1) != 0);
    gpu->layout = mig_layout_with(gpu->layout, profile, start);
}

void mig_gpu_remove(struct mig_gpu *gpu, uint32_t start)
{
    check(start < MIG_SLICES_MAX && mig_gpu_at(gpu, start) != MIG_NONE);
    gpu->layout &= ~(UINT64_C(15) << (4 * start));
}

bool mig_gpu_valid(const struct mig_type *type, const struct mig_gpu *gpu)
{
    struct mig_gpu built = {.blocked = gpu->blocked};

    if (gpu->layout >> (4 * type->memory_slices) != 0 || gpu->blocked >> type->memory_slices != 0)
        return false;
    for (uint32_t start = 0; start < type->memory_slices; start++) {
        const uint32_t profile = mig_gpu_at(gpu, start);

        if (profile == MIG_NONE)
            continue;
        if (profile >= type->profile_count ||
            (mig_gpu_starts(type, &built, profile) >> start & 1) == 0)
            return false;
        built.layout = mig_layout_with(built.layout, profile, start);
    }
    return true;
}
