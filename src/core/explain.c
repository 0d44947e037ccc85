/* SPDX-License-Identifier: Apache-2.0 */
/* explain.c - why a job waits, where it stands, and what would start it. */
#include "core/explain.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "core/core.h"
#include "core/elastic.h"
#include "core/ends.h"
#include "core/impl.h"
#include "core/life.h"
#include "core/nearest.h"
#include "core/place.h"
#include "core/reserve.h"
#include "core/rights.h"
#include "core/victims.h"
#include "core/without.h"

/* ---- room ---- */

/* How many tasks of the group find room, taken on trial. Of a layout whose tasks stay apart, as
 * many as there are nodes with room for one, at most. */
static uint32_t tasks_that_fit(struct core *core, const struct group *group, bool apart)
{
    uint32_t tasks = 0;
    struct obstacles nodes;

    if (apart) {
        obstacles_find(core, group->shape, &nodes);
        tasks = nodes.fitting < group->tasks ? nodes.fitting : group->tasks;
        obstacles_done(&nodes);
        return tasks;
    }
    while (tasks < group->tasks && place_task(core, group->shape, tasks))
        tasks++;
    return tasks;
}

/* Of a gang that must share a domain, or whose groups must, no more fit than in the best one. */
static void look_for_domain(struct core *core, const struct layout *layout, struct explanation *e)
{
    const struct together *t = &layout->together;

    if (layout->group_count > 1 || (t->within == LEVEL_NONE && t->group_within == LEVEL_NONE))
        return;
    together_look(core, layout, &e->lack);
    if (e->lack.best >= e->tasks)
        e->lack.level = LEVEL_NONE;
    e->tasks_fit = e->lack.best < e->tasks ? e->lack.best : e->tasks;
}

/* Which group of the first layout is short, and how many tasks find room in all. */
static void look_for_room(struct core *core, struct explanation *e)
{
    const struct gang *gang = &core->shapes.gangs[core->jobs.rows[e->job].gang];
    const struct layout layout = core->shapes.layouts[gang->first_layout];
    const uint32_t mark = trial_mark(&core->trial);
    bool short_of = false;

    e->groups = layout.group_count;
    for (uint32_t g = 0; g < layout.group_count; g++) {
        const struct group group = core->shapes.groups[layout.first_group + g];
        const uint32_t fit = tasks_that_fit(core, &group, layout.apart);

        e->tasks += group.tasks;
        e->tasks_fit += fit;
        if (fit < group.tasks && !short_of)
            e->group = g;
        short_of = short_of || fit < group.tasks;
    }
    trial_undo(core, mark);
    look_for_domain(core, &layout, e);
    obstacles_find(core, core->shapes.groups[layout.first_group + e->group].shape, &e->obstacles);
}

/* ---- bounds ---- */

static int64_t held_now(const struct queue *queue, enum resource r)
{
    return queue->used.of[r] + queue->claimed.of[r];
}

/* Only bytes of GPUs are stated: what part of a GPU they are shows on a node. */
static bool asks_by_bytes(const struct core *core, uint32_t gang)
{
    const struct layout *layout = &core->shapes.layouts[core->shapes.gangs[gang].first_layout];
    const struct shape *shape =
        &core->shapes.shapes[core->shapes.groups[layout->first_group].shape];

    return shape->gpus > 0 && shape->gpu_mgpu == 0;
}

static void look_for_bound(const struct core *core, struct explanation *e)
{
    const struct job *job = &core->jobs.rows[e->job];
    const struct amounts *asks = &core->shapes.gangs[job->gang].asks;
    struct explain_bound *b = &e->bound;
    const struct queue *queue;
    enum resource r;

    e->bound_queue = core->pending.buckets[job->bucket].bound;
    if (e->bound_queue == QUEUE_NONE ||
        queues_admit(&core->queues, &job->at, asks, &core->capacity, HELD_NOW, &b->refusal))
        return;
    r = b->refusal.resource;
    e->bound_queue = b->refusal.queue;
    queue = &core->queues.rows[b->refusal.bound == BOUND_LEND ? QUEUE_ROOT : b->refusal.queue];
    b->held = held_now(queue, r);
    b->asked = asks->of[r];
    if (r == RES_GPU_MGPU && asks_by_bytes(core, job->gang))
        b->asked_bytes = asks->of[RES_GPU_BYTES];
    b->limit = b->refusal.bound == BOUND_LEND ? core->capacity.of[r]
                                              : queues_bound_amount(&core->queues, &b->refusal);
}

/* ---- who keeps its room, though it may be taken from ---- */

static bool has_right(struct core *core, uint32_t job, uint32_t victim)
{
    return rights_over(core, job, victim, ROW_NONE, OVERSHOOT_ONCE) != RIGHT_NONE;
}

static void name_service(const struct core *core, struct explanation *e, const struct job *service)
{
    if (e->service_count == 0)
        e->service_tasks_min = job_tasks_min(core, service);
    if (e->services_named < EXPLAIN_OTHERS_MAX)
        e->services[e->services_named++] = service->id;
    e->service_count++;
}

static void name_young(const struct core *core, struct explanation *e, const struct job *young)
{
    if (e->young_named < EXPLAIN_OTHERS_MAX) {
        e->young[e->young_named] = young->id;
        e->until_us[e->young_named++] = young->start_us + job_min_run_us(core, young);
    }
    e->young_count++;
}

/* What is named keeps room that would be enough, each alone or only together. */
static void look_for_kept_room(struct core *core, struct explanation *e)
{
    struct leaving leaving = {false, false};

    if (e->tasks_fit == e->tasks || !rights_some(core, e->job))
        return;
    victims_refresh(core);
    if (without_fits(core, e->job, &leaving))
        return;
    leaving.services = without_fits(core, e->job, &(struct leaving){.services = true});
    leaving.young = without_fits(core, e->job, &(struct leaving){.young = true});
    if (!leaving.services && !leaving.young)
        leaving.services = leaving.young =
            without_fits(core, e->job, &(struct leaving){true, true});
    for (uint32_t i = rights_reach(core, e->job); i-- > 0;) { /* the worst come last */
        const uint32_t other = core->victims.list[i].job;
        const struct job *row = &core->jobs.rows[other];
        const bool young = leaving.young && without_is_too_young(core, e->job, other);

        if (young)
            name_young(core, e, row);
        if (leaving.services && row->service && (young || has_right(core, e->job, other)))
            name_service(core, e, row);
    }
}

/* ---- reservations ---- */

static void look_for_own_reservation(const struct core *core, struct explanation *e)
{
    const uint32_t row = core->jobs.rows[e->job].reservation;

    if (row == ROW_NONE)
        return;
    e->reserved_us = core->reserve.rows[row].at_us;
    e->reserved_first_us = core->reserve.rows[row].first_us;
    e->reserved_late_by = core->reserve.rows[row].late_by;
}

static void look_for_reservation_ahead(struct core *core, struct explanation *e)
{
    const int64_t bound_us = run_bound_us(core, &core->jobs.rows[e->job]);
    const uint32_t row = reserve_in_the_way(core, e->job);

    if (row == ROW_NONE)
        return;
    e->ahead_job = core->jobs.rows[core->reserve.rows[row].job].id;
    e->ahead_us = core->reserve.rows[row].at_us;
    if (bound_us < TIME_US_MAX)
        e->run_until_us = core->now_us + bound_us;
}

/* ---- other jobs ---- */

static void name_other(struct explanation *e, uint64_t job_id, enum after_end end)
{
    if (e->named < EXPLAIN_OTHERS_MAX) {
        e->others[e->named] = job_id;
        e->other_end[e->named++] = end;
    }
    e->other_count++;
}

static void look_for_after(const struct core *core, struct explanation *e)
{
    for (uint32_t i = 0; i < core->gate.edge_count; i++)
        if (core->gate.edges[i].job == e->job)
            name_other(e, core->gate.edges[i].on, core->gate.edges[i].end);
}

static void look_for_victims(const struct core *core, struct explanation *e)
{
    for (uint32_t i = 0; i < core->jobs.active_count; i++) {
        const struct job *row = &core->jobs.rows[core->jobs.active[i]];

        if (row->claimant != e->job_id || row->state != JOB_STOPPING)
            continue;
        name_other(e, row->id, AFTER_ANY);
        if (row->stop_us + job_grace_us(core, row) > e->killed_us)
            e->killed_us = row->stop_us + job_grace_us(core, row);
    }
}

static void look_for_array(const struct core *core, struct explanation *e)
{
    const uint32_t array = core->jobs.rows[e->job].array;

    e->array_limit = core->gate.arrays[array].limit;
    for (uint32_t job = 0; job < core->jobs.count; job++)
        if (core->jobs.rows[job].state != JOB_FREE && core->jobs.rows[job].array == array &&
            core->jobs.rows[job].let_in)
            name_other(e, core->jobs.rows[job].id, AFTER_ANY);
}

/* ---- all of it ---- */

static void look(struct core *core, struct explanation *e)
{
    switch (e->reason) {
    case REASON_HELD:
        break;
    case REASON_AFTER:
        look_for_after(core, e);
        break;
    case REASON_ARRAY:
        look_for_array(core, e);
        break;
    case REASON_VICTIMS:
        look_for_victims(core, e);
        break;
    default:
        if (core->jobs.rows[e->job].queued)
            look_for_bound(core, e);
        look_for_room(core, e);
        if (reason_is_of_room(e->reason))
            look_for_kept_room(core, e);
        look_for_own_reservation(core, e);
        if (e->reason == REASON_RESERVED)
            look_for_reservation_ahead(core, e);
        break;
    }
}

/* In line a reason is the bucket's; who stands behind its first job waits for the same. */
static enum reason reason_of(const struct core *core, uint32_t job)
{
    const struct job *row = &core->jobs.rows[job];
    enum reason reason = core_job_reason(core, job);

    if (row->state == JOB_PENDING && row->victims > 0)
        reason = REASON_VICTIMS;
    return reason;
}

static void explain_waiting(const struct core *core, struct core *scratch, struct explanation *e)
{
    const struct job *job = &scratch->jobs.rows[e->job];

    e->reason = reason_of(scratch, e->job);
    if (job->takes_after_us > e->now_us) {
        e->yields = job->yields;
        e->takes_after_us = job->takes_after_us;
    }
    look(scratch, e);
    e->tries = nearest_remedy(core, scratch, e, &e->remedy);
    position_count(scratch, e->job, &e->position);
}

/* The clone has let it go; its gang is still there. */
static void explain_rejected(const struct core *core, struct core *scratch, struct explanation *e)
{
    const struct job *job = &core->jobs.rows[e->job];

    e->reason = job->reason == REASON_AFTER ? REASON_IN_VAIN : job->reason;
    if (e->reason == REASON_NEVER)
        e->never = never_find(scratch, job->gang);
}

int explain(const struct core *core, uint64_t job_id, const struct explain_terms *terms,
            struct explanation *out, struct err *err)
{
    const uint32_t job = jobs_find(&core->jobs, job_id);
    struct decisions decisions;
    struct core *scratch;

    if (job == ROW_NONE)
        return err_set(err, -ENOENT, "job %llu: unknown, or over", (unsigned long long)job_id);
    *out = (struct explanation){
        .job_id = job_id,
        .job = job,
        .now_us = core->now_us,
        .state = core->jobs.rows[job].state,
        .bound_queue = QUEUE_NONE,
        .lack.level = LEVEL_NONE,
        .reserved_us = TIME_NONE,
        .reserved_late_by = JOB_NONE,
        .ahead_job = JOB_NONE,
        .run_until_us = TIME_NONE,
    };
    if (terms != NULL)
        out->terms = *terms;
    if (out->state != JOB_PENDING)
        return 0;
    scratch = core_clone(core);
    decisions_init(&decisions);
    core_step(scratch, core->now_us, &decisions);
    decisions_done(&decisions);
    out->rejected = jobs_find(&scratch->jobs, job_id) != job;
    if (out->rejected)
        explain_rejected(core, scratch, out);
    else if (scratch->jobs.rows[job].state != JOB_PENDING)
        out->starts = true;
    else
        explain_waiting(core, scratch, out);
    core_free(scratch);
    return 0;
}

void explanation_done(struct explanation *e)
{
    obstacles_done(&e->obstacles);
    memset(e, 0, sizeof *e);
}
