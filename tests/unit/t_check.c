/* SPDX-License-Identifier: Apache-2.0 */
#include "base/check.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/test.h"

/* The signal that ends a child which runs check(value), or 0. */
static int signal_of_check(int value)
{
    pid_t child = fork();
    int status = 0;

    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        if (!freopen("/dev/null", "w", stderr))
            _exit(1);
        check(value == 1);
        _exit(0);
    }
    assert_true(waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void a_check_that_holds_does_nothing(void **state)
{
    (void)state;
    assert_int_equal(signal_of_check(1), 0);
}

static void a_check_that_fails_aborts(void **state)
{
    (void)state;
    assert_int_equal(signal_of_check(2), SIGABRT);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(a_check_that_holds_does_nothing),
        TEST(a_check_that_fails_aborts),
    };

    return RUN_TESTS(tests);
}
