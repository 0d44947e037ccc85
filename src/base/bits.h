/* SPDX-License-Identifier: Apache-2.0 */
/* bits.h - single bits: mask_* on one 64-bit word, bit_set_* on an array of words.
 *
 * A bit set is uint64_t words[bit_set_words(n)] of its owner; bit i is bit i % 64 of word i / 64.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/check.h"

#define BITS_NONE UINT32_MAX

static inline uint32_t mask_popcount(uint64_t mask)
{
    return (uint32_t)__builtin_popcountll(mask);
}

/* Index of the lowest bit that is set. mask is not 0. */
static inline uint32_t mask_lowest(uint64_t mask)
{
    check(mask != 0);
    return (uint32_t)__builtin_ctzll(mask);
}

/* mask without its lowest bit; for (m = mask; m; m = mask_drop_lowest(m)) visits each bit. */
static inline uint64_t mask_drop_lowest(uint64_t mask)
{
    return mask & (mask - 1);
}

/* The lowest n bits set, n in 0..64. */
static inline uint64_t mask_first(uint32_t n)
{
    check(n <= 64);
    return n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

static inline uint64_t mask_bit(uint32_t i)
{
    check(i < 64);
    return UINT64_C(1) << i;
}

/* Words needed for n bits. */
static inline uint32_t bit_set_words(uint32_t n)
{
    return n / 64 + (n % 64 != 0);
}

static inline bool bit_set_get(const uint64_t *words, uint32_t i)
{
    return (words[i / 64] >> (i % 64)) & 1;
}

static inline void bit_set_set(uint64_t *words, uint32_t i)
{
    words[i / 64] |= UINT64_C(1) << (i % 64);
}

static inline void bit_set_clear(uint64_t *words, uint32_t i)
{
    words[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

static inline uint32_t bit_set_popcount(const uint64_t *words, uint32_t word_count)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < word_count; i++)
        count += mask_popcount(words[i]);
    return count;
}

/* Index of the lowest bit that is set and is not below from, or BITS_NONE. */
static inline uint32_t bit_set_next(const uint64_t *words, uint32_t word_count, uint32_t from)
{
    for (uint32_t i = from / 64; i < word_count; i++) {
        uint64_t word = i == from / 64 ? words[i] & (UINT64_MAX << (from % 64)) : words[i];

        if (word)
            return i * 64 + mask_lowest(word);
    }
    return BITS_NONE;
}

/* Index of the lowest bit that is set, or BITS_NONE. */
static inline uint32_t bit_set_lowest(const uint64_t *words, uint32_t word_count)
{
    return bit_set_next(words, word_count, 0);
}
