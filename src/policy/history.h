/* SPDX-License-Identifier: Apache-2.0 */
/* history.h - what is known of run times, from the jobs that came before.
 *
 * Jobs are grouped in a tree, from all jobs down to those that are most alike:
 *
 *   all > queue > user > name > GPUs > session > burst
 *
 * A level whose fact is unknown (no user, no name) is left out. A session is a run of submissions
 * with the same facts and gaps of at most 4 hours, a burst one with gaps of at most 60 s: on the
 * public traces most jobs are in bursts, and the jobs of one run alike. Each node has a hazard
 * table (hazard.h), smoothed towards its parent's, so a new burst starts with what its session
 * knows, a new session with what its user's jobs were like, and so on up to all jobs.
 *
 * A node's table is computed anew when it has heard enough news, and at least every quarter of an
 * hour while jobs of it are unfinished: that they still are, at their age, is news too, and often
 * the first that is heard of a long kind of job. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "policy/hazard.h"

struct tape;

#define HISTORY_NONE       UINT32_MAX
#define HISTORY_GROUPS_MAX 65536u /* nodes above sessions; then jobs share the next one up */

enum history_level {
    HISTORY_ALL,
    HISTORY_QUEUE,
    HISTORY_USER,
    HISTORY_NAME,
    HISTORY_GPUS,
    HISTORY_SESSION,
    HISTORY_BURST,
    HISTORY_LEVELS,
};

struct history_facts {
    uint32_t queue;
    uint32_t user, name; /* HISTORY_NONE = unknown */
    uint32_t mgpu;       /* GPU compute of the whole job */
};

struct history_node {
    enum history_level level;
    uint32_t parent; /* HISTORY_NONE for the root; next free node while not in use */
    uint32_t fact;   /* of the level: by which it is found under its parent */
    bool in_use;
    bool open;           /* session, burst: the next submission may still join */
    bool changed;        /* burst: is in history.changed */
    uint32_t open_child; /* the session or burst below that is open, or HISTORY_NONE */
    int64_t joined_us;   /* the last submission */
    uint32_t active;     /* unfinished jobs */
    uint32_t ended;
    uint32_t news; /* jobs that came (session, burst) or ended since the last refresh */
    int64_t refreshed_us;
    uint32_t ended_parts[HAZARD_BINS], active_parts[HAZARD_BINS];
    int32_t hazard[HAZARD_BINS];
    int64_t cost_ms[HAZARD_BINS]; /* burst: run time per completion, of bins that hold jobs */
};

struct history {
    struct hazard_scale scale;
    struct history_node *nodes; /* [count]; 0 is the root */
    uint32_t count, cap, free_first, group_count;
    struct map groups; /* level, parent and fact -> node above sessions */
    uint32_t *changed; /* [changed_count] bursts whose costs are new */
    uint32_t changed_count, changed_cap;
    int64_t swept_us;
};

void history_init(struct history *h);
void history_done(struct history *h);
void history_copy(struct history *dst, const struct history *src); /* dst is not initialised */

/* What jobs that have left taught. Loads into what history_init() left; what unfinished jobs say
 * follows from them: history_count() each of them, then history_counted(). */
void history_walk(struct history *h, struct tape *t);
void history_count(struct history *h, uint32_t burst, uint32_t bin, struct tape *t);
void history_counted(struct history *h);

/* A job was submitted. Returns its burst, which stays in use until the job leaves. The job counts
 * as unfinished in bin 0. */
uint32_t history_join(struct history *h, const struct history_facts *facts, int64_t now_us);

/* The job has grown older. */
void history_age(struct history *h, uint32_t burst, uint32_t from_bin, uint32_t to_bin);

/* The job is gone. It was counted in `bin`. ran_us: it ended after running so long; -1: it was
 * withdrawn, which says nothing. */
void history_leave(struct history *h, uint32_t burst, uint32_t bin, int64_t ran_us, int64_t now_us);

/* Refresh what has become old. Call it at each step; it does something every other minute. */
void history_sweep(struct history *h, int64_t now_us);

/* A burst whose costs have changed since it was last returned; HISTORY_NONE = no more. */
uint32_t history_next_changed(struct history *h);

static inline int64_t history_cost_ms(const struct history *h, uint32_t burst, uint32_t bin)
{
    return h->nodes[burst].cost_ms[bin];
}
