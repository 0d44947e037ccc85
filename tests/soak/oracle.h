/* SPDX-License-Identifier: Apache-2.0 */
/* oracle.h - looks on while a world is played and says the first thing that must not be. Each check
 * is a function with a name; a new one goes into the table of its file, or into oracle.c. */
#pragma once
#include "base/rng.h"
#include "sim/world.h"
#include "soak/model.h"

#define SOAK_TEXT_MAX        600
#define SOAK_WORLD_STEPS_MAX 5000u
#define SOAK_AT_ONCE_MAX     1000u

/* What a run did; shared with the process that waits for it. */
struct soak_counts {
    uint64_t steps, events, starts, stops, evictions, refused, not_yet, ends;
    char broken[SOAK_TEXT_MAX]; /* "CHECK: at 12.5s: what", "" = nothing */
};

struct oracle {
    struct model model;
    struct soak_counts *counts;
    const struct world *world;
    bool quiet;        /* this step started and stopped nothing */
    bool claims_there; /* room is kept for somebody after this step */
    bool claims_known; /* and all of it is as it was before the step */
    bool thorough;     /* no lots: everything that is checked now and then is checked always */
    struct rng rng;
    /* before the fact or step that is told next */
    uint64_t digest;
    bool digested;
    enum m_state *states; /* [state_cap] of each job before the step */
    bool *claimed;        /* [claimed_cap] and whether it claimed room */
    uint64_t *claims;     /* [claims_cap] and which, 0 = none */
    uint32_t state_cap, claimed_cap, claims_cap;
    int64_t before_us; /* the last step, */
    uint32_t at_once;  /* and how many there were at that time */
    /* a copy that goes on beside the core for some steps */
    struct core *shadow;
    uint32_t shadow_steps;
    struct decisions shadow_out;
};

/* seed ORACLE_THOROUGH: it is thorough. */
#define ORACLE_THOROUGH UINT64_MAX
void oracle_init(struct oracle *o, uint64_t seed, struct soak_counts *counts);
void oracle_done(struct oracle *o);
struct world_watch oracle_watch(struct oracle *o);

/* Says it, and ends the process with SOAK_EXIT_BROKEN: what follows would only follow from it. */
#define SOAK_EXIT_BROKEN 3
__attribute__((format(printf, 3, 4))) _Noreturn void
broken(const struct oracle *o, const char *check, const char *fmt, ...);

/* The core's row of a node, ROW_NONE if it has none. */
uint32_t oracle_node_row(const struct oracle *o, uint32_t node);
/* Room that is kept for waiting jobs on a node, as the core has it. */
void oracle_claims(const struct oracle *o, uint32_t node, struct m_sum *out);

/* check_books.c: the core and the model hold the same, after each fact and step. */
void check_books(struct oracle *o);
void check_claims(struct oracle *o);

/* check_start.c, check_stop.c: a decision, by how things stand before it. */
void check_start(struct oracle *o, const struct decisions *d, const struct decision *start);
void check_stop(struct oracle *o, const struct decisions *d, const struct decision *stop);
void check_attend(struct oracle *o, const struct decision *attend);
void check_submitted(const struct oracle *o, const struct event *event, int rc);
void check_needed(struct oracle *o, const struct decision *stop);
void check_reject(struct oracle *o, const struct decision *reject);
void check_reserve(struct oracle *o, const struct decision *reserve);

/* check_limits.c: what queues, users and classes may hold, and what the books of queues say. */
void check_limits(struct oracle *o, const struct decisions *d, const struct decision *start);
void check_queues(const struct oracle *o);
const struct queue *oracle_queue(const struct oracle *o, const char *name);

/* check_rights.c: may this job take from that one? */
void check_right(const struct oracle *o, const struct decisions *d, const struct decision *stop);

/* May the class of the job take from that of the other? Rows of the model. */
bool oracle_class_takes(const struct oracle *o, uint32_t job, uint32_t other);

/* Is anything leaving, so that somebody may wait for it? */
bool oracle_some_leave(const struct oracle *o);

/* check_wait.c: who still waits after a step, and why. */
void check_waiting(struct oracle *o);
/* Tasks of a job that fit on a node beside all that is held there and kept. */
uint32_t oracle_tasks_that_fit(const struct oracle *o, const struct m_job *job, uint32_t node);

/* check_levels.c: a start stays inside the levels that the job must share. And if it waits, and
 * must share some, no domain has room; false if it need not. */
void check_near(struct oracle *o, const struct m_job *job, const struct decisions *d,
                const struct decision *start);
bool check_no_domain(const struct oracle *o, const struct m_job *job, unsigned long long id);
void check_in_line(struct oracle *o, const struct decisions *d);

/* check_copy.c: copies go on as the core does; refused facts and facts heard twice are harmless. */
void copy_telling(struct oracle *o, const struct event *event);
void copy_told(struct oracle *o, const struct event *event, int rc);
void copy_stepping(struct oracle *o);
void copy_stepped(struct oracle *o);
