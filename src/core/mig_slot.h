/* SPDX-License-Identifier: Apache-2.0 */
/* mig_slot.h - on which GPU, and where on it, an instance is made.
 *
 * The choice keeps, in this order,
 *   1. most of what is known to wait able to be placed after it, as far as one GPU after the other
 *      can say (see below);
 *   2. on the GPU, the layout from which the best rule still places most (mig_game.h); and among
 *      GPUs, most slices that a profile could still have, added up over profiles;
 *   3. the fullest GPU, then the first, and the lowest start.
 * Never does it refuse while a GPU has a legal start. It depends on nothing but its arguments.
 *
 * Which start is best depends on which profiles may come. An expectation of plain ones only gives
 * another answer than one of all: if instances of one compute slice with double memory may come,
 * the last two slices of an A100 are theirs. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "core/mig.h"
#include "core/mig_game.h"

#define MIG_GPUS_MAX 64u /* in one question */

/* What is known of what may come. Zeros: nothing waits, and plain profiles are expected. */
struct mig_demand {
    uint16_t expected;                  /* bit p: profile p may come, beyond the plain ones */
    uint32_t waiting[MIG_PROFILES_MAX]; /* instances, without the one that is placed now */
    uint32_t worth[MIG_PROFILES_MAX];   /* of one that waits, at most 2^20; 0 is as 1 */
};

struct mig_choice {
    uint32_t gpu, start;
    uint64_t backlog_lost; /* worth of what waits and could be placed only without this choice */
    uint32_t open_lost;    /* slices that profiles could still have had, added up */
};

/* Chooses among GPUs of one type. false if none has a legal start; then *out is untouched.
 *
 * What waits is first dealt out over the GPUs, each in turn taking what is worth most; a choice
 * that takes room from what its GPU was dealt offers it to the others, in turn. On one GPU that is
 * exact; on several it may think that something is lost which another deal would have kept. On a
 * GPU with blocked slices, each profile that waits is counted by itself.
 *
 * Cost: O(GPUs x starts) lookups, and if anything waits, O(rooms x profiles that wait) for each
 * start: with the 7 profiles of an A100 at most 44 rooms. No memory is taken. */
bool mig_choose(const struct mig_game *game, const struct mig_gpu *gpus, uint32_t count,
                uint32_t profile, const struct mig_demand *demand, struct mig_choice *out);
