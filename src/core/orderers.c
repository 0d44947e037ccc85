/* SPDX-License-Identifier: Apache-2.0 */
/* orderers.c - the queue orders in use. */
#include "core/orderers.h"

#include <string.h>

#include "base/mem.h"
#include "base/tape.h"
#include "core/impl.h"
#include "core/life.h"

const struct order_policy *orderers_find(const struct core *core, const char *name)
{
    if (strcmp(core->orderers[0].policy->name, name) == 0)
        return core->orderers[0].policy;
    for (uint32_t i = 0; i < core->order_count; i++)
        if (strcmp(core->orders[i]->name, name) == 0)
            return core->orders[i];
    return NULL;
}

uint32_t orderers_want(struct core *core, const struct order_policy *policy)
{
    const struct order_config config = {core->seed, core->order_options, core->order_option_count};
    struct orderer orderer = {.policy = policy};

    for (uint32_t i = 0; i < core->orderer_count; i++)
        if (core->orderers[i].policy == policy)
            return i;
    orderer.state = mem_alloc(1, policy->state_size);
    if (policy->init != NULL)
        policy->init(orderer.state, &config);
    vec_push(core->orderers, core->orderer_count, core->orderer_cap, orderer);
    return core->orderer_count - 1;
}

void orderers_done(struct core *core)
{
    for (uint32_t i = 0; i < core->orderer_count; i++) {
        if (core->orderers[i].policy->done != NULL)
            core->orderers[i].policy->done(core->orderers[i].state);
        mem_free(core->orderers[i].state);
    }
    mem_free(core->orderers);
}

void orderers_copy(struct core *dst, const struct core *src)
{
    dst->orderers = mem_copy(src->orderers, src->orderer_count, sizeof *src->orderers);
    dst->orderer_cap = src->orderer_count;
    for (uint32_t i = 0; i < src->orderer_count; i++) {
        const struct orderer *from = &src->orderers[i];

        if (from->policy->copy == NULL) {
            dst->orderers[i].state = mem_copy(from->state, 1, from->policy->state_size);
            continue;
        }
        dst->orderers[i].state = mem_alloc(1, from->policy->state_size);
        from->policy->copy(dst->orderers[i].state, from->state);
    }
}

/* ---- one job ---- */

struct orderer *orderer_of(const struct core *core, uint32_t job)
{
    return &core->orderers[core->queues.rows[core->jobs.rows[job].at.leaf].orderer];
}

int64_t orderer_key(struct core *core, uint32_t job)
{
    const struct orderer *o = orderer_of(core, job);

    return o->policy->key(o->state, core, job, core->now_us);
}

void orderer_submitted(struct core *core, uint32_t job)
{
    const struct orderer *o = orderer_of(core, job);

    if (o->policy->submitted != NULL)
        o->policy->submitted(o->state, core, job);
}

void orderer_started(struct core *core, uint32_t job)
{
    const struct orderer *o = orderer_of(core, job);

    if (o->policy->started != NULL)
        o->policy->started(o->state, core, job);
}

void orderer_stopped(struct core *core, uint32_t job)
{
    const struct orderer *o = orderer_of(core, job);

    if (o->policy->stopped != NULL)
        o->policy->stopped(o->state, core, job);
}

void orderer_finished(struct core *core, uint32_t job)
{
    const struct orderer *o = orderer_of(core, job);

    if (o->policy->finished != NULL)
        o->policy->finished(o->state, core, job);
}

/* ---- all of them ---- */

static void rekey(struct core *core, const struct orderer *o)
{
    uint32_t job;

    while (o->policy->next_rekey != NULL && o->policy->next_rekey(o->state, core, &job))
        if (core->jobs.rows[job].state == JOB_PENDING && core->jobs.rows[job].queued)
            job_rekey(core, job);
}

void orderers_step(struct core *core)
{
    for (uint32_t i = 0; i < core->orderer_count; i++) {
        const struct orderer *o = &core->orderers[i];

        if (o->policy->step != NULL)
            o->policy->step(o->state, core, core->now_us);
        rekey(core, o);
    }
}

void orderers_stepped(struct core *core)
{
    for (uint32_t i = 0; i < core->orderer_count; i++)
        if (core->orderers[i].policy->stepped != NULL)
            core->orderers[i].policy->stepped(core->orderers[i].state, core, core->now_us);
}

bool orderers_take(const struct core *core)
{
    for (uint32_t i = 0; i < core->orderer_count; i++)
        if (core->orderers[i].policy->preempts == PREEMPT_TAKE)
            return true;
    return false;
}

static bool keys_change(const struct core *core)
{
    for (uint32_t i = 0; i < core->orderer_count; i++)
        if (core->orderers[i].policy->next_change_us != NULL)
            return true;
    return false;
}

int64_t orderers_wake_us(const struct core *core)
{
    int64_t wake_us = TIME_NONE;

    if (core->repack == REPACK_NEVER && (core->jobs.pending == 0 || !orderers_take(core)))
        return TIME_NONE;
    for (uint32_t i = 0; keys_change(core) && i < core->jobs.active_count; i++) {
        const uint32_t job = core->jobs.active[i];
        const struct orderer *o = orderer_of(core, job);
        int64_t at_us;

        if (core->jobs.rows[job].state != JOB_RUNNING || o->policy->next_change_us == NULL)
            continue;
        at_us = o->policy->next_change_us(o->state, core, job, core->now_us);
        wake_us = at_us < wake_us ? at_us : wake_us;
    }
    return wake_us <= TIME_US_MAX ? wake_us : TIME_NONE;
}

/* ---- the walk ---- */

static const struct order_policy *policy_walk(struct core *core, const struct orderer *o,
                                              struct tape *t)
{
    const char *name = tape_text(t, o != NULL ? o->policy->name : "");
    const struct order_policy *policy = o != NULL ? o->policy : NULL;

    if (!tape_loads(t) || t->failed)
        return policy;
    policy = orderers_find(core, name);
    if (policy == NULL)
        tape_fail(t, "order '%s': is unknown here", name);
    return policy;
}

/* Row 0 is there already on a tape that loads: it is the core's own. */
void orderers_walk(struct core *core, struct tape *t)
{
    uint32_t count = core->orderer_count;

    tape_count(t, &count, "orders");
    for (uint32_t i = 0; tape_more(t, i, count); i++) {
        const struct order_policy *policy =
            policy_walk(core, tape_loads(t) ? NULL : &core->orderers[i], t);

        if (tape_loads(t) && !t->failed && orderers_want(core, policy) != i)
            tape_fail(t, "order '%s': is there twice, or not the first", policy->name);
    }
    if (tape_loads(t) && !t->failed && count == 0)
        tape_fail(t, "orders: the core's own is missing");
    count = core->order_option_count;
    tape_count(t, &count, "options of the order");
    for (uint32_t i = 0; tape_more(t, i, count); i++) {
        tape_grow(t, core->order_options, core->order_option_count, core->order_option_cap);
        tape_i64(t, &core->order_options[i]);
    }
}

void orderers_state_walk(struct core *core, struct tape *t)
{
    for (uint32_t i = 0; tape_more(t, i, core->orderer_count); i++)
        if (core->orderers[i].policy->walk != NULL)
            core->orderers[i].policy->walk(core->orderers[i].state, core, t);
}
