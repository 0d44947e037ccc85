/* SPDX-License-Identifier: Apache-2.0 */
/* call.c - what every function of the simulated library does first and last. */
#include "gpu/sim/call.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "gpu/sim/store.h"

/* One library is loaded once in a program; programs share the store. */
static struct {
    pthread_mutex_t mutex;
    struct store *store;
    uint32_t starts, loads;
    bool made; /* the handles */
    struct nvml_device_object gpus[SIM_GPUS_MAX];
    struct nvml_device_object migs[SIM_GPUS_MAX][SIM_GI_IDS][SIM_CI_IDS];
    struct nvml_gi_object gis[SIM_GPUS_MAX][SIM_GI_IDS];
    struct nvml_ci_object cis[SIM_GPUS_MAX][SIM_GI_IDS][SIM_CI_IDS];
} library = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void make_handles(void)
{
    for (uint32_t gpu = 0; gpu < SIM_GPUS_MAX; gpu++) {
        library.gpus[gpu] = (struct nvml_device_object){gpu, NVML_NO_ID, NVML_NO_ID};
        for (uint32_t gi = 0; gi < SIM_GI_IDS; gi++) {
            library.gis[gpu][gi] = (struct nvml_gi_object){gpu, gi};
            for (uint32_t ci = 0; ci < SIM_CI_IDS; ci++) {
                library.migs[gpu][gi][ci] = (struct nvml_device_object){gpu, gi, ci};
                library.cis[gpu][gi][ci] = (struct nvml_ci_object){gpu, gi, ci};
            }
        }
    }
    library.made = true;
}

nvml_device call_gpu_handle(uint32_t gpu)
{
    return &library.gpus[gpu];
}

nvml_device call_mig_handle(uint32_t gpu, uint32_t gi_id, uint32_t ci_id)
{
    return &library.migs[gpu][gi_id][ci_id];
}

nvml_gi call_gi_handle(uint32_t gpu, uint32_t id)
{
    return &library.gis[gpu][id];
}

nvml_ci call_ci_handle(uint32_t gpu, uint32_t gi_id, uint32_t id)
{
    return &library.cis[gpu][gi_id][id];
}

/* Whether a pointer is that of one of our objects: programs pass old and wrong ones. */
static bool is_one_of(const void *pointer, const void *first, size_t bytes, size_t size)
{
    const uintptr_t at = (uintptr_t)pointer, from = (uintptr_t)first;

    return at >= from && at < from + bytes && (at - from) % size == 0;
}

nvml_return call_start(void)
{
    nvml_return rc = NVML_SUCCESS;

    pthread_mutex_lock(&library.mutex);
    if (!library.made)
        make_handles();
    if (library.store == NULL &&
        store_open(store_default_directory(), getenv("BERTH_SIM_GPUS"), &library.store, NULL) < 0)
        rc = NVML_DRIVER_NOT_LOADED;
    if (rc == NVML_SUCCESS) {
        library.loads = store_read(library.store)->loads;
        store_end(library.store, false);
        library.starts++;
    }
    pthread_mutex_unlock(&library.mutex);
    return rc;
}

nvml_return call_stop(void)
{
    nvml_return rc = NVML_UNINITIALIZED;

    pthread_mutex_lock(&library.mutex);
    if (library.starts > 0) {
        rc = NVML_SUCCESS;
        library.starts--;
        if (library.starts == 0) {
            store_close(library.store);
            library.store = NULL;
        }
    }
    pthread_mutex_unlock(&library.mutex);
    return rc;
}

/* The answer that somebody commanded for this call. */
static nvml_return take_fault(struct call *call, const char *function)
{
    for (uint32_t i = 0; i < SIM_FAULTS_MAX; i++) {
        const struct sim_fault *fault = &call->machine->faults[i];
        struct sim_fault *change;

        if (fault->times == 0 || (fault->gpu != NVML_NO_ID && fault->gpu != call->gpu) ||
            (strcmp(fault->function, "*") != 0 && strcmp(fault->function, function) != 0))
            continue;
        if (fault->times == UINT32_MAX && fault->skip == 0)
            return fault->rc;
        change = &store_write(library.store)->faults[i];
        call->keep = true;
        if (change->skip > 0) {
            change->skip--;
            continue;
        }
        if (change->times != UINT32_MAX)
            change->times--;
        return change->rc;
    }
    return NVML_SUCCESS;
}

static nvml_return begin(struct call *call)
{
    *call = (struct call){.gpu = NVML_NO_ID, .gi_id = NVML_NO_ID, .ci_id = NVML_NO_ID};
    pthread_mutex_lock(&library.mutex);
    if (library.starts == 0) {
        pthread_mutex_unlock(&library.mutex);
        return NVML_UNINITIALIZED;
    }
    call->machine = store_read(library.store);
    /* The driver was loaded anew since this program started the library. */
    return call->machine->loads == library.loads ? NVML_SUCCESS : NVML_UNINITIALIZED;
}

/* Ends a call before it began: what a fault has used up stays so. */
static nvml_return refuse(struct call *call, nvml_return rc)
{
    if (call->machine == NULL)
        return rc;
    store_end(library.store, call->keep);
    call->machine = NULL;
    pthread_mutex_unlock(&library.mutex);
    return rc;
}

nvml_return call_begin(struct call *call, const char *function)
{
    nvml_return rc = begin(call);

    if (rc == NVML_SUCCESS)
        rc = take_fault(call, function);
    return rc == NVML_SUCCESS ? rc : refuse(call, rc);
}

static nvml_return begin_gpu(struct call *call, const char *function, uint32_t gpu)
{
    nvml_return rc;

    if (gpu >= call->machine->gpu_count)
        return NVML_INVALID_ARGUMENT;
    call->gpu = gpu;
    call->it = &call->machine->gpus[gpu];
    call->model = machine_model(call->machine, gpu);
    rc = take_fault(call, function);
    if (rc == NVML_SUCCESS && call->it->lost)
        rc = NVML_GPU_IS_LOST;
    if (rc == NVML_SUCCESS && call->it->reset_required)
        rc = NVML_RESET_REQUIRED;
    return rc;
}

static bool is_mig_there(const struct sim_gpu *gpu, uint32_t gi_id, uint32_t ci_id)
{
    return gpu->gis[gi_id].used && gpu->gis[gi_id].cis[ci_id].used;
}

nvml_return call_device(struct call *call, const char *function, nvml_device device,
                        enum call_target target)
{
    nvml_return rc = begin(call);
    bool is_mig = is_one_of(device, library.migs, sizeof library.migs, sizeof *device);

    if (rc == NVML_SUCCESS && !is_mig &&
        !is_one_of(device, library.gpus, sizeof library.gpus, sizeof *device))
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS)
        rc = begin_gpu(call, function, device->gpu);
    if (rc == NVML_SUCCESS && is_mig) {
        call->gi_id = device->gi_id;
        call->ci_id = device->ci_id;
        if (!is_mig_there(call->it, device->gi_id, device->ci_id))
            rc = NVML_INVALID_ARGUMENT;
        else if (!(target & CALL_MIG))
            rc = NVML_NOT_SUPPORTED;
    } else if (rc == NVML_SUCCESS && !(target & CALL_GPU)) {
        rc = NVML_INVALID_ARGUMENT;
    }
    return rc == NVML_SUCCESS ? rc : refuse(call, rc);
}

nvml_return call_gi(struct call *call, const char *function, nvml_gi gi)
{
    nvml_return rc = begin(call);

    if (rc == NVML_SUCCESS && !is_one_of(gi, library.gis, sizeof library.gis, sizeof *gi))
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS)
        rc = begin_gpu(call, function, gi->gpu);
    if (rc == NVML_SUCCESS) {
        call->gi_id = gi->id;
        if (!call->it->gis[gi->id].used)
            rc = NVML_INVALID_ARGUMENT;
    }
    return rc == NVML_SUCCESS ? rc : refuse(call, rc);
}

nvml_return call_ci(struct call *call, const char *function, nvml_ci ci)
{
    nvml_return rc = begin(call);

    if (rc == NVML_SUCCESS && !is_one_of(ci, library.cis, sizeof library.cis, sizeof *ci))
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS)
        rc = begin_gpu(call, function, ci->gpu);
    if (rc == NVML_SUCCESS) {
        call->gi_id = ci->gi_id;
        call->ci_id = ci->id;
        if (!is_mig_there(call->it, ci->gi_id, ci->id))
            rc = NVML_INVALID_ARGUMENT;
    }
    return rc == NVML_SUCCESS ? rc : refuse(call, rc);
}

struct sim_machine *call_write(struct call *call)
{
    struct sim_machine *machine = store_write(library.store);

    call->machine = machine;
    call->keep = true;
    if (call->it != NULL)
        call->it = &machine->gpus[call->gpu];
    return machine;
}

nvml_return call_may_change(const struct call *call)
{
    if (!call->machine->needs_root || geteuid() == 0 || geteuid() == call->machine->owner)
        return NVML_SUCCESS;
    return NVML_NO_PERMISSION;
}

nvml_return call_end(struct call *call, nvml_return rc)
{
    return refuse(call, rc);
}

nvml_return call_put_text(char *out, unsigned length, const char *text)
{
    if (out == NULL)
        return NVML_INVALID_ARGUMENT;
    if (length <= strlen(text))
        return NVML_INSUFFICIENT_SIZE;
    memcpy(out, text, strlen(text) + 1);
    return NVML_SUCCESS;
}

nvml_return call_get_u32(const char *function, nvml_device device, unsigned *out, size_t offset)
{
    struct call call;
    nvml_return rc = call_device(&call, function, device, CALL_GPU);

    if (rc == NVML_SUCCESS && out == NULL)
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS)
        memcpy(out, (const char *)call.it + offset, sizeof *out);
    return call_end(&call, rc);
}
