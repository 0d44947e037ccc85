/* SPDX-License-Identifier: Apache-2.0 */
#include "core/share.h"

#include "unit/test.h"

#define HUGE_AMOUNT (INT64_C(1) << 62)
#define NO_LIMIT    SHARE_NO_LIMIT

enum { MOST = 8 };

static void expect(const struct share_child *children, uint32_t count, const int64_t *deserved)
{
    for (uint32_t i = 0; i < count; i++)
        if (children[i].deserved != deserved[i])
            fail_msg("queue %u deserves %lld, not %lld", i, (long long)children[i].deserved,
                     (long long)deserved[i]);
}

/* A child is {guarantee, limit, demand, weight}; then what each deserves. */
#define COUNT(list) ((uint32_t)(sizeof(list) / sizeof(list)[0]))
#define DIVIDE(amount, list, ...)                                                                  \
    do {                                                                                           \
        const int64_t wanted[] = {__VA_ARGS__};                                                    \
                                                                                                   \
        assert_int_equal(COUNT(wanted), COUNT(list));                                              \
        share_divide(amount, list, COUNT(list));                                                   \
        expect(list, COUNT(list), wanted);                                                         \
    } while (0)
#define TREE(amount, list, parents, ...)                                                           \
    do {                                                                                           \
        const int64_t wanted[] = {__VA_ARGS__};                                                    \
        uint32_t scratch[SHARE_TREE_SCRATCH(MOST)];                                                \
                                                                                                   \
        assert_int_equal(COUNT(wanted), COUNT(list));                                              \
        share_tree(amount, list, parents, COUNT(list), scratch);                                   \
        expect(list, COUNT(list), wanted);                                                         \
    } while (0)

static void without_promises_the_amount_is_divided_by_weight(void **state)
{
    struct share_child c[] = {
        {0, NO_LIMIT, 100, 1, 0}, {0, NO_LIMIT, 100, 2, 0}, {0, NO_LIMIT, 100, 3, 0}};

    (void)state;
    DIVIDE(60, c, 10, 20, 30);
    DIVIDE(0, c, 0, 0, 0);
    DIVIDE(1000, c, 100, 100, 100);
}

static void who_needs_less_leaves_the_rest_to_the_others_by_weight(void **state)
{
    struct share_child c[] = {
        {0, NO_LIMIT, 4, 1, 0}, {0, NO_LIMIT, 100, 1, 0}, {0, NO_LIMIT, 100, 2, 0}};

    (void)state;
    DIVIDE(40, c, 4, 12, 24);
}

static void units_left_by_rounding_go_to_the_earlier_of_equals(void **state)
{
    struct share_child c[] = {
        {0, NO_LIMIT, 9, 1, 0}, {0, NO_LIMIT, 9, 1, 0}, {0, NO_LIMIT, 9, 1, 0}};

    (void)state;
    DIVIDE(5, c, 2, 2, 1);
}

/* The example of every text on D'Hondt's method, which favours the large. */
static void rounding_is_that_of_dhondt(void **state)
{
    struct share_child c[] = {{0, NO_LIMIT, 8, 100000, 0},
                              {0, NO_LIMIT, 8, 80000, 0},
                              {0, NO_LIMIT, 8, 30000, 0},
                              {0, NO_LIMIT, 8, 20000, 0}};

    (void)state;
    DIVIDE(8, c, 4, 3, 1, 0);
}

static void a_guarantee_is_served_before_weights(void **state)
{
    struct share_child c[] = {{6, NO_LIMIT, 100, 0, 0}, {0, NO_LIMIT, 100, 5, 0}};

    (void)state;
    DIVIDE(10, c, 6, 4);
    DIVIDE(6, c, 6, 0);
}

static void the_rest_is_divided_by_weight_on_top_of_guarantees(void **state)
{
    struct share_child c[] = {{6, NO_LIMIT, 100, 1, 0}, {0, NO_LIMIT, 100, 1, 0}};

    (void)state;
    DIVIDE(10, c, 8, 2);
}

static void a_guarantee_above_demand_is_lent_to_others(void **state)
{
    struct share_child c[] = {{50, NO_LIMIT, 3, 1, 0}, {0, NO_LIMIT, 100, 1, 0}};

    (void)state;
    DIVIDE(60, c, 3, 57);
}

static void a_limit_bounds_guarantee_and_share(void **state)
{
    struct share_child c[] = {{50, 5, 100, 1, 0}, {0, 7, 100, 1, 0}, {0, 0, 100, 1, 0}};

    (void)state;
    DIVIDE(60, c, 5, 7, 0);
}

static void weight_0_gets_only_what_nobody_else_wants(void **state)
{
    struct share_child c[] = {
        {0, NO_LIMIT, 100, 0, 0}, {0, NO_LIMIT, 20, 1, 0}, {0, NO_LIMIT, 3, 0, 0}};

    (void)state;
    DIVIDE(20, c, 0, 20, 0);
    DIVIDE(25, c, 3, 20, 2);
    DIVIDE(30, c, 7, 20, 3);
}

static void promises_beyond_the_amount_are_cut_in_proportion(void **state)
{
    struct share_child c[] = {{30, NO_LIMIT, 100, 0, 0},
                              {60, NO_LIMIT, 100, 1, 0},
                              {60, NO_LIMIT, 5, 1, 0},
                              {0, NO_LIMIT, 100, 9, 0}};

    (void)state;
    DIVIDE(50, c, 15, 30, 5, 0);
}

static void one_child_gets_what_there_is_up_to_its_cap(void **state)
{
    struct share_child c[] = {{0, 30, 20, 0, 7}};

    (void)state;
    DIVIDE(15, c, 15);
    DIVIDE(25, c, 20);
    c[0].guarantee = 100;
    DIVIDE(15, c, 15);
}

static void no_child_is_no_work(void **state)
{
    uint32_t scratch[SHARE_TREE_SCRATCH(0)];

    (void)state;
    share_divide(10, NULL, 0);
    share_tree(10, NULL, NULL, 0, scratch);
}

static void huge_amounts_do_not_overflow(void **state)
{
    struct share_child by_weight[] = {{0, NO_LIMIT, INT64_MAX, 1000000, 0},
                                      {0, NO_LIMIT, INT64_MAX, 1000000, 0},
                                      {0, NO_LIMIT, INT64_MAX, 1000000, 0},
                                      {0, NO_LIMIT, INT64_MAX, 1000000, 0}};
    struct share_child promised[] = {{INT64_MAX, NO_LIMIT, INT64_MAX, 1, 0},
                                     {INT64_MAX, NO_LIMIT, INT64_MAX, 1, 0},
                                     {INT64_MAX, NO_LIMIT, INT64_MAX, 1, 0}};
    struct share_child mixed[] = {{HUGE_AMOUNT - 5, NO_LIMIT, INT64_MAX, 0, 0},
                                  {0, NO_LIMIT, INT64_MAX, 1, 0},
                                  {0, NO_LIMIT, INT64_MAX, 999999, 0}};
    struct share_child alone[] = {{INT64_MAX, NO_LIMIT, INT64_MAX, 1, 0}};

    (void)state;
    DIVIDE(HUGE_AMOUNT, by_weight, HUGE_AMOUNT / 4, HUGE_AMOUNT / 4, HUGE_AMOUNT / 4,
           HUGE_AMOUNT / 4);
    DIVIDE(HUGE_AMOUNT, promised, HUGE_AMOUNT / 3 + 1, HUGE_AMOUNT / 3, HUGE_AMOUNT / 3);
    DIVIDE(HUGE_AMOUNT, mixed, HUGE_AMOUNT - 5, 0, 5);
    DIVIDE(INT64_MAX, alone, INT64_MAX);
    DIVIDE(INT64_MAX, promised, INT64_MAX / 3 + 1, INT64_MAX / 3, INT64_MAX / 3);
}

/* Company: research (vision, text) and product (search: live, batch). */
static void a_tree_of_three_levels_divides_what_each_parent_deserves(void **state)
{
    static const uint32_t parents[] = {SHARE_NO_QUEUE, 0, 0, SHARE_NO_QUEUE, 3, 4, 4};
    struct share_child c[] = {{0, NO_LIMIT, 0, 1, 0},   /* research */
                              {0, NO_LIMIT, 100, 3, 0}, /* its vision */
                              {0, NO_LIMIT, 100, 1, 0}, /* its text */
                              {0, NO_LIMIT, 0, 1, 0},   /* product */
                              {0, 30, 0, 1, 0},         /* its search */
                              {8, NO_LIMIT, 10, 1, 0},  /* live */
                              {0, NO_LIMIT, 90, 0, 0}}; /* batch */

    (void)state;
    TREE(40, c, parents, 20, 15, 5, 20, 20, 10, 10);
    assert_int_equal(c[0].demand, 200);
    assert_int_equal(c[4].demand, 100);
    assert_int_equal(c[3].demand, 30);
    TREE(100, c, parents, 70, 53, 17, 30, 30, 10, 20);
}

static void promises_of_children_do_not_raise_what_their_parent_deserves(void **state)
{
    static const uint32_t parents[] = {SHARE_NO_QUEUE, SHARE_NO_QUEUE, 0, 0};
    struct share_child c[] = {{0, NO_LIMIT, 0, 1, 0},
                              {0, NO_LIMIT, 100, 3, 0},
                              {60, NO_LIMIT, 100, 1, 0},
                              {20, NO_LIMIT, 100, 1, 0}};

    (void)state;
    TREE(32, c, parents, 8, 24, 6, 2);
}

static void a_queue_whose_children_want_nothing_deserves_nothing(void **state)
{
    static const uint32_t parents[] = {SHARE_NO_QUEUE, 0, SHARE_NO_QUEUE};
    struct share_child c[] = {{10, NO_LIMIT, 55, 1, 0}, {10, 0, 9, 1, 0}, {0, NO_LIMIT, 100, 1, 0}};

    (void)state;
    TREE(20, c, parents, 0, 0, 20);
}

static void siblings_need_not_stand_together(void **state)
{
    static const uint32_t parents[] = {SHARE_NO_QUEUE, SHARE_NO_QUEUE, 1, 0, 1, 0};
    struct share_child c[] = {{0, NO_LIMIT, 0, 1, 0}, {0, NO_LIMIT, 0, 2, 0},
                              {0, NO_LIMIT, 9, 1, 0}, {0, NO_LIMIT, 9, 1, 0},
                              {0, NO_LIMIT, 9, 1, 0}, {0, NO_LIMIT, 9, 1, 0}};

    (void)state;
    TREE(9, c, parents, 3, 6, 3, 2, 3, 1);
}

static void demands_too_large_to_add_up_are_no_bound(void **state)
{
    static const uint32_t parents[] = {SHARE_NO_QUEUE, 0, 0, 0};
    struct share_child c[] = {{0, NO_LIMIT, 0, 1, 0},
                              {0, NO_LIMIT, INT64_MAX, 1, 0},
                              {0, NO_LIMIT, INT64_MAX, 1, 0},
                              {0, NO_LIMIT, INT64_MAX, 2, 0}};

    (void)state;
    TREE(HUGE_AMOUNT, c, parents, HUGE_AMOUNT, HUGE_AMOUNT / 4, HUGE_AMOUNT / 4, HUGE_AMOUNT / 2);
    assert_true(c[0].demand == INT64_MAX);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(without_promises_the_amount_is_divided_by_weight),
        TEST(who_needs_less_leaves_the_rest_to_the_others_by_weight),
        TEST(units_left_by_rounding_go_to_the_earlier_of_equals),
        TEST(rounding_is_that_of_dhondt),
        TEST(a_guarantee_is_served_before_weights),
        TEST(the_rest_is_divided_by_weight_on_top_of_guarantees),
        TEST(a_guarantee_above_demand_is_lent_to_others),
        TEST(a_limit_bounds_guarantee_and_share),
        TEST(weight_0_gets_only_what_nobody_else_wants),
        TEST(promises_beyond_the_amount_are_cut_in_proportion),
        TEST(one_child_gets_what_there_is_up_to_its_cap),
        TEST(no_child_is_no_work),
        TEST(huge_amounts_do_not_overflow),
        TEST(a_tree_of_three_levels_divides_what_each_parent_deserves),
        TEST(promises_of_children_do_not_raise_what_their_parent_deserves),
        TEST(a_queue_whose_children_want_nothing_deserves_nothing),
        TEST(siblings_need_not_stand_together),
        TEST(demands_too_large_to_add_up_are_no_bound),
    };

    return RUN_TESTS(tests);
}
