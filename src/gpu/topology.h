/* SPDX-License-Identifier: Apache-2.0 */
/* topology.h - how near the GPUs of a machine are to each other. */
#pragma once
#include "gpu/device.h"

/* Between two devices. All absent where one of them is not present. */
struct link {
    struct reading level;   /* NVML_LEVEL_...: over PCIe; smaller is nearer */
    struct reading nvlinks; /* NVLinks that join them, directly or through switches; 0: none */
    struct reading bandwidth_mbps; /* MB/s one way over all these NVLinks; absent without them */
    bool same_fabric;              /* one multi-machine NVLink domain and clique */
};

struct topology {
    struct link *links; /* [count * count], row by row, in the order of struct devices */
    uint32_t count;
};

void topology_init(struct topology *topology);
void topology_done(struct topology *topology);

/* Reads all pairs: O(n^2 + n * links) calls, so when devices_update found something new, not at
 * each poll. NVLink is off for a device in MIG mode. A device that is lost on the way is marked so,
 * its links stay absent, and the others are read. 0, or what speaks for the library: -ENXIO,
 * -ESTALE; out is as it was then. */
int topology_read(const struct devices *devices, const struct nvml *nvml, struct topology *out,
                  struct err *err);

/* a and b are rows of the devices that were read; with a == b all is absent. */
const struct link *topology_link(const struct topology *topology, uint32_t a, uint32_t b);
