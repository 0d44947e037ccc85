/* SPDX-License-Identifier: Apache-2.0 */
/* check_start.c - what may be started, and where. */
#include <string.h>

#include "base/bits.h"
#include "core/view.h"
#include "soak/oracle.h"

typedef unsigned long long ull;

/* ---- where ---- */

/* What it takes, it finds free: a node may hold more of something else than it has. */
static void check_room(const struct oracle *o, const struct decision *start, uint32_t node,
                       const struct m_sum *taken)
{
    const struct node_spec *spec = &o->model.nodes[node].spec;
    struct m_sum sum;

    model_sum(&o->model, node, true, &sum);
    if ((taken->mcpu > 0 && sum.mcpu + taken->mcpu > spec->cpu_mcpu) ||
        (taken->memory_bytes > 0 && sum.memory_bytes + taken->memory_bytes > spec->memory_bytes))
        broken(o, "room", "job %llu: node %s has not so much CPU or memory free",
               (ull)start->job_id, spec->name);
    for (uint32_t i = 0; i < spec->gpus; i++)
        if ((taken->mgpu[i] > 0 && sum.mgpu[i] + taken->mgpu[i] > GPU_MGPU) ||
            (taken->gpu_bytes[i] > 0 &&
             sum.gpu_bytes[i] + taken->gpu_bytes[i] > spec->gpu_memory_bytes))
            broken(o, "room", "job %llu: GPU %u of node %s is not free", (ull)start->job_id, i,
                   spec->name);
}

static void check_node_use(const struct oracle *o, const struct decision *start,
                           const struct task_place *place, uint32_t node)
{
    const struct m_node *n = node != ROW_NONE ? &o->model.nodes[node] : NULL;

    if (n == NULL || !n->present)
        broken(o, "place", "job %llu: is started on %s, which is not there", (ull)start->job_id,
               place->node_name);
    if (model_is_closed(&o->model, node))
        broken(o, "place", "job %llu: is started on %s, which is drained, silent or stuck",
               (ull)start->job_id, place->node_name);
    if (place->gpu_mask & n->lost_mask)
        broken(o, "place", "job %llu: is started on a lost GPU of %s", (ull)start->job_id,
               place->node_name);
    if (n->spec.gpus < 64 && place->gpu_mask >> n->spec.gpus != 0)
        broken(o, "place", "job %llu: %s has not so many GPUs", (ull)start->job_id,
               place->node_name);
}

static void check_task_place(const struct oracle *o, const struct m_job *job,
                             const struct decision *start, const struct task_place *place)
{
    const uint32_t node = model_node(&o->model, place->node_name);
    const struct group_spec *group = model_group(job, place->task);
    struct m_need need;

    check_node_use(o, start, place, node);
    if (!model_admits(group, &o->model.nodes[node].spec) ||
        !model_need(group, &o->model.nodes[node].spec, &need) ||
        mask_popcount(place->gpu_mask) != group->gpus)
        broken(o, "place", "job %llu: task %u cannot be on %s", (ull)start->job_id, place->task,
               place->node_name);
}

/* All of its tasks, one place each; or, if it may run with fewer, at least so many. */
static void check_whole(const struct oracle *o, const struct m_job *job, const struct decisions *d,
                        const struct decision *start)
{
    const uint32_t all = model_tasks(job), least = job->spec.tasks_min;
    uint64_t seen[JOB_TASKS_MAX / 64] = {0};
    uint32_t count = start->place_count;

    for (uint32_t t = 0; job->state == M_HOLDS && t < job->task_count; t++)
        count += !job->tasks[t].left;
    if (count > all || (job->state == M_WAITS && count < (least > 0 && least < all ? least : all)))
        broken(o, "gang", "job %llu: %u of %u tasks are started", (ull)start->job_id, count, all);
    for (uint32_t i = 0; i < start->place_count; i++) {
        const uint32_t task = d->places[start->place_first + i].task;

        if (task >= all || bit_set_get(seen, task))
            broken(o, "gang", "job %llu: task %u is started twice, or is none", (ull)start->job_id,
                   task);
        bit_set_set(seen, task);
    }
}

/* With all that is held there now, and the tasks of this start. */
static void check_sums(const struct oracle *o, const struct m_job *job, const struct decisions *d,
                       const struct decision *start)
{
    for (uint32_t node = 0; node < o->model.node_count; node++) {
        struct m_sum taken = {0};

        for (uint32_t i = 0; i < start->place_count; i++) {
            const struct task_place *place = &d->places[start->place_first + i];
            struct m_need need;

            if (strcmp(place->node_name, o->model.nodes[node].spec.name) != 0)
                continue;
            (void)model_need(model_group(job, place->task), &o->model.nodes[node].spec, &need);
            m_sum_add(&taken, &need, place->gpu_mask, 1);
        }
        check_room(o, start, node, &taken);
    }
}

/* ---- whether ---- */

static bool is_met(const struct oracle *o, const struct job_after *after)
{
    const struct m_job *on =
        after->job_id <= o->model.job_count ? &o->model.jobs[after->job_id - 1] : NULL;

    return on == NULL || (on->state == M_OVER &&
                          (after->end == AFTER_ANY || on->ended_well == (after->end == AFTER_OK)));
}

static void check_gates(const struct oracle *o, const struct m_job *job,
                        const struct decision *start)
{
    if (job->held)
        broken(o, "held", "job %llu: is held and started", (ull)start->job_id);
    for (uint32_t i = 0; i < job->spec.after_count; i++)
        if (!is_met(o, &job->spec.after[i]))
            broken(o, "after", "job %llu: is started before job %llu has ended as it should",
                   (ull)start->job_id, (ull)job->spec.after[i].job_id);
}

static void check_array(const struct oracle *o, const struct m_job *job,
                        const struct decision *start)
{
    uint32_t running = 1;

    if (job->spec.array == NULL || job->spec.array[0] == '\0' || job->spec.array_limit == 0)
        return;
    for (uint32_t i = 0; i < o->model.job_count; i++) {
        const struct m_job *other = &o->model.jobs[i];

        running += model_is_active(other) && other->spec.array != NULL &&
                   strcmp(other->spec.array, job->spec.array) == 0 &&
                   strcmp(other->spec.user, job->spec.user) == 0;
    }
    if (running > job->spec.array_limit)
        broken(o, "array", "job %llu: %u jobs of array %s run, the limit is %u", (ull)start->job_id,
               running, job->spec.array, job->spec.array_limit);
}

void check_start(struct oracle *o, const struct decisions *d, const struct decision *start)
{
    struct m_job *job = model_job(&o->model, start->job_id);
    const bool grows = job != NULL && job->state == M_HOLDS && model_is_loose(job);

    if (job == NULL || (job->state != M_WAITS && !grows))
        broken(o, "start", "job %llu: is started, and does not wait", (ull)start->job_id);
    if (!grows && start->run != job->run + 1)
        broken(o, "start", "job %llu: start %u comes after %u", (ull)start->job_id, start->run,
               job->run);
    job->layout = start->layout;
    check_whole(o, job, d, start);
    for (uint32_t i = 0; i < start->place_count; i++)
        check_task_place(o, job, start, &d->places[start->place_first + i]);
    check_sums(o, job, d, start);
    if (grows)
        return;
    check_gates(o, job, start);
    check_array(o, job, start);
}

void check_reject(struct oracle *o, const struct decision *reject)
{
    const struct m_job *job = model_job(&o->model, reject->job_id);
    bool in_vain = false;

    if (job == NULL || job->state != M_WAITS)
        broken(o, "reject", "job %llu: is rejected, and does not wait", (ull)reject->job_id);
    for (uint32_t i = 0; i < job->spec.after_count; i++) {
        const struct m_job *on = model_job(&o->model, job->spec.after[i].job_id);

        in_vain |= on != NULL && on->state == M_OVER && !is_met(o, &job->spec.after[i]);
    }
    if (reject->reason == REASON_IN_VAIN && !in_vain)
        broken(o, "reject", "job %llu: is rejected, but could still start", (ull)reject->job_id);
}

/* ---- limits ---- */

static const struct queue_spec *find_queue(const struct rules_spec *rules, const char *name)
{
    for (uint32_t i = 0; i < rules->queue_count; i++)
        if (strcmp(rules->queues[i].name, name) == 0)
            return &rules->queues[i];
    return NULL;
}

static const struct class_spec *class_of(const struct rules_spec *rules, const struct m_job *job)
{
    const char *name = job->spec.class != NULL && job->spec.class[0] ? job->spec.class
                       : rules->default_class != NULL                ? rules->default_class
                                                                     : "";

    for (uint32_t i = 0; i < rules->class_count; i++)
        if (strcmp(rules->classes[i].name, name) == 0)
            return &rules->classes[i];
    return NULL;
}

static const struct queue_spec *queue_of(const struct rules_spec *rules, const struct m_job *job)
{
    const char *name = job->spec.queue != NULL && job->spec.queue[0] ? job->spec.queue
                       : rules->default_queue != NULL                ? rules->default_queue
                                                                     : "";

    return find_queue(rules, name);
}

static bool is_below(const struct rules_spec *rules, const struct queue_spec *queue,
                     const struct queue_spec *top)
{
    for (uint32_t depth = 0; queue != NULL && depth <= QUEUE_DEPTH_MAX; depth++) {
        if (queue == top)
            return true;
        queue = queue->parent != NULL && queue->parent[0] ? find_queue(rules, queue->parent) : NULL;
    }
    return false;
}

/* Whose jobs are added up: of a queue and those below it, of a user, of a class; NULL = of all. */
struct whose {
    const struct queue_spec *queue;
    const char *user;
    const struct class_spec *class;
};

static void add_task(const struct oracle *o, const struct m_job *job, uint32_t task,
                     int64_t out[RES_COUNT])
{
    struct m_need need;

    if (job->tasks[task].left)
        return;
    (void)model_need(model_group(job, task), &o->model.nodes[job->tasks[task].node].spec, &need);
    out[RES_GPU_MGPU] += need.gpus * need.mgpu;
    out[RES_GPU_BYTES] += need.gpus * need.gpu_bytes;
    out[RES_CPU_MCPU] += need.mcpu;
    out[RES_MEMORY_BYTES] += need.memory_bytes;
}

static void used_by(const struct oracle *o, const struct whose *whose, int64_t out[RES_COUNT])
{
    const struct rules_spec *rules = &o->model.rules;

    memset(out, 0, RES_COUNT * sizeof out[0]);
    for (uint32_t i = 0; i < o->model.job_count; i++) {
        const struct m_job *job = &o->model.jobs[i];

        if (!model_is_active(job) ||
            (whose->queue && !is_below(rules, queue_of(rules, job), whose->queue)) ||
            (whose->user && strcmp(job->spec.user, whose->user) != 0) ||
            (whose->class && class_of(rules, job) != whose->class))
            continue;
        for (uint32_t t = 0; t < job->task_count; t++)
            add_task(o, job, t, out);
    }
}

/* A limit may have been lowered: only what this start takes more of counts. */
static void check_limit(const struct oracle *o, const struct decision *start,
                        const struct whose *whose, const int64_t limit[RES_COUNT], const char *what)
{
    static const char *const words[RES_COUNT] = {"GPUs", "GPU memory", "CPUs", "memory"};
    const struct m_job *job = &o->model.jobs[start->job_id - 1];
    int64_t used[RES_COUNT], own[RES_COUNT] = {0};

    for (uint32_t t = 0; t < job->task_count; t++)
        add_task(o, job, t, own);
    used_by(o, whose, used);
    for (uint32_t r = 0; r < RES_COUNT; r++)
        if (limit[r] != AMOUNT_NONE && own[r] > 0 && used[r] > limit[r])
            broken(o, "limit", "job %llu: %s of %s: %lld are used, the limit is %lld",
                   (ull)start->job_id, words[r], what, (long long)used[r], (long long)limit[r]);
}

/* What a queue may use in all, by its guarantee and what it may borrow. */
static void with_borrowed(const struct queue_spec *queue, int64_t out[RES_COUNT])
{
    for (uint32_t r = 0; r < RES_COUNT; r++) {
        const int64_t own = queue->guarantee[r] == AMOUNT_NONE ? 0 : queue->guarantee[r];

        out[r] = queue->borrow[r] == AMOUNT_NONE ? AMOUNT_NONE : own + queue->borrow[r];
    }
}

/* After a start: no queue above it, no user and no class holds more than its limit. */
void check_limits(struct oracle *o, const struct decisions *d, const struct decision *start)
{
    const struct rules_spec *rules = &o->model.rules;
    const struct m_job *job = model_job(&o->model, start->job_id);
    const struct queue_spec *own = queue_of(rules, job);
    const struct class_spec *class = class_of(rules, job);

    (void)d;
    for (uint32_t q = 0; o->model.ruled && q < rules->queue_count; q++) {
        const struct queue_spec *queue = &rules->queues[q];
        int64_t most[RES_COUNT];

        if (own == NULL || !is_below(rules, own, queue))
            continue;
        with_borrowed(queue, most);
        check_limit(o, start, &(struct whose){.queue = queue}, queue->limit, queue->name);
        check_limit(o, start, &(struct whose){.queue = queue}, most, queue->name);
        if (queue == own)
            check_limit(o, start, &(struct whose){.queue = queue, .user = job->spec.user},
                        queue->user_limit, job->spec.user);
    }
    if (o->model.ruled && class != NULL)
        check_limit(o, start, &(struct whose){.class = class, .user = job->spec.user},
                    class->user_limit, job->spec.user);
}
