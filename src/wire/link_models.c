/* SPDX-License-Identifier: Apache-2.0 */
/* link_models.c - what the links of a GPU model carry. */
#include "wire/link_models.h"

#include <string.h>

#include "core/link_rates.h"

/* The first word that is in the name counts, so H200 stands before H20. */
static const struct link_rates models[] = {
    {"B100", NVLINK5_MBPS, PCIE5_MBPS},         {"B200", NVLINK5_MBPS, PCIE5_MBPS},
    {"B300", NVLINK5_MBPS, PCIE5_MBPS},         {"H100", NVLINK4_MBPS, PCIE5_MBPS},
    {"H200", NVLINK4_MBPS, PCIE5_MBPS},         {"H800", NVLINK4_MBPS, PCIE5_MBPS},
    {"H20", NVLINK4_MBPS, PCIE5_MBPS},          {"A100", NVLINK3_MBPS, PCIE4_MBPS},
    {"A800", NVLINK3_MBPS, PCIE4_MBPS},         {"A30", NVLINK3_MBPS, PCIE4_MBPS},
    {"A40", NVLINK3_BRIDGE_MBPS, PCIE4_MBPS},   {"A6000", NVLINK3_BRIDGE_MBPS, PCIE4_MBPS},
    {"A5000", NVLINK3_BRIDGE_MBPS, PCIE4_MBPS}, {"A5500", NVLINK3_BRIDGE_MBPS, PCIE4_MBPS},
    {"A4500", NVLINK3_BRIDGE_MBPS, PCIE4_MBPS}, {"3090", NVLINK3_BRIDGE_MBPS, PCIE4_MBPS},
    {"Ada", NVLINK3_MBPS, PCIE4_MBPS},          {"V100", NVLINK2_MBPS, PCIE3_MBPS},
    {"P100", NVLINK1_MBPS, PCIE3_MBPS},         {"RTX 8000", NVLINK2_MBPS, PCIE3_MBPS},
    {"RTX 6000", NVLINK2_MBPS, PCIE3_MBPS},     {"TITAN RTX", NVLINK2_MBPS, PCIE3_MBPS},
    {"T4", NVLINK2_MBPS, PCIE3_MBPS},
};

static const struct link_rates unknown = {"", NVLINK3_MBPS, PCIE4_MBPS};

const struct link_rates *link_rates_of(const char *model)
{
    for (uint32_t i = 0; i < sizeof models / sizeof models[0]; i++)
        if (strstr(model, models[i].word) != NULL)
            return &models[i];
    return &unknown;
}
