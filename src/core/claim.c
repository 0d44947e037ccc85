/* SPDX-License-Identifier: Apache-2.0 */
/* claim.c - room that is kept for a waiting job. */
#include "core/claim.h"

#include "base/check.h"
#include "core/impl.h"
#include "core/ledger.h"
#include "core/life.h"

void claim_make(struct core *core, uint32_t job, const struct trial_item *places, uint32_t count)
{
    struct job *row = &core->jobs.rows[job];

    check(row->state == JOB_PENDING && row->task_first == ROW_NONE && count > 0);
    row->task_first = jobs_tasks_add(&core->jobs, count);
    row->task_count = count;
    for (uint32_t i = 0; i < count; i++) {
        core->jobs.tasks[row->task_first + i] = (struct task){
            .job = job,
            .node = places[i].node,
            .shape = places[i].shape,
            .gpu_mask = places[i].gpu_mask,
            .claimed = true,
        };
        job_link_task(core, row->task_first + i);
        ledger_take(core, places[i].node, places[i].shape, places[i].gpu_mask);
    }
}

void claim_drop(struct core *core, uint32_t job)
{
    struct job *row = &core->jobs.rows[job];

    if (row->state != JOB_PENDING || row->task_first == ROW_NONE)
        return;
    for (uint32_t i = 0; i < row->task_count; i++) {
        const struct task *task = job_task(core, row, i);

        job_unlink_task(core, row->task_first + i);
        ledger_give(core, task->node, task->shape, task->gpu_mask);
        if (core->nodes.rows[task->node].deficit)
            ledger_reported(core, task->node); /* perhaps it is over */
    }
    jobs_tasks_remove(&core->jobs, row->task_first, row->task_count);
    row->task_first = ROW_NONE;
    row->task_count = 0;
    core->index.gains++;
}

void claims_drop_on(struct core *core, uint32_t node)
{
    uint32_t task = core->nodes.rows[node].first_task;

    while (task != ROW_NONE) {
        const struct task *t = &core->jobs.tasks[task];

        if (t->claimed) {
            claim_drop(core, t->job);
            task = core->nodes.rows[node].first_task; /* the list has changed */
        } else {
            task = t->node_next;
        }
    }
}
