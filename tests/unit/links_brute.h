/* SPDX-License-Identifier: Apache-2.0 */
/* links_brute.h - the choice of GPUs again, from its definition in core/subset.h alone: every set
 * is looked at, and every set of what it leaves. Slow, and nothing is shared with subset.c. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* What a set is judged by, first to last. */
enum { BY_BOTTLENECK, BY_OFFER, BY_BROKEN, BY_NUMBERS };

/* MB/s between two GPUs: pairs (0,1) (0,2) (1,2) (0,3) ... */
static inline uint64_t brute_pair(const uint32_t *mbps, uint32_t a, uint32_t b)
{
    const uint32_t low = a < b ? a : b, high = a < b ? b : a;

    return mbps[high * (high - 1) / 2 + low];
}

static inline uint64_t brute_bottleneck(const uint32_t *mbps, uint64_t set)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t a = 0; a < 64; a++)
        for (uint32_t b = a + 1; b < 64 && set >> a != 0; b++)
            if ((set >> a & 1) && (set >> b & 1) && brute_pair(mbps, a, b) < least)
                least = brute_pair(mbps, a, b);
    return least;
}

/* Sum over sizes of the widest bottleneck; sets of `rest` one by one. */
static inline uint64_t brute_offer(const uint32_t *mbps, uint64_t rest)
{
    uint64_t widest[65] = {0}, sum = 0;

    for (uint64_t set = rest; set != 0; set = (set - 1) & rest) {
        const uint32_t size = (uint32_t)__builtin_popcountll(set);
        const uint64_t narrow = size > 1 ? brute_bottleneck(mbps, set) : 0;

        if (narrow > widest[size])
            widest[size] = narrow;
    }
    for (uint32_t size = 2; size <= 64; size++)
        sum += widest[size];
    return sum;
}

static inline uint64_t brute_broken(const uint32_t *mbps, uint64_t set, uint64_t rest)
{
    uint64_t sum = 0;

    for (uint32_t a = 0; a < 64; a++)
        for (uint32_t b = 0; b < 64; b++)
            if ((set >> a & 1) && (rest >> b & 1))
                sum += brute_pair(mbps, a, b);
    return sum;
}

/* 1: a goes first; -1: b does; 0: they are equal by this. offers: [sets] what was worked out
 * before, plus one, or NULL. */
static inline int brute_compare(const uint32_t *mbps, uint64_t free, uint64_t a, uint64_t b, int by,
                                uint64_t *offers)
{
    uint64_t x = 0, y = 0;

    if (by == BY_BOTTLENECK) {
        x = brute_bottleneck(mbps, a);
        y = brute_bottleneck(mbps, b);
    } else if (by == BY_OFFER) {
        const uint64_t rests[2] = {free & ~a, free & ~b};
        uint64_t found[2];

        for (int i = 0; i < 2; i++) {
            found[i] = offers != NULL && offers[rests[i]] > 0 ? offers[rests[i]] - 1
                                                              : brute_offer(mbps, rests[i]);
            if (offers != NULL)
                offers[rests[i]] = found[i] + 1;
        }
        x = found[0];
        y = found[1];
    } else if (by == BY_BROKEN) {
        y = brute_broken(mbps, a, free & ~a);
        x = brute_broken(mbps, b, free & ~b);
    } else {
        for (uint32_t gpu = 0; gpu < 64 && x == y; gpu++) {
            x = a >> gpu & 1;
            y = b >> gpu & 1;
        }
    }
    return x > y ? 1 : x < y ? -1 : 0;
}

/* The best set. skip: a criterion that is passed over, or -1. */
static inline uint64_t brute_subset(const uint32_t *mbps, uint64_t free, uint32_t wanted, int skip,
                                    uint64_t *offers)
{
    uint64_t best = 0;

    for (uint64_t set = free; set != 0; set = (set - 1) & free) {
        int first = best == 0;

        if ((uint32_t)__builtin_popcountll(set) != wanted)
            continue;
        for (int by = BY_BOTTLENECK; by <= BY_NUMBERS && first == 0; by++)
            if (by != skip)
                first = brute_compare(mbps, free, set, best, by, offers);
        if (first > 0)
            best = set;
    }
    return best;
}
