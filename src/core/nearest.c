/* SPDX-License-Identifier: Apache-2.0 */
/* nearest.c - the nearest single change with which a waiting job would start now. */
#include "core/nearest.h"

#include "base/mem.h"
#include "base/sort.h"
#include "base/vec.h"
#include "core/core.h"
#include "core/elastic.h"
#include "core/explain.h"
#include "core/impl.h"
#include "core/life.h"
#include "core/place.h"
#include "core/rehearse.h"
#include "core/rights.h"

#define MIB (INT64_C(1) << 20)

/* One search. */
struct search {
    const struct core *core; /* what changes are tried on, each on a clone of it */
    struct core *scratch;
    const struct explanation *e;
    uint32_t tries;
    struct remedy *out;
};

/* ---- trying ---- */

/* Who ran before the change, and does not go on after it. */
static void list_stopped(const struct core *before, const struct core *after, struct remedy *remedy)
{
    for (uint32_t i = 0; i < before->jobs.active_count; i++) {
        const struct job *row = &before->jobs.rows[before->jobs.active[i]];
        const uint32_t now = jobs_find(&after->jobs, row->id);

        if (row->state == JOB_STOPPING || row->id == remedy->job_id ||
            (now != ROW_NONE && after->jobs.rows[now].run == row->run &&
             after->jobs.rows[now].state != JOB_PENDING))
            continue;
        if (remedy->stopped_named < REMEDY_STOPPED_MAX)
            remedy->stopped[remedy->stopped_named++] = row->id;
        remedy->stopped_count++;
    }
}

static uint32_t slowdown_there(struct core *core, uint32_t job)
{
    struct slowdown slowdown;

    slowdown_of_job(core, job, &slowdown);
    return slowdown.all_reduce_ppm;
}

static bool starts_with(const struct search *s, struct remedy *remedy)
{
    const uint64_t id = s->e->job_id;
    struct rehearsal r;
    uint32_t job;
    bool starts = false;

    rehearse_open(&r, s->core);
    if (remedy_make(r.core, id, remedy, NULL) == 0) {
        rehearse_step(&r, r.core->now_us);
        job = jobs_find(&r.core->jobs, id);
        starts = job != ROW_NONE && (r.core->jobs.rows[job].state == JOB_RUNNING ||
                                     r.core->jobs.rows[job].state == JOB_STARTING);
        if (starts)
            list_stopped(s->core, r.core, remedy);
        if (starts && remedy->type == REMEDY_SLOWDOWN)
            remedy->to = slowdown_there(r.core, job);
    }
    rehearse_close(&r);
    return starts;
}

/* Returns whether the search is over. */
static bool try_remedy(struct search *s, const struct remedy *remedy)
{
    struct remedy tried = *remedy;

    if (s->tries == NEAREST_TRIES_MAX)
        return true;
    s->tries++;
    if (!starts_with(s, &tried))
        return false;
    *s->out = tried;
    return true;
}

/* ---- what it asks for ---- */

static const struct job *job_of(const struct search *s)
{
    return &s->core->jobs.rows[s->e->job];
}

static const struct layout *layout_of(const struct search *s)
{
    const struct gang *gang = &s->core->shapes.gangs[job_of(s)->gang];

    return &s->core->shapes.layouts[gang->first_layout];
}

static const struct group *group_of(const struct search *s)
{
    return &s->core->shapes.groups[layout_of(s)->first_group + s->e->group];
}

/* Each task that finds no room now needs a node on which only this is short. */
static bool try_less(struct search *s)
{
    const struct group *group = group_of(s);
    const struct shape *shape = &s->core->shapes.shapes[group->shape];
    const int64_t asked[SHORT_COUNT] = {
        [SHORT_GPU_MGPU] = shape->gpu_mgpu < GPU_MGPU ? shape->gpu_mgpu : 0,
        [SHORT_GPU_BYTES] = shape->gpu_memory_bytes,
        [SHORT_CPU_MCPU] = shape->cpu_mcpu,
        [SHORT_MEMORY_BYTES] = shape->memory_bytes,
    };
    const uint32_t lacking = s->e->tasks - s->e->tasks_fit;

    for (int what = 0; what < SHORT_COUNT; what++) {
        const struct nearly *nearly = &s->e->obstacles.nearly[what];
        const bool bytes = what == SHORT_GPU_BYTES || what == SHORT_MEMORY_BYTES;
        struct remedy remedy = {.type = REMEDY_LESS,
                                .group = s->e->group,
                                .what = (enum shortage)what,
                                .from = asked[what]};

        if (lacking == 0 || nearly->count < lacking)
            continue;
        remedy.to = nearly->most[lacking - 1];
        if (bytes && remedy.to > MIB)
            remedy.to -= remedy.to % MIB; /* a number that can be written down */
        if (remedy.to < remedy.from && try_remedy(s, &remedy))
            return true;
    }
    return false;
}

/* As many as find room, and as many as the bound of its queue leaves. */
static bool try_tasks(struct search *s)
{
    const struct explain_bound *b = &s->e->bound;
    const struct group *group = group_of(s);
    struct remedy remedy = {.type = REMEDY_TASKS, .group = s->e->group, .from = group->tasks};
    int64_t to = (int64_t)group->tasks - (s->e->tasks - s->e->tasks_fit);

    if (b->refusal.bound != BOUND_NONE && b->asked > 0 && s->e->groups == 1) {
        const int64_t each = b->asked / group->tasks, left = b->limit - b->held;

        if (each > 0 && left / each < to)
            to = left / each;
    }
    remedy.to = to;
    return to > 0 && to < remedy.from && try_remedy(s, &remedy);
}

/* The next coarser level, and so on up to none, or down to what all tasks share. */
static bool try_coarser(struct search *s, enum remedy_type type, uint32_t level, uint32_t least)
{
    const struct levels *l = &s->core->levels;
    uint32_t index = levels_find(l, level);

    while (index-- > 0 && l->rows[index].name != least) {
        const struct remedy remedy = {.type = type, .name = l->rows[index].name};

        if (try_remedy(s, &remedy))
            return true;
    }
    return try_remedy(s, &(struct remedy){.type = type, .name = LEVEL_NONE});
}

static bool try_levels(struct search *s)
{
    const struct together *t = &layout_of(s)->together;
    const struct remedy any = {
        .type = REMEDY_SLOWDOWN, .from = t->slowdown_max_ppm, .to = SLOWDOWN_PPM_MAX};

    if (s->e->reason == REASON_SLOWDOWN)
        return try_remedy(s, &any);
    if (s->e->lack.level == LEVEL_NONE)
        return false;
    return (t->within != LEVEL_NONE && try_coarser(s, REMEDY_WITHIN, t->within, LEVEL_NONE)) ||
           (t->group_within != LEVEL_NONE &&
            try_coarser(s, REMEDY_GROUPS, t->group_within, t->within));
}

static bool try_terms(struct search *s)
{
    const struct obstacles *o = &s->e->obstacles;
    uint32_t labels = 0;

    for (uint32_t i = 0; i < o->count; i++) {
        const struct obstacle *item = &o->items[i];
        struct remedy remedy = {.type = REMEDY_MODELS, .group = s->e->group, .name = item->what};

        if (item->kind != OBSTACLE_MODEL && item->kind != OBSTACLE_LABEL)
            continue;
        if (item->kind == OBSTACLE_LABEL)
            remedy.type = REMEDY_LABEL;
        if (item->kind == OBSTACLE_LABEL && labels++ == NEAREST_EACH_MAX)
            return false;
        if (try_remedy(s, &remedy))
            return true;
    }
    return false;
}

/* ---- what it is held back by ---- */

static bool try_limit(struct search *s)
{
    const struct explain_bound *b = &s->e->bound;
    const struct remedy remedy = {
        .type = REMEDY_LIMIT, .from = b->limit, .to = b->held + b->asked, .refusal = b->refusal};

    return b->refusal.bound != BOUND_NONE && b->refusal.bound != BOUND_LEND &&
           b->held + b->asked > b->limit && try_remedy(s, &remedy);
}

/* The classes above its own, the next one first. */
static bool try_class(struct search *s)
{
    const struct classes *c = &s->core->classes;
    uint32_t rank = c->rows[job_of(s)->class_id].rank;

    for (uint32_t n = 0; n < NEAREST_EACH_MAX && !s->e->terms.class_fixed; n++) {
        struct remedy remedy = {.type = REMEDY_CLASS};
        uint32_t next = ROW_NONE;

        for (uint32_t i = 0; i < c->count; i++)
            if (c->rows[i].rank > rank &&
                (next == ROW_NONE || c->rows[i].rank < c->rows[next].rank))
                next = i;
        if (next == ROW_NONE)
            return false;
        rank = c->rows[next].rank;
        remedy.name = c->rows[next].name;
        if (queues_let(&c->users[c->rows[next].user_first], c->rows[next].user_count,
                       job_of(s)->user) &&
            try_remedy(s, &remedy))
            return true;
    }
    return false;
}

/* One node of each class: the others of it would do as well, or as little. */
static bool try_node(struct search *s)
{
    const struct nodes *nodes = &s->core->nodes;
    uint32_t tried[NEAREST_EACH_MAX], count = 0;

    for (uint32_t node = 0; node < nodes->count && count < NEAREST_EACH_MAX; node++) {
        const struct node *row = &nodes->rows[node];
        const struct remedy remedy = {.type = REMEDY_NODE, .name = row->name};
        bool known = !row->in_use || core_node_out(s->core, node) != NODE_OUT_DRAINED ||
                     !core_shape_fits_class(s->core, group_of(s)->shape, row->class_id);

        for (uint32_t i = 0; i < count; i++)
            known = known || tried[i] == row->class_id;
        if (known)
            continue;
        tried[count++] = row->class_id;
        if (try_remedy(s, &remedy))
            return true;
    }
    return false;
}

/* ---- other jobs ---- */

static int fewest_gpus_first(const void *a, const void *b, void *arg)
{
    const struct core *core = arg;
    const struct job *x = &core->jobs.rows[*(const uint32_t *)a];
    const struct job *y = &core->jobs.rows[*(const uint32_t *)b];
    const int64_t mgpu_x = core->shapes.gangs[x->gang].mgpu;
    const int64_t mgpu_y = core->shapes.gangs[y->gang].mgpu;

    if (mgpu_x != mgpu_y)
        return mgpu_x < mgpu_y ? -1 : 1;
    return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

/* The last of its tasks are spared first. Those are off, on trial, or all others are. */
static void take_off(struct core *core, uint32_t job, uint32_t spared, bool others)
{
    const struct job *row = &core->jobs.rows[job];

    for (uint32_t i = row->task_count; i-- > 0;) {
        const struct task *task = job_task(core, row, i);
        const bool spare = spared > 0 && !task->leaving;

        if (task->left)
            continue;
        spared -= spare;
        if (spare != others)
            trial_give(core, task->node, task->shape, task->gpu_mask, task->mig_start, i);
    }
}

static bool has_right_over(const struct search *s, uint32_t job)
{
    return s->scratch->jobs.rows[job].state == JOB_RUNNING &&
           rights_over(s->scratch, s->e->job, job, ROW_NONE, OVERSHOOT_NEVER);
}

/* Of a service that it may take from: what that does not keep gives way anyway. */
static uint32_t spared_tasks(const struct search *s, uint32_t job)
{
    return s->scratch->jobs.rows[job].service && has_right_over(s, job)
               ? job_spare_tasks(s->scratch, job)
               : 0;
}

/* So many whole GPUs are free on a node of the job's tasks, with what each of these holds there. */
static bool has_whole_gpus(const struct core *core, uint32_t job, uint32_t gpus, bool with_own)
{
    const struct job *row = &core->jobs.rows[job];

    for (uint32_t i = 0; i < row->task_count; i++) {
        const struct task *task = job_task(core, row, i);
        const uint32_t state = !task->left ? core->nodes.rows[task->node].state : ROW_NONE;
        const uint32_t free = state != ROW_NONE ? core->index.rows[state].whole_free : 0;
        const uint32_t own = with_own ? core->shapes.shapes[task->shape].gpus : 0;

        if (!task->left && free + own >= gpus)
            return true;
    }
    return false;
}

/* Room for whole GPUs only where enough of a node is free with what the job holds there. */
static bool may_help(const struct search *s, uint32_t job)
{
    const struct shape *shape = &s->scratch->shapes.shapes[group_of(s)->shape];
    const uint32_t mark = trial_mark(&s->scratch->trial);
    bool may;

    if (shape->gpu_mgpu != GPU_MGPU || shape->gpus == 0)
        return true;
    if (s->scratch->jobs.rows[job].task_count == 1)
        return has_whole_gpus(s->scratch, job, shape->gpus, true);
    take_off(s->scratch, job, spared_tasks(s, job), true);
    may = has_whole_gpus(s->scratch, job, shape->gpus, false);
    trial_undo(s->scratch, mark);
    return may;
}

/* Would there be room without the job, and without all that gives way anyway? */
static bool makes_room(const struct search *s, uint32_t job)
{
    const uint32_t mark = trial_mark(&s->scratch->trial);
    enum reason reason;
    uint32_t layout;
    bool room;

    take_off(s->scratch, job, spared_tasks(s, job), true);
    room = place_gang(s->scratch, job_of(s)->gang, UINT32_MAX, &layout, &reason);
    trial_undo(s->scratch, mark);
    return room;
}

/* Who holds enough of what a queue is short of. */
static bool eases_bound(const struct search *s, uint32_t job)
{
    const struct explain_bound *b = &s->e->bound;
    const struct job *row = &s->scratch->jobs.rows[job];

    if (s->scratch->shapes.gangs[row->gang].asks.of[b->refusal.resource] <
        b->held + b->asked - b->limit)
        return false;
    return b->refusal.bound == BOUND_LEND || row->at.of_class == b->refusal.queue ||
           queues_is_below(&s->scratch->queues, row->at.leaf, b->refusal.queue);
}

static bool try_each(struct search *s, const uint32_t *jobs, uint32_t count)
{
    uint32_t looks = 0, tried = 0;

    for (uint32_t i = 0; i < count && looks < NEAREST_LOOKS_MAX && tried < NEAREST_EACH_MAX; i++) {
        const struct remedy remedy = {.type = REMEDY_JOB_ENDS,
                                      .job_id = s->scratch->jobs.rows[jobs[i]].id};

        if (s->e->bound.refusal.bound != BOUND_NONE) {
            if (!eases_bound(s, jobs[i]))
                continue;
        } else {
            if (!may_help(s, jobs[i]))
                continue;
            looks++;
            if (!makes_room(s, jobs[i]))
                continue;
        }
        tried++;
        if (try_remedy(s, &remedy))
            return true;
    }
    return false;
}

/* Running jobs in order of the GPUs that they hold; those over which it has a right are off
 * already, for it would make them give way, but for what a service keeps. */
static bool try_ends(struct search *s)
{
    struct core *core = s->scratch;
    const uint32_t mark = trial_mark(&core->trial);
    const bool rights = rights_some(core, s->e->job);
    uint32_t *jobs = NULL, count = 0, cap = 0;
    bool over;

    for (uint32_t i = 0; i < core->jobs.active_count; i++) {
        const uint32_t job = core->jobs.active[i];
        const bool service = core->jobs.rows[job].service;

        if (!rights || !has_right_over(s, job) || service)
            vec_push(jobs, count, cap, job);
        if (rights && has_right_over(s, job))
            take_off(core, job, service ? spared_tasks(s, job) : UINT32_MAX, false);
    }
    sort_stable(jobs, count, sizeof *jobs, fewest_gpus_first, core);
    over = try_each(s, jobs, count);
    trial_undo(core, mark);
    mem_free(jobs);
    return over;
}

/* Those that it waits for by name; it takes one of them to end only if there is one. */
static bool try_others(struct search *s)
{
    const struct explanation *e = s->e;
    const bool any_will_do = e->reason == REASON_ARRAY;

    if (!any_will_do && e->other_count != 1)
        return false;
    for (uint32_t i = 0; i < e->named && i < NEAREST_EACH_MAX; i++) {
        const struct remedy remedy = {.type = REMEDY_JOB_ENDS,
                                      .job_id = e->others[i],
                                      .badly = e->reason == REASON_AFTER &&
                                               e->other_end[i] == AFTER_FAILED};

        if (try_remedy(s, &remedy))
            return true;
    }
    return false;
}

static void search(struct search *s)
{
    const struct remedy release = {.type = REMEDY_RELEASE};
    const bool one_layout = s->core->shapes.gangs[job_of(s)->gang].layout_count == 1;

    if (s->e->reason == REASON_HELD)
        (void)try_remedy(s, &release);
    else if (s->e->other_count > 0)
        (void)try_others(s);
    else
        (void)((one_layout && (try_levels(s) || try_less(s) || try_tasks(s) || try_terms(s))) ||
               try_limit(s) || try_class(s) || try_node(s) || try_ends(s));
}

uint32_t nearest_remedy(const struct core *core, struct core *scratch, const struct explanation *e,
                        struct remedy *out)
{
    struct search s = {.core = core, .scratch = scratch, .e = e, .out = out};

    *out = (struct remedy){.type = REMEDY_NONE};
    if (e->reason != REASON_NEVER || e->obstacles.count > 0 || e->lack.level != LEVEL_NONE)
        search(&s);
    return s.tries;
}
