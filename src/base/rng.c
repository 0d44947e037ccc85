/* SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"

#include "base/check.h"

static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t rotl(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

void rng_init(struct rng *rng, uint64_t seed)
{
    for (int i = 0; i < 4; i++)
        rng->s[i] = splitmix64(&seed);
}

uint64_t rng_next(struct rng *rng)
{
    uint64_t *s = rng->s;
    uint64_t result = rotl(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    return result;
}

uint64_t rng_below(struct rng *rng, uint64_t n)
{
    uint64_t uneven, drawn;

    check(n > 0);
    uneven = (UINT64_MAX % n + 1) % n; /* 2^64 mod n: that many lowest draws would weigh double */
    do
        drawn = rng_next(rng);
    while (drawn < uneven);
    return drawn % n;
}

void rng_shuffle_u32(struct rng *rng, uint32_t *a, uint32_t n)
{
    for (uint32_t i = n; i > 1; i--) {
        uint32_t j = (uint32_t)rng_below(rng, i);
        uint32_t swapped = a[i - 1];

        a[i - 1] = a[j];
        a[j] = swapped;
    }
}
