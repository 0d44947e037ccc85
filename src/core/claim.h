/* SPDX-License-Identifier: Apache-2.0 */
/* claim.h - room that is kept for a waiting job until the jobs that give way to it have left.
 *
 * A claim holds the planned places in the books on top of what the victims still hold, so that
 * nobody else is given them, free or freed. Meanwhile the job is not in the queue, and the next
 * one like it has its turn. The claim ends when the job starts, is cancelled or held, or one of its
 * nodes or GPUs goes. While it lasts a node may show more held than there is; free is then 0. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct core;

/* The claim of a PENDING job: the places of its tasks in this layout, as a trial's log had them
 * before it was undone. `slot` is the index of the task. */
struct trial_item;
void claim_make(struct core *core, uint32_t job, uint32_t layout, const struct trial_item *places,
                uint32_t count);

/* Is all that it claims free but for claims, so that it can start there? O(tasks on its nodes) for
 * each of its tasks */
bool claim_is_free(const struct core *core, uint32_t job);

/* Are there tasks on its nodes that were told to stop and have not left? Those that should have
 * long ago do not count. O(tasks on these nodes) */
bool claim_awaits(const struct core *core, uint32_t job);

/* Do its queues let it hold what it claims, beside what others hold now? */
bool claim_is_admitted(struct core *core, uint32_t job);

/* The bounds of its queues have changed: gives the claim up if they would not let it hold what it
 * claims even when all that leaves has left. Nothing happens if it has no claim. */
void claim_judge_anew(struct core *core, uint32_t job);

/* Start the job at the places of its claim, which are free. Adds the decision. */
struct decisions;
void claim_redeem(struct core *core, uint32_t job, struct decisions *out);

/* Give the places back, and the job into the queue; nothing happens if it has no claim. */
void claim_drop(struct core *core, uint32_t job);

/* The same for every claim that has a place on this node. */
void claims_drop_on(struct core *core, uint32_t node);

/* The same for every claim that has one of these GPUs of it. */
void claims_drop_on_gpus(struct core *core, uint32_t node, uint64_t gpus);
