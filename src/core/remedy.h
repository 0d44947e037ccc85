/* SPDX-License-Identifier: Apache-2.0 */
/* remedy.h - one change that somebody could make so that a waiting job starts. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "core/obstacles.h"
#include "core/queues.h"

struct core;
struct err;

#define REMEDY_STOPPED_MAX 4u /* jobs that are named */

enum remedy_type {
    REMEDY_NONE,
    REMEDY_RELEASE,  /* its user lets it go */
    REMEDY_LESS,     /* each task of a group asks for `to` of `what`, not for `from` */
    REMEDY_TASKS,    /* a group has `to` tasks, not `from` */
    REMEDY_MODELS,   /* a group may go to GPUs of any model */
    REMEDY_LABEL,    /* a group does without a label */
    REMEDY_WITHIN,   /* all its tasks share a domain of a coarser level, or of none */
    REMEDY_GROUPS,   /* so do its groups */
    REMEDY_SLOWDOWN, /* it accepts to be so much slower */
    REMEDY_LIMIT,    /* the bound of a queue is `to`, not `from` */
    REMEDY_CLASS,    /* it is of another class */
    REMEDY_NODE,     /* a node that was drained gets work again */
    REMEDY_JOB_ENDS, /* another job is over */
};

struct remedy {
    enum remedy_type type;
    uint32_t group;         /* LESS, TASKS, MODELS, LABEL: index in its first layout */
    enum shortage what;     /* LESS */
    int64_t from, to;       /* LESS, TASKS, LIMIT; SLOWDOWN: ppm */
    uint32_t name;          /* name id: LABEL, CLASS, NODE; WITHIN, GROUPS: LEVEL_NONE = none */
    struct refusal refusal; /* LIMIT: whose bound, and of which resource */
    uint64_t job_id;        /* JOB_ENDS */
    bool badly;             /* JOB_ENDS: with an error, for the job waits for that */
    uint64_t stopped[REMEDY_STOPPED_MAX]; /* [stopped_named] jobs that stopped when it was tried */
    uint32_t stopped_count, stopped_named;
};

/* Make it, in a core that is a clone. A job that asks otherwise is cancelled and submitted anew, as
 * its user would have to do; it keeps what it is known by, but not its place in line. The next step
 * shows what comes of it. 0, or a negative errno if it cannot be made. */
int remedy_make(struct core *clone, uint64_t job_id, const struct remedy *remedy, struct err *err);
