/* SPDX-License-Identifier: Apache-2.0 */
/* listed.c - a node tells all tasks that really run there, and the books follow.
 *
 * Reports get lost: a task that is not listed has gone, and one that is listed has started. A task
 * that is on its way may be listed late, so that one is given up only when it was missing in two
 * listings in a row. A listing never stops anything: what is listed and nobody asked for is
 * counted, for the driver to deal with. Every repair is counted, and a listing heard twice repairs
 * once. */
#include <errno.h>

#include "base/err.h"
#include "core/facts.h"
#include "core/health.h"
#include "core/impl.h"
#include "core/life.h"

/* So far nobody has seen them. Claims are plans, of which a node knows nothing. What is on its way
 * is missed once at one time, for the same listing may be heard twice. */
static void expect_all(struct core *core, uint32_t node)
{
    uint32_t at = core->nodes.rows[node].first_task;

    for (; at != ROW_NONE; at = core->jobs.tasks[at].node_next) {
        struct task *task = &core->jobs.tasks[at];

        if (task->claimed || (task->missed > 0 && task->missed_us == core->now_us))
            continue;
        task->missed++;
        task->missed_us = core->now_us;
    }
}

/* The task of ours that is listed; ROW_NONE if it is not ours, of an earlier run, or elsewhere. */
static uint32_t find_listed(const struct core *core, uint32_t node,
                            const struct listed_task *listed)
{
    const uint32_t job = jobs_find(&core->jobs, listed->job_id);
    const struct job *row = job != ROW_NONE ? &core->jobs.rows[job] : NULL;
    const struct task *task;

    if (row == NULL || row->state == JOB_PENDING || listed->task >= row->task_count ||
        row->task_first == ROW_NONE)
        return ROW_NONE;
    task = job_task(core, row, listed->task);
    return task->left || task->node != node || (listed->run != 0 && listed->run != task->run)
               ? ROW_NONE
               : row->task_first + listed->task;
}

/* False if it is a stray. */
static bool see(struct core *core, uint32_t node, const struct listed_task *listed)
{
    const uint32_t at = find_listed(core, node, listed);
    struct task *task = at != ROW_NONE ? &core->jobs.tasks[at] : NULL;

    if (task == NULL)
        return false;
    task->missed = 0;
    task->missed_us = 0;
    if (!task->started) {
        core->drift.started++;
        job_task_started(core, task->job, listed->task);
    }
    return true;
}

/* It has gone and nobody said so. What was told to stop has stopped; else it was lost. */
static void give_up(struct core *core, uint32_t at)
{
    const uint32_t job = core->jobs.tasks[at].job;
    struct job *row = &core->jobs.rows[job];

    if (row->state == JOB_STOPPING) {
        core->drift.left++;
        row->failed = true; /* whether it ended well first, nobody knows */
        job_unsettle(core, job);
        job_task_left(core, job, at - row->task_first, false);
        return;
    }
    if (core->jobs.tasks[at].shrinking)
        core->drift.left++;
    else
        core->drift.lost++;
    job_task_lost(core, job, at - row->task_first);
}

static void give_up_missing(struct core *core, uint32_t node)
{
    uint32_t at = core->nodes.rows[node].first_task;

    while (at != ROW_NONE) {
        const struct task *task = &core->jobs.tasks[at];
        const uint32_t next = task->node_next; /* it has not left, so it stays where it is */

        if (!task->claimed && task->missed >= (task->started ? 1 : MISSED_MAX))
            give_up(core, at);
        at = next;
    }
}

/* A stray that was there the last time is counted already. */
static void note_strays(struct core *core, uint32_t node, uint32_t strays)
{
    struct node *row = &core->nodes.rows[node];

    if (strays > row->strays)
        core->drift.stray += strays - row->strays;
    row->strays = strays;
    if (strays == 0)
        node_is_clean(core, node);
}

int fact_node_listed(struct core *core, const struct event *event, struct err *err)
{
    uint32_t node;
    uint32_t strays = 0;
    const int rc = node_find(core, event->listed.node, &node, err);

    if (rc < 0)
        return rc;
    expect_all(core, node);
    for (uint32_t i = 0; i < event->listed.count; i++)
        strays += !see(core, node, &event->listed.tasks[i]);
    give_up_missing(core, node);
    note_strays(core, node, strays);
    return 0;
}
