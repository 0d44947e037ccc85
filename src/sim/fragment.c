/* SPDX-License-Identifier: Apache-2.0 */
/* fragment.c - free GPU compute that typical tasks of a trace cannot use. */
#include "sim/fragment.h"

#include <string.h>

#include "core/view.h"
#include "sim/mix.h"
#include "wire/trace.h"

__extension__ typedef __int128 wide;

static bool model_allowed(const struct core *core, const struct group_spec *group,
                          const struct state_view *view)
{
    for (uint32_t i = 0; i < group->model_count; i++)
        if (strcmp(group->models[i], core_name(core, view->class->model)) == 0)
            return true;
    return group->model_count == 0;
}

static uint32_t unusable_mgpu(const struct core *core, const struct group_spec *group,
                              const struct state_view *view)
{
    const uint32_t asked = group->gpu_mgpu > 0 ? group->gpu_mgpu : GPU_MGPU;
    uint32_t fitting = 0, pieces = 0;

    if (group->gpus == 0 || view->cpu_free_mcpu < group->cpu_mcpu ||
        !model_allowed(core, group, view))
        return view->free_mgpu;
    for (uint32_t i = 0; i < view->gpu_count; i++) {
        fitting += view->gpu_free_mgpu[i] >= asked;
        pieces += view->gpu_free_mgpu[i] < asked ? view->gpu_free_mgpu[i] : 0;
    }
    return fitting >= group->gpus ? pieces : view->free_mgpu;
}

int64_t fragmented_mgpu(const struct core *core, const struct trace *trace)
{
    struct mix mix;
    wide sum = 0;
    uint64_t tasks = 0;

    mix_make(&mix, trace);
    for (uint32_t i = 0; i < mix.count; i++)
        tasks += mix.groups[i].tasks;
    for (uint32_t state = 0; state < core_state_rows(core); state++) {
        struct state_view view;

        if (core_state_nodes(core, state) == 0)
            continue;
        core_state_view(core, state, &view);
        for (uint32_t i = 0; i < mix.count; i++)
            sum += (wide)unusable_mgpu(core, &mix.groups[i], &view) * mix.groups[i].tasks *
                   core_state_nodes(core, state);
    }
    mix_done(&mix);
    return tasks > 0 ? (int64_t)(sum / tasks) : 0;
}
