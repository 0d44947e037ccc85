/* SPDX-License-Identifier: Apache-2.0 */
/* gate.h - what keeps a waiting job out of the queue, whatever room there is: its user holds it, it
 * waits for other jobs to end, or its array has as many jobs as it may.
 *
 * A job that is kept out is PENDING and not `queued`: no bucket has it, so it costs a step nothing,
 * and its reason is its own. The gates are asked in that order; a job of an array comes in by
 * submission, and stays in until it is gone or held again, also while it waits for room. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "core/event.h"

struct core;
struct tape;

/* One job waits for another. */
struct after_edge {
    uint64_t on; /* id of the job that it waits for */
    uint32_t job;
    enum after_end end;
    uint32_t next; /* of the same `on`, or the next free edge */
};

/* Jobs of one user and array name. In use while it has jobs. */
struct array {
    uint32_t user, name;  /* name ids */
    uint32_t limit;       /* jobs in at a time; UINT32_MAX = all */
    uint32_t jobs, in;    /* unfinished; of these, in */
    uint32_t first, last; /* rows of jobs that are kept out, by sequence: job.array_next */
    uint32_t next_free;
};

struct gate {
    struct after_edge *edges; /* [edge_count] */
    uint32_t edge_count, edge_cap, edge_free;
    struct map after;     /* id of a job -> first edge of those that wait for it */
    struct array *arrays; /* [array_count] */
    uint32_t array_count, array_cap, array_free;
    struct map array_by_name; /* user << 32 | name -> row */
};

void gate_init(struct gate *g);
void gate_done(struct gate *g);
void gate_copy(struct gate *dst, const struct gate *src);
/* After the jobs, whose `array` rows it fills on a tape that loads. */
void gate_walk(struct core *core, struct tape *t);

/* Does the array take a job with this limit? 0 = all. Jobs of one array state the same. */
bool gate_array_agrees(const struct gate *g, uint32_t user, uint32_t name, uint32_t limit);

/* The new job is of this array, and waits for this job, which is there or has ended so that it is
 * known how: then it need not wait, or waits in vain. */
void gate_join_array(struct core *core, uint32_t job, uint32_t name, uint32_t limit);
void gate_wait_for(struct core *core, uint32_t job, const struct job_after *after);

/* A PENDING job that is not queued: queue it if nothing keeps it out, else note the reason. */
void gate_try(struct core *core, uint32_t job);

/* The PENDING job is taken out of the queue, or of those that are kept out. With `leave`, also out
 * of its array's jobs that are in. */
void gate_take_out(struct core *core, uint32_t job, bool leave);

/* The job, whose row is still there, has ended so: those that waited for it may start, or never
 * will; and the next one of its array comes in. */
void gate_ended(struct core *core, uint32_t job, bool well);
