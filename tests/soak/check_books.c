/* SPDX-License-Identifier: Apache-2.0 */
/* check_books.c - free + used + releasing + lost = total, and the same jobs in the same states with
 * the same tasks, as the facts and decisions alone say. */
#include <string.h>

#include "core/impl.h"
#include "core/view.h"
#include "soak/oracle.h"

#define ID(o, job) ((unsigned long long)((job) - (o)->model.jobs) + 1)

static const char *const state_words[] = {"unknown", "waiting", "on its GPUs", "stopping", "over"};

static enum m_state core_state(const struct job *row)
{
    return row == NULL                  ? M_OVER
           : row->state == JOB_PENDING  ? M_WAITS
           : row->state == JOB_STOPPING ? M_STOPS
                                        : M_HOLDS;
}

static void check_task(const struct oracle *o, const struct m_job *job, const struct job *row,
                       uint32_t index)
{
    const struct core *core = o->world->core;
    const struct m_task *mine = &job->tasks[index];
    const struct task *task = job_task(core, row, index);
    const char *node = task->left /* then it may point to none */
                           ? ""
                           : names_text(&core->names, core->nodes.rows[task->node].name);

    if (mine->left != task->left || mine->started != task->started)
        broken(o, "books", "job %llu: task %u: %s, but the core says %s", ID(o, job), index,
               mine->left ? "has left" : "is there", task->left ? "it has left" : "it is there");
    if (!mine->left && (mine->gpu_mask != task->gpu_mask ||
                        strcmp(o->model.nodes[mine->node].spec.name, node) != 0))
        broken(o, "books", "job %llu: task %u: is on %s, not on %s", ID(o, job), index,
               o->model.nodes[mine->node].spec.name, node);
}

static void check_job(const struct oracle *o, const struct m_job *job)
{
    const struct core *core = o->world->core;
    const uint32_t at = core_find_job(core, ID(o, job));
    const struct job *row = at != ROW_NONE ? core_job(core, at) : NULL;

    if (core_state(row) != job->state)
        broken(o, "life", "job %llu: is %s, but the core has it %s", ID(o, job),
               state_words[job->state], state_words[core_state(row)]);
    if (!model_is_active(job))
        return;
    if (row->task_count != job->task_count || row->run != job->run)
        broken(o, "books", "job %llu: %u tasks in run %u, the core has %u in run %u", ID(o, job),
               job->task_count, job->run, row->task_count, row->run);
    for (uint32_t i = 0; i < job->task_count; i++)
        check_task(o, job, row, i);
}

void oracle_claims(const struct oracle *o, uint32_t node, struct m_sum *out)
{
    const struct core *core = o->world->core;

    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < o->model.job_count; i++) {
        const struct m_job *job = &o->model.jobs[i];
        const uint32_t at = job->state == M_WAITS ? core_find_job(core, (uint64_t)i + 1) : ROW_NONE;
        const struct job *row = at != ROW_NONE ? core_job(core, at) : NULL;

        if (row == NULL || row->task_first == ROW_NONE)
            continue;
        for (uint32_t t = 0; t < row->task_count; t++) {
            const struct task *task = job_task(core, row, t);
            struct m_need need;

            if (task->node != oracle_node_row(o, node) ||
                !model_need(job, t, &o->model.nodes[node].spec, &need))
                continue;
            m_sum_add(out, &need, task->gpu_mask, 1);
        }
    }
}

static void check_node(struct oracle *o, uint32_t node)
{
    const struct core *core = o->world->core;
    const char *name = o->model.nodes[node].spec.name;
    const uint32_t at = oracle_node_row(o, node);
    const struct node *row;
    struct m_sum held, claims;

    if ((at != ROW_NONE) != o->model.nodes[node].present)
        broken(o, "books", "node %s: is %s", name, at != ROW_NONE ? "known" : "not known");
    if (at == ROW_NONE)
        return;
    row = &core->nodes.rows[at];
    model_sum(&o->model, node, true, &held);
    oracle_claims(o, node, &claims);
    if (row->lost_mask != o->model.nodes[node].lost_mask)
        broken(o, "books", "node %s: other GPUs are lost", name);
    if (row->held_mcpu != held.mcpu + claims.mcpu ||
        row->held_memory_bytes != held.memory_bytes + claims.memory_bytes)
        broken(o, "books", "node %s: %lld mCPU and %lld bytes are held, jobs hold %lld and %lld",
               name, (long long)row->held_mcpu, (long long)row->held_memory_bytes,
               (long long)(held.mcpu + claims.mcpu),
               (long long)(held.memory_bytes + claims.memory_bytes));
    for (uint32_t i = 0; i < o->model.nodes[node].spec.gpus; i++)
        if (core->nodes.gpus[row->gpu_first + i].held_mgpu != held.mgpu[i] + claims.mgpu[i] ||
            core->nodes.gpus[row->gpu_first + i].held_bytes !=
                held.gpu_bytes[i] + claims.gpu_bytes[i])
            broken(o, "books", "node %s: GPU %u: what is held is not what jobs hold", name, i);
}

void check_books(struct oracle *o)
{
    for (uint32_t i = 0; i < o->model.job_count; i++)
        if (o->model.jobs[i].state != M_UNKNOWN)
            check_job(o, &o->model.jobs[i]);
    for (uint32_t node = 0; node < o->model.node_count; node++)
        check_node(o, node);
}

/* Room is kept for the whole of a job, or for none of it. */
static void check_claim_whole(const struct oracle *o, const struct m_job *job)
{
    const struct core *core = o->world->core;
    const struct job *row = core_job(core, core_find_job(core, ID(o, job)));
    const uint32_t all = model_tasks(job), least = model_tasks_min(job);

    if (row->task_first != ROW_NONE && (row->task_count > all || row->task_count < least))
        broken(o, "claims", "job %llu: room is kept for %u of its %u tasks", ID(o, job),
               row->task_count, all);
}

/* What is kept for a waiting job is free, or held by jobs that are leaving: nobody else got it. */
void check_claims(struct oracle *o)
{
    for (uint32_t i = 0; i < o->model.job_count; i++)
        if (o->model.jobs[i].state == M_WAITS)
            check_claim_whole(o, &o->model.jobs[i]);
    for (uint32_t n = 0; n < o->model.node_count; n++) {
        const struct m_node *node = &o->model.nodes[n];
        struct m_sum held, claims;

        if (!node->present || node->surprised)
            continue;
        model_sum(&o->model, n, false, &held);
        oracle_claims(o, n, &claims);
        if ((claims.mcpu > 0 && held.mcpu + claims.mcpu > node->spec.cpu_mcpu) ||
            (claims.memory_bytes > 0 &&
             held.memory_bytes + claims.memory_bytes > node->spec.memory_bytes))
            broken(o, "claims", "node %s: CPU or memory is kept for one and held by another",
                   node->spec.name);
        for (uint32_t i = 0; i < node->spec.gpus; i++)
            if ((claims.mgpu[i] > 0 && held.mgpu[i] + claims.mgpu[i] > GPU_MGPU) ||
                (claims.gpu_bytes[i] > 0 &&
                 held.gpu_bytes[i] + claims.gpu_bytes[i] > node->spec.gpu_memory_bytes))
                broken(o, "claims", "node %s: GPU %u is kept for one and held by another",
                       node->spec.name, i);
    }
}
