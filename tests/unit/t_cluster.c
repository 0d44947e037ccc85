/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/cluster.h"

#include <stdio.h>

#include "core/modes.h"
#include "unit/wire_test.h"

static int parse(const char *name, const char *text, struct cluster *out, struct err *err)
{
    return cluster_parse(name, text, strlen(text), out, err);
}

static void fails(const char *name, const char *text, const char *wanted)
{
    struct cluster cluster;

    FAILS_WITH(parse(name, text, &cluster, &err), wanted);
}

static void the_openb_list_has_its_published_size(void **state)
{
    int64_t cpu_mcpu = 0, memory_bytes = 0;
    struct cluster cluster;

    (void)state;
    WORKS(cluster_load("data/fgd/openb_node_list_gpu_node.csv", &cluster, &err));
    assert_int_equal(cluster.node_count, 1213);
    assert_true(cluster.gpu_count == 6212);
    for (uint32_t i = 0; i < cluster.node_count; i++) {
        cpu_mcpu += cluster.nodes[i].cpu_mcpu;
        memory_bytes += cluster.nodes[i].memory_bytes;
    }
    assert_true(cpu_mcpu == 107018000);
    assert_true(memory_bytes == INT64_C(503828480) << 20);
    assert_string_equal(cluster.nodes[0].name, "openb-node-0000");
    assert_string_equal(cluster.nodes[0].model, "P100");
    cluster_done(&cluster);
    WORKS(cluster_load("data/fgd/openb_node_list_all_node.csv", &cluster, &err));
    assert_int_equal(cluster.node_count, 1523);
    assert_true(cluster.gpu_count == 6212);
    assert_string_equal(cluster.nodes[0].model, "");
    cluster_done(&cluster);
}

static void the_muri_cluster_is_eight_nodes_of_eight_gpus(void **state)
{
    struct cluster cluster;

    (void)state;
    WORKS(cluster_load("data/muri/cluster_n8g8.csv", &cluster, &err));
    assert_int_equal(cluster.node_count, 8);
    assert_true(cluster.gpu_count == 64);
    assert_string_equal(cluster.nodes[7].name, "node-7");
    assert_true(cluster.nodes[7].cpu_mcpu == 92000);
    assert_true(cluster.nodes[7].memory_bytes == INT64_C(520) << 30);
    cluster_done(&cluster);
}

static void yaml_and_json_describe_nodes(void **state)
{
    static const char *const texts[] = {
        "c.yaml",
        "nodes:\n"
        "  - {name: a, count: 2, model: A100, gpus: 8, gpu-memory: 80G, cpus: 95.5,\n"
        "     memory: 512G, labels: {rack: r1, zone: \"\"}}\n"
        "  - {name: b, cpus: 4, memory: 1T}\n",
        "c.json",
        "{\"nodes\":[{\"name\":\"a\",\"count\":2,\"model\":\"A100\",\"gpus\":8,"
        "\"gpu-memory\":\"80G\",\"cpus\":95.5,\"memory\":\"512G\","
        "\"labels\":{\"rack\":\"r1\",\"zone\":\"\"}},"
        "{\"name\":\"b\",\"cpus\":4,\"memory\":\"1T\"}]}",
    };

    (void)state;
    for (size_t i = 0; i < 4; i += 2) {
        struct cluster cluster;

        WORKS(parse(texts[i], texts[i + 1], &cluster, &err));
        assert_int_equal(cluster.node_count, 3);
        assert_true(cluster.gpu_count == 16);
        assert_string_equal(cluster.nodes[0].name, "a-0");
        assert_string_equal(cluster.nodes[1].name, "a-1");
        assert_string_equal(cluster.nodes[1].model, "A100");
        assert_true(cluster.nodes[1].gpu_memory_bytes == INT64_C(80) << 30);
        assert_true(cluster.nodes[1].cpu_mcpu == 95500);
        assert_int_equal(cluster.nodes[1].label_count, 2);
        assert_string_equal(cluster.nodes[1].labels[0], "rack=r1");
        assert_string_equal(cluster.nodes[1].labels[1], "zone=");
        assert_string_equal(cluster.nodes[2].name, "b");
        assert_string_equal(cluster.nodes[2].model, "");
        assert_true(cluster.nodes[2].memory_bytes == INT64_C(1) << 40);
        cluster_done(&cluster);
    }
}

static void modes_of_a_node_are_a_list_of_words(void **state)
{
    struct cluster cluster;

    (void)state;
    WORKS(
        parse("c.yaml",
              "nodes:\n"
              "  - {name: a, gpus: 1, cpus: 1, memory: 1, modes: [exclusive], gpu-context: 500M}\n"
              "  - {name: b, gpus: 1, cpus: 1, memory: 1}\n",
              &cluster, &err));
    assert_int_equal(cluster.nodes[0].modes, MODE_BIT(GPU_EXCLUSIVE));
    assert_int_equal(cluster.nodes[0].gpu_context_bytes, 500 << 20);
    assert_int_equal(cluster.nodes[1].modes, 0);
    assert_int_equal(cluster.nodes[1].gpu_context_bytes, 0);
    cluster_done(&cluster);
}

/* Three GPUs said in four ways, and what one way costs. */
static void links_of_a_node_are_said_in_four_ways(void **state)
{
    static const char *const texts[] = {
        "links: [[0, 300000, 15754], [300000, 0, 15754], [15754, 15754, 0]]}\n",
        "links: \"  GPU0 GPU1 GPU2\\nGPU0 X NV12 SYS\\nGPU1 NV12 X SYS\\nGPU2 SYS SYS X\\n\"}\n",
    };
    struct cluster cluster;
    char text[400];

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        snprintf(text, sizeof text,
                 "nodes:\n  - {name: a, count: 2, gpus: 3, cpus: 1, memory: 1, %s", texts[i]);
        WORKS(parse("c.yaml", text, &cluster, &err));
        assert_int_equal(cluster.nodes[1].links_mbps[0], 300000);
        assert_int_equal(cluster.nodes[1].links_mbps[1], 15754);
        assert_int_equal(cluster.nodes[1].links_mbps[2], 15754);
        cluster_done(&cluster);
    }
    WORKS(parse("c.json",
                "{\"nodes\":[{\"name\":\"a\",\"gpus\":8,\"cpus\":1,\"memory\":1,"
                "\"links\":\"dgx-h100\"},{\"name\":\"b\",\"gpus\":1,\"cpus\":1,\"memory\":1,"
                "\"links\":\"l4-1\"},{\"name\":\"c\",\"gpus\":2,\"cpus\":1,\"memory\":1}]}",
                &cluster, &err));
    assert_int_equal(cluster.nodes[0].links_mbps[27], 450000);
    assert_null(cluster.nodes[1].links_mbps);
    assert_null(cluster.nodes[2].links_mbps);
    cluster_done(&cluster);
    WORKS(cluster_load("tests/unit/data/links.yaml", &cluster, &err));
    assert_int_equal(cluster.nodes[0].links_mbps[0], 50000); /* V100, two links */
    assert_int_equal(cluster.nodes[1].links_mbps[0], 56248); /* A40, four */
    cluster_done(&cluster);
}

static void links_that_do_not_fit_are_errors(void **state)
{
    static const struct {
        const char *links, *said;
    } bad[] = {
        {"dgx", "'dgx': no such preset, wanted one of dgx-h100, dgx-h200, "},
        {"dgx-h100", "'dgx-h100' has 8 GPUs, the node has 2"},
        {"{a: b}", "must be a preset, a file or a list of rows"},
        {"[[0, 1]]", "must be 2 rows, one a GPU, is 1"},
        {"[[0, 1], [1]]", "[1]: must be 2 numbers, is 1"},
        {"[[0, 1], [2, 0]]", "[1][0]: is 2, but the row of GPU 0 says 1"},
        {"[[5, 1], [1, 0]]", "[0][0]: must be 0, is 5"},
        {"[[0, 10000001], [1, 0]]", "[0][1]: must be 0 to 10000000, is 10000001"},
        {"\"GPU0\\nGPU0 Y\"", "its text:2: 'Y' for GPU0 to itself: wanted X"},
        {"\"GPU0\\nGPU0 X\"", "its text is of 1 GPUs, the node has 2"},
        {"/etc/passwd", "no file can be named here"},
    };
    struct cluster cluster;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err err = {""};
        char text[300];

        snprintf(text, sizeof text,
                 "nodes:\n  - {name: a, gpus: 2, cpus: 1, memory: 1, links: %s}\n", bad[i].links);
        assert_true(parse("c.yaml", text, &cluster, &err) < 0);
        if (strncmp(err.text, "c.yaml:2: nodes[0].links", 24) != 0 ||
            strstr(err.text, bad[i].said) == NULL)
            fail_msg("%s", err.text);
    }
    FAILS_WITH(cluster_load("tests/unit/data/links_nowhere.yaml", &cluster, &err),
               "tests/unit/data/links_nowhere.yaml:3: nodes[0].links: cannot open "
               "'tests/unit/data/nowhere.txt': No such file or directory");
}

static void short_texts_are_clusters(void **state)
{
    struct cluster cluster;

    (void)state;
    WORKS(cluster_load("72x8", &cluster, &err));
    assert_int_equal(cluster.node_count, 72);
    assert_true(cluster.gpu_count == 576);
    assert_string_equal(cluster.nodes[71].name, "node-71");
    assert_string_equal(cluster.nodes[71].model, CLUSTER_MODEL_DEFAULT);
    assert_true(cluster.nodes[71].cpu_mcpu == CLUSTER_SHORT_CPUS * INT64_C(1000));
    assert_true(cluster.nodes[71].memory_bytes == CLUSTER_SHORT_MEMORY_BYTES);
    cluster_done(&cluster);
    WORKS(cluster_load("1x4:A100", &cluster, &err));
    assert_string_equal(cluster.nodes[0].model, "A100");
    cluster_done(&cluster);
}

static void wrong_short_texts_are_errors(void **state)
{
    struct cluster cluster;

    (void)state;
    FAILS_WITH(cluster_load("0x8", &cluster, &err),
               "cluster '0x8': nodes must be 1 to 1048576, is 0");
    FAILS_WITH(cluster_load("1x65", &cluster, &err),
               "cluster '1x65': GPUs of a node must be 0 to 64, is 65");
    FAILS_WITH(cluster_load("99999999999999999999x8", &cluster, &err),
               "cluster '99999999999999999999x8': number is too large");
    FAILS_WITH(cluster_load("9x8:", &cluster, &err),
               "cluster '9x8:': the model must be 1 to 255 bytes");
    FAILS_WITH(cluster_load("72x8x2", &cluster, &err),
               "cannot open cluster '72x8x2': No such file or directory (wanted a file, or a "
               "short text such as 72x8)");
}

static void two_nodes_of_one_name_are_an_error(void **state)
{
    (void)state;
    fails("c.csv", "sn,cpu_milli,memory_mib,gpu,model\na,1,1,1,T4\nb,1,1,1,T4\na,1,1,1,T4\n",
          "c.csv:4: column 'sn': node 'a' is there twice");
    fails("c.yaml",
          "nodes:\n  - {name: a, count: 3, cpus: 1, memory: 1}\n"
          "  - {name: a-1, cpus: 1, memory: 1}\n",
          "c.yaml:3: nodes[1]: node 'a-1' is there twice");
}

static void wrong_fields_are_named(void **state)
{
    static const char header[] = "sn,cpu_milli,memory_mib,gpu,model\n";
    char text[200];

    (void)state;
    fails("c.yaml", "nodes:\n  - name: a\n    gpus: -3\n",
          "c.yaml:3: nodes[0].gpus: must be 0 to 64, is -3");
    fails("c.yaml", "nodes:\n  - name: a\n    gpu: 3\n",
          "c.yaml:3: nodes[0].gpu: unknown field, known are name, count, model, gpus, gpu-memory, "
          "cpus, memory, labels, modes, gpu-context, compute-factor, mps-clients, links");
    fails("c.yaml", "nodes:\n  - name: a\n    memory: 1G\n",
          "c.yaml:2: nodes[0]: field 'cpus' is missing");
    fails("c.yaml", "nodes:\n  - name: a\n    memory: lots\n",
          "c.yaml:3: nodes[0].memory: must be a size such as 80G or 512M, is 'lots'");
    fails("c.yaml", "nodes:\n  - name: a\n    labels: {a=b: c}\n",
          "c.yaml:3: nodes[0].labels.a=b: a label's name must not be empty or have '='");
    fails("c.yaml", "nodes: 5\n", "c.yaml:1: nodes: must be a list, is a single value");
    fails("c.yaml", "- a\n", "c.yaml:1: must be a map of fields, is a list");
    fails("c.yaml", "nodes: []\n", "c.yaml: no node in it");
    fails("c.yaml", "", "c.yaml: no node in it");
    fails("c.csv", "a,b\n",
          "c.csv:1: unknown kind of cluster file, known headers are "
          "sn,cpu_milli,memory_mib,gpu,model and num_switch,num_node_p_switch,num_gpu_p_node,"
          "num_cpu_p_node,mem_p_node");
    snprintf(text, sizeof text, "%sa,-5,1,1,T4\n", header);
    fails("c.csv", text, "c.csv:2: column 'cpu_milli': must be 0 to 1000000000000, is -5");
    snprintf(text, sizeof text, "%sa,5,1,1,\n", header);
    fails("c.csv", text, "c.csv:2: column 'model': must not be empty");
    snprintf(text, sizeof text, "%sa,5,99999999999999999,1,T4\n", header);
    fails("c.csv", text,
          "c.csv:2: column 'memory_mib': must be 0 to 68719476736, is 99999999999999999");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_openb_list_has_its_published_size),
        TEST(the_muri_cluster_is_eight_nodes_of_eight_gpus),
        TEST(yaml_and_json_describe_nodes),
        TEST(modes_of_a_node_are_a_list_of_words),
        TEST(links_of_a_node_are_said_in_four_ways),
        TEST(links_that_do_not_fit_are_errors),
        TEST(short_texts_are_clusters),
        TEST(wrong_short_texts_are_errors),
        TEST(two_nodes_of_one_name_are_an_error),
        TEST(wrong_fields_are_named),
    };

    return RUN_TESTS(tests);
}
