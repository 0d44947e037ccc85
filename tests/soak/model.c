/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - facts and decisions, kept as plainly as can be. */
#include "soak/model.h"

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

uint32_t model_tasks_min(const struct m_job *job)
{
    return job->spec.tasks_min > 0 ? job->spec.tasks_min : model_tasks(job);
}

bool model_is_loose(const struct m_job *job)
{
    return job->spec.service || model_tasks_min(job) < model_tasks(job);
}

bool model_is_up(const struct m_job *job)
{
    return job->state == M_HOLDS && job->all_up_us >= 0;
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

static bool need_of(const struct group_spec *group, const struct node_spec *node,
                    struct m_need *out)
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

bool model_need(const struct m_job *job, uint32_t task, const struct node_spec *node,
                struct m_need *out)
{
    if (!need_of(model_group(job, task), node, out))
        return false;
    if (!job->spec.exclusive)
        return true;
    out->mcpu = node->cpu_mcpu;
    out->memory_bytes = node->memory_bytes;
    out->mgpu = GPU_MGPU;
    out->gpu_bytes = node->gpu_memory_bytes;
    out->all_gpus = mask_first(node->gpus);
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
    for (uint64_t left = gpu_mask | need->all_gpus; left != 0; left = mask_drop_lowest(left)) {
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
            (void)model_need(job, t, &m->nodes[node].spec, &need);
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

/* ---- jobs ---- */

static void submitted(struct model *m, const struct job_spec *spec)
{
    struct m_job *job;

    while (m->job_count < spec->id)
        vec_push(m->jobs, m->job_count, m->job_cap, (struct m_job){0});
    job = &m->jobs[spec->id - 1];
    *job = (struct m_job){.spec = *spec,
                          .came = ++m->came,
                          .state = M_WAITS,
                          .held = spec->held,
                          .for_job = JOB_NONE,
                          .retries_left = spec->retries,
                          .all_up_us = -1,
                          .reserved_us = -1,
                          .reserved_at_us = -1};
    for (uint32_t i = 0; i < SERVICE_FAILURES_MAX - 1; i++)
        job->failed_us[i] = -1;
    job->class = model_class(m, spec->class)->name;
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

/* Who was told to stop keeps to what that was for; but who was to wait again, and ended well first,
 * has ended. */
static bool is_to_wait(const struct m_job *job)
{
    if (job->cancelled)
        return false;
    if (job->state == M_STOPS)
        return job->preempted && (job->lost || job->failed || job->spec.service);
    return job->lost || (job->failed && job->retries_left > 0) ||
           (job->spec.service && !job->failed);
}

/* The last task has left. */
static void all_left(struct m_job *job)
{
    const bool of_itself = job->state != M_STOPS || job->stopped_for == REASON_FAILED;

    job->for_job = JOB_NONE;
    if (!is_to_wait(job)) {
        is_over(job, !job->cancelled && !job->limited && !job->failed && !job->lost);
        return;
    }
    if (job->failed && !job->lost && of_itself)
        job->retries_left--;
    waits_again(job);
}

/* Is everything up that is to run? */
static void try_up(const struct model *m, struct m_job *job)
{
    bool all = job->state == M_HOLDS && job->all_up_us < 0;

    for (uint32_t i = 0; i < job->task_count; i++)
        all &= job->tasks[i].started || job->tasks[i].absent;
    if (all)
        job->all_up_us = m->now_us;
}

static void task_up(const struct model *m, struct m_job *job, uint32_t index)
{
    if (job->tasks[index].started)
        return;
    job->tasks[index].started = true;
    job->tasks[index].up_us = m->now_us;
    job->tasks[index].missed = 0;
    try_up(m, job);
}

/* absent: it may be started again. */
static void task_left(const struct model *m, struct m_job *job, uint32_t index, bool absent)
{
    bool any = false, stopping = false;

    job->tasks[index].left = true;
    job->tasks[index].stopping = job->tasks[index].attended = false;
    job->tasks[index].absent = absent;
    job->tasks[index].started &= !absent;
    for (uint32_t i = 0; i < job->task_count; i++) {
        any |= !job->tasks[i].left;
        stopping |= job->tasks[i].stopping;
    }
    if (job->state == M_HOLDS && !stopping)
        job->for_job = JOB_NONE;
    if (any)
        try_up(m, job);
    else
        all_left(job);
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
            job->elsewhere |= node != task->node;
            m->upsets++; /* it may have taken what was kept for others */
        }
        task->node = node;
        task->gpu_mask = event->task.gpu_mask;
    }
    task_up(m, job, event->task.task);
}

/* A GPU on which starts failed so often within some time gets no new work. */
static bool gpus_are_to_blame(struct model *m, const struct m_task *task)
{
    struct m_node *node = &m->nodes[task->node];
    bool blame = false;

    for (uint64_t left = task->gpu_mask; left != 0; left = mask_drop_lowest(left)) {
        int64_t *failed_us = node->failed_us[mask_lowest(left)];

        if (failed_us[0] >= 0 && m->now_us - failed_us[0] < FAILED_WITHIN_US) {
            node->lost_mask |= mask_bit(mask_lowest(left));
            m->upsets++;
            blame = true;
        }
        for (uint32_t i = 0; i + 1 < FAILED_STARTS - 1; i++)
            failed_us[i] = failed_us[i + 1];
        failed_us[FAILED_STARTS - 2] = m->now_us;
    }
    return blame;
}

static bool is_too_many(struct m_job *job, int64_t now_us)
{
    const int64_t oldest_us = job->failed_us[0];

    for (uint32_t i = 0; i + 1 < SERVICE_FAILURES_MAX - 1; i++)
        job->failed_us[i] = job->failed_us[i + 1];
    job->failed_us[SERVICE_FAILURES_MAX - 2] = now_us;
    return oldest_us >= 0 && now_us - oldest_us <= SERVICE_FAILURES_US;
}

/* A job that goes on with fewer tasks. */
static void loose_exited(const struct model *m, struct m_job *job, uint32_t index, bool well)
{
    const bool told = job->tasks[index].stopping;

    task_up(m, job, index);
    if (job->spec.service && m->now_us - job->tasks[index].up_us < SERVICE_LEAST_RUN_US)
        well = false; /* it was to run on */
    if (!told && !well && (!job->spec.service || is_too_many(job, m->now_us)))
        job->failed = true;
    task_left(m, job, index, told || job->spec.service);
}

/* Of its job the first to end, before it has started. */
static bool is_first_not_to_start(const struct m_job *job, uint32_t index)
{
    return job->state == M_HOLDS && !model_is_up(job) && !job->tasks[index].started &&
           !job->cancelled && !job->failed && !job->lost;
}

static void task_exited(struct model *m, struct m_job *job, uint32_t index, bool well)
{
    const bool first = is_first_not_to_start(job, index);

    if (job->state == M_HOLDS && model_is_loose(job)) {
        loose_exited(m, job, index, well);
        return;
    }
    if (!well && first && gpus_are_to_blame(m, &job->tasks[index]))
        job->lost = true;
    else if (!well)
        job->failed = true;
    task_up(m, job, index);
    task_left(m, job, index, false);
}

/* Others may be enough to go on; those that are done count. */
static void task_lost(const struct model *m, struct m_job *job, uint32_t index)
{
    const bool absent = model_is_loose(job) && job->state == M_HOLDS;
    uint32_t standing = 0, there = 0;

    for (uint32_t i = 0; i < job->task_count; i++) {
        standing += i != index && !job->tasks[i].absent && !job->tasks[i].stopping;
        there += i != index && !job->tasks[i].left;
    }
    if (!absent || there == 0 || (!job->spec.service && standing < model_tasks_min(job)))
        job->lost = true;
    task_left(m, job, index, absent);
}

static void task_lost_told(struct model *m, struct m_job *job, uint32_t index)
{
    if (is_first_not_to_start(job, index) && !m->nodes[job->tasks[index].node].silent)
        (void)gpus_are_to_blame(m, &job->tasks[index]);
    task_lost(m, job, index);
}

static void task_told(struct model *m, const struct event *event)
{
    struct m_job *job = model_job(m, event->task.job_id);
    const uint32_t index = event->task.task;

    if (job == NULL || !model_is_active(job) || index >= job->task_count ||
        (event->task.run != 0 && event->task.run != job->tasks[index].run))
        return; /* of a run that is past */
    if (event->type == EVENT_TASK_STARTED)
        task_started(m, job, event);
    else if (event->type == EVENT_TASK_EXITED && !job->tasks[index].left)
        task_exited(m, job, index, event->task.exit_code == 0);
    else if (!job->tasks[index].left)
        task_lost_told(m, job, index);
}

/* ---- nodes ---- */

static void forget_starts(struct m_node *node, uint32_t gpu)
{
    for (uint32_t i = 0; i < FAILED_STARTS - 1; i++)
        node->failed_us[gpu][i] = -1;
}

static void forget_health(struct m_node *node)
{
    node->flaps_until_us = -1;
    for (uint32_t i = 0; i < FLAP_SILENCES - 1; i++)
        node->silences_us[i] = -1;
    for (uint32_t gpu = 0; gpu < NODE_GPUS_MAX; gpu++)
        forget_starts(node, gpu);
}

static void node_upserted(struct model *m, const struct node_spec *spec)
{
    uint32_t node = model_node(m, spec->name);

    if (node == ROW_NONE) {
        node = m->node_count;
        vec_push(m->nodes, m->node_count, m->node_cap, (struct m_node){0});
        forget_health(&m->nodes[node]);
    }
    for (uint32_t gpu = spec->gpus; gpu < NODE_GPUS_MAX; gpu++) { /* those are gone */
        m->nodes[node].lost_mask &= ~mask_bit(gpu);
        forget_starts(&m->nodes[node], gpu);
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
            if (!job->tasks[t].left && job->tasks[t].node == node)
                task_lost(m, job, t);
    }
    m->nodes[node] = (struct m_node){.spec = m->nodes[node].spec};
    forget_health(&m->nodes[node]);
}

static void goes_silent(struct m_node *node, int64_t now_us)
{
    const bool often = node->silences_us[0] >= 0 && now_us < node->silences_us[0] + FLAP_WINDOW_US;

    node->silent = true;
    node->silent_since_us = now_us;
    if (often || node->flaps_until_us >= 0)
        node->flaps_until_us = now_us + FLAP_WINDOW_US;
    for (uint32_t i = 0; i + 1 < FLAP_SILENCES - 1; i++)
        node->silences_us[i] = node->silences_us[i + 1];
    node->silences_us[FLAP_SILENCES - 2] = now_us;
}

static void node_health(struct m_node *node, enum node_health health, int64_t now_us)
{
    if (health == NODE_SILENT && !node->silent)
        goes_silent(node, now_us);
    if (health == NODE_HEARD)
        node->silent = node->lost = false;
    if (health == NODE_DRAINED || health == NODE_UNDRAINED)
        node->drained = health == NODE_DRAINED;
}

static void gpu_health(struct model *m, const struct event *event)
{
    struct m_node *node = &m->nodes[model_node(m, event->gpu.node)];

    if (event->gpu.health == GPU_LOST) {
        node->lost_mask |= mask_bit(event->gpu.gpu);
        return;
    }
    node->lost_mask &= ~mask_bit(event->gpu.gpu);
    forget_starts(node, event->gpu.gpu);
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

/* ---- listings ---- */

static bool is_seen(struct model *m, uint32_t node, const struct listed_task *listed)
{
    struct m_job *job = model_job(m, listed->job_id);
    struct m_task *task;

    if (job == NULL || !model_is_active(job) || listed->task >= job->task_count)
        return false;
    task = &job->tasks[listed->task];
    if (task->left || task->node != node || (listed->run != 0 && listed->run != task->run))
        return false;
    task->missed = 0;
    task_up(m, job, listed->task);
    return true;
}

/* What was told to stop has stopped; how it ended, nobody knows. Else it was lost. */
static void was_missed(const struct model *m, struct m_job *job, uint32_t index)
{
    if (job->state != M_STOPS) {
        task_lost(m, job, index);
        return;
    }
    job->failed = true;
    task_left(m, job, index, false);
}

static void miss_tasks(struct model *m, uint32_t node, bool give_up)
{
    for (uint32_t i = 0; i < m->job_count; i++)
        for (uint32_t t = 0; model_is_active(&m->jobs[i]) && t < m->jobs[i].task_count; t++) {
            struct m_task *task = &m->jobs[i].tasks[t];

            if (task->left || task->node != node)
                continue;
            if (!give_up) /* the same listing may be heard twice */
                task->missed += task->missed == 0 || task->missed_us != m->now_us;
            if (!give_up)
                task->missed_us = m->now_us;
            else if (task->missed >= (task->started ? 1u : MISSED_MAX))
                was_missed(m, &m->jobs[i], t);
        }
}

static void node_listed(struct model *m, const struct event *event)
{
    const uint32_t node = model_node(m, event->listed.node);
    bool clean = true;

    miss_tasks(m, node, false);
    for (uint32_t i = 0; i < event->listed.count; i++)
        clean &= is_seen(m, node, &event->listed.tasks[i]);
    miss_tasks(m, node, true);
    m->nodes[node].unlisted &= !clean || m->nodes[node].silent;
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
    else if (event->type == EVENT_NODE_LISTED)
        node_listed(m, event);
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
    return !n->present || n->drained || n->silent || n->unlisted || n->flaps_until_us >= 0;
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
        while (job->task_count < model_tasks(job))
            vec_push(job->tasks, job->task_count, job->task_cap,
                     ((struct m_task){.left = true, .absent = true, .node = ROW_NONE}));
        job->started_us = m->now_us;
        job->all_up_us = job->reserved_us = job->reserved_at_us = -1;
        job->claims = job->elsewhere = false;
    }
    for (uint32_t k = 0; k < start->place_count; k++) {
        const struct task_place *place = &d->places[start->place_first + k];
        const struct m_task task = {.node = model_node(m, place->node_name),
                                    .gpu_mask = place->gpu_mask,
                                    .run = start->run};

        job->tasks[place->task] = task;
    }
}

static void stopped(struct model *m, struct m_job *job, const struct decisions *d,
                    const struct decision *stop)
{
    struct m_job *other = model_job(m, stop->for_job);

    if (stop->for_job != JOB_NONE)
        job->for_job = stop->for_job;
    if (other != NULL) {
        other->claims = true;
        other->upsets = m->upsets;
        other->step = m->steps;
    }
    if (stop->mode == STOP_SHRINK) {
        for (uint32_t k = 0; k < stop->place_count; k++)
            if (d->places[stop->place_first + k].task < job->task_count)
                job->tasks[d->places[stop->place_first + k].task].stopping = true;
        return;
    }
    job->state = M_STOPS;
    job->preempted = stop->mode == STOP_PREEMPT;
    job->limited = stop->mode == STOP_LIMIT;
    job->stopped_for = stop->reason;
    job->stopped_us = m->now_us;
    job->attended = false;
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
    job->attended = true;
    job->for_job = JOB_NONE; /* nobody waits for it any more */
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

/* ---- nodes that are lost ---- */

void model_stepping(struct model *m)
{
    const int64_t silent_us =
        m->ruled && m->rules.silent_us > 0 ? m->rules.silent_us : NODE_SILENT_US;

    for (uint32_t n = 0; n < m->node_count; n++) {
        struct m_node *node = &m->nodes[n];

        if (node->silent && !node->lost && m->now_us >= node->silent_since_us + silent_us) {
            node->lost = node->unlisted = true;
            m->upsets++;
        }
        if (node->flaps_until_us >= 0 && m->now_us >= node->flaps_until_us)
            node->flaps_until_us = -1;
    }
    model_lose(m);
}

void model_lose(struct model *m)
{
    for (uint32_t i = 0; i < m->job_count; i++) {
        struct m_job *job = &m->jobs[i];

        for (uint32_t t = 0; model_is_active(job) && t < job->task_count; t++)
            if (!job->tasks[t].left && m->nodes[job->tasks[t].node].lost &&
                (job->state == M_STOPS || job->tasks[t].stopping))
                task_lost(m, job, t);
    }
}
