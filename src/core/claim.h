/* SPDX-License-Identifier: Apache-2.0 */
/* claim.h - room that is kept for a waiting job until the jobs that give way to it have left.
 *
 * A claim holds the planned places in the books on top of what the victims still hold, so that
 * nobody else is given them, free or freed. It ends when the job starts, is cancelled, or one of
 * its nodes goes. While it lasts a node may show more held than there is; free is then 0. */
#pragma once
#include <stdint.h>

struct core;

/* The claim of a PENDING job: the places that the trial's log took in [first, end). Call it with
 * a copy of these entries, after the trial was undone. */
struct trial_item;
void claim_make(struct core *core, uint32_t job, const struct trial_item *places, uint32_t count);

/* Give the places back; nothing happens if it has no claim. */
void claim_drop(struct core *core, uint32_t job);

/* The same for every claim that has a place on this node. */
void claims_drop_on(struct core *core, uint32_t node);
