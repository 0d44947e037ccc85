/* SPDX-License-Identifier: Apache-2.0 */
/* test.h - what every unit test includes: cmocka with the headers it wants before it. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* One line of a test table; the name of the function is the sentence that is reported. */
#define TEST(name)       cmocka_unit_test(name)
#define RUN_TESTS(tests) cmocka_run_group_tests(tests, NULL, NULL)
