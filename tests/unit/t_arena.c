/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/arena.h"

#include <string.h>

#include "unit/test.h"

static void blocks_are_zeroed_aligned_and_stay(void **state)
{
    unsigned char *first;
    struct arena arena;

    (void)state;
    arena_init(&arena);
    first = arena_alloc(&arena, 3, 1);
    memcpy(first, "abc", 3);
    for (size_t size = 1; size < 5000; size += 37) {
        unsigned char *block = arena_alloc(&arena, size, 2);

        assert_true((uintptr_t)block % 16 == 0);
        for (size_t i = 0; i < size * 2; i++)
            assert_int_equal(block[i], 0);
        memset(block, 0xff, size * 2);
    }
    assert_memory_equal(first, "abc", 3);
    assert_null(arena_alloc(&arena, 0, 8));
    arena_done(&arena);
}

static void cleared_memory_is_zero_again(void **state)
{
    struct arena arena;

    (void)state;
    arena_init(&arena);
    for (int i = 0; i < 100; i++) {
        unsigned char *block = arena_alloc(&arena, 700, 1);

        assert_int_equal(block[699], 0);
        memset(block, 0xff, 700);
        assert_string_equal(arena_intern(&arena, "x"), "x");
        arena_clear(&arena);
    }
    arena_done(&arena);
}

static void equal_texts_are_one_pointer(void **state)
{
    const char *a, *b;
    struct arena arena;

    (void)state;
    arena_init(&arena);
    a = arena_intern(&arena, "queue");
    b = arena_intern(&arena, arena_text(&arena, "queue-1", 5));
    assert_ptr_equal(a, b);
    assert_ptr_not_equal(a, arena_intern(&arena, "queue-1"));
    arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(blocks_are_zeroed_aligned_and_stay),
        TEST(cleared_memory_is_zero_again),
        TEST(equal_texts_are_one_pointer),
    };

    return RUN_TESTS(tests);
}
