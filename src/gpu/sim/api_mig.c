/* SPDX-License-Identifier: Apache-2.0 */
/* api_mig.c - the simulated library: MIG mode, MIG devices and GPU instances. */
#include <stdio.h>
#include <string.h>

#include "gpu/sim/call.h"

/* A function of a GPU that has MIG; many answer only in MIG mode. */
static nvml_return begin(struct call *call, const char *function, nvml_device device)
{
    nvml_return rc = call_device(call, function, device, CALL_GPU);

    if (rc == NVML_SUCCESS && call->model->mig == NULL)
        return call_end(call, NVML_NOT_SUPPORTED);
    return rc;
}

static nvml_return begin_in_mig(struct call *call, const char *function, nvml_device device)
{
    nvml_return rc = begin(call, function, device);

    if (rc == NVML_SUCCESS && !call->it->mig_mode)
        return call_end(call, NVML_NOT_SUPPORTED);
    return rc;
}

nvml_return nvmlDeviceGetMigMode(nvml_device device, unsigned *current, unsigned *pending)
{
    struct call call;
    nvml_return rc = begin(&call, __func__, device);

    if (rc != NVML_SUCCESS)
        return rc;
    if (current == NULL || pending == NULL)
        return call_end(&call, NVML_INVALID_ARGUMENT);
    *current = call.it->mig_mode;
    *pending = call.it->mig_pending;
    return call_end(&call, NVML_SUCCESS);
}

static bool has_instances(const struct sim_gpu *gpu)
{
    for (uint32_t i = 0; i < SIM_GI_IDS; i++)
        if (gpu->gis[i].used)
            return true;
    return false;
}

/* What becomes of the change: Ampere needs a reset, which is made at once on a GPU nobody uses. */
static nvml_return set_mode(struct call *call, uint32_t mode)
{
    struct sim_machine *machine = call_write(call);
    struct sim_gpu *gpu = &machine->gpus[call->gpu];

    machine_prune(machine);
    if (machine_is_used(machine, call->gpu, NVML_NO_ID, NVML_NO_ID) || has_instances(gpu))
        return NVML_IN_USE;
    gpu->mig_mode = gpu->mig_pending = mode;
    return NVML_SUCCESS;
}

nvml_return nvmlDeviceSetMigMode(nvml_device device, unsigned mode, nvml_return *status)
{
    struct call call;
    nvml_return rc = begin(&call, __func__, device);

    if (rc != NVML_SUCCESS)
        return rc;
    rc = call_may_change(&call);
    if (rc == NVML_SUCCESS && (status == NULL || mode > 1))
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS)
        *status = set_mode(&call, mode);
    return call_end(&call, rc);
}

nvml_return nvmlDeviceIsMigDeviceHandle(nvml_device device, unsigned *is)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, device, CALL_ANY);

    if (rc == NVML_SUCCESS && is == NULL)
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS)
        *is = call.gi_id != NVML_NO_ID;
    return call_end(&call, rc);
}

nvml_return nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvml_device device, nvml_device *out)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, device, CALL_MIG);

    if (rc == NVML_SUCCESS && out == NULL)
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS)
        *out = call_gpu_handle(call.gpu);
    return call_end(&call, rc);
}

nvml_return nvmlDeviceGetMaxMigDeviceCount(nvml_device device, unsigned *count)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, device, CALL_GPU);

    if (rc == NVML_SUCCESS && count == NULL)
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS)
        *count = call.model->mig != NULL ? call.model->mig->slices : 0;
    return call_end(&call, rc);
}

nvml_return nvmlDeviceGetMigDeviceHandleByIndex(nvml_device device, unsigned index,
                                                nvml_device *out)
{
    struct call call;
    uint32_t gi_id, ci_id;
    nvml_return rc = begin(&call, __func__, device);

    if (rc != NVML_SUCCESS)
        return rc;
    if (out == NULL || index >= call.model->mig->slices)
        rc = NVML_INVALID_ARGUMENT;
    else if (!instance_at_mig_index(call.it, index, &gi_id, &ci_id))
        rc = NVML_NOT_FOUND;
    else
        *out = call_mig_handle(call.gpu, gi_id, ci_id);
    return call_end(&call, rc);
}

static nvml_return get_id(const char *function, nvml_device device, unsigned *id, bool of_ci)
{
    struct call call;
    nvml_return rc = call_device(&call, function, device, CALL_MIG);

    if (rc == NVML_SUCCESS && id == NULL)
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS)
        *id = of_ci ? call.ci_id : call.gi_id;
    return call_end(&call, rc);
}

nvml_return nvmlDeviceGetGpuInstanceId(nvml_device device, unsigned *id)
{
    return get_id(__func__, device, id, false);
}

nvml_return nvmlDeviceGetComputeInstanceId(nvml_device device, unsigned *id)
{
    return get_id(__func__, device, id, true);
}

nvml_return nvmlDeviceGetAttributes_v2(nvml_device device, struct nvml_attributes *out)
{
    struct call call;
    const struct mig_table_row *row;
    const struct sim_gi *gi;
    nvml_return rc = call_device(&call, __func__, device, CALL_MIG);

    if (rc != NVML_SUCCESS)
        return rc;
    if (out == NULL)
        return call_end(&call, NVML_INVALID_ARGUMENT);
    gi = &call.it->gis[call.gi_id];
    row = &call.model->mig->rows[gi->profile];
    *out = (struct nvml_attributes){.sm_count =
                                        instance_sm_count(call.model, gi, &gi->cis[call.ci_id]),
                                    .copy_engines = row->copy_engines,
                                    .decoders = row->decoders,
                                    .jpegs = row->jpegs,
                                    .ofas = row->ofas,
                                    .gi_slices = row->slices,
                                    .ci_slices = gi->cis[call.ci_id].size,
                                    .memory_mib = row->memory_mib};
    return call_end(&call, NVML_SUCCESS);
}

/* The row of the model's table at an index of NVML. */
static nvml_return find_profile(const struct call *call, uint32_t index,
                                const struct mig_table_row **out)
{
    if (index >= NVML_GI_PROFILES)
        return NVML_INVALID_ARGUMENT;
    for (uint32_t i = 0; i < call->model->mig->count; i++)
        if (call->model->mig->rows[i].index == index) {
            *out = &call->model->mig->rows[i];
            return NVML_SUCCESS;
        }
    return NVML_NOT_SUPPORTED;
}

static struct nvml_gi_profile profile_of(const struct mig_table_row *row)
{
    return (struct nvml_gi_profile){.id = row->id,
                                    .slices = row->slices,
                                    .instances = row->instances_max,
                                    .sm_count = row->sm_count,
                                    .copy_engines = row->copy_engines,
                                    .decoders = row->decoders,
                                    .jpegs = row->jpegs,
                                    .ofas = row->ofas,
                                    .memory_mib = row->memory_mib};
}

nvml_return nvmlDeviceGetGpuInstanceProfileInfo(nvml_device device, unsigned index,
                                                struct nvml_gi_profile *out)
{
    struct call call;
    const struct mig_table_row *row = NULL;
    nvml_return rc = begin(&call, __func__, device);

    if (rc != NVML_SUCCESS)
        return rc;
    rc = out == NULL ? NVML_INVALID_ARGUMENT : find_profile(&call, index, &row);
    if (rc == NVML_SUCCESS)
        *out = profile_of(row);
    return call_end(&call, rc);
}

static void put_v3(struct nvml_gi_profile_v3 *out, const struct nvml_gi_profile *profile)
{
    out->id = profile->id;
    out->slices = profile->slices;
    out->instances = profile->instances;
    out->sm_count = profile->sm_count;
    out->copy_engines = profile->copy_engines;
    out->decoders = profile->decoders;
    out->encoders = profile->encoders;
    out->jpegs = profile->jpegs;
    out->ofas = profile->ofas;
    out->memory_mib = profile->memory_mib;
    out->capabilities = 0;
}

static void put_v2(struct nvml_gi_profile_v2 *out, const struct nvml_gi_profile *profile)
{
    memcpy(&out->id, profile, offsetof(struct nvml_gi_profile, memory_mib));
    out->memory_mib = profile->memory_mib;
}

/* The two versions are of one size, and only the version word tells which is meant. */
static nvml_return put_profile(const struct mig_table_row *row, struct nvml_gi_profile_v2 *out)
{
    const struct nvml_gi_profile profile = profile_of(row);
    struct nvml_gi_profile_v3 third = {.version = out->version};

    if (out->version == NVML_VERSION_OF(struct nvml_gi_profile_v2, 2u)) {
        put_v2(out, &profile);
        snprintf(out->name, sizeof out->name, "MIG %s", row->name);
        return NVML_SUCCESS;
    }
    if (out->version != NVML_VERSION_OF(struct nvml_gi_profile_v3, 3u))
        return NVML_BAD_VERSION;
    put_v3(&third, &profile);
    snprintf(third.name, sizeof third.name, "MIG %s", row->name);
    memcpy(out, &third, sizeof third);
    return NVML_SUCCESS;
}

nvml_return nvmlDeviceGetGpuInstanceProfileInfoV(nvml_device device, unsigned index,
                                                 struct nvml_gi_profile_v2 *out)
{
    struct call call;
    const struct mig_table_row *row = NULL;
    nvml_return rc = begin(&call, __func__, device);

    if (rc != NVML_SUCCESS)
        return rc;
    rc = out == NULL ? NVML_INVALID_ARGUMENT : find_profile(&call, index, &row);
    if (rc == NVML_SUCCESS)
        rc = put_profile(row, out);
    return call_end(&call, rc);
}

/* Locks and finds a profile by id. */
static nvml_return begin_profile(struct call *call, const char *function, nvml_device device,
                                 uint32_t id, const struct mig_table_row **out)
{
    nvml_return rc = begin(call, function, device);

    if (rc != NVML_SUCCESS)
        return rc;
    *out = model_profile_by_id(call->model, id);
    return *out != NULL ? NVML_SUCCESS : call_end(call, NVML_INVALID_ARGUMENT);
}

nvml_return nvmlDeviceGetGpuInstanceProfileInfoByIdV(nvml_device device, unsigned id,
                                                     struct nvml_gi_profile_v2 *out)
{
    struct call call;
    const struct mig_table_row *row = NULL;
    nvml_return rc = begin_profile(&call, __func__, device, id, &row);

    if (rc == NVML_SUCCESS)
        rc = out == NULL ? NVML_INVALID_ARGUMENT : put_profile(row, out);
    return call_end(&call, rc);
}

nvml_return nvmlDeviceGetGpuInstancePossiblePlacements_v2(nvml_device device, unsigned profile_id,
                                                          struct nvml_placement *out,
                                                          unsigned *count)
{
    struct call call;
    const struct mig_table_row *row = NULL;
    nvml_return rc = begin_profile(&call, __func__, device, profile_id, &row);

    if (rc != NVML_SUCCESS)
        return rc;
    if (count == NULL)
        return call_end(&call, NVML_INVALID_ARGUMENT);
    if (out != NULL && *count < row->start_count)
        rc = NVML_INSUFFICIENT_SIZE;
    for (uint32_t i = 0; rc == NVML_SUCCESS && out != NULL && i < row->start_count; i++)
        out[i] = (struct nvml_placement){row->starts[i], row->memory_slices};
    *count = row->start_count;
    return call_end(&call, rc);
}

nvml_return nvmlDeviceGetGpuInstancePossiblePlacements(nvml_device device, unsigned profile_id,
                                                       struct nvml_placement *out, unsigned *count)
{
    return nvmlDeviceGetGpuInstancePossiblePlacements_v2(device, profile_id, out, count);
}

nvml_return nvmlDeviceGetGpuInstanceRemainingCapacity(nvml_device device, unsigned profile_id,
                                                      unsigned *count)
{
    struct call call;
    const struct mig_table_row *row = NULL;
    nvml_return rc = begin_profile(&call, __func__, device, profile_id, &row);

    if (rc == NVML_SUCCESS && !call.it->mig_mode)
        rc = NVML_NOT_SUPPORTED;
    if (rc == NVML_SUCCESS && count == NULL)
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS)
        *count = instance_capacity(call.machine, call.gpu, row);
    return call_end(&call, rc);
}

static nvml_return create(const char *function, nvml_device device, uint32_t profile_id,
                          const struct nvml_placement *placement, nvml_gi *out)
{
    struct call call;
    uint32_t id = 0, start = NVML_NO_ID;
    nvml_return rc = begin_in_mig(&call, function, device);

    if (rc != NVML_SUCCESS)
        return rc;
    rc = call_may_change(&call);
    if (rc == NVML_SUCCESS && out == NULL)
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS && placement != NULL) {
        const struct mig_table_row *row = model_profile_by_id(call.model, profile_id);

        start = placement->start;
        if (row == NULL || placement->size != row->memory_slices)
            rc = NVML_INVALID_ARGUMENT;
    }
    if (rc == NVML_SUCCESS)
        rc = instance_create(call_write(&call), call.gpu, profile_id, start, &id);
    if (rc == NVML_SUCCESS)
        *out = call_gi_handle(call.gpu, id);
    return call_end(&call, rc);
}

nvml_return nvmlDeviceCreateGpuInstance(nvml_device device, unsigned profile_id, nvml_gi *out)
{
    return create(__func__, device, profile_id, NULL, out);
}

nvml_return nvmlDeviceCreateGpuInstanceWithPlacement(nvml_device device, unsigned profile_id,
                                                     const struct nvml_placement *placement,
                                                     nvml_gi *out)
{
    if (placement == NULL)
        return NVML_INVALID_ARGUMENT;
    return create(__func__, device, profile_id, placement, out);
}

nvml_return nvmlGpuInstanceDestroy(nvml_gi gi)
{
    struct call call;
    nvml_return rc = call_gi(&call, __func__, gi);

    if (rc == NVML_SUCCESS)
        rc = call_may_change(&call);
    if (rc == NVML_SUCCESS)
        rc = instance_destroy(call_write(&call), call.gpu, call.gi_id);
    return call_end(&call, rc);
}

nvml_return nvmlDeviceGetGpuInstances(nvml_device device, unsigned profile_id, nvml_gi *out,
                                      unsigned *count)
{
    struct call call;
    const struct mig_table_row *row;
    unsigned there = 0;
    nvml_return rc = begin_in_mig(&call, __func__, device);

    if (rc != NVML_SUCCESS)
        return rc;
    rc = call_may_change(&call);
    row = model_profile_by_id(call.model, profile_id);
    if (rc == NVML_SUCCESS && (row == NULL || count == NULL || out == NULL))
        rc = NVML_INVALID_ARGUMENT;
    for (uint32_t id = 0; rc == NVML_SUCCESS && id < SIM_GI_IDS; id++) {
        const struct sim_gi *gi = &call.it->gis[id];

        if (gi->used && &call.model->mig->rows[gi->profile] == row)
            out[there++] = call_gi_handle(call.gpu, id); /* the caller has room for all */
    }
    if (rc == NVML_SUCCESS)
        *count = there;
    return call_end(&call, rc);
}

nvml_return nvmlDeviceGetGpuInstanceById(nvml_device device, unsigned id, nvml_gi *out)
{
    struct call call;
    nvml_return rc = begin_in_mig(&call, __func__, device);

    if (rc != NVML_SUCCESS)
        return rc;
    rc = call_may_change(&call);
    if (rc == NVML_SUCCESS && out == NULL)
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS && (id >= SIM_GI_IDS || !call.it->gis[id].used))
        rc = NVML_NOT_FOUND;
    if (rc == NVML_SUCCESS)
        *out = call_gi_handle(call.gpu, id);
    return call_end(&call, rc);
}

nvml_return nvmlGpuInstanceGetInfo(nvml_gi gi, struct nvml_gi *out)
{
    struct call call;
    nvml_return rc = call_gi(&call, __func__, gi);

    if (rc == NVML_SUCCESS && out == NULL)
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS) {
        const struct sim_gi *it = &call.it->gis[call.gi_id];

        *out = (struct nvml_gi){.device = call_gpu_handle(call.gpu),
                                .id = call.gi_id,
                                .profile_id = call.model->mig->rows[it->profile].id,
                                .placement = {it->start, it->size}};
    }
    return call_end(&call, rc);
}
