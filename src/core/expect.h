/* SPDX-License-Identifier: Apache-2.0 */
/* expect.h - how long a job is expected to run in all, as learned from jobs that finished.
 *
 * Jobs are alike by key, from the most specific one to the least:
 *
 *   user and name, if both are known > queue and GPUs > all jobs
 *
 * The first key of the job of which at least one job has finished (and ran longer than this one
 * has already) answers. A key holds how many of its jobs ran how long, in bins of a quarter of an
 * octave, and fades by 1/512 with each job that finishes, so it knows about its last 512 jobs.
 *
 * Two answers: the mean, to say who is shorter, and an upper one, to reserve by. Both are for a job
 * that has run for `age_us` without ending. It is a table on its own: it knows no core, and jobs
 * that were cancelled or failed are for the caller to leave out. Answers cost O(EXPECT_BINS). */
#pragma once
#include <stdint.h>

#include "base/map.h"

struct tape;

#define EXPECT_NONE UINT32_MAX /* a user or name that is not known */
#define EXPECT_BINS 98u        /* up to 1.05 s, 96 that end at 203 days, longer */

/* At most so many keys, 26 MB; what comes later is told by the next key up. */
#define EXPECT_KEYS_MAX 65536u

/* Where no job finished at all, or none that ran so long: this, or twice the age if that is more.
 */
#define EXPECT_RUN_US  (3600 * 1000000LL)
#define EXPECT_LONG_US (86400 * 1000000LL)

struct expect_facts {
    uint32_t queue, user, name; /* ids of names */
    uint32_t mgpu;              /* of the whole job */
};

struct expect_key {
    uint64_t facts; /* user and name, or queue and GPUs; 0 of all jobs */
    uint32_t by_name;
    uint32_t one;                 /* what the next job counts, EXPECT_ONE..EXPECT_ONE_MAX */
    uint32_t weight[EXPECT_BINS]; /* jobs that ran so long, by what each counted */
};
#define EXPECT_ONE        (1u << 16)
#define EXPECT_ONE_MAX    (1u << 22)
#define EXPECT_WEIGHT_MAX (EXPECT_ONE_MAX * 513)

struct expect {
    struct expect_key *keys; /* [count]; 0 is all jobs */
    uint32_t count, cap;
    struct map by_name, by_queue; /* facts -> key */
};

void expect_init(struct expect *e);
void expect_done(struct expect *e);
void expect_copy(struct expect *dst, const struct expect *src); /* dst is not initialised */
void expect_walk(struct expect *e, struct tape *t);

/* A job has finished well after running for so long, 0 or more. */
void expect_learn(struct expect *e, const struct expect_facts *facts, int64_t ran_us);

/* The mean run time in all of such a job that has run for age_us; never less than age_us. Exact
 * within an eighth, the half of a bin. */
int64_t expect_run_us(const struct expect *e, const struct expect_facts *facts, int64_t age_us);

/* What nine of ten such jobs do not exceed, and never less than the mean. */
int64_t expect_long_us(const struct expect *e, const struct expect_facts *facts, int64_t age_us);
