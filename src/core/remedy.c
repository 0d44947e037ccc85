/* SPDX-License-Identifier: Apache-2.0 */
/* remedy.c - one change that somebody could make so that a waiting job starts. */
#include "core/remedy.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "core/core.h"
#include "core/elastic.h"
#include "core/impl.h"

/* ---- a job as it was submitted ---- */

/* The texts and groups that a request points to. */
struct resubmission {
    struct job_spec spec;
    struct job_layout_spec *layouts;
    struct group_spec *groups;
    const char **terms;
    char (*profiles)[MIG_ASK_BYTES]; /* of each group */
};

static const char **texts_of(const struct core *core, const uint32_t *names, uint32_t count,
                             const char **room)
{
    for (uint32_t i = 0; i < count; i++)
        room[i] = names_text(&core->names, names[i]);
    return room + count;
}

/* What it says of an instance of a split GPU. */
static const char *profile_of(const struct shape *shape, char room[MIG_ASK_BYTES])
{
    if (!shape_is_mig(shape))
        return "";
    if (shape->mig.compute_slices == 0)
        return "any";
    mig_ask_text(&shape->mig, room);
    return room;
}

static const char **group_of(const struct core *core, const struct group *group,
                             struct group_spec *out, const char **room)
{
    const struct shape *shape = &core->shapes.shapes[group->shape];
    const struct selector *selector = &core->shapes.selectors[shape->selector];

    *out = (struct group_spec){
        .tasks = group->tasks,
        .cpu_mcpu = shape->cpu_mcpu,
        .memory_bytes = shape->memory_bytes,
        .gpus = shape->gpus,
        .gpu_mgpu = shape->gpu_mgpu,
        .gpu_memory_bytes = shape->gpu_memory_bytes,
        .models = room,
        .model_count = selector->model_count,
        .label_count = selector->label_count,
    };
    room = texts_of(core, selector->models, selector->model_count, room);
    out->labels = room;
    return texts_of(core, selector->labels, selector->label_count, room);
}

static void layouts_of(const struct core *core, const struct gang *gang, struct resubmission *out)
{
    const struct layout *layouts = &core->shapes.layouts[gang->first_layout];
    struct group_spec *group;
    const char **terms;
    uint32_t groups = 0;

    for (uint32_t i = 0; i < gang->layout_count; i++)
        groups += layouts[i].group_count;
    out->layouts = mem_alloc(gang->layout_count, sizeof *out->layouts);
    group = out->groups = mem_alloc(groups, sizeof *out->groups);
    out->profiles = mem_alloc(groups, sizeof *out->profiles);
    terms = out->terms = mem_alloc((size_t)groups * 2 * SELECTOR_TERMS_MAX, sizeof *out->terms);
    for (uint32_t i = 0; i < gang->layout_count; i++) {
        out->layouts[i] = (struct job_layout_spec){
            .groups = group,
            .group_count = layouts[i].group_count,
            .slowdown_ppm = layouts[i].slowdown_ppm,
            .apart = layouts[i].apart,
        };
        for (uint32_t g = 0; g < layouts[i].group_count; g++, group++) {
            const struct group *asked = &core->shapes.groups[layouts[i].first_group + g];

            terms = group_of(core, asked, group, terms);
            group->mig =
                profile_of(&core->shapes.shapes[asked->shape], out->profiles[group - out->groups]);
        }
    }
}

/* Its tasks have nodes for themselves; that is of the job, and so of all its groups. */
static bool wants_nodes(const struct core *core, const struct gang *gang)
{
    const struct layout *layout = &core->shapes.layouts[gang->first_layout];

    return core->shapes.shapes[core->shapes.groups[layout->first_group].shape].exclusive;
}

/* That parts of GPUs may be had in; what it is of the first part that it asks for is of all. */
static uint32_t modes_of(const struct core *core, const struct gang *gang)
{
    const struct layout *layout = &core->shapes.layouts[gang->first_layout];

    for (uint32_t g = 0; g < layout->group_count; g++) {
        const struct group *group = &core->shapes.groups[layout->first_group + g];

        if (shape_is_share(&core->shapes.shapes[group->shape]) &&
            !shape_is_mig(&core->shapes.shapes[group->shape]))
            return core->shapes.shapes[group->shape].modes;
    }
    return 0;
}

static const char *level_text(const struct core *core, uint32_t level)
{
    return level != LEVEL_NONE ? names_text(&core->names, level) : "";
}

/* What is of the job is of all its layouts. */
static void together_of(const struct core *core, const struct gang *gang, struct job_spec *out)
{
    const struct together *t = &core->shapes.layouts[gang->first_layout].together;

    out->within = level_text(core, t->within);
    out->near = level_text(core, t->near);
    out->group_within = level_text(core, t->group_within);
    out->group_size = t->group_size;
    out->slowdown_max_ppm = t->slowdown_max_ppm;
}

static void resubmission_make(const struct core *core, const struct job *job,
                              struct resubmission *out)
{
    const struct gang *gang = &core->shapes.gangs[job->gang];

    *out = (struct resubmission){0};
    layouts_of(core, gang, out);
    out->spec = (struct job_spec){
        .id = job->id,
        .queue = names_text(&core->names, job->queue),
        .user = names_text(&core->names, job->user),
        .name = names_text(&core->names, job->name),
        .class = names_text(&core->names, core->classes.rows[job->class_id].name),
        .layouts = out->layouts,
        .layout_count = gang->layout_count,
        .tasks_min = job_is_elastic(core, job) ? job_tasks_min(core, job) : 0,
        .service = job->service,
        .exclusive = wants_nodes(core, gang),
        .fixed = job->fixed,
        .modes = modes_of(core, gang),
        .qos = job->qos,
        .retries = job->retries_left,
        .deadline_us = job->deadline_us != TIME_NONE ? job->deadline_us : 0,
        .limit_us = job->limit_us,
        .grace_us = job->grace_us,
        .min_run_us = job->min_run_us,
        .array = "",
        .remaining_us = job->remaining_us,
    };
    together_of(core, gang, &out->spec);
    if (job->array != ROW_NONE) {
        const struct array *array = &core->gate.arrays[job->array];

        out->spec.array = names_text(&core->names, array->name);
        out->spec.array_limit = array->limit != UINT32_MAX ? array->limit : 0;
    }
}

static void resubmission_done(struct resubmission *request)
{
    mem_free(request->layouts);
    mem_free(request->groups);
    mem_free(request->terms);
    mem_free(request->profiles);
}

/* ---- a job that asks otherwise ---- */

static void ask_less(struct group_spec *group, enum shortage what, int64_t to)
{
    switch (what) {
    case SHORT_GPUS:
        group->gpus = (uint32_t)to;
        break;
    case SHORT_GPU_MGPU:
        group->gpu_mgpu = (uint32_t)to;
        break;
    case SHORT_GPU_BYTES:
        group->gpu_memory_bytes = to;
        break;
    case SHORT_CPU_MCPU:
        group->cpu_mcpu = to;
        break;
    case SHORT_MEMORY_BYTES:
        group->memory_bytes = to;
        break;
    case SHORT_MIG:
    case SHORT_SHARED: /* that is no matter of how much */
    case SHORT_COUNT:
        break;
    }
}

static void ask_fewer_tasks(struct job_spec *spec, struct group_spec *group, uint32_t tasks)
{
    group->tasks = tasks;
    if (spec->tasks_min > tasks)
        spec->tasks_min = tasks;
}

/* The group's terms are its own, so one may be taken out. */
static void drop_label(struct resubmission *request, struct group_spec *group, const char *label)
{
    uint32_t kept = 0;
    const char **labels = request->terms + (group->labels - (const char *const *)request->terms);

    for (uint32_t i = 0; i < group->label_count; i++)
        if (labels[i] != label)
            labels[kept++] = labels[i];
    group->label_count = kept;
}

static void regroup(struct job_spec *spec, const char *level)
{
    spec->group_within = level;
    spec->group_size = level[0] != '\0' ? spec->group_size : 0;
}

static int ask_otherwise(struct core *clone, uint32_t job, const struct remedy *remedy,
                         struct err *err)
{
    struct resubmission request;
    struct group_spec *group;
    struct event event = {.type = EVENT_JOB_CANCELLED, .at_us = clone->now_us};
    int rc;

    resubmission_make(clone, &clone->jobs.rows[job], &request);
    group = &request.groups[remedy->group];
    if (remedy->type == REMEDY_LESS)
        ask_less(group, remedy->what, remedy->to);
    else if (remedy->type == REMEDY_TASKS)
        ask_fewer_tasks(&request.spec, group, (uint32_t)remedy->to);
    else if (remedy->type == REMEDY_MODELS)
        group->model_count = 0;
    else if (remedy->type == REMEDY_WITHIN)
        request.spec.within = level_text(clone, remedy->name);
    else if (remedy->type == REMEDY_GROUPS)
        regroup(&request.spec, level_text(clone, remedy->name));
    else if (remedy->type == REMEDY_SLOWDOWN)
        request.spec.slowdown_max_ppm = (uint32_t)remedy->to;
    else if (remedy->type == REMEDY_LABEL)
        drop_label(&request, group, names_text(&clone->names, remedy->name));
    else
        request.spec.class = names_text(&clone->names, remedy->name);
    event.job_id = request.spec.id;
    rc = core_apply(clone, &event, err);
    event =
        (struct event){.type = EVENT_JOB_SUBMITTED, .at_us = clone->now_us, .job = request.spec};
    rc = rc < 0 ? rc : core_apply(clone, &event, err);
    resubmission_done(&request);
    return rc;
}

/* ---- others ---- */

/* The configuration would be sent anew, whole; here only what is different is written. */
static int raise_limit(struct core *clone, const struct remedy *remedy, struct err *err)
{
    struct queue *queue = &clone->queues.rows[remedy->refusal.queue];
    const enum resource r = remedy->refusal.resource;

    if (remedy->refusal.bound == BOUND_LEND || remedy->refusal.bound == BOUND_NONE)
        return err_set(err, -EINVAL, "a queue keeps back what it does not lend");
    if (remedy->refusal.bound == BOUND_BORROW)
        queue->borrow.of[r] =
            remedy->to - (queue->guarantee.of[r] != AMOUNT_NONE ? queue->guarantee.of[r] : 0);
    else
        queue->limit.of[r] = remedy->to;
    clone->index.gains++; /* who was held back may start */
    return 0;
}

static int end_job(struct core *clone, const struct remedy *remedy, struct err *err)
{
    struct event event = {.type = EVENT_JOB_CANCELLED, .at_us = clone->now_us};
    const uint32_t job = jobs_find(&clone->jobs, remedy->job_id);
    uint32_t tasks;
    int rc = 0;

    event.job_id = remedy->job_id;
    if (job == ROW_NONE || clone->jobs.rows[job].state == JOB_PENDING)
        return core_apply(clone, &event, err); /* it never began */
    if (clone->jobs.rows[job].service)
        return core_apply(clone, &event, err); /* it ends when somebody ends it */
    tasks = clone->jobs.rows[job].task_count;
    for (uint32_t i = 0; i < tasks && rc == 0; i++) {
        if (jobs_find(&clone->jobs, remedy->job_id) != job ||
            clone->jobs.rows[job].state == JOB_PENDING)
            break; /* that was its last task */
        event = (struct event){
            .type = EVENT_TASK_EXITED,
            .at_us = clone->now_us,
            .task = {.job_id = remedy->job_id, .task = i, .node = ""},
        };
        event.task.exit_code = remedy->badly;
        rc = core_apply(clone, &event, err);
    }
    return rc;
}

int remedy_make(struct core *clone, uint64_t job_id, const struct remedy *remedy, struct err *err)
{
    struct event event = {.at_us = clone->now_us};
    const uint32_t job = jobs_find(&clone->jobs, job_id);

    if (job == ROW_NONE)
        return err_set(err, -ENOENT, "job %llu: unknown", (unsigned long long)job_id);
    switch (remedy->type) {
    case REMEDY_NONE:
        return 0;
    case REMEDY_RELEASE:
        event.type = EVENT_JOB_RELEASED;
        event.job_id = job_id;
        return core_apply(clone, &event, err);
    case REMEDY_LESS:
    case REMEDY_TASKS:
    case REMEDY_MODELS:
    case REMEDY_LABEL:
    case REMEDY_WITHIN:
    case REMEDY_GROUPS:
    case REMEDY_SLOWDOWN:
    case REMEDY_CLASS:
        return ask_otherwise(clone, job, remedy, err);
    case REMEDY_LIMIT:
        return raise_limit(clone, remedy, err);
    case REMEDY_NODE:
        event.type = EVENT_NODE_HEALTH;
        event.node_health.node = names_text(&clone->names, remedy->name);
        event.node_health.health = NODE_UNDRAINED;
        return core_apply(clone, &event, err);
    case REMEDY_JOB_ENDS:
        return end_job(clone, remedy, err);
    }
    return err_set(err, -EINVAL, "remedy %d: unknown", (int)remedy->type);
}
