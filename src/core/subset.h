/* SPDX-License-Identifier: Apache-2.0 */
/* subset.h - which of the free GPUs of a node a task of some whole GPUs gets.
 *
 * Among the sets S of that many free GPUs, in this order:
 *  1. the widest bottleneck: the slowest pair of S is as fast as possible. For one GPU all are
 *     alike;
 *  2. the least harm: what stays free, R, can offer most. The offer of R is the sum, over the sizes
 *     from 2 to all of R, of the widest bottleneck that a set of this size has in R;
 *  3. the fewest links broken: the sum of MB/s over the pairs with one GPU in S and one in R is
 *     least. So a single goes where its neighbours are taken already;
 *  4. the lowest GPUs: the set that has the lowest GPU in which two sets differ.
 *
 * Exact up to SUBSET_EXACT_MAX GPUs, by tables over all sets of a row of links. These follow from
 * the row: they are in no digest and no snapshot, are made when the row is first asked about, and
 * answers are kept as they are found. Of 8 GPUs they take 7 KiB and microseconds; of 16 GPUs 2.8
 * MiB and some 10 ms once, and then up to 12,870 sets are looked at for an answer that nobody
 * asked for before. Wider nodes get a good set, grown GPU by GPU from each free one. */
#pragma once
#include <stdint.h>

#include "core/links.h"

#define SUBSET_EXACT_MAX 16u

/* Of one row of links. */
struct subset_table {
    uint32_t gpus;        /* 0 while nobody has asked */
    uint32_t *bottleneck; /* [1 << gpus] MB/s of the slowest pair; UINT32_MAX without a pair */
    uint32_t *offer;      /* [1 << gpus] as above */
    uint32_t *inner;      /* [1 << gpus] MB/s of all pairs together */
    uint16_t *answers;    /* [(1 << gpus) * gpus] set for each free set and size; 0 = not yet */
};

struct subsets {
    struct subset_table *tables; /* [cap] by id of the row - 1 */
    uint32_t cap;
};

void subsets_init(struct subsets *s);
void subsets_done(struct subsets *s);
void subsets_copy(struct subsets *dst, const struct subsets *src);

/* The set of `wanted` GPUs, 0..the number of those that are free, for a row that exists. `free` has
 * no GPUs that the row does not have. O(1) if it was asked before. */
uint64_t subset_choose(struct subsets *s, const struct links *links, uint32_t id, uint64_t free,
                       uint32_t wanted);
