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

static void stop_chosen(const struct plan *p, struct decisions *out)
{
    struct core *core = p->core;
    struct job *claimant = &core->jobs.rows[p->job];

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
        rights_gave_way(core, job->job);
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
                trial_give(core, task->node, task->shape, task->gpu_mask, i);
        }
    }
}

/* On trial: the victims still hold what they have. Perhaps it is enough to wait for those that
 * leave anyway; then nobody more is told to, and the room is claimed. */
static bool make_plan(struct plan *p)
{
    const uint32_t mark = trial_mark(&p->core->trial);
    bool done;

    give_leaving(p->core);
    done = trial_mark(&p->core->trial) > mark && plan_none(p);
    if (!done && p->count > 0)
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
