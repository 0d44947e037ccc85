/* SPDX-License-Identifier: Apache-2.0 */
/* bench_subset.h - what choosing GPUs by how they are wired costs, on a node of 16 of them.
 *
 * Tasks of 1, 2, 4 and 8 GPUs come to one node and leave it; each that fits is one choice. The same
 * choices are then made again by themselves, from nothing: first with all that is worked out on the
 * way, then once more. Links are drawn of four speeds, so that few GPUs are alike. */
#pragma once
#include <stdint.h>

struct bench_subset_result {
    uint32_t gpus, choices;
    uint32_t free_sets;   /* distinct sets of free GPUs among the choices */
    int64_t tables_ns;    /* the tables of the links, made at the first choice */
    int64_t first_max_ns; /* the dearest answer that nobody asked for before */
    int64_t first_ns;     /* a choice, new answers and tables counted: all by their number */
    int64_t known_ns;     /* a choice that was made before */
};

void bench_subset(uint32_t choices, uint64_t seed, struct bench_subset_result *out);
