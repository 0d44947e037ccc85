/* SPDX-License-Identifier: Apache-2.0 */
/* victims.h - the running jobs that may give way, worst first.
 *
 * The list stays between steps, because the next one is nearly the same: bringing it up to date
 * costs O(running jobs) and little sorting. Its order is total, so it does not depend on that. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct core;

struct victim {
    int64_t key; /* after hysteresis */
    uint64_t sequence;
    uint32_t job;
};

struct victims {
    struct victim *list; /* [count] largest key first, then the later submission */
    uint32_t count, cap;
    uint64_t *listed; /* [listed_cap] by job row: the round in which it was listed */
    uint32_t listed_cap;
    uint64_t round;
};

/* The key by which the job is compared now. A running job's counts less than a waiting one's, by
 * the order's hysteresis, or equal jobs would swap for ever. */
int64_t job_order_key(struct core *core, uint32_t job);

/* Bring the list up to date; once a step, before victims_above(). */
void victims_refresh(struct core *core);

/* How many of them, from the front, have a larger key than this. O(log running). */
uint32_t victims_above(const struct core *core, int64_t key);

void victims_done(struct victims *victims);
