/* SPDX-License-Identifier: Apache-2.0 */
/* pending.h - who waits, in order: one heap of jobs for each gang (jobs that ask for the same).
 *
 * Jobs of one gang are all placeable or all not, so a step looks at the first of each gang only,
 * and a gang that did not fit is not tried again until something got free (`refused_at`). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/job.h"

struct jobs;
struct tape;

struct waiting {
    int64_t key;       /* of the order; smaller goes first */
    uint64_t sequence; /* then the earlier submission */
    uint32_t job;
};

struct bucket {
    struct waiting *heap; /* [count] first job first */
    uint32_t count, cap;
    uint32_t open_at;    /* place in the list of buckets that hold jobs */
    uint64_t refused_at; /* index gains when it did not fit, NOT_REFUSED if never */
    enum reason reason;  /* why its first job waits */
    enum reason told;    /* what the last note said */
};

#define NOT_REFUSED UINT64_MAX

struct pending {
    struct bucket *buckets; /* [count] by gang */
    uint32_t count, cap;
    uint32_t *open; /* [open_count] buckets that hold jobs, in no order */
    uint32_t open_count, open_cap;
    uint32_t *place; /* [place_cap] by job row: where it is in its bucket's heap */
    uint32_t place_cap;
};

void pending_init(struct pending *p);
void pending_done(struct pending *p);
void pending_copy(struct pending *dst, const struct pending *src);

void pending_add(struct pending *p, uint32_t gang, const struct waiting *waiting);
void pending_remove(struct pending *p, uint32_t gang, uint32_t job);
void pending_rekey(struct pending *p, uint32_t gang, uint32_t job, int64_t key);

static inline const struct waiting *pending_first(const struct pending *p, uint32_t gang)
{
    return p->buckets[gang].count > 0 ? &p->buckets[gang].heap[0] : NULL;
}

static inline bool waiting_before(const struct waiting *a, const struct waiting *b)
{
    return a->key != b->key ? a->key < b->key : a->sequence < b->sequence;
}

/* Keys, reasons, and which gangs are known not to fit; order within a heap does not count for the
 * digest. gains: of the index, now; above 0. Loads into what pending_init() left; jobs are those of
 * the core, [gangs] how many gangs there are. */
void pending_walk(struct pending *p, const struct jobs *jobs, uint32_t gangs, uint64_t gains,
                  struct tape *t);
