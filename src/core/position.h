/* SPDX-License-Identifier: Apache-2.0 */
/* position.h - how many waiting jobs have their turn before one. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct core;

/* Turns are counted up to this; a job further back has more than so many before it. */
#define POSITION_MAX 1000u

struct position {
    bool known;        /* it is in line: nothing but room keeps it from starting */
    bool more;         /* there are more before it than were counted */
    uint32_t before;   /* waiting jobs of the cluster, 0 = it is next */
    uint32_t in_queue; /* of these, of its own queue */
};

/* Turns are taken as in a step (contest.h) by a core that is a clone and is spent by that: each job
 * before it counts as given what it asks, so that shares move on. After a step, before anything
 * else is applied. O(buckets + POSITION_MAX log buckets) */
void position_count(struct core *spent, uint32_t job, struct position *out);
