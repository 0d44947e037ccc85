/* SPDX-License-Identifier: Apache-2.0 */
/* oracle.c - what is checked when. */
#include "soak/oracle.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
#include "core/impl.h"
#include "core/view.h"

void broken(const struct oracle *o, const char *check, const char *fmt, ...)
{
    char *out = o->counts->broken;
    int used =
        snprintf(out, SOAK_TEXT_MAX, "%s: at %.6gs: ", check, (double)o->model.now_us / 1000000);
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(out + used, SOAK_TEXT_MAX - (size_t)used, fmt, args);
    va_end(args);
    _exit(SOAK_EXIT_BROKEN);
}

uint32_t oracle_node_row(const struct oracle *o, uint32_t node)
{
    const struct core *core = o->world->core;
    const uint32_t name = names_find(&core->names, o->model.nodes[node].spec.name);
    uint32_t row;

    return name != NAMES_NONE && map_find(&core->node_by_name, name, &row) ? row : ROW_NONE;
}

/* ---- facts ---- */

static void telling(void *context, const struct world *world, const struct event *event)
{
    struct oracle *o = context;

    o->world = world;
    o->model.core = world->core;
    copy_telling(o, event);
}

static void told(void *context, const struct world *world, const struct event *event, int rc)
{
    struct oracle *o = context;

    o->world = world;
    o->model.core = world->core;
    o->counts->events++;
    o->counts->refused += rc < 0;
    o->counts->not_yet += rc == -ENOTSUP;
    if (event->type == EVENT_JOB_SUBMITTED)
        check_submitted(o, event, rc);
    if (rc >= 0)
        model_told(&o->model, event);
    check_books(o);
    check_queues(o);
    copy_told(o, event, rc);
}

/* ---- steps ---- */

/* 0 if no room is kept for the job, else another number for other room. */
static uint64_t claim_of(const struct oracle *o, uint32_t i)
{
    const struct core *core = o->world->core;
    const uint32_t at = core_find_job(core, (uint64_t)i + 1);
    const struct job *row = at != ROW_NONE ? core_job(core, at) : NULL;
    uint64_t mark = 1;

    if (row == NULL || row->state != JOB_PENDING || row->task_first == ROW_NONE)
        return 0;
    for (uint32_t t = 0; t < row->task_count; t++)
        mark = (mark * 1000003 + job_task(core, row, t)->node) * 1000003 +
               job_task(core, row, t)->gpu_mask;
    return mark | 1;
}

/* Others left for it; its claim was lost meanwhile, but it has its chance before all that wait. */
static bool has_its_chance(const struct oracle *o, uint32_t i)
{
    const struct core *core = o->world->core;
    const uint32_t row = core_find_job(core, (uint64_t)i + 1);

    for (uint32_t k = 0; row != ROW_NONE && k < core->claimant_count; k++)
        if (core->claimants[k] == row)
            return true;
    return false;
}

bool oracle_some_leave(const struct oracle *o)
{
    for (uint32_t i = 0; i < o->model.job_count; i++) {
        const struct m_job *job = &o->model.jobs[i];

        for (uint32_t t = 0; model_is_active(job) && t < job->task_count; t++)
            if (!job->tasks[t].left && (job->state == M_STOPS || job->tasks[t].stopping))
                return true;
    }
    return false;
}

static void stepping(void *context, const struct world *world, int64_t now_us)
{
    struct oracle *o = context;
    struct model *m = &o->model;

    o->world = world;
    o->model.core = world->core;
    m->steps++;
    m->now_us = now_us > m->now_us ? now_us : m->now_us;
    vec_reserve(o->states, o->state_cap, m->job_count);
    vec_reserve(o->claimed, o->claimed_cap, m->job_count);
    vec_reserve(o->claims, o->claims_cap, m->job_count);
    for (uint32_t i = 0; i < m->job_count; i++) {
        o->states[i] = m->jobs[i].state;
        o->claims[i] = claim_of(o, i);
        o->claimed[i] = m->jobs[i].claims || o->claims[i] != 0 || has_its_chance(o, i);
    }
    copy_stepping(o);
    model_stepping(m);
}

/* Once a step, one start or one stop of a job. One that runs may get back what it lacks and then
 * more; and what is shrunk may be so more than once. */
static void check_once(const struct oracle *o, const struct decisions *d, uint32_t i)
{
    const struct decision *item = &d->items[i];
    const bool grows = item->type == DECISION_START && o->states[item->job_id - 1] == M_HOLDS;

    for (uint32_t k = 0; k < i && !grows; k++)
        if (d->items[k].job_id == item->job_id && d->items[k].type == item->type &&
            item->type != DECISION_NOTE && d->items[k].mode != STOP_SHRINK)
            broken(o, "once", "job %llu: is decided upon twice in one step",
                   (unsigned long long)item->job_id);
}

static void check_decision(struct oracle *o, const struct decisions *d, uint32_t i)
{
    const struct decision *decision = &d->items[i];

    check_once(o, d, i);
    if (decision->type == DECISION_START) {
        check_start(o, d, decision);
    } else if (decision->type == DECISION_STOP) {
        check_stop(o, d, decision);
    } else if (decision->type == DECISION_REJECT) {
        check_reject(o, decision);
    } else if (decision->type == DECISION_RESERVE) {
        check_reserve(o, decision);
    } else if (decision->type == DECISION_ATTEND) {
        check_attend(o, decision);
    }
    model_decided(&o->model, d, i);
    if (decision->type == DECISION_START)
        check_limits(o, d, decision);
    else if (decision->type == DECISION_STOP && decision->for_job != JOB_NONE)
        check_needed(o, decision);
}

/* A world that goes on for very long has been seen enough of; one whose clock stands does not rest.
 */
static void check_end(struct oracle *o)
{
    o->at_once = o->model.now_us == o->before_us ? o->at_once + 1 : 0;
    o->before_us = o->model.now_us;
    if (o->at_once > SOAK_AT_ONCE_MAX)
        broken(o, "endless", "%u steps at one time, and no rest", SOAK_AT_ONCE_MAX);
    if (o->counts->steps > SOAK_WORLD_STEPS_MAX)
        _exit(0);
}

static void count(struct oracle *o, const struct decisions *d)
{
    o->quiet = true;
    o->counts->steps++;
    for (uint32_t i = 0; i < d->count; i++) {
        const bool stop = d->items[i].type == DECISION_STOP;

        o->counts->starts += d->items[i].type == DECISION_START;
        o->counts->stops += stop;
        o->counts->evictions += stop && d->items[i].reason == REASON_GIVES_WAY;
        o->quiet &= !stop && d->items[i].type != DECISION_START;
    }
}

/* The core has not started it in this step. */
static bool still_waits(const struct oracle *o, uint32_t i)
{
    const struct core *core = o->world->core;
    const uint32_t at = core_find_job(core, (uint64_t)i + 1);

    return at != ROW_NONE && core_job(core, at)->state == JOB_PENDING;
}

/* A claim is lost to one whose class takes from its job, and that now has one, or has started. */
static bool is_lost_to(const struct oracle *o, uint32_t i, uint32_t other)
{
    const uint64_t claim = claim_of(o, other);

    return other != i && o->states[other] == M_WAITS &&
           (claim != 0 ? claim != o->claims[other] : !still_waits(o, other)) &&
           oracle_class_takes(o, other, i);
}

/* Who loses its claim so is in line again, and who was to leave for it leaves for nobody. */
static void lose_claims(struct oracle *o)
{
    for (uint32_t i = 0; i < o->model.job_count; i++) {
        bool lost = false;

        if (o->claims[i] == 0 || claim_of(o, i) == o->claims[i] || !still_waits(o, i))
            continue;
        for (uint32_t k = 0; k < o->model.job_count && !lost; k++)
            lost = is_lost_to(o, i, k);
        if (!lost)
            continue;
        o->model.jobs[i].claims = false;
        for (uint32_t k = 0; k < o->model.job_count; k++)
            if (o->model.jobs[k].for_job == (uint64_t)i + 1)
                o->model.jobs[k].for_job = JOB_NONE;
    }
}

static void stepped(void *context, const struct world *world, int rc, const struct err *err)
{
    struct oracle *o = context;
    const struct decisions *d = &world->decisions;

    o->world = world;
    o->model.core = world->core;
    if (rc < 0)
        broken(o, "rules", "%s", err != NULL ? err->text : "broken");
    count(o, d);
    o->claims_there = false;
    o->claims_known = true;
    for (uint32_t i = 0; i < o->model.job_count; i++) {
        o->claims_there |= claim_of(o, i) != 0 || o->claimed[i];
        o->claims_known &= o->claims[i] == claim_of(o, i);
    }
    lose_claims(o);
    for (uint32_t i = 0; i < d->count; i++) {
        check_decision(o, d, i);
        model_lose(&o->model);
    }
    check_books(o);
    check_queues(o);
    check_claims(o);
    check_waiting(o);
    check_in_line(o, d);
    copy_stepped(o);
    check_end(o);
}

/* ---- the beginning and the end ---- */

void oracle_init(struct oracle *o, uint64_t seed, struct soak_counts *counts)
{
    *o = (struct oracle){.counts = counts, .thorough = seed == ORACLE_THOROUGH};
    rng_init(&o->rng, seed);
    decisions_init(&o->shadow_out);
}

void oracle_done(struct oracle *o)
{
    for (uint32_t i = 0; i < o->model.job_count; i++)
        o->counts->ends += o->model.jobs[i].state == M_OVER;
    model_done(&o->model);
    core_free(o->shadow);
    decisions_done(&o->shadow_out);
    mem_free(o->states);
    mem_free(o->claimed);
    mem_free(o->claims);
}

struct world_watch oracle_watch(struct oracle *o)
{
    return (struct world_watch){
        .context = o, .telling = telling, .told = told, .stepping = stepping, .stepped = stepped};
}
