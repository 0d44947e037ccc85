/* SPDX-License-Identifier: Apache-2.0 */
/* slowdown.c - how much slower a gang communicates where it is than where it could best be. */
#include "core/slowdown.h"

#include "base/mem.h"
#include "base/sort.h"
#include "core/impl.h"
#include "core/together.h"

__extension__ typedef __int128 wide;

#define SCALE_BITS 64
#define COST_MAX   ((wide)1 << 100)

/* Tasks on the nodes of the tree, in its order. */
struct standing_on {
    uint32_t at; /* where the node is in the tree */
    uint32_t tasks;
};

struct gang_places {
    const struct levels *levels;
    struct standing_on *on; /* [count] */
    uint32_t count, cap;
    uint32_t tasks;  /* in all */
    uint32_t itself; /* 1: it is among the gangs that cross uplinks; 0: not yet */
    bool alone;      /* nobody else runs */
};

/* ---- the model ---- */

/* Times in units of 2^-SCALE_BITS seconds for each byte of data, 0 = no link is known. */
struct cost {
    wide all_reduce, all_to_all;
};

static void add_link(struct cost *cost, uint64_t tasks, uint64_t inside, uint64_t sharing,
                     int64_t bandwidth)
{
    wide one, all;

    if (bandwidth == 0)
        return;
    one = ((wide)sharing << SCALE_BITS) / bandwidth;
    all = ((wide)(inside * (tasks - inside) * sharing) << SCALE_BITS) / ((wide)tasks * bandwidth);
    one = one < COST_MAX ? one : COST_MAX;
    all = all < COST_MAX ? all : COST_MAX;
    cost->all_reduce = one > cost->all_reduce ? one : cost->all_reduce;
    cost->all_to_all = all > cost->all_to_all ? all : cost->all_to_all;
}

/* The depth of the lowest slot that holds all. */
static uint32_t common_depth(const struct gang_places *p)
{
    const struct levels *l = p->levels;
    const uint32_t first = p->on[0].at, last = p->on[p->count - 1].at;
    uint32_t depth = 0;

    while (depth < l->count && levels_slot(l, first, depth + 1) == levels_slot(l, last, depth + 1))
        depth++;
    return depth;
}

static void add_uplinks(const struct gang_places *p, uint32_t depth, struct cost *cost)
{
    const struct levels *l = p->levels;

    for (uint32_t i = 0, next; i < p->count; i = next) {
        const uint32_t slot = levels_slot(l, p->on[i].at, depth);
        uint64_t inside = 0, sharing = p->alone ? 1 : l->slots[slot].crossing + 1 - p->itself;

        for (next = i; next < p->count && levels_slot(l, p->on[next].at, depth) == slot; next++)
            inside += p->on[next].tasks;
        add_link(cost, p->tasks, inside, sharing, l->rows[depth - 1].uplink_bytes);
    }
}

static struct cost cost_of(const struct gang_places *p)
{
    const struct levels *l = p->levels;
    const uint32_t depth = p->count > 0 ? common_depth(p) : 0;
    struct cost cost = {0, 0};

    if (p->tasks < 2 || l->count == 0)
        return cost;
    if (p->count == 1) {
        add_link(&cost, p->tasks, p->tasks / 2, 1, l->rows[l->count - 1].bandwidth_bytes);
        return cost;
    }
    for (uint32_t i = 0; i < p->count; i++)
        add_link(&cost, p->tasks, p->on[i].tasks, 1,
                 l->rows[depth > 0 ? depth - 1 : 0].bandwidth_bytes);
    for (uint32_t d = depth + 1; d <= l->count; d++)
        add_uplinks(p, d, &cost);
    return cost;
}

/* ---- where a gang is ---- */

static int by_place(const void *a, const void *b, void *arg)
{
    const struct standing_on *x = a, *y = b;

    (void)arg;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void add_task(struct gang_places *p, uint32_t node)
{
    const struct standing_on on = {p->levels->at[node], 1};

    p->tasks++;
    if (p->count > 0 && p->on[p->count - 1].at == on.at)
        p->on[p->count - 1].tasks++;
    else
        vec_push(p->on, p->count, p->cap, on);
}

/* Each node once, in the order of the tree. */
static void put_in_order(struct gang_places *p)
{
    uint32_t kept = 0;

    sort_stable(p->on, p->count, sizeof *p->on, by_place, NULL);
    for (uint32_t i = 0; i < p->count; i++)
        if (kept > 0 && p->on[kept - 1].at == p->on[i].at)
            p->on[kept - 1].tasks += p->on[i].tasks;
        else
            p->on[kept++] = p->on[i];
    p->count = kept;
}

static struct cost best_cost(struct core *core, const struct layout *layout, uint32_t tasks)
{
    struct levels *l = &core->levels;
    struct gang_places p = {.levels = l, .alone = true, .tasks = tasks};
    uint32_t *takes = mem_alloc(l->node_count, sizeof *takes);
    struct cost cost = {0, 0};

    if (together_spread_empty(core, layout, tasks, takes)) {
        for (uint32_t i = 0; i < l->node_count; i++)
            if (takes[i] > 0) {
                const struct standing_on on = {i, takes[i]};

                vec_push(p.on, p.count, p.cap, on);
            }
        cost = cost_of(&p);
    }
    mem_free(takes);
    mem_free(p.on);
    return cost;
}

/* As a row of what is remembered until nodes change. */
static struct cost remembered(struct core *core, const struct layout *layout, uint32_t tasks)
{
    struct levels *l = &core->levels;
    const uint64_t key = (uint64_t)(layout - core->shapes.layouts) << 32 | tasks;
    struct level_best best;
    struct cost cost;
    uint32_t row;

    if (!map_find(&l->best_rows, key, &row)) {
        cost = best_cost(core, layout, tasks);
        best = (struct level_best){{(uint64_t)(cost.all_reduce >> 64), (uint64_t)cost.all_reduce},
                                   {(uint64_t)(cost.all_to_all >> 64), (uint64_t)cost.all_to_all}};
        row = l->best_count;
        map_put(&l->best_rows, key, row);
        vec_push(l->best, l->best_count, l->best_cap, best);
    }
    best = l->best[row];
    return (struct cost){(wide)best.all_reduce[0] << 64 | best.all_reduce[1],
                         (wide)best.all_to_all[0] << 64 | best.all_to_all[1]};
}

static uint32_t ratio_ppm(wide cost, wide best)
{
    wide ppm;

    if (cost == 0 || best == 0)
        return 0;
    ppm = cost * 1000000 / best;
    return ppm < 1000000 ? 1000000 : ppm > SLOWDOWN_PPM_MAX ? SLOWDOWN_PPM_MAX : (uint32_t)ppm;
}

static void compare(struct core *core, const struct layout *layout, struct gang_places *p,
                    struct slowdown *out)
{
    struct cost cost, best;

    *out = (struct slowdown){0, 0};
    put_in_order(p);
    cost = cost_of(p);
    if (p->tasks > 1 && cost.all_reduce > 0) {
        best = remembered(core, layout, p->tasks);
        out->all_reduce_ppm = ratio_ppm(cost.all_reduce, best.all_reduce);
        out->all_to_all_ppm = ratio_ppm(cost.all_to_all, best.all_to_all);
    }
    mem_free(p->on);
}

void slowdown_of_trial(struct core *core, const struct layout *layout, uint32_t mark,
                       struct slowdown *out)
{
    struct gang_places p = {.levels = &core->levels};

    levels_load_sync(core);
    for (uint32_t i = mark; i < core->trial.count; i++)
        add_task(&p, core->trial.log[i].node);
    compare(core, layout, &p, out);
}

bool slowdown_within(struct core *core, const struct layout *layout, uint32_t mark)
{
    const uint32_t max_ppm = layout->together.slowdown_max_ppm;
    struct slowdown slowdown = {0, 0};

    if (max_ppm > 0)
        slowdown_of_trial(core, layout, mark, &slowdown);
    return slowdown.all_reduce_ppm <= max_ppm;
}

static const struct layout *layout_of(const struct core *core, const struct job *row)
{
    return &core->shapes.layouts[core->shapes.gangs[row->gang].first_layout + row->layout];
}

static void of_tasks(struct core *core, uint32_t job, uint32_t itself, struct slowdown *out)
{
    const struct job *row = &core->jobs.rows[job];
    struct gang_places p = {.levels = &core->levels, .itself = itself};

    *out = (struct slowdown){0, 0};
    if (core->levels.count == 0 || row->task_count < 2)
        return;
    levels_load_sync(core);
    for (uint32_t i = 0; i < row->task_count; i++)
        if (!job_task(core, row, i)->left)
            add_task(&p, job_task(core, row, i)->node);
    compare(core, layout_of(core, row), &p, out);
}

void slowdown_of_job(struct core *core, uint32_t job, struct slowdown *out)
{
    of_tasks(core, job, 1, out);
}

bool slowdown_accepted(struct core *core, uint32_t job)
{
    const struct job *row = &core->jobs.rows[job];
    struct slowdown slowdown;
    uint32_t max_ppm;

    if (row->task_first == ROW_NONE)
        return true;
    max_ppm = layout_of(core, row)->together.slowdown_max_ppm;
    if (max_ppm == 0)
        return true;
    of_tasks(core, job, 0, &slowdown);
    return slowdown.all_reduce_ppm <= max_ppm;
}
