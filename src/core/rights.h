/* SPDX-License-Identifier: Apache-2.0 */
/* rights.h - from which running jobs a waiting one may take.
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
 * Several jobs could still take turns by several of these rights. So who gave way twice in a row
 * within YIELD_SOON_US of its start has no right over anybody for TAKES_AGAIN_US, after a third
 * time for twice as long, and so on. In a round of jobs that take turns each of them gives way in
 * each round, so in any time there are only so many rounds as doublings fit. It takes nothing from
 * what a queue is entitled to: others in it may take, and it may start where there is room.
 *
 * All is judged by the books as they stand, so a plan that grows writes what it takes into them. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct core;

enum overshoot {
    OVERSHOOT_NEVER, /* reclaim leaves the other queue what it is entitled to */
    OVERSHOOT_ONCE,  /* it may fall below by the last job that it loses */
};

/* It was told to give way to another. */
void rights_gave_way(struct core *core, uint32_t job);

/* Could the job have a right over anybody? Never false if it has one. O(classes + depth). */
bool rights_some(const struct core *core, uint32_t job);

/* Has it one over this running job, or a task of it? `task` is its index, ROW_NONE = all of them.
 * O(1) within a queue, O(depth + tasks of the victim) between queues. */
bool rights_over(struct core *core, uint32_t job, uint32_t victim, uint32_t task,
                 enum overshoot overshoot);

/* So many of core->victims, the first ones, are all that it could have a right over; nothing is
 * said of each of these. Needs victims_refresh() in the same step. O(depth + log victims). */
uint32_t rights_reach(struct core *core, uint32_t job);
