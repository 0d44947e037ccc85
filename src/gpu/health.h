/* SPDX-License-Identifier: Apache-2.0 */
/* health.h - errors of devices: Xid events as they happen, and ECC and row remapping counts.
 *
 * The event set waits for 0 ms, so a loop may ask at each turn of its poll. Events are facts about
 * a device; what follows from them is not decided here (xid.h says how bad each is). */
#pragma once
#include "gpu/device.h"

struct health_event {
    char uuid[NVML_UUID_SIZE];   /* of the device */
    uint32_t xid;                /* see xid_find */
    struct reading gi_id, ci_id; /* of the MIG instance that was hit; absent: the whole device */
};

struct health_watch {
    nvml_events events;
    uint32_t starts; /* of the struct nvml: an event set does not outlive a restart of it */
    bool open;
};

/* Watches all devices that are present for Xids. Again after each devices_update that found a new
 * handle, and after nvml_restart: what happened between the two is lost, so close them promptly. 0;
 * -ENOTSUP where the driver has no events (the kernel log has them then); else nvml_errno. Devices
 * without Xid events are left out. */
int health_watch(struct health_watch *watch, const struct devices *devices, const struct nvml *nvml,
                 struct err *err);
void health_unwatch(struct health_watch *watch, const struct nvml *nvml);

/* The next event: 1 and *out; 0 when there is none now; else a negative errno. -ENODEV says that
 * some device is lost, not which: devices_update tells. Never waits. */
int health_next(struct health_watch *watch, const struct devices *devices, const struct nvml *nvml,
                struct health_event *out, struct err *err);

/* Error counts of a device. Volatile ones begin anew when the driver is loaded (counter_take). */
struct device_errors {
    struct reading ecc_mode;               /* 0 or 1 */
    struct reading corrected, uncorrected; /* ECC errors since the driver was loaded */
    struct reading corrected_ever, uncorrected_ever;
    struct reading rows_corrected, rows_uncorrected; /* remapped rows of memory */
    struct reading remap_pending, remap_failed;      /* 0 or 1: wants a reset; wants a new board */
    struct reading pages_retired;                    /* on boards before Ampere */
};

/* 0 and *out; -ENODEV and -EIO mark the device as lost first. */
int device_errors(struct device *device, const struct nvml *nvml, struct device_errors *out,
                  struct err *err);
