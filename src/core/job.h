/* SPDX-License-Identifier: Apache-2.0 */
/* job.h - jobs, their tasks, and the states that both go through.
 *
 *   PENDING -> STARTING -> RUNNING -> (gone: finished, failed, limited, cancelled)
 *      ^          |           |
 *      +----------+--- STOPPING   (preempted, or to try again: back to PENDING; else gone)
 *
 * STARTING is in flight: a start decision is out and its GPUs are used. STOPPING is releasing:
 * told to stop, still holding. Both end by events of the place where the job runs.
 *
 * A task holds GPUs from the start decision until it has left. Tasks of an elastic job or a service
 * come and go while the job runs: those that hold nothing and may be started (again) are absent. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "core/limits.h"
#include "core/qos.h"
#include "core/standing.h"

#define ROW_NONE          UINT32_MAX
#define TIME_NONE         INT64_MAX
#define REMAINING_UNKNOWN (-1)
#define JOB_NONE          UINT64_MAX /* no job has this id */

enum job_state {
    JOB_FREE, /* the row is not in use */
    JOB_PENDING,
    JOB_STARTING,
    JOB_RUNNING,
    JOB_STOPPING,
    JOB_FINISHED, /* seen only by finished() of an order, as are the next three */
    JOB_FAILED,
    JOB_LIMITED, /* it ran for its time limit */
    JOB_CANCELLED,
};

enum reason {
    REASON_NONE,     /* not waiting */
    REASON_NEW,      /* submitted after the last step */
    REASON_NEVER,    /* the nodes of this cluster could not hold it, even if they were empty */
    REASON_ROOM,     /* no node it may use has room for a task of it now (GPUs, CPUs
                      * or memory are short) */
    REASON_GANG,     /* some tasks would fit, but not all of them together */
    REASON_ORDER,    /* an earlier job holds back all behind it */
    REASON_VICTIMS,  /* waits for preempted jobs to leave */
    REASON_QUOTA,    /* a queue is at its limit */
    REASON_BORROW,   /* a queue has borrowed as much as it may */
    REASON_LEND,     /* a queue keeps back what it does not lend */
    REASON_USER,     /* its user is at the limit for a user of the queue */
    REASON_CLASS,    /* its user is at the limit for a user of the class */
    REASON_RESERVED, /* it fits now, and would delay a job that has a reservation */
    REASON_LEVEL,    /* no domain of the level that it must share has room for it */
    REASON_SLOWDOWN, /* it would run slower there than it accepts */
    /* why a job is not even queued */
    REASON_HELD,  /* by its user */
    REASON_AFTER, /* waits for other jobs to end */
    REASON_ARRAY, /* as many jobs of its array as may run are queued or run */
    /* why a job is rejected */
    REASON_IN_VAIN, /* a job that it waited for has ended otherwise */
    /* why a job was told to stop */
    REASON_GIVES_WAY, /* a job that goes before it needs the room */
    REASON_CANCELLED,
    REASON_FAILED, /* a task of it ended badly */
    REASON_LOST,   /* a task of it was lost */
    REASON_LIMIT,  /* it ran for its time limit */
    REASON_SPLIT,  /* a job that waits for a GPU to be split anew */
    REASON_COUNT,
};

const char *reason_text(enum reason reason);

/* The same of a job that is rejected for it: what will never change by waiting. */
const char *reason_reject_text(enum reason reason);
const char *job_state_text(enum job_state state);

/* Nodes have too little room now. Then it may be that they never have enough: place_never(). */
static inline bool reason_is_of_room(enum reason reason)
{
    return reason == REASON_ROOM || reason == REASON_GANG || reason == REASON_LEVEL;
}

struct job {
    uint64_t id;       /* the user's, never reused */
    uint64_t sequence; /* order of submission, kept when it waits again */
    enum job_state state;
    uint32_t gang;              /* what it asks for */
    uint32_t layout;            /* which of the gang's layouts it runs in; 0 while pending */
    uint32_t queue, user, name; /* name ids */
    struct standing at;         /* where it stands in the queues */
    uint32_t class_id;          /* priority class */
    uint32_t bucket;            /* of pending, while it is queued */
    uint32_t task_count;        /* of that layout */
    uint32_t task_first;        /* row of its first task; ROW_NONE while pending without a claim */
    uint32_t tasks_started, tasks_left; /* settled by events since the last start */
    uint32_t tasks_absent;              /* of those that have left: may be started again */
    uint32_t tasks_shrinking;           /* told to stop while the job goes on, and not left */
    bool service;                       /* it never ends by itself */
    bool cancelled;                     /* when it has stopped, it is gone */
    bool failed;                        /* a task ended badly */
    bool lost;                          /* a task was lost: it must start again */
    bool preempted;                     /* it was told to stop, and waits again when it has left */
    bool moving;     /* it was stopped to start elsewhere: compared as if it ran on */
    bool unsettled;  /* the next step must look at it */
    bool queued;     /* PENDING, and nothing but room keeps it from starting: gate.h */
    bool held;       /* by its user */
    bool in_vain;    /* a job that it waits for has ended otherwise: it can never start */
    bool let_in;     /* of its array's jobs, one that may be queued and run */
    bool lined_up;   /* in its array's list of those that are kept out */
    bool fixed;      /* it never gives way */
    bool attended;   /* STOPPING: it should be long gone, and that was said */
    bool overran;    /* this run was still there when it should have been gone: ends.h */
    bool elsewhere;  /* a task of this run was reported from another node than decided */
    bool mark_ahead; /* it said once that it had saved work of a time that had not come yet */
    uint32_t array, array_prev, array_next; /* gate.h; ROW_NONE */
    uint32_t after_left;                    /* jobs that it waits for */
    enum reason told;                       /* what its own note said, while it is not queued */
    uint32_t reservation;                   /* row of core.reserve; ROW_NONE */
    uint32_t victims;  /* jobs that were told to stop for it and have not left */
    uint64_t claimant; /* id of the job that this one was told to stop for, JOB_NONE */
    struct qos qos;    /* of what its tasks share of GPUs */
    int64_t submit_us;
    int64_t deadline_us;   /* when it should have ended; TIME_NONE = none */
    int64_t start_us;      /* of this run; TIME_NONE unless RUNNING or STOPPING */
    int64_t stop_us;       /* when it was told to stop; TIME_NONE unless STOPPING */
    int64_t limit_us;      /* run time of one run at most; 0 = no limit */
    int64_t grace_us;      /* from being told to stop to being killed; -1 = that of its class */
    int64_t min_run_us;    /* of one run, before it gives way; -1 = that of its class */
    int64_t ends_us;       /* when this run is gone at the latest: ends.h; TIME_NONE = not known */
    int64_t bound_us;      /* and that counted from its start */
    int64_t mark_us;       /* what it did up to then is saved; 0 = nothing. Never after now */
    int64_t mark_said_us;  /* the last mark as it was said */
    uint32_t retries_left; /* how often it may yet start again after a task of it failed */
    int64_t attained_us;   /* run time of earlier runs, kept over preemption */
    int64_t remaining_us;  /* what an oracle says is left, or REMAINING_UNKNOWN: when told, and
                            * since then less by the time it ran, see job_remaining_us() */
    int64_t remaining_at_us; /* when that was told */
    uint32_t preemptions;
    uint32_t yields;        /* times in a row that it gave way soon after its start */
    uint32_t took_by;       /* rights by which it made others give way for this run: rights.h */
    uint64_t yielded_to;    /* id of the job to which it did so */
    int64_t takes_after_us; /* until then it takes by no class or order: rights.h; 0 = it may */
    uint32_t run;           /* counts start decisions, those for some of its tasks too */
    int64_t failed_us[SERVICE_FAILURES_MAX - 1]; /* a service: its last failures, the oldest first;
                                                  * TIME_NONE = none */
    enum reason reason;                          /* why it waits, or was told to stop */
    uint32_t active_at;  /* where it is in jobs.active, while it holds GPUs */
    uint32_t growing_at; /* where it is in elastic.growing, ROW_NONE if it is not */
};

/* Run time so far, this run included. */
static inline int64_t job_attained_us(const struct job *job, int64_t now_us)
{
    return job->attained_us + (job->start_us != TIME_NONE ? now_us - job->start_us : 0);
}

/* What is left by what the oracle said; INT64_MAX if it said nothing. */
static inline int64_t job_remaining_us(const struct job *job, int64_t now_us)
{
    int64_t since_us = job->remaining_at_us, left_us;

    if (job->remaining_us == REMAINING_UNKNOWN)
        return INT64_MAX;
    if (job->start_us == TIME_NONE)
        return job->remaining_us;
    since_us = job->start_us > since_us ? job->start_us : since_us;
    left_us = job->remaining_us - (now_us - since_us);
    return left_us > 0 ? left_us : 0;
}

/* Since when it starts or runs, or is told to stop; TIME_NONE of one that waits. */
static inline int64_t job_since_us(const struct job *job)
{
    return job->state == JOB_STOPPING ? job->stop_us : job->start_us;
}

/* Run time that would be lost if it stopped now: since its start or what it saved last. A mark from
 * before this run counts as none. 0 unless RUNNING. */
static inline int64_t job_lost_work_us(const struct job *job, int64_t now_us)
{
    if (job->state != JOB_RUNNING)
        return 0;
    return now_us - (job->mark_us > job->start_us ? job->mark_us : job->start_us);
}

struct task {
    uint32_t job;
    uint32_t node; /* ROW_NONE if it holds nothing */
    uint32_t shape;
    uint32_t run;       /* of the job, when it was started; 0 = never since the job waited. What is
                         * heard of an earlier one is of no account */
    uint64_t gpu_mask;  /* bit i: GPU i of the node; 0 if it holds nothing */
    uint32_t mig_start; /* the first slice of its instance of a split GPU; else 0 */
    bool mig_makes;     /* the instance is being made for it */
    bool started;
    bool left;                /* it holds nothing: it has gone, or was not started yet */
    bool absent;              /* it has left, and may be started again */
    bool shrinking;           /* it was told to stop while the job goes on */
    bool claimed;             /* not running: room kept for a waiting job, see claim.h */
    bool leaving;             /* it was told to stop, alone or with the job */
    int64_t service_start_us; /* of a service: when it started; 0 of others */
    uint32_t missed;          /* listings of its node that did not have it, since one that had */
    int64_t missed_us;        /* when the last of these was heard, 0 = missed is 0 */
    uint32_t node_prev, node_next; /* the node's tasks */
};
