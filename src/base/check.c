/* SPDX-License-Identifier: Apache-2.0 */
#include "base/check.h"

#include <stdio.h>
#include <stdlib.h>

void check_failed(const char *expr, const char *file, int line)
{
    fprintf(stderr, "%s:%d: check failed: %s\n", file, line, expr);
    abort();
}
