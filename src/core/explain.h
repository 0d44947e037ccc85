/* SPDX-License-Identifier: Apache-2.0 */
/* explain.h - why a job waits, where it stands, and what would start it.
 *
 * For a job that waits for room or for a bound: of its first layout (the one it wants most), the
 * group of tasks that is hardest to place. When it is expected to start is forward.h's to say. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "core/event.h"
#include "core/never.h"
#include "core/obstacles.h"
#include "core/position.h"
#include "core/queues.h"
#include "core/remedy.h"
#include "core/together.h"

struct core;
struct err;

#define EXPLAIN_OTHERS_MAX 8u /* jobs that are named */

/* A bound of a queue; amounts are of refusal.resource. */
struct explain_bound {
    struct refusal refusal; /* bound BOUND_NONE: none, or one that only shows on a node */
    int64_t limit;          /* LEND: what there is for others than who keeps it back */
    int64_t held, asked;
    int64_t asked_bytes; /* it asks for bytes of GPUs, of which `asked` is the least part; else 0 */
};

/* What is known beside the core; NULL = as zeroed. */
struct explain_terms {
    bool class_fixed; /* who submits it cannot say its class, so another one is no change to try */
};

struct explanation {
    uint64_t job_id;
    uint32_t job; /* row */
    int64_t now_us;
    struct explain_terms terms;
    enum job_state state; /* PENDING, or nothing else is known */
    bool starts;          /* it does not wait: the next step starts it */
    bool rejected;        /* the next step rejects it, for `reason` */
    enum reason reason;
    struct never never; /* rejected for REASON_NEVER: what no node has */

    /* in line, and it lacks room or is held back by a bound */
    uint32_t group, groups; /* which of its groups the obstacles are about, and how many it has */
    uint32_t tasks,
        tasks_fit; /* of the whole gang; how many of them fit now, one after the other */
    struct obstacles obstacles;
    struct together_lack lack; /* level LEVEL_NONE: it asks for none, or lacks none */
    struct explain_bound bound;
    uint32_t bound_queue; /* row of the queue that holds it back, QUEUE_NONE */

    /* jobs that it waits for: to end (AFTER), to leave (VICTIMS), to make room (ARRAY) */
    uint64_t others[EXPLAIN_OTHERS_MAX]; /* [named] */
    uint32_t other_count, named;
    enum after_end other_end[EXPLAIN_OTHERS_MAX]; /* AFTER */
    uint32_t array_limit;                         /* ARRAY */
    int64_t killed_us; /* VICTIMS: when the last of them is killed at the latest */

    /* it lacks room, and would have it if these services, from which it may take, did not keep
     * their least number of tasks */
    uint64_t services[EXPLAIN_OTHERS_MAX]; /* [services_named] */
    uint32_t service_count, services_named;
    uint32_t service_tasks_min; /* of the first of them */

    /* the same of jobs that may not be stopped yet (min-run) */
    uint64_t young[EXPLAIN_OTHERS_MAX];   /* [young_named] */
    int64_t until_us[EXPLAIN_OTHERS_MAX]; /* [young_named] when each has run for so long */
    uint32_t young_count, young_named;

    /* it has a reservation */
    int64_t reserved_us;       /* for this time; TIME_NONE = it has none */
    int64_t reserved_first_us; /* that it was told first, sooner if it has become later since */
    uint64_t reserved_late_by; /* the last overrun that made it later; JOB_NONE = none is known */

    /* RESERVED: it fits now, and is taken to run until run_until_us, into the reservation of */
    uint64_t ahead_job;   /* another job, JOB_NONE if none alone can be named, */
    int64_t ahead_us;     /* that is for then */
    int64_t run_until_us; /* TIME_NONE: it may run for ever */

    uint32_t yields;        /* it gave way so often in a row, and makes nobody give way by its */
    int64_t takes_after_us; /* class or order until then (rights.h); 0 = it may */

    struct position position;
    struct remedy remedy; /* the nearest single one */
    uint32_t tries;       /* candidates that were tried for that */
};

/* 0, or -ENOENT: no such job. The core is only read. Cost: see above each header; in all at most
 * NEAREST_TRIES_MAX + 1 clones and steps, and O(nodes * GPUs + jobs log jobs). */
int explain(const struct core *core, uint64_t job_id, const struct explain_terms *terms,
            struct explanation *out, struct err *err);
void explanation_done(struct explanation *e);
