/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - which running jobs would have to give way so that a waiting one can start.
 *
 * Nothing is stopped by a plan: tasks are taken off on trial, and written as leaving into the books
 * of their queues, so that rights (rights.h) and bounds (queues.h) are judged as if it was done.
 *
 * Who can leave is a list of leavers: a whole job; or, of one that may run with fewer tasks, each
 * task that is there, of which so many may be taken as the job can spare, or all of them.
 *
 * A plan costs first no class of a higher rank than needed, then the least price. The price of a
 * job is the work lost since its last checkpoint or start, and a restart (RESTART_US), times its
 * GPUs; of a task of a job that goes on, half a restart times its GPUs. Where the order of the
 * waiting job takes, it says itself who is worse, and the price is the GPU compute alone. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "core/rights.h"
#include "core/trial.h"

struct core;
struct task;

#define RESTART_US     (60 * 1000000LL) /* what a job loses by starting again, beside its work */
#define PLAN_EXACT_MAX 10u              /* leavers up to which all sets of them are looked at */

/* A job that may give way. */
struct leaving_job {
    uint32_t job;
    uint32_t first, count; /* its leavers */
    uint32_t spare;        /* so many of them may go, and the job goes on */
    bool whole;            /* or all of them */
    uint32_t taken;        /* of them, now */
    uint32_t rank;         /* of its class */
    uint64_t sequence;
    int64_t price;      /* of all of it */
    int64_t task_price; /* of one of its tasks, while it goes on */
};

struct leaver {
    uint32_t of;   /* row of plan.jobs */
    uint32_t task; /* index in the job; ROW_NONE = all of it */
    bool chosen;   /* taken off */
    enum right by; /* by which it was taken off */
    bool barred;   /* the right over it ended with what was taken before */
};

/* A claim that may be lost to the waiting job. */
struct leaving_claim {
    uint32_t job;  /* whose it is */
    uint32_t rank; /* of its class */
    uint64_t sequence;
    bool taken; /* off, by its class */
};

struct plan {
    struct core *core;
    uint32_t job; /* that is to start */
    enum overshoot overshoot;
    struct leaving_job *jobs; /* [job_count] worst first */
    uint32_t job_count, job_cap;
    struct leaver *leavers; /* [count] in the order of their jobs */
    uint32_t count, cap;
    struct leaving_claim *claims; /* [claim_count] best first */
    uint32_t claim_count, claim_cap;
    uint32_t layout;           /* that fits */
    struct trial_item *places; /* [place_count] where the gang goes */
    uint32_t place_count, place_cap;
};

/* All that it has a right over as things stand. Needs victims_refresh() in the same step.
 * O(running jobs). */
void plan_open(struct plan *p, struct core *core, uint32_t job, enum overshoot overshoot);
void plan_close(struct plan *p); /* what was taken off is for the caller to undo first */

/* Could the task stay where it is, or was to be? If so it is on its node again, in the trial. */
bool plan_can_stay(struct core *core, const struct task *task, uint32_t index);

/* Take a leaver off, if the right over it still holds. O(its tasks) */
bool plan_take(struct plan *p, uint32_t leaver);
/* Its tasks are on their nodes again, in the trial. */
void plan_untake(struct plan *p, uint32_t leaver);
/* It is off after all, by a trial that was undone to when it was. */
void plan_retake(struct plan *p, uint32_t leaver);
/* Put it back where it was, if there is room and the waiting job may still hold what it asks. */
bool plan_put_back(struct plan *p, uint32_t leaver);
/* Once the gang has its places: put back all that could stay nevertheless, best first. */
void plan_put_back_unneeded(struct plan *p);

/* May the waiting job hold what it asks, by the bounds of its queues, once the chosen have left?
 * *out_queue: whose bound it is if not. */
bool plan_admits(const struct plan *p, uint32_t *out_queue);

/* The same for what it will hold at its places: that may be more, tasks or memory of a share. O(its
 * places). */
bool plan_places_admitted(const struct plan *p);

/* Are its queues entitled to what it will hold at its places, where they were to what it asks for
 * at least? Otherwise it would have to give way to those that it takes from. O(chosen * queues), or
 * O(tasks) where it holds what it asks for. */
bool plan_is_entitled(const struct plan *p);

/* Take all claims off that it has a right over by its class, worst first; false if there are none.
 * They cost nothing: nobody runs there yet. O(claims * depth + their tasks) */
bool plan_take_claims(struct plan *p);
/* Once the gang has its places: the claims that could stay are put back, best first. */
void plan_put_back_claims(struct plan *p);
/* The trial is undone to before they were taken: they stay where they are. */
void plan_untake_claims(struct plan *p);
/* The trial is undone; the books forget those that are taken off, which are still to be lost. */
void plan_unbook_claims(const struct plan *p);
/* What is off after all is lost: who had it is in line again. The plan is carried out. */
void plan_drop_claims(struct plan *p);

/* The trial is undone; the books forget the chosen too, which stay chosen. */
void plan_unbook(struct plan *p);

/* Is there room with nobody chosen? If so the places are on trial, and in `places`. */
bool plan_none(struct plan *p);

/* Take a leaver off, and all of its job if that cannot spare it. False, with some perhaps taken, if
 * the job may neither go on nor be stopped whole. */
bool plan_take_of_job(struct plan *p, uint32_t leaver);

/* Take leavers off until plan_admits(): of those below the queue whose bound it is, worst first. */
bool plan_make_way(struct plan *p);

/* Of this layout, whose tasks are to be near each other: domain by domain. As plan_near() beside.
 * O(domains * log(leavers) * (their nodes + their leavers)) */
bool plan_together(struct plan *p, uint32_t layout);

/* It came to nothing: who is taken off stays after all, and the trial is undone to this mark. */
void plan_untake_all(struct plan *p, uint32_t mark);

/* What it costs to take so many of the job's leavers: tasks that it spares, or all of it. */
int64_t leaving_price(const struct leaving_job *job, uint32_t taken);

/* The two ways to choose. On true the chosen are taken off, the places are on trial and in
 * `places`, with their layout; on false the trial and the books are as before. exact  every set of
 * leavers, cheapest first: at most PLAN_EXACT_MAX of them near   node by node, worst job first, and
 * then who is not needed is put back; fewer jobs of a node at no higher price go instead */
bool plan_exact(struct plan *p);
bool plan_near(struct plan *p);
