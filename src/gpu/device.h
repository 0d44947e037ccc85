/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - the GPUs of this machine: which there are, what they are, and how they do now.
 *
 * A device is its UUID. Index and minor number are readings like others: they may change when the
 * driver is reloaded or the machine boots. What the driver does not offer is absent. */
#pragma once
#include "gpu/counter.h"
#include "gpu/nvml.h"

enum device_state {
    DEVICE_PRESENT,
    DEVICE_LOST, /* off the bus, or in need of a reset: its facts are those that were last read */
    DEVICE_GONE, /* the driver does not list it any more */
};

struct device_memory {
    struct reading total, used, free, reserved; /* bytes; used without reserved where that is known,
                                                   with it where it is absent */
};

struct device {
    char uuid[NVML_UUID_SIZE]; /* "GPU-..." */
    char name[NVML_NAME_SIZE];
    char serial[NVML_SERIAL_SIZE]; /* "" if absent, as the other texts */
    char bus_id[NVML_BUS_ID_SIZE]; /* "00000000:41:00.0" */
    enum device_state state;
    nvml_device handle;                   /* NULL unless present */
    struct reading index;                 /* absent unless present */
    struct reading minor;                 /* of /dev/nvidia<minor> */
    struct reading pci_id;                /* device << 16 | vendor */
    struct reading architecture;          /* NVML_ARCH_... */
    struct reading capability;            /* 90 is compute capability 9.0 */
    struct reading numa_node;             /* of the memory that is nearest */
    struct reading compute_mode;          /* NVML_COMPUTE_... */
    struct reading persistence;           /* 0 or 1 */
    struct reading mig_mode, mig_pending; /* 0 or 1; absent where there is no MIG */
    struct reading memory_total;          /* bytes */
    uint32_t clamped;                     /* how often its memory figures contradicted each other */
};

struct devices {
    struct device *items; /* [count] in the order in which they were first seen */
    uint32_t count, cap;
};

void devices_init(struct devices *devices);
void devices_done(struct devices *devices);

/* Reads again which devices there are. Rows stay, and are found by UUID: one that the driver does
 * not list any more is DEVICE_GONE, one that answers that it is lost is DEVICE_LOST, one that is
 * new comes last. Pointers to rows do not survive. 0, or -ENXIO, -ESTALE, ... when the library
 * itself does not answer; nothing has changed then. O(devices) calls. */
int devices_update(struct devices *devices, const struct nvml *nvml, struct err *err);

/* NULL if there is none. By handle a lost device is found as well, for what it said before. */
struct device *devices_find(const struct devices *devices, const char *uuid);
struct device *devices_find_handle(const struct devices *devices, nvml_device handle);

/* Notes that a reader got -ENODEV or -EIO from this device: it is lost until devices_update finds
 * it healthy. */
void device_lost(struct device *device);

/* How a device does now: what monitoring shows. Percentages are 0..100. */
struct device_load {
    struct device_memory memory;
    struct reading busy_percent, memory_percent; /* absent in MIG mode */
    struct reading encoder_percent, decoder_percent;
    struct reading power_mw, power_limit_mw;
    struct reading energy_mj; /* since the driver was loaded; differences by counter_take */
    struct reading temperature_c, memory_temperature_c;
    struct reading sm_mhz, memory_mhz;
    struct reading pcie_replays;
    struct reading nvlink_sent_kib, nvlink_received_kib; /* over all links */
};

/* 0 and *out, or a negative errno and nothing: -ENODEV and -EIO mark the device as lost first, also
 * when it is lost between two calls. */
int device_load(struct device *device, const struct nvml *nvml, struct device_load *out,
                struct err *err);

/* The memory of a device or MIG device, figures that contradict each other clamped to the total
 * (*clamped one more each). The answer of the library. */
nvml_return device_memory(const struct nvml *nvml, nvml_device handle, struct device_memory *out,
                          uint32_t *clamped);

/* Several readings of one device: what does not exist is absent, any answer that speaks for the
 * whole device or library (lost, not started) is kept in failed, the first one. */
struct asking {
    const struct nvml *nvml;
    nvml_device handle;
    nvml_return failed;
};

struct reading asking_take(struct asking *asking, nvml_return rc, uint64_t value);
