/* SPDX-License-Identifier: Apache-2.0 */
/* malloc(), double and strcpy() may be written about, and "float" may stand in a string. */
#include <stdint.h>

#include "base/check.h"
#include "core/good.h"

static const char *const text = "a double strcpy(to, from) \" and malloc(1)";
static const struct {
    int (*free)(int);
} table;

static int write(int double_count)
{
    return table.free(double_count);
}

static int call(void)
{
    return write(1);
}
