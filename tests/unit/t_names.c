/* SPDX-License-Identifier: Apache-2.0 */
#include "base/names.h"

#include <stdio.h>
#include <string.h>

#include "unit/test.h"

static void ids_are_dense_and_in_order_of_arrival(void **state)
{
    struct names names;
    char text[32];

    (void)state;
    names_init(&names);
    assert_int_equal(names_find(&names, "none"), NAMES_NONE);
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 5000; i++) {
            snprintf(text, sizeof text, "node-%u", i);
            assert_int_equal(names_intern(&names, text), i);
        }
    }
    assert_int_equal(names_count(&names), 5000);
    assert_string_equal(names_text(&names, 4321), "node-4321");
    assert_int_equal(names_find(&names, "node-17"), 17);
    assert_int_equal(names_find(&names, "node-5000"), NAMES_NONE);
    names_done(&names);
}

static void the_empty_text_and_long_texts_are_names(void **state)
{
    struct names names;
    char lengthy[10000];

    (void)state;
    memset(lengthy, 'x', sizeof lengthy - 1);
    lengthy[sizeof lengthy - 1] = '\0';
    names_init(&names);
    assert_int_equal(names_intern(&names, ""), 0);
    assert_int_equal(names_intern(&names, lengthy), 1);
    assert_int_equal(names_intern(&names, "short"), 2);
    assert_string_equal(names_text(&names, 0), "");
    assert_string_equal(names_text(&names, 1), lengthy);
    assert_string_equal(names_text(&names, 2), "short");
    names_done(&names);
}

static void texts_do_not_move(void **state)
{
    struct names names;
    const char *first;
    char text[32];

    (void)state;
    names_init(&names);
    first = names_text(&names, names_intern(&names, "first"));
    for (uint32_t i = 0; i < 5000; i++) {
        snprintf(text, sizeof text, "%u", i);
        names_intern(&names, text);
    }
    assert_ptr_equal(names_text(&names, 0), first);
    assert_string_equal(first, "first");
    names_done(&names);
}

static void a_copy_has_the_same_ids_and_goes_its_own_way(void **state)
{
    struct names names, copy;

    (void)state;
    names_init(&names);
    names_intern(&names, "a");
    names_intern(&names, "b");
    names_copy(&copy, &names);
    assert_int_equal(names_intern(&names, "c"), 2);
    assert_int_equal(names_find(&copy, "c"), NAMES_NONE);
    assert_int_equal(names_intern(&copy, "d"), 2);
    names_done(&names);
    assert_string_equal(names_text(&copy, 1), "b");
    assert_string_equal(names_text(&copy, 2), "d");
    names_done(&copy);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(ids_are_dense_and_in_order_of_arrival),
        TEST(the_empty_text_and_long_texts_are_names),
        TEST(texts_do_not_move),
        TEST(a_copy_has_the_same_ids_and_goes_its_own_way),
    };

    return RUN_TESTS(tests);
}
