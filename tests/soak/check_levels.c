/* SPDX-License-Identifier: Apache-2.0 */
/* check_levels.c - gangs that must be near themselves are; and if one waits for a domain, none has
 * room for it. Of the nodes' labels alone. */
#include <string.h>

#include "soak/oracle.h"

typedef unsigned long long ull;

static bool is_said(const char *level)
{
    return level != NULL && level[0] != '\0';
}

/* What a node says for a level, NULL if nothing. */
static const char *label_of(const struct node_spec *node, const char *level)
{
    const size_t len = strlen(level);

    for (uint32_t i = 0; i < node->label_count; i++)
        if (strncmp(node->labels[i], level, len) == 0 && node->labels[i][len] == '=')
            return node->labels[i] + len + 1;
    return NULL;
}

static bool same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* In one domain of this level: both say where they are, and the same at all coarser levels too. */
static bool share(const struct model *m, uint32_t a, uint32_t b, const char *level)
{
    const struct node_spec *x = &m->nodes[a].spec, *y = &m->nodes[b].spec;

    for (uint32_t i = 0; i < m->rules.level_count; i++) {
        const char *name = m->rules.levels[i].name;

        if (!same_text(label_of(x, name), label_of(y, name)))
            return false;
        if (strcmp(name, level) == 0)
            return label_of(x, name) != NULL;
    }
    return false;
}

/* ---- who starts ---- */

/* Where each task is with this start, ROW_NONE: nowhere. */
static void list_nodes(const struct model *m, const struct m_job *job, const struct decisions *d,
                       const struct decision *start, uint32_t *nodes)
{
    const uint32_t all = model_tasks(job);

    for (uint32_t t = 0; t < all; t++)
        nodes[t] = job->state == M_HOLDS && t < job->task_count && !job->tasks[t].left
                       ? job->tasks[t].node
                       : ROW_NONE;
    for (uint32_t i = 0; i < start->place_count; i++) {
        const struct task_place *place = &d->places[start->place_first + i];

        nodes[place->task] = model_node(m, place->node_name);
    }
}

static void check_shared(const struct oracle *o, const uint32_t *nodes, uint32_t count,
                         const char *level, ull id)
{
    uint32_t first = ROW_NONE;

    for (uint32_t t = 0; t < count; t++) {
        if (nodes[t] == ROW_NONE)
            continue;
        first = first == ROW_NONE ? nodes[t] : first;
        if (!share(&o->model, first, nodes[t], level))
            broken(o, "level", "job %llu: its tasks on %s and %s share no %s", id,
                   o->model.nodes[first].spec.name, o->model.nodes[nodes[t]].spec.name, level);
    }
}

void check_near(struct oracle *o, const struct m_job *job, const struct decisions *d,
                const struct decision *start)
{
    const struct job_spec *spec = &job->spec;
    const uint32_t all = model_tasks(job), size = spec->group_size;
    uint32_t nodes[JOB_TASKS_MAX];

    if (job->elsewhere || (!is_said(spec->within) && !is_said(spec->group_within)))
        return;
    list_nodes(&o->model, job, d, start, nodes);
    if (is_said(spec->within))
        check_shared(o, nodes, all, spec->within, (ull)start->job_id);
    for (uint32_t t = 0; is_said(spec->group_within) && t < all; t += size)
        check_shared(o, nodes + t, size, spec->group_within, (ull)start->job_id);
    if (spec->slowdown_max_ppm > 0 && start->slowdown.all_reduce_ppm > spec->slowdown_max_ppm)
        broken(o, "slowdown", "job %llu: starts %u times slower, and accepts %u",
               (ull)start->job_id, start->slowdown.all_reduce_ppm / 1000000,
               spec->slowdown_max_ppm / 1000000);
}

/* ---- who waits ---- */

/* Whole groups of it that fit on the nodes that share a domain with this one; all nodes: no level.
 */
static uint64_t room_of(const struct oracle *o, const struct m_job *job, uint32_t node,
                        const char *level)
{
    const struct model *m = &o->model;
    const bool groups = is_said(job->spec.group_within);
    uint64_t room = 0;

    for (uint32_t n = 0; n < m->node_count; n++) {
        uint64_t in_group = 0;
        bool first = true;

        if (is_said(level) && !share(m, node, n, level))
            continue;
        if (!groups) {
            room += oracle_tasks_that_fit(o, job, n);
            continue;
        }
        for (uint32_t k = 0; k < m->node_count; k++) {
            if (!share(m, n, k, job->spec.group_within))
                continue;
            first = first && k >= n; /* each domain once */
            in_group += oracle_tasks_that_fit(o, job, k);
        }
        if (first)
            room += in_group - in_group % job->spec.group_size;
    }
    return room;
}

bool check_no_domain(const struct oracle *o, const struct m_job *job, ull id)
{
    const struct job_spec *spec = &job->spec;

    if (!is_said(spec->within) && !is_said(spec->group_within))
        return false;
    if (spec->layouts[0].group_count > 1 || spec->layouts[0].apart)
        return true;
    for (uint32_t node = 0; node < o->model.node_count; node++) {
        if (room_of(o, job, node, spec->within) >= model_tasks_min(job))
            broken(o, "idle", "job %llu: waits for a domain, and that of %s has room", id,
                   o->model.nodes[node].spec.name);
        if (!is_said(spec->within))
            break; /* all of them were looked at */
    }
    return true;
}
