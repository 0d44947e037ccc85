/* SPDX-License-Identifier: Apache-2.0 */
/* price_math.c - the tables behind price_math.h. Reads nothing, keeps nothing but its tables. */
#include "policy/price_math.h"

#include "base/check.h"

#define LOG_BITS     24                   /* binary places of log2_q24() */
#define T_LN2_Q16    11629080             /* T ln 2 = 177.445678.. */
#define EXP_STEP_Q32 UINT64_C(4278222805) /* e^(-1 / T) */

/* log2 of x, 1 <= x < 2, both with the binary point stated: squaring doubles the logarithm, so its
 * binary digits fall out one by one. */
static uint32_t log2_q24(uint64_t x_q31)
{
    uint32_t log = 0;

    for (uint32_t i = 0; i < LOG_BITS; i++) {
        x_q31 = (x_q31 * x_q31) >> 31;
        log <<= 1;
        if (x_q31 >> 32) {
            x_q31 >>= 1;
            log |= 1;
        }
    }
    return log;
}

/* T ln x, rounded; 1 <= x <= 2. */
static uint8_t t_ln(uint64_t x_q31)
{
    const uint64_t log2 = x_q31 >> 32 ? 1u << LOG_BITS : log2_q24(x_q31);

    return (uint8_t)((log2 * T_LN2_Q16 + (UINT64_C(1) << 39)) >> 40);
}

void price_math_init(struct price_math *m)
{
    uint64_t e_q32 = UINT64_C(1) << 32; /* e^(-d / T) */

    for (uint32_t d = 0; d < PRICE_EXP_COUNT; d++) {
        m->exp[d] = (int32_t)((e_q32 + (1u << 11)) >> 12);
        if (d < PRICE_ADD_COUNT)
            m->add[d] = t_ln((UINT64_C(1) << 31) + (e_q32 >> 1));
        e_q32 = (e_q32 * EXP_STEP_Q32 + (1u << 31)) >> 32;
    }
    for (uint32_t i = 0; i < PRICE_LN_COUNT; i++)
        m->ln[i] = t_ln((UINT64_C(1) << 31) + ((uint64_t)i << 23));
}

int32_t price_ln(const struct price_math *m, uint64_t x)
{
    uint32_t bits;
    uint64_t top;

    check(x > 0);
    bits = 63u - (uint32_t)__builtin_clzll(x);
    top = x << (63 - bits);
    return (int32_t)((bits * (uint64_t)T_LN2_Q16 + (1u << 15)) >> 16) + m->ln[top >> 55 & 255];
}
