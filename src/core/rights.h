/* SPDX-License-Identifier: Apache-2.0 */
/* rights.h - from which running jobs a waiting one may take.
 *
 *   class    from a class of a lower rank than its own says
 *   order    from its own class, if both go by the same order and that takes: from a larger key
 *   reclaim  from a queue that holds more than it is entitled to, for one that does not
 *
 * Class and order reach into another queue only as far as that keeps what it is entitled to, or
 * while the taker's own holds no more than it is. So what was taken back cannot be taken again: who
 * has lost it is not entitled to more than it holds, and the other one not above.
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

/* Could the job have a right over anybody? Never false if it has one. O(classes + depth). */
bool rights_some(const struct core *core, uint32_t job);

/* Has it one over this running job, or a task of it, which holds so much? O(depth). */
struct amounts;
bool rights_over(struct core *core, uint32_t job, uint32_t victim, const struct amounts *held,
                 enum overshoot overshoot);
