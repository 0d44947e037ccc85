/* SPDX-License-Identifier: Apache-2.0 */
/* api_system.c - the simulated library: start, stop, versions, and which devices there are. */
#include <stdio.h>
#include <string.h>

#include "gpu/sim/call.h"

#define LIBRARY_VERSION "13." /* before the version of the driver */

nvml_return nvmlInit_v2(void)
{
    return call_start();
}

nvml_return nvmlInit(void)
{
    return call_start();
}

nvml_return nvmlInitWithFlags(unsigned flags)
{
    (void)flags;
    return call_start();
}

nvml_return nvmlShutdown(void)
{
    return call_stop();
}

const char *nvmlErrorString(nvml_return rc)
{
    static const char *const texts[] = {"Success",
                                        "Uninitialized",
                                        "Invalid Argument",
                                        "Not Supported",
                                        "Insufficient Permissions",
                                        "Already Initialized",
                                        "Not Found",
                                        "Insufficient Size",
                                        "Insufficient External Power",
                                        "Driver Not Loaded",
                                        "Timeout",
                                        "Interrupt Request Issue",
                                        "NVML Shared Library Not Found",
                                        "Function Not Found",
                                        "Corrupted infoROM",
                                        "GPU is lost",
                                        "GPU requires reset",
                                        "Blocked by the operating system",
                                        "Driver/library version mismatch",
                                        "In use by another client",
                                        "Insufficient Memory",
                                        "No data",
                                        "vGPU ECC not supported",
                                        "Insufficient resources",
                                        "Frequency not supported",
                                        "Argument version mismatch",
                                        "Deprecated",
                                        "Not ready",
                                        "GPU not found",
                                        "Invalid state"};

    if (rc < 0 || (size_t)rc >= sizeof texts / sizeof texts[0])
        return "Unknown Error";
    return texts[rc];
}

nvml_return nvmlSystemGetDriverVersion(char *version, unsigned length)
{
    struct call call;
    nvml_return rc = call_begin(&call, __func__);

    if (rc == NVML_SUCCESS)
        rc = call_put_text(version, length, call.machine->driver_version);
    return call_end(&call, rc);
}

nvml_return nvmlSystemGetNVMLVersion(char *version, unsigned length)
{
    struct call call;
    char text[64];
    nvml_return rc = call_begin(&call, __func__);

    if (rc == NVML_SUCCESS) {
        snprintf(text, sizeof text, LIBRARY_VERSION "%s", call.machine->driver_version);
        rc = call_put_text(version, length, text);
    }
    return call_end(&call, rc);
}

nvml_return nvmlSystemGetCudaDriverVersion_v2(int *version)
{
    struct call call;
    nvml_return rc = call_begin(&call, __func__);

    if (rc == NVML_SUCCESS && version == NULL)
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS)
        *version = (int)call.machine->cuda_version;
    return call_end(&call, rc);
}

nvml_return nvmlSystemGetCudaDriverVersion(int *version)
{
    return nvmlSystemGetCudaDriverVersion_v2(version);
}

nvml_return nvmlSystemGetProcessName(unsigned pid, char *name, unsigned length)
{
    char path[32], text[256] = "";
    FILE *file;

    if (name == NULL || length == 0)
        return NVML_INVALID_ARGUMENT;
    snprintf(path, sizeof path, "/proc/%u/cmdline", pid);
    file = fopen(path, "re");
    if (file == NULL)
        return NVML_NOT_FOUND;
    if (fread(text, 1, sizeof text - 1, file) == 0)
        text[0] = '\0';
    fclose(file);
    snprintf(name, length, "%s", text);
    return NVML_SUCCESS;
}

nvml_return nvmlDeviceGetCount_v2(unsigned *count)
{
    struct call call;
    nvml_return rc = call_begin(&call, __func__);

    if (rc == NVML_SUCCESS && count == NULL)
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS)
        *count = call.machine->gpu_count;
    return call_end(&call, rc);
}

nvml_return nvmlDeviceGetCount(unsigned *count)
{
    return nvmlDeviceGetCount_v2(count);
}

/* The handle of a GPU that was found, unless it is lost: a lost one has no handle. */
static nvml_return give_gpu(struct call *call, uint32_t gpu, nvml_device *out)
{
    if (call->machine->gpus[gpu].lost)
        return NVML_GPU_IS_LOST;
    *out = call_gpu_handle(gpu);
    return NVML_SUCCESS;
}

nvml_return nvmlDeviceGetHandleByIndex_v2(unsigned index, nvml_device *out)
{
    struct call call;
    nvml_return rc = call_begin(&call, __func__);

    if (rc == NVML_SUCCESS && (out == NULL || index >= call.machine->gpu_count))
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS)
        rc = give_gpu(&call, call.machine->order[index], out);
    return call_end(&call, rc);
}

nvml_return nvmlDeviceGetHandleByIndex(unsigned index, nvml_device *out)
{
    return nvmlDeviceGetHandleByIndex_v2(index, out);
}

/* The MIG device with a UUID, of one GPU. */
static bool find_mig(const struct sim_machine *machine, uint32_t gpu, const char *uuid,
                     nvml_device *out)
{
    uint32_t gi_id, ci_id;

    for (uint32_t i = 0; instance_at_mig_index(&machine->gpus[gpu], i, &gi_id, &ci_id); i++)
        if (strcmp(instance_uuid(&machine->gpus[gpu], gi_id, ci_id).text, uuid) == 0) {
            *out = call_mig_handle(gpu, gi_id, ci_id);
            return true;
        }
    return false;
}

nvml_return nvmlDeviceGetHandleByUUID(const char *uuid, nvml_device *out)
{
    struct call call;
    nvml_return rc = call_begin(&call, __func__);

    if (rc != NVML_SUCCESS)
        return rc;
    if (uuid == NULL || out == NULL)
        return call_end(&call, NVML_INVALID_ARGUMENT);
    for (uint32_t i = 0; i < call.machine->gpu_count; i++) {
        if (strcmp(call.machine->gpus[i].uuid, uuid) == 0)
            return call_end(&call, give_gpu(&call, i, out));
        if (find_mig(call.machine, i, uuid, out))
            return call_end(&call, NVML_SUCCESS);
    }
    return call_end(&call, NVML_NOT_FOUND);
}

nvml_return nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, nvml_device *out)
{
    struct call call;
    nvml_return rc = call_begin(&call, __func__);

    if (rc != NVML_SUCCESS)
        return rc;
    if (bus_id == NULL || out == NULL)
        return call_end(&call, NVML_INVALID_ARGUMENT);
    for (uint32_t i = 0; i < call.machine->gpu_count; i++) {
        const char *full = call.machine->gpus[i].bus_id;

        /* With a domain of 8 digits, or of 4. */
        if (strcasecmp(full, bus_id) == 0 || strcasecmp(full + 4, bus_id) == 0)
            return call_end(&call, give_gpu(&call, i, out));
    }
    return call_end(&call, NVML_NOT_FOUND);
}

nvml_return nvmlDeviceGetHandleBySerial(const char *serial, nvml_device *out)
{
    struct call call;
    nvml_return rc = call_begin(&call, __func__);

    if (rc != NVML_SUCCESS)
        return rc;
    if (serial == NULL || out == NULL)
        return call_end(&call, NVML_INVALID_ARGUMENT);
    for (uint32_t i = 0; i < call.machine->gpu_count; i++)
        if (strcmp(call.machine->gpus[i].serial, serial) == 0)
            return call_end(&call, give_gpu(&call, i, out));
    return call_end(&call, NVML_NOT_FOUND);
}
