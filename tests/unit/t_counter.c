/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/counter.h"

#include "unit/test.h"

static void a_counter_adds_up_what_it_grew_by(void **state)
{
    struct counter counter = {0};

    (void)state;
    assert_int_equal(counter_take(&counter, reading_of(100)), 0);
    assert_int_equal(counter_take(&counter, reading_of(130)), 30);
    assert_int_equal(counter_take(&counter, reading_of(130)), 0);
    assert_int_equal(counter_take(&counter, reading_of(135)), 5);
    assert_int_equal(counter.total, 35);
    assert_int_equal(counter.backwards, 0);
}

static void a_counter_that_runs_backwards_adds_nothing_and_is_counted(void **state)
{
    struct counter counter = {0};

    (void)state;
    counter_take(&counter, reading_of(1000));
    counter_take(&counter, reading_of(1500));
    assert_int_equal(counter_take(&counter, reading_of(20)), 0);
    assert_int_equal(counter.backwards, 1);
    assert_int_equal(counter_take(&counter, reading_of(50)), 30);
    assert_int_equal(counter.total, 530);
}

static void an_absent_reading_changes_no_counter(void **state)
{
    struct counter counter = {0};

    (void)state;
    counter_take(&counter, reading_of(10));
    assert_int_equal(counter_take(&counter, reading_absent()), 0);
    assert_int_equal(counter_take(&counter, reading_of(12)), 2);
    assert_int_equal(counter.backwards, 0);
}

/* Fault 23: 100 MB used, 150 MB given back, 17 million GB "used". */
static void less_than_nothing_is_nothing_and_is_counted(void **state)
{
    uint32_t clamped = 0;

    (void)state;
    assert_int_equal(less_clamped(150, 100, &clamped), 50);
    assert_int_equal(less_clamped(100, 100, &clamped), 0);
    assert_int_equal(clamped, 0);
    assert_int_equal(less_clamped(100, 150, &clamped), 0);
    assert_int_equal(clamped, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_counter_adds_up_what_it_grew_by),
        TEST(a_counter_that_runs_backwards_adds_nothing_and_is_counted),
        TEST(an_absent_reading_changes_no_counter),
        TEST(less_than_nothing_is_nothing_and_is_counted),
    };

    return RUN_TESTS(tests);
}
