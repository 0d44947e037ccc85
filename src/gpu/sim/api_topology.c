/* SPDX-License-Identifier: Apache-2.0 */
/* api_topology.c - the simulated library: how devices are linked. */
#include <string.h>

#include "gpu/sim/call.h"

#define TO_NOBODY UINT32_MAX
#define TO_SWITCH (UINT32_MAX - 1)

nvml_return nvmlDeviceGetTopologyCommonAncestor(nvml_device a, nvml_device b, int *level)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, a, CALL_GPU);

    if (rc == NVML_SUCCESS && (level == NULL || b == NULL || b->gpu >= call.machine->gpu_count))
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS)
        *level = (int)call.machine->level[call.gpu][b->gpu];
    return call_end(&call, rc);
}

nvml_return nvmlDeviceGetTopologyNearestGpus(nvml_device device, int level, unsigned *count,
                                             nvml_device *out)
{
    struct call call;
    unsigned there = 0;
    nvml_return rc = call_device(&call, __func__, device, CALL_GPU);

    if (rc == NVML_SUCCESS && count == NULL)
        rc = NVML_INVALID_ARGUMENT;
    if (rc != NVML_SUCCESS)
        return call_end(&call, rc);
    for (uint32_t i = 0; i < call.machine->gpu_count; i++)
        if (i != call.gpu && (int)call.machine->level[call.gpu][i] == level) {
            if (out != NULL && there < *count)
                out[there] = call_gpu_handle(i);
            there++;
        }
    if (out != NULL && there > *count)
        rc = NVML_INSUFFICIENT_SIZE;
    *count = there;
    return call_end(&call, rc);
}

/* Where link number link of a GPU ends: direct ones come first, by the number of their peer. */
static uint32_t end_of(const struct call *call, uint32_t link)
{
    for (uint32_t i = 0; i < call->machine->gpu_count; i++) {
        const uint32_t links = call->machine->nvlinks[call->gpu][i];

        if (link < links)
            return i;
        link -= links;
    }
    return link < call->machine->switch_links[call->gpu] ? TO_SWITCH : TO_NOBODY;
}

/* Locks and finds where the link ends; no link beyond those of the board. */
static nvml_return begin_link(struct call *call, const char *function, nvml_device device,
                              uint32_t link, const void *out, uint32_t *out_end)
{
    nvml_return rc = call_device(call, function, device, CALL_GPU);

    if (rc != NVML_SUCCESS)
        return rc;
    if (call->model->nvlinks == 0)
        return call_end(call, NVML_NOT_SUPPORTED);
    if (link >= call->model->nvlinks || out == NULL)
        return call_end(call, NVML_INVALID_ARGUMENT);
    *out_end = end_of(call, link);
    return NVML_SUCCESS;
}

nvml_return nvmlDeviceGetNvLinkState(nvml_device device, unsigned link, int *active)
{
    struct call call;
    uint32_t end = TO_NOBODY;
    nvml_return rc = begin_link(&call, __func__, device, link, active, &end);

    if (rc != NVML_SUCCESS)
        return rc;
    *active = end != TO_NOBODY && !call.it->mig_mode;
    return call_end(&call, NVML_SUCCESS);
}

nvml_return nvmlDeviceGetNvLinkRemoteDeviceType(nvml_device device, unsigned link, int *type)
{
    struct call call;
    uint32_t end = TO_NOBODY;
    nvml_return rc = begin_link(&call, __func__, device, link, type, &end);

    if (rc != NVML_SUCCESS)
        return rc;
    *type = NVML_REMOTE_GPU;
    if (end == TO_SWITCH)
        *type = NVML_REMOTE_SWITCH;
    if (end == TO_NOBODY)
        *type = NVML_REMOTE_UNKNOWN;
    return call_end(&call, NVML_SUCCESS);
}

nvml_return nvmlDeviceGetNvLinkRemotePciInfo_v2(nvml_device device, unsigned link,
                                                struct nvml_pci_info *out)
{
    struct call call;
    uint32_t end = TO_NOBODY;
    nvml_return rc = begin_link(&call, __func__, device, link, out, &end);

    if (rc != NVML_SUCCESS)
        return rc;
    if (end == TO_NOBODY)
        return call_end(&call, NVML_NOT_SUPPORTED);
    *out = (struct nvml_pci_info){.bus = 0xf0};
    memcpy(out->bus_id, "00000000:F0:00.0", sizeof "00000000:F0:00.0"); /* the switch */
    if (end != TO_SWITCH) {
        out->bus = call.machine->gpus[end].bus;
        memcpy(out->bus_id, call.machine->gpus[end].bus_id, sizeof out->bus_id);
    }
    memcpy(out->legacy_bus_id, out->bus_id + 4, sizeof "0000:00:00.0");
    return call_end(&call, NVML_SUCCESS);
}

nvml_return nvmlDeviceGetNvLinkVersion(nvml_device device, unsigned link, unsigned *version)
{
    struct call call;
    uint32_t end = TO_NOBODY;
    nvml_return rc = begin_link(&call, __func__, device, link, version, &end);

    if (rc != NVML_SUCCESS)
        return rc;
    *version = call.model->architecture >= NVML_ARCH_HOPPER ? 4 : 3;
    return call_end(&call, NVML_SUCCESS);
}

nvml_return nvmlDeviceGetNvLinkCapability(nvml_device device, unsigned link, int capability,
                                          unsigned *out)
{
    struct call call;
    uint32_t end = TO_NOBODY;
    nvml_return rc = begin_link(&call, __func__, device, link, out, &end);

    if (rc != NVML_SUCCESS)
        return rc;
    *out = capability == 0 && end != TO_NOBODY;
    return call_end(&call, NVML_SUCCESS);
}

nvml_return nvmlDeviceGetNvLinkErrorCounter(nvml_device device, unsigned link, int counter,
                                            unsigned long long *out)
{
    struct call call;
    uint32_t end = TO_NOBODY;
    nvml_return rc = begin_link(&call, __func__, device, link, out, &end);

    (void)counter;
    if (rc != NVML_SUCCESS)
        return rc;
    *out = 0;
    return call_end(&call, NVML_SUCCESS);
}

/* Whether NVLinks join two GPUs, directly or through switches; none does in MIG mode. */
static bool are_linked(const struct sim_machine *machine, uint32_t a, uint32_t b)
{
    if (machine->gpus[a].mig_mode || machine->gpus[b].mig_mode)
        return false;
    return machine->nvlinks[a][b] > 0 ||
           (machine->switch_links[a] > 0 && machine->switch_links[b] > 0);
}

nvml_return nvmlDeviceGetP2PStatus(nvml_device a, nvml_device b, int index, int *status)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, a, CALL_GPU);

    if (rc == NVML_SUCCESS && (status == NULL || b == NULL || b == a || index < 0 || index > 4 ||
                               b->gpu >= call.machine->gpu_count))
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS && call.machine->gpus[b->gpu].lost)
        rc = NVML_GPU_IS_LOST;
    if (rc == NVML_SUCCESS)
        *status = index == NVML_P2P_NVLINK && !are_linked(call.machine, call.gpu, b->gpu)
                      ? NVML_P2P_NOT_SUPPORTED
                      : NVML_P2P_OK;
    return call_end(&call, rc);
}

/* No machine is one of several in a fabric. */
nvml_return nvmlDeviceGetGpuFabricInfoV(nvml_device device, struct nvml_fabric *out)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, device, CALL_GPU);

    (void)out;
    return call_end(&call, rc == NVML_SUCCESS ? NVML_NOT_SUPPORTED : rc);
}
