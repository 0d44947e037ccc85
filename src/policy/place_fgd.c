/* SPDX-License-Identifier: Apache-2.0 */
/* place_fgd.c - fragmentation gradient descent, as published (USENIX ATC'23), in integers.
 *
 * A node's fragment for a type of task is the free compute that such a task could not use there;
 * weighted over the popular types it is what a placement should add least to. The score is
 * floor(100 sigmoid(fragment now - fragment after)), in GPUs: its coarseness is part of the method,
 * since many nodes tie and the first one wins.
 * Types are the published ones (cpu, GPUs, share, allowed nodes; not memory), the most popular that
 * make 95 % of the tasks. They come from a mix told in advance, or from recent arrivals. */
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "base/vec.h"
#include "core/view.h"
#include "policy/policies.h"
#include "policy/recent.h"

#define KEPT_PCT       95
#define SETTLED_PERIOD 64 /* tasks between two looks at recent arrivals */
#define COUNT_SHIFT    10 /* recent counts to weights, so that products stay in 64 bits */
#define SCORE_MAX      99
#define WEIGHT_MAX     (UINT64_C(1) << 44)

/* A type of task: its first shape speaks for it. */
struct fgd_type {
    uint32_t shape;
    uint64_t weight;
};

/* A type on one class of nodes that may run it. */
struct fgd_row {
    int64_t cpu_mcpu;
    uint64_t weight;
    uint32_t mgpu, gpus;
};

struct fgd_class {
    uint32_t first, count; /* rows, mgpu ascending */
    uint64_t unusable;     /* weight of the types that cannot use this class at all */
};

struct fgd {
    struct recent recent;
    struct shape *mix; /* [mix_count] told in advance; none: learn */
    uint64_t *mix_tasks;
    uint32_t mix_count;
    struct fgd_type *types; /* [type_count] those kept */
    uint32_t type_count, type_cap;
    uint64_t weight;           /* of all types kept */
    struct fgd_class *classes; /* [class_count] */
    struct fgd_row *rows;
    uint32_t class_count, class_cap, row_count, row_cap;
};

static void fgd_init(void *state, const struct placement_config *config)
{
    struct fgd *f = state;

    recent_init(&f->recent);
    if (config->mix == NULL)
        return;
    f->mix = mem_copy(config->mix->shapes, config->mix->count, sizeof *f->mix);
    f->mix_tasks = mem_copy(config->mix->tasks, config->mix->count, sizeof *f->mix_tasks);
    f->mix_count = config->mix->count;
}

static void fgd_done(void *state)
{
    struct fgd *f = state;

    recent_done(&f->recent);
    mem_free(f->mix);
    mem_free(f->mix_tasks);
    mem_free(f->types);
    mem_free(f->classes);
    mem_free(f->rows);
}

static void fgd_copy(void *dst, const void *src)
{
    const struct fgd *from = src;
    struct fgd *to = dst;

    *to = *from;
    recent_copy(&to->recent, &from->recent);
    to->mix = mem_copy(from->mix, from->mix_count, sizeof *from->mix);
    to->mix_tasks = mem_copy(from->mix_tasks, from->mix_count, sizeof *from->mix_tasks);
    to->types = mem_copy(from->types, from->type_cap, sizeof *from->types);
    to->classes = mem_copy(from->classes, from->class_cap, sizeof *from->classes);
    to->rows = mem_copy(from->rows, from->row_cap, sizeof *from->rows);
}

static void fgd_arrived(void *state, const struct core *core, uint32_t shape_id, uint32_t tasks)
{
    struct fgd *f = state;

    (void)core;
    if (f->mix_count == 0)
        recent_add(&f->recent, shape_id, tasks);
}

/* ---- types ---- */

static bool is_same_type(const struct shape *a, const struct shape *b)
{
    return a->cpu_mcpu == b->cpu_mcpu && a->gpus == b->gpus && a->gpu_mgpu == b->gpu_mgpu &&
           a->gpu_memory_bytes == b->gpu_memory_bytes && a->selector == b->selector;
}

static void add_type(struct fgd *f, const struct core *core, uint32_t shape_id, uint64_t weight)
{
    const struct shape *shape = core_shape(core, shape_id);
    const struct fgd_type type = {shape_id, weight};

    for (uint32_t i = 0; i < f->type_count; i++) {
        const struct shape *known = core_shape(core, f->types[i].shape);

        if (!is_same_type(known, shape))
            continue;
        f->types[i].weight += weight;
        /* Types know no memory, so the one that asks for least speaks for all. */
        if (shape->memory_bytes < known->memory_bytes)
            f->types[i].shape = shape_id;
        return;
    }
    vec_push(f->types, f->type_count, f->type_cap, type);
}

/* The core has interned the shapes of the mix; find their ids. */
static void types_of_mix(struct fgd *f, const struct core *core)
{
    for (uint32_t i = 0; i < f->mix_count; i++)
        for (uint32_t s = 0; s < core_shape_count(core); s++) {
            const struct shape *shape = core_shape(core, s);

            if (!is_same_type(shape, &f->mix[i]) || shape->memory_bytes != f->mix[i].memory_bytes)
                continue;
            add_type(f, core, s, f->mix_tasks[i]);
            break;
        }
}

static int by_weight(const void *a, const void *b, void *arg)
{
    const struct fgd_type *x = a, *y = b;

    (void)arg;
    return x->weight > y->weight ? -1 : x->weight < y->weight;
}

static void keep_popular(struct fgd *f)
{
    uint64_t all = 0;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < f->type_count; i++)
        all += f->types[i].weight;
    if (f->type_count > 0)
        sort_stable(f->types, f->type_count, sizeof *f->types, by_weight, NULL);
    f->weight = 0;
    while (kept < f->type_count && f->weight * 100 < all * KEPT_PCT)
        f->weight += f->types[kept++].weight;
    /* All that are as popular as the last: which of them is kept would be an accident of the order
     * in which they were told, and that alone moves openb's gpuspec25 by 0.3 points. */
    while (kept > 0 && kept < f->type_count && f->types[kept].weight == f->types[kept - 1].weight)
        f->weight += f->types[kept++].weight;
    f->type_count = kept;
}

static void set_types(struct fgd *f, const struct core *core)
{
    f->type_count = 0;
    if (f->mix_count > 0)
        types_of_mix(f, core);
    else
        for (uint32_t i = 0; i < f->recent.cap; i++)
            if (f->recent.count[i] >> COUNT_SHIFT > 0)
                add_type(f, core, i, f->recent.count[i] >> COUNT_SHIFT);
    keep_popular(f);
}

/* ---- types on classes ---- */

static int by_mgpu(const void *a, const void *b, void *arg)
{
    const struct fgd_row *x = a, *y = b;

    (void)arg;
    return x->mgpu < y->mgpu ? -1 : x->mgpu > y->mgpu;
}

static void set_class(struct fgd *f, const struct core *core, uint32_t class_id)
{
    struct fgd_class *c = &f->classes[class_id];

    c->first = f->row_count;
    c->unusable = 0;
    for (uint32_t i = 0; i < f->type_count; i++) {
        const struct shape *shape = core_shape(core, f->types[i].shape);
        struct need need;
        struct fgd_row row;

        if (shape->gpus == 0 || !core_shape_fits_class(core, f->types[i].shape, class_id) ||
            !need_on(shape, core_class(core, class_id), &need)) {
            c->unusable += f->types[i].weight;
            continue;
        }
        row = (struct fgd_row){shape->cpu_mcpu, f->types[i].weight, need.mgpu, shape->gpus};
        vec_push(f->rows, f->row_count, f->row_cap, row);
    }
    c->count = f->row_count - c->first;
    if (c->count > 0)
        sort_stable(f->rows + c->first, c->count, sizeof *f->rows, by_mgpu, NULL);
}

static void set_classes(struct fgd *f, const struct core *core, uint32_t count)
{
    f->row_count = 0;
    f->class_count = count;
    vec_reserve(f->classes, f->class_cap, f->class_count);
    for (uint32_t c = 0; c < f->class_count; c++)
        set_class(f, core, c);
}

static bool fgd_refresh(void *state, const struct core *core)
{
    struct fgd *f = state;
    const bool learn = f->mix_count == 0 && recent_is_due(&f->recent);

    if (!learn && core_class_count(core) == f->class_count)
        return false;
    if (learn)
        recent_fade(&f->recent, core_running_count(core), SETTLED_PERIOD);
    set_types(f, core);
    set_classes(f, core, core_class_count(core));
    return true;
}

/* ---- fragments ---- */

/* What is free on a node: GPUs ascending, their sum, and CPU. */
struct fgd_free {
    uint32_t mgpu[NODE_GPUS_MAX];
    uint32_t count, sum;
    int64_t cpu_mcpu;
};

/* Weight times mGPU that the types cannot use. Both GPUs and rows ascend, so one pass finds for
 * each row the GPUs that are too small for it. */
static uint64_t fragment(const struct fgd *f, const struct fgd_class *c,
                         const struct fgd_free *free)
{
    uint64_t fragment = c->unusable * free->sum;
    uint32_t small = 0, small_sum = 0;

    for (uint32_t i = c->first; i < c->first + c->count; i++) {
        const struct fgd_row *row = &f->rows[i];

        while (small < free->count && free->mgpu[small] < row->mgpu)
            small_sum += free->mgpu[small++];
        if (free->cpu_mcpu < row->cpu_mcpu || free->count - small < row->gpus)
            fragment += row->weight * free->sum;
        else
            fragment += row->weight * small_sum;
    }
    return fragment;
}

static void free_take(struct fgd_free *free, uint32_t gpu, uint32_t mgpu)
{
    const uint32_t left = free->mgpu[gpu] - mgpu;

    for (; gpu > 0 && free->mgpu[gpu - 1] > left; gpu--)
        free->mgpu[gpu] = free->mgpu[gpu - 1];
    free->mgpu[gpu] = left;
    free->sum -= mgpu;
}

/* 10^6 ln(k / (100 - k)) for k = 51..99; the other half is the same below 0. */
static const int32_t sigmoid_steps[] = {
    40005,   80043,   120144,  160343,  200671,  241162,  281851,  322773,  363965,  405465,
    447312,  489548,  532217,  575364,  619039,  663294,  708185,  753772,  800119,  847298,
    895384,  944462,  994623,  1045969, 1098612, 1152680, 1208311, 1265666, 1324925, 1386294,
    1450010, 1516347, 1585627, 1658228, 1734601, 1815290, 1900959, 1992430, 2090741, 2197225,
    2313635, 2442347, 2586689, 2751535, 2944439, 3178054, 3476099, 3891820, 4595120,
};

static int64_t sigmoid_step(uint32_t k)
{
    return k > 50 ? sigmoid_steps[k - 51] : k < 50 ? -sigmoid_steps[49 - k] : 0;
}

/* floor(100 sigmoid(x)), x in millionths: the largest k with sigmoid_step(k) <= x. */
static int64_t sigmoid_100(int64_t x)
{
    uint32_t low = 0, high = SCORE_MAX;

    while (low < high) {
        const uint32_t k = (low + high + 1) / 2;

        if (x >= sigmoid_step(k))
            low = k;
        else
            high = k - 1;
    }
    return low;
}

static int64_t score_of(const struct fgd *f, uint64_t before, uint64_t after)
{
    const int64_t gain = (int64_t)(before - after) * 1000, weight = (int64_t)f->weight;
    const int64_t floored = gain / weight - (gain % weight < 0);

    return sigmoid_100(floored);
}

/* ---- scores ---- */

static void free_of(const struct state_view *view, struct fgd_free *out)
{
    out->count = view->gpu_count;
    out->sum = view->free_mgpu;
    out->cpu_mcpu = view->cpu_free_mcpu;
    for (uint32_t i = 0; i < view->gpu_count; i++)
        out->mgpu[i] = view->gpu_free_mgpu[i];
}

/* A share of one GPU: each GPU with a different amount left is tried. */
static int64_t score_share(const struct fgd *f, const struct fgd_class *c,
                           const struct state_view *view, const struct request *request,
                           uint32_t *out_slot)
{
    struct fgd_free before, after;
    uint64_t fragment_before;
    int64_t best = -1;

    free_of(view, &before);
    fragment_before = fragment(f, c, &before);
    for (uint32_t i = 0; i < view->gpu_count; i++) {
        int64_t score;

        if (!view_gpu_has(view, i, &request->need) ||
            (i > 0 && view->gpu_free_mgpu[i] == view->gpu_free_mgpu[i - 1] &&
             view_gpu_has(view, i - 1, &request->need)))
            continue;
        after = before;
        after.cpu_mcpu -= request->shape->cpu_mcpu;
        free_take(&after, i, request->need.mgpu);
        score = score_of(f, fragment_before, fragment(f, c, &after));
        if (score > best) {
            best = score;
            *out_slot = i;
        }
    }
    return best;
}

/* Whole GPUs (equal to each other), shares of several (the fullest that fit), or none. */
static int64_t score_rest(const struct fgd *f, const struct fgd_class *c,
                          const struct state_view *view, const struct request *request)
{
    struct fgd_free free;
    uint64_t fragment_before;
    uint32_t taken = 0;

    free_of(view, &free);
    fragment_before = fragment(f, c, &free);
    free.cpu_mcpu -= request->shape->cpu_mcpu;
    for (uint32_t i = 0; i < view->gpu_count && taken < request->shape->gpus; i++)
        if (view_gpu_has(view, i, &request->need)) {
            free_take(&free, i, request->need.mgpu);
            taken++;
        }
    return score_of(f, fragment_before, fragment(f, c, &free));
}

static int64_t fgd_score(const void *state, const struct core *core, const struct state_view *view,
                         const struct request *request, uint32_t *out_slot)
{
    const struct fgd *f = state;

    (void)core;
    if (f->weight == 0 || view->class_id >= f->class_count) {
        if (request->shape->gpus > 0)
            *out_slot = slot_fullest(view, &request->need);
        return 0;
    }
    if (request->shape->gpus == 1 && request->need.mgpu < GPU_MGPU)
        return score_share(f, &f->classes[view->class_id], view, request, out_slot);
    return score_rest(f, &f->classes[view->class_id], view, request);
}

/* ---- the walk ---- */

static void mix_walk(struct fgd *f, uint32_t selectors, struct tape *t)
{
    uint32_t count = f->mix_count, shape_cap = 0, task_cap = 0;

    tape_count(t, &count, "shapes of a mix");
    for (uint32_t i = 0; tape_more(t, i, count); i++) {
        if (tape_loads(t))
            vec_reserve(f->mix_tasks, task_cap, i + 1);
        tape_grow(t, f->mix, f->mix_count, shape_cap);
        shape_walk(&f->mix[i], selectors, t);
        tape_u64(t, &f->mix_tasks[i]);
    }
}

static void types_walk(struct fgd *f, uint32_t shapes, struct tape *t)
{
    uint32_t count = f->type_count;

    tape_max(t, &count, shapes, "popular types");
    for (uint32_t i = 0; tape_more(t, i, count); i++) {
        tape_grow(t, f->types, f->type_count, f->type_cap);
        tape_row(t, &f->types[i].shape, shapes, "shape of a popular type");
        tape_u64(t, &f->types[i].weight);
    }
}

/* Rows follow from types and classes. */
static void fgd_walk(void *state, const struct core *core, struct tape *t)
{
    struct fgd *f = state;
    uint32_t class_count = f->class_count;

    recent_walk(&f->recent, core_shape_count(core), t);
    mix_walk(f, core_selector_count(core), t);
    types_walk(f, core_shape_count(core), t);
    tape_u64(t, &f->weight);
    tape_max(t, &class_count, core_class_count(core), "classes");
    if (tape_loads(t) && f->weight > WEIGHT_MAX)
        tape_fail(t, "popular types: weigh too much");
    if (tape_loads(t) && !t->failed)
        set_classes(f, core, class_count);
}

const struct placement_policy place_fgd = {
    .name = "fgd",
    .summary = "least growth of what popular tasks cannot use (FGD, ATC'23)",
    .state_size = sizeof(struct fgd),
    .tie = TIE_FIRST_NODE,
    .init = fgd_init,
    .done = fgd_done,
    .copy = fgd_copy,
    .walk = fgd_walk,
    .arrived = fgd_arrived,
    .refresh = fgd_refresh,
    .score = fgd_score,
};
