/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_mig.c - the instances that really stand on GPUs, whatever the core was told. They are
 * made when a task is started with one, and stay when it has gone. */
#include <string.h>

#include "base/bits.h"
#include "base/vec.h"
#include "sim/scenario_impl.h"

static bool is_on(const struct sc_instance *instance, const char *node, uint32_t gpu)
{
    return instance->gpu == gpu && strcmp(instance->node, node) == 0;
}

/* All that stand there, as the GPU's layout. */
static struct mig_gpu standing(const struct sc *sc, const char *node, uint32_t gpu)
{
    struct mig_gpu all = {0};

    for (uint32_t i = 0; i < sc->instance_count; i++)
        if (is_on(&sc->instances[i], node, gpu))
            all.layout =
                mig_layout_with(all.layout, sc->instances[i].profile, sc->instances[i].start);
    return all;
}

bool sc_is_split(const struct sc *sc, const char *node, uint32_t gpu)
{
    return standing(sc, node, gpu).layout != 0;
}

void sc_forget_instances(struct sc *sc, const char *node)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < sc->instance_count; i++)
        if (strcmp(sc->instances[i].node, node) != 0)
            sc->instances[kept++] = sc->instances[i];
    sc->instance_count = kept;
}

static void have(struct sc *sc, struct sc_task *task, const struct mig_type *type,
                 struct sc_instance *instance, const struct task_place *place)
{
    const struct mig_gpu now = standing(sc, task->node, instance->gpu);
    const bool stands = mig_gpu_at(&now, instance->start) == instance->profile;
    const bool elsewhere = sc_behaviour(sc, task->job, task->task)->takes[0] != '\0';

    task->mig_slices = mig_slices(&type->profiles[instance->profile], instance->start);
    if (stands && elsewhere)
        return;
    if (!place->mig_new && !elsewhere && !stands)
        sc_broken(sc, "no %s stands at %u of GPU %u of %s", place->mig_profile, instance->start,
                  instance->gpu, task->node);
    else if (!place->mig_new && !elsewhere)
        return;
    else if (!(mig_gpu_starts(type, &now, instance->profile) >> instance->start & 1))
        sc_broken(sc, "a %s cannot be made at %u of GPU %u of %s", place->mig_profile,
                  instance->start, instance->gpu, task->node);
    else
        vec_push(sc->instances, sc->instance_count, sc->instance_cap, *instance);
}

void sc_have_instance(struct sc *sc, struct sc_task *task, const struct task_place *place)
{
    const struct mig_type *type = sc->node_gpu[names_intern(&sc->nodes, task->node)].mig;
    struct sc_instance instance = {.node = task->node, .start = task->mig_start};

    if (place->mig_profile == NULL)
        return;
    instance.gpu = mask_lowest(task->gpu_mask);
    if (type == NULL || mig_profile_find(type, place->mig_profile, &instance.profile, NULL) < 0)
        sc_broken(sc, "GPU %u of %s has no MIG profile %s", instance.gpu, task->node,
                  place->mig_profile);
    else
        have(sc, task, type, &instance, place);
}
