/* SPDX-License-Identifier: Apache-2.0 */
/* order_gittins.c - the job that promises most completions per GPU time goes first, by what was
 * learned from the jobs before it.
 *
 * key = (run time that one completion costs at the job's age, see hazard.h) x (GPUs + 1/4).
 *
 * The quarter lets jobs without GPUs have an order too, and favours gangs a little: on Philly plain
 * GPUs are 1 to 2 % worse, since gangs of whole nodes starve; on Muri's traces flatter weights are
 * 3 to 10 % worse.
 *
 * The key is constant within an age bin, and bins grow by half, so it changes rarely: for a running
 * job when it crosses into a bin, for a waiting one when its burst is refreshed. A running job
 * gives way only to one that is twice as good. */
#include "base/heap.h"
#include "base/vec.h"
#include "core/view.h"
#include "policy/history.h"
#include "policy/policies.h"

__extension__ typedef __int128 wide;

#define PATIENCE_US 300000000 /* no step only because a job got older more often than this */

struct gittins_job {
    uint32_t burst; /* node of the history */
    uint32_t bin;   /* of its age, as counted in the history */
    enum { GITTINS_GONE, GITTINS_WAITS, GITTINS_RUNS } state;
    uint32_t next, prev; /* of the waiting jobs of its burst */
};

struct gittins {
    struct history history;
    struct gittins_job *jobs; /* [job_cap] by row */
    uint32_t job_cap;
    uint32_t *waiting; /* [waiting_cap] by burst: first waiting job + 1, 0 = none */
    uint32_t waiting_cap;
    struct heap crossings; /* running jobs by the time at which they leave their age bin */
    uint32_t rekey_next;   /* the next job to tell the core of; ROW_NONE between steps */
};

static void wait_add(struct gittins *g, uint32_t job)
{
    struct gittins_job *j = &g->jobs[job];
    uint32_t *first;

    vec_reserve(g->waiting, g->waiting_cap, j->burst + 1);
    first = &g->waiting[j->burst];
    j->state = GITTINS_WAITS;
    j->prev = ROW_NONE;
    j->next = *first - 1; /* 0 becomes ROW_NONE */
    if (j->next != ROW_NONE)
        g->jobs[j->next].prev = job;
    *first = job + 1;
}

static void wait_remove(struct gittins *g, uint32_t job)
{
    struct gittins_job *j = &g->jobs[job];

    if (j->prev != ROW_NONE)
        g->jobs[j->prev].next = j->next;
    else
        g->waiting[j->burst] = j->next + 1;
    if (j->next != ROW_NONE)
        g->jobs[j->next].prev = j->prev;
}

/* Count the job in the bin of its run time. */
static void grow(struct gittins *g, uint32_t job, int64_t attained_us)
{
    struct gittins_job *j = &g->jobs[job];
    const uint32_t bin = hazard_bin(&g->history.scale, j->bin, attained_us);

    if (bin != j->bin)
        history_age(&g->history, j->burst, j->bin, bin);
    j->bin = bin;
}

/* When the running job leaves its bin. */
static int64_t crossing_us(const struct gittins *g, const struct core *core, uint32_t job)
{
    const struct job *row = core_job(core, job);

    if (g->jobs[job].bin == HAZARD_BINS - 1)
        return TIME_NONE;
    return row->start_us - row->attained_us + g->history.scale.end_us[g->jobs[job].bin];
}

static uint32_t fact(const struct core *core, uint32_t name)
{
    return core_name(core, name)[0] != '\0' ? name : HISTORY_NONE;
}

/* ---- facts ---- */

static void gittins_submitted(void *state, const struct core *core, uint32_t job)
{
    struct gittins *g = state;
    const struct job *row = core_job(core, job);
    const int64_t mgpu = core_gang(core, row->gang)->mgpu;
    const struct history_facts facts = {
        .queue = row->queue,
        .user = fact(core, row->user),
        .name = fact(core, row->name),
        .mgpu = mgpu < UINT32_MAX ? (uint32_t)mgpu : UINT32_MAX,
    };

    vec_reserve(g->jobs, g->job_cap, job + 1);
    g->jobs[job] =
        (struct gittins_job){.burst = history_join(&g->history, &facts, core_now_us(core))};
    wait_add(g, job);
}

static void gittins_started(void *state, const struct core *core, uint32_t job)
{
    struct gittins *g = state;

    wait_remove(g, job);
    g->jobs[job].state = GITTINS_RUNS;
    heap_push(&g->crossings, crossing_us(g, core, job), core_job(core, job)->sequence, job);
}

static void gittins_stopped(void *state, const struct core *core, uint32_t job)
{
    struct gittins *g = state;

    if (g->jobs[job].state == GITTINS_WAITS) /* it was lost before it ran */
        return;
    heap_remove(&g->crossings, job);
    grow(g, job, core_job(core, job)->attained_us);
    wait_add(g, job);
}

/* What a user stops while it runs has ended too, as far as its GPUs are concerned. */
static void gittins_finished(void *state, const struct core *core, uint32_t job)
{
    struct gittins *g = state;
    struct gittins_job *j = &g->jobs[job];
    const bool ran = j->state == GITTINS_RUNS;
    const int64_t ran_us = ran ? core_job(core, job)->attained_us : -1;

    if (ran)
        heap_remove(&g->crossings, job);
    else
        wait_remove(g, job);
    j->state = GITTINS_GONE;
    history_leave(&g->history, j->burst, j->bin, ran_us, core_now_us(core));
}

static void gittins_step(void *state, const struct core *core, int64_t now_us)
{
    struct gittins *g = state;
    struct heap_item first;

    while (heap_peek(&g->crossings, &first) && first.key <= now_us) {
        grow(g, first.id, job_attained_us(core_job(core, first.id), now_us));
        heap_update(&g->crossings, first.id, crossing_us(g, core, first.id));
    }
    history_sweep(&g->history, now_us);
}

/* ---- the order ---- */

static int64_t gittins_key(void *state, const struct core *core, uint32_t job, int64_t now_us)
{
    const struct gittins *g = state;
    const struct gittins_job *j = &g->jobs[job];
    const int64_t mgpu = core_gang(core, core_job(core, job)->gang)->mgpu;
    const wide key = (wide)history_cost_ms(&g->history, j->burst, j->bin) * (4 * mgpu + 1000);

    (void)now_us;
    return key / 1000 < INT64_MAX ? (int64_t)(key / 1000) : INT64_MAX;
}

static bool gittins_next_rekey(void *state, const struct core *core, uint32_t *out_job)
{
    struct gittins *g = state;

    (void)core;
    while (g->rekey_next == ROW_NONE) {
        const uint32_t burst = history_next_changed(&g->history);

        if (burst == HISTORY_NONE)
            return false;
        if (burst < g->waiting_cap)
            g->rekey_next = g->waiting[burst] - 1;
    }
    *out_job = g->rekey_next;
    g->rekey_next = g->jobs[g->rekey_next].next;
    return true;
}

static int64_t gittins_next_change_us(const void *state, const struct core *core, uint32_t job,
                                      int64_t now_us)
{
    const int64_t at_us = crossing_us(state, core, job);

    if (core_pending_count(core) == 0)
        return INT64_MAX; /* nobody to give way to */

    return at_us > now_us + PATIENCE_US ? at_us : now_us + PATIENCE_US;
}

/* ---- the state ---- */

static void gittins_init(void *state, const struct order_config *config)
{
    struct gittins *g = state;

    (void)config;
    history_init(&g->history);
    heap_init(&g->crossings);
    g->rekey_next = ROW_NONE;
}

static void gittins_done(void *state)
{
    struct gittins *g = state;

    history_done(&g->history);
    heap_done(&g->crossings);
    mem_free(g->jobs);
    mem_free(g->waiting);
}

static void gittins_copy(void *dst, const void *src)
{
    const struct gittins *from = src;
    struct gittins *to = dst;

    *to = *from;
    history_copy(&to->history, &from->history);
    heap_copy(&to->crossings, &from->crossings);
    to->jobs = mem_copy(from->jobs, from->job_cap, sizeof *from->jobs);
    to->waiting = mem_copy(from->waiting, from->waiting_cap, sizeof *from->waiting);
}

static void job_walk(struct gittins_job *j, struct tape *t)
{
    tape_enum(t, j->state, GITTINS_RUNS, "state of a job");
    tape_u32(t, &j->burst);
    tape_max(t, &j->bin, HAZARD_BINS - 1, "age of a job");
}

/* The heap and the lists follow from the jobs' states and bins and from the core's job table. */
static void job_loaded(struct gittins *g, const struct core *core, uint32_t job, struct tape *t)
{
    const bool runs = core_job(core, job)->start_us != TIME_NONE;

    if (g->jobs[job].state != (runs ? GITTINS_RUNS : GITTINS_WAITS))
        tape_fail(t, "job row %u: runs and waits", job);
    history_count(&g->history, g->jobs[job].burst, g->jobs[job].bin, t);
    if (t->failed)
        g->jobs[job].state = GITTINS_GONE;
    else if (runs)
        heap_push(&g->crossings, crossing_us(g, core, job), core_job(core, job)->sequence, job);
    else
        wait_add(g, job);
}

static void gittins_walk(void *state, const struct core *core, struct tape *t)
{
    struct gittins *g = state;

    history_walk(&g->history, t);
    for (uint32_t job = 0; tape_more(t, job, core_job_rows(core)); job++) {
        if (!core_order_has(core, state, job))
            continue;
        if (tape_loads(t))
            vec_reserve(g->jobs, g->job_cap, job + 1);
        job_walk(&g->jobs[job], t);
        if (tape_loads(t) && !t->failed)
            job_loaded(g, core, job, t);
    }
    if (tape_loads(t) && !t->failed)
        history_counted(&g->history);
}

const struct order_policy order_gittins = {
    .name = "gittins",
    .summary = "most completions per GPU time, as learned from earlier jobs",
    .state_size = sizeof(struct gittins),
    .preempts = PREEMPT_TAKE,
    .hysteresis_ppm = 2000000,
    .init = gittins_init,
    .done = gittins_done,
    .copy = gittins_copy,
    .walk = gittins_walk,
    .submitted = gittins_submitted,
    .started = gittins_started,
    .stopped = gittins_stopped,
    .finished = gittins_finished,
    .step = gittins_step,
    .key = gittins_key,
    .next_rekey = gittins_next_rekey,
    .next_change_us = gittins_next_change_us,
};
