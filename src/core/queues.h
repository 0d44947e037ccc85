/* SPDX-License-Identifier: Apache-2.0 */
/* queues.h - the tree of queues: what each may hold, holds, and is asked for.
 *
 * Row 0 is the root: everything. Jobs stand in leaves. Where users of a leaf have limits of their
 * own or go by share, each user who ever had a job there is a leaf below it. A user who is limited
 * in a priority class has a row for that which is in no tree: a job counts on the rows above its
 * leaf, and on that one.
 *
 * A resource that a limit does not name has no bound (AMOUNT_NONE).
 *
 *   used      held by running and releasing jobs
 *   leaving   of that, by tasks that were told to stop
 *   claimed   kept for jobs that wait for others to leave
 *   asked     by jobs that wait in the queue, at least
 *
 * used - leaving + claimed is what is decided already: what shares are compared by. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "core/amounts.h"
#include "core/job.h"
#include "core/standing.h"

struct tape;

enum queue_kind {
    QUEUE_CONFIGURED, /* of the configuration, the root too */
    QUEUE_OF_USER,    /* of one user, below a configured leaf */
    QUEUE_OF_CLASS,   /* of one user in one priority class, in no tree */
};

struct queue {
    enum queue_kind kind;
    bool fair;             /* its children go by share; otherwise their jobs by their keys */
    bool by_user;          /* a configured leaf: its jobs stand in rows of their users */
    bool guaranteed;       /* its guarantee names a resource */
    bool child_guaranteed; /* that of some queue right below it does */
    uint32_t name;         /* name id: of the queue, or of the user; of "" for the root */
    uint32_t parent;       /* QUEUE_NONE for the root */
    uint32_t orderer;      /* row of core.orderers: the order of the jobs in it */
    uint32_t children;
    uint32_t weight;
    struct amounts guarantee; /* AMOUNT_NONE: not named */
    struct amounts limit, borrow, lend, user_limit;
    uint32_t user_jobs_max;          /* unfinished jobs of each user; UINT32_MAX = no bound */
    uint32_t user_first, user_count; /* rows of queues.users: who may submit; 0 = everybody */

    struct amounts used, leaving, claimed, asked;
    struct amounts reserved; /* counts for bounds, while it is shown: reserve.h */
    uint32_t jobs;           /* unfinished, in it or below */

    /* The average of what was used, with the half-life of the configuration, at past_us. */
    struct amounts past;
    int64_t past_us;

    /* Worked out at the start of each step: entitle.h. */
    struct amounts entitled;
};

struct queues {
    struct queue *rows; /* [count] parents before their children */
    uint32_t count, cap;
    uint32_t configured; /* rows that are of the configuration; then users' rows */
    struct map by_name;  /* name id -> configured row, without the root */
    struct map by_user;  /* configured row or class, and name id of the user -> row */
    uint32_t *users;     /* [user_count] name ids */
    uint32_t user_count, user_cap;
    uint32_t default_row; /* of jobs that name no queue; QUEUE_NONE = they must name one */
    int64_t half_life_us; /* 0: the past does not count */
    bool books;           /* there is more than one queue for all, or a class that is limited;
                           * otherwise nobody looks at the books, and they are not kept */
    uint64_t changes;     /* of what is used, claimed or asked for; in no digest */
    bool lend_bounded;    /* some queue keeps back a part of its guarantee */
    int64_t *kept;        /* [kept_cap] scratch of queues_admit() */
    uint32_t kept_cap;
};

enum queue_book { BOOK_USED, BOOK_LEAVING, BOOK_CLAIMED, BOOK_ASKED, BOOK_RESERVED };

/* One queue for all, of this name id, whose jobs go by that orderer. */
void queues_init(struct queues *q, uint32_t no_name, uint32_t orderer);
void queues_done(struct queues *q);
void queues_copy(struct queues *dst, const struct queues *src);

/* Rows as configured, users, names and the past. The books are the caller's to fill on a tape that
 * loads. names, orderers: how many there are. */
void queues_walk(struct queues *q, uint32_t names, uint32_t orderers, struct tape *t);

/* Amounts of which each may be AMOUNT_NONE. */
void bounds_walk(struct amounts *a, const char *what, struct tape *t);

/* A configured row, before any user's; its parent is there. */
uint32_t queues_add(struct queues *q, const struct queue *queue);

/* The leaf for jobs of this user in a configured leaf; made if it is new. */
uint32_t queues_leaf(struct queues *q, uint32_t row, uint32_t user);
/* The same without making it: QUEUE_NONE if it would be new. */
uint32_t queues_find_leaf(const struct queues *q, uint32_t row, uint32_t user);

/* The row that bounds the user in a class. */
uint32_t queues_of_class(struct queues *q, uint32_t class_id, uint32_t user,
                         const struct amounts *limit);

/* One more (sign 1) or less (-1) unfinished job. */
void queues_count_job(struct queues *q, const struct standing *at, int sign);

/* Book amounts on all rows where the job stands. O(depth). */
void queues_book(struct queues *q, const struct standing *at, enum queue_book book,
                 const struct amounts *amounts, int sign, int64_t now_us);

/* What is decided that it holds. */
static inline int64_t queue_future(const struct queue *queue, int r)
{
    return queue->used.of[r] - queue->leaving.of[r] + queue->claimed.of[r];
}

/* The average of what was used, up to now. */
int64_t queue_past(const struct queues *q, uint32_t row, int r, int64_t now_us);

/* Which bound keeps a job from holding `more`. */
enum queue_bound { BOUND_NONE, BOUND_LIMIT, BOUND_BORROW, BOUND_LEND, BOUND_USER, BOUND_CLASS };
struct refusal {
    enum queue_bound bound;
    uint32_t queue; /* row whose bound it is */
    enum resource resource;
};

/* The same as a reason to wait, or never to start. */
enum reason queue_bound_reason(enum queue_bound bound);

/* May it hold so much more? now: what leaves still counts; otherwise it counts as gone. capacity:
 * of the whole cluster. O(depth), and O(configured queues) if some queue keeps back what it lends.
 */
enum held { HELD_NOW, HELD_IN_FUTURE };
bool queues_admit(const struct queues *q, const struct standing *at, const struct amounts *more,
                  const struct amounts *capacity, enum held held, struct refusal *out);

/* Could it ever, with nothing else in the cluster? */
bool queues_admit_ever(const struct queues *q, const struct standing *at, const struct amounts *ask,
                       struct refusal *out);

/* What a bound amounts to: the limit, or the guarantee and what may be borrowed beside it. Not of
 * BOUND_LEND, which depends on what others hold. */
int64_t queues_bound_amount(const struct queues *q, const struct refusal *refusal);

/* Is the row this one, or below it? O(depth) */
bool queues_is_below(const struct queues *q, uint32_t row, uint32_t above);

/* The children of their nearest common ancestor that a and b are below of, or are; equal if a is
 * b. O(depth). */
void queues_diverge(const struct queues *q, uint32_t a, uint32_t b, uint32_t *out_a,
                    uint32_t *out_b);

/* May the user, a name id, submit there? */
bool queues_let(const uint32_t *users, uint32_t count, uint32_t user);
