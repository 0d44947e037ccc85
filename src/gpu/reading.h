/* SPDX-License-Identifier: Apache-2.0 */
/* reading.h - a value that was read from a device, or its absence.
 *
 * What a driver does not offer is absent, never 0: no utilisation of a MIG device is not a
 * utilisation of nothing. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct reading {
    uint64_t value; /* 0 unless known */
    bool known;
};

static inline struct reading reading_of(uint64_t value)
{
    return (struct reading){.value = value, .known = true};
}

static inline struct reading reading_absent(void)
{
    return (struct reading){0};
}

static inline bool reading_equal(struct reading a, struct reading b)
{
    return a.known == b.known && a.value == b.value;
}

static inline bool reading_is(struct reading reading, uint64_t value)
{
    return reading.known && reading.value == value;
}
