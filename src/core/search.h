/* SPDX-License-Identifier: Apache-2.0 */
/* search.h - room for a gang of different tasks when the policy's own choices fail.
 *
 * Greedy placement can block itself: a small task on the only node that a later one can use. The
 * search tries every node state (and every different GPU for a share) for each task in turn, and
 * takes back what leads nowhere. It looks at up to SEARCH_TRIES placements, enough for every case
 * of 3 tasks on 3 nodes many times over, and then gives up: such a gang waits. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct core;

#define SEARCH_TRIES     2000u
#define SEARCH_TASKS_MAX 64u /* the depth of the search; larger gangs are placed greedily only */

/* shapes, tasks, first_task: [group_count], in the order to place. Takes on trial; on false
 * nothing is taken. */
bool search_layout(struct core *core, const uint32_t *shapes, const uint32_t *tasks,
                   const uint32_t *first_task, uint32_t group_count);
