/* SPDX-License-Identifier: Apache-2.0 */
/* price_math.h - logarithms and exponentials of prices, in integers.
 *
 * Prices are logarithms: T = 256 units multiply a weight by e. Weights themselves are never formed;
 * sums of weights are taken on their logarithms (price_add). Tables are worked out once, by integer
 * arithmetic alone, so they are the same on every machine. */
#pragma once
#include <stdint.h>

#define PRICE_T         256       /* units of one natural logarithm */
#define PRICE_ONE       (1 << 20) /* 1.0 of what price_exp gives, and of task and node counts */
#define PRICE_ADD_COUNT 2048      /* beyond, the smaller weight adds nothing */
#define PRICE_EXP_COUNT 4096      /* beyond, e^(-d / T) is 0 */
#define PRICE_LN_COUNT  256

struct price_math {
    uint8_t add[PRICE_ADD_COUNT]; /* T ln(1 + e^(-d / T)), rounded */
    uint8_t ln[PRICE_LN_COUNT];   /* T ln(1 + i / 256), rounded */
    int32_t exp[PRICE_EXP_COUNT]; /* PRICE_ONE e^(-d / T), rounded */
};

void price_math_init(struct price_math *m);

/* T ln x, within 1; x at least 1. */
int32_t price_ln(const struct price_math *m, uint64_t x);

/* T ln(e^(a / T) + e^(b / T)), within 1. */
static inline int32_t price_add(const struct price_math *m, int32_t a, int32_t b)
{
    const int32_t larger = a > b ? a : b;
    const int32_t apart = a > b ? a - b : b - a;

    return larger + m->add[apart < PRICE_ADD_COUNT ? apart : PRICE_ADD_COUNT - 1];
}

/* PRICE_ONE e^(x / T) for x up to 0; larger x count as 0. */
static inline int64_t price_exp(const struct price_math *m, int64_t x)
{
    if (x >= 0)
        return PRICE_ONE;
    return x > -PRICE_EXP_COUNT ? m->exp[-x] : 0;
}
