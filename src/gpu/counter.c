/* SPDX-License-Identifier: Apache-2.0 */
/* counter.c - differences of device counters that may run backwards. */
#include "gpu/counter.h"

uint64_t less_clamped(uint64_t a, uint64_t b, uint32_t *clamped)
{
    if (b <= a)
        return a - b;
    *clamped += 1;
    return 0;
}

uint64_t counter_take(struct counter *counter, struct reading now)
{
    uint64_t grown = 0;

    if (!now.known)
        return 0;
    if (counter->last.known)
        grown = less_clamped(now.value, counter->last.value, &counter->backwards);
    counter->last = now;
    counter->total += grown;
    return grown;
}
