/* SPDX-License-Identifier: Apache-2.0 */
/* preempt.h - running jobs give way to a waiting one. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct core;
struct decisions;

/* Make room for this waiting job by stopping running jobs that it has a right over (rights.h):
 * whole jobs, none that is not needed, and nothing is stopped unless the whole gang fits afterwards
 * and its queues may hold it. True if stop decisions were made; then the room is claimed for it.
 * Needs victims_refresh() in the same step. Cost: O(running jobs); with more than PLAN_EXACT_MAX
 * candidates also O(nodes + their tasks) for each task of the gang. */
bool preempt_for(struct core *core, uint32_t job, struct decisions *out);
