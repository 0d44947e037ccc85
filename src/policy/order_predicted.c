/* SPDX-License-Identifier: Apache-2.0 */
/* order_predicted.c - the job that is expected to be short goes first, as learned from jobs that
 * finished (core/expect.h). It never stops a running job.
 *
 * key = time of submission + AGING x expected run time.
 *
 * So a job is overtaken only by those that come less than AGING times its expected run time after
 * it, and its key need not change as it waits. It does change as more is learned: keys are looked
 * at anew every REKEY_US, a part of the table at each step. Following each change of an estimate
 * at once was no better. */
#include "base/tape.h"
#include "core/view.h"
#include "policy/policies.h"

__extension__ typedef __int128 wide;

#define AGING     300
#define REKEY_US  (10 * 3600 * 1000000LL)
#define REKEY_MAX 1024 /* rows of jobs to look at in one step */

struct predicted {
    int64_t began_us;   /* the last look at all keys */
    uint32_t next;      /* the next job to look at in it */
    uint32_t rows;      /* how many there are to look at; next == rows: it is over */
    uint32_t step_rows; /* up to which row in this step */
};

static int64_t predicted_key(void *state, const struct core *core, uint32_t job, int64_t now_us)
{
    const wide key = core_job(core, job)->submit_us + (wide)core_expected_us(core, job) * AGING;

    (void)state;
    (void)now_us;
    return key < INT64_MAX ? (int64_t)key : INT64_MAX;
}

static void predicted_step(void *state, const struct core *core, int64_t now_us)
{
    struct predicted *p = state;

    if (p->next == p->rows && now_us - p->began_us >= REKEY_US) {
        p->began_us = now_us;
        p->next = 0;
        p->rows = core_job_rows(core);
    }
    p->step_rows = p->rows - p->next > REKEY_MAX ? p->next + REKEY_MAX : p->rows;
}

static bool predicted_next_rekey(void *state, const struct core *core, uint32_t *out_job)
{
    struct predicted *p = state;

    while (p->next < p->step_rows) {
        *out_job = p->next++;
        if (core_order_has(core, state, *out_job) && core_job(core, *out_job)->queued)
            return true;
    }
    return false;
}

static void predicted_walk(void *state, const struct core *core, struct tape *t)
{
    struct predicted *p = state;

    tape_i64_in(t, &p->began_us, 0, INT64_MAX, "time of the last look at keys");
    tape_max(t, &p->rows, core_job_rows(core), "jobs to look at");
    tape_max(t, &p->next, p->rows, "next job to look at");
    tape_max(t, &p->step_rows, p->rows, "jobs to look at in a step");
}

const struct order_policy order_predicted = {
    .name = "predicted",
    .summary = "least expected run time, as learned from earlier jobs",
    .state_size = sizeof(struct predicted),
    .preempts = PREEMPT_NEVER,
    .hysteresis_ppm = 1000000,
    .walk = predicted_walk,
    .step = predicted_step,
    .key = predicted_key,
    .next_rekey = predicted_next_rekey,
};
