/* SPDX-License-Identifier: Apache-2.0 */
/* call.h - what every function of the simulated library does first and last.
 *
 *     struct call call;
 *     nvml_return rc = call_device(&call, __func__, device, CALL_GPU);
 *
 *     if (rc == NVML_SUCCESS)
 *         ... look at call.it, or change call_write(&call) ...
 *     return call_end(&call, rc);
 *
 * The first answers for what holds for all functions: a library that is not started, a GPU that is
 * lost, a fault that was commanded. Between the two the machine is locked. */
#pragma once
#include "gpu/sim/extra.h"
#include "gpu/sim/instance.h"
#include "gpu/sim/machine.h"

struct nvml_device_object {
    uint32_t gpu, gi_id, ci_id; /* instance ids are NVML_NO_ID for a whole GPU */
};

struct nvml_gi_object {
    uint32_t gpu, id;
};

struct nvml_ci_object {
    uint32_t gpu, gi_id, id;
};

struct call {
    const struct sim_machine *machine; /* NULL: nothing is locked */
    const struct sim_gpu *it;          /* of the device; NULL without one */
    const struct model *model;
    uint32_t gpu, gi_id, ci_id;
    bool keep;
};

enum call_target {
    CALL_GPU = 1, /* a handle of a whole GPU */
    CALL_MIG = 2, /* a handle of a MIG device */
    CALL_ANY = 3,
};

/* A function without a device. */
nvml_return call_begin(struct call *call, const char *function);

/* A function of a device: a handle of the other kind is NVML_NOT_SUPPORTED, or
 * NVML_INVALID_ARGUMENT where only a MIG device makes sense. */
nvml_return call_device(struct call *call, const char *function, nvml_device device,
                        enum call_target target);
nvml_return call_gi(struct call *call, const char *function, nvml_gi gi);
nvml_return call_ci(struct call *call, const char *function, nvml_ci ci);

/* The copy that may be changed; call_end keeps it. call->it follows. */
struct sim_machine *call_write(struct call *call);

/* NVML_SUCCESS if this user may change things. */
nvml_return call_may_change(const struct call *call);

nvml_return call_end(struct call *call, nvml_return rc);

/* The handles. They are the same ones as long as the program lives. */
nvml_device call_gpu_handle(uint32_t gpu);
nvml_device call_mig_handle(uint32_t gpu, uint32_t gi_id, uint32_t ci_id);
nvml_gi call_gi_handle(uint32_t gpu, uint32_t id);
nvml_ci call_ci_handle(uint32_t gpu, uint32_t gi_id, uint32_t id);

/* Starts and shuts down, counted. */
nvml_return call_start(void);
nvml_return call_stop(void);

/* What text functions do: NVML_INSUFFICIENT_SIZE if it does not fit. */
nvml_return call_put_text(char *out, unsigned length, const char *text);

/* A value at an offset of struct sim_gpu, of a whole GPU. */
nvml_return call_get_u32(const char *function, nvml_device device, unsigned *out, size_t offset);
