/* SPDX-License-Identifier: Apache-2.0 */
/* ended.c - how the last jobs ended. */
#include "core/ended.h"

#include <string.h>

#include "base/mem.h"
#include "base/tape.h"
#include "core/job.h"
#include "core/limits.h"

void ended_init(struct ended *e)
{
    memset(e, 0, sizeof *e);
    map_init(&e->by_id);
}

void ended_done(struct ended *e)
{
    mem_free(e->ring);
    map_done(&e->by_id);
    memset(e, 0, sizeof *e);
}

void ended_copy(struct ended *dst, const struct ended *src)
{
    *dst = *src;
    dst->ring = mem_copy(src->ring, src->count, sizeof *src->ring);
    dst->cap = src->count;
    map_copy(&dst->by_id, &src->by_id);
}

static void forget(struct ended *e, uint64_t id)
{
    if (id == JOB_NONE)
        return;
    map_remove(&e->by_id, id);
    e->forgotten = id > e->forgotten ? id : e->forgotten;
}

/* A new place at the end of the ring, of the oldest if it is full. */
static uint32_t next_place(struct ended *e)
{
    const uint32_t place = e->first;

    if (e->count < ENDED_MAX) {
        vec_reserve(e->ring, e->cap, e->count + 1);
        return e->count++;
    }
    forget(e, e->ring[place].id);
    e->first = (place + 1) % ENDED_MAX;
    return place;
}

void ended_add(struct ended *e, uint64_t id, bool well)
{
    uint32_t place;

    if (map_find(&e->by_id, id, &place)) { /* the id came again: its last end counts */
        map_remove(&e->by_id, id);
        e->ring[place].id = JOB_NONE;
    }
    place = next_place(e);
    e->ring[place] = (struct ended_job){id, well};
    map_put(&e->by_id, id, place);
}

enum ended_known ended_find(const struct ended *e, uint64_t id)
{
    uint32_t place;

    if (map_find(&e->by_id, id, &place))
        return e->ring[place].well ? ENDED_WELL : ENDED_BADLY;
    return id <= e->forgotten ? ENDED_TOO_LONG : ENDED_UNKNOWN;
}

static void job_loaded(struct ended *e, uint32_t place, struct tape *t)
{
    const uint64_t id = e->ring[place].id;

    if (id == JOB_NONE)
        return;
    if (map_find(&e->by_id, id, NULL))
        tape_fail(t, "job %llu: has ended twice", (unsigned long long)id);
    map_put(&e->by_id, id, place);
}

void ended_walk(struct ended *e, struct tape *t)
{
    uint32_t count = e->count;

    tape_count(t, &count, "jobs that have ended");
    if (tape_loads(t) && count > ENDED_MAX)
        tape_fail(t, "%u jobs that have ended: at most %u are known", count, ENDED_MAX);
    for (uint32_t i = 0; tape_more(t, i, count); i++) {
        struct ended_job *job;

        tape_grow(t, e->ring, e->count, e->cap);
        job = &e->ring[(e->first + i) % e->count];
        tape_u64(t, &job->id);
        tape_bool(t, &job->well);
        if (tape_loads(t) && !t->failed)
            job_loaded(e, i, t);
    }
    tape_u64(t, &e->forgotten);
    if (tape_loads(t) && e->forgotten > 0 && count < ENDED_MAX)
        tape_fail(t, "jobs that have ended: one is forgotten, and there was room");
}
