/* SPDX-License-Identifier: Apache-2.0 */
/* contest.c - whose turn it is. */
#include "core/contest.h"

#include <string.h>

#include "base/mem.h"
#include "core/entitle.h"
#include "core/impl.h"

__extension__ typedef __int128 wide;

static const struct bucket *bucket_at(const struct core *core, uint32_t bucket)
{
    return &core->pending.buckets[bucket];
}

static uint32_t rank_of(const struct core *core, uint32_t bucket)
{
    return core->classes.rows[bucket_at(core, bucket)->ask.class_id].rank;
}

/* ---- inside a leaf ---- */

static bool goes_before(const struct core *core, uint32_t a, uint32_t b)
{
    if (rank_of(core, a) != rank_of(core, b))
        return rank_of(core, a) > rank_of(core, b);
    return waiting_before(&bucket_at(core, a)->heap[0], &bucket_at(core, b)->heap[0]);
}

static void sift_down(struct core *core, const struct contest_row *row, uint32_t at)
{
    uint32_t *heap = &core->contest.buckets[row->first];
    const uint32_t item = heap[at];

    for (uint32_t child; (child = 2 * at + 1) < row->count; at = child) {
        if (child + 1 < row->count && goes_before(core, heap[child + 1], heap[child]))
            child++;
        if (!goes_before(core, heap[child], item))
            break;
        heap[at] = heap[child];
    }
    heap[at] = item;
}

/* ---- between queues ---- */

static const struct amounts *asks_of(const struct core *core, uint32_t bucket)
{
    return &core->shapes.gangs[bucket_at(core, bucket)->ask.gang].asks;
}

/* Smaller share for the weight; who has no weight comes after all who have. 0: equal */
static int compare_shares(const struct core *core, uint32_t a, uint32_t b)
{
    const int64_t weight_a = core->queues.rows[a].weight, weight_b = core->queues.rows[b].weight;
    wide x = core->contest.rows[a].share, y = core->contest.rows[b].share;

    if ((weight_a == 0) != (weight_b == 0))
        return weight_a == 0 ? 1 : -1;
    if (weight_a > 0) {
        x *= weight_b;
        y *= weight_a;
    }
    return x < y ? -1 : x > y;
}

static bool child_before(const struct core *core, bool fair, uint32_t a, uint32_t b)
{
    const uint32_t x = core->contest.rows[a].best, y = core->contest.rows[b].best;
    const struct waiting *first_x = &bucket_at(core, x)->heap[0];
    const struct waiting *first_y = &bucket_at(core, y)->heap[0];
    const bool entitled_x = queue_is_entitled(&core->queues.rows[a], asks_of(core, x));
    const bool entitled_y = queue_is_entitled(&core->queues.rows[b], asks_of(core, y));
    const int shares = fair ? compare_shares(core, a, b) : 0;

    if (entitled_x != entitled_y)
        return entitled_x;
    if (rank_of(core, x) != rank_of(core, y))
        return rank_of(core, x) > rank_of(core, y);
    if (shares != 0)
        return shares < 0;
    if (orderer_of(core, first_x->job) != orderer_of(core, first_y->job))
        return first_x->sequence < first_y->sequence;
    return waiting_before(first_x, first_y);
}

/* The best of its children, or of its own heap. */
static void choose(struct core *core, uint32_t queue)
{
    struct contest_row *row = &core->contest.rows[queue];
    uint32_t best = ROW_NONE;

    row->best = row->count > 0 ? core->contest.buckets[row->first] : ROW_NONE;
    for (uint32_t child = row->child; child != ROW_NONE; child = core->contest.rows[child].next)
        if (core->contest.rows[child].best != ROW_NONE &&
            (best == ROW_NONE || child_before(core, core->queues.rows[queue].fair, child, best)))
            best = child;
    if (best != ROW_NONE)
        row->best = core->contest.rows[best].best;
}

static void weigh(struct core *core, uint32_t queue)
{
    const uint32_t parent = core->queues.rows[queue].parent;

    if (parent != QUEUE_NONE && core->queues.rows[parent].fair)
        core->contest.rows[queue].share = queue_share(core, queue);
}

static void recount(struct core *core, uint32_t leaf)
{
    for (uint32_t queue = leaf; queue != QUEUE_NONE; queue = core->queues.rows[queue].parent) {
        if (core->contest.rows[queue].round != core->contest.round)
            continue; /* nobody waits there */
        weigh(core, queue);
        choose(core, queue);
    }
}

/* ---- opening ---- */

/* The queue takes part, and so do all above it. */
static void enliven(struct core *core, uint32_t queue)
{
    struct contest *c = &core->contest;
    uint32_t below = ROW_NONE;

    for (; queue != QUEUE_NONE; queue = core->queues.rows[queue].parent) {
        const bool known = c->rows[queue].round == c->round;

        if (!known) {
            c->rows[queue] = (struct contest_row){
                .best = ROW_NONE, .child = ROW_NONE, .next = ROW_NONE, .round = c->round};
            vec_push(c->live, c->live_count, c->live_cap, queue);
        }
        if (below != ROW_NONE) {
            c->rows[below].next = c->rows[queue].child;
            c->rows[queue].child = below;
        }
        if (known)
            return;
        below = queue;
    }
}

static void count_in(struct core *core, uint32_t bucket)
{
    struct contest *c = &core->contest;
    const uint32_t leaf = bucket_at(core, bucket)->ask.leaf;

    if (c->rows[leaf].round != c->round)
        enliven(core, leaf);
    c->rows[leaf].count++;
}

static void put_in(struct core *core, uint32_t bucket)
{
    struct contest_row *row = &core->contest.rows[bucket_at(core, bucket)->ask.leaf];

    core->contest.buckets[row->first + row->count++] = bucket;
}

/* Each leaf's heap gets its place among the others. */
static void lay_out(struct core *core)
{
    struct contest *c = &core->contest;
    uint32_t first = 0;

    for (uint32_t i = 0; i < c->live_count; i++) {
        struct contest_row *row = &c->rows[c->live[i]];

        row->first = first;
        first += row->count;
        row->count = 0;
    }
}

/* From the leaves up. */
static void choose_below(struct core *core, uint32_t queue)
{
    const struct contest_row *row = &core->contest.rows[queue];

    for (uint32_t at = row->count / 2; at-- > 0;)
        sift_down(core, row, at);
    for (uint32_t child = row->child; child != ROW_NONE; child = core->contest.rows[child].next)
        choose_below(core, child);
    weigh(core, queue);
    choose(core, queue);
}

void contest_refresh(struct core *core)
{
    choose_below(core, QUEUE_ROOT);
}

void contest_open(struct core *core, bool (*takes_part)(struct core *core, uint32_t bucket))
{
    struct contest *c = &core->contest;
    const struct pending *p = &core->pending;

    c->round++;
    c->live_count = 0;
    vec_reserve(c->rows, c->row_cap, core->queues.count);
    vec_reserve(c->buckets, c->bucket_cap, p->open_count);
    if (c->rows[QUEUE_ROOT].round != c->round)
        enliven(core, QUEUE_ROOT);
    for (uint32_t i = 0; i < p->open_count; i++) {
        p->buckets[p->open[i]].in_contest = takes_part(core, p->open[i]);
        if (p->buckets[p->open[i]].in_contest)
            count_in(core, p->open[i]);
    }
    lay_out(core);
    for (uint32_t i = 0; i < p->open_count; i++)
        if (p->buckets[p->open[i]].in_contest)
            put_in(core, p->open[i]);
    choose_below(core, QUEUE_ROOT);
}

void contest_done(struct contest *contest)
{
    mem_free(contest->buckets);
    mem_free(contest->rows);
    mem_free(contest->live);
    memset(contest, 0, sizeof *contest);
}

/* ---- taking turns ---- */

uint32_t contest_best(const struct core *core)
{
    return core->contest.rows[QUEUE_ROOT].best;
}

void contest_drop(struct core *core, uint32_t bucket)
{
    const uint32_t leaf = bucket_at(core, bucket)->ask.leaf;
    struct contest_row *row = &core->contest.rows[leaf];
    uint32_t *heap = &core->contest.buckets[row->first];

    heap[0] = heap[--row->count]; /* it is the best of its leaf, or the best would be another */
    if (row->count > 0)
        sift_down(core, row, 0);
    recount(core, leaf);
}

void contest_next(struct core *core, uint32_t bucket)
{
    const uint32_t leaf = bucket_at(core, bucket)->ask.leaf;

    if (bucket_at(core, bucket)->count == 0) {
        contest_drop(core, bucket);
        return;
    }
    sift_down(core, &core->contest.rows[leaf], 0);
    recount(core, leaf);
}

void contest_hold_back(struct core *core, uint32_t bucket)
{
    const uint32_t leaf = bucket_at(core, bucket)->ask.leaf;
    struct contest_row *row = &core->contest.rows[leaf];

    for (uint32_t i = 1; i < row->count; i++) {
        struct bucket *behind = &core->pending.buckets[core->contest.buckets[row->first + i]];

        behind->reason = REASON_ORDER;
        behind->bound = QUEUE_NONE;
        behind->refused_at = NOT_REFUSED; /* to find its own reason */
    }
    row->count = 0;
    recount(core, leaf);
}
