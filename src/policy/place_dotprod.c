/* SPDX-License-Identifier: Apache-2.0 */
/* place_dotprod.c - the node whose free CPU and GPU compute are least like the request.
 *
 * As published with FGD: floor(100 (1 - (cpu free * cpu + mgpu free * mgpu) / 2)), each over that
 * of a node with 128 CPUs and 8 GPUs. */
#include "policy/policies.h"

#define CPU_MCPU_FULL INT64_C(128000)
#define MGPU_AS_MCPU  16                 /* 128000 / 8000 */
#define AMOUNT_MAX    INT64_C(100000000) /* of a factor, so that products stay in 64 bits */

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static int64_t capped(int64_t amount)
{
    return amount < AMOUNT_MAX ? amount : AMOUNT_MAX;
}

static int64_t dotprod_score(const void *state, const struct core *core,
                             const struct state_view *view, const struct request *request,
                             uint32_t *out_slot)
{
    const int64_t full = 2 * CPU_MCPU_FULL * CPU_MCPU_FULL;
    const int64_t mgpu = (int64_t)request->shape->gpus * request->need.mgpu;
    const int64_t cpu_part = capped(view->cpu_free_mcpu) * capped(request->shape->cpu_mcpu);
    const int64_t gpu_part = view->free_mgpu * mgpu * MGPU_AS_MCPU * MGPU_AS_MCPU;

    (void)state;
    (void)core;
    (void)out_slot; /* the fullest GPU that fits */
    return floor_div(full - cpu_part - gpu_part, full / 100);
}

const struct placement_policy place_dotprod = {
    .name = "dotprod",
    .summary = "the node whose free CPU and GPU are least like the request",
    .totals_only = true,
    .tie = TIE_FIRST_NODE,
    .score = dotprod_score,
};
