/* SPDX-License-Identifier: Apache-2.0 */
/* shortlist.h - for each shape, the best node states so far.
 *
 * A heap of candidates, a mark below which nothing is remembered, and how far the ring of changes
 * was read. Asking for the best reads the changes since the last question, judges only those
 * states, and takes the top that is still true. When the list runs dry and something was left
 * below the mark, every state is judged once and the best of them are kept. The answer is always
 * the one that judging every state would give; the lists only save work and are in no digest.
 *
 * Cost of a question: O(changes since the last one of this shape), and amortised O(states / kept)
 * for judging anew, where kept is at least SHORTLIST_MIN and a part of all states. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "core/policy.h"

struct core;

#define SHORTLIST_MIN  64u
#define SHORTLIST_PART 32u /* one in so many states is kept */

struct candidate {
    int64_t score;
    uint32_t order; /* of the state's first node: the earlier one wins among equal scores */
    uint32_t state;
    uint32_t version;
    uint32_t slot; /* which GPU a share takes, see policy.h */
};

struct shortlist {
    struct candidate *heap; /* [count] best first */
    uint32_t count, cap;
    bool marked; /* something worse than `mark` was left out */
    struct candidate mark;
    uint64_t read;  /* changes of the index that were read */
    uint64_t epoch; /* of the scores; another one makes the list void. 0 = never read */
};

void shortlist_done(struct shortlist *list);
void shortlist_copy(struct shortlist *dst, const struct shortlist *src);

/* The best state for one task of this shape; false if it fits nowhere now. */
bool shortlist_best(struct core *core, uint32_t shape_id, struct candidate *out);
