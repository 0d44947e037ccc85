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

static void remove_at(struct sc *sc, const char *node, uint32_t gpu, uint32_t start)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < sc->instance_count; i++)
        if (!is_on(&sc->instances[i], node, gpu) || sc->instances[i].start != start)
            sc->instances[kept++] = sc->instances[i];
    sc->instance_count = kept;
}

/* What was begun of the task's instance is undone. */
void sc_no_instance(struct sc *sc, const struct sc_task *task)
{
    if (task->mig_slices != 0)
        remove_at(sc, task->node, mask_lowest(task->gpu_mask), task->mig_start);
}

/* ---- split anew ---- */

#define SPLIT_TAKES_US INT64_C(10000000)

/* None that goes may have a task in it. */
void sc_begin_split(struct sc *sc, const struct decision *d)
{
    const struct task_place *places = sc->world.decisions.places + d->place_first;
    const struct sc_due due = {.kind = SC_SPLIT,
                               .node = arena_intern(&sc->arena, places[0].node_name),
                               .gpu = mask_lowest(places[0].gpu_mask)};

    for (uint32_t p = 0; p < d->place_count; p++) {
        for (uint32_t i = 0; i < sc->alive_count; i++) {
            const struct sc_task *task = &sc->tasks[sc->alive[i]];

            if (task->state != SC_GONE && task->mig_slices != 0 &&
                task->gpu_mask == places[p].gpu_mask && task->mig_start == places[p].mig_start &&
                strcmp(task->node, due.node) == 0)
                sc_broken(sc, "the instance of %s is taken away under it",
                          sc->scn->jobs[task->job].name);
        }
        remove_at(sc, due.node, due.gpu, places[p].mig_start);
    }
    sc_push(sc, sc->now_us + SPLIT_TAKES_US, &due);
}

int sc_end_split(struct sc *sc, const struct sc_due *due, struct err *err)
{
    const struct mig_type *type = sc->node_gpu[names_intern(&sc->nodes, due->node)].mig;
    struct split_instance instances[MIG_SLICES_MAX];
    struct event event = {.type = EVENT_GPU_SPLIT,
                          .split = {.node = due->node, .gpu = due->gpu, .instances = instances}};

    for (uint32_t i = 0; type != NULL && i < sc->instance_count; i++)
        if (is_on(&sc->instances[i], due->node, due->gpu) && event.split.count < MIG_SLICES_MAX)
            instances[event.split.count++] =
                (struct split_instance){.profile = type->profiles[sc->instances[i].profile].name,
                                        .start = sc->instances[i].start};
    return sc_apply(sc, &event, "split", SCN_JOB_NONE, err);
}

/* As a driver does when somebody else has made or taken away instances. */
int sc_gpu_has(struct sc *sc, const struct scn_action *action, struct err *err)
{
    const struct mig_type *type = sc->node_gpu[names_intern(&sc->nodes, action->node)].mig;
    const struct event event = {.type = EVENT_GPU_SPLIT,
                                .split = {.node = action->node,
                                          .gpu = action->gpu,
                                          .instances = action->instances,
                                          .count = action->instance_count}};
    uint32_t kept = 0;

    for (uint32_t i = 0; i < sc->instance_count; i++)
        if (!is_on(&sc->instances[i], action->node, action->gpu))
            sc->instances[kept++] = sc->instances[i];
    sc->instance_count = kept;
    for (uint32_t i = 0; type != NULL && i < action->instance_count; i++) {
        struct sc_instance new = {
            .node = action->node, .gpu = action->gpu, .start = action->instances[i].start};

        if (mig_profile_find(type, action->instances[i].profile, &new.profile, NULL) == 0)
            vec_push(sc->instances, sc->instance_count, sc->instance_cap, new);
    }
    return sc_apply(sc, &event, "gpu", SCN_JOB_NONE, err);
}
