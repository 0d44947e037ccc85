/* SPDX-License-Identifier: Apache-2.0 */
#include "base/check.h"
#include "base/err.h"
#include "fuzz/fuzz.h"
#include "wire/tables.h"

static void check_runtimes(const struct runtimes *runtimes)
{
    for (uint32_t i = 0; i < runtimes->count; i++) {
        const struct runtime *row = &runtimes->rows[i];
        uint32_t sum = 0, found;

        for (uint32_t k = 0; k < row->node_count; k++)
            sum += row->gpus_per_node[k];
        check(sum == row->replicas && row->runtime_us > 0);
        check(runtimes_find(runtimes, row->application, row->replicas, row->batch_size, &found));
        check(found >= 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct restart_costs costs;
    struct runtimes runtimes;
    struct vc_nodes vcs;
    struct err err;

    if (restart_costs_parse("fuzz.csv", bytes, count, &costs, &err) == 0) {
        check(restart_costs_find_us(&costs, 1, "bert") >= -1);
        restart_costs_done(&costs);
    }
    if (runtimes_parse("fuzz.csv", bytes, count, &runtimes, &err) == 0) {
        check_runtimes(&runtimes);
        runtimes_done(&runtimes);
    }
    if (vc_nodes_parse("fuzz.csv", bytes, count, &vcs, &err) == 0)
        vc_nodes_done(&vcs);
    return 0;
}
