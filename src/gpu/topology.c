/* SPDX-License-Identifier: Apache-2.0 */
/* topology.c - how near the GPUs of a machine are to each other. */
#include "gpu/topology.h"

#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"

/* The NVLinks of one device: where the ones that are up end. */
struct ends {
    uint32_t active, to_switch;
    uint32_t peer_count;
    char peers[NVML_LINKS_MAX][NVML_BUS_ID_SIZE];
    struct reading speed_mbps; /* of one */
    struct nvml_fabric fabric;
    bool has_fabric;
};

void topology_init(struct topology *topology)
{
    *topology = (struct topology){0};
}

void topology_done(struct topology *topology)
{
    mem_free(topology->links);
    topology_init(topology);
}

const struct link *topology_link(const struct topology *topology, uint32_t a, uint32_t b)
{
    check(a < topology->count && b < topology->count);
    return &topology->links[a * topology->count + b];
}

/* Where link number i ends, if it is up. */
static void read_end(struct asking *asking, unsigned i, struct ends *ends)
{
    const struct nvml *nvml = asking->nvml;
    struct nvml_pci_info pci = {0};
    int type = NVML_REMOTE_UNKNOWN;
    nvml_return rc;

    ends->active++;
    rc = nvml_ask(nvml, nvmlDeviceGetNvLinkRemoteDeviceType, asking->handle, i, &type);
    if (asking_take(asking, rc, 0).known && type == NVML_REMOTE_SWITCH) {
        ends->to_switch++;
        return;
    }
    rc = nvml_ask(nvml, nvmlDeviceGetNvLinkRemotePciInfo_v2, asking->handle, i, &pci);
    if (!asking_take(asking, rc, 0).known)
        return;
    pci.bus_id[sizeof pci.bus_id - 1] = '\0';
    memcpy(ends->peers[ends->peer_count++], pci.bus_id, sizeof pci.bus_id);
}

static void read_ends(struct asking *asking, struct ends *ends)
{
    const struct nvml *nvml = asking->nvml;
    struct nvml_field speed = {.id = NVML_FIELD_LINK_SPEED, .rc = NVML_UNKNOWN};
    nvml_return rc;

    for (unsigned i = 0; i < NVML_LINKS_MAX; i++) {
        int active = 0;

        rc = nvml_ask(nvml, nvmlDeviceGetNvLinkState, asking->handle, i, &active);
        if (rc == NVML_INVALID_ARGUMENT || nvml_is_absent(rc))
            break;
        if (asking_take(asking, rc, 0).known && active != 0)
            read_end(asking, i, ends);
    }
    rc = nvml_ask(nvml, nvmlDeviceGetFieldValues, asking->handle, 1, &speed);
    if (asking_take(asking, rc, 0).known && speed.rc == NVML_SUCCESS &&
        speed.type == NVML_VALUE_U32 && speed.value.u32 > 0)
        ends->speed_mbps = reading_of(speed.value.u32);
    ends->fabric.version = NVML_VERSION_OF(struct nvml_fabric, 2u);
    rc = nvml_ask(nvml, nvmlDeviceGetGpuFabricInfoV, asking->handle, &ends->fabric);
    ends->has_fabric = asking_take(asking, rc, 0).known && ends->fabric.state == 3 &&
                       ends->fabric.status == NVML_SUCCESS;
}

static uint32_t direct_links(const struct ends *a, const struct device *b)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < a->peer_count; i++)
        count += strcmp(a->peers[i], b->bus_id) == 0;
    return count;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Links of a switched machine all end at switches, so that nobody's remote end is the peer: there
 * the peer is reached over all of them, if the driver says that it is reached at all. */
static uint32_t count_links(const struct ends *a, const struct ends *b, const struct device *peer)
{
    uint32_t direct = direct_links(a, peer);

    return direct > 0 ? direct : smaller(a->to_switch, b->to_switch);
}

static bool same_fabric(const struct ends *a, const struct ends *b)
{
    static const uint8_t nothing[16];

    return a->has_fabric && b->has_fabric && a->fabric.clique_id == b->fabric.clique_id &&
           memcmp(a->fabric.cluster_uuid, b->fabric.cluster_uuid, sizeof nothing) == 0 &&
           memcmp(a->fabric.cluster_uuid, nothing, sizeof nothing) != 0;
}

static void read_pair(struct asking *asking, const struct device *peer, const struct ends *a,
                      const struct ends *b, struct link *out)
{
    int level = 0, status = 0;
    nvml_return rc = nvml_ask(asking->nvml, nvmlDeviceGetTopologyCommonAncestor, asking->handle,
                              peer->handle, &level);

    out->level = asking_take(asking, rc, (uint64_t)level);
    rc = nvml_ask(asking->nvml, nvmlDeviceGetP2PStatus, asking->handle, peer->handle,
                  NVML_P2P_NVLINK, &status);
    if (!asking_take(asking, rc, 0).known)
        return;
    out->nvlinks = reading_of(status == NVML_P2P_OK ? count_links(a, b, peer) : 0);
    if (out->nvlinks.value > 0 && a->speed_mbps.known)
        out->bandwidth_mbps = reading_of(out->nvlinks.value * a->speed_mbps.value);
    out->same_fabric = same_fabric(a, b);
}

/* What asking about a device said of it; false if it said that the library is not there. */
static bool settle(struct device *device, nvml_return failed)
{
    if (failed == NVML_GPU_IS_LOST || failed == NVML_RESET_REQUIRED) {
        device_lost(device);
        return true;
    }
    return failed == NVML_SUCCESS;
}

static nvml_return read_all(const struct devices *devices, const struct nvml *nvml,
                            struct ends *ends, struct link *links)
{
    const uint32_t count = devices->count;

    for (uint32_t i = 0; i < count; i++) {
        struct asking asking = {.nvml = nvml, .handle = devices->items[i].handle};

        if (devices->items[i].state == DEVICE_PRESENT)
            read_ends(&asking, &ends[i]);
        if (!settle(&devices->items[i], asking.failed))
            return asking.failed;
    }
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < count; j++) {
            struct asking asking = {.nvml = nvml, .handle = devices->items[i].handle};

            if (i == j || devices->items[i].state != DEVICE_PRESENT ||
                devices->items[j].state != DEVICE_PRESENT)
                continue;
            read_pair(&asking, &devices->items[j], &ends[i], &ends[j], &links[i * count + j]);
            /* Which of the two was lost is seen when the lost one is asked alone. */
            if (asking.failed != NVML_SUCCESS && asking.failed != NVML_GPU_IS_LOST &&
                asking.failed != NVML_RESET_REQUIRED)
                return asking.failed;
        }
    return NVML_SUCCESS;
}

int topology_read(const struct devices *devices, const struct nvml *nvml, struct topology *out,
                  struct err *err)
{
    const uint32_t count = devices->count;
    struct link *links = mem_alloc((size_t)count * count, sizeof *links);
    struct ends *ends = mem_alloc(count, sizeof *ends);
    nvml_return rc = read_all(devices, nvml, ends, links);

    mem_free(ends);
    if (rc != NVML_SUCCESS) {
        mem_free(links);
        return nvml_failed(rc, err, "cannot read how GPUs are linked");
    }
    topology_done(out);
    *out = (struct topology){.links = links, .count = count};
    return 0;
}
