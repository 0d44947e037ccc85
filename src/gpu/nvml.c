/* SPDX-License-Identifier: Apache-2.0 */
/* nvml.c - libnvidia-ml.so.1, loaded while the program runs. */
#include "gpu/nvml.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

struct answer {
    nvml_return rc;
    int code;
    const char *text;
};

static const struct answer answers[] = {
    {NVML_SUCCESS, 0, "success"},
    {NVML_UNINITIALIZED, -ENXIO, "the library is not started"},
    {NVML_INVALID_ARGUMENT, -EINVAL, "invalid argument"},
    {NVML_NOT_SUPPORTED, -ENOTSUP, "not supported by this device"},
    {NVML_NO_PERMISSION, -EPERM, "not permitted to this user"},
    {NVML_NOT_FOUND, -ENOENT, "not found"},
    {NVML_INSUFFICIENT_SIZE, -E2BIG, "the buffer is too small"},
    {NVML_DRIVER_NOT_LOADED, -ENXIO, "the driver is not loaded"},
    {NVML_TIMEOUT, -ETIME, "timed out"},
    {NVML_LIBRARY_NOT_FOUND, -ENOENT, "a library is missing"},
    {NVML_FUNCTION_NOT_FOUND, -ENOTSUP, "not in this library"},
    {NVML_GPU_IS_LOST, -ENODEV, "the GPU is lost"},
    {NVML_RESET_REQUIRED, -EIO, "the GPU needs a reset"},
    {NVML_OPERATING_SYSTEM, -EACCES, "the system hides the device from this program"},
    {NVML_DRIVER_MISMATCH, -ESTALE, "the driver was exchanged; start this program again"},
    {NVML_IN_USE, -EBUSY, "in use"},
    {NVML_MEMORY, -ENOMEM, "out of memory"},
    {NVML_NO_DATA, -ENOENT, "no data"},
    {NVML_INSUFFICIENT_RESOURCES, -ENOSPC, "no room left on the GPU"},
    {NVML_BAD_VERSION, -EPROTO, "the library does not know this version of a struct"},
    {NVML_NOT_READY, -EREMOTEIO, "not ready"},
    {NVML_GPU_NOT_FOUND, -ENODEV, "no such GPU"},
    {NVML_INVALID_STATE, -EREMOTEIO, "not in this state"},
};

static const struct answer *answer_of(nvml_return rc)
{
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++)
        if (answers[i].rc == rc)
            return &answers[i];
    return NULL;
}

int nvml_errno(nvml_return rc)
{
    const struct answer *answer = answer_of(rc);

    return answer != NULL ? answer->code : -EREMOTEIO;
}

const char *nvml_text(nvml_return rc)
{
    const struct answer *answer = answer_of(rc);

    return answer != NULL ? answer->text : "unknown error";
}

bool nvml_is_absent(nvml_return rc)
{
    return rc == NVML_NOT_SUPPORTED || rc == NVML_FUNCTION_NOT_FOUND;
}

int nvml_failed(nvml_return rc, struct err *err, const char *what, ...)
{
    char text[256];
    va_list list;

    va_start(list, what);
    vsnprintf(text, sizeof text, what, list);
    va_end(list);
    return err_set(err, nvml_errno(rc), "%s: %s (NVML %d)", text, nvml_text(rc), rc);
}

/* A function pointer from a symbol: ISO C has no cast for it, POSIX says to copy the bytes. */
static void look_up(void *library, const char *symbol, const char *older, void *out_pointer)
{
    void *found = dlsym(library, symbol);

    if (found == NULL)
        found = dlsym(library, older);
    memcpy(out_pointer, &found, sizeof found);
}

static int start(struct nvml *nvml, struct err *err)
{
    nvml_return rc = nvml->calls.nvmlInit_v2();
    int version;

    if (rc != NVML_SUCCESS)
        return nvml_failed(rc, err, "cannot start NVML");
    nvml->started = true;
    nvml->starts++;
    if (nvml_ask(nvml, nvmlSystemGetDriverVersion, nvml->driver_version,
                 sizeof nvml->driver_version) != NVML_SUCCESS)
        nvml->driver_version[0] = '\0';
    if (nvml_ask(nvml, nvmlSystemGetNVMLVersion, nvml->library_version,
                 sizeof nvml->library_version) != NVML_SUCCESS)
        nvml->library_version[0] = '\0';
    rc = nvml_ask(nvml, nvmlSystemGetCudaDriverVersion_v2, &version);
    nvml->cuda_version =
        rc == NVML_SUCCESS && version > 0 ? reading_of((uint64_t)version) : reading_absent();
    return 0;
}

#define NVML_LOOK_UP(symbol, older, arguments)                                                     \
    look_up(nvml->library, #symbol, #older, &nvml->calls.symbol);

int nvml_open(const char *path, struct nvml **out, struct err *err)
{
    struct nvml *nvml = mem_alloc(1, sizeof *nvml);
    const char *name = path != NULL ? path : NVML_LIBRARY;
    int rc;

    nvml->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (nvml->library == NULL) {
        mem_free(nvml);
        return err_set(err, -ENOENT, "no NVIDIA driver library: %s", dlerror());
    }
    NVML_CALLS(NVML_LOOK_UP)
    if (nvml->calls.nvmlInit_v2 == NULL || nvml->calls.nvmlShutdown == NULL ||
        nvml->calls.nvmlDeviceGetCount_v2 == NULL || nvml->calls.nvmlDeviceGetUUID == NULL)
        rc = err_set(err, -ENOEXEC, "'%s': not an NVML library", name);
    else
        rc = start(nvml, err);
    if (rc < 0) {
        nvml_close(nvml);
        return rc;
    }
    *out = nvml;
    return 0;
}

static void stop(struct nvml *nvml)
{
    if (nvml->started)
        nvml->calls.nvmlShutdown();
    nvml->started = false;
}

void nvml_close(struct nvml *nvml)
{
    if (nvml == NULL)
        return;
    stop(nvml);
    dlclose(nvml->library);
    mem_free(nvml);
}

int nvml_restart(struct nvml *nvml, struct err *err)
{
    stop(nvml);
    return start(nvml, err);
}
