/* SPDX-License-Identifier: Apache-2.0 */
/* What a share of a GPU is, which nodes a job may use, and that nothing is given twice. */
#include "core/impl.h"
#include "unit/core_test.h"

static uint32_t starts_of(struct bed *bed, uint32_t jobs, const struct ask *ask)
{
    struct ask one = *ask;

    for (one.id = 1; one.id <= jobs; one.id++)
        bed_submit(bed, &one);
    bed_step(bed);
    return bed_count(bed, DECISION_START);
}

/* GPUs of the last step's places, each counted once. */
static uint32_t distinct_gpus(const struct bed *bed)
{
    uint64_t seen[64] = {0};
    uint32_t count = 0;

    for (uint32_t i = 0; i < bed->out.place_count; i++) {
        assert_true(bed->out.places[i].node < 64);
        seen[bed->out.places[i].node] |= bed->out.places[i].gpu_mask;
    }
    for (uint32_t i = 0; i < 64; i++)
        count += (uint32_t)__builtin_popcountll(seen[i]);
    return count;
}

static void three_thirds_fit_on_one_gpu_and_a_fourth_does_not(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 1);
    assert_int_equal(starts_of(&bed, 4, &(struct ask){.gpus = 1, .mgpu = 333}), 3);
    bed_close(&bed);
}

static void ten_tenths_fill_one_gpu(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 1);
    assert_int_equal(starts_of(&bed, 11, &(struct ask){.gpus = 1, .mgpu = 100}), 10);
    assert_int_equal(bed.core->nodes.gpus[0].held_mgpu, 1000);
    assert_true(bed.core->nodes.gpus[0].held_bytes == 80 * GB);
    bed_close(&bed);
}

static void ten_gigabytes_of_256_fit_25_times(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_apply(&bed,
              &(struct event){
                  .type = EVENT_NODE_UPSERTED,
                  .node = {.name = "n0", .model = "big", .gpus = 1, .gpu_memory_bytes = 256 * GB}});
    assert_int_equal(starts_of(&bed, 26, &(struct ask){.gpus = 1, .gpu_bytes = 10 * GB}), 25);
    assert_int_equal(bed_state(&bed, 26), JOB_PENDING);
    bed_close(&bed);
}

static void ten_shares_of_six_tenths_run_one_on_each_gpu(void **state)
{
    static const struct placement_policy *const policies[] = {
        &place_first, &place_full, &place_empty, &place_salted, &place_drawn_by_lot};

    (void)state;
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
        struct bed bed;

        bed_open(&bed, policies[i], &in_turn);
        bed_nodes(&bed, 2, 8);
        assert_int_equal(starts_of(&bed, 10, &(struct ask){.gpus = 1, .mgpu = 600}), 10);
        assert_int_equal(distinct_gpus(&bed), 10);
        bed_close(&bed);
    }
}

static void twenty_halves_on_eight_gpus_are_two_on_each(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_salted, &in_turn);
    bed_node(&bed, "n0", 8);
    assert_int_equal(starts_of(&bed, 20, &(struct ask){.gpus = 1, .mgpu = 500}), 16);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(bed.core->nodes.gpus[i].held_mgpu, 1000);
    bed_close(&bed);
}

static void a_whole_gpu_is_never_one_that_is_shared(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 2);
    SUBMIT(&bed, .id = 1, .gpus = 1, .mgpu = 500);
    SUBMIT(&bed, .id = 2, .gpus = 1);
    SUBMIT(&bed, .id = 3, .gpus = 1);
    SUBMIT(&bed, .id = 4, .gpus = 1, .mgpu = 500);
    bed_step(&bed);
    assert_starts(&bed, 1, 0, "n0", 1);
    assert_starts(&bed, 2, 0, "n0", 2);
    assert_starts(&bed, 4, 0, "n0", 1);
    assert_int_equal(bed_state(&bed, 3), JOB_PENDING);
    bed_close(&bed);
}

static void all_the_memory_of_a_gpu_is_the_whole_of_it(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 2);
    SUBMIT(&bed, .id = 1, .gpus = 1, .mgpu = 1);
    SUBMIT(&bed, .id = 2, .gpus = 1, .gpu_bytes = 80 * GB);
    SUBMIT(&bed, .id = 3, .gpus = 1, .gpu_bytes = 80 * GB);
    bed_step(&bed);
    assert_starts(&bed, 2, 0, "n0", 2);
    assert_int_equal(bed_state(&bed, 3), JOB_PENDING);
    bed_close(&bed);
}

static void memory_runs_out_before_compute(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 1);
    SUBMIT(&bed, .id = 1, .gpus = 1, .mgpu = 100, .gpu_bytes = 60 * GB);
    SUBMIT(&bed, .id = 2, .gpus = 1, .mgpu = 100, .gpu_bytes = 21 * GB);
    SUBMIT(&bed, .id = 3, .gpus = 1, .mgpu = 100, .gpu_bytes = 20 * GB);
    SUBMIT(&bed, .id = 4, .gpus = 1, .mgpu = 1);
    bed_step(&bed);
    assert_int_equal(bed_state(&bed, 1), JOB_STARTING);
    assert_int_equal(bed_state(&bed, 2), JOB_PENDING);
    assert_int_equal(bed_state(&bed, 3), JOB_STARTING);
    assert_int_equal(bed_state(&bed, 4), JOB_PENDING);
    bed_close(&bed);
}

static void bytes_are_never_rounded_down_to_nothing(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 1);
    assert_int_equal(starts_of(&bed, 1001, &(struct ask){.gpus = 1, .gpu_bytes = 1}), 1000);
    bed_close(&bed);
}

static void a_share_takes_its_part_of_the_memory_to_the_byte(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_apply(&bed, &(struct event){.type = EVENT_NODE_UPSERTED,
                                    .node = {.name = "n0",
                                             .model = "odd",
                                             .gpus = 1,
                                             .gpu_memory_bytes = MEMORY_BYTES_MAX - 1}});
    SUBMIT(&bed, .id = 1, .gpus = 1, .mgpu = 333);
    bed_step(&bed);
    assert_true(bed.core->nodes.gpus[0].held_bytes == 23995178814630002); /* 0.333 * (2^56 - 1) */
    bed_close(&bed);
}

static void unknown_gpu_memory_takes_shares_of_compute_only(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_apply(&bed, &(struct event){.type = EVENT_NODE_UPSERTED,
                                    .node = {.name = "n0", .model = "old", .gpus = 2}});
    SUBMIT(&bed, .id = 1, .gpus = 1, .mgpu = 500, .gpu_bytes = 1);
    SUBMIT(&bed, .id = 2, .gpus = 1, .gpu_bytes = 1);
    SUBMIT(&bed, .id = 3, .gpus = 1, .mgpu = 500);
    SUBMIT(&bed, .id = 4, .gpus = 1);
    bed_step(&bed);
    assert_int_equal(bed_find(&bed, DECISION_REJECT, 1)->reason, REASON_NEVER);
    assert_int_equal(bed_find(&bed, DECISION_REJECT, 2)->reason, REASON_NEVER);
    assert_int_equal(bed_state(&bed, 3), JOB_STARTING);
    assert_int_equal(bed_state(&bed, 4), JOB_STARTING);
    bed_close(&bed);
}

static void two_shared_gpus_are_two_devices(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 1);
    SUBMIT(&bed, .id = 9, .gpus = 2, .mgpu = 250);
    bed_step(&bed);
    assert_non_null(bed_find(&bed, DECISION_REJECT, 9));
    bed_node(&bed, "n1", 2);
    for (uint64_t id = 1; id <= 5; id++)
        SUBMIT(&bed, .id = id, .gpus = 2, .mgpu = 250);
    bed_step(&bed);
    for (uint64_t id = 1; id <= 4; id++)
        assert_starts(&bed, id, 0, "n1", 3);
    assert_int_equal(bed_state(&bed, 5), JOB_PENDING);
    bed_close(&bed);
}

static void cpu_and_memory_bound_as_gpus_do(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 8);
    assert_int_equal(starts_of(&bed, 4, &(struct ask){.gpus = 1, .cpu_mcpu = 33333}), 3);
    bed_close(&bed);
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 0);
    assert_int_equal(starts_of(&bed, 4, &(struct ask){.memory_bytes = 300 * GB}), 3);
    bed_close(&bed);
}

static void a_job_without_gpus_starts_though_all_gpus_are_used(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 1);
    SUBMIT(&bed, .id = 1, .gpus = 1);
    SUBMIT(&bed, .id = 2, .gpus = 1);
    SUBMIT(&bed, .id = 3, .cpu_mcpu = 100000);
    bed_step(&bed);
    assert_starts(&bed, 3, 0, "n0", 0);
    bed_close(&bed);
}

/* ---- models and labels ---- */

static void upsert(struct bed *bed, const char *name, const char *model, const char *const *labels,
                   uint32_t label_count)
{
    bed_apply(bed, &(struct event){.type = EVENT_NODE_UPSERTED,
                                   .node = {.name = name,
                                            .model = model,
                                            .gpus = 1,
                                            .labels = labels,
                                            .label_count = label_count}});
}

static void only_a_model_that_is_allowed_is_used(void **state)
{
    static const char *const either[] = {"V100", "T4", "V100"};
    const struct group_spec group = {.tasks = 1, .gpus = 1, .models = either, .model_count = 3};
    const struct job_layout_spec layout = {
        .groups = &group, .group_count = 1, .slowdown_ppm = 1000000};
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    upsert(&bed, "n0", "A100", NULL, 0);
    upsert(&bed, "n1", "T4", NULL, 0);
    SUBMIT(&bed, .id = 1, .gpus = 1, .model = "V100");
    SUBMIT(&bed, .id = 2, .gpus = 1, .model = "T4");
    SUBMIT(&bed, .id = 3, .gpus = 1);
    bed_step(&bed);
    assert_non_null(bed_find(&bed, DECISION_REJECT, 1));
    assert_starts(&bed, 2, 0, "n1", 1);
    assert_starts(&bed, 3, 0, "n0", 1);
    bed_end(&bed, 2, 0);
    bed_apply(&bed, &(struct event){.type = EVENT_JOB_SUBMITTED,
                                    .job = {.id = 4,
                                            .queue = "",
                                            .user = "",
                                            .name = "",
                                            .layouts = &layout,
                                            .layout_count = 1,
                                            .remaining_us = -1}});
    bed_step(&bed);
    assert_starts(&bed, 4, 0, "n1", 1);
    upsert(&bed, "n2", "V100", NULL, 0);
    SUBMIT(&bed, .id = 1, .gpus = 1, .model = "V100");
    bed_step(&bed);
    assert_starts(&bed, 1, 0, "n2", 1);
    bed_close(&bed);
}

static void all_labels_that_are_asked_for_must_be_there(void **state)
{
    static const char *const one[] = {"rack=1"}, *const both[] = {"zone=a", "rack=1"};
    static const char *const asked[] = {"rack=1", "zone=a", "rack=1"};
    const struct group_spec group = {.tasks = 1, .gpus = 1, .labels = asked, .label_count = 3};
    const struct job_layout_spec layout = {
        .groups = &group, .group_count = 1, .slowdown_ppm = 1000000};
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    upsert(&bed, "n0", "A100", NULL, 0);
    upsert(&bed, "n1", "A100", one, 1);
    upsert(&bed, "n2", "A100", both, 2);
    bed_apply(&bed, &(struct event){.type = EVENT_JOB_SUBMITTED,
                                    .job = {.id = 1,
                                            .queue = "",
                                            .user = "",
                                            .name = "",
                                            .layouts = &layout,
                                            .layout_count = 1,
                                            .remaining_us = -1}});
    SUBMIT(&bed, .id = 2, .gpus = 1, .label = "rack=1");
    SUBMIT(&bed, .id = 3, .gpus = 1, .label = "rack=2");
    bed_step(&bed);
    assert_starts(&bed, 1, 0, "n2", 1);
    assert_starts(&bed, 2, 0, "n1", 1);
    assert_non_null(bed_find(&bed, DECISION_REJECT, 3));
    bed_close(&bed);
}

static void equal_requests_are_one_shape_and_one_gang(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    SUBMIT(&bed, .id = 1, .gpus = 1, .label = "a=b");
    SUBMIT(&bed, .id = 2, .gpus = 1, .mgpu = 1000, .label = "a=b");
    SUBMIT(&bed, .id = 3, .gpus = 1, .label = "a=b", .tasks = 2);
    assert_int_equal(core_shape_count(bed.core), 1);
    assert_int_equal(bed_job(&bed, 1)->gang, bed_job(&bed, 2)->gang);
    assert_int_not_equal(bed_job(&bed, 1)->gang, bed_job(&bed, 3)->gang);
    bed_close(&bed);
}

/* ---- nothing is given twice ---- */

enum { BURST = 64 };

static void sixty_four_jobs_with_late_acks_get_each_gpu_once(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        uint32_t order[BURST], acked = 0;
        uint64_t used[8] = {0};
        struct rng rng;
        struct bed bed;

        rng_init(&rng, seed);
        bed_open(&bed, &place_salted, &in_turn);
        bed_nodes(&bed, 8, 8);
        for (uint32_t i = 0; i < BURST; i++) {
            SUBMIT(&bed, .id = i, .gpus = 1);
            order[i] = i;
            if (i % 7 == 6)
                bed_step(&bed);
            for (uint32_t p = 0; i % 7 == 6 && p < bed.out.place_count; p++) {
                assert_int_equal(used[bed.out.places[p].node] & bed.out.places[p].gpu_mask, 0);
                used[bed.out.places[p].node] |= bed.out.places[p].gpu_mask;
            }
        }
        rng_shuffle_u32(&rng, order, BURST);
        for (uint32_t i = 0; i < BURST; i++)
            if (bed_state(&bed, order[i]) == JOB_STARTING) {
                apply(&bed, started(order[i], 0));
                acked++;
                bed_step(&bed);
                for (uint32_t p = 0; p < bed.out.place_count; p++) {
                    assert_int_equal(used[bed.out.places[p].node] & bed.out.places[p].gpu_mask, 0);
                    used[bed.out.places[p].node] |= bed.out.places[p].gpu_mask;
                }
            }
        assert_true(acked > 0);
        for (uint32_t i = 0; i < 8; i++)
            assert_int_equal(used[i], 0xff);
        bed_close(&bed);
    }
}

static void room_is_given_only_when_the_old_process_has_left(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_node(&bed, "n0", 8);
    SUBMIT(&bed, .id = 1, .gpus = 8);
    SUBMIT(&bed, .id = 2, .gpus = 8);
    bed_step(&bed);
    bed_run(&bed, 1);
    apply(&bed, cancelled(1));
    for (int i = 0; i < 60; i++) {
        bed_step(&bed);
        assert_null(bed_find(&bed, DECISION_START, 2));
    }
    bed_end(&bed, 1, 137);
    bed_step(&bed);
    assert_non_null(bed_find(&bed, DECISION_START, 2));
    bed_close(&bed);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(three_thirds_fit_on_one_gpu_and_a_fourth_does_not),
        TEST(ten_tenths_fill_one_gpu),
        TEST(ten_gigabytes_of_256_fit_25_times),
        TEST(ten_shares_of_six_tenths_run_one_on_each_gpu),
        TEST(twenty_halves_on_eight_gpus_are_two_on_each),
        TEST(a_whole_gpu_is_never_one_that_is_shared),
        TEST(all_the_memory_of_a_gpu_is_the_whole_of_it),
        TEST(memory_runs_out_before_compute),
        TEST(bytes_are_never_rounded_down_to_nothing),
        TEST(a_share_takes_its_part_of_the_memory_to_the_byte),
        TEST(unknown_gpu_memory_takes_shares_of_compute_only),
        TEST(two_shared_gpus_are_two_devices),
        TEST(cpu_and_memory_bound_as_gpus_do),
        TEST(a_job_without_gpus_starts_though_all_gpus_are_used),
        TEST(only_a_model_that_is_allowed_is_used),
        TEST(all_labels_that_are_asked_for_must_be_there),
        TEST(equal_requests_are_one_shape_and_one_gang),
        TEST(sixty_four_jobs_with_late_acks_get_each_gpu_once),
        TEST(room_is_given_only_when_the_old_process_has_left),
    };

    return RUN_TESTS(tests);
}
