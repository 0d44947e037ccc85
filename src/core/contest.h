/* SPDX-License-Identifier: Apache-2.0 */
/* contest.h - whose turn it is, while a step fills.
 *
 * Each leaf puts forward the first job of one bucket: of the class of the highest rank, then of the
 * smallest key, then of the earliest submission. Each queue above puts forward the best that its
 * children put forward:
 *
 *   1. a job with which the child holds no more than it is entitled to (entitle.h) goes before one
 *      with which it holds more
 *   2. the class of the higher rank
 *   3. in a queue that divides fairly: the child of the smaller share for its weight
 *   4. the smaller key, if both go by the same order
 *   5. the earlier submission
 *
 * What the root has is next. After each start the shares and entitlements of one path have changed,
 * and only the queues on it choose anew. Costs are O(log buckets of the leaf + queues beside the
 * path) for each turn. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct core;

struct contest_row {
    uint32_t first, count; /* leaf: its heap of buckets in contest.buckets */
    uint32_t best;         /* the bucket that it puts forward, ROW_NONE */
    uint32_t child, next;  /* first live child; next live sibling */
    int64_t share;         /* of queue_share() */
    uint64_t round;        /* it is live in this one */
};

struct contest {
    uint32_t *buckets; /* [bucket_cap] heaps of the leaves, one after the other */
    uint32_t bucket_cap;
    struct contest_row *rows; /* [row_cap] by queue */
    uint32_t row_cap;
    uint32_t *live; /* [live_count] leaves, and then queues above, that take part */
    uint32_t live_count, live_cap;
    uint64_t round;
};

/* The buckets that hold jobs and that `takes_part` says. O(buckets + queues that take part). */
void contest_open(struct core *core, bool (*takes_part)(struct core *core, uint32_t bucket));
void contest_done(struct contest *contest);

/* The bucket whose first job is next, or ROW_NONE. O(1) */
uint32_t contest_best(const struct core *core);

/* Its first job has started, or was taken out: the next one of the bucket takes its place. */
void contest_next(struct core *core, uint32_t bucket);

/* The bucket is out of this contest. */
void contest_drop(struct core *core, uint32_t bucket);

/* All other buckets of its leaf are out, for a job that holds back all behind it; they are told so.
 * The bucket is out too. */
void contest_hold_back(struct core *core, uint32_t bucket);

/* The books of the queues have changed otherwise. O(buckets + queues that take part) */
void contest_refresh(struct core *core);
