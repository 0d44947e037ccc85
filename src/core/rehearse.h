/* SPDX-License-Identifier: Apache-2.0 */
/* rehearse.h - a clone plays on: what it decides comes true at once.
 *
 * Tasks that are told to start have started, tasks that are told to stop have left. Nothing arrives
 * and nothing ends unless the caller says so. The core that was cloned is only read. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "core/decision.h"

struct core;

#define REHEARSE_STEPS_MAX 1000u /* at one time; then it is left as it is */

struct rehearsal {
    struct core *core; /* the clone, owned */
    struct decisions out;
    /* Told of each job, by row, when all that was decided about it has come true; or NULL. */
    void (*started)(void *arg, uint32_t job);
    void (*stopped)(void *arg, uint32_t job);
    void *arg;
};

/* Cost: that of core_clone(). */
void rehearse_open(struct rehearsal *r, const struct core *core);
void rehearse_close(struct rehearsal *r);

/* Who is STARTING runs. O(running jobs) */
void rehearse_arrive(struct rehearsal *r);

/* Step at this time until nothing starts or stops any more. */
void rehearse_step(struct rehearsal *r, int64_t now_us);

/* The job, by row, ends now: all its tasks leave with this code, or as they were told to stop. */
void rehearse_end(struct rehearsal *r, uint32_t job, int32_t exit_code);
