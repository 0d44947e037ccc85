/* SPDX-License-Identifier: Apache-2.0 */
/* place.h - a place for a whole gang, or nothing. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "core/job.h"
#include "core/queues.h"

struct core;
struct group;
struct layout;

/* Put one task where the placement policy likes it best; it is taken on trial. False if it fits
 * nowhere. `slot` is kept in the trial's log. Cost: that of shortlist_best(), and one node. */
bool place_task(struct core *core, uint32_t shape_id, uint32_t slot);

/* The groups of a layout, largest tasks first, with the index of each group's first task. */
struct place_order {
    uint32_t count;
    uint32_t shape[GANG_GROUPS_MAX], tasks[GANG_GROUPS_MAX], first_task[GANG_GROUPS_MAX];
};
void place_order_groups(const struct core *core, const struct layout *layout,
                        struct place_order *out);

/* How many tasks of the shape a node of this class holds while it is empty, at most
 * JOB_TASKS_MAX; apart: each on a node of its own. O(1) */
uint32_t place_tasks_on_empty(struct core *core, uint32_t shape_id, uint32_t class_id, bool apart);

/* Put every task of this layout, or of one that may run with fewer as many as fit; on trial, with
 * the task's index as slot. On false nothing is taken. Tasks of one group are equal, so putting
 * them one by one finds room whenever there is room; between different groups place.c searches on
 * when the greedy order fails. */
bool place_layout(struct core *core, const struct layout *layout, enum reason *out_reason);

/* Does some task of the layout fit anywhere? With a policy that draws, where asking would change
 * its state, `unknown`. */
bool place_some_fit(struct core *core, const struct layout *layout, bool unknown);

/* Put more tasks of a RUNNING job where they fit, absent ones by index, up to `max`; on trial, with
 * the task's index as slot. Returns how many; if these are less than max, no more fit. */
uint32_t place_absent(struct core *core, uint32_t job, uint32_t max);

/* What tasks at these places hold. */
struct trial_item;
struct amounts place_amounts(const struct core *core, const struct trial_item *places,
                             uint32_t count);

/* Do the queues of the job let it hold what the trial's log took from `mark` on? Otherwise tasks
 * are undone from the end, down to `least` of them. False, with nothing undone beyond that, if that
 * is still too much; out then says whose bound it is. O(tasks * depth). */
bool place_within_bounds(struct core *core, uint32_t job, uint32_t mark, uint32_t least,
                         enum held held, struct refusal *out);

/* Is there no layout of the gang for which the nodes of this cluster would do if they were empty:
 * each task fits on some node, and there are enough such nodes for the tasks of each group. Found
 * out once for each change of the nodes, in O(groups * classes); then O(1). */
bool place_never(struct core *core, uint32_t gang);

/* So many tasks of the group must start together. */
uint32_t place_tasks_needed(const struct layout *layout, const struct group *group);

/* How many tasks of the group the nodes of the cluster would hold if they were empty, of this group
 * alone. O(classes) */
uint64_t place_room_empty(struct core *core, const struct layout *layout,
                          const struct group *group);

/* The first of the gang's layouts before `layout_end` that fits (see place_layout). */
bool place_gang(struct core *core, uint32_t gang, uint32_t layout_end, uint32_t *out_layout,
                enum reason *out_reason);

/* The same with bounds: the first layout that fits and that the queues of the job let it hold, if
 * it is one of several tasks that may be fewer as far as they do. PLACE_BEYOND: some would fit, but
 * *out_refusal is in the way; that of the first of them. */
enum placing { PLACE_DONE, PLACE_BEYOND, PLACE_NO_ROOM };
enum placing place_job(struct core *core, uint32_t job, enum held held, uint32_t *out_layout,
                       enum reason *out_reason, struct refusal *out_refusal);
