/* SPDX-License-Identifier: Apache-2.0 */
/* check_submit.c - what is taken when it is submitted, and what is not. */
#include <errno.h>
#include <string.h>

#include "soak/oracle.h"

typedef unsigned long long ull;

static bool is_let(const char *const *users, uint32_t count, const char *user)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(users[i], user) == 0)
            return true;
    return count == 0;
}

static bool has_below(const struct rules_spec *rules, const struct queue_spec *queue)
{
    for (uint32_t i = 0; i < rules->queue_count; i++)
        if (model_parent(rules, &rules->queues[i]) == queue)
            return true;
    return false;
}

/* The user may not submit there. */
static bool is_shut_out(const struct oracle *o, const struct m_job *job)
{
    const struct class_spec *class = model_class(&o->model, job->spec.class);
    bool let = class == NULL || is_let(class->users, class->user_count, job->spec.user);

    for (const struct queue_spec *q = model_queue_of(&o->model, job); q != NULL;
         q = model_parent(&o->model.rules, q))
        let = let && is_let(q->users, q->user_count, job->spec.user);
    return !let;
}

/* The user has as many unfinished jobs there as there may be. */
static bool is_full(const struct oracle *o, const struct m_job *job)
{
    const struct queue_spec *queue = model_queue_of(&o->model, job);
    const struct m_whose whose = {.queue = queue, .user = job->spec.user};
    uint32_t jobs = 0;

    for (uint32_t i = 0; i < o->model.job_count; i++)
        jobs += o->model.jobs[i].state != M_UNKNOWN && o->model.jobs[i].state != M_OVER &&
                model_is_of(&o->model, &o->model.jobs[i], &whose);
    return queue != NULL && queue->user_jobs > 0 && jobs >= queue->user_jobs;
}

void check_submitted(const struct oracle *o, const struct event *event, int rc)
{
    const struct m_job job = {.spec = event->job};
    const struct rules_spec *rules = &o->model.rules;
    const struct queue_spec *queue = model_queue_of(&o->model, &job);
    const bool lost = rules->queue_count > 0 && (queue == NULL || has_below(rules, queue));
    const bool none = model_class(&o->model, job.spec.class) == NULL;

    if (rc >= 0 && (lost || none))
        broken(o, "submit",
               "job %llu: is taken, and its queue or class is none that jobs can be in",
               (ull)job.spec.id);
    if (rc >= 0 && is_shut_out(o, &job))
        broken(o, "submit", "job %llu: is taken, and its user may not submit there",
               (ull)job.spec.id);
    if (rc >= 0 && is_full(o, &job))
        broken(o, "submit", "job %llu: is taken, and its user has so many jobs there already",
               (ull)job.spec.id);
    if ((rc == -EACCES && !is_shut_out(o, &job)) || (rc == -ENOSPC && !is_full(o, &job)))
        broken(o, "submit", "job %llu: is refused, and its user may submit there",
               (ull)job.spec.id);
}
