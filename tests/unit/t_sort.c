/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sort.h"

#include "base/rng.h"
#include "unit/test.h"

struct pair {
    uint32_t key, place;
    uint8_t tail; /* makes the size odd in words */
};

static int by_key(const void *a, const void *b, void *arg)
{
    const struct pair *left = a, *right = b;
    uint32_t *calls = arg;

    ++*calls;
    return left->key < right->key ? -1 : left->key > right->key;
}

static void equal_elements_keep_their_order_at_every_length(void **state)
{
    struct pair pairs[200];
    struct rng rng;
    uint32_t calls = 0;

    (void)state;
    rng_init(&rng, 3);
    for (uint32_t n = 0; n < 200; n++) {
        for (uint32_t i = 0; i < n; i++)
            pairs[i] = (struct pair){.key = (uint32_t)rng_below(&rng, 20), .place = i};
        sort_stable(pairs, n, sizeof pairs[0], by_key, &calls);
        for (uint32_t i = 1; i < n; i++) {
            assert_true(pairs[i - 1].key <= pairs[i].key);
            assert_true(pairs[i - 1].key < pairs[i].key || pairs[i - 1].place < pairs[i].place);
        }
    }
}

static void a_sorted_array_costs_one_pass(void **state)
{
    struct pair pairs[100];
    uint32_t calls = 0;

    (void)state;
    for (uint32_t i = 0; i < 100; i++)
        pairs[i] = (struct pair){.key = i};
    sort_stable(pairs, 100, sizeof pairs[0], by_key, &calls);
    assert_int_equal(calls, 99);
}

static void a_reversed_array_is_sorted(void **state)
{
    struct pair pairs[129];
    uint32_t calls = 0;

    (void)state;
    for (uint32_t i = 0; i < 129; i++)
        pairs[i] = (struct pair){.key = 129 - i};
    sort_stable(pairs, 129, sizeof pairs[0], by_key, &calls);
    for (uint32_t i = 0; i < 129; i++)
        assert_int_equal(pairs[i].key, i + 1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(equal_elements_keep_their_order_at_every_length),
        TEST(a_sorted_array_costs_one_pass),
        TEST(a_reversed_array_is_sorted),
    };

    return RUN_TESTS(tests);
}
