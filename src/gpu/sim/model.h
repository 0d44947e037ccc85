/* SPDX-License-Identifier: Apache-2.0 */
/* model.h - the GPU models that can be simulated, with their MIG profiles. */
#pragma once
#include <stdint.h>

#include "gpu/nvml_abi.h"

enum { MODEL_STARTS_MAX = 8, MODEL_MIG_PROFILES_MAX = 8 };

struct mig_table_row {
    const char *name;   /* "1g.10gb" */
    uint32_t index, id; /* of NVML; the id is what instances are made by */
    uint32_t slices, memory_slices;
    uint32_t memory_mib, sm_count, instances_max;
    uint32_t starts[MODEL_STARTS_MAX]; /* [start_count] in memory slices */
    uint32_t start_count;
    uint32_t copy_engines, decoders, jpegs, ofas;
};

struct mig_table {
    uint32_t slices, memory_slices; /* of the whole GPU */
    uint32_t sm_per_slice;          /* of a compute instance narrower than its GPU instance */
    struct mig_table_row rows[MODEL_MIG_PROFILES_MAX]; /* [count] */
    uint32_t count;
};

struct model {
    const char *key;    /* "h100" */
    const char *name;   /* "NVIDIA H100 80GB HBM3" */
    uint32_t device_id; /* device << 16 | vendor */
    uint32_t memory_mib, reserved_mib, bar1_mib;
    uint32_t architecture, major, minor;
    uint32_t sm_count;
    uint32_t power_limit_w, power_idle_w;
    uint32_t sm_mhz, memory_mhz;
    uint32_t nvlinks, nvlink_mbps; /* of the board; MB/s of one */
    const struct mig_table *mig;   /* NULL where there is none */
};

/* NULL if there is none. *out_index is for model_at. */
const struct model *model_find(const char *key, uint32_t *out_index);
const struct model *model_at(uint32_t index);
uint32_t model_count(void);

/* The rows of a model's table; NULL if there is none. */
const struct mig_table_row *model_profile_by_id(const struct model *model, uint32_t id);
const struct mig_table_row *model_profile_by_name(const struct model *model, const char *name);

/* The profiles of compute instances, by index, which is their id as well. */
struct ci_table_row {
    uint32_t slices;    /* 0: not one that a model here has */
    uint32_t is_double; /* the only one of a one-slice instance with double memory */
};
const struct ci_table_row *model_ci_profile(uint32_t index);

/* Whether a compute instance of profile index may stand in a GPU instance of this row, and how many
 * of them at most. */
uint32_t model_ci_count_max(const struct mig_table_row *row, uint32_t index);
