/* SPDX-License-Identifier: Apache-2.0 */
#include "base/vec.h"

#include "unit/test.h"

static void a_vector_grows_by_doubling(void **state)
{
    (void)state;
    assert_int_equal(vec_grown(0, 1), 8);
    assert_int_equal(vec_grown(8, 9), 16);
    assert_int_equal(vec_grown(8, 100), 128);
    assert_int_equal(vec_grown(12, 13), 24);
}

static void pushed_elements_stay_in_order(void **state)
{
    uint16_t *items = NULL;
    uint32_t count = 0, cap = 0;

    (void)state;
    for (uint16_t i = 0; i < 1000; i++)
        vec_push(items, count, cap, i);
    assert_int_equal(count, 1000);
    assert_int_equal(cap, 1024);
    for (uint16_t i = 0; i < 1000; i++)
        assert_int_equal(items[i], i);
    mem_free(items);
}

static void reserved_elements_are_zero_and_kept(void **state)
{
    uint64_t *items = NULL;
    uint64_t *first;
    uint32_t cap = 0;

    (void)state;
    vec_reserve(items, cap, 5);
    first = items;
    vec_reserve(items, cap, 8);
    assert_ptr_equal(items, first);
    for (uint32_t i = 0; i < cap; i++)
        assert_true(items[i] == 0);
    mem_free(items);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(a_vector_grows_by_doubling),
        TEST(pushed_elements_stay_in_order),
        TEST(reserved_elements_are_zero_and_kept),
    };

    return RUN_TESTS(tests);
}
