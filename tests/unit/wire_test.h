/* SPDX-License-Identifier: Apache-2.0 */
/* wire_test.h - for tests of readers: what a call that must fail says. */
#pragma once
#include <string.h>

#include "base/err.h"
#include "unit/test.h"

/* `call` is an expression that uses &err; it must be negative and say exactly `wanted`. */
#define FAILS_WITH(call, wanted)                                                                   \
    do {                                                                                           \
        struct err err = {""};                                                                     \
        assert_true((call) < 0);                                                                   \
        assert_string_equal(err.text, (wanted));                                                   \
    } while (0)

/* `call` must not be negative; what it says otherwise is shown. */
#define WORKS(call)                                                                                \
    do {                                                                                           \
        struct err err = {""};                                                                     \
        if ((call) < 0)                                                                            \
            fail_msg("%s", err.text);                                                              \
    } while (0)
