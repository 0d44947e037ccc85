/* SPDX-License-Identifier: Apache-2.0 */
/* place_bestfit.c - the node with least CPU and GPU compute left after the placement.
 *
 * As published with FGD: floor(100 (1 - left cpu / 128000 / 2 - left mgpu / 8000 / 2)). The
 * published rescaling to 0..100 over the nodes that fit keeps order and ties, so it is left out. */
#include "policy/policies.h"

#define CPU_MCPU_FULL 128000
#define MGPU_FULL     8000
#define MGPU_AS_MCPU  (CPU_MCPU_FULL / MGPU_FULL)

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static int64_t bestfit_score(const void *state, const struct core *core,
                             const struct state_view *view, const struct request *request,
                             uint32_t *out_slot)
{
    const int64_t cpu_left = view->cpu_free_mcpu - request->shape->cpu_mcpu;
    const int64_t mgpu_left =
        (int64_t)view->free_mgpu - (int64_t)request->shape->gpus * request->need.mgpu;

    (void)state;
    (void)core;
    (void)out_slot; /* the fullest GPU that fits */
    return floor_div(100 * (2 * (int64_t)CPU_MCPU_FULL - cpu_left - mgpu_left * MGPU_AS_MCPU),
                     2 * (int64_t)CPU_MCPU_FULL);
}

const struct placement_policy place_bestfit = {
    .name = "bestfit",
    .summary = "the node with least CPU and GPU left",
    .totals_only = true,
    .tie = TIE_FIRST_NODE,
    .score = bestfit_score,
};
