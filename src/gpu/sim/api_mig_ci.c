/* SPDX-License-Identifier: Apache-2.0 */
/* api_mig_ci.c - the simulated library: compute instances, within a GPU instance. */
#include <stdio.h>
#include <string.h>

#include "gpu/sim/call.h"

static const struct mig_table_row *row_of(const struct call *call)
{
    return &call->model->mig->rows[call->it->gis[call->gi_id].profile];
}

/* The profile with this index, which is its id. An index that no library has ends a walk. */
static nvml_return find_profile(const struct call *call, uint32_t index,
                                struct nvml_ci_profile *out)
{
    const struct mig_table_row *row = row_of(call);
    uint32_t most;

    if (index >= NVML_CI_PROFILES)
        return NVML_INVALID_ARGUMENT;
    most = model_ci_count_max(row, index);
    if (most == 0)
        return NVML_NOT_SUPPORTED;
    *out = (struct nvml_ci_profile){.id = index,
                                    .slices = model_ci_profile(index)->slices,
                                    .instances = most,
                                    .sm_count = row->sm_count,
                                    .copy_engines = row->copy_engines,
                                    .decoders = row->decoders,
                                    .jpegs = row->jpegs,
                                    .ofas = row->ofas};
    if (out->slices < row->slices)
        out->sm_count = out->slices * call->model->mig->sm_per_slice;
    return NVML_SUCCESS;
}

nvml_return nvmlGpuInstanceGetComputeInstanceProfileInfo(nvml_gi gi, unsigned index,
                                                         unsigned engines,
                                                         struct nvml_ci_profile *out)
{
    struct call call;
    nvml_return rc = call_gi(&call, __func__, gi);

    if (rc == NVML_SUCCESS && (out == NULL || engines != 0))
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS)
        rc = find_profile(&call, index, out);
    return call_end(&call, rc);
}

nvml_return nvmlGpuInstanceGetComputeInstanceProfileInfoV(nvml_gi gi, unsigned index,
                                                          unsigned engines,
                                                          struct nvml_ci_profile_v2 *out)
{
    struct call call;
    struct nvml_ci_profile profile = {0};
    nvml_return rc = call_gi(&call, __func__, gi);

    if (rc == NVML_SUCCESS && (out == NULL || engines != 0))
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS && out->version != NVML_VERSION_OF(struct nvml_ci_profile_v2, 2u))
        rc = NVML_BAD_VERSION;
    if (rc == NVML_SUCCESS)
        rc = find_profile(&call, index, &profile);
    if (rc == NVML_SUCCESS) {
        memcpy(&out->id, &profile, sizeof profile);
        if (profile.slices == row_of(&call)->slices)
            snprintf(out->name, sizeof out->name, "MIG %s", row_of(&call)->name);
        else
            snprintf(out->name, sizeof out->name, "MIG %uc.%s", profile.slices,
                     row_of(&call)->name);
    }
    return call_end(&call, rc);
}

nvml_return nvmlGpuInstanceGetComputeInstancePossiblePlacements(nvml_gi gi, unsigned profile_id,
                                                                struct nvml_placement *out,
                                                                unsigned *count)
{
    struct call call;
    struct nvml_ci_profile profile = {0};
    nvml_return rc = call_gi(&call, __func__, gi);

    if (rc == NVML_SUCCESS && count == NULL)
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS)
        rc = find_profile(&call, profile_id, &profile);
    if (rc == NVML_SUCCESS && out != NULL && *count < profile.instances)
        rc = NVML_INSUFFICIENT_SIZE;
    for (uint32_t i = 0; rc == NVML_SUCCESS && out != NULL && i < profile.instances; i++)
        out[i] = (struct nvml_placement){i * profile.slices, profile.slices};
    if (rc == NVML_SUCCESS || rc == NVML_INSUFFICIENT_SIZE)
        *count = profile.instances;
    return call_end(&call, rc);
}

nvml_return nvmlGpuInstanceGetComputeInstanceRemainingCapacity(nvml_gi gi, unsigned profile_id,
                                                               unsigned *count)
{
    struct call call;
    nvml_return rc = call_gi(&call, __func__, gi);

    if (rc == NVML_SUCCESS && (count == NULL || profile_id >= NVML_CI_PROFILES))
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS)
        *count = instance_ci_capacity(call.it, call.gi_id, profile_id);
    return call_end(&call, rc);
}

static nvml_return create(const char *function, nvml_gi gi, uint32_t profile_id, uint32_t start,
                          nvml_ci *out)
{
    struct call call;
    uint32_t id = 0;
    nvml_return rc = call_gi(&call, function, gi);

    if (rc == NVML_SUCCESS)
        rc = call_may_change(&call);
    if (rc == NVML_SUCCESS && out == NULL)
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS)
        rc = instance_create_ci(call_write(&call), call.gpu, call.gi_id, profile_id, start, &id);
    if (rc == NVML_SUCCESS)
        *out = call_ci_handle(call.gpu, call.gi_id, id);
    return call_end(&call, rc);
}

nvml_return nvmlGpuInstanceCreateComputeInstance(nvml_gi gi, unsigned profile_id, nvml_ci *out)
{
    return create(__func__, gi, profile_id, NVML_NO_ID, out);
}

nvml_return nvmlGpuInstanceCreateComputeInstanceWithPlacement(
    nvml_gi gi, unsigned profile_id, const struct nvml_placement *placement, nvml_ci *out)
{
    if (placement == NULL)
        return NVML_INVALID_ARGUMENT;
    return create(__func__, gi, profile_id, placement->start, out);
}

nvml_return nvmlComputeInstanceDestroy(nvml_ci ci)
{
    struct call call;
    nvml_return rc = call_ci(&call, __func__, ci);

    if (rc == NVML_SUCCESS)
        rc = call_may_change(&call);
    if (rc == NVML_SUCCESS)
        rc = instance_destroy_ci(call_write(&call), call.gpu, call.gi_id, call.ci_id);
    return call_end(&call, rc);
}

nvml_return nvmlGpuInstanceGetComputeInstances(nvml_gi gi, unsigned profile_id, nvml_ci *out,
                                               unsigned *count)
{
    struct call call;
    unsigned there = 0;
    nvml_return rc = call_gi(&call, __func__, gi);

    if (rc == NVML_SUCCESS && (out == NULL || count == NULL || profile_id >= NVML_CI_PROFILES))
        rc = NVML_INVALID_ARGUMENT;
    for (uint32_t id = 0; rc == NVML_SUCCESS && id < SIM_CI_IDS; id++) {
        const struct sim_ci *ci = &call.it->gis[call.gi_id].cis[id];

        if (ci->used && ci->profile == profile_id)
            out[there++] = call_ci_handle(call.gpu, call.gi_id, id);
    }
    if (rc == NVML_SUCCESS)
        *count = there;
    return call_end(&call, rc);
}

nvml_return nvmlGpuInstanceGetComputeInstanceById(nvml_gi gi, unsigned id, nvml_ci *out)
{
    struct call call;
    nvml_return rc = call_gi(&call, __func__, gi);

    if (rc == NVML_SUCCESS && out == NULL)
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS && (id >= SIM_CI_IDS || !call.it->gis[call.gi_id].cis[id].used))
        rc = NVML_NOT_FOUND;
    if (rc == NVML_SUCCESS)
        *out = call_ci_handle(call.gpu, call.gi_id, id);
    return call_end(&call, rc);
}

nvml_return nvmlComputeInstanceGetInfo_v2(nvml_ci ci, struct nvml_ci *out)
{
    struct call call;
    nvml_return rc = call_ci(&call, __func__, ci);

    if (rc == NVML_SUCCESS && out == NULL)
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS) {
        const struct sim_ci *it = &call.it->gis[call.gi_id].cis[call.ci_id];

        *out = (struct nvml_ci){.device = call_gpu_handle(call.gpu),
                                .gi = call_gi_handle(call.gpu, call.gi_id),
                                .id = call.ci_id,
                                .profile_id = it->profile,
                                .placement = {it->start, it->size}};
    }
    return call_end(&call, rc);
}

/* The older one has no placement, and is alike before it. */
nvml_return nvmlComputeInstanceGetInfo(nvml_ci ci, struct nvml_ci *out)
{
    struct nvml_ci info;
    nvml_return rc = nvmlComputeInstanceGetInfo_v2(ci, &info);

    if (rc == NVML_SUCCESS && out != NULL)
        memcpy(out, &info, offsetof(struct nvml_ci, placement));
    return rc;
}
