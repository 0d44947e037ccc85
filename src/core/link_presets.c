/* SPDX-License-Identifier: Apache-2.0 */
/* link_presets.c - well-known machines: how their GPUs are wired. Figures of links: link_rates.h.
 *
 * Three shapes say it all. Alike: every pair over the same way (NVSwitch, or one host bridge).
 * Halves: GPUs 0-1, 2-3, ... are neighbours, the first half of the neighbours is on one socket, the
 * second on the other. Mesh: so many NVLinks for each pair, SYS where there are none. */
#include "core/link_presets.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "core/link_rates.h"
#include "core/links.h"

struct link_preset {
    const char *name;
    uint32_t gpus_min, gpus_max; /* in steps of 2 if these differ */
    uint32_t near_mbps;          /* neighbours; with a mesh: one NVLink */
    uint32_t half_mbps;          /* others on the socket */
    uint32_t far_mbps;           /* others */
    const char *mesh;            /* [pairs] NVLinks as digits, in the order of links.h; or NULL */
};

#define ALIKE(name, gpus, mbps)                                                                    \
    {                                                                                              \
        name, gpus, gpus, mbps, mbps, mbps, NULL                                                   \
    }
#define OVER(pcie, path) PCIE_PATH_MBPS(pcie, path)

/* The hybrid cube mesh, GPU 1 to GPU 7 with those before: the picture in "NVIDIA DGX-1 With Tesla
 * V100 System Architecture" (WP-08437-002); what nvidia-smi topo -m prints there says the same. */
#define CUBE_MESH_V100                                                                             \
    "1"                                                                                            \
    "12"                                                                                           \
    "212"                                                                                          \
    "2000"                                                                                         \
    "02001"                                                                                        \
    "001012"                                                                                       \
    "0001212"
/* The same edges, one link each, so every GPU has four: "NVIDIA DGX-1" (WP-08437-001). */
#define CUBE_MESH_P100                                                                             \
    "1"                                                                                            \
    "11"                                                                                           \
    "111"                                                                                          \
    "1000"                                                                                         \
    "01001"                                                                                        \
    "001011"                                                                                       \
    "0001111"

static const struct link_preset presets[] = {
    /* NVSwitch: all links of a GPU reach any other. DGX and HGX data sheets: links of a GPU. */
    ALIKE("dgx-h100", 8, 18 * NVLINK4_MBPS),
    ALIKE("dgx-h200", 8, 18 * NVLINK4_MBPS),
    ALIKE("hgx-h100-8", 8, 18 * NVLINK4_MBPS),
    ALIKE("hgx-h200-8", 8, 18 * NVLINK4_MBPS),
    ALIKE("dgx-b200", 8, 18 * NVLINK5_MBPS),
    ALIKE("hgx-b200-8", 8, 18 * NVLINK5_MBPS),
    ALIKE("gb200-4", 4, 18 * NVLINK5_MBPS), /* a compute tray of an NVL72 */
    ALIKE("dgx-a100", 8, 12 * NVLINK3_MBPS),
    ALIKE("hgx-a100-8", 8, 12 * NVLINK3_MBPS),
    ALIKE("dgx2-v100", 16, 6 * NVLINK2_MBPS),
    /* Four GPUs wired to each other: a third of the links to each. */
    ALIKE("hgx-h100-4", 4, 6 * NVLINK4_MBPS),
    ALIKE("hgx-a100-4", 4, 4 * NVLINK3_MBPS),
    {"v100-dgx1", 8, 8, NVLINK2_MBPS, 0, OVER(PCIE3_MBPS, PATH_SYS), CUBE_MESH_V100},
    {"p100-dgx1", 8, 8, NVLINK1_MBPS, 0, OVER(PCIE3_MBPS, PATH_SYS), CUBE_MESH_P100},
    /* A100 or H100 PCIe cards with bridges over two of them: 12 links (their product briefs). */
    {"nvlink-pairs", 2, 16, 12 * NVLINK3_MBPS, OVER(PCIE4_MBPS, PATH_NODE),
     OVER(PCIE4_MBPS, PATH_SYS), NULL},
    /* Servers without NVLink: two sockets; with eight cards, two switches of two on each. */
    {"pcie-8", 8, 8, OVER(PCIE4_MBPS, PATH_PIX), OVER(PCIE4_MBPS, PATH_NODE),
     OVER(PCIE4_MBPS, PATH_SYS), NULL},
    {"pcie-4", 4, 4, OVER(PCIE4_MBPS, PATH_NODE), OVER(PCIE4_MBPS, PATH_SYS),
     OVER(PCIE4_MBPS, PATH_SYS), NULL},
    {"pcie-2", 2, 2, OVER(PCIE4_MBPS, PATH_PHB), 0, 0, NULL},
    /* Cloud machines of few small GPUs: all over one host bridge. */
    ALIKE("a10-4", 4, OVER(PCIE4_MBPS, PATH_PHB)),
    ALIKE("l4-4", 4, OVER(PCIE4_MBPS, PATH_PHB)),
    ALIKE("t4-4", 4, OVER(PCIE3_MBPS, PATH_PHB)),
    ALIKE("l4-1", 1, 0),
    ALIKE("a10-1", 1, 0),
    ALIKE("t4-1", 1, 0),
};

const struct link_preset *link_preset_find(const char *name)
{
    for (uint32_t i = 0; i < sizeof presets / sizeof presets[0]; i++)
        if (strcmp(presets[i].name, name) == 0)
            return &presets[i];
    return NULL;
}

const char *link_preset_name(uint32_t index)
{
    return index < sizeof presets / sizeof presets[0] ? presets[index].name : NULL;
}

void link_preset_range(const struct link_preset *preset, uint32_t *out_min, uint32_t *out_max)
{
    *out_min = preset->gpus_min;
    *out_max = preset->gpus_max;
}

static uint32_t pair_mbps(const struct link_preset *p, uint32_t gpus, uint32_t a, uint32_t b)
{
    const uint32_t first_half = (gpus / 2 + 1) / 2; /* neighbours on the first socket */

    if (p->mesh != NULL) {
        const uint32_t links = (uint32_t)(p->mesh[links_at(a, b)] - '0');

        return links > 0 ? links * p->near_mbps : p->far_mbps;
    }
    if (a / 2 == b / 2)
        return p->near_mbps;
    return (a / 2 < first_half) == (b / 2 < first_half) ? p->half_mbps : p->far_mbps;
}

int link_preset_fill(const struct link_preset *preset, uint32_t gpus, uint32_t *out_mbps,
                     struct err *err)
{
    if (gpus < preset->gpus_min || gpus > preset->gpus_max || (gpus - preset->gpus_min) % 2 != 0)
        return err_set(err, -EINVAL, "'%s' has %u%s GPUs, the node has %u", preset->name,
                       preset->gpus_min,
                       preset->gpus_min < preset->gpus_max ? ", 4, 6, ... or 16" : "", gpus);
    for (uint32_t b = 1; b < gpus; b++)
        for (uint32_t a = 0; a < b; a++)
            out_mbps[links_at(a, b)] = pair_mbps(preset, gpus, a, b);
    return 0;
}
