/* SPDX-License-Identifier: Apache-2.0 */
/* instance.c - the rules by which MIG instances of a simulated GPU are made and destroyed. */
#include "gpu/sim/instance.h"

#include <stdio.h>

#include "base/digest.h"

static bool overlaps(uint32_t start_a, uint32_t size_a, uint32_t start_b, uint32_t size_b)
{
    return start_a < start_b + size_b && start_b < start_a + size_a;
}

static const struct mig_table_row *row_of(const struct model *model, const struct sim_gi *gi)
{
    return &model->mig->rows[gi->profile];
}

static bool is_start(const struct mig_table_row *row, uint32_t start)
{
    for (uint32_t i = 0; i < row->start_count; i++)
        if (row->starts[i] == start)
            return true;
    return false;
}

static bool fits(const struct sim_gpu *gpu, const struct model *model,
                 const struct mig_table_row *row, uint32_t start)
{
    uint32_t same = 0;

    for (uint32_t id = 0; id < SIM_GI_IDS; id++) {
        const struct sim_gi *gi = &gpu->gis[id];

        if (!gi->used)
            continue;
        same += row_of(model, gi) == row;
        if (overlaps(gi->start, gi->size, start, row->memory_slices))
            return false;
    }
    return same < row->instances_max && is_start(row, start);
}

bool instance_fits(const struct sim_machine *machine, uint32_t gpu, const struct mig_table_row *row,
                   uint32_t start)
{
    return fits(&machine->gpus[gpu], machine_model(machine, gpu), row, start);
}

/* The places of a GPU form a tree: the whole, halves, quarters; an id is a place in that tree. */
static uint32_t gi_id_at(const struct model *model, const struct mig_table_row *row, uint32_t start)
{
    const uint32_t parts = model->mig->memory_slices / row->memory_slices;

    return parts - 1 + start / row->memory_slices;
}

static struct sim_gi gi_of(const struct model *model, const struct mig_table_row *row,
                           uint32_t start)
{
    return (struct sim_gi){.used = 1,
                           .profile = (uint32_t)(row - model->mig->rows),
                           .start = start,
                           .size = row->memory_slices};
}

/* The last legal place, or NVML_NO_ID. */
static uint32_t last_start(const struct sim_gpu *gpu, const struct model *model,
                           const struct mig_table_row *row)
{
    for (uint32_t i = row->start_count; i > 0; i--)
        if (fits(gpu, model, row, row->starts[i - 1]))
            return row->starts[i - 1];
    return NVML_NO_ID;
}

uint32_t instance_capacity(const struct sim_machine *machine, uint32_t gpu,
                           const struct mig_table_row *row)
{
    const struct model *model = machine_model(machine, gpu);
    struct sim_gpu trial = machine->gpus[gpu];
    uint32_t count = 0, start;

    while ((start = last_start(&trial, model, row)) != NVML_NO_ID) {
        trial.gis[gi_id_at(model, row, start)] = gi_of(model, row, start);
        count++;
    }
    return count;
}

nvml_return instance_create(struct sim_machine *machine, uint32_t gpu, uint32_t profile_id,
                            uint32_t start, uint32_t *out_gi_id)
{
    const struct model *model = machine_model(machine, gpu);
    const struct mig_table_row *row = model_profile_by_id(model, profile_id);
    struct sim_gpu *it = &machine->gpus[gpu];
    uint32_t id;

    if (row == NULL)
        return model->mig == NULL ? NVML_NOT_SUPPORTED : NVML_INVALID_ARGUMENT;
    if (!it->mig_mode)
        return NVML_NOT_SUPPORTED;
    if (start == NVML_NO_ID)
        start = last_start(it, model, row);
    else if (!is_start(row, start))
        return NVML_INVALID_ARGUMENT;
    if (start == NVML_NO_ID || !fits(it, model, row, start))
        return NVML_INSUFFICIENT_RESOURCES;
    id = gi_id_at(model, row, start);
    it->gis[id] = gi_of(model, row, start);
    *out_gi_id = id;
    return NVML_SUCCESS;
}

nvml_return instance_destroy(struct sim_machine *machine, uint32_t gpu, uint32_t gi_id)
{
    struct sim_gi *gi = &machine->gpus[gpu].gis[gi_id];

    if (!gi->used)
        return NVML_NOT_FOUND;
    for (uint32_t i = 0; i < SIM_CI_IDS; i++)
        if (gi->cis[i].used)
            return NVML_IN_USE;
    *gi = (struct sim_gi){0};
    return NVML_SUCCESS;
}

/* Whether a compute instance of size slices may start at start. */
static bool ci_fits(const struct sim_gi *gi, uint32_t slices, uint32_t start, uint32_t size)
{
    if (start % size != 0 || start + size > slices)
        return false;
    for (uint32_t i = 0; i < SIM_CI_IDS; i++)
        if (gi->cis[i].used && overlaps(gi->cis[i].start, gi->cis[i].size, start, size))
            return false;
    return true;
}

uint32_t instance_ci_capacity(const struct sim_gpu *gpu, uint32_t gi_id, uint32_t profile)
{
    const struct sim_gi *gi = &gpu->gis[gi_id];
    const struct mig_table_row *row = row_of(model_at(gpu->model), gi);
    uint32_t count = 0, size;

    if (model_ci_count_max(row, profile) == 0)
        return 0;
    size = model_ci_profile(profile)->slices;
    for (uint32_t start = 0; start + size <= row->slices; start += size)
        count += ci_fits(gi, row->slices, start, size);
    return count;
}

nvml_return instance_create_ci(struct sim_machine *machine, uint32_t gpu, uint32_t gi_id,
                               uint32_t profile, uint32_t start, uint32_t *out_ci_id)
{
    struct sim_gi *gi = &machine->gpus[gpu].gis[gi_id];
    const struct mig_table_row *row;
    uint32_t size;

    if (!gi->used)
        return NVML_NOT_FOUND;
    row = row_of(machine_model(machine, gpu), gi);
    if (model_ci_count_max(row, profile) == 0)
        return NVML_NOT_SUPPORTED;
    size = model_ci_profile(profile)->slices;
    if (start == NVML_NO_ID)
        for (start = 0; start < row->slices && !ci_fits(gi, row->slices, start, size);)
            start += size;
    if (!ci_fits(gi, row->slices, start, size))
        return NVML_INSUFFICIENT_RESOURCES;
    gi->cis[start] = (struct sim_ci){.used = 1, .profile = profile, .start = start, .size = size};
    *out_ci_id = start;
    return NVML_SUCCESS;
}

nvml_return instance_destroy_ci(struct sim_machine *machine, uint32_t gpu, uint32_t gi_id,
                                uint32_t ci_id)
{
    struct sim_gi *gi = &machine->gpus[gpu].gis[gi_id];

    if (!gi->used || !gi->cis[ci_id].used)
        return NVML_NOT_FOUND;
    machine_prune(machine);
    if (machine_is_used(machine, gpu, gi_id, ci_id))
        return NVML_IN_USE;
    gi->cis[ci_id] = (struct sim_ci){0};
    return NVML_SUCCESS;
}

uint32_t instance_mig_index(const struct sim_gpu *gpu, uint32_t gi_id, uint32_t ci_id)
{
    uint32_t index = 0;

    for (uint32_t g = 0; g < SIM_GI_IDS; g++)
        for (uint32_t c = 0; c < SIM_CI_IDS; c++) {
            if (!gpu->gis[g].used || !gpu->gis[g].cis[c].used)
                continue;
            if (g == gi_id && c == ci_id)
                return index;
            index++;
        }
    return NVML_NO_ID;
}

bool instance_at_mig_index(const struct sim_gpu *gpu, uint32_t index, uint32_t *out_gi_id,
                           uint32_t *out_ci_id)
{
    for (uint32_t g = 0; g < SIM_GI_IDS; g++)
        for (uint32_t c = 0; c < SIM_CI_IDS; c++)
            if (instance_mig_index(gpu, g, c) == index) {
                *out_gi_id = g;
                *out_ci_id = c;
                return true;
            }
    return false;
}

struct sim_uuid sim_uuid_of(const char *prefix, const char *name, uint32_t a, uint32_t b)
{
    struct sim_uuid uuid;
    struct digest digest;
    uint64_t high, low;

    digest_init(&digest);
    digest_text(&digest, name);
    digest_u32(&digest, a);
    digest_u32(&digest, b);
    high = digest_value(&digest);
    digest_u32(&digest, 1);
    low = digest_value(&digest);
    snprintf(uuid.text, sizeof uuid.text, "%s-%08x-%04x-%04x-%04x-%012llx", prefix,
             (unsigned)(high >> 32), (unsigned)(high >> 16) & 0xffff,
             0x5000u | ((unsigned)high & 0xfff), 0x8000u | ((unsigned)(low >> 48) & 0x3fff),
             (unsigned long long)(low & 0xffffffffffffu));
    return uuid;
}

struct sim_uuid instance_uuid(const struct sim_gpu *gpu, uint32_t gi_id, uint32_t ci_id)
{
    return sim_uuid_of("MIG", gpu->uuid, gi_id, ci_id);
}

uint32_t instance_sm_count(const struct model *model, const struct sim_gi *gi,
                           const struct sim_ci *ci)
{
    const struct mig_table_row *row = row_of(model, gi);

    return ci->size == row->slices ? row->sm_count : ci->size * model->mig->sm_per_slice;
}

void instance_name(const struct model *model, const struct sim_gi *gi, const struct sim_ci *ci,
                   char *out, uint32_t size)
{
    const struct mig_table_row *row = row_of(model, gi);

    if (ci == NULL || ci->size == row->slices)
        snprintf(out, size, "%s", row->name);
    else
        snprintf(out, size, "%uc.%s", ci->size, row->name);
}
