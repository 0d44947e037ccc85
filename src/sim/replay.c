/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c - recorded events taken again. */
#include "sim/replay.h"

#include <errno.h>

#include "base/err.h"
#include "sim/world.h"

static int take(struct world *world, const struct event *event, struct replay_result *out,
                void (*decided)(void *, const struct decisions *, int64_t), void *arg,
                struct err *err)
{
    int rc;

    if (event->type != EVENT_STEPPED) {
        out->events++;
        return world_apply(world, event, err);
    }
    if (event->at_us < 0 || event->at_us > TIME_US_MAX)
        return err_set(err, -EINVAL, "stepped: at_us: must be 0 to %lld, is %lld", TIME_US_MAX,
                       (long long)event->at_us);
    rc = world_step(world, event->at_us, err);
    if (rc == 0 && decided != NULL)
        decided(arg, &world->decisions, event->at_us);
    return rc;
}

static int take_all(struct event_reader *reader, struct world *world, struct replay_result *out,
                    void (*decided)(void *, const struct decisions *, int64_t), void *arg,
                    struct err *err)
{
    struct event event;
    int rc;

    while ((rc = event_reader_next(reader, &event, err)) > 0) {
        const int taken = take(world, &event, out, decided, arg, err);

        if (taken < 0)
            return err_prefix(err, taken, "%s:%u: ", reader->input.name, reader->input.line_number);
    }
    return rc;
}

int replay_file(const char *path, bool check_all,
                void (*decided)(void *, const struct decisions *, int64_t), void *arg,
                struct replay_result *out, struct err *err)
{
    struct event_reader reader;
    struct config config;
    struct world world;
    int rc = event_reader_open(&reader, path, &config, err);

    if (rc < 0)
        return rc;
    *out = (struct replay_result){0};
    rc = world_open(&world, &config, NULL, err);
    if (rc < 0) /* what the header says is not to be had */
        rc = err_prefix(err, rc, "%s:1: ", path);
    world.check_all = check_all;
    rc = rc < 0 ? rc : take_all(&reader, &world, out, decided, arg, err);
    if (rc == 0) {
        out->steps = world.steps;
        out->digest = core_digest(world.core);
    }
    (void)world_close(&world, NULL);
    event_reader_close(&reader);
    return rc;
}
