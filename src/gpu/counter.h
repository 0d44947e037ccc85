/* SPDX-License-Identifier: Apache-2.0 */
/* counter.h - differences of device counters that may run backwards.
 *
 * Energy and error counters begin anew when a driver is reloaded or a device is reset, and figures
 * that were read one after the other need not agree with each other. A difference below nothing is
 * nothing, and is counted: never 2^64 minus a little. */
#pragma once
#include <stdint.h>

#include "gpu/reading.h"

struct counter {
    struct reading last;
    uint64_t total;     /* what was added up since counter_init, whatever the device forgot */
    uint32_t backwards; /* how often it ran backwards */
};

/* What the device counted since the last call; 0 for the first one, for an absent reading, and for
 * one that is smaller than the last: then counting goes on from there. */
uint64_t counter_take(struct counter *counter, struct reading now);

/* a - b, or 0, with *clamped one more, when b is larger. */
uint64_t less_clamped(uint64_t a, uint64_t b, uint32_t *clamped);
