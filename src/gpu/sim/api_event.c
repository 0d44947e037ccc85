/* SPDX-License-Identifier: Apache-2.0 */
/* api_event.c - the simulated library: events, as they happen. */
#include <string.h>
#include <time.h>

#include "gpu/sim/call.h"

enum { SETS_MAX = 32, LOOK_EVERY_MS = 5 };

/* What a set waits for, of each GPU; and up to where it has seen the events of the machine. */
struct nvml_events_object {
    bool used;
    uint64_t seen;
    uint64_t types[SIM_GPUS_MAX];
};

static struct nvml_events_object sets[SETS_MAX]; /* under the lock of the calls */

static bool is_set(nvml_events set)
{
    for (uint32_t i = 0; i < SETS_MAX; i++)
        if (set == &sets[i])
            return set->used;
    return false;
}

nvml_return nvmlEventSetCreate(nvml_events *out)
{
    struct call call;
    nvml_return rc = call_begin(&call, __func__);

    if (rc != NVML_SUCCESS)
        return rc;
    rc = out == NULL ? NVML_INVALID_ARGUMENT : NVML_MEMORY;
    for (uint32_t i = 0; rc == NVML_MEMORY && i < SETS_MAX; i++) {
        if (sets[i].used)
            continue;
        sets[i] = (struct nvml_events_object){.used = true, .seen = call.machine->event_count};
        *out = &sets[i];
        rc = NVML_SUCCESS;
    }
    return call_end(&call, rc);
}

nvml_return nvmlEventSetFree(nvml_events events)
{
    struct call call;
    nvml_return rc = call_begin(&call, __func__);

    if (rc == NVML_SUCCESS && !is_set(events))
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS)
        events->used = false;
    return call_end(&call, rc);
}

nvml_return nvmlDeviceGetSupportedEventTypes(nvml_device device, unsigned long long *types)
{
    struct call call;
    nvml_return rc = call_device(&call, __func__, device, CALL_GPU);

    if (rc == NVML_SUCCESS && types == NULL)
        rc = NVML_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS) {
        *types = NVML_EVENT_XID | NVML_EVENT_DOUBLE_BIT | NVML_EVENT_SINGLE_BIT;
        if (call.model->mig != NULL)
            *types |= NVML_EVENT_MIG;
    }
    return call_end(&call, rc);
}

nvml_return nvmlDeviceRegisterEvents(nvml_device device, unsigned long long types,
                                     nvml_events events)
{
    unsigned long long supported = 0;
    struct call call;
    nvml_return rc = nvmlDeviceGetSupportedEventTypes(device, &supported);

    if (rc == NVML_SUCCESS)
        rc = call_device(&call, __func__, device, CALL_GPU);
    if (rc != NVML_SUCCESS)
        return rc;
    if (!is_set(events) || types == 0)
        rc = NVML_INVALID_ARGUMENT;
    else if ((types & ~supported) != 0)
        rc = NVML_NOT_SUPPORTED;
    else
        events->types[call.gpu] |= types;
    return call_end(&call, rc);
}

/* The next event that the set waits for, or NVML_TIMEOUT. Without privileges events of an instance
 * are not shown. */
static nvml_return take_event(struct call *call, nvml_events set, struct nvml_event *out)
{
    const uint64_t newest = call->machine->event_count;

    if (newest > SIM_EVENTS_MAX && set->seen < newest - SIM_EVENTS_MAX)
        set->seen = newest - SIM_EVENTS_MAX;
    while (set->seen < newest) {
        const struct sim_event *event = &call->machine->events[++set->seen % SIM_EVENTS_MAX];

        if (event->gpu >= SIM_GPUS_MAX || (set->types[event->gpu] & event->type) == 0 ||
            (event->gi_id != NVML_NO_ID && call_may_change(call) != NVML_SUCCESS))
            continue;
        *out = (struct nvml_event){.device = call_gpu_handle(event->gpu),
                                   .type = event->type,
                                   .data = event->data,
                                   .gi_id = event->gi_id,
                                   .ci_id = event->ci_id};
        return NVML_SUCCESS;
    }
    return NVML_TIMEOUT;
}

nvml_return nvmlEventSetWait_v2(nvml_events events, struct nvml_event *out, unsigned timeout_ms)
{
    const struct timespec pause = {.tv_nsec = LOOK_EVERY_MS * 1000000};
    unsigned waited_ms = 0;

    for (;;) {
        struct call call;
        nvml_return rc = call_begin(&call, __func__);

        if (rc == NVML_SUCCESS && (out == NULL || !is_set(events)))
            rc = NVML_INVALID_ARGUMENT;
        if (rc == NVML_SUCCESS)
            rc = take_event(&call, events, out);
        rc = call_end(&call, rc);
        if (rc != NVML_TIMEOUT || waited_ms >= timeout_ms)
            return rc;
        nanosleep(&pause, NULL);
        waited_ms += LOOK_EVERY_MS;
    }
}
