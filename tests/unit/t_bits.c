/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bits.h"

#include "unit/test.h"

static void masks_count_and_find_their_bits(void **state)
{
    (void)state;
    assert_int_equal(mask_popcount(0), 0);
    assert_int_equal(mask_popcount(UINT64_MAX), 64);
    assert_int_equal(mask_lowest(0x28), 3);
    assert_int_equal(mask_lowest(UINT64_C(1) << 63), 63);
    assert_true(mask_drop_lowest(0x28) == 0x20);
    assert_true(mask_drop_lowest(0) == 0);
    assert_true(mask_bit(63) == UINT64_C(1) << 63);
}

static void the_first_n_bits_of_a_mask_include_none_and_all(void **state)
{
    (void)state;
    assert_true(mask_first(0) == 0);
    assert_true(mask_first(1) == 1);
    assert_true(mask_first(63) == UINT64_MAX >> 1);
    assert_true(mask_first(64) == UINT64_MAX);
}

static void words_needed_are_rounded_up(void **state)
{
    (void)state;
    assert_int_equal(bit_set_words(0), 0);
    assert_int_equal(bit_set_words(1), 1);
    assert_int_equal(bit_set_words(64), 1);
    assert_int_equal(bit_set_words(65), 2);
    assert_int_equal(bit_set_words(UINT32_MAX), 1u << 26);
}

static void bits_of_a_set_are_set_and_cleared_singly(void **state)
{
    uint64_t words[3] = {0};

    (void)state;
    assert_int_equal(bit_set_lowest(words, 3), BITS_NONE);
    bit_set_set(words, 130);
    bit_set_set(words, 64);
    bit_set_set(words, 127);
    assert_true(bit_set_get(words, 64));
    assert_false(bit_set_get(words, 65));
    assert_int_equal(bit_set_popcount(words, 3), 3);
    bit_set_clear(words, 64);
    assert_false(bit_set_get(words, 64));
    assert_int_equal(bit_set_lowest(words, 3), 127);
}

static void next_visits_every_bit_in_order(void **state)
{
    static const uint32_t set[5] = {0, 63, 64, 100, 191};
    uint64_t words[3] = {0};
    uint32_t at = 0;

    (void)state;
    for (int i = 0; i < 5; i++)
        bit_set_set(words, set[i]);
    for (int i = 0; i < 5; i++) {
        at = bit_set_next(words, 3, at);
        assert_int_equal(at, set[i]);
        at++;
    }
    assert_int_equal(bit_set_next(words, 3, at), BITS_NONE);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(masks_count_and_find_their_bits),
        TEST(the_first_n_bits_of_a_mask_include_none_and_all),
        TEST(words_needed_are_rounded_up),
        TEST(bits_of_a_set_are_set_and_cleared_singly),
        TEST(next_visits_every_bit_in_order),
    };

    return RUN_TESTS(tests);
}
