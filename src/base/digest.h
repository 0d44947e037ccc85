/* SPDX-License-Identifier: Apache-2.0 */
/* digest.h - a 64-bit digest fed field by field: the same fields in the same order, the same value.
 *
 * Feed fields, never whole structs (padding has no value). Each word is mixed by two multiply and
 * xorshift rounds. Not cryptographic: it finds differences, it does not resist an attacker. */
#pragma once
#include <stdint.h>

struct digest {
    uint64_t v;
};

static inline void digest_init(struct digest *digest)
{
    digest->v = 0x243f6a8885a308d3u;
}

static inline void digest_u64(struct digest *digest, uint64_t word)
{
    uint64_t mixed = (word + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;

    mixed ^= mixed >> 32;
    mixed = (mixed ^ digest->v) * 0xd6e8feb86659fd93u;
    digest->v = mixed ^ (mixed >> 32);
}

static inline void digest_i64(struct digest *digest, int64_t word)
{
    digest_u64(digest, (uint64_t)word);
}

static inline void digest_u32(struct digest *digest, uint32_t word)
{
    digest_u64(digest, word);
}

/* The length and the bytes of text, so that "ab","c" differs from "a","bc". */
void digest_text(struct digest *digest, const char *text);

/* The digest of what was fed so far; more may be fed after it. */
uint64_t digest_value(const struct digest *digest);
