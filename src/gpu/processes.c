/* SPDX-License-Identifier: Apache-2.0 */
/* processes.c - who uses a GPU. */
#include "gpu/processes.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/vec.h"

enum { PROCESSES_MAX = 4096, RECORD_ROOM = 64, TRIES = 4, POISON = 0xa5 };

typedef nvml_return list_call(nvml_device device, unsigned *count, void *records);

/* A list as the library wrote it, in records of a size that is found out. */
struct raw {
    unsigned char *bytes; /* [room * RECORD_ROOM] */
    unsigned room, count;
    size_t stride;
};

void processes_init(struct processes *processes)
{
    *processes = (struct processes){0};
}

void processes_done(struct processes *processes)
{
    mem_free(processes->items);
    processes_init(processes);
}

/* Records of 24 or of 32 bytes? Some 530 and 535 drivers write the long ones under the name of the
 * short ones. The buffer was poisoned: what was written ends where the poison begins. */
static size_t record_size(const struct raw *raw)
{
    const size_t short_end = raw->count * sizeof(struct nvml_process);
    const size_t long_end = raw->count * sizeof(struct nvml_process_long);

    for (size_t i = short_end; i < long_end; i++)
        if (raw->bytes[i] != POISON)
            return sizeof(struct nvml_process_long);
    return sizeof(struct nvml_process);
}

/* Asks for the list with more and more room, since it grows while one asks. */
static nvml_return ask_list(const struct nvml *nvml, nvml_device handle, list_call *call,
                            struct raw *raw)
{
    unsigned room = 0;
    nvml_return rc;

    if (call == NULL)
        return NVML_FUNCTION_NOT_FOUND;
    if (!nvml->started)
        return NVML_UNINITIALIZED;
    rc = call(handle, &room, NULL);
    for (int i = 0; rc == NVML_INSUFFICIENT_SIZE && i < TRIES && room < PROCESSES_MAX; i++) {
        mem_free(raw->bytes);
        raw->room = raw->count = room * 2 + 8;
        raw->bytes = mem_alloc(raw->room, RECORD_ROOM);
        memset(raw->bytes, POISON, (size_t)raw->room * RECORD_ROOM);
        rc = call(handle, &raw->count, raw->bytes);
        room = raw->count;
    }
    if (rc == NVML_SUCCESS && raw->count > raw->room)
        raw->count = raw->room;
    return rc;
}

/* The newest list that the library has. What is not told (instances by the oldest call) is NO_ID.
 */
static nvml_return read_list(const struct nvml *nvml, nvml_device handle, list_call *call,
                             list_call *oldest, struct raw *raw)
{
    nvml_return rc = ask_list(nvml, handle, call, raw);

    raw->stride = sizeof(struct nvml_process);
    if (rc == NVML_SUCCESS && raw->bytes != NULL)
        raw->stride = record_size(raw);
    if (rc != NVML_FUNCTION_NOT_FOUND)
        return rc;
    raw->stride = sizeof(struct nvml_process_v1);
    return ask_list(nvml, handle, oldest, raw);
}

static struct nvml_process record_at(const struct raw *raw, unsigned i)
{
    struct nvml_process record = {.gi_id = NVML_NO_ID, .ci_id = NVML_NO_ID};
    const size_t size = raw->stride < sizeof record ? raw->stride : sizeof record;

    memcpy(&record, raw->bytes + i * raw->stride, size);
    return record;
}

static struct reading id_reading(uint32_t id)
{
    return id != NVML_NO_ID ? reading_of(id) : reading_absent();
}

static void add(struct processes *out, struct device *device, const struct nvml_process *record,
                uint32_t kind)
{
    struct process row = {.pid = record->pid, .kinds = kind};

    row.gi_id = id_reading(record->gi_id);
    row.ci_id = id_reading(record->ci_id);
    if (record->used != NVML_NO_VALUE)
        row.memory_bytes = reading_of(record->used);
    if (device->memory_total.known && row.memory_bytes.value > device->memory_total.value) {
        row.memory_bytes.value = device->memory_total.value;
        device->clamped++;
    }
    for (uint32_t i = 0; i < out->count; i++) {
        struct process *old = &out->items[i];

        if (old->pid != row.pid || !reading_equal(old->gi_id, row.gi_id) ||
            !reading_equal(old->ci_id, row.ci_id))
            continue;
        /* Each list gives all the memory of the process, not its part. */
        old->kinds |= kind;
        if (row.memory_bytes.value > old->memory_bytes.value || !old->memory_bytes.known)
            old->memory_bytes = row.memory_bytes;
        return;
    }
    vec_push(out->items, out->count, out->cap, row);
}

/* What a list of one kind says of a device, or of the MIG instance (gi_id, ci_id). */
static nvml_return read_kind(const struct nvml *nvml, struct device *device, nvml_device handle,
                             const struct nvml_process *instance, uint32_t kind,
                             struct processes *out)
{
    const struct nvml_calls *calls = &nvml->calls;
    list_call *call = calls->nvmlDeviceGetComputeRunningProcesses_v3;
    list_call *oldest = calls->nvmlDeviceGetComputeRunningProcesses;
    struct raw raw = {0};
    nvml_return rc;

    if (kind == PROCESS_GRAPHICS) {
        call = calls->nvmlDeviceGetGraphicsRunningProcesses_v3;
        oldest = calls->nvmlDeviceGetGraphicsRunningProcesses;
    } else if (kind == PROCESS_MPS) {
        call = calls->nvmlDeviceGetMPSComputeRunningProcesses_v3;
        oldest = NULL;
    }
    rc = read_list(nvml, handle, call, oldest, &raw);
    for (unsigned i = 0; rc == NVML_SUCCESS && i < raw.count; i++) {
        struct nvml_process record = record_at(&raw, i);

        if (instance != NULL) {
            record.gi_id = instance->gi_id;
            record.ci_id = instance->ci_id;
        }
        add(out, device, &record, kind);
    }
    mem_free(raw.bytes);
    return rc;
}

/* All kinds; only the list of compute processes has to be there. */
static nvml_return read_kinds(const struct nvml *nvml, struct device *device, nvml_device handle,
                              const struct nvml_process *instance, struct processes *out)
{
    static const uint32_t kinds[] = {PROCESS_COMPUTE, PROCESS_GRAPHICS, PROCESS_MPS};
    nvml_return rc = NVML_SUCCESS;

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && rc == NVML_SUCCESS; i++) {
        rc = read_kind(nvml, device, handle, instance, kinds[i], out);
        if (kinds[i] != PROCESS_COMPUTE && nvml_is_absent(rc))
            rc = NVML_SUCCESS;
    }
    return rc;
}

/* Without privileges the device hides what runs in its instances; each instance tells of its own.
 */
static nvml_return read_instances(const struct nvml *nvml, struct device *device,
                                  struct processes *out)
{
    unsigned count = 0;
    nvml_return rc = nvml_ask(nvml, nvmlDeviceGetMaxMigDeviceCount, device->handle, &count);

    for (unsigned i = 0; rc == NVML_SUCCESS && i < count; i++) {
        struct nvml_process instance = {0};
        nvml_device handle;

        rc = nvml_ask(nvml, nvmlDeviceGetMigDeviceHandleByIndex, device->handle, i, &handle);
        if (rc == NVML_NOT_FOUND) {
            rc = NVML_SUCCESS;
            continue;
        }
        if (rc == NVML_SUCCESS)
            rc = nvml_ask(nvml, nvmlDeviceGetGpuInstanceId, handle, &instance.gi_id);
        if (rc == NVML_SUCCESS)
            rc = nvml_ask(nvml, nvmlDeviceGetComputeInstanceId, handle, &instance.ci_id);
        if (rc == NVML_SUCCESS)
            rc = read_kinds(nvml, device, handle, &instance, out);
    }
    return rc;
}

static int failed(nvml_return rc, struct device *device, struct err *err)
{
    if (rc == NVML_GPU_IS_LOST || rc == NVML_RESET_REQUIRED)
        device_lost(device);
    return nvml_failed(rc, err, "GPU '%s': processes", device->uuid);
}

int processes_read(struct device *device, const struct nvml *nvml, struct processes *out,
                   struct err *err)
{
    nvml_return rc;

    out->count = 0;
    if (device->state != DEVICE_PRESENT)
        return err_set(err, -ENODEV, "GPU '%s': not there", device->uuid);
    rc = read_kinds(nvml, device, device->handle, NULL, out);
    if (rc == NVML_NO_PERMISSION && reading_is(device->mig_mode, 1)) {
        out->count = 0;
        rc = read_instances(nvml, device, out);
    }
    if (rc == NVML_SUCCESS)
        return 0;
    out->count = 0;
    return failed(rc, device, err);
}

uint64_t processes_memory_bytes(const struct processes *processes)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < processes->count; i++)
        sum += processes->items[i].memory_bytes.value;
    return sum;
}

/* The samples that are newer than the last ones. NVML_SUCCESS with none where nobody was busy. */
static nvml_return read_samples(const struct nvml *nvml, nvml_device handle, uint64_t last_us,
                                struct nvml_process_sample **out, unsigned *out_count)
{
    struct nvml_process_sample *samples = NULL;
    unsigned room, count = 0;
    nvml_return rc = nvml_ask(nvml, nvmlDeviceGetProcessUtilization, handle, NULL, &count, last_us);

    for (int i = 0; rc == NVML_INSUFFICIENT_SIZE && i < TRIES && count < PROCESSES_MAX; i++) {
        mem_free(samples);
        room = count = count + 8;
        samples = mem_alloc(room, sizeof *samples);
        rc = nvml_ask(nvml, nvmlDeviceGetProcessUtilization, handle, samples, &count, last_us);
        if (rc == NVML_SUCCESS && count > room)
            count = room;
    }
    if (rc == NVML_NOT_FOUND || (rc == NVML_SUCCESS && samples == NULL)) {
        count = 0;
        rc = NVML_SUCCESS;
    }
    *out = samples;
    *out_count = count;
    return rc;
}

/* Drivers are known to give samples that are old, of processes long gone, or of 4 billion percent.
 */
static bool is_good(const struct nvml_process_sample *sample, uint64_t last_us,
                    const struct processes *processes)
{
    if (sample->at_us <= last_us || sample->sm > 100 || sample->memory > 100)
        return false;
    for (uint32_t i = 0; i < processes->count; i++)
        if (processes->items[i].pid == sample->pid)
            return true;
    return false;
}

static void take_mean(struct process *process, const struct nvml_process_sample *samples,
                      unsigned count)
{
    uint64_t sm = 0, memory = 0, taken = 0;

    for (unsigned i = 0; i < count; i++)
        if (samples[i].pid == process->pid) {
            sm += samples[i].sm;
            memory += samples[i].memory;
            taken++;
        }
    process->busy_percent = reading_of(taken > 0 ? sm / taken : 0);
    process->memory_percent = reading_of(taken > 0 ? memory / taken : 0);
}

int processes_busy(struct device *device, const struct nvml *nvml, struct busy *busy,
                   struct processes *processes, struct err *err)
{
    struct nvml_process_sample *samples = NULL;
    uint64_t newest_us = busy->last_us;
    unsigned count, good = 0;
    nvml_return rc;

    if (device->state != DEVICE_PRESENT)
        return err_set(err, -ENODEV, "GPU '%s': not there", device->uuid);
    rc = read_samples(nvml, device->handle, busy->last_us, &samples, &count);
    for (unsigned i = 0; rc == NVML_SUCCESS && i < count; i++) {
        if (!is_good(&samples[i], busy->last_us, processes)) {
            busy->strange++;
            continue;
        }
        if (samples[i].at_us > newest_us)
            newest_us = samples[i].at_us;
        samples[good++] = samples[i];
    }
    for (uint32_t i = 0; rc == NVML_SUCCESS && i < processes->count; i++)
        take_mean(&processes->items[i], samples, good);
    mem_free(samples);
    busy->last_us = newest_us;
    if (rc == NVML_SUCCESS || nvml_is_absent(rc))
        return 0;
    return failed(rc, device, err);
}
