/* SPDX-License-Identifier: Apache-2.0 */
/* health.c - nodes that are silent, blink, or are drained; GPUs on which nothing starts. */
#include "core/health.h"

#include <errno.h>

#include "base/bits.h"
#include "base/err.h"
#include "core/claim.h"
#include "core/due.h"
#include "core/facts.h"
#include "core/impl.h"
#include "core/ledger.h"
#include "core/life.h"

/* ---- nodes ---- */

/* It takes new work again, perhaps. */
static void node_gains(struct core *core, uint32_t node)
{
    core->index.gains++;
    ledger_refresh(core, node);
    due_node(core, node);
}

/* One that blinks: it was silent so often, or is so again before it has been calm. */
static void note_silence(struct core *core, struct node *row)
{
    const int64_t window_end_us = core->now_us + FLAP_WINDOW_US;

    if (row->silences_until_us[0] > core->now_us || row->flaps_until_us > 0)
        row->flaps_until_us = window_end_us;
    for (uint32_t i = 0; i + 1 < FLAP_SILENCES - 1; i++)
        row->silences_until_us[i] = row->silences_until_us[i + 1];
    row->silences_until_us[FLAP_SILENCES - 2] = window_end_us;
}

static void node_silent(struct core *core, uint32_t node)
{
    struct node *row = &core->nodes.rows[node];

    if (row->silent)
        return;
    row->silent = true;
    row->silent_since_us = core->now_us;
    note_silence(core, row);
    ledger_refresh(core, node);
    due_node(core, node);
}

static void node_heard(struct core *core, uint32_t node)
{
    struct node *row = &core->nodes.rows[node];

    if (!row->silent)
        return;
    row->silent = row->lost = false;
    row->silent_since_us = 0;
    node_gains(core, node);
}

void node_is_clean(struct core *core, uint32_t node)
{
    struct node *row = &core->nodes.rows[node];

    if (!row->unlisted || row->silent)
        return;
    row->unlisted = false;
    node_gains(core, node);
}

static void node_drained(struct core *core, uint32_t node)
{
    core->nodes.rows[node].drained = true;
    claims_drop_on(core, node);
    ledger_refresh(core, node);
}

int fact_node_health(struct core *core, const struct event *event, struct err *err)
{
    uint32_t node;
    const int rc = node_find(core, event->node_health.node, &node, err);

    if (rc < 0)
        return rc;
    switch (event->node_health.health) {
    case NODE_SILENT:
        node_silent(core, node);
        return 0;
    case NODE_HEARD:
        node_heard(core, node);
        return 0;
    case NODE_DRAINED:
        node_drained(core, node);
        return 0;
    case NODE_UNDRAINED:
        if (core->nodes.rows[node].drained) {
            core->nodes.rows[node].drained = false;
            node_gains(core, node);
        }
        return 0;
    case NODE_HEALTH_COUNT:
        break;
    }
    return err_set(err, -EINVAL, "node '%s': health: must be 0 to %d, is %d",
                   event->node_health.node, NODE_HEALTH_COUNT - 1, (int)event->node_health.health);
}

/* A job that may go on with fewer tasks is told of this one, like the others of all. */
static void tell_lost(struct core *core, uint32_t job, uint32_t index, struct decisions *out)
{
    const struct job *row = &core->jobs.rows[job];
    const struct decision decision = {
        .type = DECISION_STOP,
        .job_id = row->id,
        .job = job,
        .run = job_task(core, row, index)->run,
        .mode = STOP_SHRINK,
        .reason = REASON_LOST,
        .for_job = JOB_NONE,
        .grace_us = job_grace_us(core, row),
        .place_first = out->place_count,
        .place_count = 1,
    };

    if (!job_task(core, row, index)->shrinking) {
        job_add_place(core, job, index, out);
        vec_push(out->items, out->count, out->cap, decision);
    }
    job_task_lost(core, job, index);
}

/* The jobs are told to stop first: should the node be heard again, what still runs there of an
 * earlier run is to end. */
static void node_lost(struct core *core, uint32_t node, struct decisions *out)
{
    core->nodes.rows[node].lost = core->nodes.rows[node].unlisted = true;
    while (core->nodes.rows[node].first_task != ROW_NONE) {
        const uint32_t task = core->nodes.rows[node].first_task;
        const uint32_t job = core->jobs.tasks[task].job;
        struct job *row = &core->jobs.rows[job];

        if (core->jobs.tasks[task].claimed) {
            claim_drop(core, job);
            continue;
        }
        if (row->state != JOB_STOPPING && job_is_elastic(core, row)) {
            tell_lost(core, job, task - row->task_first, out);
            continue;
        }
        row->lost = true;
        if (row->state != JOB_STOPPING)
            job_stop_broken(core, job, out);
        job_task_left(core, job, task - row->task_first, false);
    }
}

/* It was a while ago that one could not be made. */
static void instances_may_be_made(struct core *core, uint32_t node)
{
    const uint32_t gpus = nodes_class_of(&core->nodes, node)->gpu_count;

    for (uint32_t i = 0; core->nodes.rows[node].mig_first != ROW_NONE && i < gpus; i++) {
        struct mig_book *book = nodes_mig(&core->nodes, node, i);

        if (book->failed_until_us == 0 || book->failed_until_us > core->now_us)
            continue;
        book->failed_until_us = 0;
        nodes_mig_changed(&core->nodes, node, i);
        node_gains(core, node);
    }
}

void node_overdue(struct core *core, uint32_t node, struct decisions *out)
{
    struct node *row = &core->nodes.rows[node];

    if (row->silent && !row->lost && core->now_us - row->silent_since_us >= core->silent_us)
        node_lost(core, node, out);
    if (row->flaps_until_us > 0 && row->flaps_until_us <= core->now_us) {
        row->flaps_until_us = 0;
        node_gains(core, node);
    }
    instances_may_be_made(core, node);
    due_node(core, node);
}

/* ---- GPUs ---- */

static bool failed_once_too_often(struct core *core, struct gpu_book *gpu)
{
    const bool too_often = gpu->failures_until_us[0] > core->now_us;

    for (uint32_t i = 0; i + 1 < FAILED_STARTS - 1; i++)
        gpu->failures_until_us[i] = gpu->failures_until_us[i + 1];
    gpu->failures_until_us[FAILED_STARTS - 2] = core->now_us + FAILED_WITHIN_US;
    return too_often;
}

bool gpus_failed_to_start(struct core *core, const struct task *task)
{
    struct node *row = &core->nodes.rows[task->node];
    bool at_fault = false;

    for (uint64_t left = task->gpu_mask; left != 0; left = mask_drop_lowest(left)) {
        const uint32_t gpu = mask_lowest(left);

        if (!failed_once_too_often(core, &core->nodes.gpus[row->gpu_first + gpu]))
            continue;
        row->lost_mask |= mask_bit(gpu);
        row->quarantined_mask |= mask_bit(gpu);
        at_fault = true;
    }
    if (!at_fault)
        return false;
    claims_drop_on_gpus(core, task->node, row->lost_mask & task->gpu_mask);
    ledger_refresh(core, task->node);
    return true;
}

void gpu_is_healthy(struct core *core, uint32_t node, uint32_t gpu)
{
    struct node *row = &core->nodes.rows[node];
    struct gpu_book *book = &core->nodes.gpus[row->gpu_first + gpu];

    row->lost_mask &= ~mask_bit(gpu);
    row->quarantined_mask &= ~mask_bit(gpu);
    for (uint32_t i = 0; i < FAILED_STARTS - 1; i++)
        book->failures_until_us[i] = 0;
}
