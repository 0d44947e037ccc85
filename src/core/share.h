/* SPDX-License-Identifier: Apache-2.0 */
/* share.h - what each queue of a tree deserves of one resource.
 *
 * Weighted max-min fairness (Bertsekas and Gallager, Data Networks, 6.5.2), with what is promised
 * served first, in whole units. It is hierarchical: what a queue deserves is the amount that its
 * own children divide. Pure: it knows no core, no jobs and no unit, and allocates nothing.
 *
 * A parent's amount is divided among its children so:
 *
 *     cap = min(demand, limit)          more is of no use to the child
 *     base = min(guarantee, cap)        what it is promised and can use
 *
 *  1. If the bases are more than the amount, more was promised than there is: water-filling with
 *     the guarantees as weights, up to base. A child without guarantee gets nothing.
 *  2. Otherwise each gets its base, and the rest is water-filled among the children whose weight is
 *     not 0, by weight, up to cap.
 *  3. What these cannot use goes to the children of weight 0, equally, up to cap: they get only
 * what nobody else wants.
 *
 * Water-filling an amount is, by definition, giving one unit at a time, each to the child that is
 * not full and has the smallest (units given so far + 1) / weight, the earlier one if equal
 * (D'Hondt's, or Jefferson's, method; Balinski and Young, Fair Representation). It is worked out
 * without counting units, so the cost does not depend on the amounts.
 *
 * It follows that nothing is left over while a child could use more; that nobody is above its cap,
 * nor below its base unless more was promised than there is; and that who asks for more never
 * deserves less for it, nor does anybody when there is more to divide. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#define SHARE_NO_LIMIT INT64_MAX
#define SHARE_NO_QUEUE UINT32_MAX /* the parent of a queue that is in no other */

/* All amounts are of the same unit and not negative; none is too large to be added up. */
struct share_child {
    int64_t guarantee;
    int64_t limit;    /* SHARE_NO_LIMIT: none */
    int64_t demand;   /* what it uses and what its waiting jobs ask for */
    uint32_t weight;  /* 0: only what nobody else wants */
    int64_t deserved; /* the answer */
};

/* Divides the amount among [count] children, whose order breaks ties.
 * Cost: O(count^2) at worst; O(count) if few are full and few units are left by rounding. */
void share_divide(int64_t amount, struct share_child *children, uint32_t count);

/* uint32_t's of scratch that a tree of so many queues needs. */
#define SHARE_TREE_SCRATCH(count) (2 * (size_t)(count) + 2)

/* Divides the amount among the queues without parent, and what each deserves among its children.
 * parents [count] by queue: a smaller index, or SHARE_NO_QUEUE. Siblings need not stand together.
 * The demand of a queue that has children is written here: what these can use, each up to its
 * limit. Guarantees of children may be more than their parent's: the parent's amount decides.
 * Cost: O(count), and share_divide() for each parent. */
void share_tree(int64_t amount, struct share_child *queues, const uint32_t *parents, uint32_t count,
                uint32_t *scratch);
