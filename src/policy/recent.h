/* SPDX-License-Identifier: Apache-2.0 */
/* recent.h - how often each shape was asked for lately, for policies that learn the demand.
 *
 * Counts halve as newer tasks come: after 8192 tasks, or after twice the running jobs where that is
 * more, so that a large cluster remembers as much of its own turnover as a small one. What is
 * derived from them is worked out anew after 1, 2, 3, 4, 6, 9 .. tasks, up to a settled period. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/tape.h"

#define RECENT_ONE (1 << 16) /* one task in the counts */

struct recent {
    uint64_t *count; /* [cap] by shape id, times RECENT_ONE */
    uint32_t cap;
    uint64_t seen;     /* tasks submitted */
    uint64_t noted_at; /* seen, when counts were last faded */
    uint64_t next_at;  /* seen, when that is due again */
    uint64_t period;
};

void recent_init(struct recent *r); /* r is zeroed */
void recent_done(struct recent *r);
void recent_copy(struct recent *dst, const struct recent *src);
void recent_walk(struct recent *r, uint32_t shapes, struct tape *t); /* of so many shapes */

void recent_add(struct recent *r, uint32_t shape_id, uint32_t tasks);
bool recent_is_due(const struct recent *r);

/* Fade the counts by what came since the last time, and set when that is due again. O(shapes). */
void recent_fade(struct recent *r, uint64_t running_jobs, uint64_t settled_period);
