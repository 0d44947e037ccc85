/* SPDX-License-Identifier: Apache-2.0 */
/* rng.h - pseudo-random numbers: xoshiro256** seeded through splitmix64.
 *
 * The same seed gives the same numbers on every machine. All chance in berth comes from here, and
 * every seed is stated by somebody. */
#pragma once
#include <stdint.h>

struct rng {
    uint64_t s[4]; /* never all zero */
};

void rng_init(struct rng *rng, uint64_t seed);

/* Any 64-bit number. */
uint64_t rng_next(struct rng *rng);

/* A number of 0..n-1, each equally likely. n is at least 1. */
uint64_t rng_below(struct rng *rng, uint64_t n);

/* Puts [n] elements into an order drawn evenly from all orders (Fisher-Yates from the end). */
void rng_shuffle_u32(struct rng *rng, uint32_t *a, uint32_t n);
