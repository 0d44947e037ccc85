/* SPDX-License-Identifier: Apache-2.0 */
/* place_worstfit.c - the node with the most GPU compute free: spreads load, and is what some
 * published simulators do. */
#include "policy/policies.h"

static int64_t worstfit_score(const void *state, const struct core *core,
                              const struct state_view *view, const struct request *request,
                              uint32_t *out_slot)
{
    (void)state;
    (void)core;
    (void)request;
    (void)out_slot;
    return view->free_mgpu;
}

const struct placement_policy place_worstfit = {
    .name = "worstfit",
    .summary = "the node with the most GPU compute free",
    .totals_only = true,
    .score = worstfit_score,
};
