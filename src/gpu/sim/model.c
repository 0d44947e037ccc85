/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - the GPU models that can be simulated.
 *
 * Profiles, ids, places and sizes are public observations (nvidia-smi mig -lgip of the real boards
 * and NVIDIA's MIG user guide). They are not regular: SMs are not in proportion to slices, and ids
 * mean something else on another model. */
#include "gpu/sim/model.h"

#include <string.h>

#include "base/check.h"

static const struct mig_table a30 = {
    .slices = 4,
    .memory_slices = 4,
    .sm_per_slice = 14,
    .rows =
        {
            {"1g.6gb", 0, 14, 1, 1, 5952, 14, 4, {0, 1, 2, 3}, 4, 1, 1, 0, 0},
            {"1g.6gb+me", 7, 21, 1, 1, 5952, 14, 1, {0, 1, 2, 3}, 4, 1, 1, 1, 1},
            {"2g.12gb", 1, 5, 2, 2, 11968, 28, 2, {0, 2}, 2, 2, 2, 0, 0},
            {"2g.12gb+me", 8, 6, 2, 2, 11968, 28, 1, {0, 2}, 2, 2, 2, 1, 1},
            {"4g.24gb", 3, 0, 4, 4, 24000, 56, 1, {0}, 1, 4, 4, 1, 1},
        },
    .count = 5,
};

static const struct mig_table a100_40 = {
    .slices = 7,
    .memory_slices = 8,
    .sm_per_slice = 14,
    .rows =
        {
            {"1g.5gb", 0, 19, 1, 1, 4864, 14, 7, {0, 1, 2, 3, 4, 5, 6}, 7, 1, 0, 0, 0},
            {"1g.5gb+me", 7, 20, 1, 1, 4864, 14, 1, {0, 1, 2, 3, 4, 5, 6}, 7, 1, 1, 1, 1},
            {"1g.10gb", 9, 15, 1, 2, 9984, 14, 4, {0, 2, 4, 6}, 4, 1, 1, 0, 0},
            {"2g.10gb", 1, 14, 2, 2, 9984, 28, 3, {0, 2, 4}, 3, 2, 1, 0, 0},
            {"3g.20gb", 2, 9, 3, 4, 20096, 42, 2, {0, 4}, 2, 3, 2, 0, 0},
            {"4g.20gb", 3, 5, 4, 4, 20096, 56, 1, {0}, 1, 4, 2, 0, 0},
            {"7g.40gb", 4, 0, 7, 8, 40448, 98, 1, {0}, 1, 7, 5, 1, 1},
        },
    .count = 7,
};

static const struct mig_table a100_80 = {
    .slices = 7,
    .memory_slices = 8,
    .sm_per_slice = 14,
    .rows =
        {
            {"1g.10gb", 0, 19, 1, 1, 9728, 14, 7, {0, 1, 2, 3, 4, 5, 6}, 7, 1, 0, 0, 0},
            {"1g.10gb+me", 7, 20, 1, 1, 9728, 14, 1, {0, 1, 2, 3, 4, 5, 6}, 7, 1, 1, 1, 1},
            {"1g.20gb", 9, 15, 1, 2, 19968, 14, 4, {0, 2, 4, 6}, 4, 1, 1, 0, 0},
            {"2g.20gb", 1, 14, 2, 2, 19968, 28, 3, {0, 2, 4}, 3, 2, 1, 0, 0},
            {"3g.40gb", 2, 9, 3, 4, 40192, 42, 2, {0, 4}, 2, 3, 2, 0, 0},
            {"4g.40gb", 3, 5, 4, 4, 40192, 56, 1, {0}, 1, 4, 2, 0, 0},
            {"7g.80gb", 4, 0, 7, 8, 80384, 98, 1, {0}, 1, 7, 5, 1, 1},
        },
    .count = 7,
};

static const struct mig_table h100 = {
    .slices = 7,
    .memory_slices = 8,
    .sm_per_slice = 16,
    .rows =
        {
            {"1g.10gb", 0, 19, 1, 1, 9984, 16, 7, {0, 1, 2, 3, 4, 5, 6}, 7, 1, 1, 1, 0},
            {"1g.10gb+me", 7, 20, 1, 1, 9984, 16, 1, {0, 1, 2, 3, 4, 5, 6}, 7, 1, 1, 1, 1},
            {"1g.20gb", 9, 15, 1, 2, 20096, 26, 4, {0, 2, 4, 6}, 4, 1, 1, 1, 0},
            {"2g.20gb", 1, 14, 2, 2, 20096, 32, 3, {0, 2, 4}, 3, 2, 2, 2, 0},
            {"3g.40gb", 2, 9, 3, 4, 40448, 60, 2, {0, 4}, 2, 3, 3, 3, 0},
            {"4g.40gb", 3, 5, 4, 4, 40448, 64, 1, {0}, 1, 4, 4, 4, 0},
            {"7g.80gb", 4, 0, 7, 8, 81152, 132, 1, {0}, 1, 8, 7, 7, 1},
        },
    .count = 7,
};

static const struct mig_table h200 = {
    .slices = 7,
    .memory_slices = 8,
    .sm_per_slice = 16,
    .rows =
        {
            {"1g.18gb", 0, 19, 1, 1, 16384, 16, 7, {0, 1, 2, 3, 4, 5, 6}, 7, 1, 1, 1, 0},
            {"1g.18gb+me", 7, 20, 1, 1, 16384, 16, 1, {0, 1, 2, 3, 4, 5, 6}, 7, 1, 1, 1, 1},
            {"1g.35gb", 9, 15, 1, 2, 33024, 26, 4, {0, 2, 4, 6}, 4, 1, 1, 1, 0},
            {"2g.35gb", 1, 14, 2, 2, 33024, 32, 3, {0, 2, 4}, 3, 2, 2, 2, 0},
            {"3g.71gb", 2, 9, 3, 4, 71168, 60, 2, {0, 4}, 2, 3, 3, 3, 0},
            {"4g.71gb", 3, 5, 4, 4, 71168, 64, 1, {0}, 1, 4, 4, 4, 0},
            {"7g.141gb", 4, 0, 7, 8, 143104, 132, 1, {0}, 1, 8, 7, 7, 1},
        },
    .count = 7,
};

static const struct model models[] = {
    {"v100", "Tesla V100-SXM2-32GB", 0x1db510de, 32768, 265, 256, 5, 7, 0, 80, 300, 40, 1530, 877,
     6, 25781, NULL},
    {"t4", "Tesla T4", 0x1eb810de, 15360, 448, 256, 6, 7, 5, 40, 70, 10, 1590, 5001, 0, 0, NULL},
    {"a30", "NVIDIA A30", 0x20b710de, 24576, 512, 32768, 7, 8, 0, 56, 165, 30, 1440, 1215, 4, 25000,
     &a30},
    {"a100-40", "NVIDIA A100-SXM4-40GB", 0x20b010de, 40960, 571, 65536, 7, 8, 0, 108, 400, 50, 1410,
     1215, 12, 25000, &a100_40},
    {"a100", "NVIDIA A100-SXM4-80GB", 0x20b210de, 81920, 571, 131072, 7, 8, 0, 108, 400, 60, 1410,
     1593, 12, 25000, &a100_80},
    {"l4", "NVIDIA L4", 0x27b810de, 23034, 543, 32768, 8, 8, 9, 58, 72, 16, 2040, 6251, 0, 0, NULL},
    {"l40s", "NVIDIA L40S", 0x26b910de, 46068, 675, 65536, 8, 8, 9, 142, 350, 35, 2520, 9001, 0, 0,
     NULL},
    {"h100", "NVIDIA H100 80GB HBM3", 0x233010de, 81559, 551, 131072, 9, 9, 0, 132, 700, 70, 1980,
     2619, 18, 26562, &h100},
    {"h200", "NVIDIA H200", 0x233510de, 143771, 551, 262144, 9, 9, 0, 132, 700, 75, 1980, 3201, 18,
     26562, &h200},
};

const struct model *model_find(const char *key, uint32_t *out_index)
{
    for (uint32_t i = 0; i < model_count(); i++)
        if (strcmp(models[i].key, key) == 0) {
            *out_index = i;
            return &models[i];
        }
    return NULL;
}

const struct model *model_at(uint32_t index)
{
    check(index < model_count());
    return &models[index];
}

uint32_t model_count(void)
{
    return sizeof models / sizeof models[0];
}

const struct mig_table_row *model_profile_by_id(const struct model *model, uint32_t id)
{
    for (uint32_t i = 0; model->mig != NULL && i < model->mig->count; i++)
        if (model->mig->rows[i].id == id)
            return &model->mig->rows[i];
    return NULL;
}

const struct mig_table_row *model_profile_by_name(const struct model *model, const char *name)
{
    for (uint32_t i = 0; model->mig != NULL && i < model->mig->count; i++)
        if (strcmp(model->mig->rows[i].name, name) == 0)
            return &model->mig->rows[i];
    return NULL;
}

const struct ci_table_row *model_ci_profile(uint32_t index)
{
    static const struct ci_table_row rows[NVML_CI_PROFILES] = {
        {1, 0}, {2, 0}, {3, 0}, {4, 0}, {7, 0}, {0, 0}, {0, 0}, {1, 1}, {0, 0},
    };

    return index < NVML_CI_PROFILES ? &rows[index] : NULL;
}

uint32_t model_ci_count_max(const struct mig_table_row *row, uint32_t index)
{
    const struct ci_table_row *ci = model_ci_profile(index);
    const uint32_t is_double = row->slices == 1 && row->memory_slices == 2;

    if (ci == NULL || ci->slices == 0 || ci->slices > row->slices || ci->is_double != is_double)
        return 0;
    return row->slices / ci->slices;
}
