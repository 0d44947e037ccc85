/* SPDX-License-Identifier: Apache-2.0 */
/* check_copy.c - copies of the core go on as it does: a clone, or what was saved and loaded. They
 * are told of each fact with a clock that is behind. Refused facts have changed nothing; facts that
 * are heard twice change nothing more. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "core/core.h"
#include "core/view.h"
#include "soak/oracle.h"

enum {
    COPY_ONE_IN = 40,  /* steps that a copy begins at */
    COPY_STEPS = 12,   /* that it goes on for */
    DIGEST_ONE_IN = 8, /* facts before which a digest is taken */
    TWICE_ONE_IN = 16, /* facts that a clone is told twice */
};

static bool one_in(struct oracle *o, uint64_t n)
{
    return o->thorough || rng_below(&o->rng, n) == 0;
}

/* ---- facts ---- */

void copy_telling(struct oracle *o, const struct event *event)
{
    (void)event;
    o->digested = one_in(o, DIGEST_ONE_IN);
    if (o->digested)
        o->digest = core_digest(o->world->core);
}

static void hear_twice(struct oracle *o, const struct event *event)
{
    struct core *clone = core_clone(o->world->core);
    const uint64_t once = core_digest(clone);

    if (once != core_digest(o->world->core))
        broken(o, "clone", "a clone has another digest");
    (void)core_apply(clone, event, NULL);
    if (core_digest(clone) != once)
        broken(o, "twice", "a fact of kind %d that is heard twice changes more than once",
               (int)event->type);
    core_free(clone);
}

static void tell_shadow(struct oracle *o, const struct event *event, int rc)
{
    struct event late = *event;

    if (o->shadow == NULL)
        return;
    if (event->at_us == core_now_us(o->shadow)) /* a clock that was set back */
        late.at_us -= (int64_t)rng_below(&o->rng, (uint64_t)event->at_us + 1);
    if (core_apply(o->shadow, &late, NULL) != rc)
        broken(o, "copy", "a copy takes a fact of kind %d otherwise", (int)event->type);
    if (core_digest(o->shadow) != core_digest(o->world->core))
        broken(o, "copy", "a copy differs after a fact of kind %d", (int)event->type);
}

void copy_told(struct oracle *o, const struct event *event, int rc)
{
    if (rc < 0 && o->digested && core_digest(o->world->core) != o->digest)
        broken(o, "refused", "a fact of kind %d was refused and has changed something",
               (int)event->type);
    if (rc >= 0 && one_in(o, TWICE_ONE_IN))
        hear_twice(o, event);
    tell_shadow(o, event, rc);
}

/* ---- steps ---- */

static struct core *saved_and_loaded(struct oracle *o)
{
    struct err err = {""};
    struct core *loaded = world_copy(o->world, &err);

    if (loaded == NULL)
        broken(o, "load", "what was saved is not taken: %s", err.text);
    return loaded;
}

void copy_stepping(struct oracle *o)
{
    if (o->shadow != NULL || !one_in(o, COPY_ONE_IN))
        return;
    o->shadow = o->counts->steps % 2 == 0 ? core_clone(o->world->core) : saved_and_loaded(o);
    o->shadow_steps = 0;
    if (core_digest(o->shadow) != core_digest(o->world->core))
        broken(o, "copy", "a copy has another digest");
}

static bool same_decisions(const struct decisions *a, const struct decisions *b)
{
    if (a->count != b->count || a->place_count != b->place_count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->items[i].type != b->items[i].type || a->items[i].job_id != b->items[i].job_id ||
            a->items[i].reason != b->items[i].reason)
            return false;
    for (uint32_t i = 0; i < a->place_count; i++)
        if (a->places[i].gpu_mask != b->places[i].gpu_mask ||
            strcmp(a->places[i].node_name, b->places[i].node_name) != 0)
            return false;
    return true;
}

void copy_stepped(struct oracle *o)
{
    if (o->shadow == NULL)
        return;
    core_step(o->shadow, o->model.now_us, &o->shadow_out);
    if (!same_decisions(&o->shadow_out, &o->world->decisions))
        broken(o, "copy", "a copy decides otherwise");
    if (core_digest(o->shadow) != core_digest(o->world->core))
        broken(o, "copy", "a copy differs after a step");
    if (++o->shadow_steps < (o->thorough ? 1 : COPY_STEPS))
        return;
    core_free(o->shadow);
    o->shadow = NULL;
}
