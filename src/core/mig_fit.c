/* SPDX-License-Identifier: Apache-2.0 */
/* mig_fit.c - which instance of a node's split GPUs a task gets. */
#include "core/mig_fit.h"

#include <string.h>

#include "base/bits.h"
#include "base/check.h"
#include "base/mem.h"
#include "core/impl.h"
#include "core/ledger.h"
#include "core/mig_slot.h"

void mig_wanted_done(struct mig_wanted *w)
{
    for (uint32_t i = 0; w->games != NULL && i < mig_type_count; i++)
        mig_game_done(&w->games[i]);
    mem_free(w->games);
    mem_free(w->asked);
    memset(w, 0, sizeof *w);
}

void mig_wanted_copy(struct mig_wanted *dst, const struct mig_wanted *src)
{
    *dst = *src;
    dst->asked = mem_copy(src->asked, src->count, sizeof *src->asked);
    dst->cap = src->count;
    if (src->games == NULL)
        return;
    dst->games = mem_alloc(mig_type_count, sizeof *dst->games);
    for (uint32_t i = 0; i < mig_type_count; i++)
        if (src->games[i].type != NULL)
            mig_game_copy(&dst->games[i], &src->games[i]);
}

/* ---- what waits ---- */

static struct mig_asked *asked_of(struct mig_wanted *w, uint32_t shape)
{
    for (uint32_t i = 0; i < w->count; i++)
        if (w->asked[i].shape == shape)
            return &w->asked[i];
    return NULL;
}

void mig_note_shape(struct core *core, uint32_t shape)
{
    struct mig_wanted *w = &core->mig_wanted;
    const struct mig_asked asked = {.shape = shape};

    if (shape_is_mig(&core->shapes.shapes[shape]) && asked_of(w, shape) == NULL)
        vec_push(w->asked, w->count, w->cap, asked);
}

void mig_note_waiting(struct core *core, uint32_t gang, int sign)
{
    const struct gang *g = &core->shapes.gangs[gang];
    const struct layout *layout = &core->shapes.layouts[g->first_layout];

    for (uint32_t i = 0; g->mig && i < layout->group_count; i++) {
        const struct group *group = &core->shapes.groups[layout->first_group + i];
        struct mig_asked *asked = asked_of(&core->mig_wanted, group->shape);

        if (asked != NULL)
            asked->tasks += sign > 0 ? group->tasks : -(uint64_t)group->tasks;
    }
}

/* What waits for GPUs of the type, without the task of this profile that is placed now. */
static void demand_of(const struct core *core, const struct node_class *class, uint32_t profile,
                      struct mig_demand *out)
{
    const struct mig_wanted *w = &core->mig_wanted;

    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < w->count; i++) {
        struct need need;
        uint64_t sum;

        if (!need_on(&core->shapes.shapes[w->asked[i].shape], class, &need))
            continue;
        out->expected = (uint16_t)(out->expected | 1u << need.profile);
        sum = out->waiting[need.profile] + w->asked[i].tasks;
        out->waiting[need.profile] = sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
    }
    out->waiting[profile] -= out->waiting[profile] > 0;
}

static const struct mig_game *game_of(struct core *core, const struct mig_type *type)
{
    struct mig_wanted *w = &core->mig_wanted;
    struct mig_game *game;

    if (w->games == NULL) {
        w->games = mem_alloc(mig_type_count, sizeof *w->games);
        memset(w->games, 0, mig_type_count * sizeof *w->games);
    }
    game = &w->games[type - mig_types];
    if (game->type == NULL)
        mig_game_init(game, type);
    return game;
}

/* ---- the choice ---- */

/* One like it that stands and is idle. */
static bool find_idle(const struct core *core, uint32_t node, const struct need *need,
                      uint32_t *out_gpu, uint32_t *out_start)
{
    const struct nodes *n = &core->nodes;
    uint32_t best_mgpu = UINT32_MAX;

    for (uint32_t i = 0; i < nodes_class_of(n, node)->gpu_count; i++) {
        const uint16_t idle = nodes_mig_room(n, node, i)->idle[need->profile];
        const uint32_t mgpu = nodes_gpu_free_mgpu(n, node, i);

        if (idle == 0 || mgpu >= best_mgpu || !nodes_gpu_has(n, node, i, need))
            continue;
        best_mgpu = mgpu;
        *out_gpu = i;
        *out_start = mask_lowest(idle);
    }
    return best_mgpu < UINT32_MAX;
}

uint32_t mig_fit(struct core *core, uint32_t node, const struct need *need, uint32_t *out_start)
{
    const struct nodes *n = &core->nodes;
    const struct node_class *class = nodes_class_of(n, node);
    struct mig_gpu gpus[NODE_GPUS_MAX];
    uint32_t of[NODE_GPUS_MAX], count = 0, gpu;
    struct mig_demand demand;
    struct mig_choice choice;

    if (find_idle(core, node, need, &gpu, out_start))
        return gpu;
    for (uint32_t i = 0; i < class->gpu_count; i++) {
        if (!nodes_gpu_has(n, node, i, need))
            continue;
        gpus[count] = mig_room_gpu(nodes_mig_room(n, node, i));
        of[count++] = i;
    }
    demand_of(core, class, need->profile, &demand);
    check(
        mig_choose(game_of(core, class_mig(class)), gpus, count, need->profile, &demand, &choice));
    *out_start = choice.start;
    return of[choice.gpu];
}

/* ---- instances that are made ---- */

/* The need of a task that holds an instance; false for others. */
static bool instance_of(const struct core *core, const struct task *task, struct need *out)
{
    return task->node != ROW_NONE && core->nodes.rows[task->node].mig_first != ROW_NONE &&
           need_on(&core->shapes.shapes[task->shape], nodes_class_of(&core->nodes, task->node),
                   out) &&
           out->mode == GPU_MIG;
}

static void made_changed(struct core *core, const struct task *task)
{
    nodes_mig_changed(&core->nodes, task->node, mask_lowest(task->gpu_mask));
    ledger_refresh(core, task->node);
}

/* Not where a report from outside has put it on others. */
static bool add_instance(struct core *core, const struct task *task, const struct need *need)
{
    const struct mig_type *type = class_mig(nodes_class_of(&core->nodes, task->node));
    struct mig_gpu *made = &nodes_mig(&core->nodes, task->node, mask_lowest(task->gpu_mask))->made;

    if (!(mig_gpu_starts(type, made, need->profile) >> task->mig_start & 1))
        return false;
    mig_gpu_add(type, made, need->profile, task->mig_start);
    made_changed(core, task);
    return true;
}

void mig_make(struct core *core, uint32_t task)
{
    struct task *row = &core->jobs.tasks[task];
    struct need need;

    if (instance_of(core, row, &need))
        row->mig_makes = add_instance(core, row, &need);
}

void mig_is_made(struct core *core, uint32_t task)
{
    struct task *row = &core->jobs.tasks[task];
    struct need need;

    if (!instance_of(core, row, &need))
        return;
    (void)add_instance(core, row, &need); /* if it went meanwhile, by what was said */
    row->mig_makes = false;
}

void mig_not_made(struct core *core, uint32_t task)
{
    struct task *row = &core->jobs.tasks[task];
    struct need need;

    if (!row->mig_makes || !instance_of(core, row, &need))
        return;
    mig_gpu_remove(&nodes_mig(&core->nodes, row->node, mask_lowest(row->gpu_mask))->made,
                   row->mig_start);
    row->mig_makes = false;
    made_changed(core, row);
}
