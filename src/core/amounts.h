/* SPDX-License-Identifier: Apache-2.0 */
/* amounts.h - vectors of resources: GPU compute, GPU memory, CPU and memory. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum resource { RES_GPU_MGPU, RES_GPU_BYTES, RES_CPU_MCPU, RES_MEMORY_BYTES, RES_COUNT };

#define AMOUNT_NONE INT64_MAX /* of a bound: there is none */

/* No sum of amounts gets above this: submit.c and node_facts.c see to it. */
#define AMOUNT_SUM_MAX (INT64_C(1) << 61)

struct amounts {
    int64_t of[RES_COUNT];
};

static inline void amounts_add(struct amounts *to, const struct amounts *more, int sign)
{
    for (int r = 0; r < RES_COUNT; r++)
        to->of[r] += sign * more->of[r];
}

/* a + b, both 0 or more; AMOUNT_NONE where that is more than there can be. */
static inline int64_t amount_sum(int64_t a, int64_t b)
{
    return a > AMOUNT_NONE - b ? AMOUNT_NONE : a + b;
}

static inline bool amounts_are_zero(const struct amounts *a)
{
    for (int r = 0; r < RES_COUNT; r++)
        if (a->of[r] != 0)
            return false;
    return true;
}

/* Is no amount of a larger than that of b? */
static inline bool amounts_within(const struct amounts *a, const struct amounts *b)
{
    for (int r = 0; r < RES_COUNT; r++)
        if (a->of[r] > b->of[r])
            return false;
    return true;
}
