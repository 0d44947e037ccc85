/* SPDX-License-Identifier: Apache-2.0 */
/* api_load.c - the simulated library: memory, utilisation, power, temperature, clocks, errors. */
#include <string.h>

#include "gpu/sim/call.h"

#define FIELD(name) offsetof(struct sim_gpu, name)

/* Memory of the device or instance of a call, with dead processes left out. */
struct memory {
    uint64_t total, reserved, used;
};

static struct memory memory_of(struct call *call)
{
    struct memory memory;

    machine_prune(call_write(call));
    memory.total = machine_total_bytes(call->machine, call->gpu, call->gi_id);
    memory.reserved = machine_reserved_bytes(call->machine, call->gpu, call->gi_id);
    memory.used = machine_used_bytes(call->machine, call->gpu, call->gi_id);
    return memory;
}

static uint64_t free_of(const struct memory *memory)
{
    const uint64_t taken = memory->reserved + memory->used;

    return taken < memory->total ? memory->total - taken : 0;
}

nvml_return nvmlDeviceGetMemoryInfo(nvml_device device, struct nvml_memory *out)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, device, CALL_ANY);

    if (rc == NVML_SUCCESS && out == NULL)
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS) {
        const struct memory memory = memory_of(&call);

        *out = (struct nvml_memory){
            .total = memory.total, .free = free_of(&memory), .used = memory.used + memory.reserved};
    }
    return call_end(&call, rc);
}

nvml_return nvmlDeviceGetMemoryInfo_v2(nvml_device device, struct nvml_memory_v2 *out)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, device, CALL_ANY);

    if (rc == NVML_SUCCESS && out == NULL)
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS && out->version != NVML_VERSION_OF(struct nvml_memory_v2, 2u))
        rc = NVML_BAD_VERSION;
    if (rc == NVML_SUCCESS) {
        const struct memory memory = memory_of(&call);

        out->total = memory.total;
        out->reserved = memory.reserved;
        out->used = memory.used;
        out->free = free_of(&memory);
    }
    return call_end(&call, rc);
}

nvml_return nvmlDeviceGetBAR1MemoryInfo(nvml_device device, struct nvml_bar1 *out)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, device, CALL_ANY);

    if (rc == NVML_SUCCESS && out == NULL)
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS) {
        out->total = (uint64_t)call.model->bar1_mib << 20;
        out->used = UINT64_C(2) << 20;
        out->free = out->total - out->used;
    }
    return call_end(&call, rc);
}

/* Utilisation does not exist while the GPU is in MIG mode. */
static nvml_return call_outside_mig(struct call *call, const char *function, nvml_device device)
{
    nvml_return rc = call_device(call, function, device, CALL_GPU);

    if (rc == NVML_SUCCESS && call->it->mig_mode)
        return call_end(call, NVML_NOT_SUPPORTED);
    return rc;
}

nvml_return nvmlDeviceGetUtilizationRates(nvml_device device, struct nvml_utilization *out)
{
    struct call call;
    nvml_return rc = call_outside_mig(&call, __func__, device);

    if (rc != NVML_SUCCESS)
        return rc;
    if (out == NULL)
        return call_end(&call, NVML_INVALID_ARGUMENT);
    machine_prune(call_write(&call));
    out->gpu = machine_busy_percent(call.machine, call.gpu);
    out->memory = call.it->memory_percent;
    return call_end(&call, NVML_SUCCESS);
}

/* Nothing is encoded or decoded. */
static nvml_return get_engine(const char *function, nvml_device device, unsigned *percent,
                              unsigned *period_us)
{
    struct call call;
    nvml_return rc = call_outside_mig(&call, function, device);

    if (rc != NVML_SUCCESS)
        return rc;
    if (percent == NULL || period_us == NULL)
        return call_end(&call, NVML_INVALID_ARGUMENT);
    *percent = 0;
    *period_us = 167000;
    return call_end(&call, NVML_SUCCESS);
}

nvml_return nvmlDeviceGetEncoderUtilization(nvml_device device, unsigned *percent,
                                            unsigned *period_us)
{
    return get_engine(__func__, device, percent, period_us);
}

nvml_return nvmlDeviceGetDecoderUtilization(nvml_device device, unsigned *percent,
                                            unsigned *period_us)
{
    return get_engine(__func__, device, percent, period_us);
}

nvml_return nvmlDeviceGetPowerUsage(nvml_device device, unsigned *milliwatts)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, device, CALL_GPU);

    if (rc == NVML_SUCCESS && milliwatts == NULL)
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS)
        *milliwatts = machine_power_mw(call.machine, call.gpu);
    return call_end(&call, rc);
}

nvml_return nvmlDeviceGetEnforcedPowerLimit(nvml_device device, unsigned *milliwatts)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, device, CALL_GPU);

    if (rc == NVML_SUCCESS && milliwatts == NULL)
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS)
        *milliwatts = (unsigned)call.it->power_limit_mw;
    return call_end(&call, rc);
}

nvml_return nvmlDeviceGetPowerManagementLimit(nvml_device device, unsigned *milliwatts)
{
    return nvmlDeviceGetEnforcedPowerLimit(device, milliwatts);
}

nvml_return nvmlDeviceGetPowerManagementLimitConstraints(nvml_device device, unsigned *least,
                                                         unsigned *most)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, device, CALL_GPU);

    if (rc == NVML_SUCCESS && (least == NULL || most == NULL))
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS) {
        *most = call.model->power_limit_w * 1000;
        *least = *most / 2;
    }
    return call_end(&call, rc);
}

nvml_return nvmlDeviceGetPowerManagementDefaultLimit(nvml_device device, unsigned *milliwatts)
{
    unsigned least;

    return nvmlDeviceGetPowerManagementLimitConstraints(device, &least, milliwatts);
}

nvml_return nvmlDeviceSetPowerManagementLimit(nvml_device device, unsigned milliwatts)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, device, CALL_GPU);

    if (rc == NVML_SUCCESS)
        rc = call_may_change(&call);
    if (rc == NVML_SUCCESS && (milliwatts > call.model->power_limit_w * 1000 ||
                               milliwatts < call.model->power_limit_w * 500))
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS)
        call_write(&call)->gpus[call.gpu].power_limit_mw = milliwatts;
    return call_end(&call, rc);
}

nvml_return nvmlDeviceGetTotalEnergyConsumption(nvml_device device, unsigned long long *millijoules)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, device, CALL_GPU);

    if (rc == NVML_SUCCESS && millijoules == NULL)
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS)
        *millijoules = machine_energy_mj(call.machine, call.gpu);
    return call_end(&call, rc);
}

nvml_return nvmlDeviceGetTemperature(nvml_device device, int sensor, unsigned *celsius)
{
    if (sensor != 0)
        return NVML_INVALID_ARGUMENT;
    return call_get_u32(__func__, device, celsius, FIELD(temperature_c));
}

nvml_return nvmlDeviceGetTemperatureV(nvml_device device, struct nvml_temperature *out)
{
    unsigned celsius = 0;
    nvml_return rc;

    if (out == NULL || out->sensor != 0)
        return NVML_INVALID_ARGUMENT;
    if (out->version != NVML_VERSION_OF(struct nvml_temperature, 1u))
        return NVML_BAD_VERSION;
    rc = call_get_u32(__func__, device, &celsius, FIELD(temperature_c));
    if (rc == NVML_SUCCESS)
        out->celsius = (int32_t)celsius;
    return rc;
}

nvml_return nvmlDeviceGetMaxClockInfo(nvml_device device, int type, unsigned *mhz)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, device, CALL_GPU);

    if (rc == NVML_SUCCESS &&
        (mhz == NULL || type < NVML_CLOCK_GRAPHICS || type > NVML_CLOCK_VIDEO))
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS)
        *mhz = type == NVML_CLOCK_MEMORY ? call.model->memory_mhz : call.model->sm_mhz;
    return call_end(&call, rc);
}

/* Full clocks with work, the lowest without. */
nvml_return nvmlDeviceGetClockInfo(nvml_device device, int type, unsigned *mhz)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, device, CALL_GPU);

    if (rc == NVML_SUCCESS &&
        (mhz == NULL || type < NVML_CLOCK_GRAPHICS || type > NVML_CLOCK_VIDEO))
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS && type == NVML_CLOCK_MEMORY)
        *mhz = call.model->memory_mhz;
    else if (rc == NVML_SUCCESS)
        *mhz = machine_busy_percent(call.machine, call.gpu) > 0 ? call.model->sm_mhz : 345;
    return call_end(&call, rc);
}

nvml_return nvmlDeviceGetCurrentClocksEventReasons(nvml_device device, unsigned long long *reasons)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, device, CALL_GPU);

    if (rc == NVML_SUCCESS && reasons == NULL)
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS)
        *reasons = machine_busy_percent(call.machine, call.gpu) > 0 ? 0 : /* idle */ 1;
    return call_end(&call, rc);
}

nvml_return nvmlDeviceGetCurrentClocksThrottleReasons(nvml_device device,
                                                      unsigned long long *reasons)
{
    return nvmlDeviceGetCurrentClocksEventReasons(device, reasons);
}

nvml_return nvmlDeviceGetPcieReplayCounter(nvml_device device, unsigned *count)
{
    return call_get_u32(__func__, device, count, FIELD(pcie_replays));
}

nvml_return nvmlDeviceGetPcieThroughput(nvml_device device, int counter, unsigned *kbps)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, device, CALL_GPU);

    if (rc == NVML_SUCCESS && (kbps == NULL || counter < 0 || counter > 1))
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS)
        *kbps = machine_busy_percent(call.machine, call.gpu) * 1000;
    return call_end(&call, rc);
}

static uint32_t link_count(const struct call *call)
{
    uint32_t count = call->machine->switch_links[call->gpu];

    for (uint32_t i = 0; i < call->machine->gpu_count; i++)
        count += call->machine->nvlinks[call->gpu][i];
    return count;
}

/* One field; those without a case do not exist here. */
static void put_field(const struct call *call, struct nvml_field *field)
{
    const uint32_t links = link_count(call);

    field->at_us = sim_now_us();
    field->latency_us = 0;
    field->rc = NVML_SUCCESS;
    field->type = NVML_VALUE_U32;
    field->value.u64 = 0;
    switch (field->id) {
    case NVML_FIELD_MEMORY_TEMPERATURE:
        field->value.u32 = call->it->temperature_c + 8;
        break;
    case NVML_FIELD_ENERGY:
        field->type = NVML_VALUE_U64;
        field->value.u64 = machine_energy_mj(call->machine, call->gpu);
        break;
    case NVML_FIELD_LINK_COUNT:
        field->value.u32 = links;
        break;
    case NVML_FIELD_LINK_SPEED:
        field->value.u32 = links > 0 ? call->model->nvlink_mbps : 0;
        break;
    case NVML_FIELD_LINK_SENT:
    case NVML_FIELD_LINK_RECEIVED:
        field->type = NVML_VALUE_U64;
        field->rc = links > 0 ? NVML_SUCCESS : NVML_NOT_SUPPORTED;
        break;
    default:
        field->rc = NVML_NOT_SUPPORTED;
    }
}

nvml_return nvmlDeviceGetFieldValues(nvml_device device, int count, struct nvml_field *fields)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, device, CALL_GPU);

    if (rc == NVML_SUCCESS && (fields == NULL || count <= 0))
        rc = NVML_INVALID_ARGUMENT;
    for (int i = 0; rc == NVML_SUCCESS && i < count; i++)
        put_field(&call, &fields[i]);
    return call_end(&call, rc);
}

nvml_return nvmlDeviceGetEccMode(nvml_device device, int *current, int *pending)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, device, CALL_GPU);

    if (rc == NVML_SUCCESS && (current == NULL || pending == NULL))
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS)
        *current = *pending = 1;
    return call_end(&call, rc);
}

static bool is_ecc(int type, int counter, int location)
{
    return (type == 0 || type == 1) && (counter == 0 || counter == 1) && location >= 0 &&
           location < NVML_MEMORY_LOCATIONS;
}

nvml_return nvmlDeviceGetMemoryErrorCounter(nvml_device device, int type, int counter, int location,
                                            unsigned long long *count)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, device, CALL_GPU);

    if (rc == NVML_SUCCESS && (count == NULL || !is_ecc(type, counter, location)))
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS)
        *count = call.it->ecc[type][counter][location];
    return call_end(&call, rc);
}

nvml_return nvmlDeviceGetTotalEccErrors(nvml_device device, int type, int counter,
                                        unsigned long long *count)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, device, CALL_GPU);

    if (rc == NVML_SUCCESS && (count == NULL || !is_ecc(type, counter, 0)))
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS) {
        *count = 0;
        for (int i = 0; i < NVML_MEMORY_LOCATIONS; i++)
            *count += call.it->ecc[type][counter][i];
    }
    return call_end(&call, rc);
}

nvml_return nvmlDeviceGetRemappedRows(nvml_device device, unsigned *corrected,
                                      unsigned *uncorrected, unsigned *is_pending,
                                      unsigned *has_failed)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, device, CALL_GPU);

    if (rc == NVML_SUCCESS &&
        (corrected == NULL || uncorrected == NULL || is_pending == NULL || has_failed == NULL))
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS && call.model->architecture < NVML_ARCH_AMPERE)
        rc = NVML_NOT_SUPPORTED;
    if (rc == NVML_SUCCESS) {
        *corrected = call.it->rows_corrected;
        *uncorrected = call.it->rows_uncorrected;
        *is_pending = call.it->remap_pending;
        *has_failed = call.it->remap_failed;
    }
    return call_end(&call, rc);
}

nvml_return nvmlDeviceGetRetiredPages(nvml_device device, int cause, unsigned *count,
                                      unsigned long long *addresses)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, device, CALL_GPU);

    (void)addresses;
    if (rc == NVML_SUCCESS && (count == NULL || cause < 0 || cause > 1))
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS && call.model->architecture >= NVML_ARCH_AMPERE)
        rc = NVML_NOT_SUPPORTED;
    if (rc == NVML_SUCCESS)
        *count = 0;
    return call_end(&call, rc);
}
