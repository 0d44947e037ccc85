/* SPDX-License-Identifier: Apache-2.0 */
/* mig.c - MIG: a GPU in instances. */
#include "gpu/mig.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

enum { INSTANCES_OF_PROFILE_MAX = 16 };

static int failed(nvml_return rc, struct device *device, const char *what, struct err *err)
{
    if (rc == NVML_GPU_IS_LOST || rc == NVML_RESET_REQUIRED)
        device_lost(device);
    return nvml_failed(rc, err, "GPU '%s': %s", device->uuid, what);
}

static int not_there(const struct device *device, struct err *err)
{
    return err_set(err, -ENODEV, "GPU '%s': not there", device->uuid);
}

/* The profile at an index, by the newest call there is. NVML_BAD_VERSION comes from libraries that
 * know the call, but not our version of its struct. */
static nvml_return read_profile(const struct nvml *nvml, nvml_device handle, unsigned index,
                                struct mig_profile *out)
{
    struct nvml_gi_profile_v2 named = {.version = NVML_VERSION_OF(struct nvml_gi_profile_v2, 2u)};
    struct nvml_gi_profile plain = {0};
    nvml_return rc = nvml_ask(nvml, nvmlDeviceGetGpuInstanceProfileInfoV, handle, index, &named);

    if (rc == NVML_FUNCTION_NOT_FOUND || rc == NVML_BAD_VERSION) {
        rc = nvml_ask(nvml, nvmlDeviceGetGpuInstanceProfileInfo, handle, index, &plain);
        named.name[0] = '\0';
    } else if (rc == NVML_SUCCESS) {
        plain = (struct nvml_gi_profile){.id = named.id,
                                         .slices = named.slices,
                                         .instances = named.instances,
                                         .sm_count = named.sm_count,
                                         .memory_mib = named.memory_mib};
        named.name[sizeof named.name - 1] = '\0';
    }
    if (rc != NVML_SUCCESS)
        return rc;
    *out = (struct mig_profile){.id = plain.id,
                                .compute_slices = plain.slices,
                                .sm_count = plain.sm_count,
                                .instances_max = plain.instances,
                                .memory_bytes = plain.memory_mib << 20};
    memcpy(out->name, named.name, sizeof out->name);
    return NVML_SUCCESS;
}

static nvml_return read_placements(const struct nvml *nvml, nvml_device handle,
                                   struct mig_profile *profile)
{
    struct nvml_placement places[MIG_PLACEMENTS_MAX] = {0};
    unsigned count = MIG_PLACEMENTS_MAX;
    nvml_return rc = nvml_ask(nvml, nvmlDeviceGetGpuInstancePossiblePlacements_v2, handle,
                              profile->id, places, &count);

    if (rc != NVML_SUCCESS)
        return rc;
    profile->start_count = count < MIG_PLACEMENTS_MAX ? count : MIG_PLACEMENTS_MAX;
    for (uint32_t i = 0; i < profile->start_count; i++)
        profile->starts[i] = places[i].start;
    profile->memory_slices = places[0].size;
    return NVML_SUCCESS;
}

int mig_profiles_read(struct device *device, const struct nvml *nvml, struct mig_profiles *out,
                      struct err *err)
{
    nvml_return rc = NVML_SUCCESS;
    struct mig_profiles found = {0};

    if (device->state != DEVICE_PRESENT)
        return not_there(device, err);
    for (unsigned i = 0; i < MIG_PROFILES_MAX; i++) {
        rc = read_profile(nvml, device->handle, i, &found.items[found.count]);
        if (rc == NVML_INVALID_ARGUMENT || rc == NVML_FUNCTION_NOT_FOUND)
            break; /* no more indexes, or nothing to ask */
        if (rc == NVML_NOT_SUPPORTED)
            continue;
        if (rc == NVML_SUCCESS)
            rc = read_placements(nvml, device->handle, &found.items[found.count]);
        if (rc != NVML_SUCCESS)
            return failed(rc, device, "MIG profiles", err);
        found.count++;
    }
    if (found.count == 0)
        return failed(NVML_NOT_SUPPORTED, device, "MIG profiles", err);
    *out = found;
    return 0;
}

/* The MIG device of a GPU instance and compute instance. Indexes shift, so all are looked at. */
static nvml_return find_mig_device(const struct nvml *nvml, nvml_device parent, uint32_t gi_id,
                                   uint32_t ci_id, nvml_device *out)
{
    unsigned count = 0;
    nvml_return rc = nvml_ask(nvml, nvmlDeviceGetMaxMigDeviceCount, parent, &count);

    for (unsigned i = 0; rc == NVML_SUCCESS && i < count; i++) {
        nvml_device handle;
        unsigned gi = 0, ci = 0;

        rc = nvml_ask(nvml, nvmlDeviceGetMigDeviceHandleByIndex, parent, i, &handle);
        if (rc == NVML_NOT_FOUND) {
            rc = NVML_SUCCESS;
            continue;
        }
        if (rc == NVML_SUCCESS)
            rc = nvml_ask(nvml, nvmlDeviceGetGpuInstanceId, handle, &gi);
        if (rc == NVML_SUCCESS)
            rc = nvml_ask(nvml, nvmlDeviceGetComputeInstanceId, handle, &ci);
        if (rc == NVML_SUCCESS && gi == gi_id && ci == ci_id) {
            *out = handle;
            return NVML_SUCCESS;
        }
    }
    return rc == NVML_SUCCESS ? NVML_NOT_FOUND : rc;
}

/* UUID, memory and SMs of an instance whose ids are known. */
static nvml_return read_mig_device(const struct nvml *nvml, struct device *device,
                                   struct mig_instance *instance)
{
    struct nvml_attributes attributes = {0};
    nvml_device handle;
    nvml_return rc = find_mig_device(nvml, device->handle, instance->gi_id,
                                     (uint32_t)instance->ci_id.value, &handle);

    if (rc == NVML_SUCCESS)
        rc = nvml_ask(nvml, nvmlDeviceGetUUID, handle, instance->uuid, sizeof instance->uuid);
    if (rc != NVML_SUCCESS)
        return rc;
    instance->uuid[sizeof instance->uuid - 1] = '\0';
    if (nvml_ask(nvml, nvmlDeviceGetAttributes_v2, handle, &attributes) == NVML_SUCCESS)
        instance->sm_count = reading_of(attributes.sm_count);
    rc = device_memory(nvml, handle, &instance->memory, &device->clamped);
    return nvml_is_absent(rc) ? NVML_SUCCESS : rc;
}

static void push(struct mig_instances *out, const struct mig_instance *instance)
{
    if (out->count < MIG_INSTANCES_MAX)
        out->items[out->count++] = *instance;
}

/* The compute instances of a GPU instance, of any profile. */
static nvml_return list_cis(const struct nvml *nvml, nvml_gi gi, struct nvml_ci *out,
                            nvml_ci *out_handles, uint32_t *out_count)
{
    nvml_return rc = NVML_SUCCESS;

    *out_count = 0;
    for (unsigned index = 0; index < NVML_CI_PROFILES && rc == NVML_SUCCESS; index++) {
        struct nvml_ci_profile profile = {0};
        nvml_ci handles[INSTANCES_OF_PROFILE_MAX];
        unsigned count = INSTANCES_OF_PROFILE_MAX;

        rc = nvml_ask(nvml, nvmlGpuInstanceGetComputeInstanceProfileInfo, gi, index,
                      /* shared engines */ 0, &profile);
        if (rc == NVML_NOT_SUPPORTED || rc == NVML_INVALID_ARGUMENT) {
            rc = NVML_SUCCESS;
            continue;
        }
        if (rc == NVML_SUCCESS)
            rc =
                nvml_ask(nvml, nvmlGpuInstanceGetComputeInstances, gi, profile.id, handles, &count);
        for (unsigned i = 0; rc == NVML_SUCCESS && i < count; i++) {
            if (*out_count == INSTANCES_OF_PROFILE_MAX)
                break;
            rc = nvml_ask(nvml, nvmlComputeInstanceGetInfo_v2, handles[i], &out[*out_count]);
            out_handles[(*out_count)++] = handles[i];
        }
    }
    return rc;
}

/* Adds the instances in one GPU instance, or its half, to out. */
static nvml_return add_gi(const struct nvml *nvml, struct device *device, nvml_gi gi,
                          struct mig_instances *out)
{
    struct nvml_ci cis[INSTANCES_OF_PROFILE_MAX];
    nvml_ci handles[INSTANCES_OF_PROFILE_MAX];
    struct mig_instance instance = {0};
    struct nvml_gi info = {0};
    uint32_t count = 0;
    nvml_return rc = nvml_ask(nvml, nvmlGpuInstanceGetInfo, gi, &info);

    if (rc == NVML_SUCCESS)
        rc = list_cis(nvml, gi, cis, handles, &count);
    if (rc != NVML_SUCCESS)
        return rc;
    instance.gi_id = info.id;
    instance.profile_id = info.profile_id;
    instance.start = info.placement.start;
    instance.size = info.placement.size;
    if (count == 0)
        push(out, &instance);
    for (uint32_t i = 0; i < count && rc == NVML_SUCCESS; i++) {
        instance.ci_id = reading_of(cis[i].id);
        rc = read_mig_device(nvml, device, &instance);
        push(out, &instance);
    }
    return rc;
}

/* The GPU instances of one profile. */
static nvml_return list_gis(const struct nvml *nvml, nvml_device handle, uint32_t profile_id,
                            nvml_gi *out, unsigned *out_count)
{
    *out_count = INSTANCES_OF_PROFILE_MAX;
    return nvml_ask(nvml, nvmlDeviceGetGpuInstances, handle, profile_id, out, out_count);
}

int mig_instances_read(struct device *device, const struct nvml *nvml, struct mig_instances *out,
                       struct err *err)
{
    struct mig_profiles profiles;
    struct mig_instances found = {0};
    nvml_gi gis[INSTANCES_OF_PROFILE_MAX];
    unsigned count;
    nvml_return rc = NVML_SUCCESS;
    int code;

    if (device->state != DEVICE_PRESENT)
        return not_there(device, err);
    out->count = 0;
    if (!reading_is(device->mig_mode, 1))
        return 0;
    code = mig_profiles_read(device, nvml, &profiles, err);
    if (code < 0)
        return code;
    for (uint32_t i = 0; i < profiles.count && rc == NVML_SUCCESS; i++) {
        rc = list_gis(nvml, device->handle, profiles.items[i].id, gis, &count);
        for (unsigned k = 0; k < count && rc == NVML_SUCCESS; k++)
            rc = add_gi(nvml, device, gis[k], &found);
    }
    if (rc != NVML_SUCCESS)
        return failed(rc, device, "MIG instances", err);
    *out = found;
    return 0;
}

/* The compute instance of the full width of a GPU instance: the one whose MIG device has the plain
 * name. In a profile of one slice with double memory that is another profile than in one without.
 */
static nvml_return full_ci_profile(const struct nvml *nvml, nvml_gi gi, uint32_t *out_id)
{
    nvml_return rc = NVML_SUCCESS;
    uint32_t widest = 0;

    for (unsigned index = 0; index < NVML_CI_PROFILES; index++) {
        struct nvml_ci_profile profile = {0};

        rc = nvml_ask(nvml, nvmlGpuInstanceGetComputeInstanceProfileInfo, gi, index, 0, &profile);
        if (rc == NVML_INVALID_ARGUMENT)
            break;
        if (rc == NVML_NOT_SUPPORTED)
            continue;
        if (rc != NVML_SUCCESS)
            return rc;
        if (profile.instances > 0 && profile.slices > widest) {
            widest = profile.slices;
            *out_id = profile.id;
        }
    }
    return widest > 0 ? NVML_SUCCESS : NVML_NOT_SUPPORTED;
}

/* What mig_create has made so far, to be undone. */
struct made {
    nvml_gi gi;
    nvml_ci ci;
};

static nvml_return undo(const struct nvml *nvml, const struct made *made)
{
    nvml_return rc = NVML_SUCCESS;

    if (made->ci != NULL)
        rc = nvml_ask(nvml, nvmlComputeInstanceDestroy, made->ci);
    if (rc == NVML_SUCCESS && made->gi != NULL)
        rc = nvml_ask(nvml, nvmlGpuInstanceDestroy, made->gi);
    return rc;
}

/* The steps of mig_create. *out_step names the one that failed. */
static nvml_return create(const struct nvml *nvml, struct device *device, uint32_t profile_id,
                          const struct nvml_placement *placement, struct made *made,
                          struct mig_instance *out, const char **out_step)
{
    struct nvml_gi gi = {0};
    struct nvml_ci ci = {0};
    uint32_t ci_profile = 0;
    nvml_return rc;

    *out_step = "GPU instance";
    rc = nvml_ask(nvml, nvmlDeviceCreateGpuInstanceWithPlacement, device->handle, profile_id,
                  placement, &made->gi);
    if (rc == NVML_SUCCESS)
        rc = nvml_ask(nvml, nvmlGpuInstanceGetInfo, made->gi, &gi);
    if (rc != NVML_SUCCESS)
        return rc;
    *out_step = "compute instance";
    rc = full_ci_profile(nvml, made->gi, &ci_profile);
    if (rc == NVML_SUCCESS)
        rc = nvml_ask(nvml, nvmlGpuInstanceCreateComputeInstance, made->gi, ci_profile, &made->ci);
    if (rc == NVML_SUCCESS)
        rc = nvml_ask(nvml, nvmlComputeInstanceGetInfo_v2, made->ci, &ci);
    if (rc != NVML_SUCCESS)
        return rc;
    *out_step = "MIG device";
    *out = (struct mig_instance){.gi_id = gi.id,
                                 .ci_id = reading_of(ci.id),
                                 .profile_id = profile_id,
                                 .start = gi.placement.start,
                                 .size = gi.placement.size};
    return read_mig_device(nvml, device, out);
}

int mig_create(struct device *device, const struct nvml *nvml, uint32_t profile_id, uint32_t start,
               struct mig_instance *out, struct err *err)
{
    struct mig_profile profile = {.id = profile_id};
    struct mig_instance instance = {0};
    struct made made = {0};
    const char *step = "places";
    char what[96];
    nvml_return rc, undone;

    if (device->state != DEVICE_PRESENT)
        return not_there(device, err);
    rc = read_placements(nvml, device->handle, &profile);
    if (rc == NVML_SUCCESS) {
        const struct nvml_placement place = {.start = start, .size = profile.memory_slices};

        rc = create(nvml, device, profile_id, &place, &made, &instance, &step);
    }
    if (rc == NVML_SUCCESS) {
        *out = instance;
        return 0;
    }
    undone = undo(nvml, &made);
    snprintf(what, sizeof what, "cannot make MIG profile %u at %u: %s", profile_id, start, step);
    if (undone == NVML_SUCCESS)
        return failed(rc, device, what, err);
    failed(rc, device, what, err);
    return err_prefix(err, -EUCLEAN, "a half-made instance is left (%s): ", nvml_text(undone));
}

int mig_destroy(struct device *device, const struct nvml *nvml, uint32_t gi_id, struct err *err)
{
    struct nvml_ci cis[INSTANCES_OF_PROFILE_MAX];
    nvml_ci handles[INSTANCES_OF_PROFILE_MAX];
    uint32_t count = 0;
    char what[64];
    nvml_gi gi;
    nvml_return rc;

    if (device->state != DEVICE_PRESENT)
        return not_there(device, err);
    rc = nvml_ask(nvml, nvmlDeviceGetGpuInstanceById, device->handle, gi_id, &gi);
    if (rc == NVML_SUCCESS)
        rc = list_cis(nvml, gi, cis, handles, &count);
    for (uint32_t i = 0; i < count && rc == NVML_SUCCESS; i++)
        rc = nvml_ask(nvml, nvmlComputeInstanceDestroy, handles[i]);
    if (rc == NVML_SUCCESS)
        rc = nvml_ask(nvml, nvmlGpuInstanceDestroy, gi);
    if (rc == NVML_SUCCESS)
        return 0;
    snprintf(what, sizeof what, "cannot destroy MIG instance %u", gi_id);
    return failed(rc, device, what, err);
}

int mig_set_mode(struct device *device, const struct nvml *nvml, bool on, struct err *err)
{
    const char *what = on ? "cannot turn MIG on" : "cannot turn MIG off";
    nvml_return rc, status = NVML_SUCCESS;
    unsigned current = 0, pending = 0;

    if (device->state != DEVICE_PRESENT)
        return not_there(device, err);
    /* The call may well succeed while the change does not. */
    rc = nvml_ask(nvml, nvmlDeviceSetMigMode, device->handle, on, &status);
    if (rc != NVML_SUCCESS)
        return failed(rc, device, what, err);
    if (status != NVML_SUCCESS && status != NVML_RESET_REQUIRED)
        return failed(status, device, what, err);
    rc = nvml_ask(nvml, nvmlDeviceGetMigMode, device->handle, &current, &pending);
    if (rc != NVML_SUCCESS)
        return failed(rc, device, what, err);
    device->mig_mode = reading_of(current);
    device->mig_pending = reading_of(pending);
    return current == (unsigned)on ? 0 : 1;
}
