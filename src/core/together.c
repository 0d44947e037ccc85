/* SPDX-License-Identifier: Apache-2.0 */
/* together.c - a place for a gang whose tasks must, or should, be near each other. */
#include "core/together.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "core/fit.h"
#include "core/impl.h"
#include "core/ledger.h"
#include "core/place.h"
#include "core/search.h"
#include "core/slowdown.h"
#include "core/spread.h"

/* ---- room of nodes ---- */

/* How many of `each` go into `free`, at most `most`. */
static uint64_t at_most(uint64_t most, int64_t free, int64_t each)
{
    return each > 0 && (uint64_t)(free / each) < most ? (uint64_t)(free / each) : most;
}

static bool take_one(struct core *core, uint32_t shape_id, uint32_t node, uint32_t slot)
{
    const struct shape *shape = &core->shapes.shapes[shape_id];
    const uint32_t state = core->nodes.rows[node].state;
    struct need need;
    uint32_t mig_start;
    uint64_t gpu_mask;

    if (state == ROW_NONE || !fit_now(core, shape_id, state, &need))
        return false;
    gpu_mask = fit_gpus(core, node, shape, &need, shape->gpus > 1 ? FIT_MOST_LEFT : SLOT_FULLEST,
                        &mig_start);
    trial_take(core, node, shape_id, gpu_mask, mig_start, slot);
    return true;
}

/* Tasks that take parts of GPUs: one after the other, as they will be taken. */
static uint32_t shares_that_fit(struct core *core, uint32_t shape_id, uint32_t node, uint32_t most)
{
    const uint32_t mark = trial_mark(&core->trial);
    uint32_t tasks = 0;

    while (tasks < most && take_one(core, shape_id, node, tasks))
        tasks++;
    trial_undo(core, mark);
    return tasks;
}

/* Tasks that take a part of one GPU each, where all that share GPUs are alike. */
static uint64_t parts_that_fit(const struct core *core, uint32_t state, const struct need *need)
{
    const size_t at = (size_t)state * core->index.stride;
    const uint32_t gpus = core->nodes.classes[core->index.rows[state].class_id].gpu_count;
    uint64_t tasks = 0;

    for (uint32_t i = 0; i < gpus; i++)
        tasks += at_most(core->index.gpu_mgpu[at + i] / need->mgpu, core->index.gpu_bytes[at + i],
                         need->memory_bytes);
    return tasks;
}

/* What was found out for states of several nodes; those are not given up meanwhile. */
struct memo {
    uint32_t *tasks; /* [count] by state, UINT32_MAX: not known; NULL until it is needed */
    uint32_t count;
};

static uint32_t shares_known(struct memo *memo, struct core *core, uint32_t shape, uint32_t node,
                             uint32_t most)
{
    const uint32_t state = core->nodes.rows[node].state;
    const bool lasts = core->index.rows[state].node_count > 1;

    if (memo->tasks == NULL) {
        memo->count = core->index.count;
        memo->tasks = mem_alloc(memo->count, sizeof *memo->tasks);
        memset(memo->tasks, 0xff, memo->count * sizeof *memo->tasks);
    }
    if (!lasts || state >= memo->count)
        return shares_that_fit(core, shape, node, most);
    if (memo->tasks[state] == UINT32_MAX)
        memo->tasks[state] = shares_that_fit(core, shape, node, most);
    return memo->tasks[state];
}

/* How many tasks of the shape the node has room for now. */
static uint32_t tasks_now(struct memo *memo, struct core *core, uint32_t shape_id, uint32_t node,
                          bool apart)
{
    const struct shape *shape = &core->shapes.shapes[shape_id];
    const uint32_t state = core->nodes.rows[node].state;
    const struct state *s = &core->index.rows[state];
    uint64_t tasks = apart || shape->exclusive ? 1 : JOB_TASKS_MAX;
    struct need need;

    if (!fit_now(core, shape_id, state, &need))
        return 0;
    tasks = at_most(tasks, s->cpu_free_mcpu, shape->cpu_mcpu);
    tasks = at_most(tasks, s->memory_free_bytes, shape->memory_bytes);
    if (shape->gpus == 0 || tasks <= 1)
        return (uint32_t)tasks;
    if (need.mgpu == GPU_MGPU)
        return (uint32_t)at_most(tasks, s->whole_free, shape->gpus);
    if (shape->gpus == 1 && !s->companies && need.company == COMPANY_TURNS) {
        const uint64_t parts = parts_that_fit(core, state, &need);

        return (uint32_t)(parts < tasks ? parts : tasks);
    }
    return shares_known(memo, core, shape_id, node, (uint32_t)tasks);
}

/* A node outside a level that must be shared is of no use. */
static bool is_inside(const struct levels *l, uint32_t i, uint32_t depth)
{
    return depth == 0 || l->slots[levels_slot(l, i, depth)].is_domain;
}

static uint32_t depth_of(const struct core *core, uint32_t level)
{
    const uint32_t index = level != LEVEL_NONE ? levels_find(&core->levels, level) : LEVEL_NONE;

    return index != LEVEL_NONE ? index + 1 : 0;
}

/* A spread over the tree of now, with arrays of its own for all nodes. */
struct gathering {
    struct spread spread;
    uint32_t *room, *takes; /* [node_count] */
    bool apart;
};

static void gathering_open(struct gathering *g, struct core *core, const struct layout *layout)
{
    const struct levels *l = &core->levels;

    levels_load_sync(core);
    g->room = mem_alloc(l->node_count, sizeof *g->room);
    g->takes = mem_alloc(l->node_count, sizeof *g->takes);
    g->apart = layout->apart;
    g->spread = (struct spread){
        .levels = l,
        .room = g->room,
        .takes = g->takes,
        .within = depth_of(core, layout->together.within),
        .group = depth_of(core, layout->together.group_within),
        .group_size = layout->together.group_size > 0 ? layout->together.group_size : 1,
    };
}

static void gathering_close(struct gathering *g)
{
    mem_free(g->room);
    mem_free(g->takes);
}

static void room_now(struct gathering *g, struct core *core, uint32_t shape,
                     const struct together_part *part)
{
    const struct levels *l = &core->levels;
    struct memo memo = {NULL, 0};

    for (uint32_t i = part->first; i < part->first + part->count; i++) {
        const uint32_t state = core->nodes.rows[l->nodes[i]].state;

        g->room[i] = state != ROW_NONE && is_inside(l, i, g->spread.within) &&
                             is_inside(l, i, g->spread.group)
                         ? tasks_now(&memo, core, shape, l->nodes[i], g->apart)
                         : 0;
    }
    mem_free(memo.tasks);
}

static void room_of_empty(struct gathering *g, struct core *core, uint32_t shape)
{
    const struct levels *l = &core->levels;

    for (uint32_t i = 0; i < l->node_count; i++)
        g->room[i] = is_inside(l, i, g->spread.within) && is_inside(l, i, g->spread.group)
                         ? place_tasks_on_empty(core, shape, core->nodes.rows[l->nodes[i]].class_id,
                                                g->apart)
                         : 0;
}

static struct together_part all_nodes(const struct core *core)
{
    return (struct together_part){0, core->levels.node_count, 0};
}

/* ---- taking places ---- */

/* Slots: of the tasks to come, in order; or NULL, and they go on from `first_task`. */
static bool take_all(const struct gathering *g, struct core *core, uint32_t shape,
                     const struct spread_slot *in, const uint32_t *slots, uint32_t first_task)
{
    uint32_t next = 0;

    for (uint32_t i = in->first; i < in->first + in->count; i++)
        for (uint32_t k = 0; k < g->takes[i]; k++, next++)
            if (!take_one(core, shape, core->levels.nodes[i],
                          slots != NULL ? slots[next] : first_task + next))
                return false;
    return true;
}

/* Nodes that hold a task of a layout whose tasks stay apart are out of the index meanwhile. */
static void hide_taken(struct core *core, uint32_t mark)
{
    for (uint32_t i = mark; i < core->trial.count; i++)
        index_remove(&core->index, &core->nodes, core->trial.log[i].node);
}

static void show_taken(struct core *core, uint32_t mark)
{
    for (uint32_t i = mark; i < core->trial.count; i++)
        ledger_refresh(core, core->trial.log[i].node);
}

/* The tasks of one group, which is placed after others of the layout. */
static bool place_group(struct gathering *g, struct core *core, uint32_t shape, uint32_t tasks,
                        uint32_t first_task, const struct spread_slot *in)
{
    const struct together_part part = {in->first, in->count, in->depth};

    room_now(g, core, shape, &part);
    if (spread_room(&g->spread, in->first, in->count, in->depth) < tasks)
        return false;
    spread_over(&g->spread, in, tasks);
    return take_all(g, core, shape, in, NULL, first_task);
}

/* Different tasks can block each other: then search among the nodes of the slot alone. */
static bool search_in(struct core *core, const struct place_order *groups,
                      const struct spread_slot *in)
{
    const struct levels *l = &core->levels;
    uint32_t *hidden = mem_alloc(l->node_count, sizeof *hidden), count = 0;
    bool done;

    for (uint32_t i = 0; i < l->node_count; i++)
        if ((i < in->first || i >= in->first + in->count) &&
            core->nodes.rows[l->nodes[i]].state != ROW_NONE) {
            index_remove(&core->index, &core->nodes, l->nodes[i]);
            hidden[count++] = l->nodes[i];
        }
    done = search_layout(core, groups->shape, groups->tasks, groups->first_task, groups->count);
    for (uint32_t i = 0; i < count; i++)
        ledger_refresh(core, hidden[i]);
    mem_free(hidden);
    return done;
}

/* All groups of the layout, `tasks` of the only one. */
static bool place_in(struct gathering *g, struct core *core, const struct place_order *groups,
                     uint32_t tasks, const struct spread_slot *in)
{
    const uint32_t mark = trial_mark(&core->trial);
    bool done = true;

    for (uint32_t i = 0; i < groups->count && done; i++) {
        done = place_group(g, core, groups->shape[i], groups->count == 1 ? tasks : groups->tasks[i],
                           groups->first_task[i], in);
        if (g->apart)
            hide_taken(core, mark);
    }
    if (g->apart)
        show_taken(core, mark);
    if (done)
        return true;
    trial_undo(core, mark);
    return groups->count > 1 && !g->apart && search_in(core, groups, in);
}

/* ---- which slot ---- */

/* One try of a layout. */
struct attempt {
    struct core *core;
    const struct layout *layout;
    struct place_order groups;
    struct gathering g;
    struct together_part part;
    bool too_slow; /* some slot had room, and would be too slow */
};

static bool is_fast_enough(struct attempt *a, uint32_t mark)
{
    if (slowdown_within(a->core, a->layout, mark))
        return true;
    a->too_slow = true;
    trial_undo(a->core, mark);
    return false;
}

static bool try_slots(struct attempt *a, uint32_t depth, uint32_t tasks)
{
    const uint32_t mark = trial_mark(&a->core->trial);
    struct spread_slot *slots;
    const uint32_t count =
        spread_slots(&a->g.spread, a->part.first, a->part.count, depth, tasks, &slots);
    bool done = false;

    for (uint32_t i = 0; i < count && !done; i++) {
        if (place_in(&a->g, a->core, &a->groups, tasks, &slots[i]))
            done = is_fast_enough(a, mark);
        if (!done)
            room_now(&a->g, a->core, a->groups.shape[0], &a->part);
    }
    mem_free(slots);
    return done;
}

/* The lowest slot that holds so many, up to the one that all must share. */
static bool try_depths(struct attempt *a, uint32_t tasks)
{
    uint32_t least = a->g.spread.within > a->part.depth ? a->g.spread.within : a->part.depth;

    for (uint32_t depth = a->core->levels.count + 1; depth > 0 && depth >= least; depth--)
        if (try_slots(a, depth, tasks))
            return true;
    return least == 0 && try_slots(a, 0, tasks);
}

/* As many as the slot with the most room holds. */
static uint32_t most_in_a_slot(const struct attempt *a)
{
    const uint32_t least = a->g.spread.within > a->part.depth ? a->g.spread.within : a->part.depth;
    struct spread_slot *slots;
    const uint32_t count =
        spread_slots(&a->g.spread, a->part.first, a->part.count, least, 1, &slots);
    const uint64_t most = count > 0 ? slots[count - 1].room : 0;

    mem_free(slots);
    return most < JOB_TASKS_MAX ? (uint32_t)most : JOB_TASKS_MAX;
}

static bool try_layout(struct attempt *a)
{
    const uint32_t tasks = a->groups.tasks[0];
    uint32_t fewer;

    room_now(&a->g, a->core, a->groups.shape[0], &a->part);
    if (try_depths(a, tasks))
        return true;
    if (a->groups.count > 1 || a->layout->tasks_min == tasks)
        return false;
    fewer = most_in_a_slot(a);
    fewer = fewer < tasks ? fewer : tasks;
    return fewer >= a->layout->tasks_min && try_depths(a, fewer);
}

static enum reason why_not(const struct attempt *a)
{
    const struct together *t = &a->layout->together;

    if (a->too_slow)
        return REASON_SLOWDOWN;
    if (!place_some_fit(a->core, a->layout, true))
        return REASON_ROOM;
    return t->within != LEVEL_NONE || t->group_within != LEVEL_NONE ? REASON_LEVEL : REASON_GANG;
}

bool together_place(struct core *core, const struct layout *layout,
                    const struct together_part *part, enum reason *out_reason)
{
    struct attempt a = {.core = core, .layout = layout};
    bool done;

    place_order_groups(core, layout, &a.groups);
    gathering_open(&a.g, core, layout);
    a.part = part != NULL ? *part : all_nodes(core);
    done = try_layout(&a);
    if (!done)
        *out_reason = why_not(&a);
    gathering_close(&a.g);
    return done;
}

/* ---- growing ---- */

/* The slot where tasks of the job stand; false if it is outside the level. */
static bool stands_in(const struct core *core, const struct job *row, uint32_t depth,
                      struct spread_slot *out)
{
    const struct levels *l = &core->levels;

    *out = (struct spread_slot){.first = 0, .count = l->node_count, .depth = 0};
    for (uint32_t i = 0; depth > 0 && i < row->task_count; i++)
        if (!job_task(core, row, i)->left) {
            const struct slot *slot =
                &l->slots[levels_slot(l, l->at[job_task(core, row, i)->node], depth)];

            *out = (struct spread_slot){.first = slot->first, .count = slot->count, .depth = depth};
            return slot->is_domain;
        }
    return depth == 0;
}

/* Absent tasks of one group: slots [0, count). As many as fit in this slot of the tree. */
static uint32_t grow_in(struct gathering *g, struct core *core, uint32_t shape,
                        const uint32_t *slots, uint32_t count, struct spread_slot *in)
{
    const struct together_part part = {in->first, in->count, in->depth};

    room_now(g, core, shape, &part);
    in->room = spread_room(&g->spread, in->first, in->count, in->depth);
    count = in->room < count ? (uint32_t)in->room : count;
    spread_over(&g->spread, in, count);
    return take_all(g, core, shape, in, slots, 0) ? count : 0;
}

/* Absent tasks of one group, [first, end) of the job, up to `max`: as near to its first task as
 * there is room, from the finest level up to the one that all must share. Returns how many. */
static uint32_t grow_group(struct gathering *g, struct core *core, const struct job *row,
                           uint32_t shape, uint32_t first, uint32_t end, uint32_t max)
{
    const uint32_t mark = trial_mark(&core->trial);
    uint32_t *slots = mem_alloc(end - first, sizeof *slots), count = 0, next = 0;
    struct spread_slot in;

    for (uint32_t i = first; i < end && count < max; i++)
        if (job_task(core, row, i)->absent)
            slots[count++] = i;
    for (uint32_t d = core->levels.count + 1; next < count && d-- > g->spread.within;) {
        if (stands_in(core, row, d, &in))
            next += grow_in(g, core, shape, slots + next, count - next, &in);
        if (g->apart)
            hide_taken(core, mark);
    }
    mem_free(slots);
    return next;
}

uint32_t together_grow(struct core *core, uint32_t job, uint32_t max)
{
    const struct job *row = &core->jobs.rows[job];
    const struct layout *layout =
        &core->shapes.layouts[core->shapes.gangs[row->gang].first_layout + row->layout];
    const uint32_t mark = trial_mark(&core->trial);
    uint32_t first = 0, placed = 0;
    struct gathering g;
    struct spread_slot in;

    gathering_open(&g, core, layout);
    for (uint32_t i = 0; stands_in(core, row, g.spread.within, &in) && i < layout->group_count;
         i++) {
        const struct group *group = &core->shapes.groups[layout->first_group + i];

        placed +=
            grow_group(&g, core, row, group->shape, first, first + group->tasks, max - placed);
        first += group->tasks;
        if (g.apart)
            hide_taken(core, mark);
    }
    gathering_close(&g);
    return trial_mark(&core->trial) - mark;
}

/* ---- looking ---- */

uint32_t together_parts(struct core *core, const struct layout *layout, struct together_part **out)
{
    struct gathering g;
    struct spread_slot *slots;
    uint32_t count;

    gathering_open(&g, core, layout);
    for (uint32_t i = 0; i < core->levels.node_count; i++)
        g.room[i] = 0;
    count = spread_slots(&g.spread, 0, core->levels.node_count, g.spread.within, 0, &slots);
    *out = mem_alloc(count, sizeof **out);
    for (uint32_t i = 0; i < count; i++)
        (*out)[i] = (struct together_part){slots[i].first, slots[i].count, slots[i].depth};
    mem_free(slots);
    gathering_close(&g);
    return count;
}

bool together_fits_empty(struct core *core, const struct layout *layout)
{
    struct together_part *parts;
    const uint32_t count = together_parts(core, layout, &parts);
    bool *fits = mem_alloc(count, sizeof *fits), any = false;
    struct gathering g;

    for (uint32_t p = 0; p < count; p++)
        fits[p] = true;
    gathering_open(&g, core, layout);
    for (uint32_t i = 0; i < layout->group_count; i++) {
        const struct group *group = &core->shapes.groups[layout->first_group + i];

        room_of_empty(&g, core, group->shape);
        for (uint32_t p = 0; p < count; p++)
            fits[p] =
                fits[p] && spread_room(&g.spread, parts[p].first, parts[p].count, parts[p].depth) >=
                               (layout->group_count == 1 ? layout->tasks_min : group->tasks);
    }
    for (uint32_t p = 0; p < count; p++)
        any = any || fits[p];
    gathering_close(&g);
    mem_free(fits);
    mem_free(parts);
    return any;
}

bool together_spread_empty(struct core *core, const struct layout *layout, uint32_t tasks,
                           uint32_t *takes)
{
    struct place_order groups;
    struct gathering g;
    uint32_t count = 0;

    place_order_groups(core, layout, &groups);
    gathering_open(&g, core, layout);
    room_of_empty(&g, core, groups.shape[0]);
    for (uint32_t depth = core->levels.count + 2; depth-- > 0 && count == 0;) {
        struct spread_slot *slots;

        count = spread_slots(&g.spread, 0, core->levels.node_count, depth, tasks, &slots);
        if (count > 0) {
            spread_over(&g.spread, &(struct spread_slot){0, core->levels.node_count, 0, 0, 0}, 0);
            spread_over(&g.spread, &slots[0], tasks);
            memcpy(takes, g.takes, core->levels.node_count * sizeof *takes);
        }
        mem_free(slots);
    }
    gathering_close(&g);
    return count > 0;
}

static uint32_t domains_at(const struct gathering *g, uint32_t depth)
{
    const struct levels *l = g->spread.levels;
    uint32_t count = 0;

    for (uint32_t i = 0; i < l->node_count; i++) {
        const struct slot *slot = &l->slots[levels_slot(l, i, depth)];

        count += slot->first == i && slot->is_domain;
    }
    return count;
}

void together_look(struct core *core, const struct layout *layout, struct together_lack *out)
{
    const struct together *t = &layout->together;
    const bool groups = t->within == LEVEL_NONE;
    struct together_part *parts, all;
    const uint32_t count = together_parts(core, layout, &parts);
    struct gathering g;

    gathering_open(&g, core, layout);
    all = all_nodes(core);
    *out = (struct together_lack){.level = groups ? t->group_within : t->within,
                                  .groups = groups,
                                  .domains = groups ? domains_at(&g, g.spread.group) : count};
    room_now(&g, core, core->shapes.groups[layout->first_group].shape, &all);
    for (uint32_t p = 0; p < count; p++) {
        const uint64_t room =
            spread_room(&g.spread, parts[p].first, parts[p].count, parts[p].depth);

        if (room > out->best)
            out->best = room < JOB_TASKS_MAX ? (uint32_t)room : JOB_TASKS_MAX;
    }
    gathering_close(&g);
    mem_free(parts);
}

/* ---- is it obeyed? ---- */

/* Each `size` tasks in a row share a domain of the level; those that have left are anywhere. */
static bool rows_share(const struct core *core, const struct job *job, uint32_t level,
                       uint32_t size)
{
    const uint32_t index = levels_find(&core->levels, level);

    if (index == LEVEL_NONE)
        return false;
    for (uint32_t i = 0; i < job->task_count; i += size) {
        uint32_t first = ROW_NONE;

        for (uint32_t k = i; k < i + size && k < job->task_count; k++) {
            const struct task *task = job_task(core, job, k);

            if (task->left)
                continue;
            first = first == ROW_NONE ? task->node : first;
            if (!levels_share_domain(core, first, task->node, index))
                return false;
        }
    }
    return true;
}

bool together_obeyed(const struct core *core, const struct job *job)
{
    const struct layout *layout =
        &core->shapes.layouts[core->shapes.gangs[job->gang].first_layout + job->layout];
    const struct together *t = &layout->together;

    if (job->elsewhere)
        return true; /* a report says so, and the books follow */
    return (t->within == LEVEL_NONE || rows_share(core, job, t->within, job->task_count)) &&
           (t->group_within == LEVEL_NONE || rows_share(core, job, t->group_within, t->group_size));
}
