/* SPDX-License-Identifier: Apache-2.0 */
/* classes.h - priority classes: which jobs go first, and which may take from which. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "core/amounts.h"

struct names;
struct tape;

struct priority {
    uint32_t name;                   /* name id */
    uint32_t rank;                   /* higher goes first */
    uint32_t takes_below;            /* may take from running jobs of ranks below this */
    bool fixed;                      /* its jobs never give way */
    int64_t grace_us;                /* from being told to stop to being killed */
    int64_t min_run_us;              /* its jobs do not give way before they ran so long */
    bool bounded;                    /* its users have a limit */
    struct amounts user_limit;       /* of each user in it, over all queues */
    uint32_t user_first, user_count; /* rows of classes.users: who may use it; 0 = everybody */
    uint32_t active;                 /* jobs of it that hold GPUs */
};

struct classes {
    struct priority *rows; /* [count] */
    uint32_t count, cap;
    uint32_t *users; /* [user_count] name ids */
    uint32_t user_count, user_cap;
    uint32_t default_row;
};

/* The classes without a configuration: high, medium and low. high takes from both, medium from
 * low, low from nobody; medium is the default. */
void classes_init(struct classes *c, struct names *names);
void classes_done(struct classes *c);
void classes_copy(struct classes *dst, const struct classes *src);

uint32_t classes_add(struct classes *c, const struct priority *class);
uint32_t classes_find(const struct classes *c, uint32_t name); /* ROW_NONE if there is none */

/* Does a job of this class take from any job that holds GPUs now? O(classes). */
bool classes_may_take(const struct classes *c, uint32_t class_id);

/* The lowest rank of those whose jobs hold GPUs and may give way, or UINT32_MAX. O(classes). */
uint32_t classes_lowest(const struct classes *c);

/* How many jobs of a class are active follows from the jobs. names: how many there are. */
void classes_walk(struct classes *c, uint32_t names, struct tape *t);
