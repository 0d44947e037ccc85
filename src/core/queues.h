/* SPDX-License-Identifier: Apache-2.0 */
/* queues.h - the tree of queues: what each may hold, holds, and is asked for.
 *
 * Row 0 is the root: everything. Jobs stand in leaves. Amounts are vectors over enum resource; a
 * resource that a limit does not name is unbounded (AMOUNT_NONE), one that a guarantee does not
 * name is not guaranteed (0). What a job counts as is worked out once, when it is submitted, from
 * its first layout, so that queues add up exactly however it is placed.
 *
 *   used      held by running and releasing jobs
 *   leaving   of that, by jobs that were told to give way
 *   claimed   kept for jobs that wait for others to leave
 *   asked     by waiting jobs that could start (not held, not waiting for other jobs)
 *
 * future = used - leaving + claimed is what shares are compared by: what is decided already. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "core/event.h"

struct digest;

#define QUEUE_ROOT     0u
#define ROW_QUEUE_NONE UINT32_MAX

struct amounts {
    int64_t of[RES_COUNT];
};

struct queue {
    uint32_t name;   /* name id; of "" for the root */
    uint32_t parent; /* ROW_QUEUE_NONE for the root */
    uint32_t depth;  /* 0 for the root */
    uint32_t child_count;
    uint32_t orderer; /* which of core.orders its jobs stand in; unless it is fair */
    bool fair;        /* its children, or a leaf's users, go by share */
    uint32_t weight;
    struct amounts guarantee, limit, borrow, lend, user_limit;
    uint32_t user_jobs;
    uint32_t user_first, user_count; /* rows of queues.users: who may submit */

    struct amounts used, leaving, claimed, asked;
    uint32_t jobs; /* unfinished, in it or below */

    /* Of the present step. */
    struct amounts deserved; /* share.h */
};

struct queues {
    struct queue *rows; /* [count] parents before their children */
    uint32_t count, cap;
    struct map by_name; /* name id -> row */
    uint32_t *users;    /* [user_count] name ids, by queue ascending */
    uint32_t user_count, user_cap;
    uint32_t default_queue; /* row, ROW_QUEUE_NONE = a job must name one */
    bool configured;        /* otherwise every job stands in the root */
};
