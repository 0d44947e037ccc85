/* SPDX-License-Identifier: Apache-2.0 */
/* bench_levels.h - what a place for a large gang costs that must be near itself.
 *
 * A gang of 1,024 GPUs, 128 tasks, on 10,000 nodes of 8 GPUs, up to 8 of which are taken in each
 * leaf: all of it must share a spine of 500 nodes, and each 16 tasks a leaf of 20. It is placed; a
 * gang three times as large has no room anywhere and is refused. And 1,000 tasks in 100 groups of
 * 10, each group in one rack, on 1,000 empty nodes in racks of 10. A time is from its
 * submission to the decision. */
#pragma once
#include <stdint.h>

struct err;

struct bench_levels_result {
    uint32_t nodes, rounds;
    int64_t first_ns; /* the first placement: the tree of domains is made for it */
    int64_t placed_p50_ns, placed_max_ns;
    int64_t refused_p50_ns, refused_max_ns;
    int64_t groups_p50_ns, groups_max_ns;
};

int bench_levels(uint64_t seed, struct bench_levels_result *out, struct err *err);
