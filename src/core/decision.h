/* SPDX-License-Identifier: Apache-2.0 */
/* decision.h - what the core asks for. Every decision carries its reason.
 *
 * A step fills a list that the caller owns and reuses. Names are pointers into the core's name
 * table: valid as long as the core is. */
#pragma once
#include <stdint.h>

#include "core/job.h"

enum decision_type {
    DECISION_START,  /* start all tasks of the job at their places */
    DECISION_STOP,   /* tell all tasks of the job to stop */
    DECISION_REJECT, /* the job can never run here: it is gone */
    DECISION_NOTE,   /* why jobs of this request wait, when that changed */
};

enum stop_mode { STOP_PREEMPT, STOP_CANCEL };

struct task_place {
    uint32_t task; /* index in the job */
    uint32_t node; /* row; node_name is its name */
    const char *node_name;
    uint64_t gpu_mask; /* bit i: GPU i of the node */
};

struct decision {
    enum decision_type type;
    uint64_t job_id;
    uint32_t job;         /* row */
    uint32_t layout;      /* START: index in the job's list of layouts */
    enum stop_mode mode;  /* STOP */
    enum reason reason;   /* REJECT, NOTE, STOP: why */
    uint32_t place_first; /* START: rows of decisions.places */
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
