/* SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"

#include "unit/test.h"

/* First outputs of the published algorithms: splitmix64 from seed 0 fills the state. */
static void the_numbers_are_those_of_the_published_algorithm(void **state)
{
    static const uint64_t seeded[4] = {0xe220a8397b1dcdafu, 0x6e789e6aa1b965f4u,
                                       0x06c45d188009454fu, 0xf88bb8a8724c81ecu};
    struct rng rng;

    (void)state;
    rng_init(&rng, 0);
    for (int i = 0; i < 4; i++)
        assert_true(rng.s[i] == seeded[i]);
    rng = (struct rng){{1, 2, 3, 4}};
    assert_true(rng_next(&rng) == 11520);
    assert_true(rng_next(&rng) == 0);
    assert_true(rng_next(&rng) == 1509978240);
}

static void the_same_seed_gives_the_same_numbers(void **state)
{
    struct rng a, b;

    (void)state;
    rng_init(&a, 42);
    rng_init(&b, 42);
    for (int i = 0; i < 100; i++)
        assert_true(rng_next(&a) == rng_next(&b));
    rng_init(&b, 43);
    assert_true(rng_next(&a) != rng_next(&b));
}

static void numbers_below_n_are_even_and_below_n(void **state)
{
    uint32_t seen[6] = {0};
    struct rng rng;

    (void)state;
    rng_init(&rng, 1);
    for (int i = 0; i < 60000; i++)
        seen[rng_below(&rng, 6)]++;
    for (int i = 0; i < 6; i++)
        assert_in_range(seen[i], 9600, 10400);
    assert_true(rng_below(&rng, 1) == 0);
    for (int i = 0; i < 100; i++)
        assert_true(rng_below(&rng, (UINT64_C(1) << 63) + 1) <= UINT64_C(1) << 63);
}

static void a_shuffle_keeps_each_element_once_and_reaches_every_order(void **state)
{
    uint32_t seen[3][3] = {{0}};
    struct rng rng;

    (void)state;
    rng_init(&rng, 7);
    for (int round = 0; round < 6000; round++) {
        uint32_t a[3] = {0, 1, 2};

        rng_shuffle_u32(&rng, a, 3);
        assert_int_equal(a[0] + a[1] + a[2], 3);
        assert_true(a[0] != a[1] && a[1] != a[2]);
        seen[a[0]][a[1]]++;
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            assert_true(i == j ? seen[i][j] == 0 : seen[i][j] > 850 && seen[i][j] < 1150);
    }
    rng_shuffle_u32(&rng, NULL, 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(the_numbers_are_those_of_the_published_algorithm),
        TEST(the_same_seed_gives_the_same_numbers),
        TEST(numbers_below_n_are_even_and_below_n),
        TEST(a_shuffle_keeps_each_element_once_and_reaches_every_order),
    };

    return RUN_TESTS(tests);
}
