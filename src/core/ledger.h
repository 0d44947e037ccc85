/* SPDX-License-Identifier: Apache-2.0 */
/* ledger.h - the only writer of what is held on nodes; it keeps the index in step. */
#pragma once
#include <stdint.h>

#include "core/limits.h"
#include "core/modes.h"

struct core;

/* A task of this shape takes, or gives back, its share on these GPUs of the node. One node
 * changes its state. O(GPUs log GPUs + log nodes). */
void ledger_take(struct core *core, uint32_t node, uint32_t shape, uint64_t gpu_mask);
void ledger_give(struct core *core, uint32_t node, uint32_t shape, uint64_t gpu_mask);

/* What is said to be held on a node beside its tasks, for a while: timeline.h. */
struct hold {
    int64_t mcpu, memory_bytes;
    int32_t gpu_mgpu[NODE_GPUS_MAX];
    int64_t gpu_bytes[NODE_GPUS_MAX];
    struct sharers sharers[NODE_GPUS_MAX];
};

/* Add what a task of this shape takes there, with these GPUs. */
void hold_add(const struct core *core, uint32_t node, uint32_t shape, uint64_t gpu_mask,
              struct hold *hold);

/* Add it to the node's books (sign 1), or take it out again (-1). O(GPUs log GPUs + log nodes). */
void ledger_hold(struct core *core, uint32_t node, const struct hold *hold, int sign);

/* The node's description, health or tasks changed: put it into its state, or out of all of them if
 * it takes no new work. */
void ledger_refresh(struct core *core, uint32_t node);

/* What is held changed by a report from outside, not by a decision: it may be more than there is,
 * which is a state of the node (a deficit) and no error. Said after each such change, and when a
 * task has left, since the deficit may be over then; never on trial. */
void ledger_reported(struct core *core, uint32_t node);
