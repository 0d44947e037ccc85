/* SPDX-License-Identifier: Apache-2.0 */
/* err_test.h - calls that answer with a number, negative when they failed, and an error. */
#pragma once
#include <string.h>

#include "base/err.h"
#include "unit/test.h"

static struct err err;

#define WORKS(call)                                                                                \
    do {                                                                                           \
        long works_rc_ = (long)(call);                                                             \
        if (works_rc_ < 0)                                                                         \
            fail_msg("%s: %ld: %s", #call, works_rc_, err.text);                                   \
    } while (0)

/* With this code, and `wanted` in the text. */
#define FAILS(call, code, wanted)                                                                  \
    do {                                                                                           \
        err.text[0] = '\0';                                                                        \
        assert_int_equal((call), (code));                                                          \
        if (strstr(err.text, (wanted)) == NULL)                                                    \
            fail_msg("'%s' is not in '%s'", (wanted), err.text);                                   \
    } while (0)
