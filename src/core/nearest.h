/* SPDX-License-Identifier: Apache-2.0 */
/* nearest.h - the nearest single change with which a waiting job would start now.
 *
 * Candidates go from what costs the job's user least to what costs others: release it; a coarser
 * level, or a larger slowdown; ask for less of what is short; fewer tasks; another model; without a
 * label; a higher limit of a queue; a higher class; a drained node comes back; another job ends,
 * the one with the fewest GPUs first. Each is made on a clone, which is then stepped, with those
 * who give way gone at once: only what has started the job there is named. */
#pragma once
#include "core/remedy.h"

struct core;
struct explanation;

#define NEAREST_TRIES_MAX 16u /* candidates that are made on a clone */
#define NEAREST_LOOKS_MAX                                                                          \
    1024u                   /* running jobs that are taken off on trial, to see who is worth it */
#define NEAREST_EACH_MAX 4u /* candidates of one type */

/* scratch: a clone that was stepped, and is as before afterwards. e: what is known of why it waits.
 * *out is REMEDY_NONE if none of what was tried is enough; returns how many were tried.
 * Cost: at most NEAREST_TRIES_MAX clones and steps; sorting the running jobs, and a placement of
 * the gang for NEAREST_LOOKS_MAX of them. */
uint32_t nearest_remedy(const struct core *core, struct core *scratch, const struct explanation *e,
                        struct remedy *out);
