/* SPDX-License-Identifier: Apache-2.0 */
/* by_queue.h - what a run was like for each queue: how long its jobs took, and how long it was
 * owed.
 *
 * A queue is owed while a job of it waits with which it would hold no more than it is entitled to
 * (core/entitle.h), counted at the end of each instant, when all decisions have come true. So a
 * queue that gets its room back as soon as others have left is never owed. Counted apart is the
 * time in which its job would fit if all had left that it may take from: in the rest, no plan could
 * have made the room. */
#pragma once
#include <stdint.h>

#include "base/map.h"
#include "base/names.h"

struct run;

struct queue_run {
    uint32_t jobs, finished;
    int64_t jct_mean_us, jct_p99_us, wait_mean_us;
    uint32_t owed_times;              /* how often it began to be owed */
    int64_t owed_us, owed_longest_us; /* in all, and at a time */
    int64_t owed_since_us;            /* -1: it is not owed now */
    int64_t could_us;                 /* of owed_us, while the room could have been made */
    int64_t could_since_us;           /* -1: it could not be made now, or is not owed */
};

struct by_queue {
    struct names names;
    struct queue_run *rows; /* [count] by name id */
    uint32_t count, cap;
};

void by_queue_init(struct by_queue *q);
void by_queue_done(struct by_queue *q);

/* The decisions of this instant have come true. O(queues with waiting jobs). */
void by_queue_settled(struct by_queue *q, const struct run *run);

/* The run is over: work out the rest from its jobs. */
void by_queue_finish(struct by_queue *q, const struct run *run);
