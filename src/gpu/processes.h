/* SPDX-License-Identifier: Apache-2.0 */
/* processes.h - who uses a GPU, with how much memory and how much of its time.
 *
 * The device says it, not the program. Process ids are those that the driver sees: of the machine,
 * not of a container. A program that uses a device for compute and graphics is one row; one that
 * uses two MIG instances is two. */
#pragma once
#include "gpu/device.h"

enum process_kinds {
    PROCESS_COMPUTE = 1,
    PROCESS_GRAPHICS = 2,
    PROCESS_MPS = 4, /* a client; the server is a compute process of its own */
};

struct process {
    uint32_t pid;
    uint32_t kinds;              /* process_kinds bits */
    struct reading gi_id, ci_id; /* of its MIG instance; absent outside MIG, or if not told */
    struct reading memory_bytes; /* with its context; absent where the driver does not know */
    struct reading busy_percent, memory_percent; /* by processes_busy; absent until then */
};

struct processes {
    struct process *items; /* [count] in the order of the driver */
    uint32_t count, cap;
};

void processes_init(struct processes *processes);
void processes_done(struct processes *processes);

/* Who uses the device now; in MIG mode all instances. Memory above that of the device is clamped to
 * it and counted in device->clamped. 0 and *out filled anew; -ENOTSUP if this library cannot list
 * processes; -ENODEV or -EIO mark the device as lost; otherwise nvml_errno. On an error out is
 * empty: nobody may take it for an idle device. */
int processes_read(struct device *device, const struct nvml *nvml, struct processes *out,
                   struct err *err);

/* The sum of what is known of their memory. */
uint64_t processes_memory_bytes(const struct processes *processes);

/* What a reader of utilisation keeps between two readings of one device; zeroed at first. */
struct busy {
    uint64_t last_us; /* of the driver's clock: samples up to here are known already */
    uint32_t strange; /* samples that were left out: old, of nobody on the list, or above 100 % */
};

/* Fills busy_percent and memory_percent of the rows of processes, just read: the mean of the
 * samples since the last call, 0 for one without samples. They stay absent where the driver does
 * not offer it, as in MIG mode, which is no error. Errors as above. */
int processes_busy(struct device *device, const struct nvml *nvml, struct busy *busy,
                   struct processes *processes, struct err *err);
