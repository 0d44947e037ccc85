/* SPDX-License-Identifier: Apache-2.0 */
/* promises.h - what jobs were told about when they start at the latest, and when they did start. */
#pragma once
#include <stdint.h>

struct run;
struct decision;

#define LARGEST_MAX 10u

struct promises {
    uint32_t jobs;          /* that had a reservation */
    uint32_t late_jobs;     /* that started after the first time that they were told */
    uint64_t slips;         /* how often a job was told a later time, */
    uint64_t slips_charged; /* and of these, with the running job that overran */
    struct largest {
        uint64_t gpus;
        int64_t wait_us;     /* until its first start */
        int64_t promised_us; /* the same as it was told first, */
        int64_t bound_us;    /* and last */
        uint32_t slips;
    } largest[LARGEST_MAX]; /* [largest_count] of those: the most GPUs, then the longest wait */
    uint32_t largest_count;
};

/* A reserve decision. */
void promises_told(struct run *run, const struct decision *decision);

/* What is known at the end. */
void promises_result(const struct run *run, struct promises *out);
