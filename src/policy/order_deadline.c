/* SPDX-License-Identifier: Apache-2.0 */
/* order_deadline.c - earliest deadline first. It never stops a running job.
 *
 * Jobs without a deadline go after all that have one, by submission. A deadline that has passed, or
 * that cannot be kept, is as urgent as it was: the job is late, but still the first that should
 * have ended. */
#include "core/view.h"
#include "policy/policies.h"

static int64_t deadline_key(void *state, const struct core *core, uint32_t job, int64_t now_us)
{
    (void)state;
    (void)now_us;
    return core_job(core, job)->deadline_us; /* TIME_NONE is the largest key */
}

const struct order_policy order_deadline = {
    .name = "deadline",
    .summary = "earliest deadline; jobs without one go after all that have one",
    .preempts = PREEMPT_NEVER,
    .hysteresis_ppm = 1000000,
    .key = deadline_key,
};
