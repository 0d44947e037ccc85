/* SPDX-License-Identifier: Apache-2.0 */
/* The place of each task is the one that judging every node would give: a mirror of the cluster,
 * kept without states, lists or versions, is asked node by node. */
#include "unit/core_mirror.h"

static const struct placement_policy full_totals = {
    .name = "test-full-totals", .totals_only = true, .score = NULL};

/* What a policy of totals sees: no single GPU. */
static int64_t score_totals(const void *state, const struct core *core,
                            const struct state_view *view, const struct request *request,
                            uint32_t *out_slot)
{
    (void)state, (void)core, (void)out_slot;
    return (int64_t)((view->free_mgpu + 3 * view->whole_free + request->shape_id) % 7);
}

static void small_clusters_agree_with_judging_every_node(void **state)
{
    static const struct placement_policy *const policies[] = {&place_first, &place_full,
                                                              &place_empty, &place_salted};

    (void)state;
    for (uint64_t seed = 0; seed < 12; seed++)
        for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++)
            mirror_compare(policies[i], seed, 2 + (uint32_t)seed * 3, 700);
}

static void policies_of_totals_agree_with_judging_every_node(void **state)
{
    struct placement_policy policy = full_totals;

    (void)state;
    policy.score = score_totals;
    for (uint64_t seed = 0; seed < 12; seed++)
        mirror_compare(&policy, seed, 2 + (uint32_t)seed * 5, 700);
}

/* More states than a list keeps, so that marks, tidying and judging anew are met. */
static void clusters_of_many_states_agree_with_judging_every_node(void **state)
{
    struct placement_policy fixed = place_salted;

    (void)state;
    fixed.refresh = NULL;
    for (uint64_t seed = 0; seed < 3; seed++) {
        mirror_compare(&place_salted, seed, 380, 2500);
        mirror_compare(&fixed, seed, 380, 2500);
        mirror_compare(&place_empty, seed, 380, 2500);
    }
}

/* 200 states of one node each, and more jobs of one shape than a list keeps. */
static void a_list_that_runs_dry_is_filled_anew(void **state)
{
    static struct mirror mirror;
    struct placement_policy fixed = place_salted;
    struct bed bed;
    uint64_t starts = 0;

    (void)state;
    fixed.refresh = NULL;
    bed_open(&bed, &fixed, &in_turn);
    for (uint32_t i = 0; i < 200; i++) {
        char name[16];

        snprintf(name, sizeof name, "n%u", i);
        bed_apply(&bed,
                  &(struct event){
                      .type = EVENT_NODE_UPSERTED,
                      .node = {.name = name, .model = "A100", .gpus = 1, .cpu_mcpu = 1000 + i}});
    }
    for (uint64_t id = 1; id <= 210; id++)
        SUBMIT(&bed, .id = id, .gpus = 1);
    mirror_fill(&mirror, bed.core);
    core_step(bed.core, 0, &bed.out);
    check_step(&mirror, &bed, &starts);
    assert_int_equal(starts, 200);
    bed_close(&bed);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(small_clusters_agree_with_judging_every_node),
        TEST(policies_of_totals_agree_with_judging_every_node),
        TEST(clusters_of_many_states_agree_with_judging_every_node),
        TEST(a_list_that_runs_dry_is_filled_anew),
    };

    return RUN_TESTS(tests);
}
