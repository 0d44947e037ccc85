/* SPDX-License-Identifier: Apache-2.0 */
/* ends.h - when a job that holds room is gone at the latest, as reservations count on it.
 *
 * A run with a time limit is over at its start + limit + grace, for then it is killed. Another one
 * is predicted when it is decided to start (expect.h), from jobs that finished, and held to that:
 * what is learned later does not move it. A run that is still there when it should be gone has
 * overrun; it gets a new prediction by its age, and delays are charged to it. To kill and to hear
 * of it takes a moment: who was told to stop has KILLED_WITHIN_US more before that. A service that
 * was not told to stop is never gone.
 *
 * Kept only while reservations are configured: otherwise job.ends_us is TIME_NONE. */
#pragma once
#include <stdint.h>

#include "core/job.h"

struct core;

/* How long a run of this waiting job would hold its room, if it started now; once it has a
 * reservation, as long as that was made for; TIME_US_MAX for a service. O(EXPECT_BINS). */
int64_t run_bound_us(const struct core *core, const struct job *row);

/* The job is decided to start; it runs; it was told to stop; it is still there at its ends_us. The
 * caller says due_job() afterwards. */
void ends_decided(struct core *core, uint32_t job);
void ends_started(struct core *core, uint32_t job);
void ends_stopping(struct core *core, uint32_t job);
void ends_overran(struct core *core, uint32_t job);

/* Reservations were configured, or not any more. */
void ends_configured(struct core *core, uint32_t job);
