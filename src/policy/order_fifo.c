/* SPDX-License-Identifier: Apache-2.0 */
/* order_fifo.c - first come, first served: with first fit for those behind, and strictly. */
#include "policy/policies.h"

/* All keys are equal, so the sequence decides. */
static int64_t fifo_key(void *state, const struct core *core, uint32_t job, int64_t now_us)
{
    (void)state;
    (void)core;
    (void)job;
    (void)now_us;
    return 0;
}

const struct order_policy order_fifo = {
    .name = "fifo",
    .summary = "first come, first served; who does not fit is passed by",
    .preempts = PREEMPT_NEVER,
    .hysteresis_ppm = 1000000,
    .key = fifo_key,
};

const struct order_policy order_fifo_strict = {
    .name = "fifo-strict",
    .summary = "first come, first served; who does not fit holds back all behind",
    .preempts = PREEMPT_NEVER,
    .blocks = true,
    .hysteresis_ppm = 1000000,
    .key = fifo_key,
};
