/* SPDX-License-Identifier: Apache-2.0 */
/* decision.h - what the core asks for. Every decision carries its reason.
 *
 * A step fills a list that the caller owns and reuses. Names are pointers into the core's name
 * table: valid as long as the core is. */
#pragma once
#include <stdint.h>

#include "core/amounts.h"
#include "core/job.h"
#include "core/never.h"
#include "core/slowdown.h"

enum decision_type {
    DECISION_START,   /* start these tasks at their places: all of the job's, or more of them */
    DECISION_STOP,    /* tell these tasks to stop: all of the job's, or some of them */
    DECISION_REJECT,  /* no configuration of this cluster could ever run the job: it is gone */
    DECISION_NOTE,    /* why jobs of this request wait, when that changed */
    DECISION_RESERVE, /* the waiting job starts at at_us at the latest, if jobs end as expected;
                       * when that is new, later or earlier, or no more (at_us TIME_NONE) */
    DECISION_ATTEND,  /* tasks of the job should have been killed long ago, but are still there:
                       * their nodes need a person */
};

enum stop_mode {
    STOP_PREEMPT, /* it waits again */
    STOP_CANCEL,  /* it is over: cancelled, or a task of it failed */
    STOP_LIMIT,   /* it is over: it ran for its time limit */
    STOP_SHRINK,  /* only these tasks; the job goes on */
};

struct task_place {
    uint32_t task; /* index in the job */
    uint32_t node; /* row; node_name is its name */
    const char *node_name;
    uint64_t gpu_mask; /* bit i: GPU i of the node */
    /* START: what a driver must set there */
    enum gpu_mode mode;       /* of these GPUs */
    int64_t gpu_memory_bytes; /* of each GPU that it shares, its context included; else 0 */
    int32_t qos[QOS_KNOBS];   /* see qos.h; QOS_UNSET where it does not apply */
};

struct decision {
    enum decision_type type;
    uint64_t job_id;
    uint32_t job;    /* row; ROW_NONE: REJECT */
    uint32_t run;    /* START: of these tasks; counts start decisions of the job, from 1. STOP:
                      * the last one; tasks of earlier ones are meant too */
    uint32_t layout; /* START: index in the job's list of layouts */
    struct slowdown slowdown; /* START: of all its tasks, where they are; slowdown.h */
    enum stop_mode mode;      /* STOP */
    enum reason reason;       /* REJECT, NOTE, STOP: why */
    const char *queue;        /* NOTE, REJECT: whose limit it is, or NULL */
    enum resource resource;   /* REJECT with a queue: what it asks too much of, */
    int64_t asked, limit;     /* how much, and the most that it could ever get */
    struct never never;       /* REJECT, for REASON_NEVER: what no node has, */
    const char *never_name;   /* and the name of that, or NULL */
    uint64_t for_job;     /* STOP: the job that needs the room, JOB_NONE; RESERVE: the running job
                           * that made the start later than it was said, JOB_NONE */
    int64_t grace_us;     /* STOP: until it is to be killed */
    int64_t at_us;        /* RESERVE: when it starts */
    uint32_t place_first; /* START, STOP, RESERVE, ATTEND: rows of decisions.places */
    uint32_t place_count;
};

struct decisions {
    struct decision *items;
    uint32_t count, cap;
    struct task_place *places;
    uint32_t place_count, place_cap;
};

void decisions_init(struct decisions *d);
void decisions_clear(struct decisions *d);
void decisions_done(struct decisions *d);
