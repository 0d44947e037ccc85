/* SPDX-License-Identifier: Apache-2.0 */
/* mix.h - the shapes of a trace with their counts, for policies that may know them in advance. */
#pragma once
#include <stdint.h>

#include "core/event.h"

struct trace;

struct mix {
    struct group_spec *groups; /* [count]; `tasks` is how many of each; texts are the trace's */
    uint32_t count, cap;
};

void mix_make(struct mix *mix, const struct trace *trace);
void mix_done(struct mix *mix);
