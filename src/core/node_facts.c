/* SPDX-License-Identifier: Apache-2.0 */
/* node_facts.c - nodes join, change, leave; GPUs are lost and come back. */
#include <errno.h>
#include <string.h>

#include "base/bits.h"
#include "base/err.h"
#include "core/claim.h"
#include "core/due.h"
#include "core/elastic.h"
#include "core/facts.h"
#include "core/health.h"
#include "core/impl.h"
#include "core/ledger.h"
#include "core/life.h"
#include "core/terms.h"

static int range(struct err *err, const char *node, const char *field, int64_t value, int64_t max)
{
    if (value >= 0 && value <= max)
        return 0;
    return err_set(err, -EINVAL, "node '%s': %s: must be 0 to %lld, is %lld", node, field,
                   (long long)max, (long long)value);
}

/* Of fewer than two GPUs there is nothing to know. */
static bool spec_has_links(const struct node_spec *spec)
{
    return spec->links_mbps != NULL && spec->gpus > 1;
}

static int links_check(const struct core *core, const struct node_spec *spec, struct err *err)
{
    const struct links *links = &core->nodes.links;
    int rc = 0;

    if (!spec_has_links(spec))
        return 0;
    for (uint32_t i = 0; i < links_pairs(spec->gpus) && rc == 0; i++)
        rc = range(err, spec->name, "links_mbps", spec->links_mbps[i], LINK_MBPS_MAX);
    if (rc == 0 && links->count == LINKS_MAX &&
        links_find(links, spec->gpus, spec->links_mbps) == LINKS_UNKNOWN)
        rc = err_set(err, -ENOSPC,
                     "node '%s': links_mbps: there are %u kinds of links already, the limit",
                     spec->name, LINKS_MAX);
    return rc;
}

/* 0 where its GPUs are not to be split, or cannot be. */
static uint32_t spec_mig_type(const struct node_spec *spec)
{
    if (!(spec->modes & MODE_BIT(GPU_MIG)) || spec->gpus == 0)
        return 0;
    return nodes_mig_type(spec->model, spec->gpu_memory_bytes);
}

static int modes_check(const struct node_spec *spec, struct err *err)
{
    if (spec->modes > MODES_ALL)
        return err_set(err, -EINVAL, "node '%s': modes: there are no such modes", spec->name);
    if (spec->compute_factor != 0 &&
        (spec->compute_factor < 1000 || spec->compute_factor > COMPUTE_FACTOR_MAX))
        return err_set(err, -EINVAL, "node '%s': compute_factor: must be 1000 to %u, is %u",
                       spec->name, COMPUTE_FACTOR_MAX, spec->compute_factor);
    if (spec->mps_clients > MPS_CLIENTS_MAX)
        return err_set(err, -EINVAL, "node '%s': mps_clients: must be 1 to %u, is %u", spec->name,
                       MPS_CLIENTS_MAX, spec->mps_clients);
    if ((spec->modes & MODE_BIT(GPU_MIG)) && spec->gpus > 0 && spec_mig_type(spec) == 0)
        return err_set(err, -EINVAL,
                       "node '%s': modes: mig: GPUs of model '%s' with %lld bytes cannot be split, "
                       "or their name does not say into what",
                       spec->name, spec->model, (long long)spec->gpu_memory_bytes);
    return range(err, spec->name, "gpu_context_bytes", spec->gpu_context_bytes, MEMORY_BYTES_MAX);
}

static int spec_check(const struct core *core, const struct node_spec *spec, struct err *err)
{
    int rc;

    if (spec->name == NULL || spec->name[0] == '\0')
        return err_set(err, -EINVAL, "node: name: is empty");
    rc = range(err, spec->name, "gpus", spec->gpus, NODE_GPUS_MAX);
    if (rc == 0)
        rc = range(err, spec->name, "gpu_memory_bytes", spec->gpu_memory_bytes, MEMORY_BYTES_MAX);
    if (rc == 0)
        rc = range(err, spec->name, "cpu_mcpu", spec->cpu_mcpu, CPU_MCPU_MAX);
    if (rc == 0)
        rc = range(err, spec->name, "memory_bytes", spec->memory_bytes, MEMORY_BYTES_MAX);
    if (rc == 0)
        rc = range(err, spec->name, "labels", spec->label_count, SELECTOR_TERMS_MAX);
    if (rc == 0)
        rc = modes_check(spec, err);
    return rc < 0 ? rc : links_check(core, spec, err);
}

/* What it says of how its GPUs are shared, or what goes without saying. */
static void class_modes(const struct node_spec *spec, struct node_class *out)
{
    out->modes = spec->modes != 0 ? spec->modes : MODES_DEFAULT;
    out->context_bytes = spec->gpu_context_bytes;
    out->compute_factor = spec->compute_factor != 0 ? spec->compute_factor : 1000;
    out->mps_clients = spec->mps_clients != 0 ? spec->mps_clients : MPS_CLIENTS;
    out->mig_type = spec_mig_type(spec);
}

static uint32_t spec_class(struct core *core, const struct node_spec *spec)
{
    struct node_class class;

    memset(&class, 0, sizeof class);
    class.model = names_intern(&core->names, spec->model);
    class.gpu_count = spec->gpus;
    class.gpu_memory_bytes = spec->gpu_memory_bytes;
    class.cpu_mcpu = spec->cpu_mcpu;
    class.memory_bytes = spec->memory_bytes;
    class.label_count = terms_intern(&core->names, spec->labels, spec->label_count, class.labels);
    class_modes(spec, &class);
    if (spec_has_links(spec))
        class.links = links_intern(&core->nodes.links, spec->gpus, spec->links_mbps);
    return nodes_class(&core->nodes, &class);
}

/* What runs on a node must stay possible when its description changes. */
static int tasks_check(const struct core *core, uint32_t node, const struct node_spec *spec,
                       struct err *err)
{
    const struct node_class *old = nodes_class_of(&core->nodes, node);
    struct node_class class = {.gpu_count = spec->gpus, .gpu_memory_bytes = spec->gpu_memory_bytes};
    uint32_t task = core->nodes.rows[node].first_task;

    class_modes(spec, &class);
    for (; task != ROW_NONE; task = core->jobs.tasks[task].node_next) {
        const struct task *t = &core->jobs.tasks[task];
        const struct shape *shape = &core->shapes.shapes[t->shape];
        struct need need, now;
        bool possible;

        if (t->claimed)
            continue; /* a plan, which gives way */
        possible = need_on(shape, &class, &need);
        (void)need_on(shape, old, &now);
        if ((spec->gpus < 64 && t->gpu_mask >> spec->gpus != 0) || shape->gpus > spec->gpus ||
            (shape->gpu_memory_bytes > spec->gpu_memory_bytes && !shape_is_mig(shape)))
            return err_set(err, -EBUSY, "node '%s': job %llu uses a GPU that would be gone",
                           spec->name, (unsigned long long)core->jobs.rows[t->job].id);
        if (!possible || (class.modes != old->modes && now.mode != need.mode) ||
            (now.mode == GPU_MIG && class.mig_type != old->mig_type))
            return err_set(err, -EBUSY, "node '%s': modes: job %llu is on a GPU in another mode",
                           spec->name, (unsigned long long)core->jobs.rows[t->job].id);
    }
    return 0;
}

/* A gang that must share a domain stays in it, though labels change. */
static int domain_check(const struct core *core, uint32_t node, const struct node_spec *spec,
                        struct err *err)
{
    uint32_t task = core->nodes.rows[node].first_task;

    if (core->levels.count == 0 || task == ROW_NONE ||
        !levels_moves(core, node, spec->labels, spec->label_count))
        return 0;
    for (; task != ROW_NONE; task = core->jobs.tasks[task].node_next) {
        const struct job *job = &core->jobs.rows[core->jobs.tasks[task].job];
        const uint32_t layout = core->shapes.gangs[job->gang].first_layout + job->layout;
        const struct together *t = &core->shapes.layouts[layout].together;

        if (!core->jobs.tasks[task].claimed &&
            (t->within != LEVEL_NONE || t->group_within != LEVEL_NONE))
            return err_set(err, -EBUSY,
                           "node '%s': labels: job %llu must stay in the domains where it is",
                           spec->name, (unsigned long long)job->id);
    }
    return 0;
}

/* A share of unstated bytes means other bytes on another class: book the tasks anew. */
static void change_class(struct core *core, uint32_t node, uint32_t class_id)
{
    uint32_t task;

    reserve_lose_node(core, node);
    claims_drop_on(core, node); /* the jobs find other room, or the same */
    task = core->nodes.rows[node].first_task;
    for (; task != ROW_NONE; task = core->jobs.tasks[task].node_next) {
        ledger_give(core, node, core->jobs.tasks[task].shape, core->jobs.tasks[task].gpu_mask,
                    core->jobs.tasks[task].mig_start);
        job_book_task(core, task, -1);
    }
    nodes_set_class(&core->nodes, node, class_id);
    task = core->nodes.rows[node].first_task;
    for (; task != ROW_NONE; task = core->jobs.tasks[task].node_next) {
        ledger_take(core, node, core->jobs.tasks[task].shape, core->jobs.tasks[task].gpu_mask,
                    core->jobs.tasks[task].mig_start);
        job_book_task(core, task, 1);
    }
    ledger_reported(core, node);
}

int fact_node_upserted(struct core *core, const struct node_spec *spec, struct err *err)
{
    uint32_t node, name, class_id;
    int rc = spec_check(core, spec, err);

    if (rc < 0)
        return rc;
    name = names_find(&core->names, spec->name);
    if (name != NAMES_NONE && map_find(&core->node_by_name, name, &node)) {
        rc = tasks_check(core, node, spec, err);
        rc = rc < 0 ? rc : domain_check(core, node, spec, err);
        if (rc < 0)
            return rc;
        class_id = spec_class(core, spec);
        if (class_id == core->nodes.rows[node].class_id)
            return 0;
        change_class(core, node, class_id);
    } else {
        if (core->nodes.in_use >= core->nodes_max)
            return err_set(err, -ENOSPC, "node '%s': there are %u nodes already, the limit",
                           spec->name, core->nodes_max);
        name = names_intern(&core->names, spec->name);
        node = nodes_add(&core->nodes, name, spec_class(core, spec));
        map_put(&core->node_by_name, name, node);
    }
    core->index.gains++;
    ledger_refresh(core, node);
    due_node(core, node);
    return 0;
}

int node_find(const struct core *core, const char *name, uint32_t *out, struct err *err)
{
    const uint32_t id = names_find(&core->names, name);

    if (id == NAMES_NONE || !map_find(&core->node_by_name, id, out))
        return err_set(err, -ENOENT, "node '%s': unknown", name);
    return 0;
}

/* Its tasks are lost with it. */
int fact_node_removed(struct core *core, const char *name, struct err *err)
{
    uint32_t node;
    const int rc = node_find(core, name, &node, err);

    if (rc < 0)
        return rc;
    while (core->nodes.rows[node].first_task != ROW_NONE) {
        const uint32_t task = core->nodes.rows[node].first_task;
        const uint32_t job = core->jobs.tasks[task].job;

        if (core->jobs.tasks[task].claimed) {
            claim_drop(core, job);
            continue;
        }
        job_task_lost(core, job, task - core->jobs.rows[job].task_first);
    }
    map_remove(&core->node_by_name, core->nodes.rows[node].name);
    index_remove(&core->index, &core->nodes, node);
    reserve_lose_node(core, node);
    nodes_remove(&core->nodes, node);
    due_node(core, node);
    return 0;
}

/* The driver reports the tasks of a lost GPU by itself; here only the room changes. */
int fact_gpu_health(struct core *core, const struct event *event, struct err *err)
{
    uint32_t node;
    const int rc = node_find(core, event->gpu.node, &node, err);

    if (rc < 0)
        return rc;
    if (event->gpu.gpu >= nodes_class_of(&core->nodes, node)->gpu_count)
        return err_set(err, -EINVAL, "node '%s': gpu %u: it has %u GPUs", event->gpu.node,
                       event->gpu.gpu, nodes_class_of(&core->nodes, node)->gpu_count);
    if (event->gpu.health == GPU_LOST)
        core->nodes.rows[node].lost_mask |= mask_bit(event->gpu.gpu);
    else
        gpu_is_healthy(core, node, event->gpu.gpu);
    core->index.gains++;
    if (event->gpu.health == GPU_LOST)
        claims_drop_on_gpus(core, node, mask_bit(event->gpu.gpu));
    ledger_refresh(core, node);
    return 0;
}
