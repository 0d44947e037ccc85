/* SPDX-License-Identifier: Apache-2.0 */
/* due.c - when a job or a node needs the core though nothing happens. */
#include "core/due.h"

#include "core/ends.h"
#include "core/impl.h"
#include "core/life.h"

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* What is due once: what is before the last step has been seen. */
static int64_t unless_seen(const struct core *core, int64_t at_us)
{
    return at_us > core->settled_us ? at_us : TIME_NONE;
}

/* Who has a reservation may start at its time, though what it waited for ended long before. */
static int64_t pending_due_us(const struct core *core, const struct job *row)
{
    int64_t at_us = earlier(ends_claim_due_us(row), unless_seen(core, row->takes_after_us));

    if (row->reservation != ROW_NONE)
        at_us = earlier(at_us, unless_seen(core, core->reserve.rows[row->reservation].at_us));
    return at_us;
}

/* The end of min_run_us is due once. */
static int64_t job_due_us(const struct core *core, const struct job *row)
{
    int64_t at_us = row->ends_us, min_run_us, exempt_us;

    if (row->state == JOB_PENDING)
        return pending_due_us(core, row);
    if (row->state == JOB_FREE)
        return TIME_NONE;
    if (row->state == JOB_STOPPING && !row->attended)
        at_us = earlier(at_us, job_attend_us(core, row));
    if (row->state != JOB_RUNNING)
        return at_us;
    if (row->limit_us > 0)
        at_us = earlier(at_us, row->start_us + row->limit_us);
    min_run_us = job_min_run_us(core, row); /* a free row may be of a class that is gone */
    exempt_us = row->start_us + min_run_us;
    return min_run_us > 0 && exempt_us > core->settled_us && !row->fixed ? earlier(at_us, exempt_us)
                                                                         : at_us;
}

static int64_t node_due_us(const struct core *core, const struct node *row)
{
    int64_t at_us = TIME_NONE;

    if (!row->in_use)
        return TIME_NONE;
    if (row->silent && !row->lost)
        at_us = row->silent_since_us + core->silent_us;
    if (row->flaps_until_us > 0)
        at_us = earlier(at_us, row->flaps_until_us);
    if (row->mig_first == ROW_NONE)
        return at_us;
    for (uint32_t i = 0; i < core->nodes.classes[row->class_id].gpu_count; i++)
        if (core->nodes.migs[row->mig_first + i].failed_until_us > 0)
            at_us = earlier(at_us, core->nodes.migs[row->mig_first + i].failed_until_us);
    return at_us;
}

/* Ids in the heap. */
static uint32_t job_id(uint32_t job)
{
    return job * 2;
}

static uint32_t node_id(uint32_t node)
{
    return node * 2 + 1;
}

static void put(struct heap *heap, uint32_t id, uint64_t tie, int64_t at_us)
{
    const bool there = heap_contains(heap, id);

    if (at_us == TIME_NONE)
        (void)heap_remove(heap, id);
    else if (there)
        heap_update(heap, id, at_us);
    else
        heap_push(heap, at_us, tie, id);
}

void due_job(struct core *core, uint32_t job)
{
    const struct job *row = &core->jobs.rows[job];

    put(&core->due, job_id(job), row->sequence * 2, job_due_us(core, row));
}

void due_node(struct core *core, uint32_t node)
{
    const struct node *row = &core->nodes.rows[node];

    put(&core->due, node_id(node), (uint64_t)row->order * 2 + 1, node_due_us(core, row));
}

int64_t due_next_us(const struct core *core)
{
    struct heap_item item;

    return heap_peek(&core->due, &item) ? item.key : TIME_NONE;
}

bool due_pop(struct core *core, uint32_t *out_job, uint32_t *out_node)
{
    struct heap_item item;

    if (!heap_peek(&core->due, &item) || item.key > core->now_us)
        return false;
    heap_pop(&core->due, &item);
    *out_job = item.id % 2 == 0 ? item.id / 2 : ROW_NONE;
    *out_node = item.id % 2 == 1 ? item.id / 2 : ROW_NONE;
    return true;
}

static bool is_at(const struct heap *heap, uint32_t id, int64_t at_us)
{
    if (!heap_contains(heap, id))
        return at_us == TIME_NONE;
    return heap->items[heap->places[id] - 1].key == at_us;
}

bool due_is_right(const struct core *core)
{
    for (uint32_t job = 0; job < core->jobs.count; job++)
        if (!is_at(&core->due, job_id(job), job_due_us(core, &core->jobs.rows[job])))
            return false;
    for (uint32_t node = 0; node < core->nodes.count; node++)
        if (!is_at(&core->due, node_id(node), node_due_us(core, &core->nodes.rows[node])))
            return false;
    return true;
}
