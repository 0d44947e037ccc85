/* SPDX-License-Identifier: Apache-2.0 */
/* check_start.c - what may be started, and where. */
#include <string.h>

#include "base/bits.h"
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
        !model_need(job, place->task, &o->model.nodes[node].spec, &need) ||
        mask_popcount(place->gpu_mask) != group->gpus)
        broken(o, "place", "job %llu: task %u cannot be on %s", (ull)start->job_id, place->task,
               place->node_name);
}

/* All of its tasks, one place each; or, if it may run with fewer, at least so many. */
static void check_whole(const struct oracle *o, const struct m_job *job, const struct decisions *d,
                        const struct decision *start)
{
    const uint32_t all = model_tasks(job);
    uint64_t seen[JOB_TASKS_MAX / 64] = {0};

    if (start->place_count == 0 ||
        (job->state == M_WAITS && start->place_count < model_tasks_min(job)))
        broken(o, "gang", "job %llu: %u of %u tasks are started", (ull)start->job_id,
               start->place_count, all);
    for (uint32_t i = 0; i < start->place_count; i++) {
        const uint32_t task = d->places[start->place_first + i].task;

        if (task >= all || bit_set_get(seen, task))
            broken(o, "gang", "job %llu: task %u is started twice, or is none", (ull)start->job_id,
                   task);
        if (job->state == M_HOLDS && !job->tasks[task].absent)
            broken(o, "gang", "job %llu: task %u is started, and is there, or is done",
                   (ull)start->job_id, task);
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
            (void)model_need(job, place->task, &o->model.nodes[node].spec, &need);
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

/* Who gets more of its tasks runs, and has no end in sight. */
static void check_growth(const struct oracle *o, const struct m_job *job,
                         const struct decision *start)
{
    if (!model_is_up(job) || job->cancelled || job->failed || job->lost)
        broken(o, "start", "job %llu: gets more tasks, and does not run", (ull)start->job_id);
    for (uint32_t t = 0; t < job->task_count; t++)
        if (job->tasks[t].left && !job->tasks[t].absent)
            broken(o, "start", "job %llu: gets more tasks, and one is done", (ull)start->job_id);
}

void check_start(struct oracle *o, const struct decisions *d, const struct decision *start)
{
    struct m_job *job = model_job(&o->model, start->job_id);
    const bool grows = job != NULL && job->state == M_HOLDS && model_is_loose(job);

    if (job == NULL || (job->state != M_WAITS && !grows))
        broken(o, "start", "job %llu: is started, and does not wait", (ull)start->job_id);
    if (start->run != job->run + 1)
        broken(o, "start", "job %llu: start %u comes after %u", (ull)start->job_id, start->run,
               job->run);
    job->layout = start->layout;
    check_whole(o, job, d, start);
    for (uint32_t i = 0; i < start->place_count; i++)
        check_task_place(o, job, start, &d->places[start->place_first + i]);
    check_sums(o, job, d, start);
    check_near(o, job, d, start);
    if (grows) {
        check_growth(o, job, start);
        return;
    }
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
    if (job->cancelled || (reject->reason == REASON_IN_VAIN && !in_vain))
        broken(o, "reject", "job %llu: is rejected, but could still start", (ull)reject->job_id);
}
