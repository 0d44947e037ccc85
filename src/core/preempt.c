/* SPDX-License-Identifier: Apache-2.0 */
/* preempt.c - running jobs give way to a waiting one: a plan is made whole, or nothing happens. */
#include "core/preempt.h"

#include "core/claim.h"
#include "core/impl.h"
#include "core/life.h"
#include "core/plan.h"
#include "core/rights.h"
#include "core/victims.h"

static void stop_chosen(const struct plan *p, struct decisions *out)
{
    struct core *core = p->core;
    struct job *claimant = &core->jobs.rows[p->job];

    for (uint32_t v = 0; v < p->count; v++) {
        if (!p->leavers[v].chosen)
            continue;
        core->jobs.rows[p->leavers[v].job].claimant = claimant->id;
        claimant->victims++;
        job_stop(core, p->leavers[v].job, STOP_PREEMPT, out);
    }
    claim_make(core, p->job, p->layout, p->places, p->place_count);
    vec_push(core->claimants, core->claimant_count, core->claimant_cap, p->job);
    job_note(core, p->job, out);
}

/* On trial: the victims still hold what they have. */
static bool make_plan(struct plan *p)
{
    const uint32_t mark = trial_mark(&p->core->trial);
    bool done = false;

    if (p->count > 0)
        done = p->count <= PLAN_EXACT_MAX ? plan_exact(p) : plan_near(p);
    trial_undo(p->core, mark);
    plan_unbook(p);
    return done;
}

bool preempt_for(struct core *core, uint32_t job, struct decisions *out)
{
    bool done = false;

    if (!rights_some(core, job))
        return false;
    for (int overshoot = OVERSHOOT_NEVER; overshoot <= OVERSHOOT_ONCE && !done; overshoot++) {
        struct plan plan;

        plan_open(&plan, core, job, (enum overshoot)overshoot);
        done = make_plan(&plan);
        if (done)
            stop_chosen(&plan, out);
        plan_close(&plan);
        if (core->queues.count == 1)
            break; /* nothing to fall below */
    }
    return done;
}
