/* SPDX-License-Identifier: Apache-2.0 */
/* plan_near.c - who gives way, where there are too many candidates to look at all sets.
 *
 * For each task of the gang that has no room: on every node, take running tasks off in the order
 * worst job first until the task would fit, and choose the node where the jobs taken cost least.
 * Then each chosen job that could stay after all, best job first, is put back. Where fewer jobs of
 * that node would do at no higher price, these go instead. At last each is put back without which
 * the gang finds other places, unless that is too much work. */
#include "base/mem.h"
#include "core/fit.h"
#include "core/impl.h"
#include "core/life.h"
#include "core/place.h"
#include "core/plan.h"

/* The free amounts of one node while tasks are taken off it in thought. */
struct room {
    int64_t mcpu, memory_bytes;
    uint32_t gpus;
    int64_t gpu_mgpu[NODE_GPUS_MAX];
    int64_t gpu_bytes[NODE_GPUS_MAX];
    struct sharers sharers[NODE_GPUS_MAX];
    struct mig_held mig[NODE_GPUS_MAX]; /* where GPUs may be split */
    const struct mig_book *migs;        /* their books, or NULL */
};

/* The tasks of the leavers, listed by node in the order of their jobs. */
struct near {
    struct plan *plan;
    uint32_t *node_first, *node_last; /* [nodes] items */
    struct near_item {
        uint32_t task, leaver, next;
    } * items;
    uint32_t item_count, item_cap;
    bool *before; /* [leavers] who was chosen before a node made room */
    bool fewer;   /* some node was made to lose fewer jobs */
    bool plain;   /* none is to */
    bool settled; /* nobody more is taken off */
};

/* What a node asks for. */
struct near_price {
    uint32_t rank;
    int64_t price;
};

static void list_tasks_of(struct near *n, uint32_t leaver)
{
    struct core *core = n->plan->core;
    const struct leaver *l = &n->plan->leavers[leaver];
    const struct job *row = &core->jobs.rows[n->plan->jobs[l->of].job];

    for (uint32_t i = 0; i < row->task_count; i++) {
        const struct task *task = job_task(core, row, i);
        const struct near_item item = {row->task_first + i, leaver, ROW_NONE};

        if (task->left || (l->task != ROW_NONE && l->task != i))
            continue;
        if (n->node_first[task->node] == ROW_NONE)
            n->node_first[task->node] = n->item_count;
        else
            n->items[n->node_last[task->node]].next = n->item_count;
        n->node_last[task->node] = n->item_count;
        vec_push(n->items, n->item_count, n->item_cap, item);
    }
}

static void near_open(struct near *n, struct plan *p)
{
    *n = (struct near){.plan = p};
    n->node_first = mem_alloc(p->core->nodes.count, sizeof *n->node_first);
    n->node_last = mem_alloc(p->core->nodes.count, sizeof *n->node_last);
    n->before = mem_alloc(p->count, sizeof *n->before);
    for (uint32_t node = 0; node < p->core->nodes.count; node++)
        n->node_first[node] = ROW_NONE;
    for (uint32_t v = 0; v < p->count; v++)
        list_tasks_of(n, v);
}

static void near_close(struct near *n)
{
    mem_free(n->node_first);
    mem_free(n->node_last);
    mem_free(n->before);
    mem_free(n->items);
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
    room->migs = row->mig_first != ROW_NONE ? nodes_mig(&core->nodes, node, 0) : NULL;
    for (uint32_t i = 0; i < room->gpus; i++) {
        const struct gpu_book *gpu = &core->nodes.gpus[row->gpu_first + i];
        const bool gone = row->lost_mask >> i & 1;

        room->gpu_mgpu[i] = gone ? 0 : GPU_MGPU - gpu->held_mgpu;
        room->gpu_bytes[i] = gone ? 0 : class->gpu_memory_bytes - gpu->held_bytes;
        room->sharers[i] = gpu->sharers;
        if (room->migs != NULL)
            room->mig[i] = room->migs[i].held;
    }
}

static int64_t at_least_0(int64_t amount)
{
    return amount > 0 ? amount : 0;
}

static void room_add(struct core *core, const struct task *task, struct room *room)
{
    struct holding holding;
    struct need need;

    fit_ever(core, task->shape, core->nodes.rows[task->node].class_id, &need);
    holding = holding_on(&core->shapes.shapes[task->shape],
                         nodes_class_of(&core->nodes, task->node), &need, task->gpu_mask);
    room->mcpu += holding.mcpu;
    room->memory_bytes += holding.memory_bytes;
    for (uint64_t left = holding.gpus; left != 0; left &= left - 1) {
        const uint32_t gpu = (uint32_t)__builtin_ctzll(left);

        if (core->nodes.rows[task->node].lost_mask >> gpu & 1)
            continue;
        room->gpu_mgpu[gpu] += holding.need.mgpu;
        room->gpu_bytes[gpu] += holding.need.memory_bytes;
        if (holding.need.company != COMPANY_NONE)
            sharers_add(&room->sharers[gpu], holding.need.company, -1);
        if (need.mode == GPU_MIG)
            mig_held_add(&room->mig[gpu], class_mig(nodes_class_of(&core->nodes, task->node)),
                         need.profile, task->mig_start, -1);
    }
}

/* Instances that nobody holds stand as well, and only tasks like theirs can have the GPU. */
static bool is_split(const struct room *room, uint32_t gpu)
{
    return room->migs != NULL && (room->migs[gpu].made.layout | room->migs[gpu].made.blocked |
                                  room->mig[gpu].layout) != 0;
}

static bool room_is_empty(const struct node_class *class, const struct room *room)
{
    uint32_t whole_free = 0;

    for (uint32_t i = 0; i < room->gpus; i++)
        whole_free += room->gpu_mgpu[i] == GPU_MGPU && !is_split(room, i);
    return state_is_empty(class, whole_free, room->mcpu, room->memory_bytes);
}

static bool gpu_fits(const struct room *room, uint32_t gpu, const struct node_class *class,
                     const struct need *need)
{
    struct sharers sharers = room->sharers[gpu];

    if (need->mode == GPU_MIG ? !mig_could_have(class_mig(class), &room->migs[gpu].made,
                                                &room->mig[gpu], need->profile)
                              : is_split(room, gpu))
        return false;
    if (room->gpu_mgpu[gpu] < need->mgpu || at_least_0(room->gpu_bytes[gpu]) < need->memory_bytes)
        return false;
    if (need->company != COMPANY_NONE)
        sharers_add(&sharers, need->company, 1);
    return sharers_may(&sharers, class);
}

static bool room_fits(const struct shape *shape, const struct node_class *class,
                      const struct need *need, const struct room *room)
{
    uint32_t fitting = 0;

    if (shape->exclusive)
        return room_is_empty(class, room);

    if (at_least_0(room->mcpu) < shape->cpu_mcpu ||
        at_least_0(room->memory_bytes) < shape->memory_bytes)
        return false;
    for (uint32_t i = 0; i < room->gpus; i++)
        fitting += gpu_fits(room, i, class, need);
    return fitting >= shape->gpus;
}

/* The price goes up by what it costs to take this leaver too, of whose job so many are taken
 * already. False if it may not be taken. */
static bool add_price(const struct leaving_job *job, uint32_t taken, struct near_price *price)
{
    if (taken < job->spare)
        price->price += job->task_price;
    else if (!job->whole)
        return false;
    else if (taken == job->spare)
        price->price += job->price; /* and the job with it */
    price->rank = job->rank > price->rank ? job->rank : price->rank;
    return true;
}

/* What is lost if this node makes room; false if it cannot. */
static bool node_price(const struct near *n, uint32_t node, uint32_t shape_id,
                       struct near_price *out)
{
    const struct plan *p = n->plan;
    uint32_t item = n->node_first[node], last = ROW_NONE, of = ROW_NONE, taken = 0;
    struct room room;
    struct need need;

    *out = (struct near_price){0, 0};
    if (item == ROW_NONE || !fit_ever(p->core, shape_id, p->core->nodes.rows[node].class_id, &need))
        return false;
    room_of(p->core, node, &room);
    for (; item != ROW_NONE; item = n->items[item].next) {
        const uint32_t v = n->items[item].leaver;

        if (p->leavers[v].chosen || p->leavers[v].barred)
            continue; /* off already, or not to be taken */
        if (p->leavers[v].of != of)
            taken = p->jobs[p->leavers[v].of].taken;
        of = p->leavers[v].of;
        if (v != last && !add_price(&p->jobs[of], taken++, out))
            continue;
        last = v;
        room_add(p->core, &p->core->jobs.tasks[n->items[item].task], &room);
        if (room_fits(&p->core->shapes.shapes[shape_id], nodes_class_of(&p->core->nodes, node),
                      &need, &room))
            return true;
    }
    return false;
}

static bool node_fits(struct core *core, uint32_t node, uint32_t shape_id)
{
    struct need need;

    return core->nodes.rows[node].state != ROW_NONE &&
           fit_now(core, shape_id, core->nodes.rows[node].state, &need);
}

bool plan_take_of_job(struct plan *p, uint32_t v)
{
    const struct leaving_job *job = &p->jobs[p->leavers[v].of];

    if (job->taken < job->spare)
        return plan_take(p, v);
    if (!job->whole)
        return false;
    for (uint32_t i = job->first; i < job->first + job->count; i++)
        if (!p->leavers[i].chosen && !plan_take(p, i))
            return false;
    return true;
}

/* Puts the job back: all of it, or what it can spare if that is enough. */
static void put_back_job(struct plan *p, const struct leaving_job *job, uint32_t node,
                         uint32_t shape_id)
{
    const bool whole = job->taken > job->spare;
    const uint32_t before = job->taken, mark = trial_mark(&p->core->trial);
    bool back = true;

    for (uint32_t i = job->first; i < job->first + job->count && back; i++) {
        const uint32_t one = trial_mark(&p->core->trial);

        if (!p->leavers[i].chosen)
            continue;
        back = plan_put_back(p, i);
        if (back && shape_id != ROW_NONE && !node_fits(p->core, node, shape_id)) {
            trial_undo(p->core, one);
            plan_retake(p, i);
            back = false;
        }
        back = back || !whole; /* of a job that goes on, others may be put back */
    }
    if (!whole || job->taken == 0 || job->taken <= job->spare)
        return;
    trial_undo(p->core, mark); /* not enough of it can stay for it to go on */
    for (uint32_t i = job->first; i < job->first + job->count && job->taken < before; i++)
        if (!p->leavers[i].chosen)
            plan_retake(p, i);
}

/* Worst first may take off more than was needed: a small job, and then a large one that is enough
 * alone. Put back, best first, who may stay while the task still fits. */
static void spare(struct plan *p, uint32_t node, uint32_t shape_id, uint32_t last)
{
    for (uint32_t j = last; j-- > 0;)
        if (p->jobs[j].taken > 0)
            put_back_job(p, &p->jobs[j], node, shape_id);
}

/* ---- fewer jobs, at no higher price ---- */

#define FEWER_MAX 64u /* jobs of one node that fewer are looked for instead of */

/* Who leaves a node, and what that costs. */
struct few {
    uint32_t leavers[FEWER_MAX]; /* [count] */
    uint32_t count;
    struct near_price price;
};

/* The tasks of a leaver are off, on trial. */
static void give_tasks(const struct plan *p, uint32_t leaver)
{
    const struct leaver *l = &p->leavers[leaver];
    const struct job *row = &p->core->jobs.rows[p->jobs[l->of].job];

    for (uint32_t i = 0; i < row->task_count; i++) {
        const struct task *task = job_task(p->core, row, i);

        if (!task->left && (l->task == ROW_NONE || l->task == i))
            trial_give(p->core, task->node, task->shape, task->gpu_mask, task->mig_start, i);
    }
}

/* Those that were taken off for this node. False if it was one alone, or not only whole jobs, or if
 * others were put back for it: then all stays as it is. */
static bool list_taken(const struct near *n, uint32_t node, struct few *out)
{
    const struct plan *p = n->plan;
    uint32_t last = ROW_NONE;

    *out = (struct few){.count = 0};
    for (uint32_t v = 0; v < p->count; v++)
        if (n->before[v] && !p->leavers[v].chosen)
            return false;
    for (uint32_t item = n->node_first[node]; item != ROW_NONE; item = n->items[item].next) {
        const uint32_t v = n->items[item].leaver;

        if (v == last || !p->leavers[v].chosen || n->before[v])
            continue;
        if (p->leavers[v].task != ROW_NONE || out->count == FEWER_MAX)
            return false;
        (void)add_price(&p->jobs[p->leavers[v].of], 0, &out->price);
        out->leavers[out->count++] = last = v;
    }
    return out->count > 1;
}

static bool is_in(const struct few *few, uint32_t leaver)
{
    for (uint32_t i = 0; i < few->count; i++)
        if (few->leavers[i] == leaver)
            return true;
    return false;
}

/* The dearest job of the node that may still be taken for so much; of equal ones the worst. */
static uint32_t dearest_for(const struct near *n, uint32_t node, const struct few *few,
                            const struct near_price *most)
{
    const struct plan *p = n->plan;
    const int64_t left = most->price - few->price.price;
    uint32_t best = ROW_NONE;

    for (uint32_t item = n->node_first[node]; item != ROW_NONE; item = n->items[item].next) {
        const uint32_t v = n->items[item].leaver;
        const struct leaving_job *job = &p->jobs[p->leavers[v].of];

        if (p->leavers[v].task == ROW_NONE && !p->leavers[v].chosen && !p->leavers[v].barred &&
            job->rank <= most->rank && job->price <= left && !is_in(few, v) &&
            (best == ROW_NONE || job->price > p->jobs[p->leavers[best].of].price))
            best = v;
    }
    return best;
}

/* In thought, with nobody off for this node. */
static bool find_fewer(const struct near *n, uint32_t node, uint32_t shape_id,
                       const struct few *taken, struct few *out)
{
    struct core *core = n->plan->core;
    struct room room;
    struct need need;
    uint32_t v;

    *out = (struct few){.count = 0};
    if (!fit_ever(core, shape_id, core->nodes.rows[node].class_id, &need))
        return false;
    room_of(core, node, &room);
    while (out->count + 1 < taken->count &&
           (v = dearest_for(n, node, out, &taken->price)) != ROW_NONE) {
        (void)add_price(&n->plan->jobs[n->plan->leavers[v].of], 0, &out->price);
        out->leavers[out->count++] = v;
        for (uint32_t item = n->node_first[node]; item != ROW_NONE; item = n->items[item].next)
            if (n->items[item].leaver == v)
                room_add(core, &core->jobs.tasks[n->items[item].task], &room);
        if (room_fits(&core->shapes.shapes[shape_id], nodes_class_of(&core->nodes, node), &need,
                      &room))
            return true;
    }
    return false;
}

static bool take_few(struct plan *p, const struct few *few)
{
    for (uint32_t i = 0; i < few->count; i++)
        if (!plan_take(p, few->leavers[i]))
            return false;
    return true;
}

static void untake_few(struct plan *p, const struct few *few, uint32_t mark)
{
    for (uint32_t i = 0; i < few->count; i++)
        if (p->leavers[few->leavers[i]].chosen)
            plan_untake(p, few->leavers[i]);
    trial_undo(p->core, mark);
}

/* mark: of the trial, when n->before was written and nobody was off for this node. */
static void prefer_fewer(struct near *n, uint32_t node, uint32_t shape_id, uint32_t mark)
{
    struct plan *p = n->plan;
    struct few taken, fewer;

    if (n->plain || !list_taken(n, node, &taken))
        return;
    untake_few(p, &taken, mark);
    if (find_fewer(n, node, shape_id, &taken, &fewer) && take_few(p, &fewer) &&
        node_fits(p->core, node, shape_id)) {
        n->fewer = true;
        return;
    }
    untake_few(p, &fewer, mark);
    for (uint32_t i = 0; i < taken.count; i++) {
        plan_retake(p, taken.leavers[i]);
        give_tasks(p, taken.leavers[i]);
    }
}

static uint32_t cheapest_node(const struct near *n, uint32_t shape_id)
{
    const struct core *core = n->plan->core;
    struct near_price least = {0, 0}, price;
    uint32_t best = ROW_NONE;

    for (uint32_t node = 0; node < core->nodes.count; node++) {
        const struct node *row = &core->nodes.rows[node]; /* no state: used by this gang */

        if (!row->in_use || row->state == ROW_NONE || !node_price(n, node, shape_id, &price))
            continue;
        if (best == ROW_NONE || price.rank < least.rank ||
            (price.rank == least.rank && price.price < least.price)) {
            least = price;
            best = node;
        }
    }
    return best;
}

/* Takes off what the cheapest node asks for. A right may end with what was taken before; then that
 * job is barred, and the nodes are asked again. */
static bool make_room(struct near *n, uint32_t shape_id)
{
    struct plan *p = n->plan;

    for (uint32_t node; (node = cheapest_node(n, shape_id)) != ROW_NONE;) {
        const uint32_t mark = trial_mark(&p->core->trial);
        uint32_t item = n->node_first[node], last = 0;
        bool barred = false;

        for (uint32_t v = 0; v < p->count; v++)
            n->before[v] = p->leavers[v].chosen;
        for (; item != ROW_NONE && !barred && !node_fits(p->core, node, shape_id);
             item = n->items[item].next) {
            const uint32_t v = n->items[item].leaver;

            if (p->leavers[v].chosen || p->leavers[v].barred)
                continue;
            last = p->leavers[v].of;
            barred = p->leavers[v].barred = !plan_take_of_job(p, v);
        }
        if (barred)
            continue;
        if (!node_fits(p->core, node, shape_id))
            return false;
        spare(p, node, shape_id, last);
        prefer_fewer(n, node, shape_id, mark);
        return true;
    }
    return false;
}

/* Before room on nodes. */
bool plan_make_way(struct plan *p)
{
    const struct queues *q = &p->core->queues;
    uint32_t queue;

    for (uint32_t v = 0; !plan_admits(p, &queue); v++) {
        for (; v < p->count; v++) {
            const struct standing *at = &p->core->jobs.rows[p->jobs[p->leavers[v].of].job].at;

            if (!p->leavers[v].chosen &&
                (queues_is_below(q, at->leaf, queue) || at->of_class == queue) &&
                plan_take_of_job(p, v))
                break;
        }
        if (v == p->count)
            return false;
    }
    return true;
}

void plan_put_back_unneeded(struct plan *p)
{
    for (uint32_t j = p->job_count; j-- > 0;)
        if (p->jobs[j].taken > 0)
            put_back_job(p, &p->jobs[j], ROW_NONE, ROW_NONE);
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

static bool place_in_room(struct near *n, const struct layout *layout, uint32_t shape_id,
                          uint32_t slot)
{
    if (layout->apart)
        hide_nodes(n->plan);
    if (place_next(n->plan, shape_id, slot))
        return true;
    if (n->settled || !make_room(n, shape_id))
        return false;
    if (layout->apart)
        hide_nodes(n->plan); /* booking has shown them again */
    return place_next(n->plan, shape_id, slot);
}

static bool place_all(struct near *n, const struct layout *layout)
{
    uint32_t task = 0;

    for (uint32_t g = 0; g < layout->group_count; g++) {
        const struct group group = n->plan->core->shapes.groups[layout->first_group + g];
        const uint32_t tasks = layout->group_count == 1 ? layout->tasks_min : group.tasks;

        for (uint32_t i = 0; i < tasks; i++, task++)
            if (!place_in_room(n, layout, group.shape, task))
                return false;
    }
    return true;
}

/* ---- who is not needed, were the gang placed otherwise ---- */

#define REFINE_MAX 2048u /* tasks placed at most: the gang once for each who leaves */

static void give_chosen(const struct plan *p)
{
    for (uint32_t v = 0; v < p->count; v++)
        if (p->leavers[v].chosen)
            give_tasks(p, v);
}

static void take_places(struct plan *p, const struct trial_item *places, uint32_t count)
{
    p->place_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        trial_take(p->core, places[i].node, places[i].shape, places[i].gpu_mask,
                   places[i].mig_start, places[i].slot);
        vec_push(p->places, p->place_count, p->place_cap, places[i]);
    }
}

/* These leavers go back, if the others are enough; mark: of the trial before anybody left. */
static bool do_without(struct near *n, const struct layout *layout, uint32_t mark, uint32_t first,
                       uint32_t end)
{
    struct plan *p = n->plan;
    const uint32_t count = p->place_count;
    struct trial_item *places = mem_copy(p->places, count, sizeof *places);
    uint32_t queue;
    bool done;

    for (uint32_t v = first; v < end; v++)
        plan_untake(p, v);
    trial_undo(p->core, mark);
    give_chosen(p);
    p->place_count = 0;
    done = plan_admits(p, &queue) && place_all(n, layout) && plan_places_admitted(p) &&
           plan_is_entitled(p);
    if (!done) {
        trial_undo(p->core, mark);
        for (uint32_t v = first; v < end; v++)
            plan_retake(p, v);
        give_chosen(p);
        take_places(p, places, count);
    }
    mem_free(places);
    return done;
}

/* The rights over others may hang on what leaves beside the waiting job. */
static bool is_beside(const struct plan *p, const struct leaving_job *job)
{
    const struct jobs *jobs = &p->core->jobs;
    uint32_t own, other;

    queues_diverge(&p->core->queues, jobs->rows[p->job].at.leaf, jobs->rows[job->job].at.leaf, &own,
                   &other);
    return p->core->queues.books && own == other;
}

/* Jobs that leave whole, and single tasks of those that go on; best first. */
static void refine(struct near *n, const struct layout *layout, uint32_t mark)
{
    struct plan *p = n->plan;
    uint32_t chosen = 0;

    for (uint32_t v = 0; v < p->count; v++)
        chosen += p->leavers[v].chosen;
    if ((uint64_t)chosen * p->place_count > REFINE_MAX)
        return;
    n->settled = true;
    for (uint32_t j = p->job_count; j-- > 0;) {
        const struct leaving_job *job = &p->jobs[j];
        const uint32_t end = job->first + job->count;

        if (job->taken == 0 || is_beside(p, job))
            continue;
        if (job->taken > job->spare) {
            (void)do_without(n, layout, mark, job->first, end);
            continue;
        }
        for (uint32_t v = job->first; v < end; v++)
            if (p->leavers[v].chosen)
                (void)do_without(n, layout, mark, v, v + 1);
    }
    n->settled = false;
}

/* Chooses whom, and places the gang; all is as before if it does not go in. */
static bool try_plan(struct near *n, const struct layout *layout)
{
    struct plan *p = n->plan;
    const uint32_t mark = trial_mark(&p->core->trial);

    n->fewer = false;
    p->place_count = 0;
    for (uint32_t v = 0; v < p->count; v++)
        p->leavers[v].barred = false;
    if (plan_make_way(p) && place_all(n, layout) && plan_places_admitted(p) &&
        plan_is_entitled(p)) {
        plan_put_back_unneeded(p);
        refine(n, layout, mark);
        return true;
    }
    plan_untake_all(p, mark);
    return false;
}

/* Fewer jobs may be of other queues, so that what it takes is not its own to hold. */
static bool try_layout(struct near *n, uint32_t layout)
{
    const struct shapes *s = &n->plan->core->shapes;
    const struct gang *gang = &s->gangs[n->plan->core->jobs.rows[n->plan->job].gang];
    const struct layout *of = &s->layouts[gang->first_layout + layout];
    bool done;

    n->plan->layout = layout;
    done = try_plan(n, of);
    if (done || !n->fewer)
        return done;
    n->plain = true;
    done = try_plan(n, of);
    n->plain = false;
    return done;
}

bool plan_near(struct plan *p)
{
    const struct gang *gang = &p->core->shapes.gangs[p->core->jobs.rows[p->job].gang];
    struct near near;
    bool done = false;

    near_open(&near, p);
    for (uint32_t i = 0; i < gang->layout_count && !done; i++)
        done = together_matters(&p->core->shapes.layouts[gang->first_layout + i].together)
                   ? plan_together(p, i)
                   : try_layout(&near, i);
    near_close(&near);
    return done;
}
