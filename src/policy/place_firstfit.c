/* SPDX-License-Identifier: Apache-2.0 */
/* place_firstfit.c - the first node that fits. */
#include "policy/policies.h"

static int64_t firstfit_score(const void *state, const struct core *core,
                              const struct state_view *view, const struct request *request,
                              uint32_t *out_slot)
{
    (void)state;
    (void)core;
    (void)view;
    (void)request;
    (void)out_slot; /* the fullest GPU that fits */
    return 0;
}

const struct placement_policy place_firstfit = {
    .name = "firstfit",
    .summary = "the first node that fits",
    .totals_only = true,
    .tie = TIE_FIRST_NODE,
    .score = firstfit_score,
};
