/* SPDX-License-Identifier: Apache-2.0 */
/* reserve.h - reservations: when and where a job that was passed by starts at the latest.
 *
 * The first jobs in turn order that cannot start have one, as many as the configuration says. A
 * reservation is a time and places, such that the job starts then if running jobs end by their
 * bounds (ends.h). Whoever starts meanwhile must leave it room, at every moment of its own run: it
 * ends before, or uses what the reservation does not need, exact for each GPU, CPU and memory.
 *
 * Reservations are looked at again, in turn order, in a step before which something has happened.
 * A job that has one keeps it while running jobs and those before it in turn leave it its places;
 * it starts or moves earlier if that moves nobody else's. A job without takes its place in turn:
 * what was promised to jobs behind it may move. So a start moves later only because of a run that
 * overran its bound (the decision names it), of lost capacity, of a job that goes before it in
 * turn, or of a new configuration.
 *
 * Bounds of queues: what a reservation will hold counts from now on for a job that outlasts its
 * start. A claim (claim.h) holds its room until its job has run. A job that
 * others give way to takes no place of a reservation of a job before it. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "core/decision.h"
#include "core/trial.h"

struct core;
struct tape;

struct reservation {
    uint32_t job;              /* ROW_NONE: it has started, or is over */
    uint32_t layout;           /* of its gang */
    int64_t at_us, until_us;   /* it holds its places from.. to */
    int64_t told_us;           /* what the last decision said; TIME_NONE = nothing */
    int64_t first_us;          /* told: what the first one said, */
    uint64_t late_by;          /* and the last overrun that one named for a later time; JOB_NONE */
    uint64_t for_job;          /* that made it later in this pass; JOB_NONE */
    struct trial_item *places; /* [place_count] slot: index of the task; owned */
    uint32_t place_count;      /* 0: a node of it has gone */
    uint32_t turn;             /* of this pass, in turn order; ROW_NONE = not looked at yet */
    bool changed;              /* to be told */
};

/* Scratch of a pass: a place of a reservation, listed by node; when room may get free; and a job
 * that had its turn, out of its bucket so that the next one there has one. */
struct reserved {
    uint32_t row, place, next;
};

struct ending {
    int64_t at_us;
    uint64_t sequence;
    uint32_t job; /* ROW_NONE: a reservation ends */
};

struct aside {
    uint32_t job, bound;
    enum reason reason, told;
    uint32_t told_bound;
};

struct reserve {
    struct reservation *rows; /* [count] in turn order */
    uint32_t count, cap;
    bool upset; /* something has happened since they were looked at */

    /* scratch of a pass */
    bool open;
    bool again;          /* what a reservation held may have got free for a job before it in turn */
    uint64_t charged;    /* the first overrun that broke a reservation; JOB_NONE */
    uint32_t turns;      /* reservations that were looked at */
    bool beside_all;     /* those that were not looked at yet count too */
    uint32_t own;        /* row that does not count; ROW_NONE */
    struct reserved *on; /* [on_count] */
    uint32_t on_count, on_cap;
    uint32_t *on_node; /* [on_node_cap] first of each node, ROW_NONE */
    uint32_t on_node_cap;
    struct ending *endings; /* [ending_count] */
    uint32_t ending_count, ending_cap;
    struct aside *asides; /* [aside_count] */
    uint32_t aside_count, aside_cap;
};

void reserve_done(struct reserve *r);
void reserve_copy(struct reserve *dst, const struct reserve *src);

/* After jobs and nodes; a loaded reservation is of a job that waits, on nodes that are there. */
void reserve_walk(struct core *core, struct tape *t);

/* Something has happened: the next step looks at reservations again. O(1) */
void reserve_upset(struct core *core);

/* The job starts, or is over. O(reservations) */
void reserve_forget(struct core *core, uint32_t job);

/* The node goes, or becomes another one: reservations there lose their places. O(places) */
void reserve_lose_node(struct core *core, uint32_t node);

/* ---- a pass: while a step fills ---- */

/* True if reservations are to be looked at; then reserve_close() ends it. In between,
 * reserve_again() says whether all have another turn, since something has changed, or reservations
 * have moved or gone; of the latter it is asked RESERVE_AGAIN times at most. */
#define RESERVE_AGAIN 8u
bool reserve_open(struct core *core);
bool reserve_again(struct core *core, bool changed);
void reserve_close(struct core *core, struct decisions *out);

/* Does any reservation count for the job, at its turn? */
bool reserve_binds(struct core *core, uint32_t job);

/* A place for the whole gang now that delays no reservation which counts; taken on trial. False,
 * with nothing taken, if there is none. */
bool reserve_place(struct core *core, uint32_t job, uint32_t *out_layout);

/* Its turn is over and it did not start: it keeps its reservation, or gets one if there are fewer
 * than configured. False if it has none then. */
bool reserve_for(struct core *core, uint32_t job);

/* Jobs that had their turn are out of their buckets until the pass ends. */
void reserve_set_aside(struct core *core, uint32_t job);

/* For a job that others shall give way to: what reservations will hold is shown as held, in nodes
 * and queues, until reserve_hide(). O(reservations * places) */
void reserve_show(struct core *core, uint32_t job);
void reserve_hide(struct core *core);

/* ---- after it: running jobs that grow ---- */

/* True if there are reservations; then reserve_look_done() ends it. O(nodes + places) */
bool reserve_look(struct core *core);
void reserve_look_done(struct core *core);

/* In between: what reservations will hold while this job runs is shown as held, in nodes and
 * queues, until the second. O(reservations * places) */
void reserve_show_beside(struct core *core, uint32_t running);
void reserve_hide_beside(struct core *core, uint32_t running);

/* ---- beside the loop, between steps ---- */

/* Of a waiting job that would have room now if nobody had a reservation: a row such that it has
 * room beside those before that one in turn order, and none with it. ROW_NONE if it has room beside
 * all of them, or none even without. O(log reservations) placements; the books are as before
 * afterwards. */
uint32_t reserve_in_the_way(struct core *core, uint32_t job);

/* Does this reservation count now? */
bool reservation_counts(const struct core *core, uint32_t row);

/* For rules.c: 0, or -EINVAL. */
struct err;
int reserve_check(const struct core *core, struct err *err);
