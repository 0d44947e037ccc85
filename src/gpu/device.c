/* SPDX-License-Identifier: Apache-2.0 */
/* device.c - the GPUs of this machine. */
#include "gpu/device.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/vec.h"

void devices_init(struct devices *devices)
{
    *devices = (struct devices){0};
}

void devices_done(struct devices *devices)
{
    mem_free(devices->items);
    devices_init(devices);
}

static bool speaks_for_all(nvml_return rc)
{
    return rc == NVML_GPU_IS_LOST || rc == NVML_RESET_REQUIRED || rc == NVML_UNINITIALIZED ||
           rc == NVML_DRIVER_NOT_LOADED || rc == NVML_DRIVER_MISMATCH;
}

struct reading asking_take(struct asking *asking, nvml_return rc, uint64_t value)
{
    if (rc == NVML_SUCCESS)
        return reading_of(value);
    if (asking->failed == NVML_SUCCESS && speaks_for_all(rc))
        asking->failed = rc;
    return reading_absent();
}

/* One value of 32 bits. */
static struct reading take_u32(struct asking *asking,
                               nvml_return (*call)(nvml_device device, unsigned *out))
{
    unsigned value = 0;
    nvml_return rc = call != NULL ? call(asking->handle, &value) : NVML_FUNCTION_NOT_FOUND;

    return asking_take(asking, rc, value);
}

static struct reading take_int(struct asking *asking,
                               nvml_return (*call)(nvml_device device, int *out))
{
    int value = 0;
    nvml_return rc = call != NULL ? call(asking->handle, &value) : NVML_FUNCTION_NOT_FOUND;

    return value >= 0 ? asking_take(asking, rc, (uint64_t)value) : reading_absent();
}

/* What a function wrote as text, or "" if it did not. */
static void take_text(struct asking *asking, nvml_return rc, char *text, size_t size)
{
    if (!asking_take(asking, rc, 0).known)
        text[0] = '\0';
    text[size - 1] = '\0';
}

static void read_bus(struct asking *asking, struct device *device)
{
    struct nvml_pci_info pci = {0};
    nvml_return rc = nvml_ask(asking->nvml, nvmlDeviceGetPciInfo_v3, asking->handle, &pci);
    const char *from = pci.bus_id[0] != '\0' ? pci.bus_id : pci.legacy_bus_id;
    const size_t size = from == pci.bus_id ? sizeof pci.bus_id : sizeof pci.legacy_bus_id;

    device->pci_id = asking_take(asking, rc, pci.device_id);
    memset(device->bus_id, 0, sizeof device->bus_id);
    if (rc == NVML_SUCCESS)
        memcpy(device->bus_id, from, strnlen(from, size - 1));
}

static void read_numa_node(struct asking *asking, struct device *device)
{
    unsigned long words[16] = {0};
    const unsigned count = sizeof words / sizeof words[0];
    nvml_return rc = nvml_ask(asking->nvml, nvmlDeviceGetMemoryAffinity, asking->handle, count,
                              words, /* scope: node */ 0);
    struct reading any = asking_take(asking, rc, 0);

    device->numa_node = reading_absent();
    for (unsigned i = 0; any.known && i < count && !device->numa_node.known; i++)
        if (words[i] != 0)
            device->numa_node =
                reading_of(i * 8 * sizeof words[0] + (unsigned)__builtin_ctzl(words[i]));
}

static void read_capability(struct asking *asking, struct device *device)
{
    int major = 0, minor = 0;
    nvml_return rc =
        nvml_ask(asking->nvml, nvmlDeviceGetCudaComputeCapability, asking->handle, &major, &minor);

    device->capability = asking_take(asking, rc, (uint64_t)(major * 10 + minor));
}

static void read_modes(struct asking *asking, struct device *device)
{
    unsigned current = 0, pending = 0;
    nvml_return rc =
        nvml_ask(asking->nvml, nvmlDeviceGetMigMode, asking->handle, &current, &pending);

    device->mig_mode = asking_take(asking, rc, current);
    device->mig_pending = asking_take(asking, rc, pending);
    device->compute_mode = take_int(asking, asking->nvml->calls.nvmlDeviceGetComputeMode);
    device->persistence = take_int(asking, asking->nvml->calls.nvmlDeviceGetPersistenceMode);
}

static nvml_return read_facts(const struct nvml *nvml, struct device *device)
{
    struct asking asking = {.nvml = nvml, .handle = device->handle};
    struct device_memory memory;
    nvml_return rc;

    rc = nvml_ask(nvml, nvmlDeviceGetName, device->handle, device->name, sizeof device->name);
    take_text(&asking, rc, device->name, sizeof device->name);
    rc = nvml_ask(nvml, nvmlDeviceGetSerial, device->handle, device->serial, sizeof device->serial);
    take_text(&asking, rc, device->serial, sizeof device->serial);
    read_bus(&asking, device);
    device->minor = take_u32(&asking, nvml->calls.nvmlDeviceGetMinorNumber);
    device->architecture = take_u32(&asking, nvml->calls.nvmlDeviceGetArchitecture);
    read_capability(&asking, device);
    read_numa_node(&asking, device);
    read_modes(&asking, device);
    rc = device_memory(nvml, device->handle, &memory, &device->clamped);
    device->memory_total = asking_take(&asking, rc, memory.total.value);
    return asking.failed;
}

/* The figures of a device must not say more than there is: what they hold is subtracted later. */
static void clamp_memory(struct device_memory *memory, uint32_t *clamped)
{
    const uint64_t total = memory->total.value;

    if (memory->used.value > total) {
        memory->used.value = total;
        *clamped += 1;
    }
    if (memory->free.value > total) {
        memory->free.value = total;
        *clamped += 1;
    }
    if (memory->reserved.value > total) {
        memory->reserved.value = total;
        *clamped += 1;
    }
}

nvml_return device_memory(const struct nvml *nvml, nvml_device handle, struct device_memory *out,
                          uint32_t *clamped)
{
    struct nvml_memory_v2 now = {.version = NVML_VERSION_OF(struct nvml_memory_v2, 2u)};
    struct nvml_memory plain = {0};
    nvml_return rc = nvml_ask(nvml, nvmlDeviceGetMemoryInfo_v2, handle, &now);

    *out = (struct device_memory){0};
    if (rc == NVML_SUCCESS) {
        *out = (struct device_memory){.total = reading_of(now.total),
                                      .used = reading_of(now.used),
                                      .free = reading_of(now.free),
                                      .reserved = reading_of(now.reserved)};
    } else if (nvml_is_absent(rc) || rc == NVML_BAD_VERSION) {
        rc = nvml_ask(nvml, nvmlDeviceGetMemoryInfo, handle, &plain);
        if (rc == NVML_SUCCESS)
            *out = (struct device_memory){.total = reading_of(plain.total),
                                          .used = reading_of(plain.used),
                                          .free = reading_of(plain.free)};
    }
    clamp_memory(out, clamped);
    return rc;
}

struct device *devices_find(const struct devices *devices, const char *uuid)
{
    for (uint32_t i = 0; i < devices->count; i++)
        if (strcmp(devices->items[i].uuid, uuid) == 0)
            return &devices->items[i];
    return NULL;
}

struct device *devices_find_handle(const struct devices *devices, nvml_device handle)
{
    struct device *found = NULL;

    /* A device that is present goes first: the handle of one that is not may mean another now. */
    for (uint32_t i = 0; i < devices->count; i++)
        if (handle != NULL && devices->items[i].handle == handle &&
            (found == NULL || devices->items[i].state == DEVICE_PRESENT))
            found = &devices->items[i];
    return found;
}

void device_lost(struct device *device)
{
    device->state = DEVICE_LOST;
    device->index = reading_absent();
}

/* Makes a row for what stands at index, or brings it up to date. A device that answers that it is
 * lost does not say which one it is: that is the row nobody else claims. */
static nvml_return update_one(struct devices *devices, const struct nvml *nvml, uint32_t index,
                              uint32_t *out_lost)
{
    char uuid[NVML_UUID_SIZE] = "";
    nvml_device handle = NULL;
    struct device *device, fresh = {0};
    nvml_return rc = nvml_ask(nvml, nvmlDeviceGetHandleByIndex_v2, index, &handle);

    if (rc == NVML_SUCCESS)
        rc = nvml_ask(nvml, nvmlDeviceGetUUID, handle, uuid, sizeof uuid);
    if (rc != NVML_SUCCESS) {
        if (rc == NVML_GPU_IS_LOST || rc == NVML_RESET_REQUIRED)
            *out_lost += 1;
        return rc == NVML_UNINITIALIZED || rc == NVML_DRIVER_NOT_LOADED ||
                       rc == NVML_DRIVER_MISMATCH
                   ? rc
                   : NVML_SUCCESS;
    }
    uuid[sizeof uuid - 1] = '\0';
    device = devices_find(devices, uuid);
    if (device != NULL)
        fresh = *device;
    memcpy(fresh.uuid, uuid, sizeof fresh.uuid);
    fresh.handle = handle;
    fresh.index = reading_of(index);
    fresh.state = DEVICE_PRESENT;
    rc = read_facts(nvml, &fresh);
    if (rc == NVML_GPU_IS_LOST || rc == NVML_RESET_REQUIRED) {
        if (device != NULL)
            fresh = *device;
        device_lost(&fresh);
        rc = NVML_SUCCESS;
    }
    if (device != NULL)
        *device = fresh;
    else
        vec_push(devices->items, devices->count, devices->cap, fresh);
    return rc;
}

int devices_update(struct devices *devices, const struct nvml *nvml, struct err *err)
{
    struct devices next = {.count = devices->count, .cap = devices->count};
    uint32_t lost = 0;
    unsigned count = 0;
    nvml_return rc = nvml_ask(nvml, nvmlDeviceGetCount_v2, &count);

    next.items = mem_copy(devices->items, devices->count, sizeof *devices->items);
    for (uint32_t i = 0; i < next.count; i++) {
        device_lost(&next.items[i]);
        next.items[i].state = DEVICE_GONE;
    }
    for (unsigned i = 0; rc == NVML_SUCCESS && i < count; i++)
        rc = update_one(&next, nvml, i, &lost);
    if (rc != NVML_SUCCESS) {
        devices_done(&next);
        return nvml_failed(rc, err, "cannot list GPUs");
    }
    /* Listed, but nameless: it is one of those that nobody else is. */
    for (uint32_t i = 0; i < next.count && lost > 0; i++)
        if (next.items[i].state == DEVICE_GONE) {
            next.items[i].state = DEVICE_LOST;
            lost--;
        }
    devices_done(devices);
    *devices = next;
    return 0;
}

static struct reading take_percent(struct asking *asking,
                                   nvml_return (*call)(nvml_device device, unsigned *percent,
                                                       unsigned *period_us))
{
    unsigned percent = 0, period_us = 0;
    nvml_return rc =
        call != NULL ? call(asking->handle, &percent, &period_us) : NVML_FUNCTION_NOT_FOUND;

    return asking_take(asking, rc, percent < 100 ? percent : 100);
}

static struct reading take_clock(struct asking *asking, int type)
{
    unsigned mhz = 0;
    nvml_return rc = nvml_ask(asking->nvml, nvmlDeviceGetClockInfo, asking->handle, type, &mhz);

    return asking_take(asking, rc, mhz);
}

static struct reading field_reading(struct asking *asking, const struct nvml_field *field)
{
    const uint64_t value = field->type == NVML_VALUE_U32 ? field->value.u32 : field->value.u64;

    if (field->type == NVML_VALUE_DOUBLE)
        return reading_absent();
    return asking_take(asking, field->rc, value);
}

static void read_fields(struct asking *asking, struct device_load *out)
{
    struct nvml_field fields[] = {
        {.id = NVML_FIELD_MEMORY_TEMPERATURE, .rc = NVML_UNKNOWN},
        {.id = NVML_FIELD_LINK_SENT, .scope_id = UINT32_MAX, .rc = NVML_UNKNOWN},
        {.id = NVML_FIELD_LINK_RECEIVED, .scope_id = UINT32_MAX, .rc = NVML_UNKNOWN},
    };
    const int count = sizeof fields / sizeof fields[0];
    nvml_return rc =
        nvml_ask(asking->nvml, nvmlDeviceGetFieldValues, asking->handle, count, fields);

    if (!asking_take(asking, rc, 0).known)
        return;
    out->memory_temperature_c = field_reading(asking, &fields[0]);
    out->nvlink_sent_kib = field_reading(asking, &fields[1]);
    out->nvlink_received_kib = field_reading(asking, &fields[2]);
}

static void read_power(struct asking *asking, struct device_load *out)
{
    const struct nvml *nvml = asking->nvml;
    unsigned long long energy_mj = 0;
    unsigned celsius = 0;
    nvml_return rc;

    out->power_mw = take_u32(asking, nvml->calls.nvmlDeviceGetPowerUsage);
    out->power_limit_mw = take_u32(asking, nvml->calls.nvmlDeviceGetEnforcedPowerLimit);
    rc = nvml_ask(nvml, nvmlDeviceGetTotalEnergyConsumption, asking->handle, &energy_mj);
    out->energy_mj = asking_take(asking, rc, energy_mj);
    rc = nvml_ask(nvml, nvmlDeviceGetTemperature, asking->handle, /* the GPU */ 0, &celsius);
    out->temperature_c = asking_take(asking, rc, celsius);
    out->sm_mhz = take_clock(asking, NVML_CLOCK_SM);
    out->memory_mhz = take_clock(asking, NVML_CLOCK_MEMORY);
}

static void read_load(struct asking *asking, struct device *device, struct device_load *out)
{
    const struct nvml *nvml = asking->nvml;
    struct nvml_utilization busy = {0};
    nvml_return rc = device_memory(nvml, device->handle, &out->memory, &device->clamped);

    asking_take(asking, rc, 0);
    rc = nvml_ask(nvml, nvmlDeviceGetUtilizationRates, device->handle, &busy);
    out->busy_percent = asking_take(asking, rc, busy.gpu < 100 ? busy.gpu : 100);
    out->memory_percent = asking_take(asking, rc, busy.memory < 100 ? busy.memory : 100);
    out->encoder_percent = take_percent(asking, nvml->calls.nvmlDeviceGetEncoderUtilization);
    out->decoder_percent = take_percent(asking, nvml->calls.nvmlDeviceGetDecoderUtilization);
    out->pcie_replays = take_u32(asking, nvml->calls.nvmlDeviceGetPcieReplayCounter);
    read_power(asking, out);
    read_fields(asking, out);
}

int device_load(struct device *device, const struct nvml *nvml, struct device_load *out,
                struct err *err)
{
    struct asking asking = {.nvml = nvml, .handle = device->handle};
    struct device_load load = {0};

    if (device->state != DEVICE_PRESENT)
        return err_set(err, -ENODEV, "GPU '%s': not there", device->uuid);
    if (!nvml->started)
        return nvml_failed(NVML_UNINITIALIZED, err, "GPU '%s'", device->uuid);
    read_load(&asking, device, &load);
    if (asking.failed == NVML_GPU_IS_LOST || asking.failed == NVML_RESET_REQUIRED)
        device_lost(device);
    if (asking.failed != NVML_SUCCESS)
        return nvml_failed(asking.failed, err, "GPU '%s'", device->uuid);
    *out = load;
    return 0;
}
