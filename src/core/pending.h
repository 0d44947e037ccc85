/* SPDX-License-Identifier: Apache-2.0 */
/* pending.h - who waits, in order: a bucket for the jobs that ask for the same (gang), stand in the
 * same rows of the queues, and are of the same class.
 *
 * Jobs of one bucket may all start or none may, so a step looks at the first of each only. A gang
 * that did not fit, in whatever bucket, is not tried again until something got free
 * (`refused_at`); nor is a bucket that a bound of its queue holds back. A bucket stays when its
 * last job has left, for the next one that asks the same. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "core/job.h"

struct jobs;
struct tape;

struct waiting {
    int64_t key;       /* of the order; smaller goes first */
    uint64_t sequence; /* then the earlier submission */
    uint32_t job;
};

/* What a job asks for, and as whom; jobs of equal asks share a bucket. */
struct wanted {
    uint32_t gang, leaf, of_class, class_id;
    uint32_t queue, user, name; /* name ids, where reservations predict by them: life.c */
    int64_t bound_us;           /* how long a run may take by its limit; 0 = it has none */
};

struct bucket {
    struct wanted ask;
    struct waiting *heap; /* [count] first job first */
    uint32_t count, cap;
    uint32_t open_at;    /* place in the list of buckets that hold jobs */
    uint64_t refused_at; /* index gains when a bound held it back, NOT_REFUSED if none did */
    uint32_t bound;      /* row of the queue whose bound that was */
    enum reason reason;  /* why its first job waits */
    enum reason told;    /* what the last note said */
    uint32_t told_bound; /* and whose bound it named, QUEUE_NONE */
    uint64_t split_at;  /* index gains when no GPU was split anew for its first job, see split.c; */
    uint64_t split_job; /* its id; */
    int64_t split_until_us; /* until then, that is so */
    bool in_contest;        /* scratch of contest.c */
};

/* What is known of a gang, whoever asks for it. */
struct gang_note {
    uint64_t refused_at; /* index gains when it did not fit, NOT_REFUSED if never */
    enum reason reason;  /* why */
    uint32_t bucket;     /* the last one that was asked for */
    uint32_t never_at;   /* nodes.changes when `never` was found out, 0 = not yet */
    bool never;          /* no nodes of this cluster could hold it, even empty */
};

#define NOT_REFUSED UINT64_MAX

struct pending {
    struct bucket *buckets; /* [count] */
    uint32_t count, cap;
    struct map by_ask;       /* digest of what is asked -> bucket */
    struct gang_note *gangs; /* [gang_count] */
    uint32_t gang_count, gang_cap;
    uint32_t *open; /* [open_count] buckets that hold jobs, in no order */
    uint32_t open_count, open_cap;
    uint32_t *place; /* [place_cap] by job row: where it is in its bucket's heap */
    uint32_t place_cap;
};

void pending_init(struct pending *p);
void pending_done(struct pending *p);
void pending_copy(struct pending *dst, const struct pending *src);

bool wanted_is_same(const struct wanted *a, const struct wanted *b);

/* Returns the bucket, which is the job's until it is removed. */
uint32_t pending_add(struct pending *p, const struct wanted *ask, const struct waiting *waiting);
void pending_remove(struct pending *p, uint32_t bucket, uint32_t job);
void pending_rekey(struct pending *p, uint32_t bucket, uint32_t job, int64_t key);

/* The note of a gang, which may be new. */
struct gang_note *pending_note(struct pending *p, uint32_t gang);

/* No bucket and no refusal is remembered; nobody waits. */
void pending_forget(struct pending *p);

static inline const struct waiting *pending_first(const struct pending *p, uint32_t bucket)
{
    return p->buckets[bucket].count > 0 ? &p->buckets[bucket].heap[0] : NULL;
}

static inline bool waiting_before(const struct waiting *a, const struct waiting *b)
{
    return a->key != b->key ? a->key < b->key : a->sequence < b->sequence;
}

/* How large the tables are that buckets point into. */
struct pending_limits {
    uint32_t gangs, queues, classes;
    uint64_t gains; /* of the index, now; above 0 */
};

/* Keys, reasons, and what is known not to fit; order within a heap does not count for the digest.
 * Loads into what pending_init() left, and tells the jobs which bucket they are in. */
void pending_walk(struct pending *p, struct jobs *jobs, const struct pending_limits *limits,
                  struct tape *t);
