/* SPDX-License-Identifier: Apache-2.0 */
/* instance.h - the rules by which MIG instances of a simulated GPU are made and destroyed.
 *
 * Answers are those of NVML. Ids are positional, as on real boards: the same place gives the same
 * id, and so the same UUID. */
#pragma once
#include "gpu/sim/machine.h"

/* Whether a profile may stand at start now: its slices are free and there may be one more. */
bool instance_fits(const struct sim_machine *machine, uint32_t gpu, const struct mig_table_row *row,
                   uint32_t start);

/* How many more of a profile would fit, placed one after the other. */
uint32_t instance_capacity(const struct sim_machine *machine, uint32_t gpu,
                           const struct mig_table_row *row);

/* Makes a GPU instance of the profile with this id at start, or where the driver likes with
 * NVML_NO_ID: at the last legal place, so that large profiles stay possible. */
nvml_return instance_create(struct sim_machine *machine, uint32_t gpu, uint32_t profile_id,
                            uint32_t start, uint32_t *out_gi_id);
nvml_return instance_destroy(struct sim_machine *machine, uint32_t gpu, uint32_t gi_id);

/* The same for compute instances, by index of their profile. */
uint32_t instance_ci_capacity(const struct sim_gpu *gpu, uint32_t gi_id, uint32_t profile);
nvml_return instance_create_ci(struct sim_machine *machine, uint32_t gpu, uint32_t gi_id,
                               uint32_t profile, uint32_t start, uint32_t *out_ci_id);
nvml_return instance_destroy_ci(struct sim_machine *machine, uint32_t gpu, uint32_t gi_id,
                                uint32_t ci_id);

/* The index of a MIG device among those of its GPU, and back; NVML_NO_ID if there is none. They are
 * dense, so they shift when one is destroyed. */
uint32_t instance_mig_index(const struct sim_gpu *gpu, uint32_t gi_id, uint32_t ci_id);
bool instance_at_mig_index(const struct sim_gpu *gpu, uint32_t index, uint32_t *out_gi_id,
                           uint32_t *out_ci_id);

struct sim_uuid {
    char text[48]; /* "MIG-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx" */
};
struct sim_uuid instance_uuid(const struct sim_gpu *gpu, uint32_t gi_id, uint32_t ci_id);

/* A UUID with a prefix ("GPU", "MIG"), made of a name and two numbers. */
struct sim_uuid sim_uuid_of(const char *prefix, const char *name, uint32_t a, uint32_t b);

/* SMs of a compute instance. */
uint32_t instance_sm_count(const struct model *model, const struct sim_gi *gi,
                           const struct sim_ci *ci);

/* "3g.40gb" or "1c.3g.40gb". */
void instance_name(const struct model *model, const struct sim_gi *gi, const struct sim_ci *ci,
                   char *out, uint32_t size);
