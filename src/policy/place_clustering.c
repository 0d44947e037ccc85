/* SPDX-License-Identifier: Apache-2.0 */
/* place_clustering.c - tasks of one size together: shares with shares, k GPUs with k GPUs.
 *
 * As published with FGD: a band by what runs on the node, and within it the fuller node. */
#include "policy/policies.h"

#define BAND      25
#define MGPU_FULL 8000

static int64_t clustering_score(const void *state, const struct core *core,
                                const struct state_view *view, const struct request *request,
                                uint32_t *out_slot)
{
    const uint32_t gpus = request->shape->gpus;
    const bool share = gpus == 1 && request->need.mgpu < GPU_MGPU;
    const uint64_t own = 1ull << (share ? 0 : gpus < 64 ? gpus : 63);
    int64_t band;

    (void)state;
    (void)core;
    if (gpus == 0)
        return 0;
    *out_slot = slot_fullest(view, &request->need);
    if (view->kinds & own)
        band = view->kinds == own ? 3 : 2;
    else
        band = view->kinds == 0;
    return band * BAND + BAND * (MGPU_FULL - (int64_t)view->free_mgpu) / MGPU_FULL;
}

const struct placement_policy place_clustering = {
    .name = "clustering",
    .summary = "tasks of one size together",
    .tie = TIE_FIRST_NODE,
    .sees_kinds = true,
    .score = clustering_score,
};
