/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "core/links.h"
#include "fuzz/fuzz.h"
#include "wire/cluster.h"

static void check_node(const struct node_spec *node)
{
    check(node->name[0] != '\0' && node->model);
    check(node->gpus <= NODE_GPUS_MAX);
    check(node->gpus == 0 || node->model[0] != '\0');
    check(node->cpu_mcpu >= 0 && node->cpu_mcpu <= CPU_MCPU_MAX);
    check(node->memory_bytes >= 0 && node->memory_bytes <= MEMORY_BYTES_MAX);
    check(node->gpu_memory_bytes >= 0 && node->gpu_memory_bytes <= MEMORY_BYTES_MAX);
    for (uint32_t i = 0; node->links_mbps && i < links_pairs(node->gpus); i++)
        check(node->links_mbps[i] <= LINK_MBPS_MAX);
    for (uint32_t i = 0; i < node->label_count; i++)
        check(strchr(node->labels[i], '='));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static const char *const names[] = {"fuzz.csv", "fuzz.yaml", "fuzz.json"};
    struct cluster cluster;
    struct err err;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (cluster_parse(names[i], bytes, count, &cluster, &err) < 0)
            continue;
        check(cluster.node_count > 0);
        for (uint32_t k = 0; k < cluster.node_count; k++)
            check_node(&cluster.nodes[k]);
        cluster_done(&cluster);
    }
    return 0;
}
