/* SPDX-License-Identifier: Apache-2.0 */
/* entitle.h - what each queue is entitled to: what it gets before others, and gets back from them.
 *
 * Below a queue that divides fairly, that is what a child deserves by guarantee and weight of all
 * that its parent deserves (share.h), for each resource by itself; without weight, only its
 * guarantee. Below another one it is the guarantee; a resource that a guarantee does not name is
 * not bounded by it, and a queue without any is entitled to nothing. Never more than it uses and
 * asks for. What leaves counts as gone, and what is claimed as used. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "core/amounts.h"

struct core;
struct queue;
struct share_child;

/* Room that entitle() works in. */
struct entitle_scratch {
    struct share_child *children; /* [child_cap] by queue */
    uint32_t *parents;            /* [parent_cap] */
    uint32_t *scratch;            /* [scratch_cap] */
    uint32_t child_cap, parent_cap, scratch_cap;
};

/* What there is in the whole cluster. O(classes of nodes). */
struct amounts core_capacity(const struct core *core);

/* Work out queue.entitled of all queues, from what is used and asked now. O(queues). */
void entitle(struct core *core);

/* Would the queue, with so much more, still hold no more than it is entitled to? */
bool queue_is_entitled(const struct queue *queue, const struct amounts *more);

/* Does it hold more than it is entitled to, of a resource of which `some` has some? */
bool queue_is_above(const struct queue *queue, const struct amounts *some);

/* Would it, without `some`, still hold all that it is entitled to, of what it holds too much of? */
bool queue_stays_above(const struct queue *queue, const struct amounts *some);

/* Dominant share of what the queue holds, will hold and held: the largest part of any resource, in
 * parts of 2^32; what it held by the average of the past. */
int64_t queue_share(const struct core *core, uint32_t row);
