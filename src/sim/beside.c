/* SPDX-License-Identifier: Apache-2.0 */
/* beside.c - tables that stand in the same folder as a trace. */
#include "sim/beside.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"

/* Where the file's own name begins; a NAME behind the last ':' may hold a '/'. */
static size_t folder_length(const char *trace_path)
{
    const char *colon = strrchr(trace_path, ':');
    const size_t length = colon != NULL && access(trace_path, F_OK) != 0
                              ? (size_t)(colon - trace_path)
                              : strlen(trace_path);
    size_t at = length;

    while (at > 0 && trace_path[at - 1] != '/')
        at--;
    return at;
}

int path_beside(const char *trace_path, const char *name, char *out, size_t out_size,
                struct err *err)
{
    const size_t folder = folder_length(trace_path);

    if (folder + strlen(name) >= out_size)
        return err_set(err, -ENAMETOOLONG, "trace '%s': its path is too long", trace_path);
    snprintf(out, out_size, "%.*s%s", (int)folder, trace_path, name);
    return 0;
}
