/* SPDX-License-Identifier: Apache-2.0 */
/* victims.h - the running jobs that may give way, worst first. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct core;

struct victim {
    int64_t key; /* after hysteresis */
    uint64_t sequence;
    uint32_t job;
};

/* Worked out at the first need in a step; zero it before. */
struct victims {
    bool known;
    struct victim *list; /* [count] largest key first, then the later submission */
    uint32_t count, cap;
};

/* How many of them, from the front, have a larger key than this. O(running) the first time. */
uint32_t victims_above(struct core *core, struct victims *victims, int64_t key);

void victims_done(struct victims *victims);
