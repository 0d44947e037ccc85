/* SPDX-License-Identifier: Apache-2.0 */
/* place.c - a place for a whole gang, or nothing. */
#include "core/place.h"

#include "base/check.h"
#include "core/fit.h"
#include "core/impl.h"
#include "core/ledger.h"
#include "core/life.h"
#include "core/search.h"
#include "core/together.h"

/* ---- one task ---- */

static void take(struct core *core, uint32_t shape_id, uint32_t node, uint32_t gpu_slot,
                 uint32_t slot)
{
    const struct shape *shape = &core->shapes.shapes[shape_id];
    uint32_t mig_start;
    uint64_t gpu_mask;
    struct need need;

    fit_ever(core, shape_id, core->nodes.rows[node].class_id, &need);
    gpu_mask = fit_gpus(core, node, shape, &need, gpu_slot, &mig_start);
    trial_take(core, node, shape_id, gpu_mask, mig_start, slot);
}

static uint64_t fitting_nodes(struct core *core, uint32_t shape_id)
{
    uint64_t nodes = 0;
    struct need need;

    for (uint32_t s = 0; s < core->index.count; s++)
        if (core->index.rows[s].node_count > 0 && fit_now(core, shape_id, s, &need))
            nodes += core->index.rows[s].node_count;
    return nodes;
}

/* A uniform GPU among those of the node that fit, as an entry of its state's free amounts. */
static uint32_t draw_slot(struct core *core, uint32_t state, const struct need *need)
{
    const uint32_t gpus = core->nodes.classes[core->index.rows[state].class_id].gpu_count;
    const size_t at = (size_t)state * core->index.stride;
    uint32_t slots[NODE_GPUS_MAX], count = 0;

    for (uint32_t i = 0; i < gpus; i++)
        if (core->index.gpu_mgpu[at + i] >= need->mgpu &&
            core->index.gpu_bytes[at + i] >= need->memory_bytes &&
            company_admits(&core->nodes.rooms, core->index.gpu_mgpu[at + i],
                           core->index.gpu_company[at + i], need))
            slots[count++] = i;
    return count > 0 ? slots[core->placement->draw(core->placement_state, count)] : 0;
}

/* Uniform among the nodes that fit. O(states + nodes): for comparison, not for use. */
static bool place_drawn(struct core *core, uint32_t shape_id, uint32_t slot)
{
    const uint64_t nodes = fitting_nodes(core, shape_id);
    uint64_t skip = nodes > 0 ? core->placement->draw(core->placement_state, nodes) : 0;
    struct need need;

    for (uint32_t node = 0; nodes > 0 && node < core->nodes.count; node++) {
        const uint32_t state = core->nodes.rows[node].state;

        if (!core->nodes.rows[node].in_use || state == ROW_NONE ||
            !fit_now(core, shape_id, state, &need) || skip-- > 0)
            continue;
        take(core, shape_id, node, draw_slot(core, state, &need), slot);
        return true;
    }
    return false;
}

bool place_task(struct core *core, uint32_t shape_id, uint32_t slot)
{
    struct candidate best;

    if (core->placement->tie == TIE_RANDOM_NODE)
        return place_drawn(core, shape_id, slot);
    if (!shortlist_best(core, shape_id, &best))
        return false;
    take(core, shape_id, core->index.rows[best.state].first_node, best.slot, slot);
    return true;
}

/* ---- a layout ---- */

/* Of a group so many tasks must be placed: an elastic layout has one group. */
uint32_t place_tasks_needed(const struct layout *layout, const struct group *group)
{
    return layout->group_count == 1 ? layout->tasks_min : group->tasks;
}

/* Immediate: are there enough free GPUs at all for the tasks that want whole ones? */
static bool gpus_suffice(const struct core *core, const struct layout *layout)
{
    uint64_t whole = 0;

    for (uint32_t g = 0; g < layout->group_count; g++) {
        const struct group *group = &core->shapes.groups[layout->first_group + g];
        const struct shape *shape = &core->shapes.shapes[group->shape];

        if (shape->gpu_mgpu == GPU_MGPU)
            whole += (uint64_t)place_tasks_needed(layout, group) * shape->gpus;
    }
    return whole <= core->index.whole_free;
}

bool place_some_fit(struct core *core, const struct layout *layout, bool unknown)
{
    struct candidate best;

    if (core->placement->tie == TIE_RANDOM_NODE)
        return unknown;
    for (uint32_t g = 0; g < layout->group_count; g++)
        if (shortlist_best(core, core->shapes.groups[layout->first_group + g].shape, &best))
            return true;
    return false;
}

/* Larger tasks have fewer places, so their groups go first. */
static bool is_larger(const struct shape *a, const struct shape *b)
{
    const uint32_t a_mgpu = a->gpus * a->gpu_mgpu, b_mgpu = b->gpus * b->gpu_mgpu;

    if (a->gpus != b->gpus)
        return a->gpus > b->gpus;
    if (shape_is_mig(a) && shape_is_mig(b) && a->mig.compute_slices != b->mig.compute_slices)
        return a->mig.compute_slices > b->mig.compute_slices;
    if (a_mgpu != b_mgpu)
        return a_mgpu > b_mgpu;
    if (a->cpu_mcpu != b->cpu_mcpu)
        return a->cpu_mcpu > b->cpu_mcpu;
    return a->memory_bytes > b->memory_bytes;
}

void place_order_groups(const struct core *core, const struct layout *layout,
                        struct place_order *out)
{
    uint32_t task = 0;

    out->count = 0;
    for (uint32_t g = 0; g < layout->group_count; g++) {
        const struct group *group = &core->shapes.groups[layout->first_group + g];
        uint32_t at = out->count++;

        for (; at > 0 && is_larger(&core->shapes.shapes[group->shape],
                                   &core->shapes.shapes[out->shape[at - 1]]);
             at--) {
            out->shape[at] = out->shape[at - 1];
            out->tasks[at] = out->tasks[at - 1];
            out->first_task[at] = out->first_task[at - 1];
        }
        out->shape[at] = group->shape;
        out->tasks[at] = group->tasks;
        out->first_task[at] = task;
        task += group->tasks;
    }
}

/* A node that holds a task of a layout whose tasks stay apart is out of the index until the whole
 * layout is placed, so that no other task of it can go there. */
static void hide_last_node(struct core *core)
{
    index_remove(&core->index, &core->nodes, core->trial.log[core->trial.count - 1].node);
}

static void show_nodes(struct core *core, uint32_t mark)
{
    for (uint32_t i = mark; i < core->trial.count; i++)
        ledger_refresh(core, core->trial.log[i].node);
}

/* Until one does not fit. Returns how many were put. */
static uint32_t place_greedy(struct core *core, const struct place_order *groups, bool apart)
{
    uint32_t placed = 0;

    for (uint32_t g = 0; g < groups->count; g++)
        for (uint32_t i = 0; i < groups->tasks[g]; i++) {
            if (!place_task(core, groups->shape[g], groups->first_task[g] + i))
                return placed;
            placed++;
            if (apart)
                hide_last_node(core);
        }
    return placed;
}

/* One group of equal tasks finds room whenever there is room, unless each shares several GPUs. */
static bool greedy_may_err(const struct core *core, const struct place_order *groups)
{
    const struct shape *shape = &core->shapes.shapes[groups->shape[0]];

    return groups->count > 1 || (shape->gpus > 1 && shape_is_share(shape));
}

bool place_layout(struct core *core, const struct layout *layout, enum reason *out_reason)
{
    const uint32_t mark = trial_mark(&core->trial);
    struct place_order groups;
    uint32_t placed;

    *out_reason = REASON_ROOM;
    if (!gpus_suffice(core, layout)) {
        *out_reason = place_some_fit(core, layout, false) ? REASON_GANG : REASON_ROOM;
        return false;
    }
    if (together_matters(&layout->together))
        return together_place(core, layout, NULL, out_reason);
    place_order_groups(core, layout, &groups);
    placed = place_greedy(core, &groups, layout->apart);
    if (layout->apart)
        show_nodes(core, mark);
    if (placed >= layout->tasks_min)
        return true;
    trial_undo(core, mark);
    if (placed == 0)
        return false;
    *out_reason = REASON_GANG;
    if (groups.count == 1)
        groups.tasks[0] = layout->tasks_min;
    return !layout->apart && greedy_may_err(core, &groups) &&
           search_layout(core, groups.shape, groups.tasks, groups.first_task, groups.count);
}

/* Where a task of the job is, no other may be. */
static void hide_tasks(struct core *core, const struct job *row)
{
    for (uint32_t i = 0; i < row->task_count; i++)
        if (!job_task(core, row, i)->left)
            index_remove(&core->index, &core->nodes, job_task(core, row, i)->node);
}

static void show_tasks(struct core *core, const struct job *row)
{
    for (uint32_t i = 0; i < row->task_count; i++)
        if (!job_task(core, row, i)->left)
            ledger_refresh(core, job_task(core, row, i)->node);
}

uint32_t place_absent(struct core *core, uint32_t job, uint32_t max)
{
    const struct job *row = &core->jobs.rows[job];
    const uint32_t mark = trial_mark(&core->trial);
    const struct layout *layout =
        &core->shapes.layouts[core->shapes.gangs[row->gang].first_layout + row->layout];
    const bool apart = layout->apart, together = together_matters(&layout->together);
    uint32_t placed = 0, refused = ROW_NONE;

    if (apart)
        hide_tasks(core, row);
    if (together)
        placed = together_grow(core, job, max);
    for (uint32_t i = 0; !together && i < row->task_count && placed < max; i++) {
        const struct task *task = job_task(core, row, i);

        if (!task->absent || task->shape == refused)
            continue;
        if (!place_task(core, task->shape, i)) {
            refused = task->shape;
            continue;
        }
        placed++;
        if (apart)
            hide_last_node(core);
    }
    if (apart) {
        show_nodes(core, mark);
        show_tasks(core, row);
    }
    return placed;
}

bool place_gang(struct core *core, uint32_t gang, uint32_t layout_end, uint32_t *out_layout,
                enum reason *out_reason)
{
    const struct gang *g = &core->shapes.gangs[gang];
    const uint32_t end = layout_end < g->layout_count ? layout_end : g->layout_count;
    enum reason reason = REASON_ROOM;

    for (uint32_t i = 0; i < end; i++) {
        enum reason why;

        if (place_layout(core, &core->shapes.layouts[g->first_layout + i], &why)) {
            *out_layout = i;
            return true;
        }
        if (why != REASON_ROOM)
            reason = why;
    }
    *out_reason = reason;
    return false;
}

struct amounts place_amounts(const struct core *core, const struct trial_item *places,
                             uint32_t count)
{
    struct amounts sum = {{0}};

    for (uint32_t i = 0; i < count; i++) {
        const struct task task = {.node = places[i].node, .shape = places[i].shape};
        const struct amounts amounts = task_amounts(core, &task);

        amounts_add(&sum, &amounts, 1);
    }
    return sum;
}

bool place_within_bounds(struct core *core, uint32_t job, uint32_t mark, uint32_t least,
                         enum held held, struct refusal *out)
{
    const struct standing *at = &core->jobs.rows[job].at;
    struct amounts sum;

    if (!core->queues.books)
        return true;
    sum = place_amounts(core, core->trial.log + mark, core->trial.count - mark);
    while (!queues_admit(&core->queues, at, &sum, &core->capacity, held, out)) {
        const uint32_t last = core->trial.count - 1;
        struct amounts amounts;

        if (core->trial.count - mark <= least)
            return false;
        amounts = place_amounts(core, &core->trial.log[last], 1);
        amounts_add(&sum, &amounts, -1);
        trial_undo(core, last);
    }
    return true;
}

enum placing place_job(struct core *core, uint32_t job, enum held held, uint32_t *out_layout,
                       enum reason *out_reason, struct refusal *out_refusal)
{
    const struct gang *g = &core->shapes.gangs[core->jobs.rows[job].gang];
    const uint32_t mark = trial_mark(&core->trial);
    enum placing placing = PLACE_NO_ROOM;

    *out_reason = REASON_ROOM;
    for (uint32_t i = 0; i < g->layout_count; i++) {
        const struct layout *layout = &core->shapes.layouts[g->first_layout + i];
        struct refusal refusal;
        enum reason why;

        if (!place_layout(core, layout, &why)) {
            *out_reason = why != REASON_ROOM ? why : *out_reason;
            continue;
        }
        *out_layout = i;
        if (place_within_bounds(core, job, mark, layout->tasks_min, held, &refusal))
            return PLACE_DONE;
        trial_undo(core, mark);
        if (placing == PLACE_NO_ROOM)
            *out_refusal = refusal;
        placing = PLACE_BEYOND;
    }
    return placing;
}

/* How many such tasks a node of this class holds while it is empty. */
static uint64_t tasks_on_empty(const struct shape *shape, const struct node_class *class,
                               const struct need *need, bool apart)
{
    uint64_t tasks = apart || shape->exclusive ? 1 : JOB_TASKS_MAX;
    uint64_t on_a_gpu = shape->gpus > 0 ? GPU_MGPU / need->mgpu : 0;

    if (shape->gpus > 0 && need->memory_bytes > 0 &&
        (uint64_t)(class->gpu_memory_bytes / need->memory_bytes) < on_a_gpu)
        on_a_gpu = (uint64_t)(class->gpu_memory_bytes / need->memory_bytes);
    if (shape->gpus > 0 && need->mode == GPU_MPS && on_a_gpu > class->mps_clients)
        on_a_gpu = class->mps_clients;
    if (shape->gpus > 0 && need->mode == GPU_MIG)
        on_a_gpu = mig_gpu_fits(class_mig(class), &(struct mig_gpu){0}, need->profile);
    if (shape->gpus > 0 && on_a_gpu * class->gpu_count / shape->gpus < tasks)
        tasks = on_a_gpu * class->gpu_count / shape->gpus;
    if (shape->cpu_mcpu > 0 && (uint64_t)(class->cpu_mcpu / shape->cpu_mcpu) < tasks)
        tasks = (uint64_t)(class->cpu_mcpu / shape->cpu_mcpu);
    if (shape->memory_bytes > 0 && (uint64_t)(class->memory_bytes / shape->memory_bytes) < tasks)
        tasks = (uint64_t)(class->memory_bytes / shape->memory_bytes);
    return tasks;
}

uint32_t place_tasks_on_empty(struct core *core, uint32_t shape_id, uint32_t class_id, bool apart)
{
    struct need need;

    if (!fit_ever(core, shape_id, class_id, &need))
        return 0;
    return (uint32_t)tasks_on_empty(&core->shapes.shapes[shape_id], &core->nodes.classes[class_id],
                                    &need, apart);
}

uint64_t place_room_empty(struct core *core, const struct layout *layout, const struct group *group)
{
    const struct shape *shape = &core->shapes.shapes[group->shape];
    uint64_t room = 0;
    struct need need;

    for (uint32_t id = 0; id < core->nodes.class_count; id++)
        if (core->nodes.class_nodes[id] > 0 && fit_ever(core, group->shape, id, &need))
            room += core->nodes.class_nodes[id] *
                    tasks_on_empty(shape, &core->nodes.classes[id], &need, layout->apart);
    return room;
}

static bool layout_fits_empty(struct core *core, const struct layout *layout)
{
    if (together_matters(&layout->together))
        return together_fits_empty(core, layout);
    for (uint32_t g = 0; g < layout->group_count; g++) {
        const struct group *group = &core->shapes.groups[layout->first_group + g];

        if (place_room_empty(core, layout, group) < place_tasks_needed(layout, group))
            return false;
    }
    return true;
}

static bool gang_fits_empty(struct core *core, const struct gang *gang)
{
    for (uint32_t i = 0; i < gang->layout_count; i++)
        if (layout_fits_empty(core, &core->shapes.layouts[gang->first_layout + i]))
            return true;
    return false;
}

bool place_never(struct core *core, uint32_t gang)
{
    struct gang_note *note = pending_note(&core->pending, gang);

    if (note->never_at != core->nodes.changes) {
        note->never_at = core->nodes.changes;
        note->never = !gang_fits_empty(core, &core->shapes.gangs[gang]);
    }
    return note->never;
}
