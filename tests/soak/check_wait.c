/* SPDX-License-Identifier: Apache-2.0 */
/* check_wait.c - every waiting job has a reason, and the reason is true. */
#include <string.h>

#include "core/impl.h"
#include "core/view.h"
#include "soak/oracle.h"

typedef unsigned long long ull;

/* ---- is there room? ---- */

/* Nobody holds anything there, and no GPU is lost. */
static bool is_empty(const struct m_node *node, const struct m_sum *sum)
{
    bool empty = node->lost_mask == 0 && sum->mcpu == 0 && sum->memory_bytes == 0;

    for (uint32_t i = 0; i < node->spec.gpus; i++)
        empty &= sum->mgpu[i] == 0;
    return empty;
}

uint32_t oracle_tasks_that_fit(const struct oracle *o, const struct m_job *job, uint32_t node)
{
    const struct group_spec *group = model_group(job, 0);

    const struct m_node *n = &o->model.nodes[node];
    struct m_sum sum, claims;
    struct m_need need;
    int64_t slots = 0, by_gpus, count = JOB_TASKS_MAX;

    if (model_is_closed(&o->model, node) || !model_admits(group, &n->spec) ||
        !model_need(job, 0, &n->spec, &need))
        return 0;
    model_sum(&o->model, node, true, &sum);
    oracle_claims(o, node, &claims);
    if (job->spec.exclusive)
        return is_empty(n, &sum) && is_empty(n, &claims) && group->cpu_mcpu <= n->spec.cpu_mcpu &&
               group->memory_bytes <= n->spec.memory_bytes;
    if (need.mcpu > 0)
        count = (n->spec.cpu_mcpu - sum.mcpu - claims.mcpu) / need.mcpu;
    if (need.memory_bytes > 0) {
        const int64_t free_bytes = n->spec.memory_bytes - sum.memory_bytes - claims.memory_bytes;

        count = free_bytes / need.memory_bytes < count ? free_bytes / need.memory_bytes : count;
    }
    for (uint32_t i = 0; need.gpus > 0 && i < n->spec.gpus; i++) {
        const int64_t mgpu = GPU_MGPU - sum.mgpu[i] - claims.mgpu[i];
        const int64_t bytes = n->spec.gpu_memory_bytes - sum.gpu_bytes[i] - claims.gpu_bytes[i];
        int64_t fit = mgpu / need.mgpu;

        if (need.gpu_bytes > 0 && bytes / need.gpu_bytes < fit)
            fit = bytes / need.gpu_bytes;
        if (fit > 0 && !(n->lost_mask >> i & 1))
            slots += need.gpus > 1 ? 1 : fit;
    }
    by_gpus = need.gpus > 0 ? slots / need.gpus : count;
    count = by_gpus < count ? by_gpus : count;
    return count > 0 ? (uint32_t)count : 0;
}

/* Only where equal tasks can be placed one after the other and find room whenever there is. */
static void check_no_room(const struct oracle *o, const struct m_job *job, ull id)
{
    const struct job_layout_spec *layout = &job->spec.layouts[0];
    uint64_t fit = 0;

    if (check_no_domain(o, job, id) || layout->group_count > 1 || layout->apart)
        return;
    for (uint32_t node = 0; node < o->model.node_count; node++)
        fit += oracle_tasks_that_fit(o, job, node);
    if (fit >= model_tasks_min(job))
        broken(o, "idle", "job %llu: waits for room, and there is room", id);
}

/* ---- what keeps a job out of the queue ---- */

/* Not started, but nothing except room is in its way. */
static bool is_in(const struct oracle *o, uint32_t i)
{
    const uint32_t row = core_find_job(o->world->core, (uint64_t)i + 1);
    const enum reason reason = row != ROW_NONE ? core_job_reason(o->world->core, row) : REASON_NONE;

    return model_is_active(&o->model.jobs[i]) ||
           (o->model.jobs[i].state == M_WAITS && reason != REASON_HELD && reason != REASON_AFTER &&
            reason != REASON_ARRAY);
}

static void check_array_full(const struct oracle *o, const struct m_job *job, ull id)
{
    uint32_t in = 0;

    for (uint32_t i = 0; i < o->model.job_count; i++) {
        const struct m_job *other = &o->model.jobs[i];

        in += other->state != M_UNKNOWN && other->state != M_OVER && other->spec.array != NULL &&
              strcmp(other->spec.array, job->spec.array) == 0 &&
              strcmp(other->spec.user, job->spec.user) == 0 && is_in(o, i);
    }
    if (job->spec.array_limit == 0 || in < job->spec.array_limit)
        broken(o, "array", "job %llu: waits for its array, of which only %u are in", id, in);
}

static void check_after(const struct oracle *o, const struct m_job *job, ull id)
{
    for (uint32_t i = 0; i < job->spec.after_count; i++) {
        const uint64_t on = job->spec.after[i].job_id;

        if (on <= o->model.job_count && o->model.jobs[on - 1].state != M_OVER)
            return;
    }
    broken(o, "after", "job %llu: waits for others, and they have ended", id);
}

static void check_reason(const struct oracle *o, const struct m_job *job, ull id)
{
    const struct core *core = o->world->core;
    const enum reason reason = core_job_reason(core, core_find_job(core, id));

    switch (reason) {
    case REASON_NONE:
    case REASON_NEW:
        broken(o, "reason", "job %llu: waits without a reason", id);
    case REASON_HELD:
        if (!job->held)
            broken(o, "held", "job %llu: waits as if it were held", id);
        break;
    case REASON_AFTER:
        check_after(o, job, id);
        break;
    case REASON_ARRAY:
        check_array_full(o, job, id);
        break;
    case REASON_ROOM:
    case REASON_GANG:
    case REASON_LEVEL:
    case REASON_NEVER:
        check_no_room(o, job, id);
        break;
    case REASON_VICTIMS:
        /* of its gang, which has one reason for all */
    default:
        break;
    }
}

/* ---- jobs that must not be as they are ---- */

/* Others left for it, nothing else happened, and it did not start. */
static void check_claimant(struct oracle *o, struct m_job *job, ull id)
{
    bool waits = false;

    for (uint32_t i = 0; job->claims && i < o->model.job_count; i++)
        waits |= model_is_active(&o->model.jobs[i]) && o->model.jobs[i].for_job == id;
    if (!job->claims || waits)
        return;
    job->claims = false;
    if (o->quiet && job->upsets == o->model.upsets && !job->held && !oracle_some_leave(o))
        broken(o, "in vain", "job %llu: others left for it, and it does not start", id);
}

/* What is over, or lost a task, was told to stop. */
static void check_told(const struct oracle *o, const struct m_job *job, ull id)
{
    bool on_lost_node = false;

    for (uint32_t t = 0; t < job->task_count; t++)
        on_lost_node |= !job->tasks[t].left && o->model.nodes[job->tasks[t].node].lost;
    if (job->cancelled || job->failed || job->lost || on_lost_node)
        broken(o, "told", "job %llu: should be told to stop, and is not", id);
    if (job->spec.limit_us > 0 && job->all_up_us >= 0 &&
        o->model.now_us >= job->all_up_us + job->spec.limit_us)
        broken(o, "time", "job %llu: runs on after its time limit", id);
}

void check_waiting(struct oracle *o)
{
    for (uint32_t i = 0; i < o->model.job_count; i++) {
        struct m_job *job = &o->model.jobs[i];
        const ull id = (ull)i + 1;

        if (job->state == M_HOLDS)
            check_told(o, job, id);
        if (job->state == M_STOPS && !job->attended &&
            o->model.now_us >= job->stopped_us + model_grace_us(&o->model, job) + ATTEND_AFTER_US)
            broken(o, "time", "job %llu: should be long gone, and nobody is told", id);
        if (job->state != M_WAITS)
            continue;
        check_reason(o, job, id);
        check_claimant(o, job, id);
    }
}

/* ---- who goes first ---- */

static bool same_text(const char *a, const char *b)
{
    return strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0;
}

static bool same_list(const char *const *a, uint32_t a_count, const char *const *b,
                      uint32_t b_count)
{
    for (uint32_t i = 0; i < a_count && a_count == b_count; i++)
        if (strcmp(a[i], b[i]) != 0)
            return false;
    return a_count == b_count;
}

static bool same_group(const struct group_spec *a, const struct group_spec *b)
{
    return a->tasks == b->tasks && a->gpus == b->gpus && a->gpu_mgpu == b->gpu_mgpu &&
           a->gpu_memory_bytes == b->gpu_memory_bytes && a->cpu_mcpu == b->cpu_mcpu &&
           a->memory_bytes == b->memory_bytes &&
           same_list(a->models, a->model_count, b->models, b->model_count) &&
           same_list(a->labels, a->label_count, b->labels, b->label_count);
}

static bool same_levels(const struct job_spec *a, const struct job_spec *b)
{
    return same_text(a->within, b->within) && same_text(a->near, b->near) &&
           same_text(a->group_within, b->group_within) && a->group_size == b->group_size &&
           a->slowdown_max_ppm == b->slowdown_max_ppm;
}

static bool same_request(const struct job_spec *a, const struct job_spec *b)
{
    return a->layouts[0].group_count == 1 && b->layouts[0].group_count == 1 &&
           same_group(&a->layouts[0].groups[0], &b->layouts[0].groups[0]) &&
           same_text(a->queue, b->queue) && same_text(a->user, b->user) &&
           same_text(a->class, b->class) && a->tasks_min == b->tasks_min &&
           a->service == b->service && a->exclusive == b->exclusive && a->limit_us == b->limit_us &&
           same_levels(a, b);
}

/* Room that is kept for it is as good as started: it is out of the queue. And who has a reservation
 * keeps that, when one behind it starts where its own was. */
static bool waited_for_room(const struct oracle *o, uint32_t i)
{
    const uint32_t row = core_find_job(o->world->core, (uint64_t)i + 1);

    if (o->claims[i] != 0 || o->model.jobs[i].reserved_us >= 0 ||
        (row != ROW_NONE && core_job(o->world->core, row)->task_first != ROW_NONE))
        return false;
    return o->model.jobs[i].state == M_WAITS && o->states[i] == M_WAITS && is_in(o, i);
}

static bool is_fifo(const struct oracle *o, uint32_t i)
{
    struct core *core = o->world->core;
    const uint32_t row = core_find_job(core, (uint64_t)i + 1);

    return row != ROW_NONE && strncmp(orderer_of(core, row)->policy->name, "fifo", 4) == 0;
}

/* Of two that ask for the same the one that came first starts first, however often it was put off
 * meanwhile. */
void check_in_line(struct oracle *o, const struct decisions *d)
{
    for (uint32_t k = 0; k < d->count; k++) {
        const uint32_t young = (uint32_t)d->items[k].job_id - 1;

        if (d->items[k].type != DECISION_START || o->claimed[young] ||
            o->states[young] != M_WAITS || !is_fifo(o, young))
            continue;
        for (uint32_t old = 0; old < o->model.job_count; old++)
            if (o->model.jobs[old].came < o->model.jobs[young].came && waited_for_room(o, old) &&
                same_request(&o->model.jobs[old].spec, &o->model.jobs[young].spec))
                broken(o, "order", "job %u: is started before job %u, which asks for the same",
                       young + 1, old + 1);
    }
}
