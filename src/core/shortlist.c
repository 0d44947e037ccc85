/* SPDX-License-Identifier: Apache-2.0 */
/* shortlist.c - the best node states of each shape, kept up to date by reading changes. */
#include "core/shortlist.h"

#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "core/fit.h"
#include "core/impl.h"

void shortlist_done(struct shortlist *list)
{
    mem_free(list->heap);
    memset(list, 0, sizeof *list);
}

void shortlist_copy(struct shortlist *dst, const struct shortlist *src)
{
    *dst = *src;
    dst->heap = mem_copy(src->heap, src->count, sizeof *src->heap);
    dst->cap = src->count;
}

static bool better(const struct candidate *a, const struct candidate *b)
{
    return a->score != b->score ? a->score > b->score : a->order < b->order;
}

static bool worse(const struct candidate *a, const struct candidate *b)
{
    return better(b, a);
}

/* ---- a binary heap whose top is the one that `above` prefers to all others ---- */

typedef bool (*above_f)(const struct candidate *, const struct candidate *);

static void sift_up(struct candidate *heap, uint32_t at, above_f above)
{
    const struct candidate item = heap[at];

    while (at > 0 && above(&item, &heap[(at - 1) / 2])) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = item;
}

static void sift_down(struct candidate *heap, uint32_t count, uint32_t at, above_f above)
{
    const struct candidate item = heap[at];

    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && above(&heap[child + 1], &heap[child]))
            child++;
        if (!above(&heap[child], &item))
            break;
        heap[at] = heap[child];
    }
    heap[at] = item;
}

static void heapify(struct candidate *heap, uint32_t count, above_f above)
{
    for (uint32_t i = count / 2; i-- > 0;)
        sift_down(heap, count, i, above);
}

/* ---- judging ---- */

/* One question, with what is looked up once for all states. */
struct question {
    struct core *core;
    struct request request; /* need is filled for each state */
    struct shape shape;
    struct filter least;    /* of what it asks for */
    const struct fit *fits; /* by class */
    bool whole;
};

/* Where compute is given out more than once, a part is less than was asked for. */
static uint32_t least_mgpu(const struct core *core, const struct shape *shape)
{
    const uint32_t factor = core->nodes.factor_most;

    if (factor <= 1000 || shape->gpu_mgpu == GPU_MGPU)
        return shape->gpu_mgpu;
    return (shape->gpu_mgpu * 1000 + factor - 1) / factor;
}

static void question_init(struct question *q, struct core *core, uint32_t shape_id)
{
    q->core = core;
    q->shape = core->shapes.shapes[shape_id];
    q->fits = fits_row(&core->fits, &core->shapes, &core->nodes, shape_id);
    q->whole = q->shape.gpu_mgpu == GPU_MGPU;
    q->least = (struct filter){
        .cpu_free = filter_cpu(q->shape.cpu_mcpu),
        .memory_free = filter_memory(q->shape.memory_bytes),
        .largest_mgpu = (uint16_t)least_mgpu(core, &q->shape),
        .whole_free = (uint16_t)(q->whole ? q->shape.gpus : 0),
    };
    q->request = (struct request){.shape = &core->shapes.shapes[shape_id], .shape_id = shape_id};
}

static inline bool passes(const struct filter *least, const struct filter *f)
{
    return f->live && f->whole_free >= least->whole_free &&
           f->largest_mgpu >= least->largest_mgpu && f->cpu_free >= least->cpu_free &&
           f->memory_free >= least->memory_free;
}

static inline bool may_fit(const struct question *q, const struct change *c)
{
    if (q->shape.exclusive && !state_is_empty(&q->core->nodes.classes[c->class_id], c->whole_free,
                                              c->cpu_free_mcpu, c->memory_free_bytes))
        return false;
    return c->cpu_free_mcpu >= q->shape.cpu_mcpu && c->memory_free_bytes >= q->shape.memory_bytes &&
           c->largest_mgpu >= q->least.largest_mgpu &&
           (!q->whole || c->whole_free >= q->shape.gpus);
}

/* What the record of a state says is enough where the policy looks at totals only, and room for
 * whole GPUs, for one share without bytes, or for no GPU is told by the totals as well. */
static bool judge_totals(struct question *q, const struct change *c, struct candidate *out)
{
    const struct node_class *class = &q->core->nodes.classes[c->class_id];
    const struct state_view view = {
        .class = class,
        .class_id = c->class_id,
        .gpu_count = class->gpu_count,
        .whole_free = c->whole_free,
        .free_mgpu = c->free_mgpu,
        .cpu_free_mcpu = c->cpu_free_mcpu,
        .memory_free_bytes = c->memory_free_bytes,
    };

    out->slot = SLOT_FULLEST;
    out->score = q->core->placement->score(q->core->placement_state, q->core, &view, &q->request,
                                           &out->slot);
    return true;
}

static bool judge_gpus(struct question *q, const struct change *c, struct candidate *out)
{
    struct core *core = q->core;
    struct state_view view;

    if (!q->whole && !fit_shares(core, c->state, &q->shape, &q->request.need))
        return false;
    index_view(&core->index, &core->nodes, c->state, &view);
    out->slot = SLOT_FULLEST;
    out->score =
        core->placement->score(core->placement_state, core, &view, &q->request, &out->slot);
    return true;
}

static bool judge(struct question *q, const struct change *c, struct candidate *out)
{
    const struct fit *fit = &q->fits[c->class_id];

    if (!fit->ever)
        return false;
    q->request.need = fit->need;
    out->order = c->order;
    out->state = c->state;
    out->version = c->version;
    if (q->core->placement->totals_only &&
        (q->whole || q->shape.gpus == 0 ||
         (q->shape.gpus == 1 && fit->need.memory_bytes == 0 && fit->need.company == COMPANY_TURNS &&
          !q->core->index.rows[c->state].companies)))
        return c->largest_mgpu >= fit->need.mgpu && judge_totals(q, c, out);
    return judge_gpus(q, c, out);
}

static uint32_t kept_count(const struct core *core)
{
    const uint32_t part = core->index.live / SHORTLIST_PART;

    return part > SHORTLIST_MIN ? part : SHORTLIST_MIN;
}

/* Keep the best `keep` of the list; the best of what goes becomes the mark. */
static void trim(struct shortlist *list, uint32_t keep)
{
    heapify(list->heap, list->count, worse);
    while (list->count > keep) {
        list->mark = list->heap[0];
        list->heap[0] = list->heap[--list->count];
        sift_down(list->heap, list->count, 0, worse);
        list->marked = true;
    }
    heapify(list->heap, list->count, better);
}

/* Among the best so far? list is a heap with its worst on top. */
static void keep_best(struct shortlist *list, uint32_t keep, const struct candidate *c)
{
    if (list->count < keep) {
        vec_push(list->heap, list->count, list->cap, *c);
        sift_up(list->heap, list->count - 1, worse);
        return;
    }
    list->marked = true; /* judge_all sets the mark: the worst that was kept */
    if (!better(c, &list->heap[0]))
        return;
    list->heap[0] = *c;
    sift_down(list->heap, list->count, 0, worse);
}

static void judge_all(struct core *core, uint32_t shape_id, struct shortlist *list)
{
    const uint32_t keep = kept_count(core);
    struct question q;

    question_init(&q, core, shape_id);
    list->count = 0;
    list->marked = false;
    list->read = core->index.changes;
    list->epoch = core->score_epoch;
    for (uint32_t state = 0; state < core->index.count; state++) {
        struct change now;
        struct candidate c;

        if (core->index.rows[state].node_count == 0)
            continue;
        index_describe(&core->index, state, &now);
        if (may_fit(&q, &now) && judge(&q, &now, &c))
            keep_best(list, keep, &c);
    }
    if (list->marked)
        list->mark = list->heap[0];
    heapify(list->heap, list->count, better);
}

static bool is_true(const struct core *core, const struct candidate *c)
{
    return core->index.rows[c->state].version == c->version;
}

/* Stale candidates have piled up: drop them, and the worst if it is still too long. */
static void tidy(const struct core *core, struct shortlist *list)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < list->count; i++)
        if (is_true(core, &list->heap[i]))
            list->heap[kept++] = list->heap[i];
    list->count = kept;
    trim(list, 2 * kept_count(core));
}

static void read_changes(struct core *core, uint32_t shape_id, struct shortlist *list)
{
    const struct index *x = &core->index;
    struct question q;

    if (list->read == x->changes)
        return;
    question_init(&q, core, shape_id);
    for (; list->read < x->changes; list->read++) {
        const uint64_t at = list->read & (x->ring_count - 1);
        struct candidate c;

        if (!passes(&q.least, &x->filters[at]) || !may_fit(&q, &x->ring[at]) ||
            !judge(&q, &x->ring[at], &c))
            continue;
        if (list->marked && worse(&c, &list->mark))
            continue;
        vec_push(list->heap, list->count, list->cap, c);
        sift_up(list->heap, list->count - 1, better);
    }
    if (list->count > 4 * kept_count(core))
        tidy(core, list);
}

static bool is_behind(const struct core *core, const struct shortlist *list)
{
    const uint64_t unread = core->index.changes - list->read;

    return list->epoch != core->score_epoch || unread > core->index.ring_count;
}

static bool take_top(const struct core *core, struct shortlist *list, struct candidate *out)
{
    while (list->count > 0) {
        if (is_true(core, &list->heap[0])) {
            *out = list->heap[0];
            return true;
        }
        list->heap[0] = list->heap[--list->count];
        if (list->count > 0)
            sift_down(list->heap, list->count, 0, better);
    }
    return false;
}

bool shortlist_best(struct core *core, uint32_t shape_id, struct candidate *out)
{
    struct shortlist *list = &core->shortlists[shape_id];

    if (is_behind(core, list))
        judge_all(core, shape_id, list);
    else
        read_changes(core, shape_id, list);
    if (take_top(core, list, out))
        return true;
    if (!list->marked)
        return false;
    judge_all(core, shape_id, list);
    return take_top(core, list, out);
}
