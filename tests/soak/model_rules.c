/* SPDX-License-Identifier: Apache-2.0 */
/* model_rules.c - queues, users and classes, by the configuration in force: looked for by name,
 * and added up anew each time. */
#include <string.h>

#include "soak/model.h"

#define ANY                                                                                        \
    {                                                                                              \
        AMOUNT_NONE, AMOUNT_NONE, AMOUNT_NONE, AMOUNT_NONE                                         \
    }

static const struct class_spec usual[] = {
    {.name = "high", .rank = 300, .takes_below = 300, .grace_us = 30000000, .user_limit = ANY},
    {.name = "medium", .rank = 200, .takes_below = 200, .grace_us = 30000000, .user_limit = ANY},
    {.name = "low", .rank = 100, .grace_us = 30000000, .user_limit = ANY},
};

static bool is_named(const char *text)
{
    return text != NULL && text[0] != '\0';
}

/* ---- queues ---- */

const struct queue_spec *model_queue(const struct rules_spec *rules, const char *name)
{
    for (uint32_t i = 0; i < rules->queue_count; i++)
        if (strcmp(rules->queues[i].name, name) == 0)
            return &rules->queues[i];
    return NULL;
}

const struct queue_spec *model_queue_of(const struct model *m, const struct m_job *job)
{
    const char *name = is_named(job->spec.queue) ? job->spec.queue : m->rules.default_queue;

    return model_queue(&m->rules, name != NULL ? name : "");
}

const struct queue_spec *model_parent(const struct rules_spec *rules,
                                      const struct queue_spec *queue)
{
    return is_named(queue->parent) ? model_queue(rules, queue->parent) : NULL;
}

bool model_is_below(const struct rules_spec *rules, const struct queue_spec *queue,
                    const struct queue_spec *top)
{
    for (; queue != NULL; queue = model_parent(rules, queue))
        if (queue == top)
            return true;
    return false;
}

/* ---- classes ---- */

static const struct class_spec *find_class(const struct class_spec *classes, uint32_t count,
                                           const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(classes[i].name, name) == 0)
            return &classes[i];
    return NULL;
}

const struct class_spec *model_class(const struct model *m, const char *name)
{
    const bool own = m->rules.class_count > 0;
    const struct class_spec *classes = own ? m->rules.classes : usual;
    const uint32_t count = own ? m->rules.class_count : sizeof usual / sizeof usual[0];
    const struct class_spec *medium = find_class(classes, count, "medium");

    if (is_named(name))
        return find_class(classes, count, name);
    if (is_named(m->rules.default_class))
        return find_class(classes, count, m->rules.default_class);
    return medium != NULL ? medium : &classes[0];
}

const struct class_spec *model_class_of(const struct model *m, const struct m_job *job)
{
    return model_class(m, job->class);
}

int64_t model_grace_us(const struct model *m, const struct m_job *job)
{
    return job->spec.grace_us >= 0 ? job->spec.grace_us : model_class_of(m, job)->grace_us;
}

int64_t model_min_run_us(const struct model *m, const struct m_job *job)
{
    return job->spec.min_run_us >= 0 ? job->spec.min_run_us : model_class_of(m, job)->min_run_us;
}

/* ---- who holds how much ---- */

bool model_is_of(const struct model *m, const struct m_job *job, const struct m_whose *whose)
{
    return (whose->queue == NULL ||
            model_is_below(&m->rules, model_queue_of(m, job), whose->queue)) &&
           (whose->user == NULL || strcmp(job->spec.user, whose->user) == 0) &&
           (whose->class == NULL || model_class_of(m, job) == whose->class);
}

void model_add_need(const struct m_job *job, const struct node_spec *node,
                    const struct m_need *need, int64_t out[RES_COUNT])
{
    const int64_t gpus = job->spec.exclusive ? node->gpus : need->gpus;

    out[RES_GPU_MGPU] += gpus * need->mgpu;
    out[RES_GPU_BYTES] += gpus * need->gpu_bytes;
    out[RES_CPU_MCPU] += need->mcpu;
    out[RES_MEMORY_BYTES] += need->memory_bytes;
}

void model_add_task(const struct model *m, const struct m_job *job, uint32_t task,
                    int64_t out[RES_COUNT])
{
    const struct node_spec *node;
    struct m_need need;

    if (job->tasks[task].left)
        return;
    node = &m->nodes[job->tasks[task].node].spec;
    (void)model_need(job, task, node, &need);
    model_add_need(job, node, &need, out);
}

void model_used(const struct model *m, const struct m_whose *whose, bool leaving,
                int64_t out[RES_COUNT])
{
    memset(out, 0, RES_COUNT * sizeof out[0]);
    for (uint32_t i = 0; i < m->job_count; i++) {
        const struct m_job *job = &m->jobs[i];

        if (!model_is_active(job) || !model_is_of(m, job, whose))
            continue;
        for (uint32_t t = 0; t < job->task_count; t++)
            if (!leaving || job->state == M_STOPS || job->tasks[t].stopping)
                model_add_task(m, job, t, out);
    }
}
