/* SPDX-License-Identifier: Apache-2.0 */
/* health.c - errors of devices. */
#include "gpu/health.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"

/* Registers one device for what it supports of what is wanted: a bit that a device does not know
 * fails the whole call. */
static nvml_return watch_device(const struct health_watch *watch, const struct device *device,
                                const struct nvml *nvml)
{
    unsigned long long types = 0;
    nvml_return rc = nvml_ask(nvml, nvmlDeviceGetSupportedEventTypes, device->handle, &types);

    if (rc != NVML_SUCCESS)
        return rc;
    if ((types & NVML_EVENT_XID) == 0)
        return NVML_NOT_SUPPORTED;
    return nvml_ask(nvml, nvmlDeviceRegisterEvents, device->handle, NVML_EVENT_XID, watch->events);
}

int health_watch(struct health_watch *watch, const struct devices *devices, const struct nvml *nvml,
                 struct err *err)
{
    uint32_t watched = 0;
    nvml_return rc;

    health_unwatch(watch, nvml);
    rc = nvml_ask(nvml, nvmlEventSetCreate, &watch->events);
    if (rc != NVML_SUCCESS)
        return nvml_failed(rc, err, "cannot watch for Xids");
    watch->open = true;
    watch->starts = nvml->starts;
    for (uint32_t i = 0; i < devices->count; i++) {
        if (devices->items[i].state != DEVICE_PRESENT)
            continue;
        rc = watch_device(watch, &devices->items[i], nvml);
        if (rc == NVML_SUCCESS)
            watched++;
        else if (!nvml_is_absent(rc) && rc != NVML_GPU_IS_LOST && rc != NVML_RESET_REQUIRED)
            break;
    }
    if (watched > 0 || devices->count == 0)
        return 0;
    health_unwatch(watch, nvml);
    return nvml_failed(rc != NVML_SUCCESS ? rc : NVML_NOT_SUPPORTED, err, "cannot watch for Xids");
}

void health_unwatch(struct health_watch *watch, const struct nvml *nvml)
{
    if (watch->open && watch->starts == nvml->starts)
        nvml_ask(nvml, nvmlEventSetFree, watch->events);
    *watch = (struct health_watch){0};
}

static struct reading id_reading(uint32_t id)
{
    return id != NVML_NO_ID ? reading_of(id) : reading_absent();
}

int health_next(struct health_watch *watch, const struct devices *devices, const struct nvml *nvml,
                struct health_event *out, struct err *err)
{
    /* A library before 450 writes no instance ids. */
    struct nvml_event event = {.gi_id = NVML_NO_ID, .ci_id = NVML_NO_ID};
    const struct device *device;
    nvml_return rc;

    if (!watch->open || watch->starts != nvml->starts)
        return err_set(err, -ENXIO, "Xids: not watched");
    for (;;) {
        rc = nvml_ask(nvml, nvmlEventSetWait_v2, watch->events, &event, /* ms */ 0);
        if (rc == NVML_TIMEOUT)
            return 0;
        if (rc != NVML_SUCCESS)
            return nvml_failed(rc, err, "cannot read Xids");
        device = devices_find_handle(devices, event.device);
        if (device != NULL && event.type == NVML_EVENT_XID)
            break;
    }
    *out = (struct health_event){.xid = (uint32_t)event.data,
                                 .gi_id = id_reading(event.gi_id),
                                 .ci_id = id_reading(event.ci_id)};
    memcpy(out->uuid, device->uuid, sizeof out->uuid);
    return 1;
}

static struct reading take_ecc(struct asking *asking, int type, int counter)
{
    unsigned long long count = 0;
    nvml_return rc =
        nvml_ask(asking->nvml, nvmlDeviceGetTotalEccErrors, asking->handle, type, counter, &count);

    return asking_take(asking, rc, count);
}

static void read_rows(struct asking *asking, struct device_errors *out)
{
    unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
    nvml_return rc = nvml_ask(asking->nvml, nvmlDeviceGetRemappedRows, asking->handle, &corrected,
                              &uncorrected, &pending, &failed);

    out->rows_corrected = asking_take(asking, rc, corrected);
    out->rows_uncorrected = asking_take(asking, rc, uncorrected);
    out->remap_pending = asking_take(asking, rc, pending);
    out->remap_failed = asking_take(asking, rc, failed);
}

static struct reading take_pages(struct asking *asking)
{
    struct reading sum = reading_absent();

    for (int cause = 0; cause < 2; cause++) {
        unsigned count = 0;
        nvml_return rc =
            nvml_ask(asking->nvml, nvmlDeviceGetRetiredPages, asking->handle, cause, &count, NULL);
        struct reading pages =
            asking_take(asking, rc == NVML_INSUFFICIENT_SIZE ? NVML_SUCCESS : rc, count);

        if (pages.known)
            sum = reading_of(sum.value + pages.value);
    }
    return sum;
}

int device_errors(struct device *device, const struct nvml *nvml, struct device_errors *out,
                  struct err *err)
{
    struct asking asking = {.nvml = nvml, .handle = device->handle};
    struct device_errors found = {0};
    int current = 0, pending = 0;
    nvml_return rc;

    if (device->state != DEVICE_PRESENT)
        return err_set(err, -ENODEV, "GPU '%s': not there", device->uuid);
    rc = nvml_ask(nvml, nvmlDeviceGetEccMode, device->handle, &current, &pending);
    found.ecc_mode = asking_take(&asking, rc, current != 0);
    found.corrected = take_ecc(&asking, NVML_ECC_CORRECTED, NVML_ECC_VOLATILE);
    found.uncorrected = take_ecc(&asking, NVML_ECC_UNCORRECTED, NVML_ECC_VOLATILE);
    found.corrected_ever = take_ecc(&asking, NVML_ECC_CORRECTED, NVML_ECC_AGGREGATE);
    found.uncorrected_ever = take_ecc(&asking, NVML_ECC_UNCORRECTED, NVML_ECC_AGGREGATE);
    read_rows(&asking, &found);
    found.pages_retired = take_pages(&asking);
    if (asking.failed == NVML_GPU_IS_LOST || asking.failed == NVML_RESET_REQUIRED)
        device_lost(device);
    if (asking.failed != NVML_SUCCESS)
        return nvml_failed(asking.failed, err, "GPU '%s': errors", device->uuid);
    *out = found;
    return 0;
}
