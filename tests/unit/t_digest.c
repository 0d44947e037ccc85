/* SPDX-License-Identifier: Apache-2.0 */
#include "base/digest.h"

#include <stdbool.h>

#include "unit/test.h"

static uint64_t of_words(uint64_t a, uint64_t b)
{
    struct digest digest;

    digest_init(&digest);
    digest_u64(&digest, a);
    digest_u64(&digest, b);
    return digest_value(&digest);
}

static uint64_t of_texts(const char *a, const char *b)
{
    struct digest digest;

    digest_init(&digest);
    digest_text(&digest, a);
    digest_text(&digest, b);
    return digest_value(&digest);
}

static void the_same_fields_give_the_same_digest(void **state)
{
    (void)state;
    assert_true(of_words(1, 2) == of_words(1, 2));
    assert_true(of_texts("a", "b") == of_texts("a", "b"));
}

static void order_counts(void **state)
{
    (void)state;
    assert_true(of_words(1, 2) != of_words(2, 1));
    assert_true(of_words(0, 1) != of_words(1, 0));
}

static void a_zero_more_changes_the_digest(void **state)
{
    struct digest digest;
    uint64_t before;

    (void)state;
    digest_init(&digest);
    before = digest_value(&digest);
    digest_u64(&digest, 0);
    assert_true(digest_value(&digest) != before);
    before = digest_value(&digest);
    digest_u32(&digest, 0);
    assert_true(digest_value(&digest) != before);
}

static void the_border_between_texts_counts(void **state)
{
    (void)state;
    assert_true(of_texts("ab", "c") != of_texts("a", "bc"));
    assert_true(of_texts("", "abc") != of_texts("abc", ""));
    assert_true(of_texts("12345678", "9") != of_texts("123456789", ""));
}

static void every_bit_of_a_word_counts(void **state)
{
    (void)state;
    for (int bit = 0; bit < 64; bit++) {
        uint64_t flipped = of_words(UINT64_C(1) << bit, 0) ^ of_words(0, 0);
        int changed = __builtin_popcountll(flipped);

        assert_in_range(changed, 12, 52);
    }
}

static void the_value_is_the_same_everywhere(void **state)
{
    struct digest digest;

    (void)state;
    digest_init(&digest);
    digest_i64(&digest, -1);
    digest_text(&digest, "berth berth");
    assert_true(digest_value(&digest) == 0x8f04f67a383cb525u);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(the_same_fields_give_the_same_digest), TEST(order_counts),
        TEST(a_zero_more_changes_the_digest),       TEST(the_border_between_texts_counts),
        TEST(every_bit_of_a_word_counts),           TEST(the_value_is_the_same_everywhere),
    };

    return RUN_TESTS(tests);
}
