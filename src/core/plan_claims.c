/* SPDX-License-Identifier: Apache-2.0 */
/* plan_claims.c - claims that are lost to a waiting job.
 *
 * A claim is no more than a start to come. Whose class could make its job give way as soon as it
 * runs has the room at once: otherwise that job would start only to be stopped. Who loses a claim
 * is of a lower rank than the taker, so in one step none comes back to who has lost it. Order takes
 * no claims: keys move while a job waits, and what is freed for a large one would never last. Nor
 * does reclaim, as what queues are entitled to moves with what is asked for. */
#include "base/mem.h"
#include "base/sort.h"
#include "core/claim.h"
#include "core/impl.h"
#include "core/life.h"
#include "core/plan.h"

static int best_first(const void *a, const void *b, void *arg)
{
    const struct leaving_claim *x = a, *y = b;

    (void)arg;
    if (x->rank != y->rank)
        return x->rank > y->rank ? -1 : 1;
    return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

static void book_leaving(const struct plan *p, const struct leaving_claim *claim, int sign)
{
    const struct job *row = &p->core->jobs.rows[claim->job];
    const struct amounts amounts = job_amounts(p->core, row, ROW_NONE);

    queues_book(&p->core->queues, &row->at, BOOK_LEAVING, &amounts, sign, p->core->now_us);
}

static void take(struct plan *p, struct leaving_claim *claim)
{
    const struct job *row = &p->core->jobs.rows[claim->job];

    for (uint32_t i = 0; i < row->task_count; i++) {
        const struct task *task = job_task(p->core, row, i);

        trial_give(p->core, task->node, task->shape, task->gpu_mask, task->mig_start, i);
    }
    book_leaving(p, claim, 1);
}

static void list(struct plan *p)
{
    const struct core *core = p->core;

    p->claim_count = 0;
    for (uint32_t i = 0; i < core->claimant_count; i++) {
        const struct job *row = &core->jobs.rows[core->claimants[i]];
        const struct leaving_claim claim = {
            .job = core->claimants[i],
            .rank = core->classes.rows[row->class_id].rank,
            .sequence = row->sequence,
        };

        if (job_has_claim(row))
            vec_push(p->claims, p->claim_count, p->claim_cap, claim);
    }
    sort_stable(p->claims, p->claim_count, sizeof *p->claims, best_first, NULL);
}

bool plan_take_claims(struct plan *p)
{
    bool some = false;

    list(p);
    for (uint32_t i = p->claim_count; i-- > 0;) {
        struct leaving_claim *claim = &p->claims[i];

        claim->taken =
            rights_over(p->core, p->job, claim->job, ROW_NONE, p->overshoot) == RIGHT_CLASS;
        if (claim->taken)
            take(p, claim);
        some |= claim->taken;
    }
    return some;
}

static bool can_stay(struct plan *p, struct leaving_claim *claim)
{
    const struct job *row = &p->core->jobs.rows[claim->job];
    const uint32_t mark = trial_mark(&p->core->trial);
    bool stays = true;
    uint32_t queue;

    for (uint32_t i = 0; stays && i < row->task_count; i++)
        stays = plan_can_stay(p->core, job_task(p->core, row, i), i);
    if (!stays) {
        trial_undo(p->core, mark);
        return false;
    }
    book_leaving(p, claim, -1);
    if (plan_admits(p, &queue) && plan_places_admitted(p))
        return true;
    book_leaving(p, claim, 1);
    trial_undo(p->core, mark);
    return false;
}

void plan_put_back_claims(struct plan *p)
{
    for (uint32_t i = 0; i < p->claim_count; i++)
        if (p->claims[i].taken && can_stay(p, &p->claims[i]))
            p->claims[i].taken = false;
}

void plan_unbook_claims(const struct plan *p)
{
    for (uint32_t i = 0; i < p->claim_count; i++)
        if (p->claims[i].taken)
            book_leaving(p, &p->claims[i], -1);
}

void plan_untake_claims(struct plan *p)
{
    plan_unbook_claims(p);
    p->claim_count = 0;
}

void plan_drop_claims(struct plan *p)
{
    for (uint32_t i = 0; i < p->claim_count; i++) {
        const struct leaving_claim *claim = &p->claims[i];

        if (!claim->taken)
            continue;
        rights_gave_way(p->core, claim->job, RIGHT_CLASS, p->core->jobs.rows[p->job].id);
        job_forget_victims(p->core, claim->job);
        job_leave_claimants(p->core, claim->job);
        claim_drop(p->core, claim->job);
    }
}
