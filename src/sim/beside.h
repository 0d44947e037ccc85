/* SPDX-License-Identifier: Apache-2.0 */
/* beside.h - tables that stand in the same folder as a trace. */
#pragma once
#include <stddef.h>

struct err;

/* The path of `name` in the folder of the trace (FILE or FILE:NAME). 0, or -ENAMETOOLONG. */
int path_beside(const char *trace_path, const char *name, char *out, size_t out_size,
                struct err *err);
