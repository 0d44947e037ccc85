/* SPDX-License-Identifier: Apache-2.0 */
/* api_device.c - the simulated library: what a device is, and its modes. */
#include <stdio.h>
#include <string.h>

#include "gpu/sim/call.h"

#define FIELD(name) offsetof(struct sim_gpu, name)

nvml_return nvmlDeviceGetName(nvml_device device, char *name, unsigned length)
{
    struct call call;
    char text[NVML_NAME_SIZE], profile[32];
    nvml_return rc = call_device(&call, __func__, device, CALL_ANY);

    if (rc != NVML_SUCCESS)
        return rc;
    snprintf(text, sizeof text, "%s", call.model->name);
    if (call.gi_id != NVML_NO_ID) {
        const struct sim_gi *gi = &call.it->gis[call.gi_id];

        instance_name(call.model, gi, &gi->cis[call.ci_id], profile, sizeof profile);
        snprintf(text, sizeof text, "%s MIG %s", call.model->name, profile);
    }
    return call_end(&call, call_put_text(name, length, text));
}

nvml_return nvmlDeviceGetUUID(nvml_device device, char *uuid, unsigned length)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, device, CALL_ANY);

    if (rc == NVML_SUCCESS && call.gi_id != NVML_NO_ID)
        rc = call_put_text(uuid, length, instance_uuid(call.it, call.gi_id, call.ci_id).text);
    else if (rc == NVML_SUCCESS)
        rc = call_put_text(uuid, length, call.it->uuid);
    return call_end(&call, rc);
}

nvml_return nvmlDeviceGetSerial(nvml_device device, char *serial, unsigned length)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, device, CALL_GPU);

    if (rc == NVML_SUCCESS)
        rc = call_put_text(serial, length, call.it->serial);
    return call_end(&call, rc);
}

nvml_return nvmlDeviceGetIndex(nvml_device device, unsigned *index)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, device, CALL_ANY);

    if (rc == NVML_SUCCESS && index == NULL)
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS)
        *index = call.gi_id != NVML_NO_ID ? instance_mig_index(call.it, call.gi_id, call.ci_id)
                                          : machine_index(call.machine, call.gpu);
    return call_end(&call, rc);
}

nvml_return nvmlDeviceGetMinorNumber(nvml_device device, unsigned *minor)
{
    return call_get_u32(__func__, device, minor, FIELD(minor));
}

nvml_return nvmlDeviceGetPciInfo_v3(nvml_device device, struct nvml_pci_info *out)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, device, CALL_ANY);

    if (rc == NVML_SUCCESS && out == NULL)
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS) {
        *out = (struct nvml_pci_info){.bus = call.it->bus, .device_id = call.model->device_id};
        memcpy(out->bus_id, call.it->bus_id, sizeof out->bus_id);
        memcpy(out->legacy_bus_id, call.it->bus_id + 4, sizeof "0000:00:00.0");
    }
    return call_end(&call, rc);
}

nvml_return nvmlDeviceGetPciInfo_v2(nvml_device device, struct nvml_pci_info *out)
{
    return nvmlDeviceGetPciInfo_v3(device, out);
}

nvml_return nvmlDeviceGetPciInfo(nvml_device device, struct nvml_pci_info *out)
{
    return nvmlDeviceGetPciInfo_v3(device, out);
}

/* A value of the model at an offset. */
static nvml_return get_of_model(const char *function, nvml_device device, unsigned *out,
                                size_t offset)
{
    struct call call;
    nvml_return rc = call_device(&call, function, device, CALL_ANY);

    if (rc == NVML_SUCCESS && out == NULL)
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS)
        memcpy(out, (const char *)call.model + offset, sizeof *out);
    return call_end(&call, rc);
}

nvml_return nvmlDeviceGetArchitecture(nvml_device device, unsigned *architecture)
{
    return get_of_model(__func__, device, architecture, offsetof(struct model, architecture));
}

nvml_return nvmlDeviceGetNumGpuCores(nvml_device device, unsigned *count)
{
    nvml_return rc = get_of_model(__func__, device, count, offsetof(struct model, sm_count));

    if (rc == NVML_SUCCESS)
        *count *= 128;
    return rc;
}

nvml_return nvmlDeviceGetCudaComputeCapability(nvml_device device, int *major, int *minor)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, device, CALL_ANY);

    if (rc == NVML_SUCCESS && (major == NULL || minor == NULL))
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS) {
        *major = (int)call.model->major;
        *minor = (int)call.model->minor;
    }
    return call_end(&call, rc);
}

/* One bit at an index of a mask of words. */
static nvml_return put_bit(unsigned long *words, unsigned count, unsigned bit)
{
    const unsigned bits = 8 * sizeof words[0];

    if (words == NULL || count == 0)
        return NVML_INVALID_ARGUMENT;
    memset(words, 0, count * sizeof words[0]);
    if (bit / bits >= count)
        return NVML_INSUFFICIENT_SIZE;
    words[bit / bits] |= 1ul << (bit % bits);
    return NVML_SUCCESS;
}

nvml_return nvmlDeviceGetMemoryAffinity(nvml_device device, unsigned count, unsigned long *words,
                                        unsigned scope)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, device, CALL_GPU);

    if (rc == NVML_SUCCESS)
        rc = scope > 1 ? NVML_INVALID_ARGUMENT : put_bit(words, count, call.it->numa_node);
    return call_end(&call, rc);
}

/* The simulated machine has one processor a NUMA node. */
nvml_return nvmlDeviceGetCpuAffinity(nvml_device device, unsigned count, unsigned long *words)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, device, CALL_GPU);

    if (rc == NVML_SUCCESS)
        rc = put_bit(words, count, call.it->numa_node);
    return call_end(&call, rc);
}

/* For a GPU whose memory is a NUMA node of its own, which none of the models is. */
nvml_return nvmlDeviceGetNumaNodeId(nvml_device device, unsigned *node)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, device, CALL_ANY);

    (void)node;
    return call_end(&call, rc == NVML_SUCCESS ? NVML_NOT_SUPPORTED : rc);
}

nvml_return nvmlDeviceGetComputeMode(nvml_device device, int *mode)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, device, CALL_ANY);

    if (rc == NVML_SUCCESS && mode == NULL)
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS)
        *mode = (int)call.it->compute_mode;
    return call_end(&call, rc);
}

nvml_return nvmlDeviceSetComputeMode(nvml_device device, int mode)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, device, CALL_ANY);

    if (rc == NVML_SUCCESS)
        rc = call_may_change(&call);
    if (rc == NVML_SUCCESS && mode != NVML_COMPUTE_DEFAULT && mode != NVML_COMPUTE_PROHIBITED &&
        mode != NVML_COMPUTE_EXCLUSIVE)
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS)
        call_write(&call)->gpus[call.gpu].compute_mode = (uint32_t)mode;
    return call_end(&call, rc);
}

nvml_return nvmlDeviceGetPersistenceMode(nvml_device device, int *on)
{
    unsigned value = 0;
    nvml_return rc = call_get_u32(__func__, device, &value, FIELD(persistence));

    if (rc == NVML_SUCCESS && on != NULL)
        *on = (int)value;
    return rc;
}

nvml_return nvmlDeviceSetPersistenceMode(nvml_device device, int on)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, device, CALL_GPU);

    if (rc == NVML_SUCCESS)
        rc = call_may_change(&call);
    if (rc == NVML_SUCCESS)
        call_write(&call)->gpus[call.gpu].persistence = on != 0;
    return call_end(&call, rc);
}

/* The same number for every whole GPU. */
static nvml_return get_fixed(const char *function, nvml_device device, unsigned *out,
                             unsigned value)
{
    struct call call;
    nvml_return rc = call_device(&call, function, device, CALL_GPU);

    if (rc == NVML_SUCCESS && out == NULL)
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS)
        *out = value;
    return call_end(&call, rc);
}

static nvml_return get_fixed_int(const char *function, nvml_device device, int *out, int value)
{
    unsigned got = 0;
    nvml_return rc = get_fixed(function, device, out != NULL ? &got : NULL, (unsigned)value);

    if (rc == NVML_SUCCESS)
        *out = (int)got;
    return rc;
}

nvml_return nvmlDeviceGetBrand(nvml_device device, int *brand)
{
    return get_fixed_int(__func__, device, brand, /* NVIDIA */ 14);
}

nvml_return nvmlDeviceGetVbiosVersion(nvml_device device, char *version, unsigned length)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, device, CALL_GPU);

    if (rc == NVML_SUCCESS)
        rc = call_put_text(version, length, "96.00.00.00.00");
    return call_end(&call, rc);
}

nvml_return nvmlDeviceGetDisplayMode(nvml_device device, int *on)
{
    return get_fixed_int(__func__, device, on, 0);
}

nvml_return nvmlDeviceGetDisplayActive(nvml_device device, int *on)
{
    return get_fixed_int(__func__, device, on, 0);
}

nvml_return nvmlDeviceGetPerformanceState(nvml_device device, int *state)
{
    return get_fixed_int(__func__, device, state, 0);
}

nvml_return nvmlDeviceGetFanSpeed(nvml_device device, unsigned *percent)
{
    nvml_return rc = get_fixed(__func__, device, percent, 0);

    return rc == NVML_SUCCESS ? NVML_NOT_SUPPORTED : rc; /* cooled by the air of the machine */
}

nvml_return nvmlDeviceGetCurrPcieLinkGeneration(nvml_device device, unsigned *generation)
{
    return get_fixed(__func__, device, generation, 4);
}

nvml_return nvmlDeviceGetMaxPcieLinkGeneration(nvml_device device, unsigned *generation)
{
    return get_fixed(__func__, device, generation, 4);
}

nvml_return nvmlDeviceGetCurrPcieLinkWidth(nvml_device device, unsigned *width)
{
    return get_fixed(__func__, device, width, 16);
}

nvml_return nvmlDeviceGetMaxPcieLinkWidth(nvml_device device, unsigned *width)
{
    return get_fixed(__func__, device, width, 16);
}

/* Accounting is off, and cannot be on in MIG mode. */
nvml_return nvmlDeviceGetAccountingMode(nvml_device device, int *on)
{
    return get_fixed_int(__func__, device, on, 0);
}

nvml_return nvmlDeviceGetAccountingBufferSize(nvml_device device, unsigned *size)
{
    return get_fixed(__func__, device, size, 4000);
}
