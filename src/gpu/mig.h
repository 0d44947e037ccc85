/* SPDX-License-Identifier: Apache-2.0 */
/* mig.h - MIG: a GPU in instances that have their own memory and SMs.
 *
 * An instance that work runs on is a GPU instance (memory and SMs, at a place of the GPU) with one
 * compute instance of its full width in it; the pair is a MIG device with a UUID. Only the UUID is
 * an identity: indexes of MIG devices shift when another is destroyed. A profile is told by its id
 * on this GPU: another GPU means something else by the same id, and the gigabytes in a name move
 * with the driver. */
#pragma once
#include "gpu/device.h"

#define MIG_PLACEMENTS_MAX 16
#define MIG_PROFILES_MAX   NVML_GI_PROFILES
#define MIG_INSTANCES_MAX  64 /* compute instances of one GPU */

struct mig_profile {
    uint32_t id;
    char name[NVML_NAME_SIZE]; /* "MIG 1g.10gb", or "" with an old driver */
    uint32_t compute_slices;
    uint32_t memory_slices; /* size of a placement */
    uint32_t sm_count;
    uint32_t instances_max;
    uint64_t memory_bytes;
    uint32_t starts[MIG_PLACEMENTS_MAX]; /* [start_count] where it may begin, in memory slices */
    uint32_t start_count;
};

struct mig_profiles {
    struct mig_profile items[MIG_PROFILES_MAX]; /* [count] in the order of the driver */
    uint32_t count;
};

struct mig_instance {
    char uuid[NVML_UUID_SIZE]; /* "MIG-..."; "" for a GPU instance without a compute instance */
    uint32_t gi_id;            /* unique on its GPU */
    struct reading ci_id;      /* absent without a compute instance: half made */
    uint32_t profile_id;
    uint32_t start, size;        /* memory slices it takes */
    struct device_memory memory; /* of the GPU instance; shared by its compute instances */
    struct reading sm_count;
};

struct mig_instances {
    struct mig_instance items[MIG_INSTANCES_MAX]; /* [count] */
    uint32_t count;
};

/* The profiles of a GPU with where they may stand. 0 and *out; -ENOTSUP where there is no MIG, and
 * from old drivers while MIG mode is off; otherwise nvml_errno, with a device that is lost marked
 * so. */
int mig_profiles_read(struct device *device, const struct nvml *nvml, struct mig_profiles *out,
                      struct err *err);

/* All instances, whoever made them: also those that were there before this program, and those half
 * made. Outside MIG mode there are none, which is no error. Needs root or the monitor capability:
 * -EPERM. */
int mig_instances_read(struct device *device, const struct nvml *nvml, struct mig_instances *out,
                       struct err *err);

/* Makes an instance of a profile at start and fills *out. If a later step fails, the earlier ones
 * are undone and the error is that of the step: -ENOSPC when its slices are taken, -EINVAL when the
 * profile may not stand there, -EPERM, -EREMOTEIO, ... If undoing fails as well, the text says so,
 * -EUCLEAN is returned and the half is found by mig_instances_read, for mig_destroy. */
int mig_create(struct device *device, const struct nvml *nvml, uint32_t profile_id, uint32_t start,
               struct mig_instance *out, struct err *err);

/* Takes a GPU instance away with its compute instances. -EBUSY while a process uses it: nothing is
 * destroyed then, or those compute instances that were idle. -ENOENT if there is none. */
int mig_destroy(struct device *device, const struct nvml *nvml, uint32_t gi_id, struct err *err);

/* Turns MIG mode on or off. 0: it is so now (device->mig_mode follows). 1: it will be after a reset
 * of the GPU. -EBUSY: programs use the GPU, or it has instances. -ENOTSUP, -EPERM. */
int mig_set_mode(struct device *device, const struct nvml *nvml, bool on, struct err *err);
