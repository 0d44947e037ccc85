/* SPDX-License-Identifier: Apache-2.0 */
/* mig_price.h - whether a GPU may be split anew now.
 *
 * Splitting anew takes the GPU out of use for a while, and demand that comes and goes must not
 * make a GPU do nothing else. So it has a price, in three parts:
 *   - what it is for must have waited longer than it takes;
 *   - a GPU is left alone for a time after it was split (cooldown);
 *   - of the GPUs of a node, so many may be split within any window of time.
 * Within a time T a GPU is therefore split at most mig_price_bound() times, whatever is asked.
 *
 * Whether the GPU is empty is the caller's to know: one that is in use is never split anew.
 *
 * Plain values, times in microseconds; nothing here knows a clock. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct tape;

#define MIG_SPLITS_MAX 16u /* that a node may be allowed within a window */

struct mig_price_rules {
    int64_t takes_us;    /* how long the GPU is out of use; 0 or more */
    int64_t cooldown_us; /* between two times of one GPU; 0 or more */
    int64_t window_us;   /* of a node; 0 or more */
    uint32_t splits_max; /* of a node within a window, 1..MIG_SPLITS_MAX */
};

/* Takes 10 s; a GPU at most every 10 minutes, a node at most 4 times in 10 minutes. */
extern const struct mig_price_rules mig_price_defaults;

/* All zero: never split. */
struct mig_price_gpu {
    int64_t last_us; /* when it was split last, if splits > 0 */
    uint64_t splits;
};

enum mig_verdict {
    MIG_MAY,
    MIG_TOO_SOON,  /* what it is for has not waited long enough */
    MIG_COOLING,   /* the GPU was split not long ago */
    MIG_NODE_BUSY, /* the node has had its splits of this window */
    MIG_VERDICTS
};

/* All zero: never split. */
struct mig_price_node {
    int64_t last_us[MIG_SPLITS_MAX]; /* a ring of the last times; next is overwritten next */
    uint32_t next, count;
    uint64_t asked[MIG_VERDICTS]; /* counts of answers */
};

/* The first reason against it, or MIG_MAY. *until_us gets the first time at which the answer can be
 * MIG_MAY if nothing else is split meanwhile: now_us if it is. waiting_since_us: of the oldest
 * demand that the new split would serve. The answer is counted. */
enum mig_verdict mig_price_ask(const struct mig_price_rules *rules, const struct mig_price_gpu *gpu,
                               struct mig_price_node *node, int64_t waiting_since_us,
                               int64_t now_us, int64_t *until_us);

/* The GPU is being split. now_us must not go back. */
void mig_price_pay(struct mig_price_gpu *gpu, struct mig_price_node *node, int64_t now_us);

/* The most times that one GPU can be split within a time of that length, ends included. */
uint64_t mig_price_bound(const struct mig_price_rules *rules, int64_t length_us);

/* Each field once: digest, save and load. What is loaded is checked for its meaning. */
void mig_price_gpu_walk(struct mig_price_gpu *gpu, struct tape *t);
void mig_price_node_walk(struct mig_price_node *node, struct tape *t);

/* "has waited too short a time", for people; never NULL. */
const char *mig_verdict_text(enum mig_verdict verdict);
