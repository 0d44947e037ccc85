/* SPDX-License-Identifier: Apache-2.0 */
/* Modes of a GPU: whole for one, or in parts by turns, and what a context takes. */
#include "core/impl.h"
#include "unit/core_test.h"

#define EXCLUSIVE MODE_BIT(GPU_EXCLUSIVE)
#define TIMESLICE MODE_BIT(GPU_TIMESLICE)
#define MPS       MODE_BIT(GPU_MPS)

static struct event described(uint32_t modes, int64_t context_bytes)
{
    return (struct event){.type = EVENT_NODE_UPSERTED,
                          .node = {.name = "n0",
                                   .model = "A100",
                                   .gpus = 1,
                                   .gpu_memory_bytes = 80 * GB,
                                   .cpu_mcpu = 100000,
                                   .memory_bytes = 1000 * GB,
                                   .modes = modes,
                                   .gpu_context_bytes = context_bytes}};
}

static void bed_describe(struct bed *bed, uint32_t modes, int64_t context_bytes)
{
    const struct event event = described(modes, context_bytes);

    bed_apply(bed, &event);
}

static void expect_held(const struct bed *bed, int32_t mgpu, int64_t bytes)
{
    assert_int_equal(bed->core->nodes.gpus[0].held_mgpu, mgpu);
    assert_int_equal(bed->core->nodes.gpus[0].held_bytes, bytes);
}

static void where_gpus_are_not_shared_a_part_is_a_whole_one(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_describe(&bed, EXCLUSIVE, 0);
    SUBMIT(&bed, .id = 1, .gpus = 1, .mgpu = 100);
    SUBMIT(&bed, .id = 2, .gpus = 1, .gpu_bytes = GB);
    bed_step(&bed);
    assert_non_null(bed_find(&bed, DECISION_START, 1));
    assert_null(bed_find(&bed, DECISION_START, 2));
    expect_held(&bed, 1000, 80 * GB);
    bed_end(&bed, 1, 0);
    bed_step(&bed);
    assert_non_null(bed_find(&bed, DECISION_START, 2));
    expect_held(&bed, 1000, 80 * GB);
    bed_close(&bed);
}

static void a_context_is_on_top_of_stated_memory_and_part_of_a_share(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_describe(&bed, EXCLUSIVE | TIMESLICE, 4 * GB);
    SUBMIT(&bed, .id = 1, .gpus = 1, .gpu_bytes = 16 * GB);
    bed_step(&bed);
    expect_held(&bed, 250, 20 * GB);
    SUBMIT(&bed, .id = 2, .gpus = 1, .mgpu = 500);
    bed_step(&bed);
    expect_held(&bed, 750, 60 * GB);
    SUBMIT(&bed, .id = 3, .gpus = 1, .gpu_bytes = 17 * GB); /* with its context too much */
    SUBMIT(&bed, .id = 4, .gpus = 1, .mgpu = 100, .gpu_bytes = 16 * GB);
    bed_step(&bed);
    assert_null(bed_find(&bed, DECISION_START, 3));
    assert_non_null(bed_find(&bed, DECISION_START, 4));
    expect_held(&bed, 850, 80 * GB);
    bed_close(&bed);
}

static void a_part_too_large_beside_its_context_is_a_whole_one(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_describe(&bed, 0, 4 * GB);
    SUBMIT(&bed, .id = 1, .gpus = 1, .mgpu = 10, .gpu_bytes = 77 * GB);
    bed_step(&bed);
    expect_held(&bed, 1000, 80 * GB);
    bed_end(&bed, 1, 0);
    SUBMIT(&bed, .id = 2, .gpus = 1, .mgpu = 10, .gpu_bytes = 76 * GB);
    bed_step(&bed);
    expect_held(&bed, 10, 80 * GB);
    bed_close(&bed);
}

static void a_mode_changes_only_when_nobody_is_on_the_gpu(void **state)
{
    const struct event exclusive = described(EXCLUSIVE, 0);
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_describe(&bed, 0, 0);
    SUBMIT(&bed, .id = 1, .gpus = 1, .mgpu = 100);
    bed_step(&bed);
    bed_refuses(&bed, &exclusive, EBUSY);
    bed_end(&bed, 1, 0);
    bed_apply(&bed, &exclusive);
    SUBMIT(&bed, .id = 2, .gpus = 1, .mgpu = 100);
    bed_step(&bed);
    expect_held(&bed, 1000, 80 * GB);
    bed_refuses(&bed, &(struct event){.type = EVENT_NODE_UPSERTED, .node = described(0, 0).node},
                EBUSY); /* a part that has a whole GPU would be one in turns */
    bed_end(&bed, 2, 0);
    SUBMIT(&bed, .id = 3, .gpus = 1);
    bed_step(&bed);
    bed_describe(&bed, 0, 0); /* a whole GPU is one in every mode */
    expect_held(&bed, 1000, 80 * GB);
    bed_close(&bed);
}

static void contexts_that_grow_may_be_more_than_there_is(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_describe(&bed, 0, 0);
    SUBMIT(&bed, .id = 1, .gpus = 1, .mgpu = 400, .gpu_bytes = 40 * GB);
    SUBMIT(&bed, .id = 2, .gpus = 1, .mgpu = 400, .gpu_bytes = 40 * GB);
    bed_step(&bed);
    bed_describe(&bed, 0, GB);
    expect_held(&bed, 800, 82 * GB);
    assert_true(bed.core->nodes.rows[0].deficit);
    bed_end(&bed, 1, 0);
    assert_false(bed.core->nodes.rows[0].deficit);
    bed_close(&bed);
}

static void modes_that_are_not_there_are_refused(void **state)
{
    struct event bad[] = {described(1u << GPU_MODES, 0),
                          described(EXCLUSIVE, -1),
                          described(0, MEMORY_BYTES_MAX + 1),
                          described(0, 0),
                          described(0, 0),
                          described(0, 0)};
    struct bed bed;

    (void)state;
    bad[3].node.compute_factor = 999;
    bad[4].node.compute_factor = COMPUTE_FACTOR_MAX + 1;
    bad[5].node.mps_clients = MPS_CLIENTS_MAX + 1;
    bed_open(&bed, &place_first, &in_turn);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        bed_refuses(&bed, &bad[i], EINVAL);
    bed_close(&bed);
}

static void who_says_what_is_so_anyway_says_nothing_new(void **state)
{
    uint64_t digests[3];

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        static const uint32_t modes[] = {0, EXCLUSIVE | TIMESLICE, EXCLUSIVE};
        struct bed bed;

        bed_open(&bed, &place_first, &in_turn);
        bed_describe(&bed, modes[i], 0);
        digests[i] = core_digest(bed.core);
        bed_close(&bed);
    }
    assert_true(digests[0] == digests[1]);
    assert_true(digests[0] != digests[2]);
}

static struct event asking(uint64_t id, const char *user, uint32_t modes, struct group_spec *group,
                           struct job_layout_spec *layout)
{
    *layout = (struct job_layout_spec){
        .groups = group, .group_count = 1, .slowdown_ppm = 1000000, .apart = 0};
    return (struct event){.type = EVENT_JOB_SUBMITTED,
                          .job = {.id = id,
                                  .queue = "",
                                  .user = user,
                                  .name = "",
                                  .class = "",
                                  .layouts = layout,
                                  .layout_count = 1,
                                  .grace_us = -1,
                                  .min_run_us = -1,
                                  .modes = modes,
                                  .remaining_us = -1}};
}

/* A quarter of a GPU. */
static void ask(struct bed *bed, uint64_t id, const char *user, uint32_t modes,
                enum qos_class class)
{
    struct group_spec group = {.tasks = 1, .gpus = 1, .gpu_mgpu = 250};
    struct job_layout_spec layout;
    struct event event = asking(id, user, modes, &group, &layout);

    event.job.qos.class = class;
    bed_apply(bed, &event);
    bed_step(bed);
    bed_check(bed);
}

static const struct task_place *place_of(const struct bed *bed, uint64_t id)
{
    const struct decision *d = bed_find(bed, DECISION_START, id);

    return d != NULL ? &bed->out.places[d->place_first] : NULL;
}

static void one_user_is_on_a_device_under_mps(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_describe(&bed, MODES_ALL, 0);
    ask(&bed, 1, "ann", MPS, QOS_NONE);
    assert_int_equal(place_of(&bed, 1)->mode, GPU_MPS);
    assert_int_equal(place_of(&bed, 1)->qos[QOS_MPS_PERCENT], 25);
    ask(&bed, 2, "bob", MPS, QOS_NONE);
    assert_null(place_of(&bed, 2));
    ask(&bed, 3, "", MPS | TIMESLICE, QOS_NONE); /* of nobody: in turns, so not here */
    assert_null(place_of(&bed, 3));
    ask(&bed, 4, "ann", MPS, QOS_NONE);
    assert_non_null(place_of(&bed, 4));
    bed_end(&bed, 1, 0);
    bed_step(&bed);
    assert_null(place_of(&bed, 2)); /* ann is there still */
    bed_end(&bed, 4, 0);
    bed_step(&bed);
    assert_non_null(place_of(&bed, 2));
    assert_null(place_of(&bed, 3));
    bed_close(&bed);
}

static void a_device_has_so_many_clients_at_most(void **state)
{
    struct event event = described(MODES_ALL, 0);
    struct bed bed;

    (void)state;
    event.node.mps_clients = 2;
    bed_open(&bed, &place_first, &in_turn);
    bed_apply(&bed, &event);
    for (uint64_t id = 1; id <= 3; id++) {
        ask(&bed, id, "ann", MPS, QOS_NONE);
        assert_true((place_of(&bed, id) != NULL) == (id <= 2));
    }
    event.node.mps_clients = 0; /* 48 */
    bed_apply(&bed, &event);
    bed_step(&bed);
    assert_non_null(place_of(&bed, 3));
    bed_close(&bed);
}

static void latency_is_not_beside_throughput_in_turns(void **state)
{
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_describe(&bed, 0, 0);
    ask(&bed, 1, "ann", 0, QOS_LATENCY);
    assert_int_equal(place_of(&bed, 1)->qos[QOS_SLICE], 1);
    ask(&bed, 2, "ann", 0, QOS_THROUGHPUT);
    assert_null(place_of(&bed, 2));
    ask(&bed, 3, "bob", 0, QOS_LATENCY);
    assert_non_null(place_of(&bed, 3));
    bed_close(&bed);
}

static void compute_is_given_out_as_often_as_the_node_says_and_memory_once(void **state)
{
    struct event event = described(0, 0);
    struct bed bed;

    (void)state;
    event.node.compute_factor = 3000;
    bed_open(&bed, &place_first, &in_turn);
    bed_apply(&bed, &event);
    ask(&bed, 1, "", 0, QOS_NONE);
    expect_held(&bed, 84, 20 * GB); /* a third of a quarter, rounded up */
    for (uint64_t id = 2; id <= 4; id++)
        ask(&bed, id, "", 0, QOS_NONE);
    ask(&bed, 5, "", 0, QOS_NONE);
    assert_null(place_of(&bed, 5)); /* a quarter of the memory each */
    expect_held(&bed, 336, 80 * GB);
    bed_close(&bed);
}

static void what_a_job_says_of_sharing_must_make_sense(void **state)
{
    struct group_spec part = {.tasks = 1, .gpus = 1, .gpu_mgpu = 250},
                      whole = {.tasks = 1, .gpus = 1};
    struct job_layout_spec layout;
    struct event event = asking(1, "ann", MPS, &part, &layout);
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    event.job.strict = true;
    bed_refuses(&bed, &event, EINVAL); /* only under MPS, and with nobody */
    event = asking(1, "ann", TIMESLICE, &whole, &layout);
    bed_refuses(&bed, &event, EINVAL);
    event = asking(1, "ann", 1u << GPU_MODES, &part, &layout);
    bed_refuses(&bed, &event, EINVAL);
    event = asking(1, "ann", 0, &part, &layout);
    event.job.qos.stated = 1u << QOS_MPS_PERCENT;
    bed_refuses(&bed, &event, EINVAL); /* 0 percent */
    event.job.qos.stated = 0;
    event.job.qos.values[QOS_SLICE] = 1;
    bed_refuses(&bed, &event, EINVAL);
    bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(where_gpus_are_not_shared_a_part_is_a_whole_one),
        TEST(a_context_is_on_top_of_stated_memory_and_part_of_a_share),
        TEST(a_part_too_large_beside_its_context_is_a_whole_one),
        TEST(a_mode_changes_only_when_nobody_is_on_the_gpu),
        TEST(contexts_that_grow_may_be_more_than_there_is),
        TEST(modes_that_are_not_there_are_refused),
        TEST(one_user_is_on_a_device_under_mps),
        TEST(a_device_has_so_many_clients_at_most),
        TEST(latency_is_not_beside_throughput_in_turns),
        TEST(compute_is_given_out_as_often_as_the_node_says_and_memory_once),
        TEST(what_a_job_says_of_sharing_must_make_sense),
        TEST(who_says_what_is_so_anyway_says_nothing_new),
    };

    return RUN_TESTS(tests);
}
