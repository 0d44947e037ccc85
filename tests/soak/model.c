/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - facts and decisions, kept as plainly as can be. */
#include "soak/model.h"
#include "core/view.h"

#include <string.h>

#include "base/bits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "core/impl.h"

__extension__ typedef __int128 wide;

void model_done(struct model *m)
{
    for (uint32_t i = 0; i < m->job_count; i++)
        mem_free(m->jobs[i].tasks);
    mem_free(m->jobs);
    mem_free(m->nodes);
    *m = (struct model){0};
}

struct m_job *model_job(struct model *m, uint64_t id)
{
    return id >= 1 && id <= m->job_count && m->jobs[id - 1].state != M_UNKNOWN ? &m->jobs[id - 1]
                                                                               : NULL;
}

uint32_t model_node(const struct model *m, const char *name)
{
    for (uint32_t i = 0; i < m->node_count; i++)
        if (strcmp(m->nodes[i].spec.name, name) == 0)
            return i;
    return ROW_NONE;
}

bool model_is_active(const struct m_job *job)
{
    return job->state == M_HOLDS || job->state == M_STOPS;
}

bool model_is_loose(const struct m_job *job)
{
    return job->spec.tasks_min > 0 || job->spec.service;
}

/* ---- what tasks need ---- */

const struct group_spec *model_group(const struct m_job *job, uint32_t task)
{
    const struct job_layout_spec *layout = &job->spec.layouts[job->layout];
    uint32_t g = 0;

    for (; g + 1 < layout->group_count && task >= layout->groups[g].tasks; g++)
        task -= layout->groups[g].tasks;
    return &layout->groups[g];
}

uint32_t model_tasks(const struct m_job *job)
{
    const struct job_layout_spec *layout = &job->spec.layouts[job->layout];
    uint32_t count = 0;

    for (uint32_t g = 0; g < layout->group_count; g++)
        count += layout->groups[g].tasks;
    return count;
}

bool model_need(const struct group_spec *group, const struct node_spec *node, struct m_need *out)
{
    const int64_t bytes = node->gpu_memory_bytes;
    int64_t mgpu = group->gpu_mgpu;

    *out = (struct m_need){
        .gpus = group->gpus, .mcpu = group->cpu_mcpu, .memory_bytes = group->memory_bytes};
    if (group->gpus == 0)
        return true;
    if (group->gpus > node->gpus || group->gpu_memory_bytes > bytes)
        return false;
    if (mgpu == 0 && group->gpu_memory_bytes == 0)
        mgpu = 1000;
    if (mgpu == 0)
        mgpu = (int64_t)((wide)group->gpu_memory_bytes * 1000 / bytes);
    out->mgpu = mgpu > 0 ? mgpu : 1;
    out->gpu_bytes = out->mgpu == 1000             ? bytes
                     : group->gpu_memory_bytes > 0 ? group->gpu_memory_bytes
                                                   : (int64_t)((wide)bytes * out->mgpu / 1000);
    return true;
}

static bool has_text(const char *const *texts, uint32_t count, const char *text)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(texts[i], text) == 0)
            return true;
    return false;
}

bool model_admits(const struct group_spec *group, const struct node_spec *node)
{
    for (uint32_t i = 0; i < group->label_count; i++)
        if (!has_text(node->labels, node->label_count, group->labels[i]))
            return false;
    return group->model_count == 0 || has_text(group->models, group->model_count, node->model);
}

void m_sum_add(struct m_sum *sum, const struct m_need *need, uint64_t gpu_mask, int sign)
{
    sum->mcpu += sign * need->mcpu;
    sum->memory_bytes += sign * need->memory_bytes;
    for (uint64_t left = gpu_mask; left != 0; left = mask_drop_lowest(left)) {
        sum->mgpu[mask_lowest(left)] += sign * need->mgpu;
        sum->gpu_bytes[mask_lowest(left)] += sign * need->gpu_bytes;
    }
}

void model_sum(const struct model *m, uint32_t node, bool stopping, struct m_sum *out)
{
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < m->job_count; i++) {
        const struct m_job *job = &m->jobs[i];

        if (job->state != M_HOLDS && (job->state != M_STOPS || !stopping))
            continue;
        for (uint32_t t = 0; t < job->task_count; t++) {
            struct m_need need;

            if (job->tasks[t].left || job->tasks[t].node != node ||
                (job->tasks[t].stopping && !stopping))
                continue;
            (void)model_need(model_group(job, t), &m->nodes[node].spec, &need);
            m_sum_add(out, &need, job->tasks[t].gpu_mask, 1);
        }
    }
}

static void is_over(struct m_job *job, bool well)
{
    job->state = M_OVER;
    job->ended_well = well;
    job->task_count = 0;
}

/* ---- what only the core knows ---- */

static enum m_state state_of(enum job_state state)
{
    return state == JOB_PENDING ? M_WAITS : state == JOB_STOPPING ? M_STOPS : M_HOLDS;
}

static void adopt_tasks(struct model *m, const struct core *core, struct m_job *job,
                        const struct job *row)
{
    const uint32_t count = job->task_count;

    job->task_count = 0;
    for (uint32_t i = 0; row->state != JOB_PENDING && i < row->task_count; i++) {
        const struct task *task = job_task(core, row, i);
        const char *node =
            task->left ? "" : names_text(&core->names, core->nodes.rows[task->node].name);
        const struct m_task before = i < count ? job->tasks[i] : (struct m_task){0};
        const struct m_task mine = {.run = before.run > 0 ? before.run : row->run,
                                    .stopping = before.stopping && !task->left,
                                    .attended = before.attended && !task->left,
                                    .node = task->left ? 0 : model_node(m, node),
                                    .gpu_mask = task->gpu_mask,
                                    .started = task->started,
                                    .left = task->left};

        vec_push(job->tasks, job->task_count, job->task_cap, mine);
    }
}

static void adopt(struct model *m, struct m_job *job)
{
    const struct core *core = m->core;
    const uint32_t row = core_find_job(core, job->spec.id);
    const struct job *j = row != ROW_NONE ? core_job(core, row) : NULL;

    if (j == NULL) {
        is_over(job, !job->failed && !job->cancelled && !job->lost);
        return;
    }
    job->state = state_of(j->state);
    job->lost = j->lost;
    job->failed = j->failed;
    job->preempted = j->preempted;
    job->layout = j->layout;
    adopt_tasks(m, core, job, j);
}

/* ---- jobs ---- */

static void submitted(struct model *m, const struct job_spec *spec)
{
    struct m_job *job;

    while (m->job_count < spec->id)
        vec_push(m->jobs, m->job_count, m->job_cap, (struct m_job){0});
    job = &m->jobs[spec->id - 1];
    *job = (struct m_job){.spec = *spec,
                          .state = M_WAITS,
                          .held = spec->held,
                          .for_job = JOB_NONE,
                          .reserved_us = -1,
                          .reserved_at_us = -1};
}

static void cancelled(struct m_job *job)
{
    job->cancelled = true;
    if (job->state == M_WAITS)
        is_over(job, false);
}

static void waits_again(struct m_job *job)
{
    job->state = M_WAITS;
    job->failed = job->lost = job->preempted = false;
    job->task_count = 0;
    job->layout = 0;
}

/* It may have been started again by now, in the step that is looked at: not yet, to the model. */
static void ask_end(struct model *m, struct m_job *job)
{
    if (core_find_job(m->core, job->spec.id) != ROW_NONE)
        waits_again(job);
    else
        is_over(job, !job->failed && !job->lost);
}

/* Retries, GPUs on which nothing starts, and which of two causes counts, are the core's to say. */
static bool may_end_either_way(const struct m_job *job)
{
    return model_is_loose(job) || job->spec.retries > 0 ||
           (job->failed && (job->lost || job->no_start)) || (job->state == M_STOPS && job->lost);
}

/* The last task has left. */
static void all_left(struct model *m, struct m_job *job)
{
    job->for_job = JOB_NONE;
    if (job->cancelled || job->limited) {
        is_over(job, false);
    } else if (may_end_either_way(job)) {
        ask_end(m, job);
    } else if (job->lost || (job->preempted && job->failed)) {
        waits_again(job);
    } else {
        is_over(job, !job->failed);
    }
}

static void task_left(struct model *m, struct m_job *job, uint32_t index)
{
    bool any = false;

    job->tasks[index].left = true;
    for (uint32_t i = 0; i < job->task_count; i++)
        any |= !job->tasks[i].left;
    if (!any)
        all_left(m, job);
}

static void task_up(struct model *m, struct m_job *job, uint32_t index)
{
    bool all = true;

    if (job->tasks[index].started)
        return;
    job->tasks[index].started = true;
    for (uint32_t i = 0; i < job->task_count; i++)
        all &= job->tasks[i].started;
    if (job->first_up_us < 0)
        job->first_up_us = m->now_us;
    if (all)
        job->all_up_us = m->now_us;
}

static void task_started(struct model *m, struct m_job *job, const struct event *event)
{
    struct m_task *task = &job->tasks[event->task.task];
    uint32_t node = task->node;

    if (task->started || task->left)
        return;
    if (event->task.node[0] != '\0') {
        node = model_node(m, event->task.node);
        if (node != task->node || event->task.gpu_mask != task->gpu_mask) {
            m->nodes[node].surprised = true;
            m->upsets++; /* it may have taken what was kept for others */
        }
        task->node = node;
        task->gpu_mask = event->task.gpu_mask;
    }
    task_up(m, job, event->task.task);
}

static void failed_to_start(struct model *m, struct m_job *job, uint32_t index)
{
    const struct m_task *task = &job->tasks[index];

    job->no_start = true;
    for (uint64_t left = task->gpu_mask; left != 0; left = mask_drop_lowest(left))
        m->nodes[task->node].failed_starts[mask_lowest(left)]++;
}

static void task_told(struct model *m, const struct event *event)
{
    struct m_job *job = model_job(m, event->task.job_id);
    const uint32_t index = event->task.task;

    if (job == NULL || !model_is_active(job) || index >= job->task_count ||
        (event->task.run != 0 && event->task.run != job->tasks[index].run))
        return; /* of a run that is past */
    if (event->type == EVENT_TASK_STARTED) {
        task_started(m, job, event);
    } else if (!job->tasks[index].left) {
        if (event->type == EVENT_TASK_EXITED && event->task.exit_code != 0 &&
            !job->tasks[index].started)
            failed_to_start(m, job, index);
        if (event->type == EVENT_TASK_EXITED)
            task_up(m, job, index);
        job->failed |= event->type == EVENT_TASK_EXITED && event->task.exit_code != 0;
        job->lost |= event->type == EVENT_TASK_LOST;
        task_left(m, job, index);
    }
}

/* ---- nodes ---- */

static void node_upserted(struct model *m, const struct node_spec *spec)
{
    uint32_t node = model_node(m, spec->name);

    if (node == ROW_NONE) {
        node = m->node_count;
        vec_push(m->nodes, m->node_count, m->node_cap, (struct m_node){0});
    }
    m->nodes[node].spec = *spec;
    m->nodes[node].present = true;
}

static void node_removed(struct model *m, const char *name)
{
    const uint32_t node = model_node(m, name);

    for (uint32_t i = 0; i < m->job_count; i++) {
        struct m_job *job = &m->jobs[i];

        for (uint32_t t = 0; model_is_active(job) && t < job->task_count; t++)
            if (job->tasks[t].node == node && !job->tasks[t].left) {
                job->lost = true;
                task_left(m, job, t);
            }
    }
    m->nodes[node] = (struct m_node){.spec = m->nodes[node].spec};
}

static void node_health(struct m_node *node, enum node_health health, int64_t now_us)
{
    if (health == NODE_SILENT && !node->silent)
        node->silent_since_us = now_us;
    node->drained = health == NODE_DRAINED || (node->drained && health != NODE_UNDRAINED);
    node->silent = health == NODE_SILENT || (node->silent && health != NODE_HEARD);
}

static void gpu_health(struct model *m, const struct event *event)
{
    struct m_node *node = &m->nodes[model_node(m, event->gpu.node)];

    node->failed_starts[event->gpu.gpu] = 0;
    if (event->gpu.health == GPU_LOST)
        node->lost_mask |= mask_bit(event->gpu.gpu);
    else
        node->lost_mask &= ~mask_bit(event->gpu.gpu);
}

/* A surprise is over when nothing is on the node. */
static void end_surprises(struct model *m)
{
    for (uint32_t n = 0; n < m->node_count; n++) {
        struct m_sum sum;

        if (!m->nodes[n].surprised)
            continue;
        model_sum(m, n, true, &sum);
        m->nodes[n].surprised = sum.mcpu != 0 || sum.memory_bytes != 0;
        for (uint32_t i = 0; i < m->nodes[n].spec.gpus; i++)
            m->nodes[n].surprised |= sum.mgpu[i] != 0;
    }
}

/* ---- all facts ---- */

static void tell_job(struct model *m, const struct event *event)
{
    struct m_job *job = model_job(m, event->job_id);

    if (job == NULL)
        return;
    if (event->type == EVENT_JOB_CANCELLED)
        cancelled(job);
    else
        job->held = event->type == EVENT_JOB_HELD;
    job->claims &= !job->held; /* what was kept for it is given back */
}

static void tell_node(struct model *m, const struct event *event)
{
    m->upsets++;
    if (event->type == EVENT_NODE_UPSERTED)
        node_upserted(m, &event->node);
    else if (event->type == EVENT_NODE_REMOVED)
        node_removed(m, event->node_name);
    else if (event->type == EVENT_GPU_HEALTH)
        gpu_health(m, event);
    else if (event->type == EVENT_NODE_HEALTH)
        node_health(&m->nodes[model_node(m, event->node_health.node)], event->node_health.health,
                    m->now_us);
}

void model_told(struct model *m, const struct event *event)
{
    m->now_us = event->at_us > m->now_us ? event->at_us : m->now_us;
    switch (event->type) {
    case EVENT_JOB_SUBMITTED:
        submitted(m, &event->job);
        break;
    case EVENT_JOB_CANCELLED:
    case EVENT_JOB_HELD:
    case EVENT_JOB_RELEASED:
        tell_job(m, event);
        break;
    case EVENT_TASK_STARTED:
    case EVENT_TASK_EXITED:
    case EVENT_TASK_LOST:
        task_told(m, event);
        end_surprises(m);
        break;
    case EVENT_NODE_UPSERTED:
    case EVENT_NODE_REMOVED:
    case EVENT_GPU_HEALTH:
    case EVENT_NODE_HEALTH:
    case EVENT_NODE_LISTED:
        tell_node(m, event);
        break;
    case EVENT_CONFIG_CHANGED:
        m->upsets++;
        m->ruled = true;
        m->rules = event->rules;
        break;
    default:
        break;
    }
    model_adopt(m);
    model_lose(m,
               event->type == EVENT_NODE_LISTED   ? model_node(m, event->listed.node)
               : event->type == EVENT_NODE_HEALTH ? model_node(m, event->node_health.node)
                                                  : ROW_NONE,
               false);
}

void model_quarantine(struct model *m, uint32_t node, uint64_t core_mask)
{
    struct m_node *n = &m->nodes[node];

    for (uint64_t left = core_mask & ~n->lost_mask; left != 0; left = mask_drop_lowest(left))
        if (n->failed_starts[mask_lowest(left)] >= FAILED_STARTS_LEAST) {
            n->lost_mask |= mask_bit(mask_lowest(left));
            m->upsets++;
        }
}

bool model_is_closed(const struct model *m, uint32_t node)
{
    const struct m_node *n = &m->nodes[node];

    for (uint32_t i = 0; i < m->job_count; i++)
        for (uint32_t t = 0; model_is_active(&m->jobs[i]) && t < m->jobs[i].task_count; t++) {
            const struct m_task *task = &m->jobs[i].tasks[t];

            if (task->attended && !task->left && task->node == node)
                return true;
        }
    return !n->present || n->drained || n->silent;
}

/* ---- decisions ---- */

static void started(struct model *m, struct m_job *job, const struct decisions *d, uint32_t i)
{
    const struct decision *start = &d->items[i];
    const bool anew = job->state == M_WAITS;

    job->run = start->run;
    if (anew) {
        job->state = M_HOLDS;
        job->layout = start->layout;
        job->task_count = 0;
        job->started_us = m->now_us;
        job->no_start = false;
        job->first_up_us = job->all_up_us = job->reserved_us = job->reserved_at_us = -1;
        job->claims = false;
    }
    for (uint32_t k = 0; k < start->place_count; k++) {
        const struct task_place *place = &d->places[start->place_first + k];
        const struct m_task task = {.node = model_node(m, place->node_name),
                                    .gpu_mask = place->gpu_mask,
                                    .run = start->run};

        while (job->task_count <= place->task)
            vec_push(job->tasks, job->task_count, job->task_cap, (struct m_task){.left = true});
        job->tasks[place->task] = task;
    }
}

static void stopped(struct model *m, struct m_job *job, const struct decisions *d,
                    const struct decision *stop)
{
    struct m_job *other = model_job(m, stop->for_job);

    if (stop->mode == STOP_SHRINK) {
        for (uint32_t k = 0; k < stop->place_count; k++)
            if (d->places[stop->place_first + k].task < job->task_count)
                job->tasks[d->places[stop->place_first + k].task].stopping = true;
        return;
    }
    job->state = M_STOPS;
    job->preempted = stop->mode == STOP_PREEMPT;
    job->limited = stop->mode == STOP_LIMIT;
    job->for_job = stop->for_job;
    if (other != NULL) {
        other->claims = true;
        other->upsets = m->upsets;
        other->step = m->steps;
    }
}

static void reserved(struct model *m, struct m_job *job, const struct decision *d)
{
    if (job->reserved_at_us < 0)
        job->reserved_at_us = m->now_us;
    job->reserved_us = d->at_us == TIME_NONE ? -1 : d->at_us;
    if (job->reserved_us < 0)
        job->reserved_at_us = -1;
}

static void attended(struct model *m, struct m_job *job, const struct decisions *d, uint32_t i)
{
    m->upsets++;
    for (uint32_t k = 0; k < d->items[i].place_count; k++) {
        const uint32_t task = d->places[d->items[i].place_first + k].task;

        if (task < job->task_count)
            job->tasks[task].attended = true;
    }
}

void model_decided(struct model *m, const struct decisions *d, uint32_t i)
{
    struct m_job *job = model_job(m, d->items[i].job_id);

    if (job == NULL)
        return;
    if (d->items[i].type == DECISION_START)
        started(m, job, d, i);
    else if (d->items[i].type == DECISION_STOP)
        stopped(m, job, d, &d->items[i]);
    else if (d->items[i].type == DECISION_REJECT)
        is_over(job, false);
    else if (d->items[i].type == DECISION_RESERVE)
        reserved(m, job, &d->items[i]);
    else if (d->items[i].type == DECISION_ATTEND)
        attended(m, job, d, i);
}

/* ---- what only the core knows, all jobs ---- */

void model_adopt(struct model *m)
{
    for (uint32_t i = 0; i < m->job_count; i++) {
        struct m_job *job = &m->jobs[i];

        if (model_is_loose(job) && job->state != M_UNKNOWN && job->state != M_OVER)
            adopt(m, job);
    }
}

/* The core's row of a task in this run, or NULL: it let go of it. */
static const struct task *core_has(const struct core *core, const struct m_job *job, uint32_t index)
{
    const uint32_t at = core_find_job(core, job->spec.id);
    const struct job *row = at != ROW_NONE ? core_job(core, at) : NULL;
    const struct task *task;

    if (row == NULL || row->state == JOB_PENDING || row->run != job->run ||
        index >= row->task_count)
        return NULL;
    task = job_task(core, row, index);
    return task->left ? NULL : task;
}

void model_lose(struct model *m, uint32_t listed, bool told)
{
    for (uint32_t i = 0; i < m->job_count; i++) {
        struct m_job *job = &m->jobs[i];

        for (uint32_t t = 0;
             (job->state == M_STOPS || (job->state == M_HOLDS && !told)) && t < job->task_count;
             t++) {
            const uint32_t node = job->tasks[t].node;
            const struct task *task;

            if (job->tasks[t].left || (!m->nodes[node].silent && node != listed))
                continue;
            task = core_has(m->core, job, t);
            if (task != NULL && task->started)
                task_up(m, job, t);
            if (task != NULL)
                continue;
            job->lost = true;
            task_left(m, job, t);
        }
    }
}
