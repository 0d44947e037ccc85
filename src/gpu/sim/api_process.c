/* SPDX-License-Identifier: Apache-2.0 */
/* api_process.c - the simulated library: processes on devices and how busy they are. */
#include <string.h>

#include "gpu/sim/call.h"

enum { SAMPLE_PERIOD_US = 100000, STRANGE_SAMPLES = 2 };

/* Whether a process belongs on a list of this kind, of the device or MIG device of a call. */
static bool is_listed(const struct call *call, const struct sim_process *process, uint32_t kind)
{
    if (!process->used || process->gpu != call->gpu || !(process->kinds & kind))
        return false;
    return call->gi_id == NVML_NO_ID ||
           (process->gi_id == call->gi_id && process->ci_id == call->ci_id);
}

static uint32_t count_listed(const struct call *call, uint32_t kind)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < SIM_PROCESSES_MAX; i++)
        count += is_listed(call, &call->machine->processes[i], kind);
    return count;
}

/* Records of any size: they are alike in front, and a shorter one only ends earlier. */
static void put_record(void *out, const struct sim_process *process, size_t size)
{
    const struct nvml_process_long record = {.pid = process->pid,
                                             .used = process->memory_bytes,
                                             .gi_id = process->gi_id,
                                             .ci_id = process->ci_id,
                                             .used_protected = 0};

    memcpy(out, &record, size);
}

/* Fills records of size bytes, or says how many there are. */
static nvml_return put_list(struct call *call, uint32_t kind, size_t size, unsigned *count,
                            void *records)
{
    uint32_t there, at = 0;

    machine_prune(call_write(call));
    there = count_listed(call, kind);
    if (there > *count || (there > 0 && records == NULL)) {
        *count = there;
        return NVML_INSUFFICIENT_SIZE;
    }
    for (uint32_t i = 0; i < SIM_PROCESSES_MAX; i++)
        if (is_listed(call, &call->machine->processes[i], kind))
            put_record((char *)records + size * at++, &call->machine->processes[i], size);
    *count = there;
    return NVML_SUCCESS;
}

/* size 0: what the driver of this machine writes. */
static nvml_return list(const char *function, nvml_device device, uint32_t kind, size_t size,
                        unsigned *count, void *records)
{
    struct call call;
    nvml_return rc = call_device(&call, function, device, CALL_ANY);

    if (rc == NVML_SUCCESS && count == NULL)
        rc = NVML_INVALID_ARGUMENT;
    /* The list of a whole GPU in MIG mode shows everybody's instances. */
    if (rc == NVML_SUCCESS && call.it->mig_mode && call.gi_id == NVML_NO_ID)
        rc = call_may_change(&call);
    if (rc == NVML_SUCCESS)
        rc = put_list(&call, kind, size != 0 ? size : call.machine->record_size, count, records);
    return call_end(&call, rc);
}

nvml_return nvmlDeviceGetComputeRunningProcesses_v3(nvml_device device, unsigned *count,
                                                    void *records)
{
    return list(__func__, device, SIM_COMPUTE, 0, count, records);
}

nvml_return nvmlDeviceGetGraphicsRunningProcesses_v3(nvml_device device, unsigned *count,
                                                     void *records)
{
    return list(__func__, device, SIM_GRAPHICS, 0, count, records);
}

nvml_return nvmlDeviceGetMPSComputeRunningProcesses_v3(nvml_device device, unsigned *count,
                                                       void *records)
{
    return list(__func__, device, SIM_MPS, 0, count, records);
}

nvml_return nvmlDeviceGetComputeRunningProcesses_v2(nvml_device device, unsigned *count,
                                                    void *records)
{
    return list(__func__, device, SIM_COMPUTE, sizeof(struct nvml_process), count, records);
}

nvml_return nvmlDeviceGetGraphicsRunningProcesses_v2(nvml_device device, unsigned *count,
                                                     void *records)
{
    return list(__func__, device, SIM_GRAPHICS, sizeof(struct nvml_process), count, records);
}

nvml_return nvmlDeviceGetMPSComputeRunningProcesses_v2(nvml_device device, unsigned *count,
                                                       void *records)
{
    return list(__func__, device, SIM_MPS, sizeof(struct nvml_process), count, records);
}

nvml_return nvmlDeviceGetComputeRunningProcesses(nvml_device device, unsigned *count, void *records)
{
    return list(__func__, device, SIM_COMPUTE, sizeof(struct nvml_process_v1), count, records);
}

nvml_return nvmlDeviceGetGraphicsRunningProcesses(nvml_device device, unsigned *count,
                                                  void *records)
{
    return list(__func__, device, SIM_GRAPHICS, sizeof(struct nvml_process_v1), count, records);
}

nvml_return nvmlDeviceGetRunningProcessDetailList(nvml_device device,
                                                  struct nvml_process_list *processes)
{
    static const uint32_t kinds[] = {SIM_COMPUTE, SIM_GRAPHICS, SIM_MPS};
    unsigned count;
    nvml_return rc;

    if (processes == NULL || processes->mode > 2)
        return NVML_INVALID_ARGUMENT;
    if (processes->version != NVML_VERSION_OF(struct nvml_process_list, 1u))
        return NVML_BAD_VERSION;
    count = processes->count;
    rc = list(__func__, device, kinds[processes->mode], sizeof(struct nvml_process_long), &count,
              processes->items);
    if (rc == NVML_SUCCESS || rc == NVML_INSUFFICIENT_SIZE)
        processes->count = count;
    return rc;
}

/* One sample a process and period, at its begin. */
static uint64_t sample_at_us(void)
{
    const uint64_t now_us = (uint64_t)sim_now_us();

    return now_us - now_us % SAMPLE_PERIOD_US;
}

static bool is_sampled(const struct call *call, const struct sim_process *process)
{
    return process->used && process->gpu == call->gpu && process->busy_percent > 0;
}

/* The samples of now; *out_count of them, in out if it is not NULL. */
static void put_samples(const struct call *call, struct nvml_process_sample *out,
                        uint32_t *out_count)
{
    const uint64_t at_us = sample_at_us();
    uint32_t count = 0;

    for (uint32_t i = 0; i < SIM_PROCESSES_MAX; i++) {
        const struct sim_process *process = &call->machine->processes[i];

        if (!is_sampled(call, process))
            continue;
        if (out != NULL)
            out[count] = (struct nvml_process_sample){.pid = process->pid,
                                                      .at_us = at_us,
                                                      .sm = process->busy_percent,
                                                      .memory = process->memory_percent};
        count++;
    }
    /* One of long ago, and one of 4 billion percent of somebody who is not there. */
    if (call->machine->strange_samples && out != NULL) {
        out[count] = (struct nvml_process_sample){.pid = 1, .at_us = 1, .sm = 50};
        out[count + 1] = (struct nvml_process_sample){
            .pid = UINT32_MAX, .at_us = at_us, .sm = UINT32_MAX, .memory = UINT32_MAX};
    }
    if (call->machine->strange_samples)
        count += STRANGE_SAMPLES;
    *out_count = count;
}

/* Locks, and answers for what has no samples. */
static nvml_return begin_samples(struct call *call, const char *function, nvml_device device,
                                 uint64_t last_us, uint32_t *out_count)
{
    nvml_return rc = call_device(call, function, device, CALL_GPU);

    if (rc == NVML_SUCCESS && call->it->mig_mode)
        return call_end(call, NVML_NOT_SUPPORTED);
    if (rc != NVML_SUCCESS)
        return rc;
    machine_prune(call_write(call));
    put_samples(call, NULL, out_count);
    if (*out_count == 0 || (sample_at_us() <= last_us && !call->machine->strange_samples))
        return call_end(call, NVML_NOT_FOUND);
    return NVML_SUCCESS;
}

nvml_return nvmlDeviceGetProcessUtilization(nvml_device device, struct nvml_process_sample *samples,
                                            unsigned *count, unsigned long long last_us)
{
    struct call call;
    uint32_t there = 0;
    nvml_return rc = begin_samples(&call, __func__, device, last_us, &there);

    if (rc != NVML_SUCCESS)
        return rc;
    if (count == NULL)
        return call_end(&call, NVML_INVALID_ARGUMENT);
    if (samples == NULL || *count < there)
        rc = NVML_INSUFFICIENT_SIZE;
    else
        put_samples(&call, samples, &there);
    *count = there;
    return call_end(&call, rc);
}

nvml_return nvmlDeviceGetProcessesUtilizationInfo(nvml_device device,
                                                  struct nvml_process_uses *uses)
{
    struct nvml_process_sample samples[SIM_PROCESSES_MAX + STRANGE_SAMPLES];
    struct call call;
    uint32_t there = 0;
    nvml_return rc;

    if (uses == NULL)
        return NVML_INVALID_ARGUMENT;
    if (uses->version != NVML_VERSION_OF(struct nvml_process_uses, 1u))
        return NVML_BAD_VERSION;
    rc = begin_samples(&call, __func__, device, uses->last_us, &there);
    if (rc != NVML_SUCCESS)
        return rc;
    if (uses->items == NULL || uses->count < there) {
        rc = NVML_INSUFFICIENT_SIZE;
    } else {
        put_samples(&call, samples, &there);
        for (uint32_t i = 0; i < there; i++)
            uses->items[i] = (struct nvml_process_use){.at_us = samples[i].at_us,
                                                       .pid = samples[i].pid,
                                                       .sm = samples[i].sm,
                                                       .memory = samples[i].memory};
    }
    uses->count = there;
    return call_end(&call, rc);
}
