/* SPDX-License-Identifier: Apache-2.0 */
/* Which GPUs of a node go together, against enumeration from the definition (links_brute.h).
 *
 * Complete: every preset of up to 8 GPUs, every free set, every size; and so for 300 nodes of 2 to
 * 8 GPUs with links of 1 to 5 speeds, drawn with a seed. Sampled, with a seed: nodes of 9 to 16
 * GPUs, presets and drawn ones. */
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "core/link_presets.h"
#include "core/subset.h"
#include "unit/links_brute.h"
#include "unit/test.h"

enum { DRAWN = 300, WIDE = 6, WIDE_ASKED = 40 };

/* One kind of node, and how often each criterion was what decided. */
struct node {
    struct links links;
    struct subsets subsets;
    uint32_t gpus, mbps[LINKS_PAIRS_MAX];
    uint64_t offers[1 << 16];
};

struct tally {
    uint64_t cases, decided[BY_NUMBERS];
};

static struct node *node_new(uint32_t gpus)
{
    struct node *node = calloc(1, sizeof *node);

    assert_non_null(node);
    node->gpus = gpus;
    links_init(&node->links);
    subsets_init(&node->subsets);
    return node;
}

static void node_free(struct node *node)
{
    links_done(&node->links);
    subsets_done(&node->subsets);
    free(node);
}

static void ask(struct node *node, uint64_t free, uint32_t wanted, struct tally *tally)
{
    const uint64_t is = subset_choose(&node->subsets, &node->links, 1, free, wanted);
    const uint64_t right = brute_subset(node->mbps, free, wanted, -1, node->offers);

    if (is != right)
        fail_msg("%u GPUs, free %llx, wanted %u: %llx, not %llx", node->gpus,
                 (unsigned long long)free, wanted, (unsigned long long)is,
                 (unsigned long long)right);
    assert_true(subset_choose(&node->subsets, &node->links, 1, free, wanted) == is);
    tally->cases++;
    for (int by = 0; by < BY_NUMBERS && tally->cases % 4 == 0; by++)
        tally->decided[by] += brute_subset(node->mbps, free, wanted, by, node->offers) != right;
}

static void ask_all(struct node *node, struct tally *tally)
{
    assert_int_equal(links_intern(&node->links, node->gpus, node->mbps), 1);
    for (uint64_t free = 0; free < 1ull << node->gpus; free++) {
        assert_true(subset_choose(&node->subsets, &node->links, 1, free, 0) == 0);
        for (uint32_t wanted = 1; wanted <= (uint32_t)__builtin_popcountll(free); wanted++)
            ask(node, free, wanted, tally);
    }
}

static void draw(struct node *node, struct rng *rng)
{
    const uint32_t speeds = 1 + (uint32_t)rng_below(rng, 5);

    for (uint32_t i = 0; i < links_pairs(node->gpus); i++)
        node->mbps[i] = (uint32_t)rng_below(rng, speeds) * 10000;
}

static void every_preset_of_up_to_8_gpus_chooses_as_enumeration_does(void **state)
{
    struct tally tally = {0};
    uint32_t presets = 0;

    (void)state;
    for (uint32_t i = 0; link_preset_name(i) != NULL; i++)
        for (uint32_t gpus = 2; gpus <= 8; gpus++) {
            struct node *node = node_new(gpus);

            if (link_preset_fill(link_preset_find(link_preset_name(i)), gpus, node->mbps, NULL) ==
                0) {
                ask_all(node, &tally);
                presets++;
            }
            node_free(node);
        }
    assert_int_equal(presets, 23);
    assert_int_equal(tally.cases, 2 * 4 + 8 * 32 + 6 * 32 + 12 * 1024);
}

static void drawn_nodes_of_up_to_8_gpus_choose_as_enumeration_does(void **state)
{
    struct tally tally = {0};
    struct rng rng;

    (void)state;
    rng_init(&rng, 44);
    for (uint32_t i = 0; i < DRAWN; i++) {
        struct node *node = node_new(2 + i % 7);

        draw(node, &rng);
        ask_all(node, &tally);
        node_free(node);
    }
    for (int by = 0; by < BY_NUMBERS; by++)
        assert_true(tally.decided[by] > 200); /* each criterion is what decides, in some cases */
}

static void nodes_of_up_to_16_gpus_choose_as_enumeration_does(void **state)
{
    struct tally tally = {0};
    struct rng rng;

    (void)state;
    rng_init(&rng, 16);
    for (uint32_t i = 0; i < WIDE; i++) {
        struct node *node = node_new(i < 2 ? 16 : 9 + (uint32_t)rng_below(&rng, 8));

        if (i < 2)
            assert_int_equal(link_preset_fill(link_preset_find(i ? "dgx2-v100" : "nvlink-pairs"),
                                              16, node->mbps, NULL),
                             0);
        else
            draw(node, &rng);
        links_intern(&node->links, node->gpus, node->mbps);
        for (uint32_t asked = 0; asked < WIDE_ASKED; asked++) {
            const uint64_t free = rng_next(&rng) & ((1ull << node->gpus) - 1) &
                                  (asked % 4 > 0 ? rng_next(&rng) | rng_next(&rng) : UINT64_MAX);
            const uint32_t count = (uint32_t)__builtin_popcountll(free);

            if (count > 0)
                ask(node, free, 1 + (uint32_t)rng_below(&rng, count), &tally);
        }
        node_free(node);
    }
    assert_true(tally.cases > WIDE * WIDE_ASKED / 2);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(every_preset_of_up_to_8_gpus_chooses_as_enumeration_does),
        TEST(drawn_nodes_of_up_to_8_gpus_choose_as_enumeration_does),
        TEST(nodes_of_up_to_16_gpus_choose_as_enumeration_does),
    };

    return RUN_TESTS(tests);
}
