/* SPDX-License-Identifier: Apache-2.0 */
/* victims.c - the running jobs that might give way, worst first. */
#include "core/victims.h"

#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "core/impl.h"

__extension__ typedef __int128 wide;

#define SHIFTS_PER_JOB 8u /* more than that, and sorting anew is cheaper than inserting */

static bool is_worse(const struct victim *a, const struct victim *b)
{
    if (a->rank != b->rank)
        return a->rank < b->rank;
    return a->key != b->key ? a->key > b->key : a->sequence > b->sequence;
}

static int compare(const void *a, const void *b, void *arg)
{
    (void)arg;
    return is_worse(a, b) ? -1 : is_worse(b, a);
}

int64_t job_order_key(struct core *core, uint32_t job)
{
    const bool waits = core->jobs.rows[job].state == JOB_PENDING && !core->jobs.rows[job].moving;
    const struct order_policy *order = orderer_of(core, job)->policy;
    int64_t key;

    if (!waits && order->preempts == PREEMPT_NEVER)
        return -1; /* nobody goes before it */
    key = orderer_key(core, job);
    if (waits || order->hysteresis_ppm == 1000000)
        return key;
    return (int64_t)((wide)key * 1000000 / order->hysteresis_ppm);
}

static struct victim victim_of(struct core *core, uint32_t job)
{
    return (struct victim){
        .rank = core->classes.rows[core->jobs.rows[job].class_id].rank,
        .key =
            orderer_of(core, job)->policy->preempts == PREEMPT_TAKE ? job_order_key(core, job) : 0,
        .sequence = core->jobs.rows[job].sequence,
        .job = job,
    };
}

/* It runs, and no task of it leaves for another job already. */
static bool may_give_way(const struct job *row)
{
    return row->state == JOB_RUNNING && row->claimant == JOB_NONE;
}

/* Those that were listed and still run, in their old order; then those that are new. */
static void list_running(struct core *core, struct victims *v)
{
    uint32_t kept = 0;

    v->round++;
    vec_reserve(v->listed, v->listed_cap, core->jobs.count);
    for (uint32_t i = 0; i < v->count; i++) {
        const uint32_t job = v->list[i].job;
        const struct job *row = &core->jobs.rows[job];

        if (!may_give_way(row) || row->sequence != v->list[i].sequence)
            continue;
        v->listed[job] = v->round;
        v->list[kept++] = victim_of(core, job);
    }
    v->count = kept;
    for (uint32_t i = 0; i < core->jobs.active_count; i++) {
        const uint32_t job = core->jobs.active[i];

        if (may_give_way(&core->jobs.rows[job]) && v->listed[job] != v->round)
            vec_push(v->list, v->count, v->cap, victim_of(core, job));
    }
}

/* Insertion sort; false, with everything still there, once it has moved too much. */
static bool insert_all(struct victims *v)
{
    uint64_t shifts = 0;

    for (uint32_t i = 1; i < v->count; i++) {
        const struct victim item = v->list[i];
        uint32_t at = i;

        for (; at > 0 && is_worse(&item, &v->list[at - 1]); at--)
            v->list[at] = v->list[at - 1];
        v->list[at] = item;
        shifts += i - at;
        if (shifts > (uint64_t)SHIFTS_PER_JOB * v->count)
            return false;
    }
    return true;
}

void victims_refresh(struct core *core)
{
    struct victims *v = &core->victims;

    list_running(core, v);
    if (!insert_all(v))
        sort_stable(v->list, v->count, sizeof *v->list, compare, NULL);
}

void victims_done(struct victims *victims)
{
    mem_free(victims->list);
    mem_free(victims->listed);
    memset(victims, 0, sizeof *victims);
}
