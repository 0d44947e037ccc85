/* SPDX-License-Identifier: Apache-2.0 */
/* victims.h - the running jobs that might give way, worst first: of the class of the lowest rank,
 * then of the largest key where their order takes, then the latest submission.
 *
 * The list stays between steps, because the next one is nearly the same: bringing it up to date
 * costs O(running jobs) and little sorting. Its order is total, so it does not depend on that. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct core;

struct victim {
    uint32_t rank; /* of its class */
    int64_t key;   /* after hysteresis; 0 where the order does not take */
    uint64_t sequence;
    uint32_t job;
};

struct victims {
    struct victim *list; /* [count] worst first */
    uint32_t count, cap;
    uint64_t *listed; /* [listed_cap] by job row: the round in which it was listed */
    uint32_t listed_cap;
    uint64_t round;
};

/* The key by which the job is compared now. A running job's counts less than a waiting one's, by
 * the order's hysteresis, or equal jobs would swap for ever. */
int64_t job_order_key(struct core *core, uint32_t job);

/* Bring the list up to date; once a step, before anybody is made to give way. */
void victims_refresh(struct core *core);

void victims_done(struct victims *victims);
