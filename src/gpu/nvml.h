/* SPDX-License-Identifier: Apache-2.0 */
/* nvml.h - libnvidia-ml.so.1, loaded while the program runs.
 *
 * Nothing is linked: the library comes with the driver, and a machine without one runs the same
 * berth. Functions are looked up by their newest name, then by an older one; one that is not there
 * is called as if it answered NVML_FUNCTION_NOT_FOUND, which readers take for an absent fact.
 *
 * A struct nvml is used by one thread at a time. Calls may block: a few milliseconds each on
 * healthy devices, seconds on one that falls off the bus. A daemon therefore makes them on a worker
 * thread of its loop, never two at once. Keep one open for as long as the program lives: without a
 * client the driver may power devices down and forget their modes. */
#pragma once
#include <stdbool.h>

#include "gpu/nvml_calls.h"
#include "gpu/reading.h"

struct err;

#define NVML_LIBRARY "libnvidia-ml.so.1"

#define NVML_POINTER(symbol, older, arguments) nvml_return(*symbol) arguments;
struct nvml_calls {
    NVML_CALLS(NVML_POINTER)
};
#undef NVML_POINTER

struct nvml {
    void *library;
    struct nvml_calls calls; /* NULL where the library has no such function */
    bool started;
    char driver_version[NVML_VERSION_SIZE];  /* "580.82.07", or "" */
    char library_version[NVML_VERSION_SIZE]; /* "13.580.82.07", or "" */
    struct reading cuda_version;             /* 13000 for 13.0 */
    uint32_t starts;                         /* how often it was started: handles live for one */
};

/* Loads path, or NVML_LIBRARY where path is NULL, and starts it. 0 and *out, which the caller gives
 * to nvml_close. -ENOENT: there is no such library, so no driver is installed. -ENOEXEC: it is not
 * an NVML. -ENXIO: the driver is not loaded. Otherwise what nvml_errno says. */
int nvml_open(const char *path, struct nvml **out, struct err *err);

/* NULL is allowed. No handle of it may be used after. */
void nvml_close(struct nvml *nvml);

/* Shuts the library down and starts it again, after -ENXIO or -ESTALE from any reader: the driver
 * was reloaded. Every handle is invalid then; devices_update finds new ones. On an error the
 * library stays shut down, readers answer -ENXIO, and this may be tried again. */
int nvml_restart(struct nvml *nvml, struct err *err);

/* 0 or the negative errno of an answer:
 *   -ENOTSUP  the device, or the library, does not have it
 *   -EPERM    not allowed to this user        -EACCES  hidden by the caller's control group
 *   -ENODEV   the GPU is lost                 -EIO     the GPU needs a reset
 *   -ENXIO    driver not loaded, or library not started: nvml_restart
 *   -ESTALE   the driver was exchanged: only a new process can load the library that fits
 *   -ENOENT   no such thing                   -EBUSY   in use
 *   -ENOSPC   no room for an instance         -E2BIG   the buffer is too small
 *   -ETIME    timed out                       -EINVAL, -EPROTO  argument, version of a struct
 *   -EREMOTEIO  anything else */
int nvml_errno(nvml_return rc);

/* Whether the answer says that this fact does not exist here, as against: that asking failed. */
bool nvml_is_absent(nvml_return rc);

/* "GPU is lost": what an answer means, for people. Static. */
const char *nvml_text(nvml_return rc);

/* Puts "WHAT: TEXT OF RC" into err and returns nvml_errno(rc). */
__attribute__((format(printf, 3, 4))) int nvml_failed(nvml_return rc, struct err *err,
                                                      const char *what, ...);

/* The answer of a call, or NVML_FUNCTION_NOT_FOUND where there is no such function. */
#define nvml_ask(nvml, symbol, ...)                                                                \
    ((nvml)->calls.symbol == NULL                                                                  \
         ? NVML_FUNCTION_NOT_FOUND                                                                 \
         : ((nvml)->started ? (nvml)->calls.symbol(__VA_ARGS__) : NVML_UNINITIALIZED))
