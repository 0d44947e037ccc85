/* SPDX-License-Identifier: Apache-2.0 */
/* pending.c - who waits, in order: one heap of jobs for each gang. */
#include "core/pending.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/tape.h"
#include "base/vec.h"
#include "core/jobs.h"

void pending_init(struct pending *p)
{
    memset(p, 0, sizeof *p);
}

void pending_done(struct pending *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        mem_free(p->buckets[i].heap);
    mem_free(p->buckets);
    mem_free(p->open);
    mem_free(p->place);
    memset(p, 0, sizeof *p);
}

void pending_copy(struct pending *dst, const struct pending *src)
{
    *dst = *src;
    dst->buckets = mem_copy(src->buckets, src->count, sizeof *src->buckets);
    for (uint32_t i = 0; i < src->count; i++) {
        dst->buckets[i].heap =
            mem_copy(src->buckets[i].heap, src->buckets[i].count, sizeof *src->buckets[i].heap);
        dst->buckets[i].cap = src->buckets[i].count;
    }
    dst->cap = src->count;
    dst->open = mem_copy(src->open, src->open_count, sizeof *src->open);
    dst->open_cap = src->open_count;
    dst->place = mem_copy(src->place, src->place_cap, sizeof *src->place);
}

static void put(struct pending *p, struct bucket *b, uint32_t at, const struct waiting *item)
{
    b->heap[at] = *item;
    p->place[item->job] = at;
}

static void sift_up(struct pending *p, struct bucket *b, uint32_t at)
{
    const struct waiting item = b->heap[at];

    while (at > 0 && waiting_before(&item, &b->heap[(at - 1) / 2])) {
        put(p, b, at, &b->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    put(p, b, at, &item);
}

static void sift_down(struct pending *p, struct bucket *b, uint32_t at)
{
    const struct waiting item = b->heap[at];

    for (uint32_t child; (child = 2 * at + 1) < b->count; at = child) {
        if (child + 1 < b->count && waiting_before(&b->heap[child + 1], &b->heap[child]))
            child++;
        if (!waiting_before(&b->heap[child], &item))
            break;
        put(p, b, at, &b->heap[child]);
    }
    put(p, b, at, &item);
}

static struct bucket *bucket_of(struct pending *p, uint32_t gang)
{
    while (p->count <= gang) {
        vec_reserve(p->buckets, p->cap, p->count + 1);
        p->buckets[p->count++] = (struct bucket){.refused_at = NOT_REFUSED};
    }
    return &p->buckets[gang];
}

void pending_add(struct pending *p, uint32_t gang, const struct waiting *waiting)
{
    struct bucket *b = bucket_of(p, gang);

    vec_reserve(p->place, p->place_cap, waiting->job + 1);
    vec_reserve(b->heap, b->cap, b->count + 1);
    if (b->count == 0) {
        vec_reserve(p->open, p->open_cap, p->open_count + 1);
        b->open_at = p->open_count;
        p->open[p->open_count++] = gang;
        b->reason = b->refused_at == NOT_REFUSED ? REASON_NEW : b->reason;
    }
    b->heap[b->count++] = *waiting;
    sift_up(p, b, b->count - 1);
}

static void close_bucket(struct pending *p, struct bucket *b)
{
    const uint32_t last = p->open[--p->open_count];

    p->open[b->open_at] = last;
    p->buckets[last].open_at = b->open_at;
    b->told = REASON_NONE;
}

void pending_remove(struct pending *p, uint32_t gang, uint32_t job)
{
    struct bucket *b = &p->buckets[gang];
    const uint32_t at = p->place[job];

    check(at < b->count && b->heap[at].job == job);
    if (at != --b->count) {
        put(p, b, at, &b->heap[b->count]);
        sift_up(p, b, at);
        sift_down(p, b, p->place[b->heap[at].job]);
    }
    if (b->count == 0)
        close_bucket(p, b);
}

void pending_rekey(struct pending *p, uint32_t gang, uint32_t job, int64_t key)
{
    struct bucket *b = &p->buckets[gang];
    const uint32_t at = p->place[job];

    check(at < b->count && b->heap[at].job == job);
    b->heap[at].key = key;
    sift_up(p, b, at);
    sift_down(p, b, p->place[job]);
}

/* ---- the walk ---- */

static void waiting_walk(struct waiting *waiting, struct tape *t)
{
    tape_i64(t, &waiting->key);
    tape_u64(t, &waiting->sequence);
    tape_u32(t, &waiting->job);
}

/* Whether it is known not to fit: never asked, at an earlier time, now. The second differs from the
 * first only by the reason of the next job that comes into an empty bucket. */
enum { ASKED_NEVER, ASKED_BEFORE, ASKED_NOW };

static void refused_walk(struct bucket *b, uint64_t gains, struct tape *t)
{
    uint32_t asked = b->refused_at == gains         ? ASKED_NOW
                     : b->refused_at == NOT_REFUSED ? ASKED_NEVER
                                                    : ASKED_BEFORE;
    bool refused = b->count > 0 && asked == ASKED_NOW;

    if (tape_digests(t)) {
        tape_bool(t, &refused);
        return;
    }
    tape_max(t, &asked, ASKED_NOW, "whether a gang fits");
    if (tape_loads(t))
        b->refused_at = asked == ASKED_NOW ? gains : asked == ASKED_NEVER ? NOT_REFUSED : gains - 1;
}

/* Order within a heap is free, so for a digest the jobs are added up. */
static void heap_digest(const struct bucket *b, uint64_t *sum)
{
    for (uint32_t i = 0; i < b->count; i++) {
        struct tape one;

        tape_digest_init(&one);
        waiting_walk(&b->heap[i], &one);
        *sum += tape_digest(&one);
    }
}

static void waiting_loaded(struct pending *p, uint32_t gang, uint32_t at, const struct jobs *jobs,
                           struct tape *t)
{
    const struct bucket *b = &p->buckets[gang];
    const struct waiting *waiting = &b->heap[at];
    const struct job *job = waiting->job < jobs->count ? &jobs->rows[waiting->job] : NULL;

    if (job == NULL || job->state != JOB_PENDING || !job->queued || job->gang != gang ||
        job->sequence != waiting->sequence || p->place[waiting->job] != ROW_NONE ||
        (at > 0 && waiting_before(waiting, &b->heap[(at - 1) / 2])))
        tape_fail(t, "gang %u: job row %u does not wait there", gang, waiting->job);
    else
        p->place[waiting->job] = at;
}

static void heap_walk(struct pending *p, uint32_t gang, const struct jobs *jobs, struct tape *t)
{
    struct bucket *b = &p->buckets[gang];
    uint32_t count = b->count;

    tape_count(t, &count, "waiting jobs");
    for (uint32_t i = 0; tape_more(t, i, count); i++) {
        tape_grow(t, b->heap, b->count, b->cap);
        waiting_walk(&b->heap[i], t);
        if (tape_loads(t) && !t->failed)
            waiting_loaded(p, gang, i, jobs, t);
    }
}

static void bucket_walk(struct pending *p, uint32_t gang, const struct jobs *jobs, uint64_t gains,
                        struct tape *t)
{
    struct bucket *b = &p->buckets[gang];

    if (tape_digests(t))
        tape_u32(t, &b->count);
    else
        heap_walk(p, gang, jobs, t);
    tape_enum(t, b->reason, REASON_COUNT - 1, "reason of a gang");
    tape_enum(t, b->told, REASON_COUNT - 1, "told reason of a gang");
    refused_walk(b, gains, t);
}

/* The order in which gangs are told of; it changes no decision, so it is in no digest. */
static void open_walk(struct pending *p, struct tape *t)
{
    uint32_t count = p->open_count;

    tape_count(t, &count, "gangs that wait");
    for (uint32_t i = 0; !tape_digests(t) && tape_more(t, i, count); i++) {
        struct bucket *b;

        tape_grow(t, p->open, p->open_count, p->open_cap);
        tape_row(t, &p->open[i], p->count, "gang that waits");
        if (!tape_loads(t) || t->failed)
            continue;
        b = &p->buckets[p->open[i]];
        if (b->count == 0 || b->open_at != ROW_NONE)
            tape_fail(t, "gang %u: does not wait, or is listed twice", p->open[i]);
        b->open_at = i;
    }
}

static void pending_loaded(const struct pending *p, const struct jobs *jobs, struct tape *t)
{
    uint32_t open = 0, pending = 0;

    for (uint32_t job = 0; job < jobs->count; job++)
        pending += jobs->rows[job].state == JOB_PENDING && jobs->rows[job].queued;
    for (uint32_t i = 0; i < p->count; i++) {
        open += p->buckets[i].count > 0;
        pending -= p->buckets[i].count; /* none is there twice, so it never gets below 0 */
    }
    if (pending > 0)
        tape_fail(t, "%u jobs wait in no queue", pending);
    if (open != p->open_count)
        tape_fail(t, "%u gangs wait and are not listed", open - p->open_count);
}

void pending_walk(struct pending *p, const struct jobs *jobs, uint32_t gangs, uint64_t gains,
                  struct tape *t)
{
    uint32_t count = p->count;
    uint64_t sum = 0;

    if (tape_loads(t) && jobs->count > 0) {
        vec_reserve(p->place, p->place_cap, jobs->count);
        memset(p->place, 0xff, p->place_cap * sizeof *p->place);
    }
    tape_max(t, &count, gangs, "gangs that ever waited");
    for (uint32_t i = 0; tape_more(t, i, count); i++) {
        tape_grow(t, p->buckets, p->count, p->cap);
        if (tape_loads(t))
            p->buckets[i].open_at = ROW_NONE;
        bucket_walk(p, i, jobs, gains, t);
        if (tape_digests(t))
            heap_digest(&p->buckets[i], &sum);
    }
    if (tape_digests(t))
        tape_u64(t, &sum);
    open_walk(p, t);
    if (tape_loads(t) && !t->failed)
        pending_loaded(p, jobs, t);
}
