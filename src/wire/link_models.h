/* SPDX-License-Identifier: Apache-2.0 */
/* link_models.h - what the links of a GPU carry, by the name of its model. Sources: link_rates.h.
 */
#pragma once
#include <stdint.h>

/* What is known of a GPU by the name of its model ("A100-SXM4-80GB", "NVIDIA H100 80GB HBM3"): the
 * first entry whose word is in it. Of a model that nobody knows: NVLINK3_MBPS and PCIE4_MBPS. */
struct link_rates {
    const char *word;
    uint32_t nvlink_mbps; /* of one link */
    uint32_t pcie_mbps;
};

const struct link_rates *link_rates_of(const char *model);
