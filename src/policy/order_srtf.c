/* SPDX-License-Identifier: Apache-2.0 */
/* order_srtf.c - shortest remaining time, or service, first. Oracles: bounds to compare with.
 *
 * srtf orders by the run time that is left, srsf by that times the GPUs (Tiresias NSDI'19 and Muri
 * SIGCOMM'22 compare with both). The key of a waiting job changes only when an oracle's word comes
 * in, and then the core asks again. */
#include "core/view.h"
#include "policy/policies.h"

__extension__ typedef __int128 wide;

static int64_t srtf_key(void *state, const struct core *core, uint32_t job, int64_t now_us)
{
    (void)state;
    return job_remaining_us(core_job(core, job), now_us);
}

static int64_t srsf_key(void *state, const struct core *core, uint32_t job, int64_t now_us)
{
    const struct job *row = core_job(core, job);
    const wide service = (wide)job_remaining_us(row, now_us) * core_gang(core, row->gang)->mgpu;

    (void)state;
    return service < INT64_MAX ? (int64_t)service : INT64_MAX;
}

const struct order_policy order_srtf = {
    .name = "srtf",
    .summary = "least remaining run time (an oracle)",
    .preempts = PREEMPT_TAKE,
    .oracle = true,
    .hysteresis_ppm = 1000000,
    .key = srtf_key,
};

const struct order_policy order_srsf = {
    .name = "srsf",
    .summary = "least remaining run time x GPUs (an oracle)",
    .preempts = PREEMPT_TAKE,
    .oracle = true,
    .hysteresis_ppm = 1000000,
    .key = srsf_key,
};
