/* SPDX-License-Identifier: Apache-2.0 */
/* check_stop.c - who may be told to stop, for whom, and whether it was needed. */
#include <string.h>

#include "base/bits.h"
#include "core/impl.h"
#include "core/view.h"
#include "soak/oracle.h"

typedef unsigned long long ull;

static const struct class_spec *class_of(const struct oracle *o, const struct m_job *job)
{
    const struct rules_spec *rules = &o->model.rules;
    const char *name = job->spec.class != NULL && job->spec.class[0] ? job->spec.class
                       : rules->default_class != NULL                ? rules->default_class
                                                                     : "";

    for (uint32_t i = 0; i < rules->class_count; i++)
        if (strcmp(rules->classes[i].name, name) == 0)
            return &rules->classes[i];
    return NULL;
}

/* Where no classes are stated: low, medium, high; each may take from those below it. */
static int default_rank(const struct m_job *job)
{
    const char *name = job->spec.class != NULL ? job->spec.class : "";

    return strcmp(name, "low") == 0 ? 1 : strcmp(name, "high") == 0 ? 3 : 2;
}

/* A victim runs, may give way, has run for long enough, and makes room for a job that waits. */
static void check_victim(struct oracle *o, const struct m_job *job, const struct decision *stop)
{
    const struct m_job *other = model_job(&o->model, stop->for_job);
    const struct class_spec *class = class_of(o, job);
    const int64_t least_us = job->spec.min_run_us >= 0 ? job->spec.min_run_us
                             : class != NULL           ? class->min_run_us
                                                       : 0;

    if (other == NULL || other->state != M_WAITS)
        broken(o, "victim", "job %llu: gives way to job %llu, which does not wait",
               (ull)stop->job_id, (ull)stop->for_job);
    if (o->world->core->order->preempts == PREEMPT_NEVER && !o->model.ruled &&
        default_rank(job) >= default_rank(other))
        broken(o, "victim", "job %llu: job %llu has no right to take from it", (ull)stop->job_id,
               (ull)stop->for_job);
    if (other->claims && other->step != o->model.steps && other->upsets == o->model.upsets &&
        !oracle_others_claim(o, stop->for_job))
        broken(o, "in vain", "job %llu: others left for it before, and it did not start",
               (ull)stop->for_job);
    if (job->spec.fixed || (class != NULL && class->fixed))
        broken(o, "victim", "job %llu: never gives way, and is told to", (ull)stop->job_id);
    if (job->first_up_us >= 0 && o->model.now_us - job->first_up_us < least_us)
        broken(o, "victim", "job %llu: gives way before it ran for long enough", (ull)stop->job_id);
}

/* On a node that was silent for as long as makes it lost. */
static bool is_on_lost_node(const struct oracle *o, const struct m_job *job)
{
    const int64_t silent_us = o->model.ruled ? o->model.rules.silent_us : 60000000;

    for (uint32_t t = 0; t < job->task_count; t++) {
        const struct m_node *node = &o->model.nodes[job->tasks[t].node];

        if (node->silent && o->model.now_us >= node->silent_since_us + silent_us)
            return true;
    }
    return false;
}

static void check_cause(const struct oracle *o, const struct m_job *job,
                        const struct decision *stop)
{
    const bool true_cause = stop->reason == REASON_CANCELLED ? job->cancelled
                            : stop->reason == REASON_FAILED  ? job->failed
                            : stop->reason == REASON_LOST
                                ? job->lost || job->no_start || is_on_lost_node(o, job)
                                : true;

    if (!true_cause && !model_is_loose(job))
        broken(o, "cause", "job %llu: is stopped because it %s", (ull)stop->job_id,
               reason_text(stop->reason));
    if (stop->mode == STOP_PREEMPT && (job->cancelled || (job->failed && job->spec.retries == 0 &&
                                                          !job->no_start && !model_is_loose(job))))
        broken(o, "cause", "job %llu: is over, and is to wait again", (ull)stop->job_id);
    if (stop->mode == STOP_CANCEL && !job->cancelled && !job->failed)
        broken(o, "cause", "job %llu: is to end, and nobody said so", (ull)stop->job_id);
}

/* It ran for its time, and not longer. */
static void check_time_limit(const struct oracle *o, const struct m_job *job,
                             const struct decision *stop)
{
    if (stop->mode != STOP_LIMIT)
        return;
    if (job->spec.limit_us == 0)
        broken(o, "time", "job %llu: has no time limit, and is stopped by it", (ull)stop->job_id);
    if (job->first_up_us < 0 || o->model.now_us < job->first_up_us + job->spec.limit_us)
        broken(o, "time", "job %llu: is stopped before its time limit", (ull)stop->job_id);
}

void check_stop(struct oracle *o, const struct decision *stop)
{
    const struct m_job *job = model_job(&o->model, stop->job_id);

    if (job == NULL || job->state != M_HOLDS)
        broken(o, "stop", "job %llu: is told to stop, and does not run, or was told before",
               (ull)stop->job_id);
    if (stop->run != job->run && !model_is_loose(job))
        broken(o, "stop", "job %llu: run %u is told to stop, not %u", (ull)stop->job_id, stop->run,
               job->run);
    check_cause(o, job, stop);
    check_time_limit(o, job, stop);
    if (stop->reason == REASON_GIVES_WAY)
        check_victim(o, job, stop);
}

/* ---- no victim is unneeded ---- */

static bool is_short(const struct node_spec *spec, const struct m_node *node,
                     const struct m_sum *sum, const struct m_need *need, uint64_t gpu_mask)
{
    if ((need->mcpu > 0 && sum->mcpu > spec->cpu_mcpu) ||
        (need->memory_bytes > 0 && sum->memory_bytes > spec->memory_bytes))
        return true;
    for (uint64_t left = gpu_mask; left != 0; left = mask_drop_lowest(left)) {
        const uint32_t gpu = mask_lowest(left);

        if (sum->mgpu[gpu] > GPU_MGPU || sum->gpu_bytes[gpu] > spec->gpu_memory_bytes ||
            (node->lost_mask & mask_bit(gpu)))
            return true;
    }
    return false;
}

/* What would be held on the node of a task if its job stayed: all but the other victims. */
static void sum_if_it_stays(struct oracle *o, const struct decision *stop, uint32_t node,
                            struct m_sum *out)
{
    struct m_sum claims;

    model_sum(&o->model, node, true, out);
    for (uint32_t i = 0; i < o->model.job_count; i++) {
        const struct m_job *job = &o->model.jobs[i];

        if (job->state != M_STOPS || job->for_job != stop->for_job || i + 1 == stop->job_id)
            continue;
        for (uint32_t t = 0; t < job->task_count; t++) {
            struct m_need need;

            if (job->tasks[t].left || job->tasks[t].node != node)
                continue;
            (void)model_need(model_group(job, t), &o->model.nodes[node].spec, &need);
            m_sum_add(out, &need, job->tasks[t].gpu_mask, -1);
        }
    }
    oracle_claims(o, node, &claims);
    out->mcpu += claims.mcpu;
    out->memory_bytes += claims.memory_bytes;
    for (uint32_t i = 0; i < NODE_GPUS_MAX; i++) {
        out->mgpu[i] += claims.mgpu[i];
        out->gpu_bytes[i] += claims.gpu_bytes[i];
    }
}

/* Some task of it is in the way of what is kept for those that wait. */
void check_needed(struct oracle *o, const struct decision *stop)
{
    const struct m_job *job = model_job(&o->model, stop->job_id);

    if (stop->mode != STOP_PREEMPT || model_is_loose(job) || o->model.rules.queue_count > 0)
        return; /* with queues it may be a limit that is in the way, and not a place */
    for (uint32_t t = 0; t < job->task_count; t++) {
        const struct m_node *node = &o->model.nodes[job->tasks[t].node];
        struct m_need need;
        struct m_sum sum;

        if (job->tasks[t].left)
            continue;
        (void)model_need(model_group(job, t), &node->spec, &need);
        sum_if_it_stays(o, stop, job->tasks[t].node, &sum);
        if (is_short(&node->spec, node, &sum, &need, job->tasks[t].gpu_mask))
            return;
    }
    broken(o, "needed", "job %llu: gives way to job %llu, but could have stayed", (ull)stop->job_id,
           (ull)stop->for_job);
}

/* ---- reservations ---- */

/* It never gets later because of a job that was started after it was said. */
void check_reserve(struct oracle *o, const struct decision *reserve)
{
    const struct m_job *job = model_job(&o->model, reserve->job_id);
    const struct m_job *other = model_job(&o->model, reserve->for_job);

    if (job == NULL || job->state != M_WAITS)
        broken(o, "reserve", "job %llu: has a reservation, and does not wait",
               (ull)reserve->job_id);
    if (reserve->at_us != TIME_NONE && reserve->at_us < o->model.now_us)
        broken(o, "reserve", "job %llu: is to start in the past", (ull)reserve->job_id);
    if (job->reserved_us < 0 || reserve->at_us <= job->reserved_us || other == NULL)
        return;
    if (model_is_active(other) && other->started_us > job->reserved_at_us)
        broken(o, "reserve", "job %llu: starts later because of job %llu, which started after it",
               (ull)reserve->job_id, (ull)reserve->for_job);
}
