/* SPDX-License-Identifier: Apache-2.0 */
/* world.c - a core as a simulator or a replay holds it. */
#include "sim/world.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "core/view.h"
#include "policy/registry.h"

static int name_policies(const struct config *config, struct core_config *out, struct err *err)
{
    out->placement =
        config->placement[0] != '\0' ? placement_find(config->placement) : placement_at(0);
    if (out->placement == NULL)
        return err_set(err, -EINVAL,
                       "policy '%s': there is none of this name; "
                       "'berth sim --help' lists them",
                       config->placement);
    out->order = config->order[0] != '\0' ? order_find(config->order) : order_at(0);
    if (out->order == NULL)
        return err_set(err, -EINVAL,
                       "order '%s': there is none of this name; "
                       "'berth sim --help' lists them",
                       config->order);
    out->orders = order_all(&out->order_count);
    return 0;
}

static int open_writer(struct world *world, const struct config *config,
                       const struct core_config *core_config, const char *path, struct err *err)
{
    struct config named = *config;
    int rc;

    if (path == NULL)
        return 0;
    named.placement = core_config->placement->name;
    named.order = core_config->order->name;
    world->writer = mem_alloc(1, sizeof *world->writer);
    rc = event_writer_open(world->writer, path, &named, err);
    if (rc < 0) {
        mem_free(world->writer);
        world->writer = NULL;
    }
    return rc;
}

int world_open(struct world *world, const struct config *config, const char *recorded,
               struct err *err)
{
    struct core_config core_config = {
        .seed = config->seed,
        .order_options = config->order_options,
        .order_option_count = config->order_option_count,
        .mix = config->mix,
        .mix_count = config->mix_count,
        .repack = config->repack,
        .migrate_wait_us = config->migrate_wait_us,
        .migrate_gain_ppm = config->migrate_gain_ppm,
        .nodes_max = config->nodes_max,
        .jobs_max = config->jobs_max,
    };
    int rc;

    memset(world, 0, sizeof *world);
    decisions_init(&world->decisions);
    rc = name_policies(config, &core_config, err);
    if (rc < 0)
        return rc;
    world->core = core_new(&core_config, err);
    if (world->core == NULL)
        return -EINVAL;
    return open_writer(world, config, &core_config, recorded, err);
}

int world_close(struct world *world, struct err *err)
{
    int rc = 0;

    if (world->writer != NULL)
        rc = event_writer_close(world->writer, err);
    mem_free(world->writer);
    core_free(world->core);
    decisions_done(&world->decisions);
    memset(world, 0, sizeof *world);
    return rc;
}

struct core *world_copy(const struct world *world, struct err *err)
{
    struct core_config policies = {.placement = core_placement(world->core),
                                   .order = core_order(world->core)};
    size_t count;
    uint8_t *bytes = core_save(world->core, &count);
    struct core *core;

    policies.orders = order_all(&policies.order_count);
    core = core_load(&policies, bytes, count, err);
    mem_free(bytes);
    return core;
}

int world_restart(struct world *world, struct err *err)
{
    struct core *core = world_copy(world, err);

    if (core == NULL)
        return err_prefix(err, -EINVAL, "restart: ");
    core_free(world->core);
    world->core = core;
    decisions_clear(&world->decisions);
    return 0;
}

int world_apply(struct world *world, const struct event *event, struct err *err)
{
    const struct world_watch *watch = world->watch;
    int rc;

    if (watch != NULL && watch->telling != NULL)
        watch->telling(watch->context, world, event);
    rc = core_apply(world->core, event, err);
    if (watch != NULL && watch->told != NULL)
        watch->told(watch->context, world, event, rc);
    if (rc < 0 || world->writer == NULL)
        return rc;
    return event_writer_put(world->writer, event, err) < 0 ? -EIO : 0; /* not the core's no */
}

static int check_step(struct world *world, struct err *err)
{
    const struct decisions *d = &world->decisions;

    if (world->check_all || world->steps % WORLD_FULL_CHECK_STEPS == 0)
        return core_check_rules(world->core, err);
    for (uint32_t i = 0; i < d->place_count; i++) {
        const int rc = core_check_node(world->core, d->places[i].node, err);

        if (rc < 0)
            return rc;
    }
    return 0;
}

int world_step(struct world *world, int64_t now_us, struct err *err)
{
    const struct event mark = {.type = EVENT_STEPPED, .at_us = now_us};
    const struct world_watch *watch = world->watch;
    int rc;

    if (watch != NULL && watch->stepping != NULL)
        watch->stepping(watch->context, world, now_us);
    core_step(world->core, now_us, &world->decisions);
    world->steps++;
    rc = check_step(world, err);
    if (watch != NULL && watch->stepped != NULL)
        watch->stepped(watch->context, world, rc, err);
    if (rc < 0 || world->writer == NULL)
        return rc;
    return event_writer_put(world->writer, &mark, err);
}
