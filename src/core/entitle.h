/* SPDX-License-Identifier: Apache-2.0 */
/* entitle.h - what each queue is entitled to: what it gets before others, and gets back from them.
 *
 * Below a queue that divides fairly, that is what a child deserves by guarantee and weight of all
 * that its parent deserves (share.h), for each resource by itself; without weight, only its
 * guarantee. Below another one it is the guarantee; a resource that a guarantee does not name is
 * not bounded by it, and a queue without any is entitled to nothing. Never more than it uses and
 * asks for, what leaves included: that will be asked for again. What it holds is compared without
 * what leaves, and with what is claimed. */
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
    bool *wanted; /* [class_cap] by class of nodes: some shape ever asked for fits it */
    uint32_t class_cap, classes_seen, shapes_seen;
    uint64_t changes; /* queues.changes when it was worked out last */
};

/* What there is in the whole cluster, but for nodes on which nothing that was ever asked for could
 * run: they are nobody's share. O(classes of nodes), and once O(classes) for each new shape. */
struct amounts core_capacity(struct core *core);

/* Work out queue.entitled of all queues, from what is used and asked now. O(queues). */
void entitle(struct core *core);

/* The same if anything has started, or was claimed, since. What starts may hold more than was asked
 * for (memory of GPUs of which it wants a part, tasks above its minimum), and who holds more than
 * it was entitled to for that only, is owed it. Has anybody more or less now? O(1), or O(queues) */
bool entitle_again(struct core *core);

/* A job that asks for so much at least would hold more where it is to go: is its queue (it stands
 * below it) entitled to all of that, if that is what it asks for? O(queues) */
struct standing;
bool entitled_to_hold(struct core *core, const struct standing *at, uint32_t queue,
                      const struct amounts *asks, const struct amounts *holds);

/* Would the queue, with so much more, still hold no more than it is entitled to? */
bool queue_is_entitled(const struct queue *queue, const struct amounts *more);

/* Does it hold more than it is entitled to, of a resource of which `some` has some? */
bool queue_is_above(const struct queue *queue, const struct amounts *some);

/* Would it, without `some`, still hold all that it is entitled to, of what it holds too much of? */
bool queue_stays_above(const struct queue *queue, const struct amounts *some);

/* Dominant share of what the queue holds, will hold and held: the largest part of any resource, in
 * parts of 2^32; what it held by the average of the past. */
int64_t queue_share(const struct core *core, uint32_t row);
