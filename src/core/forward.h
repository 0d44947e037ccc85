/* SPDX-License-Identifier: Apache-2.0 */
/* forward.h - when waiting jobs are expected to start: a clone is run forward, as things stand.
 *
 * Running jobs end well when they are expected to (core_expected_us, by what is known now), or are
 * stopped at their limit if that is sooner; who was told to stop leaves when its grace is over;
 * what the clone decides comes true at once; nothing new arrives. Services do not end, nor do tasks
 * that are stuck; what that means for `until_job` is looked at apart, when nothing else can happen.
 * One run answers for all waiting jobs, so it is worth keeping for a while. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct core;

/* Times at which something ends or is due. At most so many steps, and those of REHEARSE_STEPS_MAX:
 * what starts later is answered with "later than that". */
#define FORWARD_INSTANTS_MAX 4096u

struct forward_limits {
    uint32_t instants;  /* 0 = FORWARD_INSTANTS_MAX */
    uint64_t until_job; /* enough is known when this one has started; JOB_NONE = when all have */
};

struct forward {
    int64_t at_us;     /* it was run from this time */
    int64_t end_us;    /* up to this one */
    bool whole;        /* nothing more can happen: who has not started by end_us never does */
    bool unending;     /* whole: and until_job would start once services ended, and stuck tasks */
    int64_t *start_us; /* [count] by row of the core's jobs: when it starts next, TIME_NONE = not
                        * seen. It may have to give way at once */
    uint32_t count;
};

/* Cost: a clone, and a step for each time at which something happens. The core is only read. */
void forward_run(const struct core *core, const struct forward_limits *limits, struct forward *out);
void forward_done(struct forward *f);
