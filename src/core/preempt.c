/* SPDX-License-Identifier: Apache-2.0 */
/* preempt.c - running jobs give way to a waiting one: a plan is made whole, or nothing happens. */
#include "core/preempt.h"

#include "base/mem.h"
#include "core/claim.h"
#include "core/elastic.h"
#include "core/impl.h"
#include "core/life.h"
#include "core/plan.h"
#include "core/rights.h"
#include "core/victims.h"

/* Some of its tasks stop, and it goes on. */
static void shrink(const struct plan *p, const struct leaving_job *job, struct decisions *out)
{
    uint32_t *tasks = mem_alloc(job->taken, sizeof *tasks), count = 0;

    for (uint32_t i = job->first; i < job->first + job->count; i++)
        if (p->leavers[i].chosen)
            tasks[count++] = p->leavers[i].task;
    job_shrink(p->core, job->job, tasks, count, p->core->jobs.rows[p->job].id, out);
    mem_free(tasks);
}

/* The right by which the job is stopped. */
static enum right taken_by(const struct plan *p, const struct leaving_job *job)
{
    for (uint32_t i = job->first; i < job->first + job->count; i++)
        if (p->leavers[i].chosen)
            return p->leavers[i].by;
    return RIGHT_NONE;
}

/* All the rights that it uses. */
static uint32_t taken_by_all(const struct plan *p)
{
    uint32_t by = RIGHT_NONE;

    for (uint32_t i = 0; i < p->count; i++)
        by |= p->leavers[i].chosen ? p->leavers[i].by : RIGHT_NONE;
    for (uint32_t i = 0; i < p->claim_count; i++)
        by |= p->claims[i].taken ? RIGHT_CLASS : RIGHT_NONE;
    return by;
}

static void carry_out(struct plan *p, struct decisions *out)
{
    struct core *core = p->core;
    struct job *claimant = &core->jobs.rows[p->job];

    claimant->took_by = taken_by_all(p);
    plan_drop_claims(p);
    for (uint32_t j = 0; j < p->job_count; j++) {
        const struct leaving_job *job = &p->jobs[j];

        if (job->taken == 0)
            continue;
        if (job->taken <= job->spare) {
            shrink(p, job, out);
            continue;
        }
        core->jobs.rows[job->job].claimant = claimant->id;
        claimant->victims++;
        rights_gave_way(core, job->job, taken_by(p, job), claimant->id);
        job_stop(core, job->job, STOP_PREEMPT, out);
    }
    claim_make(core, p->job, p->layout, p->places, p->place_count);
    vec_push(core->claimants, core->claimant_count, core->claimant_cap, p->job);
    if (claimant->victims == 0 && claim_is_free(core, p->job) && claim_is_admitted(core, p->job))
        claim_redeem(core, p->job, out); /* who leaves was not in its way after all */
    else
        job_note(core, p->job, out);
}

/* Who was told to stop is as good as gone, unless it should have been long ago. */
static void give_leaving(struct core *core)
{
    for (uint32_t a = 0; a < core->jobs.active_count; a++) {
        const struct job *row = &core->jobs.rows[core->jobs.active[a]];

        if (row->attended || (row->state != JOB_STOPPING && row->tasks_shrinking == 0))
            continue;
        for (uint32_t i = 0; i < row->task_count; i++) {
            const struct task *task = job_task(core, row, i);

            if (task->leaving && !task->left)
                trial_give(core, task->node, task->shape, task->gpu_mask, task->mig_start, i);
        }
    }
}

static bool choose(struct plan *p)
{
    if (p->count == 0)
        return false;
    return p->count <= PLAN_EXACT_MAX ? plan_exact(p) : plan_near(p);
}

/* With the claims off that it may take, or with none if that is how it can be done: what it may
 * take from others can be less without them. */
static bool choose_with_claims(struct plan *p)
{
    const uint32_t mark = trial_mark(&p->core->trial);

    if (plan_take_claims(p)) {
        if (plan_none(p) || choose(p)) {
            plan_put_back_claims(p);
            return true;
        }
        trial_undo(p->core, mark);
        plan_untake_claims(p);
    }
    return choose(p);
}

/* Where only claims are in its way it starts at once, and nobody more is told to leave. */
static bool start_on_claims(struct plan *p)
{
    const uint32_t mark = trial_mark(&p->core->trial);

    if (!plan_take_claims(p))
        return false;
    if (plan_none(p)) {
        give_leaving(p->core); /* a claim is on top of what they hold */
        plan_put_back_claims(p);
        return true;
    }
    trial_undo(p->core, mark);
    plan_untake_claims(p);
    return false;
}

/* On trial: the victims still hold what they have. Perhaps it is enough to wait for those that
 * leave anyway; then nobody more is told to, and the room is claimed. */
static bool make_plan(struct plan *p)
{
    const uint32_t mark = trial_mark(&p->core->trial);
    bool done = start_on_claims(p);

    if (!done) {
        give_leaving(p->core);
        done = (trial_mark(&p->core->trial) > mark && plan_none(p)) || choose_with_claims(p);
    }
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
            carry_out(&plan, out);
        plan_close(&plan);
        if (core->queues.count == 1)
            break; /* nothing to fall below */
    }
    return done;
}
