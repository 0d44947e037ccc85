/* SPDX-License-Identifier: Apache-2.0 */
/* ended.h - how the last jobs ended, for jobs that come when what they wait for is over.
 *
 * A ring of the last ENDED_MAX ids, with a map into it. What falls out is forgotten; but the
 * highest id that did is kept, so that an id above it that is not known was never there. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

struct tape;

struct ended_job {
    uint64_t id; /* JOB_NONE: it ended again later, see there */
    bool well;   /* it finished */
};

struct ended {
    struct ended_job *ring; /* [count] from `first` on, the oldest first */
    uint32_t count, cap, first;
    struct map by_id;   /* id -> place in the ring */
    uint64_t forgotten; /* the highest id that fell out of the ring; 0 = none did */
};

enum ended_known {
    ENDED_WELL,
    ENDED_BADLY,    /* failed, cancelled, rejected, at its time limit */
    ENDED_UNKNOWN,  /* it was never there */
    ENDED_TOO_LONG, /* it was never there, or is forgotten */
};

void ended_init(struct ended *e);
void ended_done(struct ended *e);
void ended_copy(struct ended *dst, const struct ended *src); /* dst is not initialised */
void ended_walk(struct ended *e, struct tape *t);

/* The job is over. O(1) */
void ended_add(struct ended *e, uint64_t id, bool well);

/* Of a job that is not there now. O(1) */
enum ended_known ended_find(const struct ended *e, uint64_t id);
