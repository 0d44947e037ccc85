/* SPDX-License-Identifier: Apache-2.0 */
/* index.h - node states: nodes of one class with the same free amounts are one state, judged once.
 *
 * The index follows from the nodes and is never part of a digest. Each state has a version that
 * grows when its first node changes or when it comes to life; each such change is a record of a
 * ring, so that whoever keeps something per state (shortlist.c) reads only what is new.
 *
 * States of row r: `rows[r]`, with the free amounts of its GPUs at [r * stride], ascending. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "core/nodes.h"
#include "core/policy.h"

struct state {
    uint32_t node_count; /* 0 = the row is not in use */
    uint32_t version;
    uint32_t class_id;
    uint32_t first_node; /* root of its nodeset: the node that joined first */
    uint32_t order;      /* of that node */
    uint32_t next;       /* of the same hash, ROW_NONE at the end */
    uint32_t whole_free;
    uint32_t free_mgpu;
    uint32_t largest_mgpu; /* of one GPU */
    uint64_t changed_at;   /* its last record is that of this number */
    uint64_t hash;
    uint64_t kinds;
    bool companies; /* some GPU is shared by others than COMPANY_TURNS */
    int64_t cpu_free_mcpu;
    int64_t memory_free_bytes;
};

/* What most questions of "does it fit?" fail by: four of them are one cache line, so reading
 * changes is reading a short array in order. CPU and memory are rounded up, so a filter may let
 * through what does not fit, never the other way round. */
struct filter {
    uint32_t cpu_free;    /* units of 2^FILTER_CPU_SHIFT mCPU, at most UINT32_MAX */
    uint32_t memory_free; /* units of 2^FILTER_MEMORY_SHIFT bytes, at most UINT32_MAX */
    uint16_t largest_mgpu;
    uint16_t whole_free;
    uint32_t live; /* 0: a later change of the same state makes this one untrue */
};

#define FILTER_CPU_SHIFT    4
#define FILTER_MEMORY_SHIFT 24

/* A state as it is judged: what a policy that looks at totals needs to know. */
struct change {
    uint32_t state, version;
    uint32_t class_id;
    uint32_t free_mgpu;
    uint32_t order; /* of the first node */
    uint16_t largest_mgpu;
    uint16_t whole_free;
    int64_t cpu_free_mcpu;
    int64_t memory_free_bytes;
};

struct index {
    bool sees_kinds;
    struct state *rows;
    uint32_t count, cap;    /* rows, unused ones included */
    uint32_t live;          /* rows in use */
    uint32_t free_first;    /* list of unused rows through `next` */
    uint16_t *gpu_mgpu;     /* [cap * stride] */
    int64_t *gpu_bytes;     /* [cap * stride] */
    uint32_t *gpu_company;  /* [cap * stride] see nodes_gpu_company() */
    uint32_t stride;        /* most GPUs of a node so far */
    uint32_t *heads;        /* [head_count] rows by hash */
    uint32_t head_count;    /* a power of two */
    struct filter *filters; /* [ring_count] */
    struct change *ring;    /* [ring_count] the changes that the filters are of */
    uint32_t ring_count;    /* a power of two */
    uint64_t changes;       /* records ever written */
    uint64_t whole_free;    /* GPUs that nobody uses, over all nodes */
    uint64_t gains;         /* how often a node got more free; what did not fit may fit now */
};

void index_init(struct index *x, bool sees_kinds);
void index_done(struct index *x);
void index_copy(struct index *dst, const struct index *src);

/* Put the node into the state that its books say; `kinds` is what runs on it. O(GPUs log GPUs). */
void index_update(struct index *x, struct nodes *n, uint32_t node, uint64_t kinds);
/* Take the node out: nothing can be placed there. */
void index_remove(struct index *x, struct nodes *n, uint32_t node);

/* What a record of this state would say now. */
void index_describe(const struct index *x, uint32_t state, struct change *out);

/* Amounts as filters hold them, rounded up. */
uint32_t filter_cpu(int64_t mcpu);
uint32_t filter_memory(int64_t bytes);

void index_view(const struct index *x, const struct nodes *n, uint32_t state,
                struct state_view *out);
