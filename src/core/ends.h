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
 * A claim holds its room as long as its job will, from when it can start.
 *
 * Kept only while reservations are configured: otherwise job.ends_us is TIME_NONE. */
#pragma once
#include <stdint.h>

#include "core/job.h"

struct core;

/* How long a run of this waiting job would hold its room, if it started now; once it has a
 * reservation, as long as that was made for; TIME_US_MAX for a service. O(EXPECT_BINS). */
int64_t run_bound_us(const struct core *core, const struct job *row);

/* Will it be heard by then that somebody who was told to stop has been killed? O(active jobs) */
bool ends_some_are_killed(const struct core *core, int64_t by_us);

/* The job is decided to start; it runs; it was told to stop; it is still there at its ends_us. The
 * caller says due_job() afterwards. */
void ends_decided(struct core *core, uint32_t job);
void ends_started(struct core *core, uint32_t job);
void ends_stopping(struct core *core, uint32_t job);
void ends_overran(struct core *core, uint32_t job);

/* The job has a claim now: it starts when all that were told to stop on its nodes are gone, and
 * then runs. The same again, before reservations are looked at: who leaves may have moved. And it
 * should have started, and waits on: look again in a while. Each O(tasks on its nodes). */
void ends_claimed(struct core *core, uint32_t job);
void ends_claim_moved(struct core *core, uint32_t job);
void ends_claim_waits(struct core *core, uint32_t job);

/* When the last is due, for a PENDING job; TIME_NONE = never. */
int64_t ends_claim_due_us(const struct job *row);

/* Reservations were configured, or not any more. */
void ends_configured(struct core *core, uint32_t job);
