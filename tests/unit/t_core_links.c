/* SPDX-License-Identifier: Apache-2.0 */
/* How GPUs are wired inside a node: rows of links, presets, and which GPUs tasks get by them. */
#include "core/links.h"

#include "base/bits.h"
#include "base/mem.h"
#include "core/impl.h"
#include "core/link_presets.h"
#include "core/link_rates.h"
#include "unit/core_random.h"
#include "unit/links_brute.h"

/* Four pairs (0,4) (1,5) (2,6) (3,7) on one bus, so that the lowest GPUs are never the right ones.
 */
static const uint32_t *crossed_pairs(void)
{
    static uint32_t mbps[28];

    for (uint32_t b = 1; b < 8; b++)
        for (uint32_t a = 0; a < b; a++)
            mbps[links_at(a, b)] = b == a + 4 ? 300000 : 16000;
    return mbps;
}

static struct event node_of(const char *name, uint32_t gpus, const uint32_t *mbps)
{
    return (struct event){.type = EVENT_NODE_UPSERTED,
                          .node = {.name = name,
                                   .model = "A100",
                                   .gpus = gpus,
                                   .gpu_memory_bytes = 80 * GB,
                                   .cpu_mcpu = 100000,
                                   .memory_bytes = 1000 * GB,
                                   .links_mbps = mbps}};
}

static void open_node(struct bed *bed, uint32_t gpus, const uint32_t *mbps)
{
    const struct event node = node_of("n0", gpus, mbps);

    bed_open(bed, &place_first, &in_turn);
    bed_apply(bed, &node);
}

/* The GPUs that a job which just started has, all tasks together. */
static uint64_t gpus_of(const struct bed *bed, uint64_t id)
{
    const struct job *job = core_job(bed->core, core_find_job(bed->core, id));
    uint64_t mask = 0;

    assert_true(job->task_first != ROW_NONE);
    for (uint32_t i = 0; i < job->task_count; i++)
        mask |= core_task(bed->core, job->task_first + i)->gpu_mask;
    return mask;
}

static uint64_t start(struct bed *bed, uint64_t id, uint32_t gpus)
{
    SUBMIT(bed, .id = id, .gpus = gpus);
    bed_step(bed);
    return gpus_of(bed, id);
}

/* ---- rows and presets ---- */

static void equal_links_are_one_row(void **state)
{
    const uint32_t pair = 5, other = 6, three[] = {5, 5, 5};
    struct links links;

    (void)state;
    links_init(&links);
    assert_int_equal(links_find(&links, 2, &pair), LINKS_UNKNOWN);
    assert_int_equal(links_intern(&links, 2, &pair), 1);
    assert_int_equal(links_intern(&links, 2, &other), 2);
    assert_int_equal(links_intern(&links, 3, three), 3);
    assert_int_equal(links_intern(&links, 2, &pair), 1);
    assert_int_equal(links_gpus(&links, 3), 3);
    assert_int_equal(links_mbps(&links, 2)[0], 6);
    links_done(&links);
}

static void a_pair_is_one_number_whoever_is_named_first(void **state)
{
    uint32_t next = 0;

    (void)state;
    for (uint32_t b = 1; b < NODE_GPUS_MAX; b++)
        for (uint32_t a = 0; a < b; a++) {
            assert_int_equal(links_at(a, b), next++);
            assert_int_equal(links_at(b, a), links_at(a, b));
        }
    assert_int_equal(next, LINKS_PAIRS_MAX);
}

static uint32_t preset_pair(const char *name, uint32_t gpus, uint32_t a, uint32_t b)
{
    uint32_t mbps[LINKS_PAIRS_MAX];

    assert_int_equal(link_preset_fill(link_preset_find(name), gpus, mbps, NULL), 0);
    return mbps[links_at(a, b)];
}

static void presets_are_wired_as_their_machines(void **state)
{
    (void)state;
    assert_int_equal(preset_pair("dgx-h100", 8, 0, 7), 450000); /* 900 GB/s both ways */
    assert_int_equal(preset_pair("dgx-b200", 8, 2, 3), 900000);
    assert_int_equal(preset_pair("hgx-a100-8", 8, 2, 3), 300000);
    assert_int_equal(preset_pair("hgx-a100-4", 4, 0, 3), 100000); /* 4 of its 12 links to each */
    assert_int_equal(preset_pair("dgx2-v100", 16, 0, 15), 150000);
    assert_int_equal(preset_pair("v100-dgx1", 8, 0, 3), 50000);
    assert_int_equal(preset_pair("v100-dgx1", 8, 0, 1), 25000);
    assert_int_equal(preset_pair("v100-dgx1", 8, 0, 5), 7877);
    assert_int_equal(preset_pair("nvlink-pairs", 8, 6, 7), 300000);
    assert_int_equal(preset_pair("nvlink-pairs", 8, 5, 6), 19692); /* one socket */
    assert_int_equal(preset_pair("nvlink-pairs", 8, 3, 4), 15754); /* two */
    assert_int_equal(preset_pair("nvlink-pairs", 6, 2, 3), 300000);
    assert_int_equal(preset_pair("pcie-8", 8, 0, 1), 31508);
    assert_int_equal(preset_pair("pcie-8", 8, 0, 2), 19692);
    assert_int_equal(preset_pair("pcie-8", 8, 0, 4), 15754);
    assert_true(link_preset_find("dgx") == NULL);
}

/* Every V100 has 6 links and every P100 has 4, to neighbours in its half but for one. */
static void the_cube_mesh_uses_up_all_links(void **state)
{
    (void)state;
    for (uint32_t gpu = 0; gpu < 8; gpu++) {
        uint32_t v100 = 0, p100 = 0, across = 0;

        for (uint32_t other = 0; other < 8; other++) {
            const uint32_t v = other != gpu ? preset_pair("v100-dgx1", 8, gpu, other) : 0;
            const uint32_t p = other != gpu ? preset_pair("p100-dgx1", 8, gpu, other) : 0;

            v100 += v / NVLINK2_MBPS;
            p100 += p / NVLINK1_MBPS;
            across += gpu / 4 != other / 4 && v >= NVLINK2_MBPS;
            assert_true((v >= NVLINK2_MBPS) == (p >= NVLINK1_MBPS));
        }
        assert_int_equal(v100, 6);
        assert_int_equal(p100, 4);
        assert_int_equal(across, 1);
    }
}

static void a_preset_of_another_size_is_refused(void **state)
{
    static const struct {
        const char *name;
        uint32_t gpus;
    } bad[] = {{"dgx-h100", 4}, {"nvlink-pairs", 7}, {"nvlink-pairs", 18}, {"l4-1", 2}};
    uint32_t mbps[LINKS_PAIRS_MAX];
    struct err err;

    (void)state;
    for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(link_preset_fill(link_preset_find(bad[i].name), bad[i].gpus, mbps, &err),
                         -EINVAL);
    assert_string_equal(err.text, "'l4-1' has 1 GPUs, the node has 2");
    for (uint32_t i = 0; link_preset_name(i) != NULL; i++) {
        const struct link_preset *preset = link_preset_find(link_preset_name(i));
        uint32_t min, max;

        link_preset_range(preset, &min, &max);
        assert_int_equal(link_preset_fill(preset, min, mbps, NULL), 0);
        assert_int_equal(link_preset_fill(preset, max, mbps, NULL), 0);
    }
}

/* ---- which GPUs tasks get ---- */

/* Fault 44. */
static void singles_go_to_broken_pairs_and_leave_whole_ones(void **state)
{
    struct bed bed;
    uint64_t first, second;

    (void)state;
    open_node(&bed, 8, crossed_pairs());
    assert_true(start(&bed, 1, 1) == 0x01);
    assert_true(start(&bed, 2, 1) == 0x10);
    assert_true(start(&bed, 3, 1) == 0x02);
    assert_true(start(&bed, 4, 1) == 0x20);
    first = start(&bed, 5, 2);
    second = start(&bed, 6, 2);
    assert_true(first == 0x44 && second == 0x88);
    bed_close(&bed);
}

static void without_links_the_lowest_gpus_are_taken(void **state)
{
    struct bed bed;

    (void)state;
    open_node(&bed, 8, NULL);
    assert_true(start(&bed, 1, 2) == 0x03);
    assert_true(start(&bed, 2, 3) == 0x1c);
    assert_int_equal(bed.core->nodes.links.count, 0);
    bed_close(&bed);
}

static void a_part_of_an_unused_gpu_breaks_least_and_the_next_part_joins_it(void **state)
{
    struct bed bed;

    (void)state;
    open_node(&bed, 8, crossed_pairs());
    assert_true(start(&bed, 1, 2) == 0x11);
    SUBMIT(&bed, .id = 2, .gpus = 1);
    bed_step(&bed);
    assert_true(gpus_of(&bed, 2) == 0x02);
    SUBMIT(&bed, .id = 3, .gpus = 1, .mgpu = 500);
    bed_step(&bed);
    assert_true(gpus_of(&bed, 3) == 0x20); /* whose neighbour is taken */
    SUBMIT(&bed, .id = 4, .gpus = 1, .mgpu = 500);
    bed_step(&bed);
    assert_true(gpus_of(&bed, 4) == 0x20);
    SUBMIT(&bed, .id = 5, .gpus = 2, .mgpu = 500); /* on two unused ones */
    bed_step(&bed);
    assert_true(gpus_of(&bed, 5) == 0x44);
    SUBMIT(&bed, .id = 6, .gpus = 3, .mgpu = 500); /* on these two and one more */
    bed_step(&bed);
    assert_true(gpus_of(&bed, 6) == 0x4c);
    bed_close(&bed);
}

static void a_lost_gpu_is_not_chosen_and_its_neighbour_is_for_singles(void **state)
{
    const struct event lost = health("n0", 6, GPU_LOST);
    struct bed bed;

    (void)state;
    open_node(&bed, 8, crossed_pairs());
    bed_apply(&bed, &lost);
    assert_true(start(&bed, 1, 1) == 0x04);
    assert_true(start(&bed, 2, 2) == 0x11);
    bed_close(&bed);
}

static void a_claim_is_on_the_gpus_that_fit_best_when_the_victims_have_left(void **state)
{
    const struct event node = node_of("n0", 8, crossed_pairs());
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &by_queue);
    bed_apply(&bed, &node);
    for (uint64_t id = 1; id <= 8; id++) {
        SUBMIT(&bed, .id = id, .gpus = 1, .queue = id == 3 || id == 4 ? "9" : "1");
        bed_step(&bed);
        apply(&bed, started(id, 0));
    }
    assert_true(gpus_of(&bed, 3) == 0x02 && gpus_of(&bed, 4) == 0x20);
    SUBMIT(&bed, .id = 9, .gpus = 2, .queue = "5");
    bed_step(&bed);
    apply(&bed, exited(3, 0, 143));
    apply(&bed, exited(4, 0, 143));
    bed_step(&bed);
    assert_true(gpus_of(&bed, 9) == 0x22);
    bed_close(&bed);
}

static void a_node_is_of_another_class_when_it_is_wired_otherwise(void **state)
{
    const struct event known = node_of("n0", 8, crossed_pairs());
    const struct event alike = node_of("n1", 8, crossed_pairs()), unknown = node_of("n0", 8, NULL);
    struct bed bed;

    (void)state;
    open_node(&bed, 8, NULL);
    bed_apply(&bed, &known);
    bed_apply(&bed, &alike);
    assert_int_equal(bed.core->nodes.rows[0].class_id, bed.core->nodes.rows[1].class_id);
    assert_int_equal(bed.core->nodes.links.count, 1);
    assert_true(start(&bed, 1, 2) == 0x11);
    bed_apply(&bed, &unknown); /* with a job on it */
    assert_true(start(&bed, 2, 2) == 0x06);
    bed_close(&bed);
}

static void one_gpu_has_no_links(void **state)
{
    const uint32_t none = 0;
    struct bed bed;

    (void)state;
    open_node(&bed, 1, &none);
    assert_int_equal(bed.core->nodes.links.count, 0);
    assert_true(start(&bed, 1, 1) == 0x01);
    bed_close(&bed);
}

static void links_out_of_range_are_refused(void **state)
{
    const uint32_t fast = LINK_MBPS_MAX, faster = LINK_MBPS_MAX + 1;
    struct event event = node_of("n1", 2, &faster);
    struct bed bed;

    (void)state;
    open_node(&bed, 2, &fast);
    bed_refuses(&bed, &event, EINVAL);
    for (uint32_t i = 1; i < LINKS_MAX; i++) {
        char name[16];

        snprintf(name, sizeof name, "m%u", i);
        event = node_of(name, 2, &i);
        bed_apply(&bed, &event);
    }
    event = node_of("n1", 2, &(uint32_t){LINKS_MAX});
    bed_refuses(&bed, &event, ENOSPC);
    event = node_of("n1", 2, &fast);
    bed_apply(&bed, &event);
    bed_close(&bed);
}

/* ---- copies ---- */

/* Tables are made again, or copied; choices are the same. */
static void a_core_that_was_saved_or_copied_chooses_the_same(void **state)
{
    const struct core_config config = {.placement = &place_first, .order = &in_turn};
    struct core *copies[2];
    struct bed bed;
    uint8_t *bytes;
    size_t count;

    (void)state;
    open_node(&bed, 8, crossed_pairs());
    assert_true(start(&bed, 1, 1) == 0x01);
    bytes = core_save(bed.core, &count);
    copies[0] = core_load(&config, bytes, count, &bed.err);
    copies[1] = core_clone(bed.core);
    mem_free(bytes);
    for (uint32_t i = 0; i < 2; i++) {
        struct core *was = bed.core;

        assert_non_null(copies[i]);
        assert_true(core_digest(copies[i]) == core_digest(was));
        bed.core = copies[i];
        assert_true(start(&bed, 2, 1) == 0x10);
        assert_true(start(&bed, 3, 2) == 0x22);
        core_free(copies[i]);
        bed.core = was;
    }
    bed_close(&bed);
}

static void links_of_another_number_of_gpus_are_not_loaded(void **state)
{
    const struct core_config config = {.placement = &place_first, .order = &in_turn};
    struct bed bed;
    uint8_t *bytes;
    size_t count;

    (void)state;
    open_node(&bed, 8, crossed_pairs());
    bed_node(&bed, "n1", 4);
    bed.core->nodes.classes[1].links = 1;
    bytes = core_save(bed.core, &count);
    assert_null(core_load(&config, bytes, count, &bed.err));
    assert_non_null(strstr(bed.err.text, "are of 8 GPUs, it has 4"));
    mem_free(bytes);
    bed_close(&bed);
}

/* ---- wide nodes ---- */

/* 20 GPUs in pairs (0,10) (1,11) ...: no tables, but the same sense. */
static void nodes_of_more_than_16_gpus_keep_pairs_together_too(void **state)
{
    uint32_t mbps[190];
    struct bed bed;

    (void)state;
    for (uint32_t b = 1; b < 20; b++)
        for (uint32_t a = 0; a < b; a++)
            mbps[links_at(a, b)] = b == a + 10 ? 300000 : 16000;
    open_node(&bed, 20, mbps);
    assert_true(start(&bed, 1, 1) == 1u << 0);
    assert_true(start(&bed, 2, 1) == 1u << 10);
    assert_true(start(&bed, 3, 2) == (1u << 1 | 1u << 11));
    assert_true(start(&bed, 4, 4) == (1u << 2 | 1u << 12 | 1u << 3 | 1u << 13));
    assert_true(start(&bed, 5, 12) == 0xfffff - 0x3c0f);
    bed_close(&bed);
}

static void wide_nodes_give_as_many_free_gpus_as_were_wanted(void **state)
{
    struct subsets subsets;
    struct links links;
    uint32_t mbps[LINKS_PAIRS_MAX];
    struct rng rng;

    (void)state;
    rng_init(&rng, 5);
    for (uint32_t i = 0; i < LINKS_PAIRS_MAX; i++)
        mbps[i] = (uint32_t)rng_below(&rng, 4) * 1000;
    links_init(&links);
    subsets_init(&subsets);
    assert_int_equal(links_intern(&links, 64, mbps), 1);
    for (uint32_t wanted = 1; wanted < 64; wanted += 3) {
        const uint64_t free = rng_next(&rng) | rng_next(&rng) | rng_next(&rng);
        const uint32_t some = wanted < mask_popcount(free) ? wanted : mask_popcount(free);
        const uint64_t set = subset_choose(&subsets, &links, 1, free, some);

        assert_true((set & ~free) == 0);
        assert_int_equal(mask_popcount(set), some);
        if (wanted == 1)
            for (uint32_t gpu = 0; gpu < 64; gpu++)
                assert_true(!(free >> gpu & 1) ||
                            brute_broken(mbps, set, free & ~set) <=
                                brute_broken(mbps, 1ull << gpu, free & ~(1ull << gpu)));
    }
    links_done(&links);
    subsets_done(&subsets);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(equal_links_are_one_row),
        TEST(a_pair_is_one_number_whoever_is_named_first),
        TEST(presets_are_wired_as_their_machines),
        TEST(the_cube_mesh_uses_up_all_links),
        TEST(a_preset_of_another_size_is_refused),
        TEST(singles_go_to_broken_pairs_and_leave_whole_ones),
        TEST(without_links_the_lowest_gpus_are_taken),
        TEST(a_part_of_an_unused_gpu_breaks_least_and_the_next_part_joins_it),
        TEST(a_lost_gpu_is_not_chosen_and_its_neighbour_is_for_singles),
        TEST(a_claim_is_on_the_gpus_that_fit_best_when_the_victims_have_left),
        TEST(a_node_is_of_another_class_when_it_is_wired_otherwise),
        TEST(one_gpu_has_no_links),
        TEST(links_out_of_range_are_refused),
        TEST(a_core_that_was_saved_or_copied_chooses_the_same),
        TEST(links_of_another_number_of_gpus_are_not_loaded),
        TEST(nodes_of_more_than_16_gpus_keep_pairs_together_too),
        TEST(wide_nodes_give_as_many_free_gpus_as_were_wanted),
    };

    return RUN_TESTS(tests);
}
