/* SPDX-License-Identifier: Apache-2.0 */
/* repack.c - all jobs in order, packed anew from an empty cluster.
 *
 * How published simulators of preemptive orders decide; for small clusters, since every step
 * places every job. REPACK_ANEW: a running job that is placed just where it is goes on, others
 * stop. REPACK_KEEP: who is placed at all goes on where it is. New jobs start once a step finds
 * nothing to stop, so the room they were given is really free. */
#include "base/mem.h"
#include "base/sort.h"
#include "core/impl.h"
#include "core/life.h"
#include "core/migrate.h"
#include "core/place.h"
#include "core/step.h"
#include "core/victims.h"

struct entry {
    struct waiting who;
    uint32_t mark_first, mark_end; /* its tasks in the trial's log; equal = not placed */
    uint32_t layout;
};

static int compare(const void *a, const void *b, void *arg)
{
    const struct entry *x = a, *y = b;

    (void)arg;
    return waiting_before(&x->who, &y->who) ? -1 : waiting_before(&y->who, &x->who);
}

static uint32_t list_jobs(struct core *core, struct entry *entries)
{
    uint32_t count = 0;

    for (uint32_t job = 0; job < core->jobs.count; job++) {
        const struct job *row = &core->jobs.rows[job];

        if (row->state != JOB_RUNNING && (row->state != JOB_PENDING || !row->queued))
            continue;
        entries[count++] = (struct entry){.who = {job_order_key(core, job), row->sequence, job}};
    }
    sort_stable(entries, count, sizeof *entries, compare, NULL);
    return count;
}

static void empty_cluster(struct core *core, const struct entry *entries, uint32_t count)
{
    for (uint32_t e = 0; e < count; e++) {
        const struct job *row = &core->jobs.rows[entries[e].who.job];

        for (uint32_t i = 0; row->state == JOB_RUNNING && i < row->task_count; i++) {
            const struct task *task = job_task(core, row, i);

            if (!task->left)
                trial_give(core, task->node, task->shape, task->gpu_mask, task->mig_start, i);
        }
    }
}

/* Jobs of a gang that did not fit are not tried again: placing others only takes room. */
static void pack(struct core *core, struct entry *entries, uint32_t count)
{
    bool *refused = mem_alloc(core->shapes.gang_count, sizeof *refused);

    for (uint32_t e = 0; e < count; e++) {
        const uint32_t gang = core->jobs.rows[entries[e].who.job].gang;
        enum reason reason;

        entries[e].mark_first = entries[e].mark_end = trial_mark(&core->trial);
        if (refused[gang])
            continue;
        if (place_gang(core, gang, UINT32_MAX, &entries[e].layout, &reason))
            entries[e].mark_end = trial_mark(&core->trial);
        else
            pending_note(&core->pending, gang)->reason =
                reason_is_of_room(reason) && place_never(core, gang) ? REASON_NEVER : reason;
        refused[gang] = entries[e].mark_end == entries[e].mark_first;
    }
    for (uint32_t i = 0; i < core->pending.open_count; i++) {
        struct bucket *bucket = &core->pending.buckets[core->pending.open[i]];

        if (refused[bucket->ask.gang])
            bucket->reason = pending_note(&core->pending, bucket->ask.gang)->reason;
    }
    mem_free(refused);
}

/* May it go on where it runs? */
static bool stays(const struct core *core, const struct entry *entry, const struct trial_item *log)
{
    const struct job *row = &core->jobs.rows[entry->who.job];

    if (core->repack == REPACK_KEEP)
        return entry->mark_end > entry->mark_first;
    if (entry->mark_end - entry->mark_first != row->task_count)
        return false;
    for (uint32_t i = entry->mark_first; i < entry->mark_end; i++) {
        const struct task *task = job_task(core, row, log[i].slot);

        if (task->node != log[i].node || task->shape != log[i].shape ||
            task->gpu_mask != log[i].gpu_mask || task->mig_start != log[i].mig_start)
            return false; /* another layout may want other amounts of the same GPUs */
    }
    return true;
}

static bool stop_leavers(struct core *core, const struct entry *entries, uint32_t count,
                         const struct trial_item *log, struct decisions *out)
{
    bool any = false;

    for (uint32_t e = 0; e < count; e++) {
        if (core->jobs.rows[entries[e].who.job].state != JOB_RUNNING ||
            stays(core, &entries[e], log))
            continue;
        core->jobs.rows[entries[e].who.job].moving = entries[e].mark_end > entries[e].mark_first;
        job_stop(core, entries[e].who.job, STOP_PREEMPT, out);
        any = true;
    }
    return any;
}

static bool was_placed(const struct core *core, const struct entry *entry)
{
    return core->jobs.rows[entry->who.job].state == JOB_PENDING &&
           entry->mark_end > entry->mark_first;
}

static void start_placed(struct core *core, const struct entry *entries, uint32_t count,
                         const struct trial_item *log, struct decisions *out)
{
    for (uint32_t e = 0; e < count; e++) {
        const uint32_t mark = trial_mark(&core->trial);

        if (!was_placed(core, &entries[e]))
            continue;
        for (uint32_t i = entries[e].mark_first; i < entries[e].mark_end; i++)
            trial_take(core, log[i].node, log[i].shape, log[i].gpu_mask, log[i].mig_start,
                       log[i].slot);
        job_start(core, entries[e].who.job, entries[e].layout, mark, out);
    }
}

/* A gang of several GPUs that fits on one node and is slower elsewhere loses most when others take
 * that room: such start first. */
static bool wants_one_node(const struct core *core, uint32_t job)
{
    const struct gang *gang = &core->shapes.gangs[core->jobs.rows[job].gang];
    const struct layout *last = &core->shapes.layouts[gang->first_layout + gang->layout_count - 1];

    return gang->gpus > 1 && gang->tasks == 1 && last->slowdown_ppm > 1000000;
}

static void start_in_free_room(struct core *core, const struct entry *entries, uint32_t count,
                               struct decisions *out)
{
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t e = 0; e < count; e++) {
            const uint32_t job = entries[e].who.job, mark = trial_mark(&core->trial);
            enum reason reason;
            uint32_t layout;

            if (!was_placed(core, &entries[e]) || (pass == 0 && !wants_one_node(core, job)))
                continue;
            if (place_gang(core, core->jobs.rows[job].gang, UINT32_MAX, &layout, &reason))
                job_start(core, job, layout, mark, out);
        }
}

void step_repack(struct core *core, struct decisions *out)
{
    struct entry *entries = mem_alloc(core->jobs.live, sizeof *entries);
    struct trial_item *log;
    uint32_t count;

    restart_movers(core, out);
    trial_commit(core);
    count = list_jobs(core, entries);
    empty_cluster(core, entries, count);
    pack(core, entries, count);
    log = mem_copy(core->trial.log, core->trial.count, sizeof *log);
    trial_undo(core, 0);
    if (!stop_leavers(core, entries, count, log, out)) {
        if (core->repack == REPACK_KEEP)
            start_in_free_room(core, entries, count, out);
        else
            start_placed(core, entries, count, log, out);
    }
    trial_commit(core);
    if (out->count == 0 && core->migrate_gain_ppm > 0)
        migrate(core, out);
    mem_free(log);
    mem_free(entries);
}
