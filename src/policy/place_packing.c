/* SPDX-License-Identifier: Apache-2.0 */
/* place_packing.c - GPUs that are in use first, then free ones of nodes in use, then idle nodes.
 *
 * As published with FGD (after Gandiva): three bands of scores, highest first. */
#include "policy/policies.h"

#define IDLE_NODE 33
#define FREE_GPU  50
#define USED_GPU  100

static int64_t max_i64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t packing_score(const void *state, const struct core *core,
                             const struct state_view *view, const struct request *request,
                             uint32_t *out_slot)
{
    const uint32_t whole_from = view->gpu_count - view->whole_free;
    uint32_t wanted = request->shape->gpus, free_used = 0;
    int64_t left_pct = 0;

    (void)state;
    (void)core;
    if (wanted == 0)
        return 0;
    *out_slot = slot_fullest(view, &request->need);
    if (view->whole_free == view->gpu_count)
        return max_i64(IDLE_NODE - (int64_t)view->gpu_count, view->gpu_count);
    for (uint32_t i = 0; i < view->gpu_count && wanted > 0; i++) {
        if (!view_gpu_has(view, i, &request->need))
            continue;
        wanted--;
        free_used += i >= whole_from;
        left_pct += view->gpu_free_mgpu[i] / 10;
    }
    if (free_used > 0)
        return max_i64(FREE_GPU - (int64_t)free_used, IDLE_NODE);
    return max_i64(USED_GPU - left_pct / 10, FREE_GPU);
}

const struct placement_policy place_packing = {
    .name = "packing",
    .summary = "GPUs in use first, then nodes in use, then idle nodes",
    .tie = TIE_FIRST_NODE,
    .score = packing_score,
};
