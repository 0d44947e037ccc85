/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/test.h"

static void allocated_memory_is_zero(void **state)
{
    uint64_t *words = mem_alloc(100, sizeof *words);

    (void)state;
    for (int i = 0; i < 100; i++)
        assert_true(words[i] == 0);
    mem_free(words);
}

static void nothing_is_null(void **state)
{
    (void)state;
    assert_null(mem_alloc(0, 8));
    assert_null(mem_copy(NULL, 0, 8));
    assert_null(mem_resize(mem_alloc(1, 8), 1, 0, 8));
    mem_free(NULL);
}

static void growing_keeps_the_old_part_and_zeroes_the_new_one(void **state)
{
    uint32_t *a = NULL;

    (void)state;
    a = mem_resize(a, 0, 4, sizeof *a);
    for (uint32_t i = 0; i < 4; i++)
        a[i] = i + 1;
    a = mem_resize(a, 4, 2, sizeof *a);
    a = mem_resize(a, 2, 1000, sizeof *a);
    assert_int_equal(a[0], 1);
    assert_int_equal(a[1], 2);
    for (uint32_t i = 2; i < 1000; i++)
        assert_int_equal(a[i], 0);
    mem_free(a);
}

static void a_copy_is_its_own_memory(void **state)
{
    uint32_t from[3] = {1, 2, 3};
    uint32_t *copy = mem_copy(from, 3, sizeof from[0]);

    (void)state;
    from[1] = 9;
    assert_int_equal(copy[0], 1);
    assert_int_equal(copy[1], 2);
    assert_int_equal(copy[2], 3);
    mem_free(copy);
}

static void a_size_that_overflows_aborts(void **state)
{
    volatile size_t count = SIZE_MAX / 4;
    pid_t child = fork();
    int status = 0;

    (void)state;
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        if (!freopen("/dev/null", "w", stderr))
            _exit(1);
        mem_free(mem_alloc(count, 8));
        _exit(0);
    }
    assert_true(waitpid(child, &status, 0) == child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(allocated_memory_is_zero),
        TEST(nothing_is_null),
        TEST(growing_keeps_the_old_part_and_zeroes_the_new_one),
        TEST(a_copy_is_its_own_memory),
        TEST(a_size_that_overflows_aborts),
    };

    return RUN_TESTS(tests);
}
