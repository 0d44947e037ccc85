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

static bool judge(struct core *core, uint32_t shape_id, uint32_t state, struct candidate *out)
{
    const struct state *s = &core->index.rows[state];
    struct state_view view;
    struct request request;

    if (!fit_now(core, shape_id, state, &request.need))
        return false;
    request.shape = &core->shapes.shapes[shape_id];
    request.shape_id = shape_id;
    index_view(&core->index, &core->nodes, state, &view);
    out->slot = 0;
    out->score = core->placement->score(core->placement_state, core, &view, &request, &out->slot);
    out->order = core->nodes.rows[s->first_node].order;
    out->state = state;
    out->version = s->version;
    return true;
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

static void judge_all(struct core *core, uint32_t shape_id, struct shortlist *list)
{
    const uint32_t keep = kept_count(core);
    struct candidate c;

    list->count = 0;
    list->marked = false;
    list->read = core->index.changes;
    list->epoch = core->score_epoch;
    for (uint32_t state = 0; state < core->index.count; state++) {
        if (core->index.rows[state].node_count == 0 || !judge(core, shape_id, state, &c))
            continue;
        if (list->count < keep) {
            vec_push(list->heap, list->count, list->cap, c);
            sift_up(list->heap, list->count - 1, worse);
            continue;
        }
        list->marked = true; /* the mark is set below: the worst that was kept */
        if (!better(&c, &list->heap[0]))
            continue;
        list->heap[0] = c;
        sift_down(list->heap, list->count, 0, worse);
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

    for (; list->read < x->changes; list->read++) {
        const struct change *change = &x->ring[list->read & (x->ring_count - 1)];
        struct candidate c;

        if (x->rows[change->state].version != change->version ||
            !judge(core, shape_id, change->state, &c))
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

    return list->epoch != core->score_epoch || unread > core->index.ring_count ||
           unread > core->index.live;
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
