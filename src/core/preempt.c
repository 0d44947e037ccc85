/* SPDX-License-Identifier: Apache-2.0 */
/* preempt.c - running jobs give way to a waiting one.
 *
 * For each task of the gang that has no room: on every node, take running tasks off in the order
 * worst job first until the task would fit, and choose the node where the jobs taken hold the
 * least GPU compute. All on trial. Then each chosen job that could stay after all, best job first,
 * is put back. What is left is the plan. */
#include "core/preempt.h"

#include "base/check.h"
#include "base/mem.h"
#include "core/claim.h"
#include "core/fit.h"
#include "core/impl.h"
#include "core/life.h"
#include "core/place.h"
#include "core/victims.h"

/* The free amounts of one node while tasks are taken off it in thought. */
struct room {
    int64_t mcpu, memory_bytes;
    uint32_t gpus;
    int64_t gpu_mgpu[NODE_GPUS_MAX];
    int64_t gpu_bytes[NODE_GPUS_MAX];
};

struct plan {
    struct core *core;
    uint32_t candidate_count; /* the first so many victims may give way */
    /* Tasks that may give way, listed by node in the order of their jobs. */
    uint32_t *node_first, *node_last; /* [nodes] items */
    struct plan_item {
        uint32_t task, victim, next;
    } * items;
    uint32_t item_count, item_cap;
    bool *chosen;              /* [candidate_count] */
    struct trial_item *places; /* [place_count] where the gang goes */
    uint32_t place_count, place_cap;
};

static void list_tasks(struct plan *p)
{
    struct core *core = p->core;

    for (uint32_t v = 0; v < p->candidate_count; v++) {
        const struct job *row = &core->jobs.rows[p->core->victims.list[v].job];

        for (uint32_t i = 0; row->state == JOB_RUNNING && i < row->task_count; i++) {
            const struct task *task = job_task(core, row, i);
            const struct plan_item item = {row->task_first + i, v, ROW_NONE};

            if (task->left)
                continue;
            if (p->node_first[task->node] == ROW_NONE)
                p->node_first[task->node] = p->item_count;
            else
                p->items[p->node_last[task->node]].next = p->item_count;
            p->node_last[task->node] = p->item_count;
            vec_push(p->items, p->item_count, p->item_cap, item);
        }
    }
}

static void plan_init(struct plan *p, struct core *core, uint32_t candidate_count)
{
    *p = (struct plan){.core = core, .candidate_count = candidate_count};
    p->node_first = mem_alloc(core->nodes.count, sizeof *p->node_first);
    p->node_last = mem_alloc(core->nodes.count, sizeof *p->node_last);
    p->chosen = mem_alloc(candidate_count, sizeof *p->chosen);
    for (uint32_t node = 0; node < core->nodes.count; node++)
        p->node_first[node] = ROW_NONE;
    list_tasks(p);
}

static void plan_done(struct plan *p)
{
    mem_free(p->node_first);
    mem_free(p->node_last);
    mem_free(p->items);
    mem_free(p->chosen);
    mem_free(p->places);
}

/* ---- one node in thought ---- */

/* Below zero where claims or a deficit hold more than there is: what leaves fills that up first. */
static void room_of(const struct core *core, uint32_t node, struct room *room)
{
    const struct node *row = &core->nodes.rows[node];
    const struct node_class *class = nodes_class_of(&core->nodes, node);

    room->mcpu = class->cpu_mcpu - row->held_mcpu;
    room->memory_bytes = class->memory_bytes - row->held_memory_bytes;
    room->gpus = class->gpu_count;
    for (uint32_t i = 0; i < room->gpus; i++) {
        const struct gpu_book *gpu = &core->nodes.gpus[row->gpu_first + i];
        const bool gone = row->lost_mask >> i & 1;

        room->gpu_mgpu[i] = gone ? 0 : GPU_MGPU - gpu->held_mgpu;
        room->gpu_bytes[i] = gone ? 0 : class->gpu_memory_bytes - gpu->held_bytes;
    }
}

static int64_t at_least_0(int64_t amount)
{
    return amount > 0 ? amount : 0;
}

static void room_add(struct core *core, const struct task *task, struct room *room)
{
    const struct shape *shape = &core->shapes.shapes[task->shape];
    struct need need;

    fit_ever(core, task->shape, core->nodes.rows[task->node].class_id, &need);
    room->mcpu += shape->cpu_mcpu;
    room->memory_bytes += shape->memory_bytes;
    for (uint64_t left = task->gpu_mask; left != 0; left &= left - 1) {
        const uint32_t gpu = (uint32_t)__builtin_ctzll(left);

        if (core->nodes.rows[task->node].lost_mask >> gpu & 1)
            continue;
        room->gpu_mgpu[gpu] += need.mgpu;
        room->gpu_bytes[gpu] += need.memory_bytes;
    }
}

static bool room_fits(const struct shape *shape, const struct need *need, const struct room *room)
{
    uint32_t fitting = 0;

    if (at_least_0(room->mcpu) < shape->cpu_mcpu ||
        at_least_0(room->memory_bytes) < shape->memory_bytes)
        return false;
    for (uint32_t i = 0; i < room->gpus; i++)
        fitting +=
            room->gpu_mgpu[i] >= need->mgpu && at_least_0(room->gpu_bytes[i]) >= need->memory_bytes;
    return fitting >= shape->gpus;
}

/* GPU compute that is lost if this node makes room, INT64_MAX if it cannot. */
static int64_t node_price(const struct plan *p, uint32_t node, uint32_t shape_id)
{
    struct core *core = p->core;
    struct room room;
    struct need need;
    uint32_t item = p->node_first[node], last = ROW_NONE;
    int64_t price = 0;

    if (item == ROW_NONE || !fit_ever(core, shape_id, core->nodes.rows[node].class_id, &need))
        return INT64_MAX;
    room_of(core, node, &room);
    for (; item != ROW_NONE; item = p->items[item].next) {
        const uint32_t victim = p->items[item].victim;

        if (p->chosen[victim])
            continue; /* off already */
        room_add(core, &core->jobs.tasks[p->items[item].task], &room);
        if (victim != last)
            price +=
                core->shapes.gangs[core->jobs.rows[p->core->victims.list[victim].job].gang].mgpu;
        last = victim;
        if (room_fits(&core->shapes.shapes[shape_id], &need, &room))
            return price;
    }
    return INT64_MAX;
}

/* ---- the plan ---- */

static void take_off(struct plan *p, uint32_t victim)
{
    const struct job *row = &p->core->jobs.rows[p->core->victims.list[victim].job];

    p->chosen[victim] = true;
    for (uint32_t i = 0; i < row->task_count; i++) {
        const struct task *task = job_task(p->core, row, i);

        if (!task->left)
            trial_give(p->core, task->node, task->shape, task->gpu_mask, i);
    }
}

static bool node_fits(struct core *core, uint32_t node, uint32_t shape_id)
{
    struct need need;

    return core->nodes.rows[node].state != ROW_NONE &&
           fit_now(core, shape_id, core->nodes.rows[node].state, &need);
}

/* Could all tasks of this chosen job stay where they are? */
static bool can_stay(struct core *core, const struct job *row)
{
    for (uint32_t i = 0; i < row->task_count; i++) {
        const struct task *task = job_task(core, row, i);
        const struct shape *shape = &core->shapes.shapes[task->shape];
        struct need need;

        if (task->left)
            continue;
        fit_ever(core, task->shape, core->nodes.rows[task->node].class_id, &need);
        if (nodes_free_mcpu(&core->nodes, task->node) < shape->cpu_mcpu ||
            nodes_free_memory_bytes(&core->nodes, task->node) < shape->memory_bytes)
            return false;
        for (uint64_t left = task->gpu_mask; left != 0; left &= left - 1) {
            const uint32_t gpu = (uint32_t)__builtin_ctzll(left);

            if (nodes_gpu_free_mgpu(&core->nodes, task->node, gpu) < need.mgpu ||
                nodes_gpu_free_bytes(&core->nodes, task->node, gpu) < need.memory_bytes)
                return false;
        }
        trial_take(core, task->node, task->shape, task->gpu_mask, i);
    }
    return true;
}

/* Worst first may take off more than was needed: a small job, and then a large one that is enough
 * alone. Put back, best first, who may stay while the task still fits. */
static void spare(struct plan *p, uint32_t node, uint32_t shape_id, uint32_t last)
{
    for (uint32_t v = last; v-- > 0;) {
        const uint32_t mark = trial_mark(&p->core->trial);

        if (!p->chosen[v])
            continue;
        if (can_stay(p->core, &p->core->jobs.rows[p->core->victims.list[v].job]) &&
            node_fits(p->core, node, shape_id))
            p->chosen[v] = false;
        else
            trial_undo(p->core, mark);
    }
}

static bool make_room(struct plan *p, uint32_t shape_id)
{
    uint32_t best = ROW_NONE, item, last = 0;
    int64_t least = INT64_MAX;

    for (uint32_t node = 0; node < p->core->nodes.count; node++) {
        const struct node *row = &p->core->nodes.rows[node]; /* no state: used by this gang */
        const int64_t price =
            row->in_use && row->state != ROW_NONE ? node_price(p, node, shape_id) : INT64_MAX;

        if (price < least) {
            least = price;
            best = node;
        }
    }
    if (best == ROW_NONE)
        return false;
    item = p->node_first[best];
    for (; !node_fits(p->core, best, shape_id); item = p->items[item].next) {
        check(item != ROW_NONE);
        if (!p->chosen[p->items[item].victim]) {
            take_off(p, p->items[item].victim);
            last = p->items[item].victim;
        }
    }
    spare(p, best, shape_id, last);
    return true;
}

static void put_back_unneeded(struct plan *p)
{
    for (uint32_t v = p->candidate_count; v-- > 0;) {
        const uint32_t mark = trial_mark(&p->core->trial);

        if (!p->chosen[v])
            continue;
        if (can_stay(p->core, &p->core->jobs.rows[p->core->victims.list[v].job]))
            p->chosen[v] = false;
        else
            trial_undo(p->core, mark);
    }
}

/* The next task of the gang; what the trial took last is where it goes. What it took before may be
 * of a job that was put back. */
static bool place_next(struct plan *p, uint32_t shape_id, uint32_t slot)
{
    if (!place_task(p->core, shape_id, slot))
        return false;
    vec_push(p->places, p->place_count, p->place_cap, p->core->trial.log[p->core->trial.count - 1]);
    return true;
}

/* Tasks that stay apart: nodes that hold one already are out of the index until the undo. */
static void hide_nodes(const struct plan *p)
{
    for (uint32_t i = 0; i < p->place_count; i++)
        index_remove(&p->core->index, &p->core->nodes, p->places[i].node);
}

static bool place_all(struct plan *p, const struct layout *layout)
{
    for (uint32_t g = 0; g < layout->group_count; g++) {
        const struct group group = p->core->shapes.groups[layout->first_group + g];

        for (uint32_t i = 0; i < group.tasks; i++) {
            if (layout->apart)
                hide_nodes(p);
            if (place_next(p, group.shape, i))
                continue;
            if (!make_room(p, group.shape))
                return false;
            if (layout->apart)
                hide_nodes(p); /* booking has shown them again */
            if (!place_next(p, group.shape, i))
                return false;
        }
    }
    put_back_unneeded(p);
    return true;
}

static void stop_chosen(struct plan *p, uint32_t job, struct decisions *out)
{
    struct job *claimant = &p->core->jobs.rows[job];

    for (uint32_t v = 0; v < p->candidate_count; v++) {
        const uint32_t victim = p->core->victims.list[v].job;

        if (!p->chosen[v])
            continue;
        p->core->jobs.rows[victim].claimant = claimant->id;
        claimant->victims++;
        job_stop(p->core, victim, STOP_PREEMPT, out);
    }
    claim_make(p->core, job, p->places, p->place_count);
    vec_push(p->core->claimants, p->core->claimant_count, p->core->claimant_cap, job);
}

bool preempt_for(struct core *core, uint32_t job, int64_t key, struct decisions *out)
{
    const uint32_t mark = trial_mark(&core->trial);
    const struct gang *gang = &core->shapes.gangs[core->jobs.rows[job].gang];
    const uint32_t candidates = victims_above(core, key);
    struct plan plan;
    bool done;

    if (candidates == 0)
        return false;
    plan_init(&plan, core, candidates);
    done = place_all(&plan, &core->shapes.layouts[gang->first_layout]);
    trial_undo(core, mark); /* the victims still hold what they have */
    if (done)
        stop_chosen(&plan, job, out);
    plan_done(&plan);
    return done;
}
