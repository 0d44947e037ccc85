/* SPDX-License-Identifier: Apache-2.0 */
/* check_rights.c - who may take from whom.
 *
 * What a queue is entitled to is read from the core, as it was worked out in this step; what it
 * holds is not. Where a plan of several victims is judged by what those before have left, this is
 * judged by all of them, so a doubt is in favour of the core. */
#include <string.h>

#include "core/impl.h"
#include "core/life.h"
#include "core/view.h"
#include "soak/oracle.h"

typedef unsigned long long ull;

/* Do both go by one order that takes? */
static bool same_order_takes(const struct oracle *o, uint64_t a, uint64_t b)
{
    struct core *core = o->world->core;
    const uint32_t x = core_find_job(core, a), y = core_find_job(core, b);

    return x == ROW_NONE || y == ROW_NONE || /* gone in this step: not known */
           (orderer_of(core, x) == orderer_of(core, y) &&
            orderer_of(core, x)->policy->preempts == PREEMPT_TAKE);
}

bool oracle_class_takes(const struct oracle *o, uint32_t job, uint32_t other)
{
    return model_class_of(&o->model, &o->model.jobs[other])->rank <
           model_class_of(&o->model, &o->model.jobs[job])->takes_below;
}

static bool goes_first(const struct oracle *o, const struct m_job *job, const struct m_job *victim,
                       const struct decision *stop)
{
    const struct class_spec *class = model_class_of(&o->model, job);
    const struct class_spec *other = model_class_of(&o->model, victim);

    return oracle_class_takes(o, (uint32_t)stop->for_job - 1, (uint32_t)stop->job_id - 1) ||
           (other->rank == class->rank && same_order_takes(o, stop->for_job, stop->job_id));
}

/* Those queues of the two where they part: NULL if both are in one. */
static void part(const struct rules_spec *rules, const struct queue_spec **a,
                 const struct queue_spec **b)
{
    const struct queue_spec *x = *a, *y = *b;

    while (x != NULL && model_parent(rules, x) != NULL &&
           !model_is_below(rules, y, model_parent(rules, x)))
        x = model_parent(rules, x);
    while (y != NULL && model_parent(rules, y) != NULL &&
           !model_is_below(rules, *a, model_parent(rules, y)))
        y = model_parent(rules, y);
    *a = x == y ? NULL : x;
    *b = x == y ? NULL : y;
}

/* What it asks for at least, on whatever node: shares of memory are not counted. */
static void asks_of(const struct m_job *job, int64_t out[RES_COUNT])
{
    const struct job_layout_spec *layout = &job->spec.layouts[0];

    memset(out, 0, RES_COUNT * sizeof out[0]);
    for (uint32_t g = 0; g < layout->group_count; g++) {
        const struct group_spec *group = &layout->groups[g];
        const int64_t tasks = layout->group_count == 1 ? model_tasks_min(job) : group->tasks;
        const bool whole = group->gpu_mgpu == 0 && group->gpu_memory_bytes == 0;

        out[RES_GPU_MGPU] += tasks * group->gpus * (whole ? GPU_MGPU : group->gpu_mgpu);
        out[RES_CPU_MCPU] += tasks * group->cpu_mcpu;
        out[RES_MEMORY_BYTES] += tasks * group->memory_bytes;
    }
}

/* With what it asks for, its queue holds no more than it is entitled to: all that leaves for it is
 * gone, what is claimed is not counted. */
static bool is_entitled(const struct oracle *o, const struct decisions *d,
                        const struct decision *stop, const struct queue_spec *queue)
{
    const struct m_job *job = &o->model.jobs[stop->for_job - 1];
    const struct queue *row = oracle_queue(o, queue->name);
    int64_t used[RES_COUNT], leaving[RES_COUNT], asks[RES_COUNT];

    model_used(&o->model, &(struct m_whose){.queue = queue}, false, used);
    model_used(&o->model, &(struct m_whose){.queue = queue}, true, leaving);
    for (uint32_t i = 0; i < d->count; i++) {
        const struct m_job *victim = &o->model.jobs[d->items[i].job_id - 1];

        if (d->items[i].type == DECISION_STOP && d->items[i].for_job == stop->for_job &&
            victim->state == M_HOLDS &&
            model_is_of(&o->model, victim, &(struct m_whose){.queue = queue}))
            for (uint32_t t = 0; t < victim->task_count; t++)
                model_add_task(&o->model, victim, t, leaving);
    }
    asks_of(job, asks);
    for (uint32_t r = 0; r < RES_COUNT; r++)
        if (asks[r] > 0 && row->entitled.of[r] != AMOUNT_NONE &&
            used[r] - leaving[r] + asks[r] > row->entitled.of[r])
            return false;
    return true;
}

/* The queue holds more than it is entitled to of something that the victim holds. */
static bool is_above(const struct oracle *o, const struct m_job *victim,
                     const struct queue_spec *queue)
{
    const struct queue *row = oracle_queue(o, queue->name);
    int64_t used[RES_COUNT], leaving[RES_COUNT], held[RES_COUNT] = {0};
    bool above = false;

    for (uint32_t t = 0; t < victim->task_count; t++)
        model_add_task(&o->model, victim, t, held);
    model_used(&o->model, &(struct m_whose){.queue = queue}, false, used);
    model_used(&o->model, &(struct m_whose){.queue = queue}, true, leaving);
    for (uint32_t r = 0; r < RES_COUNT; r++)
        above |= held[r] > 0 && row->entitled.of[r] != AMOUNT_NONE &&
                 used[r] - leaving[r] + row->claimed.of[r] > row->entitled.of[r];
    return above;
}

/* Somebody for whom others were told to stop has lost its claim to another one in the same step:
 * what queues were entitled to in between is not known. */
static bool claim_came_and_went(const struct oracle *o, const struct decisions *d)
{
    const struct core *core = o->world->core;

    for (uint32_t i = 0; i < d->count; i++) {
        const bool gives_way = d->items[i].type == DECISION_STOP && d->items[i].for_job != JOB_NONE;
        const uint32_t job = gives_way ? core_find_job(core, d->items[i].for_job) : ROW_NONE;

        if (job != ROW_NONE && core_job(core, job)->state == JOB_PENDING &&
            !job_has_claim(core_job(core, job)))
            return true;
    }
    return false;
}

void check_right(const struct oracle *o, const struct decisions *d, const struct decision *stop)
{
    const struct m_job *job = &o->model.jobs[stop->for_job - 1];
    const struct m_job *victim = &o->model.jobs[stop->job_id - 1];
    const struct queue_spec *own = model_queue_of(&o->model, job), *other;
    const bool first = goes_first(o, job, victim, stop);
    const struct queue_spec *leaf = other = model_queue_of(&o->model, victim);
    bool entitled;

    part(&o->model.rules, &own, &other);
    if (own == NULL || other == NULL) { /* users of one leaf may go by share */
        if (!first && strcmp(job->spec.user, victim->spec.user) == 0)
            broken(o, "right", "job %llu: job %llu has no right to take from it", (ull)stop->job_id,
                   (ull)stop->for_job);
        return;
    }
    entitled = is_entitled(o, d, stop, own);
    if (!first && !entitled)
        broken(o, "right", "job %llu: job %llu takes from it, and its queue is not entitled to",
               (ull)stop->job_id, (ull)stop->for_job);
    for (; !(first && entitled) && leaf != NULL && !claim_came_and_went(o, d);
         leaf = leaf == other ? NULL : model_parent(&o->model.rules, leaf))
        if (!is_above(o, victim, leaf))
            broken(o, "right", "job %llu: job %llu takes from it, and queue %s is not above",
                   (ull)stop->job_id, (ull)stop->for_job, leaf->name);
}
