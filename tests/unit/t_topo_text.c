/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/topo_text.h"

#include <stdio.h>

#include "core/link_presets.h"
#include "core/link_rates.h"
#include "unit/wire_test.h"
#include "wire/link_models.h"

#define LEGEND                                                                                     \
    "\nLegend:\n\n  X    = Self\n  SYS  = Connection traversing PCIe as well as the SMP "          \
    "interconnect between NUMA nodes (e.g., QPI/UPI)\n  NV#  = Connection traversing a bonded "    \
    "set of # NVLinks\n"

/* A new driver: colours, network cards by number, three columns of affinities. */
static const char dgx_h100[] =
    "\t\x1b[4mGPU0\tGPU1\tGPU2\tGPU3\tGPU4\tGPU5\tGPU6\tGPU7\tNIC0\tNIC1\tCPU Affinity\tNUMA "
    "Affinity\tGPU NUMA ID\x1b[0m\n"
    "GPU0\t X \tNV18\tNV18\tNV18\tNV18\tNV18\tNV18\tNV18\tPIX\tSYS\t0-55,112-167\t0\t\tN/A\n"
    "GPU1\tNV18\t X \tNV18\tNV18\tNV18\tNV18\tNV18\tNV18\tNODE\tSYS\t0-55,112-167\t0\t\tN/A\n"
    "GPU2\tNV18\tNV18\t X \tNV18\tNV18\tNV18\tNV18\tNV18\tNODE\tSYS\t0-55,112-167\t0\t\tN/A\n"
    "GPU3\tNV18\tNV18\tNV18\t X \tNV18\tNV18\tNV18\tNV18\tNODE\tSYS\t0-55,112-167\t0\t\tN/A\n"
    "GPU4\tNV18\tNV18\tNV18\tNV18\t X \tNV18\tNV18\tNV18\tSYS\tPIX\t56-111,168-223\t1\t\tN/A\n"
    "GPU5\tNV18\tNV18\tNV18\tNV18\tNV18\t X \tNV18\tNV18\tSYS\tNODE\t56-111,168-223\t1\t\tN/A\n"
    "GPU6\tNV18\tNV18\tNV18\tNV18\tNV18\tNV18\t X \tNV18\tSYS\tNODE\t56-111,168-223\t1\t\tN/A\n"
    "GPU7\tNV18\tNV18\tNV18\tNV18\tNV18\tNV18\tNV18\t X \tSYS\tNODE\t56-111,168-223\t1\t\tN/A\n"
    "NIC0\tPIX\tNODE\tNODE\tNODE\tSYS\tSYS\tSYS\tSYS\t X \tSYS\t\t\t\t\n"
    "NIC1\tSYS\tSYS\tSYS\tSYS\tPIX\tNODE\tNODE\tNODE\tSYS\t X \t\t\t\t\n" LEGEND
    "\nNIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_1\n";

/* An older driver: cards by name, one column of affinities, lines of DOS. */
static const char dgx1_v100[] =
    "$ nvidia-smi topo -m\r\n"
    "        GPU0    GPU1    GPU2    GPU3    GPU4    GPU5    GPU6    GPU7    mlx5_0  CPU "
    "Affinity\r\n"
    "GPU0     X      NV1     NV1     NV2     NV2     SYS     SYS     SYS     PIX     0-19\r\n"
    "GPU1    NV1      X      NV2     NV1     SYS     NV2     SYS     SYS     PIX     0-19\r\n"
    "GPU2    NV1     NV2      X      NV2     SYS     SYS     NV1     SYS     PHB     0-19\r\n"
    "GPU3    NV2     NV1     NV2      X      SYS     SYS     SYS     NV1     PHB     0-19\r\n"
    "GPU4    NV2     SYS     SYS     SYS      X      NV1     NV1     NV2     SYS     20-39\r\n"
    "GPU5    SYS     NV2     SYS     SYS     NV1      X      NV2     NV1     SYS     20-39\r\n"
    "GPU6    SYS     SYS     NV1     SYS     NV1     NV2      X      NV2     SYS     20-39\r\n"
    "GPU7    SYS     SYS     SYS     NV1     NV2     NV1     NV2      X      SYS     20-39\r\n"
    "mlx5_0  PIX     PIX     PHB     PHB     SYS     SYS     SYS     SYS      X \r\n";

/* The first drivers that had the command said SOC, and named no cards. */
static const char k80_pairs[] = "     GPU0 GPU1 GPU2 GPU3 CPU Affinity\n"
                                "GPU0  X   PIX  PHB  SOC  0-11\n"
                                "GPU1 PIX   X   PHB  SOC  0-11\n"
                                "GPU2 PHB  PHB   X   SOC  0-11\n"
                                "GPU3 SOC  SOC  SOC   X   12-23\n";

static const char pcie_8[] =
    "# a server with two sockets of two switches\n\n"
    "\tGPU0\tGPU1\tGPU2\tGPU3\tGPU4\tGPU5\tGPU6\tGPU7\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\t X \tPIX\tNODE\tNODE\tSYS\tSYS\tSYS\tSYS\t0-31\t0\n"
    "GPU1\tPIX\t X \tNODE\tNODE\tSYS\tSYS\tSYS\tSYS\t0-31\t0\n"
    "GPU2\tNODE\tNODE\t X \tPIX\tSYS\tSYS\tSYS\tSYS\t0-31\t0\n"
    "GPU3\tNODE\tNODE\tPIX\t X \tSYS\tSYS\tSYS\tSYS\t0-31\t0\n"
    "GPU4\tSYS\tSYS\tSYS\tSYS\t X \tPIX\tNODE\tNODE\t32-63\t1\n"
    "GPU5\tSYS\tSYS\tSYS\tSYS\tPIX\t X \tNODE\tNODE\t32-63\t1\n"
    "GPU6\tSYS\tSYS\tSYS\tSYS\tNODE\tNODE\t X \tPIX\t32-63\t1\n"
    "GPU7\tSYS\tSYS\tSYS\tSYS\tNODE\tNODE\tPIX\t X \t32-63\t1\n" LEGEND;

static int parse(const char *text, const char *model, struct topo *out, struct err *err)
{
    return topo_text_parse("t", text, strlen(text), model, out, err);
}

static void is_preset(const char *text, const char *model, const char *preset)
{
    uint32_t mbps[LINKS_PAIRS_MAX];
    struct topo topo;

    WORKS(parse(text, model, &topo, &err));
    assert_int_equal(topo.gpus, 8);
    assert_int_equal(link_preset_fill(link_preset_find(preset), 8, mbps, NULL), 0);
    for (uint32_t i = 0; i < links_pairs(8); i++)
        assert_int_equal(topo.mbps[i], mbps[i]);
}

static void a_dgx_h100_reads_as_its_preset(void **state)
{
    (void)state;
    is_preset(dgx_h100, "NVIDIA H100 80GB HBM3", "dgx-h100");
}

static void a_dgx_1_reads_as_its_preset(void **state)
{
    (void)state;
    is_preset(dgx1_v100, "Tesla V100-SXM2-16GB", "v100-dgx1");
}

static void a_pcie_server_reads_as_its_preset(void **state)
{
    (void)state;
    is_preset(pcie_8, "NVIDIA A10", "pcie-8");
    is_preset(pcie_8, "", "pcie-8");
}

static void old_words_and_one_column_of_affinities_are_read(void **state)
{
    struct topo topo;

    (void)state;
    WORKS(parse(k80_pairs, "P100", &topo, &err));
    assert_int_equal(topo.gpus, 4);
    assert_int_equal(topo.mbps[links_at(0, 1)], PCIE3_MBPS);
    assert_int_equal(topo.mbps[links_at(1, 2)], 11815); /* 12 sixteenths */
    assert_int_equal(topo.mbps[links_at(3, 2)], 7877);
}

static void the_model_says_what_a_link_carries(void **state)
{
    static const char two[] = "GPU0 GPU1 CPU Affinity\nGPU0 X NV4 0\nGPU1 NV4 X 0\n";
    struct topo topo;

    (void)state;
    WORKS(parse(two, "A100-SXM4-40GB", &topo, &err));
    assert_int_equal(topo.mbps[0], 100000);
    WORKS(parse(two, "NVIDIA A40", &topo, &err));
    assert_int_equal(topo.mbps[0], 4 * 14062);
    WORKS(parse(two, "B200", &topo, &err));
    assert_int_equal(topo.mbps[0], 200000);
}

static void models_are_known_by_a_word_of_their_names(void **state)
{
    (void)state;
    assert_int_equal(link_rates_of("Tesla V100-SXM2-32GB")->pcie_mbps, PCIE3_MBPS);
    assert_int_equal(link_rates_of("NVIDIA H100 80GB HBM3")->nvlink_mbps, 25000);
    assert_int_equal(link_rates_of("NVIDIA H200")->pcie_mbps, PCIE5_MBPS);
    assert_int_equal(link_rates_of("NVIDIA GB200")->nvlink_mbps, 50000);
    assert_int_equal(link_rates_of("NVIDIA RTX A6000")->nvlink_mbps, 14062);
    assert_int_equal(link_rates_of("gpu")->nvlink_mbps, 25000);
}

static void one_gpu_alone_is_a_matrix(void **state)
{
    struct topo topo;

    (void)state;
    WORKS(parse("\tGPU0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \t0-15\tN/A\n", "L4", &topo, &err));
    assert_int_equal(topo.gpus, 1);
}

static void bad_text_is_refused_with_its_line(void **state)
{
    static const struct {
        const char *text, *said;
    } bad[] = {
        {"", "t:0: no line of column names, GPU0 first"},
        {"# nothing\n\n", "t:2: no line of column names, GPU0 first"},
        {"No devices were found\n", "t:1: 'No': wanted the names of columns, GPU0 first"},
        {"\tGPU1\tGPU2\n", "t:1: column GPU1: wanted GPU0 here"},
        {"GPU0 GPU2\n", "t:1: column GPU2: wanted GPU1 here"},
        {"GPU0 GPU1\nGPU0 X NV1\n", "t:2: the row of GPU1 is missing"},
        {"GPU0 GPU1\nGPU1 NV1 X\n", "t:2: the row of GPU1: wanted that of GPU0 here"},
        {"GPU0 GPU1\nGPU0 X\n", "t:2: the row of GPU0 has 1 columns, the names are 2"},
        {"GPU0 GPU1\nGPU0 NV1 X\n", "t:2: 'NV1' for GPU0 to itself: wanted X"},
        {"GPU0 GPU1\nGPU0 X X\n",
         "t:2: 'X': no way between GPUs: wanted NV#, PIX, PXB, PHB, NODE or SYS"},
        {"GPU0 GPU1\nGPU0 X NV0\n",
         "t:2: 'NV0': no way between GPUs: wanted NV#, PIX, PXB, PHB, NODE or SYS"},
        {"GPU0 GPU1\nGPU0 X NV401\n",
         "t:2: 'NV401': no way between GPUs: wanted NV#, PIX, PXB, PHB, NODE or SYS"},
        {"GPU0 GPU1\nGPU0 X OK\n",
         "t:2: 'OK': no way between GPUs: wanted NV#, PIX, PXB, PHB, NODE or SYS"},
        {"GPU0 GPU1\n\nGPU0 X NV1\nGPU1 NV2 X\n",
         "t:4: GPU1 to GPU0 is NV2, but GPU0 to GPU1 is another way"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct topo topo;

        FAILS_WITH(parse(bad[i].text, "", &topo, &err), bad[i].said);
    }
}

static void more_gpus_than_a_node_has_are_refused(void **state)
{
    char text[1024] = "";
    struct topo topo;

    (void)state;
    for (uint32_t i = 0; i <= NODE_GPUS_MAX; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "GPU%u ", i);
    FAILS_WITH(parse(text, "", &topo, &err), "t:1: more than 64 GPUs");
}

static void what_comes_below_the_rows_does_not_count(void **state)
{
    struct topo topo;

    (void)state;
    WORKS(parse("GPU0 GPU1 NIC0\nGPU0 X SYS PIX\nGPU1 SYS X NODE\nGPU2 is not here\n", "", &topo,
                &err));
    assert_int_equal(topo.gpus, 2);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(a_dgx_h100_reads_as_its_preset),
        TEST(a_dgx_1_reads_as_its_preset),
        TEST(a_pcie_server_reads_as_its_preset),
        TEST(old_words_and_one_column_of_affinities_are_read),
        TEST(the_model_says_what_a_link_carries),
        TEST(models_are_known_by_a_word_of_their_names),
        TEST(one_gpu_alone_is_a_matrix),
        TEST(bad_text_is_refused_with_its_line),
        TEST(more_gpus_than_a_node_has_are_refused),
        TEST(what_comes_below_the_rows_does_not_count),
    };

    return RUN_TESTS(tests);
}
