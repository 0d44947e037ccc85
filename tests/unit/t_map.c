/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include <string.h>

#include "base/rng.h"
#include "unit/test.h"

enum { KEYS = 512 };

static void an_empty_map_finds_nothing(void **state)
{
    struct map map;
    uint32_t value = 7;

    (void)state;
    map_init(&map);
    assert_false(map_find(&map, 0, &value));
    assert_false(map_remove(&map, 0));
    assert_int_equal(value, 7);
    assert_int_equal(map_count(&map), 0);
    map_done(&map);
}

static void putting_twice_replaces(void **state)
{
    struct map map;
    uint32_t value = 0;

    (void)state;
    map_init(&map);
    map_put(&map, UINT64_MAX, 1);
    map_put(&map, UINT64_MAX, 2);
    assert_int_equal(map_count(&map), 1);
    assert_true(map_find(&map, UINT64_MAX, &value));
    assert_int_equal(value, 2);
    assert_true(map_find(&map, UINT64_MAX, NULL));
    map_done(&map);
}

/* Keys are few and far apart by turns, so that probe runs form, wrap round and are torn. */
static uint64_t key_of(uint64_t i)
{
    return i % 2 ? i : i << 50;
}

static void a_map_agrees_with_a_plain_table(void **state)
{
    uint32_t model[KEYS]; /* value + 1, or 0 when absent */
    struct map map;
    struct rng rng;
    uint32_t count = 0;

    (void)state;
    memset(model, 0, sizeof model);
    map_init(&map);
    rng_init(&rng, 1);
    for (uint32_t round = 0; round < 100000; round++) {
        uint64_t i = rng_below(&rng, KEYS);
        uint32_t value = 0;

        assert_true(map_find(&map, key_of(i), &value) == (model[i] != 0));
        assert_true(!model[i] || value == model[i] - 1);
        if (rng_below(&rng, 2)) {
            count += !model[i];
            map_put(&map, key_of(i), round);
            model[i] = round + 1;
        } else {
            count -= model[i] != 0;
            assert_true(map_remove(&map, key_of(i)) == (model[i] != 0));
            model[i] = 0;
        }
        assert_int_equal(map_count(&map), count);
    }
    map_done(&map);
}

static void a_copy_does_not_follow_its_source(void **state)
{
    struct map map, copy;
    uint32_t value = 0;

    (void)state;
    map_init(&map);
    for (uint32_t i = 0; i < 100; i++)
        map_put(&map, i, i);
    map_copy(&copy, &map);
    map_put(&map, 5, 99);
    map_remove(&map, 6);
    assert_true(map_find(&copy, 5, &value));
    assert_int_equal(value, 5);
    assert_true(map_find(&copy, 6, &value));
    assert_int_equal(map_count(&copy), 100);
    map_done(&map);
    map_done(&copy);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(an_empty_map_finds_nothing),
        TEST(putting_twice_replaces),
        TEST(a_map_agrees_with_a_plain_table),
        TEST(a_copy_does_not_follow_its_source),
    };

    return RUN_TESTS(tests);
}
