/* SPDX-License-Identifier: Apache-2.0 */
/* pending.c - who waits, in order: one heap of jobs for each gang. */
#include "core/pending.h"

#include <string.h>

#include "base/check.h"
#include "base/digest.h"
#include "base/mem.h"
#include "base/vec.h"

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

void pending_digest(const struct pending *p, uint64_t gains, struct digest *d)
{
    uint64_t sum = 0; /* heap order is free, so the jobs are added up */

    digest_u32(d, p->open_count);
    for (uint32_t i = 0; i < p->count; i++) {
        const struct bucket *b = &p->buckets[i];

        digest_u32(d, b->count);
        digest_u32(d, b->reason);
        digest_u32(d, b->told);
        digest_u32(d, b->count > 0 && b->refused_at == gains);
        for (uint32_t k = 0; k < b->count; k++) {
            struct digest one;

            digest_init(&one);
            digest_i64(&one, b->heap[k].key);
            digest_u64(&one, b->heap[k].sequence);
            digest_u32(&one, b->heap[k].job);
            sum += digest_value(&one);
        }
    }
    digest_u64(d, sum);
}
