/* SPDX-License-Identifier: Apache-2.0 */
/* check_stop.c - who may be told to stop, for whom, and whether it was needed. */
#include <string.h>

#include "base/bits.h"
#include "core/impl.h"
#include "core/view.h"
#include "soak/oracle.h"

typedef unsigned long long ull;

/* A victim runs, may give way, has run for long enough, and makes room for a job that waits. */
static void check_victim(struct oracle *o, const struct decisions *d, const struct m_job *job,
                         const struct decision *stop)
{
    const struct m_job *other = model_job(&o->model, stop->for_job);

    if (other == NULL || other->state != M_WAITS)
        broken(o, "victim", "job %llu: gives way to job %llu, which does not wait",
               (ull)stop->job_id, (ull)stop->for_job);
    if (other->claims && other->step != o->model.steps && other->upsets == o->model.upsets)
        broken(o, "in vain", "job %llu: others left for it before, and it did not start",
               (ull)stop->for_job);
    if (job->spec.fixed || model_class_of(&o->model, job)->fixed)
        broken(o, "victim", "job %llu: never gives way, and is told to", (ull)stop->job_id);
    if (!model_is_up(job) || o->model.now_us - job->all_up_us < model_min_run_us(&o->model, job))
        broken(o, "victim", "job %llu: gives way before it ran for long enough", (ull)stop->job_id);
    check_right(o, d, stop);
}

static bool is_on_lost_node(const struct oracle *o, const struct m_job *job)
{
    for (uint32_t t = 0; t < job->task_count; t++)
        if (!job->tasks[t].left && o->model.nodes[job->tasks[t].node].lost)
            return true;
    return false;
}

static void check_cause(const struct oracle *o, const struct m_job *job,
                        const struct decision *stop)
{
    const bool lost = job->lost || is_on_lost_node(o, job);
    const bool again = !job->cancelled && (lost || (job->failed && job->retries_left > 0));
    const bool true_cause = stop->reason == REASON_CANCELLED   ? job->cancelled
                            : stop->reason == REASON_FAILED    ? job->failed
                            : stop->reason == REASON_LOST      ? lost
                            : stop->reason == REASON_LIMIT     ? stop->mode == STOP_LIMIT
                            : stop->reason == REASON_GIVES_WAY ? stop->for_job != JOB_NONE
                                                               : false;

    if (!true_cause)
        broken(o, "cause", "job %llu: is stopped because it %s", (ull)stop->job_id,
               reason_text(stop->reason));
    if (stop->reason != REASON_GIVES_WAY && stop->mode == STOP_PREEMPT && !again)
        broken(o, "cause", "job %llu: is over, and is to wait again", (ull)stop->job_id);
    if (stop->mode == STOP_CANCEL && again)
        broken(o, "cause", "job %llu: is to end, and may start again", (ull)stop->job_id);
    if (stop->grace_us != model_grace_us(&o->model, job))
        broken(o, "cause", "job %llu: has %lld us of grace, not %lld", (ull)stop->job_id,
               (long long)stop->grace_us, (long long)model_grace_us(&o->model, job));
}

/* Only tasks of those above its minimum; or such as are lost. */
static void check_shrink(const struct oracle *o, const struct m_job *job, const struct decisions *d,
                         const struct decision *stop)
{
    uint32_t standing = 0;

    if (!model_is_loose(job) || stop->place_count == 0)
        broken(o, "shrink", "job %llu: cannot run with fewer tasks", (ull)stop->job_id);
    for (uint32_t t = 0; t < job->task_count; t++)
        standing += !job->tasks[t].left && !job->tasks[t].stopping;
    for (uint32_t i = 0; i < stop->place_count; i++) {
        const struct m_task *task = &job->tasks[d->places[stop->place_first + i].task];

        if (task->left || task->stopping)
            broken(o, "shrink", "job %llu: a task is to stop that is not there, or was told before",
                   (ull)stop->job_id);
    }
    if (stop->reason == REASON_GIVES_WAY && standing < stop->place_count + model_tasks_min(job))
        broken(o, "shrink", "job %llu: is left with fewer tasks than it needs", (ull)stop->job_id);
}

/* It ran for its time, and not longer. */
static void check_time_limit(const struct oracle *o, const struct m_job *job,
                             const struct decision *stop)
{
    if (stop->mode != STOP_LIMIT)
        return;
    if (job->spec.limit_us == 0)
        broken(o, "time", "job %llu: has no time limit, and is stopped by it", (ull)stop->job_id);
    if (!model_is_up(job) || o->model.now_us < job->all_up_us + job->spec.limit_us)
        broken(o, "time", "job %llu: is stopped before its time limit", (ull)stop->job_id);
}

void check_stop(struct oracle *o, const struct decisions *d, const struct decision *stop)
{
    const struct m_job *job = model_job(&o->model, stop->job_id);

    if (job == NULL || job->state != M_HOLDS)
        broken(o, "stop", "job %llu: is told to stop, and does not run, or was told before",
               (ull)stop->job_id);
    if (stop->run != job->run && stop->mode != STOP_SHRINK)
        broken(o, "stop", "job %llu: run %u is told to stop, not %u", (ull)stop->job_id, stop->run,
               job->run);
    check_cause(o, job, stop);
    check_time_limit(o, job, stop);
    if (stop->mode == STOP_SHRINK)
        check_shrink(o, job, d, stop);
    if (stop->reason != REASON_GIVES_WAY)
        return;
    if (stop->mode == STOP_PREEMPT && job->spec.service)
        broken(o, "victim", "job %llu: a service is to give way whole", (ull)stop->job_id);
    check_victim(o, d, job, stop);
}

/* It should have been killed long ago. */
void check_attend(struct oracle *o, const struct decision *attend)
{
    const struct m_job *job = model_job(&o->model, attend->job_id);

    if (job == NULL || job->state != M_STOPS || job->attended ||
        o->model.now_us < job->stopped_us + model_grace_us(&o->model, job) + ATTEND_AFTER_US)
        broken(o, "time", "job %llu: a person is asked for it too early, or twice",
               (ull)attend->job_id);
}

/* ---- no victim is unneeded ---- */

static bool is_short(const struct m_node *node, const struct m_sum *sum, const struct m_need *need,
                     uint64_t gpu_mask)
{
    const struct node_spec *spec = &node->spec;

    if ((need->mcpu > 0 && sum->mcpu > spec->cpu_mcpu) ||
        (need->memory_bytes > 0 && sum->memory_bytes > spec->memory_bytes))
        return true;
    for (uint64_t left = gpu_mask | need->all_gpus; left != 0; left = mask_drop_lowest(left)) {
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

        if (job->for_job != stop->for_job || i + 1 == stop->job_id)
            continue;
        for (uint32_t t = 0; t < job->task_count; t++) {
            struct m_need need;

            if (job->tasks[t].left || job->tasks[t].node != node ||
                (job->state != M_STOPS && !job->tasks[t].stopping))
                continue;
            (void)model_need(job, t, &o->model.nodes[node].spec, &need);
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

static bool is_bound(const int64_t limit[RES_COUNT])
{
    for (uint32_t r = 0; r < RES_COUNT; r++)
        if (limit[r] != AMOUNT_NONE)
            return true;
    return false;
}

/* Both count for one bound: it may be that which is in the way, and not a place. */
static bool is_bounded_with(const struct oracle *o, const struct m_job *job,
                            const struct decision *stop)
{
    const struct rules_spec *rules = &o->model.rules;
    const struct m_job *other = &o->model.jobs[stop->for_job - 1];
    const struct queue_spec *own = model_queue_of(&o->model, job);
    const struct class_spec *class = model_class_of(&o->model, job);
    const bool same_user = strcmp(job->spec.user, other->spec.user) == 0;
    bool bound =
        same_user && class == model_class_of(&o->model, other) && is_bound(class->user_limit);

    for (const struct queue_spec *q = own; q != NULL; q = model_parent(rules, q))
        if (model_is_below(rules, model_queue_of(&o->model, other), q))
            bound = bound || is_bound(q->limit) || is_bound(q->borrow) ||
                    (same_user && is_bound(q->user_limit));
    for (uint32_t q = 0; q < rules->queue_count; q++)
        bound = bound || is_bound(rules->queues[q].lend);
    return bound;
}

/* Nobody takes the places of a reservation; of these it is not kept here where they are. */
static bool some_are_reserved(const struct oracle *o)
{
    for (uint32_t i = 0; i < o->model.job_count; i++)
        if (o->model.jobs[i].state == M_WAITS && o->model.jobs[i].reserved_us >= 0)
            return true;
    return false;
}

/* Some task of it is in the way of what is kept for those that wait. */
void check_needed(struct oracle *o, const struct decision *stop)
{
    const struct m_job *job = model_job(&o->model, stop->job_id);

    if (stop->mode != STOP_PREEMPT || model_is_loose(job) || is_bounded_with(o, job, stop) ||
        some_are_reserved(o))
        return;
    for (uint32_t t = 0; t < job->task_count; t++) {
        const struct m_node *node = &o->model.nodes[job->tasks[t].node];
        struct m_need need;
        struct m_sum sum;

        if (job->tasks[t].left)
            continue;
        (void)model_need(job, t, &node->spec, &need);
        sum_if_it_stays(o, stop, job->tasks[t].node, &sum);
        if (is_short(node, &sum, &need, job->tasks[t].gpu_mask))
            return;
    }
    broken(o, "needed", "job %llu: gives way to job %llu, but could have stayed", (ull)stop->job_id,
           (ull)stop->for_job);
}

/* ---- reservations ---- */

/* Does it keep to its time limit so far, and did so when its start was reported? Of a job without
 * one it is not known here what was predicted. */
static bool keeps_its_word(const struct oracle *o, const struct m_job *job)
{
    return job->spec.limit_us > 0 && job->state != M_STOPS &&
           (job->all_up_us < 0 || job->all_up_us == job->started_us) &&
           o->model.now_us < job->started_us + job->spec.limit_us + model_grace_us(&o->model, job);
}

/* It never gets later because of a job that was started after it was said, unless that one has
 * overrun its own bound. */
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
    if (model_is_active(other) && other->started_us > job->reserved_at_us &&
        keeps_its_word(o, other))
        broken(o, "reserve",
               "job %llu: starts later because of job %llu, which started after it and "
               "keeps to its limit",
               (ull)reserve->job_id, (ull)reserve->for_job);
}
