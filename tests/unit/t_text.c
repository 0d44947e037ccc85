/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <string.h>

#include "unit/test.h"

static void additions_follow_each_other(void **state)
{
    struct text text;

    (void)state;
    text_init(&text, 1000);
    assert_string_equal(text_str(&text), "");
    text_add(&text, "12 nodes: ");
    text_addf(&text, "%d not in pool, %s", 4, "1 draining");
    text_add_bytes(&text, ".xx", 1);
    assert_string_equal(text_str(&text), "12 nodes: 4 not in pool, 1 draining.");
    assert_int_equal(text.used, strlen(text_str(&text)));
    assert_false(text.overflow);
    text_done(&text);
}

static void a_long_format_is_kept_whole(void **state)
{
    struct text text;
    char lengthy[2000];

    (void)state;
    memset(lengthy, 'y', sizeof lengthy - 1);
    lengthy[sizeof lengthy - 1] = '\0';
    text_init(&text, 5000);
    text_addf(&text, "<%s>", lengthy);
    assert_int_equal(text.used, 2001);
    assert_int_equal(text_str(&text)[2000], '>');
    text_done(&text);
}

static void the_maximum_is_exact_and_overflow_sticks(void **state)
{
    struct text text;

    (void)state;
    text_init(&text, 5);
    text_add(&text, "12345");
    assert_false(text.overflow);
    text_addf(&text, "%d", 6);
    assert_true(text.overflow);
    text_add(&text, "");
    assert_string_equal(text_str(&text), "12345");
    text_clear(&text);
    text_add(&text, "123456");
    assert_true(text.overflow);
    text_add(&text, "1");
    assert_string_equal(text_str(&text), "");
    text_done(&text);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(additions_follow_each_other),
        TEST(a_long_format_is_kept_whole),
        TEST(the_maximum_is_exact_and_overflow_sticks),
    };

    return RUN_TESTS(tests);
}
