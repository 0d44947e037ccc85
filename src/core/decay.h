/* SPDX-License-Identifier: Apache-2.0 */
/* decay.h - exponential forgetting in whole numbers. */
#pragma once
#include <stdint.h>

__extension__ typedef __int128 decay_wide;

#define DECAY_BITS 30

/* 2^(-passed / half_life) as a fraction of 2^DECAY_BITS; both above 0. The power series of
 * exp(-x ln 2) below one half-life, where 8 terms are exact to the last bit but one. */
static inline int64_t decay_factor(int64_t passed_us, int64_t half_life_us)
{
    const int64_t one = INT64_C(1) << DECAY_BITS, ln2 = 744261118; /* ln 2 * 2^30 */
    const int64_t halvings = passed_us / half_life_us;
    int64_t x, term, sum = one;

    if (halvings >= DECAY_BITS)
        return 0;
    x = (int64_t)((decay_wide)(passed_us % half_life_us) * ln2 / half_life_us);
    term = one;
    for (int64_t n = 1; n <= 8; n++) {
        term = -(int64_t)((decay_wide)term * x >> DECAY_BITS) / n;
        sum += term;
    }
    return sum >> halvings;
}

/* An average that stood at `past` when it was last looked at, and has seen `level` since. */
static inline int64_t decay_toward(int64_t past, int64_t level, int64_t passed_us,
                                   int64_t half_life_us)
{
    if (passed_us <= 0)
        return past;
    return level + (int64_t)((decay_wide)(past - level) * decay_factor(passed_us, half_life_us) >>
                             DECAY_BITS);
}
