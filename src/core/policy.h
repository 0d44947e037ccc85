/* SPDX-License-Identifier: Apache-2.0 */
/* policy.h - what a placement score and a queue order must offer to the core.
 *
 * A policy is a const table of functions over a state that the core owns. The state is one flat
 * block of `state_size` bytes that may own heap memory (init, done and copy know it). A policy is
 * pure: no clock, no chance but a seed, no I/O; equal histories give equal answers.
 * To add one: a file src/policy/place_NAME.c or order_NAME.c and a line in src/policy/registry.c.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/tape.h"
#include "core/nodes.h"
#include "core/shape.h"

struct core; /* read with the calls of core/view.h */
struct job;  /* core/job.h; read only */

/* Puts every field that can change an answer on the tape, see base/tape.h: one walk for the digest,
 * for saving and for loading. What follows from other fields is left out. Only a tape that loads
 * may change the state. It fills one that was zeroed and init()ed without seed, mix and options;
 * the core's own tables are loaded then, so rows are held against them (tape_row() and the like, or
 * tape_fail()), and at the end what was left out is worked out anew. A failed walk may leave the
 * state half filled, but so that done() can take it. */
typedef void walk_f(void *state, const struct core *core, struct tape *t);

/* ---- placement ---------------------------------------------------------------------------- */

/* One node state: all nodes of a class with the same free amounts are one state. */
struct state_view {
    const struct node_class *class;
    uint32_t class_id;
    uint32_t gpu_count;            /* GPUs of the node, lost ones included (their free is 0) */
    uint32_t whole_free;           /* GPUs that nobody uses */
    uint32_t free_mgpu;            /* sum over the GPUs */
    int64_t cpu_free_mcpu;         /* 0 or more */
    int64_t memory_free_bytes;     /* 0 or more */
    const uint16_t *gpu_free_mgpu; /* [gpu_count] 0..1000, ascending */
    const int64_t *gpu_free_bytes; /* [gpu_count] same order; all 0 where memory is unknown */
    const uint32_t *gpu_company;   /* [gpu_count] same order: who may join, see modes.h */
    const struct mig_rooms *rooms; /* that companies of split GPUs speak of */
    uint64_t kinds;                /* bit 0: shares run here, bit k: k-GPU tasks (k <= 63) */
};

/* One task's request against that state. */
struct request {
    const struct shape *shape;
    uint32_t shape_id;
    struct need need; /* of each GPU, on the state's class; zero for CPU-only tasks */
};

/* What the core tells a placement policy at the start. */
struct placement_config {
    uint64_t seed;                   /* for policies that draw (random) */
    const struct placement_mix *mix; /* shapes known in advance, or NULL: learn them */
};

/* A demand known in advance (for the published runs): shapes and how many of each. */
struct placement_mix {
    const struct shape *shapes; /* [count], selectors are ids of the core's own table */
    const uint64_t *tasks;      /* [count] */
    uint32_t count;
};

enum placement_tie {
    TIE_FIRST_NODE,  /* equal scores go to the node that joined first */
    TIE_RANDOM_NODE, /* uniform among all nodes that fit; score is not asked, draw is */
};

struct placement_policy {
    const char *name;
    const char *summary; /* one line for --help */
    size_t state_size;   /* 0 = none; the state comes zeroed to init */
    enum placement_tie tie;
    bool totals_only; /* score looks at no single GPU and leaves out_slot alone: shares then go
                       * to the fitting GPU with the least left. Judging is cheaper so */
    bool sees_kinds;  /* states that differ in `kinds` only are different states */

    /* May be NULL where there is nothing to do. */
    void (*init)(void *state, const struct placement_config *config);
    void (*done)(void *state);
    void (*copy)(void *dst, const void *src); /* dst is zeroed */
    walk_f *walk;                             /* not NULL if there is a state */

    /* A job was submitted: `tasks` tasks of this shape, whether or not they ever fit. Once per
     * group of the job's first layout. */
    void (*arrived)(void *state, const struct core *core, uint32_t shape_id, uint32_t tasks);

    /* A task that ran has left for good (finished or cancelled; not preempted). */
    void (*left)(void *state, const struct core *core, uint32_t shape_id);

    /* Called at the start of each step, before anything is placed. Returns true if scores may
     * have changed since the last call: then every cached score is dropped, which costs one
     * score() for each (shape asked, state). So do it rarely. */
    bool (*refresh)(void *state, const struct core *core);

    /* How good is it to put one such task on a node in this state? Higher is better. Called only
     * where the task fits. Must depend on nothing but its arguments and what refresh() left.
     * out_slot: for a task that shares one GPU, which of gpu_free_mgpu's entries to use (equal
     * entries are the same); left alone, the fullest that fits; ignored otherwise. Called very
     * often: aim at 50 ns. */
    int64_t (*score)(const void *state, const struct core *core, const struct state_view *view,
                     const struct request *request, uint32_t *out_slot);

    /* TIE_RANDOM_NODE only: a number uniform in 0..n-1. Advances the state. */
    uint64_t (*draw)(void *state, uint64_t n);
};

/* Is there room on this GPU of the state? */
static inline bool view_gpu_has(const struct state_view *view, uint32_t gpu,
                                const struct need *need)
{
    return view->gpu_free_mgpu[gpu] >= need->mgpu &&
           view->gpu_free_bytes[gpu] >= need->memory_bytes &&
           company_admits(view->rooms, view->gpu_free_mgpu[gpu], view->gpu_company[gpu], need);
}

#define SLOT_FULLEST UINT32_MAX /* out_slot as it comes: the fitting GPU with the least left */

/* The usual choice of a GPU for a share: the fitting one with the least left. */
uint32_t slot_fullest(const struct state_view *view, const struct need *need);

/* ---- order -------------------------------------------------------------------------------- */

enum order_preempts {
    PREEMPT_NEVER,
    PREEMPT_TAKE, /* a waiting job takes from running jobs whose key is larger (hysteresis) */
};

struct order_config {
    uint64_t seed;
    const int64_t *options; /* [option_count] the policy's own numbers; NULL = its defaults */
    uint32_t option_count;
};

struct order_policy {
    const char *name;
    const char *summary;
    size_t state_size;
    enum order_preempts preempts;
    bool blocks;             /* a job that does not fit holds back all behind it */
    bool oracle;             /* needs remaining_us, which only a simulator knows */
    bool takes_options;      /* its init() looks at config->options */
    uint32_t hysteresis_ppm; /* a running job's key * 1000000 / this is what is compared;
                              * 1000000 = no hysteresis */

    void (*init)(void *state, const struct order_config *config);
    void (*done)(void *state);
    void (*copy)(void *dst, const void *src);
    walk_f *walk;

    /* Facts. `job` is the row (dense, reused after the job is gone), see view.h for its fields.
     * Called after the core's own tables have changed. All may be NULL. */
    void (*submitted)(void *state, const struct core *core, uint32_t job);
    void (*started)(void *state, const struct core *core, uint32_t job);
    void (*stopped)(void *state, const struct core *core, uint32_t job); /* preempted, waits */
    void (*finished)(void *state, const struct core *core,
                     uint32_t job); /* before it is freed;
                                     * cancelled and failed jobs too (job->state) */
    /* Called once at the start of each step with its time, before any key is asked. */
    void (*step)(void *state, const struct core *core, int64_t now_us);
    /* Called once at the end of each step, when all decisions are made. */
    void (*stepped)(void *state, const struct core *core, int64_t now_us);

    /* Who goes first: smaller keys, then smaller sequence numbers. 0..INT64_MAX.
     * For a waiting job the core keeps the key until the job starts, or next_rekey names it. */
    int64_t (*key)(void *state, const struct core *core, uint32_t job, int64_t now_us);

    /* Waiting jobs whose key has changed since the last call, one a call; false = no more.
     * NULL: the key of a waiting job never changes. Called at the start of each step, after
     * step(). */
    bool (*next_rekey)(void *state, const struct core *core, uint32_t *out_job);

    /* When the key of this running job will next change so much that the order may change, or
     * INT64_MAX. NULL: never. Asked while some job waits, and always under REPACK_*. */
    int64_t (*next_change_us)(const void *state, const struct core *core, uint32_t job,
                              int64_t now_us);
};
