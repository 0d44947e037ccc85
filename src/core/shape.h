/* SPDX-License-Identifier: Apache-2.0 */
/* shape.h - what a task asks for and what a job asks for, interned.
 *
 * A shape is one task's request. A gang is a whole job's request: one or more layouts in order of
 * preference, each a list of groups of identical tasks that start together or not at all.
 * Equal requests get equal ids, so that the rest of the core judges a request once, however many
 * jobs make it. Ids are dense, start at 0 and are never reused. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/tape.h"
#include "core/amounts.h"
#include "core/limits.h"
#include "core/mig.h"
#include "core/modes.h"

struct err;

#define SELECTOR_ANY 0u /* the selector that every node passes */

/* One task's request. All fields are what the user asked for; what it means on a given GPU
 * (a share of unstated bytes, for example) is need_on() in node.h. */
struct shape {
    int64_t cpu_mcpu;         /* 0..CPU_MCPU_MAX */
    int64_t memory_bytes;     /* 0..MEMORY_BYTES_MAX */
    uint32_t gpus;            /* on one node, 0..NODE_GPUS_MAX */
    uint32_t gpu_mgpu;        /* of each GPU, 1..1000; 0 = by gpu_memory_bytes */
    int64_t gpu_memory_bytes; /* of each GPU; 0 = in proportion to gpu_mgpu */
    uint32_t selector;        /* which nodes may be used, SELECTOR_ANY = all */
    bool exclusive;           /* its node is for it alone; whole GPUs only */
    uint32_t modes;           /* that a part of a GPU may be had in, MODE_BITs; 0 = the default
                               * ones, and of whole GPUs */
    uint32_t trust;           /* name id of the user whose tasks may be beside it under MPS; 0 */
    bool latency;             /* a part of a GPU, that must answer at once */
    struct mig_ask mig;       /* the instance of a split GPU that it wants; all zero: see below */
};

/* Which nodes a task may use: any of the models (none named = all) and all of the labels. */
struct selector {
    uint32_t model_count, label_count;
    uint32_t models[SELECTOR_TERMS_MAX]; /* name ids, ascending */
    uint32_t labels[SELECTOR_TERMS_MAX]; /* name ids of "key=value", ascending */
};

#define LEVEL_NONE UINT32_MAX

/* Which tasks of a layout must be near each other; levels by the id of their name, or LEVEL_NONE.
 * See levels.h. */
struct together {
    uint32_t within;           /* all tasks share one domain of it */
    uint32_t near;             /* they should */
    uint32_t group_within;     /* each group_size tasks in a row share one domain of it */
    uint32_t group_size;       /* 0 = none */
    uint32_t slowdown_max_ppm; /* against the best placement; 0 = any */
};

#define TOGETHER_NONE ((struct together){LEVEL_NONE, LEVEL_NONE, LEVEL_NONE, 0, 0})

struct group {
    uint32_t shape;
    uint32_t tasks; /* 1..JOB_TASKS_MAX */
};

struct layout {
    uint32_t first_group, group_count; /* rows of shapes.groups */
    bool apart;                        /* each task on a node of its own */
    uint32_t tasks_min;                /* it may run with so few; all of them, if it is rigid */
    uint32_t slowdown_ppm;             /* run time against the best layout, 1000000 = as fast */
    struct together together;
};

struct gang {
    uint32_t first_layout, layout_count; /* rows of shapes.layouts, most wanted first */
    uint32_t tasks;                      /* of the first layout */
    uint32_t gpus;                       /* GPUs that the first layout touches */
    int64_t mgpu;                        /* GPU compute of the first layout, 1000 = one GPU */
    bool mig;                            /* the first layout wants instances of split GPUs */
    struct amounts asks; /* what it takes at least, in any layout on any node: what a share or bytes
                          * alone mean is known on a node only, and counts as next to nothing */
};

struct shapes {
    struct shape *shapes;
    struct selector *selectors;
    struct group *groups;
    struct layout *layouts;
    struct gang *gangs;
    uint32_t shape_count, selector_count, group_count, layout_count, gang_count;
    uint32_t shape_cap, selector_cap, group_cap, layout_cap, gang_cap;
    struct map by_digest; /* digest of kind and contents -> id */
};

/* A job's request as it arrives: plain arrays, borrowed for the call. */
struct layout_spec {
    const struct group *groups; /* [group_count], shape ids from shapes_shape() */
    uint32_t group_count;
    uint32_t slowdown_ppm;
    bool apart;
    uint32_t tasks_min; /* 1..all; less than all only in a gang of one layout with one group */
    struct together together;
};

void shapes_init(struct shapes *s);
void shapes_done(struct shapes *s);
void shapes_copy(struct shapes *dst, const struct shapes *src);

/* Intern; the arguments must be in range (wire and submit.c check what people write). */
uint32_t shapes_selector(struct shapes *s, const struct selector *selector);
uint32_t shapes_shape(struct shapes *s, const struct shape *shape);
uint32_t shapes_gang(struct shapes *s, const struct layout_spec *layouts, uint32_t layout_count);

/* Tasks of a layout, all groups together. */
static inline uint32_t layout_tasks(const struct shapes *s, const struct layout *layout)
{
    uint32_t tasks = 0;

    for (uint32_t g = 0; g < layout->group_count; g++)
        tasks += s->groups[layout->first_group + g].tasks;
    return tasks;
}

/* Does it matter where its tasks are to each other? */
static inline bool together_matters(const struct together *t)
{
    return t->within != LEVEL_NONE || t->near != LEVEL_NONE || t->group_within != LEVEL_NONE ||
           t->slowdown_max_ppm != 0;
}

/* The modes that a part of a GPU may be had in. */
static inline uint32_t shape_modes(const struct shape *shape)
{
    return shape->modes != 0 ? shape->modes : MODES_DEFAULT;
}

/* 0, or -EINVAL with the field that is out of range. */
int shape_check(const struct shape *shape, struct err *err);

/* Is this a request for an instance of a split GPU? By its profile, or where shape->mig is zero by
 * gpu_memory_bytes: the smallest that serves. It has one GPU, and no modes but mig. */
static inline bool shape_is_mig(const struct shape *shape)
{
    return shape->modes == MODE_BIT(GPU_MIG);
}

/* Is this a request for part of a GPU? */
static inline bool shape_is_share(const struct shape *shape)
{
    return shape->gpus > 0 && shape->gpu_mgpu < GPU_MGPU;
}

/* selectors: how many there are. */
void shape_walk(struct shape *shape, uint32_t selectors, struct tape *t);

/* Loads into what shapes_init() left. names: how many name ids there are. */
void shapes_walk(struct shapes *s, uint32_t names, struct tape *t);
