/* SPDX-License-Identifier: Apache-2.0 */
/* pending.c - who waits, in order: a heap of jobs for each bucket. */
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
    map_init(&p->by_ask);
}

void pending_done(struct pending *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        mem_free(p->buckets[i].heap);
    mem_free(p->buckets);
    mem_free(p->open);
    mem_free(p->place);
    mem_free(p->gangs);
    map_done(&p->by_ask);
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
    dst->gangs = mem_copy(src->gangs, src->gang_count, sizeof *src->gangs);
    dst->gang_cap = src->gang_count;
    map_copy(&dst->by_ask, &src->by_ask);
}

void pending_forget(struct pending *p)
{
    check(p->open_count == 0);
    pending_done(p);
    pending_init(p);
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

bool wanted_is_same(const struct wanted *a, const struct wanted *b)
{
    return a->gang == b->gang && a->leaf == b->leaf && a->of_class == b->of_class &&
           a->class_id == b->class_id && a->queue == b->queue && a->user == b->user &&
           a->name == b->name && a->bound_us == b->bound_us;
}

static uint64_t ask_key(const struct wanted *ask, uint64_t salt)
{
    struct digest d;

    digest_init(&d);
    digest_u64(&d, salt);
    digest_u32(&d, ask->gang);
    digest_u32(&d, ask->leaf);
    digest_u32(&d, ask->of_class);
    digest_u32(&d, ask->class_id);
    digest_u32(&d, ask->queue);
    digest_u32(&d, ask->user);
    digest_u32(&d, ask->name);
    digest_i64(&d, ask->bound_us);
    return digest_value(&d);
}

/* Its bucket; or false, and the key under which it would be found. */
static bool bucket_find(const struct pending *p, const struct wanted *ask, uint32_t *out_bucket,
                        uint64_t *out_key)
{
    for (uint64_t salt = 0;; salt++) {
        *out_key = ask_key(ask, salt);
        if (!map_find(&p->by_ask, *out_key, out_bucket))
            return false;
        if (wanted_is_same(&p->buckets[*out_bucket].ask, ask))
            return true;
    }
}

struct gang_note *pending_note(struct pending *p, uint32_t gang)
{
    while (p->gang_count <= gang) {
        vec_reserve(p->gangs, p->gang_cap, p->gang_count + 1);
        p->gangs[p->gang_count++] =
            (struct gang_note){.refused_at = NOT_REFUSED, .reason = REASON_NEW, .bucket = ROW_NONE};
    }
    return &p->gangs[gang];
}

static uint32_t bucket_of(struct pending *p, const struct wanted *ask)
{
    struct gang_note *note = pending_note(p, ask->gang);
    uint64_t key;

    if (note->bucket != ROW_NONE && wanted_is_same(&p->buckets[note->bucket].ask, ask))
        return note->bucket;
    if (!bucket_find(p, ask, &note->bucket, &key)) {
        vec_reserve(p->buckets, p->cap, p->count + 1);
        p->buckets[p->count] = (struct bucket){
            .ask = *ask, .refused_at = NOT_REFUSED, .bound = ROW_NONE, .told_bound = ROW_NONE};
        map_put(&p->by_ask, key, p->count);
        note->bucket = p->count++;
    }
    return note->bucket;
}

static void open_bucket(struct pending *p, uint32_t bucket)
{
    struct bucket *b = &p->buckets[bucket];
    const struct gang_note *note = pending_note(p, b->ask.gang);

    vec_reserve(p->open, p->open_cap, p->open_count + 1);
    b->open_at = p->open_count;
    p->open[p->open_count++] = bucket;
    if (b->refused_at == NOT_REFUSED)
        b->reason = note->refused_at == NOT_REFUSED ? REASON_NEW : note->reason;
}

uint32_t pending_add(struct pending *p, const struct wanted *ask, const struct waiting *waiting)
{
    const uint32_t bucket = bucket_of(p, ask);
    struct bucket *b = &p->buckets[bucket];

    vec_reserve(p->place, p->place_cap, waiting->job + 1);
    vec_reserve(b->heap, b->cap, b->count + 1);
    if (b->count == 0)
        open_bucket(p, bucket);
    b->heap[b->count++] = *waiting;
    sift_up(p, b, b->count - 1);
    return bucket;
}

static void close_bucket(struct pending *p, struct bucket *b)
{
    const uint32_t last = p->open[--p->open_count];

    p->open[b->open_at] = last;
    p->buckets[last].open_at = b->open_at;
    b->told = REASON_NONE;
    b->told_bound = ROW_NONE;
}

void pending_remove(struct pending *p, uint32_t bucket, uint32_t job)
{
    struct bucket *b = &p->buckets[bucket];
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

void pending_rekey(struct pending *p, uint32_t bucket, uint32_t job, int64_t key)
{
    struct bucket *b = &p->buckets[bucket];
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

/* Whether something is known not to fit: never asked, at an earlier time, now. The second differs
 * from the first only by the reason of the next job that comes into an empty bucket. */
enum { ASKED_NEVER, ASKED_BEFORE, ASKED_NOW };

static void refused_walk(uint64_t *refused_at, bool counts, uint64_t gains, struct tape *t)
{
    uint32_t asked = *refused_at == gains         ? ASKED_NOW
                     : *refused_at == NOT_REFUSED ? ASKED_NEVER
                                                  : ASKED_BEFORE;
    bool refused = counts && asked == ASKED_NOW;

    if (tape_digests(t)) {
        tape_bool(t, &refused);
        return;
    }
    tape_max(t, &asked, ASKED_NOW, "whether a gang fits");
    if (tape_loads(t))
        *refused_at = asked == ASKED_NOW ? gains : asked == ASKED_NEVER ? NOT_REFUSED : gains - 1;
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

static void waiting_loaded(struct pending *p, uint32_t bucket, uint32_t at, struct jobs *jobs,
                           struct tape *t)
{
    const struct bucket *b = &p->buckets[bucket];
    const struct waiting *waiting = &b->heap[at];
    struct job *job = waiting->job < jobs->count ? &jobs->rows[waiting->job] : NULL;

    if (job == NULL || job->state != JOB_PENDING || !job->queued || job->gang != b->ask.gang ||
        job->at.leaf != b->ask.leaf || job->at.of_class != b->ask.of_class ||
        job->class_id != b->ask.class_id || job->sequence != waiting->sequence ||
        p->place[waiting->job] != ROW_NONE ||
        (at > 0 && waiting_before(waiting, &b->heap[(at - 1) / 2]))) {
        tape_fail(t, "bucket %u: job row %u does not wait there", bucket, waiting->job);
        return;
    }
    p->place[waiting->job] = at;
    job->bucket = bucket;
}

static void heap_walk(struct pending *p, uint32_t bucket, struct jobs *jobs, struct tape *t)
{
    struct bucket *b = &p->buckets[bucket];
    uint32_t count = b->count;

    tape_count(t, &count, "waiting jobs");
    for (uint32_t i = 0; tape_more(t, i, count); i++) {
        tape_grow(t, b->heap, b->count, b->cap);
        waiting_walk(&b->heap[i], t);
        if (tape_loads(t) && !t->failed)
            waiting_loaded(p, bucket, i, jobs, t);
    }
}

/* A bucket without a bound, a note or an own class says so by one more than the last row. */
static void row_or_none(struct tape *t, uint32_t *row, uint32_t rows, const char *what)
{
    uint32_t stored = *row == ROW_NONE ? 0 : *row + 1;

    tape_max(t, &stored, rows, what);
    if (tape_loads(t))
        *row = stored == 0 ? ROW_NONE : stored - 1;
}

static void ask_walk(struct wanted *ask, const struct pending_limits *limits, struct tape *t)
{
    tape_row(t, &ask->gang, limits->gangs, "gang of a bucket");
    tape_row(t, &ask->leaf, limits->queues, "queue of a bucket");
    row_or_none(t, &ask->of_class, limits->queues, "class row of a bucket");
    tape_row(t, &ask->class_id, limits->classes, "class of a bucket");
    tape_u32(t, &ask->queue);
    tape_u32(t, &ask->user);
    tape_u32(t, &ask->name);
    tape_i64_in(t, &ask->bound_us, 0, JOB_TIME_MAX * 2, "bound of a bucket");
}

static void bucket_walk(struct pending *p, uint32_t bucket, struct jobs *jobs,
                        const struct pending_limits *limits, struct tape *t)
{
    struct bucket *b = &p->buckets[bucket];

    ask_walk(&b->ask, limits, t);
    if (tape_digests(t))
        tape_u32(t, &b->count);
    else
        heap_walk(p, bucket, jobs, t);
    tape_enum(t, b->reason, REASON_COUNT - 1, "reason of a bucket");
    tape_enum(t, b->told, REASON_COUNT - 1, "told reason of a bucket");
    row_or_none(t, &b->bound, limits->queues, "bound of a bucket");
    row_or_none(t, &b->told_bound, limits->queues, "told bound of a bucket");
    refused_walk(&b->refused_at, b->count > 0, limits->gains, t);
}

static void bucket_loaded(struct pending *p, uint32_t bucket, struct tape *t)
{
    uint64_t key;
    uint32_t known;

    p->buckets[bucket].open_at = ROW_NONE;
    if (bucket_find(p, &p->buckets[bucket].ask, &known, &key))
        tape_fail(t, "bucket %u: is there twice", bucket);
    map_put(&p->by_ask, key, bucket);
}

/* The order in which buckets are told of; it changes no decision, so it is in no digest. */
static void open_walk(struct pending *p, struct tape *t)
{
    uint32_t count = p->open_count;

    tape_count(t, &count, "buckets that hold jobs");
    for (uint32_t i = 0; !tape_digests(t) && tape_more(t, i, count); i++) {
        struct bucket *b;

        tape_grow(t, p->open, p->open_count, p->open_cap);
        tape_row(t, &p->open[i], p->count, "bucket that holds jobs");
        if (!tape_loads(t) || t->failed)
            continue;
        b = &p->buckets[p->open[i]];
        if (b->count == 0 || b->open_at != ROW_NONE)
            tape_fail(t, "bucket %u: holds no jobs, or is listed twice", p->open[i]);
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
        tape_fail(t, "%u buckets hold jobs and are not listed", open - p->open_count);
}

/* Which gangs are known not to fit. That counts while somebody asks for them. */
static void notes_walk(struct pending *p, const struct pending_limits *limits, struct tape *t)
{
    uint32_t count = p->gang_count;

    tape_max(t, &count, limits->gangs, "gangs that ever waited");
    for (uint32_t i = 0; tape_more(t, i, count); i++) {
        tape_grow(t, p->gangs, p->gang_count, p->gang_cap);
        if (tape_loads(t))
            p->gangs[i].bucket = ROW_NONE;
        refused_walk(&p->gangs[i].refused_at, true, limits->gains, t);
        tape_enum(t, p->gangs[i].reason, REASON_COUNT - 1, "reason of a gang");
        if (tape_loads(t) && p->gangs[i].reason == REASON_NONE)
            tape_fail(t, "gang %u: has no reason", i);
    }
}

void pending_walk(struct pending *p, struct jobs *jobs, const struct pending_limits *limits,
                  struct tape *t)
{
    uint32_t count = p->count;
    uint64_t sum = 0;

    if (tape_loads(t) && jobs->count > 0) {
        vec_reserve(p->place, p->place_cap, jobs->count);
        memset(p->place, 0xff, p->place_cap * sizeof *p->place);
    }
    notes_walk(p, limits, t);
    tape_count(t, &count, "buckets");
    for (uint32_t i = 0; tape_more(t, i, count); i++) {
        tape_grow(t, p->buckets, p->count, p->cap);
        bucket_walk(p, i, jobs, limits, t);
        if (tape_digests(t))
            heap_digest(&p->buckets[i], &sum);
        if (tape_loads(t) && !t->failed)
            bucket_loaded(p, i, t);
    }
    if (tape_digests(t))
        tape_u64(t, &sum);
    open_walk(p, t);
    if (tape_loads(t) && !t->failed)
        pending_loaded(p, jobs, t);
}
