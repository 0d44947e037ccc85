/* SPDX-License-Identifier: Apache-2.0 */
/* queues.c - the tree of queues and its books. */
#include "core/queues.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/tape.h"
#include "base/vec.h"
#include "core/decay.h"
#include "core/jobs.h"

static const struct amounts unbounded = {{AMOUNT_NONE, AMOUNT_NONE, AMOUNT_NONE, AMOUNT_NONE}};

void queues_init(struct queues *q, uint32_t no_name, uint32_t orderer)
{
    const struct queue root = {
        .name = no_name,
        .parent = QUEUE_NONE,
        .orderer = orderer,
        .weight = 1,
        .guarantee = unbounded,
        .limit = unbounded,
        .borrow = unbounded,
        .lend = unbounded,
        .user_limit = unbounded,
        .user_jobs_max = UINT32_MAX,
    };

    memset(q, 0, sizeof *q);
    map_init(&q->by_name);
    map_init(&q->by_user);
    q->default_row = queues_add(q, &root);
}

void queues_done(struct queues *q)
{
    mem_free(q->rows);
    mem_free(q->users);
    mem_free(q->kept);
    map_done(&q->by_name);
    map_done(&q->by_user);
    memset(q, 0, sizeof *q);
}

void queues_copy(struct queues *dst, const struct queues *src)
{
    *dst = *src;
    dst->rows = mem_copy(src->rows, src->count, sizeof *src->rows);
    dst->cap = src->count;
    dst->users = mem_copy(src->users, src->user_count, sizeof *src->users);
    dst->user_cap = src->user_count;
    dst->kept = mem_copy(src->kept, src->kept_cap, sizeof *src->kept);
    map_copy(&dst->by_name, &src->by_name);
    map_copy(&dst->by_user, &src->by_user);
}

/* ---- rows ---- */

static uint32_t row_add(struct queues *q, const struct queue *queue)
{
    vec_reserve(q->rows, q->cap, q->count + 1);
    q->rows[q->count] = *queue;
    if (queue->parent != QUEUE_NONE) {
        q->rows[queue->parent].children++;
        q->rows[queue->parent].child_guaranteed |= queue->guaranteed;
    }
    return q->count++;
}

uint32_t queues_add(struct queues *q, const struct queue *queue)
{
    check(q->count == q->configured && queue->kind == QUEUE_CONFIGURED);
    if (q->count > QUEUE_ROOT)
        map_put(&q->by_name, queue->name, q->count);
    for (int r = 0; r < RES_COUNT; r++)
        q->lend_bounded = q->lend_bounded || queue->lend.of[r] != AMOUNT_NONE;
    q->configured++;
    vec_reserve(q->kept, q->kept_cap, q->configured);
    return row_add(q, queue);
}

static uint64_t user_key(uint32_t row, uint32_t user)
{
    return (uint64_t)row << 32 | user;
}

/* Rows of the tree are fewer than this, so that classes come after them. */
#define CLASS_KEY (1u << 30)

uint32_t queues_find_leaf(const struct queues *q, uint32_t row, uint32_t user)
{
    uint32_t leaf;

    if (!q->rows[row].by_user)
        return row;
    return map_find(&q->by_user, user_key(row, user), &leaf) ? leaf : QUEUE_NONE;
}

uint32_t queues_leaf(struct queues *q, uint32_t row, uint32_t user)
{
    const struct queue of = q->rows[row];
    uint32_t leaf = queues_find_leaf(q, row, user);

    if (leaf != QUEUE_NONE)
        return leaf;
    leaf = row_add(q, &(struct queue){
                          .kind = QUEUE_OF_USER,
                          .name = user,
                          .parent = row,
                          .orderer = of.orderer,
                          .weight = 1,
                          .guarantee = unbounded,
                          .limit = of.user_limit,
                          .borrow = unbounded,
                          .lend = unbounded,
                          .user_limit = unbounded,
                          .user_jobs_max = of.user_jobs_max,
                      });
    map_put(&q->by_user, user_key(row, user), leaf);
    return leaf;
}

uint32_t queues_of_class(struct queues *q, uint32_t class_id, uint32_t user,
                         const struct amounts *limit)
{
    const uint64_t key = user_key(CLASS_KEY + class_id, user);
    uint32_t row;

    if (map_find(&q->by_user, key, &row))
        return row;
    row = row_add(q, &(struct queue){
                         .kind = QUEUE_OF_CLASS,
                         .name = user,
                         .parent = QUEUE_NONE,
                         .orderer = class_id, /* no order: which class it is of */
                         .guarantee = unbounded,
                         .limit = *limit,
                         .borrow = unbounded,
                         .lend = unbounded,
                         .user_limit = unbounded,
                         .user_jobs_max = UINT32_MAX,
                     });
    map_put(&q->by_user, key, row);
    return row;
}

bool queues_let(const uint32_t *users, uint32_t count, uint32_t user)
{
    for (uint32_t i = 0; i < count; i++)
        if (users[i] == user)
            return true;
    return count == 0;
}

/* ---- books ---- */

/* All rows where a job stands: its leaf and those above it, then that of its class. */
#define for_each_row(q, at, row)                                                                   \
    for (uint32_t row = (at)->leaf, last_ = 0; row != QUEUE_NONE;                                  \
         row = (q)->rows[row].parent != QUEUE_NONE ? (q)->rows[row].parent                         \
               : last_++ == 0                      ? (at)->of_class                                \
                                                   : QUEUE_NONE)

void queues_count_job(struct queues *q, const struct standing *at, int sign)
{
    for_each_row(q, at, row) q->rows[row].jobs += (uint32_t)sign;
}

/* The past up to now becomes its average, before what is used changes. */
static void remember(const struct queues *q, struct queue *row, int64_t now_us)
{
    if (q->half_life_us == 0 || now_us <= row->past_us)
        return;
    for (int r = 0; r < RES_COUNT; r++)
        row->past.of[r] =
            decay_toward(row->past.of[r], row->used.of[r], now_us - row->past_us, q->half_life_us);
    row->past_us = now_us;
}

void queues_book(struct queues *q, const struct standing *at, enum queue_book book,
                 const struct amounts *amounts, int sign, int64_t now_us)
{
    if (!q->books)
        return;
    q->changes += book != BOOK_LEAVING && book != BOOK_RESERVED;
    for_each_row(q, at, i)
    {
        struct queue *row = &q->rows[i];
        struct amounts *const books[] = {&row->used, &row->leaving, &row->claimed, &row->asked,
                                         &row->reserved};

        if (book == BOOK_USED)
            remember(q, row, now_us);
        amounts_add(books[book], amounts, sign);
    }
}

int64_t queue_past(const struct queues *q, uint32_t row, int r, int64_t now_us)
{
    const struct queue *queue = &q->rows[row];

    if (q->half_life_us == 0)
        return 0; /* and past is 0 */
    return decay_toward(queue->past.of[r], queue->used.of[r], now_us - queue->past_us,
                        q->half_life_us);
}

/* ---- bounds ---- */

bool queues_is_below(const struct queues *q, uint32_t row, uint32_t above)
{
    for (; row != QUEUE_NONE; row = q->rows[row].parent)
        if (row == above)
            return true;
    return false;
}

static int64_t held_by(const struct queue *row, int r, enum held held)
{
    return row->reserved.of[r] +
           (held == HELD_NOW ? row->used.of[r] + row->claimed.of[r] : queue_future(row, r));
}

static int64_t guarantee_of(const struct queue *row, int r)
{
    return row->guarantee.of[r] != AMOUNT_NONE ? row->guarantee.of[r] : 0;
}

/* What a queue keeps back of its guarantee, while it does not use it itself. What is reserved for
 * its jobs is of that, and not in use. */
static int64_t kept_back(const struct queue *row, int r, enum held held)
{
    int64_t kept;

    if (row->lend.of[r] == AMOUNT_NONE)
        return 0;
    kept = guarantee_of(row, r) - row->lend.of[r] - (held_by(row, r, held) - row->reserved.of[r]);
    return kept > 0 ? kept : 0;
}

static bool refuse(struct refusal *out, enum queue_bound bound, uint32_t queue, int r)
{
    *out = (struct refusal){bound, queue, (enum resource)r};
    return false;
}

/* Room that no queue keeps back, which this leaf is not below of. A queue keeps what it says, or
 * what those below it keep together, whichever is more. */
static bool lenders_allow(const struct queues *q, uint32_t leaf, int r, int64_t more,
                          int64_t capacity, enum held held, struct refusal *out)
{
    uint32_t lender = QUEUE_NONE;

    memset(q->kept, 0, q->configured * sizeof *q->kept);
    for (uint32_t i = q->configured; i-- > 1;) {
        const int64_t own = queues_is_below(q, leaf, i) ? 0 : kept_back(&q->rows[i], r, held);
        const int64_t beside = own - q->rows[i].reserved.of[r]; /* that is held already */

        q->kept[i] = beside > q->kept[i] ? beside : q->kept[i];
        lender = own > 0 ? i : lender;
        q->kept[q->rows[i].parent] += q->kept[i];
    }
    if (lender == QUEUE_NONE ||
        held_by(&q->rows[QUEUE_ROOT], r, held) + more + q->kept[QUEUE_ROOT] <= capacity)
        return true;
    return refuse(out, BOUND_LEND, lender, r);
}

enum reason queue_bound_reason(enum queue_bound bound)
{
    static const enum reason reasons[] = {
        [BOUND_NONE] = REASON_NONE, [BOUND_LIMIT] = REASON_QUOTA, [BOUND_BORROW] = REASON_BORROW,
        [BOUND_LEND] = REASON_LEND, [BOUND_USER] = REASON_USER,   [BOUND_CLASS] = REASON_CLASS,
    };

    return reasons[bound];
}

static const enum queue_bound limit_bound[] = {BOUND_LIMIT, BOUND_USER, BOUND_CLASS};

static bool row_admits(const struct queues *q, uint32_t i, const struct amounts *more,
                       enum held held, bool ever, struct refusal *out)
{
    const struct queue *row = &q->rows[i];

    for (int r = 0; r < RES_COUNT; r++) {
        const int64_t after = more->of[r] + (ever ? 0 : held_by(row, r, held));

        if (more->of[r] == 0)
            continue;
        if (after > row->limit.of[r])
            return refuse(out, limit_bound[row->kind], i, r);
        if (row->borrow.of[r] != AMOUNT_NONE &&
            after > amount_sum(guarantee_of(row, r), row->borrow.of[r]))
            return refuse(out, BOUND_BORROW, i, r);
    }
    return true;
}

bool queues_admit(const struct queues *q, const struct standing *at, const struct amounts *more,
                  const struct amounts *capacity, enum held held, struct refusal *out)
{
    out->bound = BOUND_NONE;
    if (!q->books)
        return true;
    for_each_row(q, at, row) if (!row_admits(q, row, more, held, false, out)) return false;
    for (int r = 0; q->lend_bounded && r < RES_COUNT; r++)
        if (more->of[r] > 0 &&
            !lenders_allow(q, at->leaf, r, more->of[r], capacity->of[r], held, out))
            return false;
    return true;
}

bool queues_admit_ever(const struct queues *q, const struct standing *at, const struct amounts *ask,
                       struct refusal *out)
{
    out->bound = BOUND_NONE;
    for_each_row(q, at, row) if (!row_admits(q, row, ask, HELD_NOW, true, out)) return false;
    return true;
}

int64_t queues_bound_amount(const struct queues *q, const struct refusal *refusal)
{
    const struct queue *row = &q->rows[refusal->queue];
    const enum resource r = refusal->resource;

    if (refusal->bound == BOUND_BORROW)
        return amount_sum(guarantee_of(row, (int)r), row->borrow.of[r]);
    return row->limit.of[r];
}

/* ---- the tree ---- */

static uint32_t depth_of(const struct queues *q, uint32_t row)
{
    uint32_t depth = 0;

    for (; q->rows[row].parent != QUEUE_NONE; row = q->rows[row].parent)
        depth++;
    return depth;
}

void queues_diverge(const struct queues *q, uint32_t a, uint32_t b, uint32_t *out_a,
                    uint32_t *out_b)
{
    uint32_t depth_a = depth_of(q, a), depth_b = depth_of(q, b);

    for (; depth_a > depth_b; depth_a--)
        a = q->rows[a].parent;
    for (; depth_b > depth_a; depth_b--)
        b = q->rows[b].parent;
    while (a != b && q->rows[a].parent != q->rows[b].parent) {
        a = q->rows[a].parent;
        b = q->rows[b].parent;
    }
    *out_a = a;
    *out_b = b;
}

/* ---- the walk ---- */

void bounds_walk(struct amounts *a, const char *what, struct tape *t)
{
    for (int r = 0; r < RES_COUNT; r++) {
        tape_i64_in(t, &a->of[r], 0, AMOUNT_NONE, what);
        if (tape_loads(t) && !t->failed && a->of[r] > AMOUNT_SUM_MAX && a->of[r] != AMOUNT_NONE)
            tape_fail(t, "%s: is more than can be counted", what);
    }
}

static void past_walk(struct amounts *a, struct tape *t)
{
    for (int r = 0; r < RES_COUNT; r++)
        tape_i64_in(t, &a->of[r], 0, AMOUNT_SUM_MAX, "past use of a queue");
}

static void queue_walk(struct queue *row, uint32_t names, uint32_t orderers, struct tape *t)
{
    tape_enum(t, row->kind, QUEUE_OF_CLASS, "kind of a queue");
    tape_bool(t, &row->fair);
    tape_bool(t, &row->by_user);
    tape_row(t, &row->name, names, "name of a queue");
    tape_u32(t, &row->parent);
    tape_row(t, &row->orderer, row->kind == QUEUE_OF_CLASS ? CLASSES_MAX : orderers,
             "order of a queue");
    tape_max(t, &row->weight, QUEUE_WEIGHT_MAX, "weight of a queue");
    bounds_walk(&row->guarantee, "guarantee of a queue", t);
    bounds_walk(&row->limit, "limit of a queue", t);
    bounds_walk(&row->borrow, "borrowing limit of a queue", t);
    bounds_walk(&row->lend, "lending limit of a queue", t);
    bounds_walk(&row->user_limit, "limit of users of a queue", t);
    tape_u32(t, &row->user_jobs_max);
    tape_u32(t, &row->user_first);
    tape_u32(t, &row->user_count);
    past_walk(&row->past, t);
    tape_i64_in(t, &row->past_us, 0, JOB_TIME_MAX, "when that was");
}

/* Maps, counts of children, and what a bound says about the whole. */
static void queue_loaded(struct queues *q, uint32_t row, struct tape *t)
{
    struct queue *queue = &q->rows[row];
    const bool in_tree = queue->kind != QUEUE_OF_CLASS && row > QUEUE_ROOT;
    uint64_t key;

    if (in_tree != (queue->parent != QUEUE_NONE) || (in_tree && queue->parent >= row) ||
        (queue->kind == QUEUE_CONFIGURED) != (row < q->configured) ||
        queue->user_first > q->user_count ||
        queue->user_count > q->user_count - queue->user_first ||
        (queue->kind == QUEUE_OF_USER && !q->rows[queue->parent].by_user)) {
        tape_fail(t, "queue row %u: is out of place", row);
        return;
    }
    for (int r = 0; r < RES_COUNT; r++) {
        q->lend_bounded = q->lend_bounded || queue->lend.of[r] != AMOUNT_NONE;
        queue->guaranteed = queue->guaranteed || queue->guarantee.of[r] != AMOUNT_NONE;
    }
    if (in_tree) {
        q->rows[queue->parent].children++;
        q->rows[queue->parent].child_guaranteed |= queue->guaranteed;
    }
    if (row == QUEUE_ROOT)
        return;
    key = queue->kind == QUEUE_CONFIGURED ? queue->name
          : queue->kind == QUEUE_OF_USER  ? user_key(queue->parent, queue->name)
                                          : user_key(CLASS_KEY + queue->orderer, queue->name);
    if (map_find(queue->kind == QUEUE_CONFIGURED ? &q->by_name : &q->by_user, key, NULL))
        tape_fail(t, "queue row %u: is there twice", row);
    map_put(queue->kind == QUEUE_CONFIGURED ? &q->by_name : &q->by_user, key, row);
}

static void users_walk(struct queues *q, uint32_t names, struct tape *t)
{
    uint32_t count = q->user_count;

    tape_count(t, &count, "users of queues");
    for (uint32_t i = 0; tape_more(t, i, count); i++) {
        tape_grow(t, q->users, q->user_count, q->user_cap);
        tape_row(t, &q->users[i], names, "user of a queue");
    }
}

void queues_walk(struct queues *q, uint32_t names, uint32_t orderers, struct tape *t)
{
    uint32_t count = q->count;

    if (tape_loads(t))
        q->count = 0; /* without the root that queues_init() made */
    users_walk(q, names, t);
    tape_i64_in(t, &q->half_life_us, 0, TIME_US_MAX, "half-life of shares");
    tape_u32(t, &q->configured);
    tape_u32(t, &q->default_row);
    tape_count(t, &count, "queues");
    for (uint32_t i = 0; tape_more(t, i, count); i++) {
        tape_grow(t, q->rows, q->count, q->cap);
        if (tape_loads(t))
            q->rows[i] = (struct queue){0};
        queue_walk(&q->rows[i], names, orderers, t);
        if (tape_loads(t) && !t->failed)
            queue_loaded(q, i, t);
    }
    vec_reserve(q->kept, q->kept_cap, q->configured < count ? q->configured : count);
    if (tape_loads(t) && !t->failed &&
        (count == 0 || q->configured > count || q->configured == 0 ||
         (q->default_row != QUEUE_NONE && q->default_row >= q->configured)))
        tape_fail(t, "queues: the root or the default one is missing");
}
