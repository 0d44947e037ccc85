/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <errno.h>
#include <string.h>

#include "unit/test.h"

static void setting_an_error_formats_and_returns_the_code(void **state)
{
    struct err err;

    (void)state;
    assert_int_equal(err_set(&err, -EINVAL, "cannot open '%s'", "x.csv"), -EINVAL);
    assert_string_equal(err.text, "cannot open 'x.csv'");
}

static void an_error_may_be_null(void **state)
{
    (void)state;
    assert_int_equal(err_set(NULL, -ENOENT, "x"), -ENOENT);
    assert_int_equal(err_prefix(NULL, -ENOENT, "x"), -ENOENT);
}

static void a_prefix_goes_in_front(void **state)
{
    struct err err;

    (void)state;
    err_set(&err, -EINVAL, "not a number");
    assert_int_equal(err_prefix(&err, -EINVAL, "line %d: ", 7), -EINVAL);
    assert_string_equal(err.text, "line 7: not a number");
}

static void the_old_text_may_be_an_argument(void **state)
{
    struct err err;

    (void)state;
    err_set(&err, -EINVAL, "inner");
    err_set(&err, -EINVAL, "outer (%s)", err.text);
    assert_string_equal(err.text, "outer (inner)");
}

static void too_long_texts_are_cut_at_the_end(void **state)
{
    struct err err;
    char lengthy[600];

    (void)state;
    memset(lengthy, 'a', sizeof lengthy - 1);
    lengthy[sizeof lengthy - 1] = '\0';
    err_set(&err, -EINVAL, "%s", lengthy);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    err_prefix(&err, -EINVAL, "front: ");
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assert_memory_equal(err.text, "front: aaa", 10);
    err_prefix(&err, -EINVAL, "%s", lengthy);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assert_int_equal(err.text[0], 'a');
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(setting_an_error_formats_and_returns_the_code),
        TEST(an_error_may_be_null),
        TEST(a_prefix_goes_in_front),
        TEST(the_old_text_may_be_an_argument),
        TEST(too_long_texts_are_cut_at_the_end),
    };

    return RUN_TESTS(tests);
}
