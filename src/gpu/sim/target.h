/* SPDX-License-Identifier: Apache-2.0 */
/* target.h - which simulated devices a program may use: CUDA_VISIBLE_DEVICES, as CUDA reads it. */
#pragma once
#include "gpu/sim/machine.h"

struct target {
    uint32_t gpu, gi_id, ci_id; /* instance ids are NVML_NO_ID for a whole GPU */
};

/* The devices that a list names: UUIDs, the begin of one that is unique, MIG UUIDs, or indexes.
 * NULL is all GPUs, and as in CUDA a program in MIG gets one instance: the first. As there, the
 * list ends at the first entry that is not valid. Returns how many were put into out, of at most
 * most. */
uint32_t target_list(const struct sim_machine *machine, const char *list, struct target *out,
                     uint32_t most);
