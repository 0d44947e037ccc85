/* SPDX-License-Identifier: Apache-2.0 */
/* rights.h - from which running jobs a waiting one may take; by class also from which claims
 * (claim.h).
 *
 *   class    from a class of a lower rank than its own says
 *   order    from its own class, if both go by the same order and that takes: from a larger key
 *   reclaim  from a queue that holds more than it is entitled to, for one that does not
 *
 * Class and order reach into another queue only as far as that keeps what it is entitled to; class
 * also while the taker's own holds no more than it is. And only where no queue beside one that the
 * taker stands in could reclaim it there, for then it would take again. So what was taken back
 * cannot be taken again: who has lost it is not entitled to more than it holds, and the other one
 * not above. tests/sim/s_rest.c looks for turns without end.
 *
 * Several jobs could still take turns by several of these rights; by one alone they cannot. In such
 * a round each job takes, and gives way soon after, and to one of those that took by class or order
 * that happens by another right than its own. Who had that happen twice in a row by the same job
 * within YIELD_SOON_US of its start takes by its class and its order from nobody for
 * TAKES_AGAIN_US, after a third time for twice as long, and so on; so in any time there are only so
 * many rounds as doublings fit. What a queue is entitled to it may reclaim all the while.
 *
 * All is judged by the books as they stand, so a plan that grows writes what it takes into them. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct core;

/* By what one job takes from another; bits, for what it took by from several. */
enum right {
    RIGHT_NONE = 0,
    RIGHT_CLASS = 1,
    RIGHT_ORDER = 2,
    RIGHT_RECLAIM = 4,
};
#define RIGHTS_ALL 7u

enum overshoot {
    OVERSHOOT_NEVER, /* reclaim leaves the other queue what it is entitled to */
    OVERSHOOT_ONCE,  /* it may fall below by the last job that it loses */
};

/* It is told to give way to this job, by its id, which takes by this right; or so is its claim. */
void rights_gave_way(struct core *core, uint32_t job, enum right by, uint64_t to);

/* Could the job have a right over anybody? Never false if it has one. O(classes + depth). */
bool rights_some(const struct core *core, uint32_t job);

/* Which has it over this running job, or this job with a claim, or a task of it? `task` is its
 * index, ROW_NONE = all of them. O(1) within a queue, O(depth + tasks of the victim) between
 * queues. */
enum right rights_over(struct core *core, uint32_t job, uint32_t victim, uint32_t task,
                       enum overshoot overshoot);

/* So many of core->victims, the first ones, are all that it could have a right over; nothing is
 * said of each of these. Needs victims_refresh() in the same step. O(depth + log victims). */
uint32_t rights_reach(struct core *core, uint32_t job);
