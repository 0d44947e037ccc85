/* SPDX-License-Identifier: Apache-2.0 */
/* order_tiresias.c - Tiresias' discretized two-dimensional LAS (Gu et al., NSDI'19), as published
 * simulators run it.
 *
 * Jobs stand in a few queues. All begin in the first; one whose attained service (run time x GPUs)
 * reaches the limit of its queue goes to the back of the next. Earlier queues go first. Inside a
 * queue there are two published ways:
 *
 *   running first (Muri, SIGCOMM'22): whenever time has passed, running jobs step to the front of
 *     their queue and waiting ones behind them, each keeping their order. So a job is never stopped
 *     for one of its own queue.
 *   in line (Pollux, OSDI'21): the order in which they came into the queue, running or not.
 *
 * A place is (level, ahead, rank): jobs that ran when the clock last moved are ahead; ranks come
 * from two counters, one growing at the back and one shrinking at the front of those that wait.
 *
 * Options: [0] 1 = in line, 0 = running first; [1..] limits in GPU microseconds. Without options:
 * running first, one limit of 83 GPU hours (the best single limit for the Philly trace). */
#include "base/heap.h"
#include "base/sort.h"
#include "base/vec.h"
#include "core/view.h"
#include "policy/policies.h"

__extension__ typedef __int128 wide;

#define LIMITS_MAX       7u
#define DEFAULT_LIMIT_US (83 * 3600 * 1000000LL)
#define SECOND_US        1000000
#define RANK_BITS        58 /* above them: ahead (1 bit), level (3 bits) */
#define RANK_MAX         (INT64_C(1) << 56)

struct tiresias_job {
    uint32_t level;
    bool ahead;
    bool runs;
    bool moved; /* is in tiresias.moved */
    bool in_use;
    int64_t rank; /* unique among its level and side */
};

struct tiresias {
    bool in_line;
    uint32_t limit_count;
    int64_t limits_us[LIMITS_MAX];
    struct tiresias_job *jobs; /* [job_cap] by row */
    uint32_t job_cap;
    int64_t back, front; /* the last ranks given at either end */
    int64_t now_us;
    struct heap demotions; /* running jobs by the time at which they reach their limit */
    uint32_t *moved;       /* [moved_count] started, stopped or demoted since time passed */
    uint32_t moved_count, moved_cap;
    uint32_t *rekeys; /* [rekey_count] waiting jobs with a new key */
    uint32_t rekey_count, rekey_cap;
};

static int64_t place_key(const struct tiresias_job *j)
{
    return ((int64_t)j->level << (RANK_BITS + 1)) + ((int64_t)(j->ahead ? 0 : 1) << RANK_BITS) +
           (1LL << (RANK_BITS - 1)) + j->rank;
}

static int compare_places(const void *a, const void *b, void *arg)
{
    const struct tiresias *t = arg;
    const int64_t x = place_key(&t->jobs[*(const uint32_t *)a]);
    const int64_t y = place_key(&t->jobs[*(const uint32_t *)b]);

    return (x > y) - (x < y);
}

static void note_moved(struct tiresias *t, uint32_t job)
{
    if (t->jobs[job].moved || t->in_line)
        return;
    t->jobs[job].moved = true;
    vec_push(t->moved, t->moved_count, t->moved_cap, job);
}

/* ---- queues ---- */

/* The run time at which a job of so much GPU compute has had that service. */
static int64_t limit_run_us(int64_t limit_us, int64_t mgpu)
{
    const wide run_us = mgpu > 0 ? ((wide)limit_us * 1000 + mgpu - 1) / mgpu : INT64_MAX / 2;

    return run_us < INT64_MAX / 2 ? (int64_t)run_us : INT64_MAX / 2;
}

/* The run time that takes the job out of its queue; INT64_MAX / 2 or more means never. */
static int64_t leave_run_us(const struct tiresias *t, const struct core *core, uint32_t job)
{
    const uint32_t level = t->jobs[job].level;

    if (level == t->limit_count)
        return INT64_MAX / 2;
    return limit_run_us(t->limits_us[level], core_gang(core, core_job(core, job)->gang)->mgpu);
}

/* To the back of the queue that its service puts it in. Returns whether it moved. */
static bool demote(struct tiresias *t, const struct core *core, uint32_t job, int64_t attained_us)
{
    struct tiresias_job *j = &t->jobs[job];
    const uint32_t before = j->level;

    while (j->level < t->limit_count && attained_us >= leave_run_us(t, core, job))
        j->level++;
    if (j->level == before)
        return false;
    j->ahead = false;
    j->rank = ++t->back;
    note_moved(t, job);
    return true;
}

static void watch(struct tiresias *t, const struct core *core, uint32_t job)
{
    const struct job *row = core_job(core, job);

    if (t->jobs[job].level < t->limit_count)
        heap_push(&t->demotions, row->start_us - row->attained_us + leave_run_us(t, core, job),
                  row->sequence, job);
}

static void demote_due(struct tiresias *t, const struct core *core, int64_t now_us)
{
    uint32_t *due = NULL, count = 0, cap = 0;
    struct heap_item first;

    while (heap_peek(&t->demotions, &first) && first.key <= now_us) {
        heap_pop(&t->demotions, &first);
        vec_push(due, count, cap, first.id);
    }
    sort_stable(due, count, sizeof *due, compare_places, t);
    for (uint32_t i = 0; i < count; i++) {
        demote(t, core, due[i], job_attained_us(core_job(core, due[i]), now_us));
        watch(t, core, due[i]);
    }
    mem_free(due);
}

/* Running jobs step ahead, stopped ones go before all others that wait. */
static void reorder(struct tiresias *t)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < t->moved_count; i++) {
        struct tiresias_job *j = &t->jobs[t->moved[i]];

        if (j->moved) /* it is still there, and was not listed twice */
            t->moved[count++] = t->moved[i];
        j->moved = false;
    }
    sort_stable(t->moved, count, sizeof *t->moved, compare_places, t);
    for (uint32_t i = count; i-- > 0;) {
        struct tiresias_job *j = &t->jobs[t->moved[i]];

        if (j->runs || !j->ahead)
            continue;
        j->ahead = false;
        j->rank = --t->front;
        vec_push(t->rekeys, t->rekey_count, t->rekey_cap, t->moved[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        struct tiresias_job *j = &t->jobs[t->moved[i]];

        if (!j->runs || j->ahead)
            continue;
        j->ahead = true;
        j->rank = ++t->back;
    }
    t->moved_count = 0;
}

/* ---- facts ---- */

static void tiresias_submitted(void *state, const struct core *core, uint32_t job)
{
    struct tiresias *t = state;

    (void)core;
    vec_reserve(t->jobs, t->job_cap, job + 1);
    t->jobs[job] = (struct tiresias_job){.in_use = true, .rank = ++t->back};
}

static void tiresias_started(void *state, const struct core *core, uint32_t job)
{
    struct tiresias *t = state;

    t->jobs[job].runs = true;
    note_moved(t, job);
    watch(t, core, job);
}

static void tiresias_stopped(void *state, const struct core *core, uint32_t job)
{
    struct tiresias *t = state;

    heap_remove(&t->demotions, job);
    t->jobs[job].runs = false;
    note_moved(t, job);
    demote(t, core, job, core_job(core, job)->attained_us);
}

static void tiresias_finished(void *state, const struct core *core, uint32_t job)
{
    struct tiresias *t = state;

    (void)core;
    heap_remove(&t->demotions, job);
    t->jobs[job] = (struct tiresias_job){0};
}

static void tiresias_step(void *state, const struct core *core, int64_t now_us)
{
    struct tiresias *t = state;

    if (now_us == t->now_us)
        return; /* what has started by then is not yet ahead */
    t->now_us = now_us;
    reorder(t);
    demote_due(t, core, now_us);
}

/* ---- the order ---- */

static int64_t tiresias_key(void *state, const struct core *core, uint32_t job, int64_t now_us)
{
    const struct tiresias *t = state;

    (void)core;
    (void)now_us;
    return place_key(&t->jobs[job]);
}

static bool tiresias_next_rekey(void *state, const struct core *core, uint32_t *out_job)
{
    struct tiresias *t = state;

    (void)core;
    if (t->rekey_count == 0)
        return false;
    *out_job = t->rekeys[--t->rekey_count];
    return true;
}

/* Limits are reached at whole seconds of run time, as published. */
static int64_t tiresias_next_change_us(const void *state, const struct core *core, uint32_t job,
                                       int64_t now_us)
{
    const struct job *row = core_job(core, job);
    const int64_t run_us = leave_run_us(state, core, job);

    (void)now_us;
    if (run_us >= INT64_MAX / 2)
        return TIME_NONE;
    return row->start_us - row->attained_us + (run_us + SECOND_US - 1) / SECOND_US * SECOND_US;
}

/* ---- the state ---- */

static void tiresias_init(void *state, const struct order_config *config)
{
    struct tiresias *t = state;

    heap_init(&t->demotions);
    t->now_us = -1;
    t->limit_count = 1;
    t->limits_us[0] = DEFAULT_LIMIT_US;
    if (config->option_count == 0)
        return;
    t->in_line = config->options[0] == 1;
    t->limit_count = 0;
    for (uint32_t i = 1; i < config->option_count && t->limit_count < LIMITS_MAX; i++)
        t->limits_us[t->limit_count++] = config->options[i];
}

static void tiresias_done(void *state)
{
    struct tiresias *t = state;

    heap_done(&t->demotions);
    mem_free(t->jobs);
    mem_free(t->moved);
    mem_free(t->rekeys);
}

static void tiresias_copy(void *dst, const void *src)
{
    const struct tiresias *from = src;
    struct tiresias *to = dst;

    *to = *from;
    heap_copy(&to->demotions, &from->demotions);
    to->jobs = mem_copy(from->jobs, from->job_cap, sizeof *from->jobs);
    to->moved = mem_copy(from->moved, from->moved_cap, sizeof *from->moved);
    to->rekeys = mem_copy(from->rekeys, from->rekey_cap, sizeof *from->rekeys);
}

static void job_walk(const struct tiresias *t, struct tiresias_job *j, struct tape *tape)
{
    tape_max(tape, &j->level, t->limit_count, "level of a job");
    tape_bool(tape, &j->ahead);
    tape_bool(tape, &j->runs);
    tape_bool(tape, &j->moved);
    tape_i64_in(tape, &j->rank, -RANK_MAX, RANK_MAX, "rank of a job");
}

/* The heap follows from the levels and the core's job table, the list from what is marked. */
static void job_loaded(struct tiresias *t, const struct core *core, uint32_t job, struct tape *tape)
{
    struct tiresias_job *j = &t->jobs[job];

    j->in_use = true;
    if (j->runs != (core_job(core, job)->start_us != TIME_NONE))
        tape_fail(tape, "job row %u: runs and waits", job);
    else if (j->runs)
        watch(t, core, job);
    if (j->moved)
        vec_push(t->moved, t->moved_count, t->moved_cap, job);
}

static void jobs_walk(struct tiresias *t, const struct core *core, struct tape *tape)
{
    for (uint32_t job = 0; tape_more(tape, job, core_job_rows(core)); job++) {
        if (!core_order_has(core, t, job))
            continue;
        if (tape_loads(tape))
            vec_reserve(t->jobs, t->job_cap, job + 1);
        job_walk(t, &t->jobs[job], tape);
        if (tape_loads(tape) && !tape->failed)
            job_loaded(t, core, job, tape);
    }
}

static void tiresias_walk(void *state, const struct core *core, struct tape *tape)
{
    struct tiresias *t = state;
    uint32_t rekeys = t->rekey_count;

    tape_bool(tape, &t->in_line);
    tape_max(tape, &t->limit_count, LIMITS_MAX, "limits");
    for (uint32_t i = 0; i < t->limit_count; i++)
        tape_i64(tape, &t->limits_us[i]);
    tape_i64_in(tape, &t->back, -RANK_MAX, RANK_MAX, "rank");
    tape_i64_in(tape, &t->front, -RANK_MAX, RANK_MAX, "rank");
    tape_i64_in(tape, &t->now_us, -1, INT64_MAX, "time");
    jobs_walk(t, core, tape);
    tape_count(tape, &rekeys, "jobs with a new key");
    for (uint32_t i = 0; tape_more(tape, i, rekeys); i++) {
        tape_grow(tape, t->rekeys, t->rekey_count, t->rekey_cap);
        tape_row(tape, &t->rekeys[i], core_job_rows(core), "job with a new key");
    }
}

const struct order_policy order_tiresias = {
    .name = "tiresias",
    .summary = "a few queues by attained service (2D-LAS), as published",
    .state_size = sizeof(struct tiresias),
    .preempts = PREEMPT_TAKE,
    .takes_options = true,
    .hysteresis_ppm = 1000000,
    .init = tiresias_init,
    .done = tiresias_done,
    .copy = tiresias_copy,
    .walk = tiresias_walk,
    .submitted = tiresias_submitted,
    .started = tiresias_started,
    .stopped = tiresias_stopped,
    .finished = tiresias_finished,
    .step = tiresias_step,
    .key = tiresias_key,
    .next_rekey = tiresias_next_rekey,
    .next_change_us = tiresias_next_change_us,
};
