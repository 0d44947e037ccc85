/* SPDX-License-Identifier: Apache-2.0 */
/* explain_at.h - a run that stops at some time to say why a job waits. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "wire/explain_out.h"

struct err;
struct world;

struct explain_at {
    const char *job; /* as the run calls it */
    int64_t at_us;   /* on the run's clock */
    bool json;       /* one object, else sentences */
    struct explain_terms terms;
    struct text text; /* what was said */
    bool done;
};

/* From "JOB@TIME"; room, of room_count bytes, is where the job's name is kept. */
int explain_at_parse(const char *spec, char *room, size_t room_count, struct explain_at *out,
                     struct err *err);
void explain_at_done(struct explain_at *at);

/* Say what became of a job that the core does not know, or when it comes. */
void explain_absence(struct explain_at *at, const struct explain_absent *absent);

/* Ask the world's core, and run a clone forward until the job starts. -ENOENT: there is no such job
 * now. */
int explain_now(struct explain_at *at, const struct world *world, uint64_t job_id,
                const struct explain_names *names, struct err *err);
