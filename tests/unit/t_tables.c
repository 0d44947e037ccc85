/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/tables.h"

#include <stdio.h>

#include "unit/wire_test.h"

static void a_restart_cost_is_found_by_gpus_and_model(void **state)
{
    struct restart_costs costs;

    (void)state;
    WORKS(restart_costs_load("data/muri/restart_overhead_s.csv", &costs, &err));
    assert_int_equal(costs.count, 48);
    assert_true(restart_costs_find_us(&costs, 1, "vgg16") == 7000000);
    assert_true(restart_costs_find_us(&costs, 32, "a2c") == 46000000);
    assert_true(restart_costs_find_us(&costs, 3, "a2c") == -1);
    assert_true(restart_costs_find_us(&costs, 1, "none") == -1);
    restart_costs_done(&costs);
}

static void run_times_are_found_by_kind_of_job(void **state)
{
    const struct runtime *rows;
    struct runtimes runtimes;
    uint32_t count, total = 0;

    (void)state;
    WORKS(runtimes_load("data/pollux/runtimes.csv", &runtimes, &err));
    assert_int_equal(runtimes.count, 687);
    rows = runtimes_find(&runtimes, "bert", 12, 384, &count);
    assert_non_null(rows);
    assert_int_equal(rows[0].node_count, 3);
    assert_int_equal(rows[0].gpus_per_node[2], 4);
    assert_true(rows[0].runtime_us == INT64_C(1594000000));
    assert_int_equal(rows[1].gpus_per_node[3], 1);
    for (uint32_t i = 0; i < count; i++)
        assert_string_equal(rows[i].application, "bert");
    assert_null(runtimes_find(&runtimes, "bert", 13, 384, &count));
    assert_int_equal(count, 0);
    for (uint32_t i = 0; i < runtimes.count; i += count) {
        rows = runtimes_find(&runtimes, runtimes.rows[i].application, runtimes.rows[i].replicas,
                             runtimes.rows[i].batch_size, &count);
        assert_ptr_equal(rows, &runtimes.rows[i]);
        total += count;
    }
    assert_int_equal(total, 687);
    runtimes_done(&runtimes);
}

static void wrong_placements_are_named(void **state)
{
    static const char header[] = "application,num_replicas,batch_size,placement_gpus_per_node,"
                                 "num_nodes,runtime_s\n";
    static const char form[] = "t.csv:2: column 'placement_gpus_per_node': must be GPUs of each "
                               "node, 1 to 64 and not increasing, such as 4-4-2";
    static const struct {
        const char *row, *wanted;
    } samples[] = {
        {"a,6,1,2-4,2,5\n", form},
        {"a,6,1,6-,1,5\n", form},
        {"a,6,1,,1,5\n", form},
        {"a,6,1,6+1,1,5\n", form},
        {"a,6,1,65,1,5\n", form},
        {"a,6,1,4-1,2,5\n",
         "t.csv:2: column 'placement_gpus_per_node': has 5 GPUs, num_replicas is 6"},
        {"a,6,1,4-2,3,5\n", "t.csv:2: column 'num_nodes': must be 2, is 3"},
    };
    struct runtimes runtimes;
    char text[200];

    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        snprintf(text, sizeof text, "%s%s", header, samples[i].row);
        FAILS_WITH(runtimes_parse("t.csv", text, strlen(text), &runtimes, &err), samples[i].wanted);
    }
}

static void virtual_clusters_have_nodes(void **state)
{
    static const char twice[] = "vc,nodes_8gpu\na,1\na,2\n";
    struct vc_nodes vcs;
    uint32_t nodes = 0;

    (void)state;
    WORKS(vc_nodes_load("data/philly/helios_philly_vc_nodes.csv", &vcs, &err));
    assert_int_equal(vcs.count, 11);
    assert_string_equal(vcs.rows[0].vc, "6214e9");
    for (uint32_t i = 0; i < vcs.count; i++)
        nodes += vcs.rows[i].nodes;
    assert_int_equal(nodes, 352);
    vc_nodes_done(&vcs);
    FAILS_WITH(vc_nodes_parse("t.csv", twice, sizeof twice - 1, &vcs, &err),
               "t.csv:3: column 'vc': 'a' is there twice");
}

static void published_values_are_exact_to_six_decimals(void **state)
{
    int64_t micro = 0;

    (void)state;
    WORKS(published_find("data/jct_published.csv", "trace1", "SRTF", "avg_jct", &micro, &err));
    assert_true(micro == INT64_C(1370603198000));
    WORKS(published_find("data/fgd/published.csv", "cpu050", "Random",
                         "gpu_alloc_ratio_pct@80%arrived.mean", &micro, &err));
    assert_true(micro == 78592000);
    assert_int_equal(published_find("data/fgd/published.csv", "x", "y", "z", &micro, NULL), 0);
    FAILS_WITH(published_find("data/muri/trace1.csv", "x", "y", "z", &micro, &err),
               "data/muri/trace1.csv:1: column 'trace' is missing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_restart_cost_is_found_by_gpus_and_model),
        TEST(run_times_are_found_by_kind_of_job),
        TEST(wrong_placements_are_named),
        TEST(virtual_clusters_have_nodes),
        TEST(published_values_are_exact_to_six_decimals),
    };

    return RUN_TESTS(tests);
}
