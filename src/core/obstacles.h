/* SPDX-License-Identifier: Apache-2.0 */
/* obstacles.h - why tasks of one shape cannot go to the nodes of the cluster, by count of nodes.
 *
 * Each node has one obstacle, the first of: what it is (model, labels, too small even if it were
 * empty), that it gets no new work, that GPUs of it are lost, and what is taken. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "core/job.h"

struct core;

enum obstacle_kind {
    OBSTACLE_MODEL,   /* its GPUs are of a model that is not asked for */
    OBSTACLE_LABEL,   /* it lacks a label */
    OBSTACLE_SMALL,   /* it has less than is asked, even if it were empty */
    OBSTACLE_UNKNOWN, /* GPU memory is asked for, and it is not known how much its GPUs have */
    OBSTACLE_MODES,   /* its GPUs are in no mode that the task may have */
    OBSTACLE_PROFILE, /* they may be split, and not into such an instance */
    OBSTACLE_OUT,     /* it gets no new work */
    OBSTACLE_LOST,    /* so many of its GPUs are lost that the rest is too few */
    OBSTACLE_BUSY,    /* too much of it is taken */
    OBSTACLE_COUNT,
};

/* What a node has too little of. */
enum shortage {
    SHORT_MIG,       /* starts for an instance, and idle ones like it */
    SHORT_GPUS,      /* GPUs, whole ones if whole ones are asked for */
    SHORT_SHARED,    /* GPUs with room, but those on them are of another company (modes.h) */
    SHORT_GPU_MGPU,  /* of each GPU */
    SHORT_GPU_BYTES, /* of each GPU */
    SHORT_CPU_MCPU,
    SHORT_MEMORY_BYTES,
    SHORT_COUNT,
};

struct obstacle {
    enum obstacle_kind kind;
    uint32_t what;  /* LABEL: its name id; OUT: a NODE_OUT_ bit; SMALL, BUSY: enum shortage */
    uint32_t nodes; /* that have it */
    int64_t asked;  /* SMALL, BUSY: of the shortage; UNKNOWN: bytes of GPU memory; LOST: GPUs */
    int64_t most;   /* that any of these nodes has, or has free */
};

/* Asking for less of one thing would do on some nodes, where nothing else is short. */
struct nearly {
    int64_t *most; /* [count] what such nodes have free of it, most first */
    uint32_t count, cap;
};

struct obstacles {
    uint32_t shape;
    uint32_t nodes;         /* of the cluster */
    uint32_t fitting;       /* of these, with room for a task now */
    struct obstacle *items; /* [count] by kind, then in order of nodes */
    uint32_t count, cap;
    struct nearly nearly[SHORT_COUNT];
};

/* For nodes as they stand in the books. O(nodes * GPUs + what is short, sorted) */
void obstacles_find(struct core *core, uint32_t shape, struct obstacles *out);
void obstacles_done(struct obstacles *o);
