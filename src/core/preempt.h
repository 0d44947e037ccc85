/* SPDX-License-Identifier: Apache-2.0 */
/* preempt.h - running jobs give way to a waiting one. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct core;
struct decisions;

/* Make room for this waiting job by stopping running jobs of a larger key: whole jobs only, none
 * that is not needed, and nothing is stopped unless the whole gang fits afterwards. True if stop
 * decisions were made. Needs victims_refresh() in the same step. Cost: O(nodes + tasks that may
 * give way) for each task of the gang. */
bool preempt_for(struct core *core, uint32_t job, int64_t key, struct decisions *out);
