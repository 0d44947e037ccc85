/* SPDX-License-Identifier: Apache-2.0 */
/* fit.h - does one task fit on a node in this state, and on which of its GPUs? */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "core/node.h"

struct core;

/* Could a node of this class hold one task of this shape if it were empty? Remembered for each
 * pair, so O(1); `out` gets what the task needs of each GPU there. */
bool fit_ever(struct core *core, uint32_t shape_id, uint32_t class_id, struct need *out);

/* Does nobody hold anything on such a node? A GPU that is lost is held. */
static inline bool state_is_empty(const struct node_class *class, uint32_t whole_free,
                                  int64_t free_mcpu, int64_t free_memory_bytes)
{
    return whole_free == class->gpu_count && free_mcpu == class->cpu_mcpu &&
           free_memory_bytes == class->memory_bytes;
}

/* Does one more task fit on a node in this state? O(1) for whole GPUs, else O(GPUs). */
bool fit_now(struct core *core, uint32_t shape_id, uint32_t state, struct need *out);

/* Are there GPUs with enough left for a task that takes parts of them? O(GPUs). */
bool fit_shares(const struct core *core, uint32_t state, const struct shape *shape,
                const struct need *need);

/* The GPUs of the node that a task takes. slot: for a task that shares one GPU, the entry of the
 * state's ascending free amounts that the policy chose, or SLOT_FULLEST; the lowest GPU with just
 * that much free is taken. Tasks on several GPUs take the fitting ones with the least left, lowest
 * first; with FIT_MOST_LEFT as slot, those with the most left. Where it is known how the GPUs of
 * the node are wired, those that nobody uses are not alike: subset.h says which are taken. Which
 * instance of which GPU it is, mig_fit.h says; *out_mig_start is 0 for all else. */
#define FIT_MOST_LEFT (UINT32_MAX - 1)
uint64_t fit_gpus(struct core *core, uint32_t node, const struct shape *shape,
                  const struct need *need, uint32_t slot, uint32_t *out_mig_start);

/* A set of GPUs with just as much left as those of the mask: those of them that nobody uses are
 * chosen anew by how they are wired, if that is known. */
uint64_t fit_rewired(struct core *core, uint32_t node, const struct need *need, uint64_t gpu_mask);
