/* SPDX-License-Identifier: Apache-2.0 */
/* order_las.c - least attained service first: run time so far x GPUs.
 *
 * Knows nothing and learns nothing: young jobs go first, which is good where most jobs are short
 * (2D-LAS of Tiresias, NSDI'19, without its queues). Without hysteresis two jobs of equal service
 * would take turns for ever, so a waiting job must be a factor of 2 better; and every job counts
 * as having had a little service, or each arrival would stop jobs that have only just begun. */
#include "core/view.h"
#include "policy/policies.h"

__extension__ typedef __int128 wide;

#define HEAD_START_US 300000000 /* GPU run time */
#define RECHECK_US    300000000

static int64_t las_key(void *state, const struct core *core, uint32_t job, int64_t now_us)
{
    const struct job *row = core_job(core, job);
    const wide service =
        (wide)job_attained_us(row, now_us) * core_gang(core, row->gang)->mgpu / 1000 +
        HEAD_START_US;

    (void)state;
    return service < INT64_MAX ? (int64_t)service : INT64_MAX;
}

/* A key that has grown by a 64th, but not more often than every five minutes: with jobs that ran
 * for months it is not worth more. */
static int64_t las_next_change_us(const void *state, const struct core *core, uint32_t job,
                                  int64_t now_us)
{
    const int64_t part_us = job_attained_us(core_job(core, job), now_us) / 64;

    (void)state;
    return now_us + (part_us > RECHECK_US ? part_us : RECHECK_US);
}

const struct order_policy order_las = {
    .name = "las",
    .summary = "least attained service (run time x GPUs)",
    .preempts = PREEMPT_TAKE,
    .hysteresis_ppm = 2000000,
    .key = las_key,
    .next_change_us = las_next_change_us,
};
