/* SPDX-License-Identifier: Apache-2.0 */
/* core.c - a core from its first breath to its copy and its end. snapshot.c saves and loads it. */
#include "core/core.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "core/due.h"
#include "core/impl.h"
#include "core/life.h"
#include "core/split.h"
#include "core/submit.h"

static int config_check(const struct core_config *config, struct err *err)
{
    if (config->placement == NULL || config->order == NULL)
        return err_set(err, -EINVAL, "configuration: a placement and an order must be named");
    for (uint32_t i = 0; i <= config->order_count; i++) {
        const struct order_policy *order = i > 0 ? config->orders[i - 1] : config->order;

        if (order->hysteresis_ppm < 1)
            return err_set(err, -EINVAL, "order '%s': hysteresis must be above 0", order->name);
    }
    if (config->repack >= REPACK_COUNT)
        return err_set(err, -EINVAL, "configuration: repack: must be 0 to %d", REPACK_COUNT - 1);
    if (config->migrate_wait_us < 0)
        return err_set(err, -EINVAL, "configuration: migrate_wait_us: must be 0 or more");
    if (config->nodes_max > NODES_MAX)
        return err_set(err, -EINVAL, "configuration: nodes_max: at most %u", NODES_MAX);
    if (config->jobs_max > JOBS_MAX)
        return err_set(err, -EINVAL, "configuration: jobs_max: at most %u", JOBS_MAX);
    for (uint32_t i = 0; i < config->mix_count; i++) {
        struct group_spec group = config->mix[i];
        int rc;

        group.tasks = 1; /* there it is a count, without a limit */
        rc = group_check(&group, err);

        if (rc < 0)
            return err_prefix(err, rc, "configuration: mix[%u].", i);
    }
    return 0;
}

static void init_placement(struct core *core, const struct core_config *config)
{
    struct shape *shapes = mem_alloc(config->mix_count, sizeof *shapes);
    uint64_t *tasks = mem_alloc(config->mix_count, sizeof *tasks);
    const struct placement_mix mix = {shapes, tasks, config->mix_count};
    const struct placement_config placement = {config->seed, config->mix_count > 0 ? &mix : NULL};

    for (uint32_t i = 0; i < config->mix_count; i++) { /* each may move the table */
        const uint32_t shape = group_shape(core, &config->mix[i], &(struct task_terms){0});

        shapes[i] = core->shapes.shapes[shape];
        tasks[i] = config->mix[i].tasks;
    }
    core->placement_state = mem_alloc(1, core->placement->state_size);
    if (core->placement->init != NULL)
        core->placement->init(core->placement_state, &placement);
    mem_free(shapes);
    mem_free(tasks);
}

struct core *core_bare(const struct core_config *config)
{
    const struct placement_policy *placement = config->placement;
    struct core *core = mem_alloc(1, sizeof *core);

    core->placement = placement;
    core->order = config->order;
    core->orders = config->orders;
    core->order_count = config->order_count;
    core->score_epoch = 1;
    core->split_wake_us = TIME_NONE;
    names_init(&core->names);
    map_init(&core->node_by_name);
    shapes_init(&core->shapes);
    nodes_init(&core->nodes, placement->sees_kinds);
    jobs_init(&core->jobs);
    levels_init(&core->levels);
    queues_init(&core->queues, 0, 0);
    pending_init(&core->pending);
    gate_init(&core->gate);
    ended_init(&core->ended);
    expect_init(&core->expect);
    fits_init(&core->fits);
    subsets_init(&core->subsets);
    heap_init(&core->due);
    index_init(&core->index, placement->sees_kinds);
    elastic_init(&core->elastic);
    return core;
}

void core_init_policies(struct core *core, const struct core_config *config)
{
    init_placement(core, config);
    orderers_want(core, core->order);
}

struct core *core_new(const struct core_config *config, struct err *err)
{
    struct core *core;

    if (config_check(config, err) < 0)
        return NULL;
    core = core_bare(config);
    core->order_options =
        mem_copy(config->order_options, config->order_option_count, sizeof *config->order_options);
    core->order_option_count = core->order_option_cap = config->order_option_count;
    core->seed = config->seed;
    core->repack = config->repack;
    core->migrate_wait_us = config->migrate_wait_us;
    core->migrate_gain_ppm = config->migrate_gain_ppm;
    core->nodes_max = config->nodes_max > 0 ? config->nodes_max : NODES_MAX;
    core->jobs_max = config->jobs_max > 0 ? config->jobs_max : JOBS_MAX;
    core->silent_us = NODE_SILENT_US;
    core->no_name = names_intern(&core->names, "");
    classes_init(&core->classes, &core->names);
    core_init_policies(core, config);
    return core;
}

void core_free(struct core *core)
{
    if (core == NULL)
        return;
    if (core->placement->done != NULL && core->placement_state != NULL)
        core->placement->done(core->placement_state);
    mem_free(core->placement_state);
    orderers_done(core);
    mem_free(core->order_options);
    for (uint32_t i = 0; i < core->shortlist_cap; i++)
        shortlist_done(&core->shortlists[i]);
    mem_free(core->shortlists);
    mem_free(core->unsettled);
    mem_free(core->claimants);
    contest_done(&core->contest);
    mem_free(core->entitle.children);
    mem_free(core->entitle.parents);
    mem_free(core->entitle.scratch);
    mem_free(core->entitle.wanted);
    trial_done(&core->trial);
    reserve_done(&core->reserve);
    timeline_done(&core->timeline);
    victims_done(&core->victims);
    index_done(&core->index);
    fits_done(&core->fits);
    subsets_done(&core->subsets);
    heap_done(&core->due);
    elastic_done(&core->elastic);
    mig_wanted_done(&core->mig_wanted);
    expect_done(&core->expect);
    pending_done(&core->pending);
    queues_done(&core->queues);
    classes_done(&core->classes);
    levels_done(&core->levels);
    gate_done(&core->gate);
    ended_done(&core->ended);
    jobs_done(&core->jobs);
    nodes_done(&core->nodes);
    shapes_done(&core->shapes);
    map_done(&core->node_by_name);
    names_done(&core->names);
    mem_free(core);
}

static void *copy_policy(const void *src, size_t size, void (*copy)(void *, const void *))
{
    void *dst;

    if (copy == NULL)
        return mem_copy(src, 1, size);
    dst = mem_alloc(1, size);
    copy(dst, src);
    return dst;
}

struct core *core_clone(const struct core *src)
{
    struct core *dst = mem_copy(src, 1, sizeof *src);

    names_copy(&dst->names, &src->names);
    map_copy(&dst->node_by_name, &src->node_by_name);
    shapes_copy(&dst->shapes, &src->shapes);
    nodes_copy(&dst->nodes, &src->nodes);
    jobs_copy(&dst->jobs, &src->jobs);
    pending_copy(&dst->pending, &src->pending);
    queues_copy(&dst->queues, &src->queues);
    classes_copy(&dst->classes, &src->classes);
    levels_copy(&dst->levels, &src->levels);
    gate_copy(&dst->gate, &src->gate);
    ended_copy(&dst->ended, &src->ended);
    expect_copy(&dst->expect, &src->expect);
    fits_copy(&dst->fits, &src->fits);
    subsets_copy(&dst->subsets, &src->subsets);
    heap_copy(&dst->due, &src->due);
    index_copy(&dst->index, &src->index);
    elastic_copy(&dst->elastic, &src->elastic);
    mig_wanted_copy(&dst->mig_wanted, &src->mig_wanted);
    dst->placement_state =
        copy_policy(src->placement_state, src->placement->state_size, src->placement->copy);
    orderers_copy(dst, src);
    dst->order_options =
        mem_copy(src->order_options, src->order_option_count, sizeof *src->order_options);
    dst->order_option_cap = src->order_option_count;
    dst->unsettled = mem_copy(src->unsettled, src->unsettled_cap, sizeof *src->unsettled);
    dst->claimants = mem_copy(src->claimants, src->claimant_cap, sizeof *src->claimants);
    dst->shortlists = mem_alloc(src->shortlist_cap, sizeof *src->shortlists);
    for (uint32_t i = 0; i < src->shortlist_count; i++)
        shortlist_copy(&dst->shortlists[i], &src->shortlists[i]);
    reserve_copy(&dst->reserve, &src->reserve);
    dst->timeline = (struct timeline){0};
    dst->contest = (struct contest){0};
    dst->entitle = (struct entitle_scratch){0};
    dst->trial = (struct trial){0};
    dst->victims = (struct victims){0};
    return dst;
}

int64_t core_next_wake_us(const struct core *core)
{
    const int64_t due_us = due_next_us(core), order_us = orderers_wake_us(core);
    int64_t wake_us = due_us < order_us ? due_us : order_us;

    wake_us = wake_us < split_wake_us(core) ? wake_us : split_wake_us(core);
    return wake_us <= TIME_US_MAX ? wake_us : TIME_NONE;
}
