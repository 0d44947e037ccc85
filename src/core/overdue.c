/* SPDX-License-Identifier: Apache-2.0 */
/* overdue.c - what is done about what is due. */
#include "core/overdue.h"

#include "core/claim.h"
#include "core/due.h"
#include "core/ends.h"
#include "core/health.h"
#include "core/impl.h"
#include "core/ledger.h"
#include "core/life.h"

/* Room that was planned on this node is looked for elsewhere. */
static void node_is_stuck(struct core *core, uint32_t node)
{
    core->nodes.rows[node].stuck++;
    claims_drop_on(core, node);
    ledger_refresh(core, node);
}

/* Its tasks should have been killed long ago: their nodes need a person, and get no new work until
 * they are gone. Nobody waits for them any more. */
static void attend(struct core *core, uint32_t job, struct decisions *out)
{
    struct job *row = &core->jobs.rows[job];
    const uint32_t claimant =
        row->claimant != JOB_NONE ? jobs_find(&core->jobs, row->claimant) : ROW_NONE;
    struct decision decision = {
        .type = DECISION_ATTEND,
        .job_id = row->id,
        .job = job,
        .run = row->run,
        .for_job = JOB_NONE,
        .place_first = out->place_count,
    };

    row->attended = true;
    row->ends_us = TIME_NONE;
    for (uint32_t i = 0; i < row->task_count; i++)
        if (!job_task(core, row, i)->left) {
            job_add_place(core, job, i, out);
            node_is_stuck(core, job_task(core, row, i)->node);
        }
    if (claimant != ROW_NONE)
        claim_drop(core, claimant);
    job_forget_claimant(core, job);
    due_job(core, job);
    decision.place_count = out->place_count - decision.place_first;
    vec_push(out->items, out->count, out->cap, decision);
}

static void job_overdue(struct core *core, uint32_t job, struct decisions *out)
{
    const struct job *row = &core->jobs.rows[job];
    const bool runs = row->state == JOB_RUNNING;
    const bool over = runs && (row->cancelled || row->failed || row->lost);

    if (runs && !over && row->limit_us > 0 && core->now_us - row->start_us >= row->limit_us)
        job_stop(core, job, STOP_LIMIT, out);
    if (row->state == JOB_PENDING && ends_claim_due_us(row) <= core->now_us)
        ends_claim_waits(core, job);
    else if (row->ends_us <= core->now_us)
        ends_overran(core, job);
    if (over)
        return; /* it is told to stop for that, in the same step */
    if (row->state == JOB_STOPPING && job_attend_us(core, row) <= core->now_us)
        attend(core, job, out);
    else
        due_job(core, job); /* one that runs may give way from now on, perhaps */
}

void settle_overdue(struct core *core, struct decisions *out)
{
    uint32_t job, node;

    core->settled_us = core->now_us;
    while (due_pop(core, &job, &node)) {
        reserve_upset(core);
        if (job != ROW_NONE)
            job_overdue(core, job, out);
        else
            node_overdue(core, node, out);
    }
}
