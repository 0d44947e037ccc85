/* SPDX-License-Identifier: Apache-2.0 */
#include "core/mig_price.h"

#include "base/rng.h"
#include "base/tape.h"

#include "unit/test.h"

#define S   INT64_C(1000000)
#define DAY (86400 * S)

static const struct mig_price_rules rules = {
    .takes_us = 10 * S, .cooldown_us = 600 * S, .window_us = 60 * S, .splits_max = 2};

struct bed {
    struct mig_price_gpu gpus[8];
    struct mig_price_node node;
};

static void answers(struct bed *bed, uint32_t gpu, int64_t since_us, int64_t now_us,
                    enum mig_verdict wanted, int64_t wanted_until_us)
{
    int64_t until_us = -1;

    assert_int_equal(
        mig_price_ask(&rules, &bed->gpus[gpu], &bed->node, since_us, now_us, &until_us), wanted);
    assert_true(until_us == wanted_until_us);
}

static void demand_must_have_waited_for_longer_than_splitting_takes(void **state)
{
    struct bed bed = {0};

    (void)state;
    answers(&bed, 0, 5 * S, 5 * S, MIG_TOO_SOON, 15 * S + 1);
    answers(&bed, 0, 5 * S, 15 * S, MIG_TOO_SOON, 15 * S + 1);
    answers(&bed, 0, 5 * S, 15 * S + 1, MIG_MAY, 15 * S + 1);
}

static void a_gpu_is_left_alone_for_its_cooldown(void **state)
{
    struct bed bed = {0};

    (void)state;
    mig_price_pay(&bed.gpus[0], &bed.node, 100 * S);
    answers(&bed, 0, 0, 699 * S, MIG_COOLING, 700 * S);
    answers(&bed, 1, 0, 699 * S, MIG_MAY, 699 * S); /* another GPU */
    answers(&bed, 0, 0, 700 * S, MIG_MAY, 700 * S);
}

static void a_node_has_so_many_splits_within_any_window(void **state)
{
    struct bed bed = {0};

    (void)state;
    mig_price_pay(&bed.gpus[0], &bed.node, 100 * S);
    mig_price_pay(&bed.gpus[1], &bed.node, 130 * S);
    answers(&bed, 2, 0, 131 * S, MIG_NODE_BUSY, 160 * S); /* 60 s after the first of the two */
    answers(&bed, 2, 0, 160 * S, MIG_MAY, 160 * S);
    mig_price_pay(&bed.gpus[2], &bed.node, 160 * S);
    answers(&bed, 3, 0, 161 * S, MIG_NODE_BUSY, 190 * S);
}

static void until_is_when_the_last_of_the_reasons_ends(void **state)
{
    struct bed bed = {0};

    (void)state;
    mig_price_pay(&bed.gpus[0], &bed.node, 100 * S);
    mig_price_pay(&bed.gpus[1], &bed.node, 101 * S);
    answers(&bed, 0, 100 * S, 105 * S, MIG_TOO_SOON, 700 * S);
    answers(&bed, 0, 0, 105 * S, MIG_COOLING, 700 * S);
    answers(&bed, 2, 100 * S, 105 * S, MIG_TOO_SOON, 160 * S);
}

static void every_answer_is_counted(void **state)
{
    struct bed bed = {0};

    (void)state;
    answers(&bed, 0, 0, 0, MIG_TOO_SOON, 10 * S + 1);
    answers(&bed, 0, 0, 20 * S, MIG_MAY, 20 * S);
    mig_price_pay(&bed.gpus[0], &bed.node, 20 * S);
    answers(&bed, 0, 0, 21 * S, MIG_COOLING, 620 * S);
    assert_int_equal(bed.node.asked[MIG_TOO_SOON], 1);
    assert_int_equal(bed.node.asked[MIG_MAY], 1);
    assert_int_equal(bed.node.asked[MIG_COOLING], 1);
    assert_int_equal(bed.node.asked[MIG_NODE_BUSY], 0);
    assert_int_equal(bed.gpus[0].splits, 1);
}

static void times_at_the_end_of_time_do_not_wrap(void **state)
{
    struct bed bed = {0};
    int64_t until_us;

    (void)state;
    mig_price_pay(&bed.gpus[0], &bed.node, INT64_MAX - 5);
    assert_int_equal(
        mig_price_ask(&rules, &bed.gpus[0], &bed.node, INT64_MAX - 5, INT64_MAX - 4, &until_us),
        MIG_TOO_SOON);
    assert_true(until_us == INT64_MAX);
}

/* Demand for another layout every 30 s, for a day, on 8 GPUs: whoever asks splits if it may. */
static void a_storm_of_demand_splits_a_gpu_no_more_often_than_the_bound_says(void **state)
{
    const struct mig_price_rules *const kinds[] = {&rules, &mig_price_defaults};

    (void)state;
    for (uint32_t k = 0; k < 2; k++) {
        const uint64_t bound = mig_price_bound(kinds[k], DAY);
        struct bed bed = {0};
        uint64_t sum = 0;

        for (int64_t now_us = 0; now_us < DAY; now_us += S)
            for (uint32_t g = 0; g < 8; g++) {
                const int64_t flapped_us = now_us / (30 * S) * (30 * S);
                int64_t until_us;

                if (mig_price_ask(kinds[k], &bed.gpus[g], &bed.node, flapped_us, now_us,
                                  &until_us) == MIG_MAY)
                    mig_price_pay(&bed.gpus[g], &bed.node, now_us);
            }
        for (uint32_t g = 0; g < 8; g++) {
            assert_true(bed.gpus[g].splits <= bound);
            sum += bed.gpus[g].splits;
        }
        assert_true(sum > 0);
        assert_true(sum <= (uint64_t)(DAY / kinds[k]->window_us + 1) * kinds[k]->splits_max);
    }
    assert_int_equal(mig_price_bound(&mig_price_defaults, DAY), 145);
}

/* Whatever is asked, and when: no two splits of a GPU within its cooldown, no more than allowed
 * of a node within a window; and at the time that was named, the answer is yes. */
static void no_order_of_questions_gets_round_the_price(void **state)
{
    int64_t times_us[4000], last_us[8], now_us = 0;
    uint32_t count = 0;
    struct bed bed = {0};
    struct rng rng;

    (void)state;
    rng_init(&rng, 7);
    for (uint32_t g = 0; g < 8; g++)
        last_us[g] = -DAY;
    for (uint32_t i = 0; i < 200000 && count < 4000; i++) {
        const uint32_t g = (uint32_t)rng_below(&rng, 8);
        const int64_t since_us = now_us - (int64_t)rng_below(&rng, 20) * S;
        int64_t until_us, again_us;

        now_us += (int64_t)rng_below(&rng, 20) * S;
        if (mig_price_ask(&rules, &bed.gpus[g], &bed.node, since_us, now_us, &until_us) !=
            MIG_MAY) {
            assert_true(until_us > now_us);
            assert_int_equal(
                mig_price_ask(&rules, &bed.gpus[g], &bed.node, since_us, until_us, &again_us),
                MIG_MAY);
            continue;
        }
        assert_true(now_us - since_us > rules.takes_us);
        assert_true(now_us - last_us[g] >= rules.cooldown_us);
        assert_true(count < 2 || now_us - times_us[count - 2] >= rules.window_us);
        mig_price_pay(&bed.gpus[g], &bed.node, now_us);
        last_us[g] = times_us[count++] = now_us;
    }
    assert_true(count > 1000);
}

static void what_is_saved_is_loaded_and_hostile_bytes_are_refused(void **state)
{
    struct bed bed = {0}, loaded = {0};
    struct tape save, load;
    size_t count;
    uint8_t *bytes;

    (void)state;
    for (int64_t i = 0; i < 20; i++)
        mig_price_pay(&bed.gpus[0], &bed.node, i * S);
    tape_save_init(&save, "migprice", 1);
    mig_price_gpu_walk(&bed.gpus[0], &save);
    mig_price_node_walk(&bed.node, &save);
    bytes = tape_take(&save, &count);
    tape_done(&save);
    assert_int_equal(tape_load_init(&load, "migprice", 1, bytes, count, NULL), 0);
    mig_price_gpu_walk(&loaded.gpus[0], &load);
    mig_price_node_walk(&loaded.node, &load);
    assert_int_equal(tape_end(&load), 0);
    tape_done(&load);
    mem_free(bytes);
    assert_memory_equal(&loaded.node, &bed.node, sizeof bed.node);
    assert_int_equal(loaded.gpus[0].splits, 20);

    bed.node.next = MIG_SPLITS_MAX;
    tape_save_init(&save, "migprice", 1);
    mig_price_node_walk(&bed.node, &save);
    bytes = tape_take(&save, &count);
    tape_done(&save);
    assert_int_equal(tape_load_init(&load, "migprice", 1, bytes, count, NULL), 0);
    mig_price_node_walk(&loaded.node, &load);
    assert_int_not_equal(tape_end(&load), 0);
    tape_done(&load);
    mem_free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(demand_must_have_waited_for_longer_than_splitting_takes),
        TEST(a_gpu_is_left_alone_for_its_cooldown),
        TEST(a_node_has_so_many_splits_within_any_window),
        TEST(until_is_when_the_last_of_the_reasons_ends),
        TEST(every_answer_is_counted),
        TEST(times_at_the_end_of_time_do_not_wrap),
        TEST(a_storm_of_demand_splits_a_gpu_no_more_often_than_the_bound_says),
        TEST(no_order_of_questions_gets_round_the_price),
        TEST(what_is_saved_is_loaded_and_hostile_bytes_are_refused),
    };

    return RUN_TESTS(tests);
}
