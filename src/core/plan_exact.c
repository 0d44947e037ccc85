/* SPDX-License-Identifier: Apache-2.0 */
/* plan_exact.c - the cheapest set of leavers, by looking at all sets. */
#include "base/check.h"
#include "base/mem.h"
#include "base/sort.h"
#include "core/impl.h"
#include "core/place.h"
#include "core/plan.h"

struct set {
    uint32_t members; /* bit v: leaver v */
    uint32_t rank;    /* the highest */
    int64_t price;
};

static int cheaper_first(const void *a, const void *b, void *arg)
{
    const struct set *x = a, *y = b;

    (void)arg;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->price != y->price)
        return x->price < y->price ? -1 : 1;
    return x->members < y->members ? -1 : x->members > y->members; /* of the worst */
}

/* How many leavers of the job are in the set. */
static uint32_t members_of(const struct leaving_job *job, uint32_t members)
{
    return (uint32_t)__builtin_popcount(members >> job->first & ((1u << job->count) - 1));
}

/* False if a job would neither go on nor be stopped whole. */
static bool price_set(const struct plan *p, struct set *set)
{
    for (uint32_t i = 0; i < p->job_count; i++) {
        const struct leaving_job *job = &p->jobs[i];
        const uint32_t taken = members_of(job, set->members);

        if (taken == 0)
            continue;
        if (taken > job->spare && (taken < job->count || !job->whole))
            return false;
        set->rank = job->rank > set->rank ? job->rank : set->rank;
        set->price += leaving_price(job, taken);
    }
    return true;
}

static struct set *list_sets(const struct plan *p, uint32_t *out_count)
{
    struct set *sets = mem_alloc(1u << p->count, sizeof *sets);
    uint32_t count = 0;

    for (uint32_t members = 1; members < 1u << p->count; members++) {
        struct set set = {.members = members};

        if (price_set(p, &set))
            sets[count++] = set;
    }
    sort_stable(sets, count, sizeof *sets, cheaper_first, NULL);
    *out_count = count;
    return sets;
}

/* Places for the waiting job, as far as its queues may hold it. */
static bool place(struct plan *p)
{
    const uint32_t mark = trial_mark(&p->core->trial);
    struct refusal refusal;
    enum reason reason;

    p->place_count = 0;
    if (place_job(p->core, p->job, HELD_IN_FUTURE, &p->layout, &reason, &refusal) != PLACE_DONE)
        return false;
    for (uint32_t i = mark; i < p->core->trial.count; i++)
        vec_push(p->places, p->place_count, p->place_cap, p->core->trial.log[i]);
    return plan_is_entitled(p);
}

/* Is the gang placed once these have left? Otherwise all is as before. */
static bool try_set(struct plan *p, uint32_t members)
{
    const uint32_t mark = trial_mark(&p->core->trial);
    uint32_t queue;
    bool done = true;

    for (uint32_t v = 0; done && members >> v != 0; v++)
        done = !(members >> v & 1) || plan_take(p, v);
    done = done && plan_admits(p, &queue) && place(p);
    if (done)
        return true;
    plan_untake_all(p, mark);
    return false;
}

bool plan_none(struct plan *p)
{
    return try_set(p, 0);
}

/* Would there be room if all left, whatever the rights? If not, no set will do. */
static bool could_help(struct plan *p)
{
    const uint32_t mark = trial_mark(&p->core->trial);
    uint32_t layout;
    enum reason reason;
    bool fits;

    for (uint32_t j = 0; j < p->job_count; j++) {
        const struct job *row = &p->core->jobs.rows[p->jobs[j].job];

        for (uint32_t i = 0; i < row->task_count; i++) {
            const struct task *task = job_task(p->core, row, i);

            if (!task->left && !task->leaving)
                trial_give(p->core, task->node, task->shape, task->gpu_mask, task->mig_start, i);
        }
    }
    fits = place_gang(p->core, p->core->jobs.rows[p->job].gang, UINT32_MAX, &layout, &reason);
    trial_undo(p->core, mark);
    return fits;
}

bool plan_exact(struct plan *p)
{
    struct set *sets;
    uint32_t count;
    bool done = false;

    check(p->count <= PLAN_EXACT_MAX);
    if (!could_help(p))
        return false;
    sets = list_sets(p, &count);
    for (uint32_t i = 0; i < count && !done; i++)
        done = try_set(p, sets[i].members);
    if (done)
        plan_put_back_unneeded(p); /* without them the gang would have gone elsewhere, perhaps */
    mem_free(sets);
    return done;
}
