/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot.c - the walk over a whole core: its digest, saving it, and loading it.
 *
 * Saved is what nothing else says. What follows from it is worked out after loading: rows by name
 * and id, which tasks are on a node of which kind, what shapes mean on classes, the index. Scores
 * and lists of victims are found again when they are asked for. Row numbers of tasks and states
 * may be others than before, and no decision depends on them. */
#include <errno.h>
#include <string.h>

#include "base/bits.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/tape.h"
#include "core/core.h"
#include "core/due.h"
#include "core/entitle.h"
#include "core/impl.h"
#include "core/ledger.h"
#include "core/life.h"

#define MAGIC   "berthsnp"
#define VERSION 1u

/* ---- the walk ---- */

static void policy_name_walk(const char *kind, const char *name, struct tape *t)
{
    const char *found = tape_text(t, name);

    if (tape_loads(t) && !t->failed && strcmp(found, name) != 0)
        tape_fail(t, "%s: the snapshot is of '%s', not of '%s'", kind, found, name);
}

static void config_walk(struct core *core, struct tape *t)
{
    policy_name_walk("placement", core->placement->name, t);
    policy_name_walk("order", core->order->name, t);
    orderers_walk(core, t);
    tape_u64(t, &core->seed);
    tape_enum(t, core->repack, REPACK_COUNT - 1, "repack");
    tape_i64_in(t, &core->migrate_wait_us, 0, INT64_MAX, "migrate_wait_us");
    tape_u32(t, &core->migrate_gain_ppm);
    tape_max(t, &core->nodes_max, NODES_MAX, "nodes_max");
    tape_max(t, &core->jobs_max, JOBS_MAX, "jobs_max");
    tape_u32(t, &core->reservation_depth);
    tape_u64(t, &core->rules_digest);
    tape_i64_in(t, &core->silent_us, 1, TIME_US_MAX, "how long a node may be silent");
    tape_i64_in(t, &core->now_us, 0, JOB_TIME_MAX, "the clock");
    tape_i64_in(t, &core->settled_us, 0, core->now_us, "the clock at the last step");
    tape_u64(t, &core->marks_ahead);
    tape_u64(t, &core->drift.started);
    tape_u64(t, &core->drift.left);
    tape_u64(t, &core->drift.lost);
    tape_u64(t, &core->drift.stray);
}

static void names_and_empty_walk(struct core *core, struct tape *t)
{
    names_walk(&core->names, t);
    if (!tape_loads(t) || t->failed)
        return;
    core->no_name = names_find(&core->names, "");
    if (core->no_name == NAMES_NONE)
        tape_fail(t, "names: the empty one is missing");
}

/* Each job that says so is in the list, or nobody would look at it. */
static void check_unsettled(const struct core *core, struct tape *t)
{
    bool *listed;

    if (!tape_loads(t) || t->failed || core->jobs.count == 0)
        return;
    listed = mem_alloc(core->jobs.count, sizeof *listed);
    memset(listed, 0, core->jobs.count * sizeof *listed);
    for (uint32_t i = 0; i < core->unsettled_count; i++)
        listed[core->unsettled[i]] = true;
    for (uint32_t job = 0; job < core->jobs.count; job++)
        if (core->jobs.rows[job].state != JOB_FREE && core->jobs.rows[job].unsettled &&
            !listed[job])
            tape_fail(t, "job %llu: is to be looked at, and not listed",
                      (unsigned long long)core->jobs.rows[job].id);
    mem_free(listed);
}

static void queue_walk(struct core *core, struct tape *t)
{
    uint32_t count = core->unsettled_count;
    struct pending_limits limits;

    tape_count(t, &count, "unsettled jobs");
    for (uint32_t i = 0; tape_more(t, i, count); i++) {
        tape_grow(t, core->unsettled, core->unsettled_count, core->unsettled_cap);
        tape_row(t, &core->unsettled[i], core->jobs.count, "unsettled job");
    }
    check_unsettled(core, t);
    count = core->claimant_count;
    tape_count(t, &count, "claimants");
    for (uint32_t i = 0; tape_more(t, i, count); i++) {
        tape_grow(t, core->claimants, core->claimant_count, core->claimant_cap);
        tape_row(t, &core->claimants[i], core->jobs.count, "claimant");
        if (tape_loads(t) && !t->failed && core->jobs.rows[core->claimants[i]].state == JOB_FREE)
            tape_fail(t, "claimant: job row %u is in no use", core->claimants[i]);
    }
    limits = (struct pending_limits){core->shapes.gang_count, core->queues.count,
                                     core->classes.count, core->index.gains};
    pending_walk(&core->pending, &core->jobs, &limits, t);
}

/* ---- tasks on their nodes ---- */

/* Takes a loaded task out of what is held on its node, so that nothing is left in the end. Returns
 * whether so much was held. */
static bool account(struct core *core, const struct task *task)
{
    struct node *node = &core->nodes.rows[task->node];
    const struct node_class *class = &core->nodes.classes[node->class_id];
    const struct shape *shape = &core->shapes.shapes[task->shape];
    struct holding h;
    struct need need;

    if (!need_on(shape, class, &need) || mask_popcount(task->gpu_mask) != shape->gpus ||
        (task->gpu_mask & ~mask_first(class->gpu_count)) != 0 ||
        !need_starts(class, &need, task->mig_start) ||
        (task->mig_makes && (need.mode != GPU_MIG || task->started || task->claimed)))
        return false;
    h = holding_on(shape, class, &need, task->gpu_mask);
    if (node->held_mcpu < h.mcpu || node->held_memory_bytes < h.memory_bytes)
        return false;
    node->held_mcpu -= h.mcpu;
    node->held_memory_bytes -= h.memory_bytes;
    for (uint64_t left = h.gpus; left != 0; left = mask_drop_lowest(left)) {
        struct gpu_book *gpu = &core->nodes.gpus[node->gpu_first + mask_lowest(left)];

        if (gpu->held_mgpu < (int32_t)h.need.mgpu || gpu->held_bytes < h.need.memory_bytes)
            return false;
        gpu->held_mgpu -= (int32_t)h.need.mgpu;
        gpu->held_bytes -= h.need.memory_bytes;
    }
    return true;
}

/* The next task in a loaded list of a node; *last is the one before it. */
static void link_next(struct core *core, uint32_t node, uint32_t job, uint32_t index,
                      uint32_t *last, struct tape *t)
{
    const struct job *row = &core->jobs.rows[job];
    const uint32_t at = row->task_first + index;
    struct task *task;

    if (row->state == JOB_FREE || row->task_first == ROW_NONE || index >= row->task_count) {
        tape_fail(t, "node row %u: task %u of job row %u: is not placed", node, index, job);
        return;
    }
    task = &core->jobs.tasks[at];
    if (task->node != node || task->left || task->node_prev != at) { /* or is linked already */
        tape_fail(t, "node row %u: task %u of job row %u: is elsewhere", node, index, job);
        return;
    }
    if (!account(core, task))
        tape_fail(t, "node row %u: task %u of job row %u: is not in the books", node, index, job);
    task->node_prev = *last;
    task->node_next = ROW_NONE;
    if (*last == ROW_NONE)
        core->nodes.rows[node].first_task = at;
    else
        core->jobs.tasks[*last].node_next = at;
    *last = at;
    core->nodes.rows[node].stuck += core->jobs.rows[job].attended;
}

/* Which tasks are on a node follows from the tasks; their order decides who is told first when the
 * node is lost, and follows from nothing. It is in no digest. */
static void node_tasks_walk(struct core *core, uint32_t node, struct tape *t)
{
    uint32_t next = core->nodes.rows[node].first_task, last = ROW_NONE, count = 0;

    for (uint32_t at = next; at != ROW_NONE; at = core->jobs.tasks[at].node_next)
        count++;
    tape_count(t, &count, "tasks of a node");
    for (uint32_t i = 0; tape_more(t, i, count); i++) {
        uint32_t job = next != ROW_NONE ? core->jobs.tasks[next].job : 0;
        uint32_t index = next != ROW_NONE ? next - core->jobs.rows[job].task_first : 0;

        tape_row(t, &job, core->jobs.count, "job of a node");
        tape_u32(t, &index);
        if (!tape_loads(t))
            next = core->jobs.tasks[next].node_next;
        else if (!t->failed)
            link_next(core, node, job, index, &last, t);
    }
}

static void tasks_on_nodes_walk(struct core *core, struct tape *t)
{
    if (tape_digests(t))
        return;
    for (uint32_t node = 0; tape_more(t, node, core->nodes.count); node++)
        if (core->nodes.rows[node].in_use)
            node_tasks_walk(core, node, t);
}

/* ---- what follows ---- */

/* What a task may be at once. */
static bool is_possible(const struct job *job, const struct task *task)
{
    return (!task->absent || (task->left && !task->started)) &&
           !((task->left || task->claimed) && task->shrinking) && task->run <= job->run &&
           (task->run > 0 || task->absent || task->claimed);
}

static void check_job(const struct core *core, const struct job *job, struct tape *t)
{
    const unsigned long long id = job->id;
    const struct wanted ask = job_wanted(core, job);
    uint32_t started = 0, left = 0, claimed = 0, absent = 0, shrinking = 0;

    for (uint32_t i = 0; job->task_first != ROW_NONE && i < job->task_count; i++) {
        const struct task *task = job_task(core, job, i);

        started += task->started;
        left += task->left;
        claimed += task->claimed;
        absent += task->absent;
        shrinking += task->shrinking;
        if (!is_possible(job, task))
            tape_fail(t, "job %llu: task %u: cannot be so", id, i);
    }
    if (core->queues.rows[job->at.leaf].kind == QUEUE_OF_CLASS ||
        core->queues.rows[job->at.leaf].children > 0 ||
        (job->at.of_class != QUEUE_NONE &&
         core->queues.rows[job->at.of_class].kind != QUEUE_OF_CLASS))
        tape_fail(t, "job %llu: stands in no queue", id);
    if (job->layout >= core->shapes.gangs[job->gang].layout_count)
        tape_fail(t, "job %llu: there is no layout %u", id, job->layout);
    if (job->sequence >= core->jobs.submitted)
        tape_fail(t, "job %llu: is of a later sequence than the last", id);
    if ((job->start_us != TIME_NONE) != (job->state == JOB_RUNNING) && job->state != JOB_STOPPING)
        tape_fail(t, "job %llu: is %s, with such a start", id, job_state_text(job->state));
    if ((job->stop_us != TIME_NONE) != (job->state == JOB_STOPPING) || job->mark_us > core->now_us)
        tape_fail(t, "job %llu: is %s, with such times", id, job_state_text(job->state));
    if (job->queued && !wanted_is_same(&core->pending.buckets[job->bucket].ask, &ask))
        tape_fail(t, "job %llu: waits among others", id);
    if (job->ends_us != TIME_NONE && job->state == JOB_PENDING && job->task_first == ROW_NONE)
        tape_fail(t, "job %llu: waits, and has an end", id);
    if ((job->cancelled || job->failed || job->lost) && !job->unsettled &&
        (job->state == JOB_STARTING || job->state == JOB_RUNNING))
        tape_fail(t, "job %llu: is %s, and nobody is to stop it", id, job_state_text(job->state));
    if (job->attended && job->state != JOB_STOPPING)
        tape_fail(t, "job %llu: is %s, and overdue", id, job_state_text(job->state));
    if (job->state == JOB_PENDING) {
        if (job->task_first != ROW_NONE && (claimed != job->task_count || started > 0 || left > 0))
            tape_fail(t, "job %llu: waits, and has a task", id);
        return;
    }
    if (job->task_first == ROW_NONE || claimed > 0 || started != job->tasks_started ||
        left != job->tasks_left || absent != job->tasks_absent || shrinking != job->tasks_shrinking)
        tape_fail(t, "job %llu: its tasks are not those that are counted", id);
}

static void check_emptied(const struct core *core, uint32_t node, struct tape *t)
{
    const struct node *row = &core->nodes.rows[node];
    bool empty = row->held_mcpu == 0 && row->held_memory_bytes == 0;

    for (uint32_t i = 0; i < row->gpu_room; i++) {
        const struct gpu_book *gpu = &core->nodes.gpus[row->gpu_first + i];

        empty = empty && gpu->held_mgpu == 0 && gpu->held_bytes == 0;
    }
    if (!empty)
        tape_fail(t, "node row %u: more is held than its tasks need", node);
}

static void restore_task(struct core *core, uint32_t task)
{
    const struct task *row = &core->jobs.tasks[task];

    ledger_take(core, row->node, row->shape, row->gpu_mask, row->mig_start);
    job_book_task(core, task, 1);
}

/* The books, emptied by the tasks that were linked, are written anew, and the index with them. */
static void rebuild_node(struct core *core, uint32_t node, struct tape *t)
{
    const struct node *row = &core->nodes.rows[node];
    uint32_t task = row->first_task;

    check_emptied(core, node, t);
    for (uint32_t i = 0;
         row->mig_first != ROW_NONE && i < nodes_class_of(&core->nodes, node)->gpu_count; i++)
        nodes_mig_changed(&core->nodes, node, i);
    if (map_find(&core->node_by_name, row->name, NULL))
        tape_fail(t, "node row %u: its name is there twice", node);
    map_put(&core->node_by_name, row->name, node);
    ledger_refresh(core, node);
    due_node(core, node);
    for (; task != ROW_NONE; task = core->jobs.tasks[task].node_next)
        restore_task(core, task);
}

/* Books add up what jobs ask for; submit.c let in no more than can be counted. */
static void check_sums(const struct core *core, const struct job *job, struct tape *t)
{
    for (int r = 0; r < RES_COUNT; r++)
        if (core->shapes.gangs[job->gang].asks.of[r] >= AMOUNT_SUM_MAX - core->asks.of[r])
            tape_fail(t, "job %llu: with it, jobs ask for more than can be counted",
                      (unsigned long long)job->id);
}

static void note_waiting(struct core *core, const struct job *job)
{
    queues_book(&core->queues, &job->at, BOOK_ASKED, &core->shapes.gangs[job->gang].asks, 1,
                core->now_us);
    mig_note_waiting(core, job->gang, 1);
}

/* The books of queues and classes follow from the jobs. */
static void count_job(struct core *core, const struct job *job)
{
    queues_count_job(&core->queues, &job->at, 1);
    amounts_add(&core->asks, &core->shapes.gangs[job->gang].asks, 1);
    if (job->state != JOB_PENDING)
        core->classes.rows[job->class_id].active++;
    else if (job->queued)
        note_waiting(core, job);
}

/* What GPUs of a class may be split into follows from their name. */
static void check_mig_types(const struct core *core, struct tape *t)
{
    for (uint32_t i = 0; i < core->nodes.class_count; i++) {
        const struct node_class *class = &core->nodes.classes[i];

        if (class->mig_type > 0 &&
            class->mig_type !=
                nodes_mig_type(names_text(&core->names, class->model), class->gpu_memory_bytes))
            tape_fail(t, "class %u: is of another MIG type than its model", i);
    }
}

static void rebuild(struct core *core, struct tape *t)
{
    const int64_t half_life_us = core->queues.half_life_us;
    struct err err;

    vec_reserve(core->shortlists, core->shortlist_cap, core->shapes.shape_count);
    core->shortlist_count = core->shapes.shape_count;
    for (uint32_t i = 0; i < core->shapes.shape_count; i++)
        mig_note_shape(core, i);
    check_mig_types(core, t);
    core->queues.books = core->queues.configured > 1 || core->queues.rows[QUEUE_ROOT].by_user;
    for (uint32_t i = 0; i < core->classes.count; i++)
        core->queues.books = core->queues.books || core->classes.rows[i].bounded;
    for (uint32_t job = 0; tape_more(t, job, core->jobs.count); job++)
        if (core->jobs.rows[job].state != JOB_FREE) {
            check_job(core, &core->jobs.rows[job], t);
            check_sums(core, &core->jobs.rows[job], t);
            if (t->failed)
                return;
            count_job(core, &core->jobs.rows[job]);
            due_job(core, job);
            elastic_update(core, job);
        }
    core->queues.half_life_us = 0; /* what is booked now has been held before, and the past knows */
    for (uint32_t node = 0; tape_more(t, node, core->nodes.count); node++)
        if (core->nodes.rows[node].in_use)
            rebuild_node(core, node, t);
    core->queues.half_life_us = half_life_us;
    if (!t->failed && core_check_rules(core, &err) < 0)
        tape_fail(t, "%s", err.text);
    if (!t->failed)
        core->capacity = core_capacity(core);
}

static void core_walk(struct core *core, struct tape *t)
{
    struct jobs_limits limits;

    config_walk(core, t);
    names_and_empty_walk(core, t);
    levels_walk(&core->levels, names_count(&core->names), t);
    shapes_walk(&core->shapes, names_count(&core->names), t);
    nodes_walk(&core->nodes, names_count(&core->names), t);
    queues_walk(&core->queues, names_count(&core->names), core->orderer_count, t);
    classes_walk(&core->classes, names_count(&core->names), t);
    limits = (struct jobs_limits){names_count(&core->names), core->nodes.count, core->queues.count,
                                  core->classes.count, &core->shapes};
    jobs_walk(&core->jobs, &limits, t);
    expect_walk(&core->expect, t);
    queue_walk(core, t);
    gate_walk(core, t);
    ended_walk(&core->ended, t);
    reserve_walk(core, t);
    tasks_on_nodes_walk(core, t);
    if (tape_loads(t) && !t->failed)
        rebuild(core, t);
    if (!tape_digests(t))
        tape_i64_in(t, &core->split_wake_us, 0, TIME_NONE, "when a GPU may be split anew");
    elastic_walk(core, t);
    if (core->placement->walk != NULL && !t->failed)
        core->placement->walk(core->placement_state, core, t);
    orderers_state_walk(core, t);
}

/* ---- what it is for ---- */

/* The walk takes what it could change, and changes it only when it loads; so a copy of the top will
 * do, with the tables themselves below it. */
uint64_t core_digest(const struct core *core)
{
    struct core top = *core;
    struct tape tape;

    tape_digest_init(&tape);
    core_walk(&top, &tape);
    return tape_digest(&tape);
}

uint8_t *core_save(const struct core *core, size_t *out_count)
{
    struct core top = *core;
    struct tape tape;

    tape_save_init(&tape, MAGIC, VERSION);
    core_walk(&top, &tape);
    return tape_take(&tape, out_count);
}

struct core *core_load(const struct core_config *config, const void *bytes, size_t count,
                       struct err *err)
{
    const struct core_config bare = {.placement = config->placement,
                                     .order = config->order,
                                     .orders = config->orders,
                                     .order_count = config->order_count};
    struct core *core;
    struct tape tape;
    int rc;

    if (bare.placement == NULL || bare.order == NULL) {
        (void)err_set(err, -EINVAL, "configuration: a placement and an order must be named");
        return NULL;
    }
    rc = tape_load_init(&tape, MAGIC, VERSION, bytes, count, err);
    core = core_bare(&bare);
    core->index.gains = 1; /* so that there is an earlier time at which a gang was refused */
    if (rc == 0) {
        core_init_policies(core, &bare);
        core_walk(core, &tape);
        rc = tape_end(&tape);
    }
    tape_done(&tape);
    if (rc == 0)
        return core;
    core_free(core);
    err_prefix(err, rc, "snapshot: ");
    return NULL;
}
