/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_world.c - what really happens: tasks come up, end, die when told to, and are reported.
 */
#include <errno.h>
#include <string.h>

#include "base/bits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "core/view.h"
#include "sim/scenario_impl.h"

__extension__ typedef __int128 wide;

void sc_push(struct sc *sc, int64_t at_us, const struct sc_due *due)
{
    /* Lines of the file come after all else that is due at their time. */
    const uint64_t late = due->kind == SC_ACTION ? UINT64_C(1) << 62 : 0;

    vec_push(sc->dues, sc->due_count, sc->due_cap, *due);
    heap_push(&sc->heap, at_us, late + sc->ties++, sc->due_count - 1);
}

static void push_task(struct sc *sc, int64_t at_us, enum sc_kind kind, uint32_t task)
{
    const bool heard = kind == SC_START || kind == SC_STOP;
    const struct sc_due due = {
        .kind = kind, .row = task, .node = heard ? sc->tasks[task].node : NULL};

    sc_push(sc, at_us, &due);
}

const struct scn_behaviour *sc_behaviour(const struct sc *sc, uint32_t job, uint32_t task)
{
    const struct scn_job *spec = &sc->scn->jobs[job];

    for (uint32_t i = 0; i < spec->task_count; i++)
        if (spec->tasks[i].task == task)
            return &spec->tasks[i].behaviour;
    return &spec->behaviour;
}

/* ---- nodes ---- */

void sc_know_node(struct sc *sc, const struct node_spec *node)
{
    const uint32_t row = names_intern(&sc->nodes, node->name);

    vec_reserve(sc->node_gpu, sc->node_cap, row + 1);
    sc->node_gpu[row] = (struct sc_gpu){node->gpu_memory_bytes, node->compute_factor};
}

static bool is_silent(const struct sc *sc, const char *node)
{
    const uint32_t row = node ? names_find(&sc->silent, node) : NAMES_NONE;

    return row != NAMES_NONE && sc->is_silent[row];
}

void sc_set_silent(struct sc *sc, const char *node, bool silent)
{
    const uint32_t row = names_intern(&sc->silent, node), count = sc->parked_count;
    uint32_t kept = 0;

    vec_reserve(sc->is_silent, sc->silent_cap, row + 1);
    vec_reserve(sc->to_list, sc->to_list_cap, row + 1);
    sc->is_silent[row] = silent;
    sc->to_list[row] = !silent;
    for (uint32_t i = 0; i < count; i++) {
        const struct sc_due due = sc->dues[sc->parked[i]];

        if (is_silent(sc, due.node))
            sc->parked[kept++] = sc->parked[i];
        else
            sc_push(sc, sc->now_us, &due);
    }
    sc->parked_count = kept;
}

/* ---- what a task takes ---- */

static const struct group_spec *group_of(const struct sc *sc, const struct sc_task *task)
{
    const struct job_layout_spec *layout = &sc->scn->jobs[task->job].spec.layouts[0];
    uint32_t first = 0;

    for (uint32_t g = 0; g + 1 < layout->group_count; g++) {
        if (task->task < first + layout->groups[g].tasks)
            return &layout->groups[g];
        first += layout->groups[g].tasks;
    }
    return &layout->groups[layout->group_count - 1];
}

uint32_t sc_task_gpus(const struct sc *sc, const struct sc_task *task)
{
    return group_of(sc, task)->gpus;
}

int64_t sc_task_mgpu(const struct sc *sc, const struct sc_task *task)
{
    const struct group_spec *group = group_of(sc, task);
    const uint32_t row = names_find(&sc->nodes, task->node);
    const struct sc_gpu gpu = row != NAMES_NONE ? sc->node_gpu[row] : (struct sc_gpu){0};
    int64_t mgpu = GPU_MGPU;

    if (group->gpu_mgpu > 0)
        mgpu = group->gpu_mgpu;
    else if (group->gpu_memory_bytes > 0 && gpu.bytes > 0)
        mgpu = (int64_t)((wide)group->gpu_memory_bytes * GPU_MGPU / gpu.bytes);
    if (mgpu < GPU_MGPU && gpu.compute_factor > 1000) /* compute that is given out more than once */
        mgpu = (mgpu * 1000 + gpu.compute_factor - 1) / gpu.compute_factor;
    return mgpu > 0 ? mgpu : 1; /* as in the core: memory is never to be had for nothing */
}

/* No GPU may be given to more than it has while others are really still on it. */
static void check_overlap(struct sc *sc, const struct sc_task *task)
{
    for (uint64_t left = task->gpu_mask; left && !sc->scn->overlap_allowed;
         left = mask_drop_lowest(left)) {
        const uint32_t gpu = mask_lowest(left);
        const char *other = task->job < sc->scn->job_count ? sc->scn->jobs[task->job].name : "";
        int64_t sum = sc_task_mgpu(sc, task);

        for (uint32_t i = 0; i < sc->alive_count; i++) {
            const struct sc_task *t = &sc->tasks[sc->alive[i]];

            if (t == task || t->state == SC_GONE || !(t->gpu_mask & mask_bit(gpu)) ||
                strcmp(t->node, task->node) != 0)
                continue;
            sum += sc_task_mgpu(sc, t);
            other = sc->scn->jobs[t->job].name;
        }
        if (sum > GPU_MGPU)
            sc_broken(sc, "GPU %u of %s is given to %s while %s is still on it", gpu, task->node,
                      sc->scn->jobs[task->job].name, other);
    }
}

/* ---- reports ---- */

static enum scn_report report_of(enum event_type type)
{
    return type == EVENT_TASK_STARTED  ? SCN_STARTED
           : type == EVENT_TASK_EXITED ? SCN_EXITED
           : type == EVENT_TASK_LOST   ? SCN_REPORTED_LOST
                                       : SCN_CHECKPOINTED;
}

/* The line of the file that says what becomes of this report, or NULL. */
static const struct scn_action *filter_of(struct sc *sc, const struct event *event, uint32_t job)
{
    const bool of_task = event->type != EVENT_JOB_CHECKPOINT;

    for (uint32_t i = 0; i < sc->filter_count; i++) {
        struct sc_filter *f = &sc->filters[i];

        if (f->left == 0 || f->action->job != job || f->action->report != report_of(event->type))
            continue;
        if (of_task && f->action->task != SCN_TASK_ALL && f->action->task != event->task.task)
            continue;
        f->left--;
        return f->action;
    }
    return NULL;
}

static void report(struct sc *sc, const struct event *event, uint32_t job, const char *node)
{
    const struct scn_action *filter = filter_of(sc, event, job);
    const struct sc_due due = {.kind = SC_DELIVER, .row = job, .node = node, .event = *event};
    const int64_t delay_us = filter && filter->verb == SCN_DELAY ? filter->delay_us : 0;

    if (filter && filter->verb == SCN_DROP)
        return;
    sc_push(sc, sc->now_us + delay_us, &due);
    if (filter && filter->verb == SCN_TWICE)
        sc_push(sc, sc->now_us, &due);
}

static void report_task(struct sc *sc, uint32_t row, enum event_type type, int64_t exit_code)
{
    const struct sc_task *task = &sc->tasks[row];
    const char *takes = sc_behaviour(sc, task->job, task->task)->takes;
    const struct event event = {
        .type = type,
        .task = {.job_id = (uint64_t)task->job + 1,
                 .task = task->task,
                 .run = task->run,
                 .node = type == EVENT_TASK_STARTED && takes[0] ? task->node : "",
                 .gpu_mask = type == EVENT_TASK_STARTED && takes[0] ? task->gpu_mask : 0,
                 .exit_code = (int32_t)exit_code},
    };

    report(sc, &event, task->job, task->node);
}

static void go(struct sc *sc, uint32_t row, enum event_type type, int64_t exit_code)
{
    const uint32_t node = names_find(&sc->silent, sc->tasks[row].node);

    if (sc->tasks[row].state == SC_GONE)
        return;
    sc->tasks[row].state = SC_GONE;
    if (node != NAMES_NONE)
        sc->to_list[node] = true;
    report_task(sc, row, type, exit_code);
}

/* ---- starting and stopping ---- */

static void take_what_it_takes(struct sc *sc, struct sc_task *task)
{
    const char *takes = sc_behaviour(sc, task->job, task->task)->takes;

    if (takes[0])
        (void)scn_parse_place(&sc->arena, takes, &task->node, &task->gpu_mask, NULL);
}

void sc_begin_tasks(struct sc *sc, const struct decision *d)
{
    const uint32_t job = (uint32_t)(d->job_id - 1);

    for (uint32_t i = 0; i < d->place_count; i++)
        sc->jobs[job].first_starts += sc->world.decisions.places[d->place_first + i].task == 0;
    for (uint32_t i = 0; i < d->place_count; i++) {
        const struct task_place *place = &sc->world.decisions.places[d->place_first + i];
        struct sc_task task = {.job = job,
                               .task = place->task,
                               .run = d->run,
                               .node = arena_intern(&sc->arena, place->node_name),
                               .gpu_mask = place->gpu_mask};

        take_what_it_takes(sc, &task);
        vec_push(sc->tasks, sc->task_count, sc->task_cap, task);
        vec_push(sc->alive, sc->alive_count, sc->alive_cap, sc->task_count - 1);
        check_overlap(sc, &sc->tasks[sc->task_count - 1]);
        push_task(sc, sc->now_us + sc_behaviour(sc, job, place->task)->ack_delay_us, SC_START,
                  sc->task_count - 1);
    }
}

static bool is_stopped(const struct sc *sc, const struct decision *d, const struct sc_task *task)
{
    if (task->job != d->job_id - 1 || task->run > d->run || task->state == SC_GONE)
        return false;
    for (uint32_t i = 0; i < d->place_count; i++)
        if (sc->world.decisions.places[d->place_first + i].task == task->task)
            return true;
    return d->place_count == 0;
}

void sc_stop_tasks(struct sc *sc, const struct decision *d)
{
    for (uint32_t i = 0; i < sc->alive_count; i++)
        if (is_stopped(sc, d, &sc->tasks[sc->alive[i]]))
            push_task(sc, sc->now_us, SC_STOP, sc->alive[i]);
}

static void begin_run(struct sc *sc, uint32_t job)
{
    struct sc_job *j = &sc->jobs[job];
    const struct sc_due due = {.kind = SC_CHECKPOINT, .row = job, .run = j->starts};

    j->run_start_us = sc->now_us;
    j->run_saved_us = j->saved_us;
    if (sc->scn->jobs[job].checkpoint_every_us > 0)
        sc_push(sc, sc->now_us + sc->scn->jobs[job].checkpoint_every_us, &due);
}

/* True if this start of its task 0 goes wrong. */
static bool fails_to_start(struct sc *sc, uint32_t row)
{
    const struct sc_task *task = &sc->tasks[row];
    const struct scn_job *spec = &sc->scn->jobs[task->job];
    const uint32_t starts = sc->jobs[task->job].first_starts;

    if (task->task != 0 || starts > spec->start_fails + spec->start_loses)
        return false;
    if (starts <= spec->start_fails)
        go(sc, row, EVENT_TASK_EXITED, SCN_EXIT_NO_START);
    else
        go(sc, row, EVENT_TASK_LOST, 0);
    return true;
}

static void come_up(struct sc *sc, uint32_t row)
{
    const uint32_t job = sc->tasks[row].job;
    const struct scn_behaviour *b = sc_behaviour(sc, job, sc->tasks[row].task);
    int64_t left_us;

    if (sc->tasks[row].state != SC_SENT || fails_to_start(sc, row))
        return;
    if (sc->jobs[job].run_start_us < 0)
        begin_run(sc, job);
    sc->tasks[row].state = SC_RUNNING;
    sc->tasks[row].started_us = sc->now_us;
    report_task(sc, row, EVENT_TASK_STARTED, 0);
    left_us = b->runs_us;
    if (!sc->scn->jobs[job].spec.service) /* which starts over each time */
        left_us -= sc->jobs[job].run_saved_us;
    if (b->runs_us != SCN_FOREVER)
        push_task(sc, sc->now_us + (left_us > 0 ? left_us : 0), SC_END, row);
}

static void hear_stop(struct sc *sc, uint32_t row)
{
    struct sc_task *task = &sc->tasks[row];
    const struct scn_behaviour *b = sc_behaviour(sc, task->job, task->task);

    if (task->state == SC_GONE || task->stopping)
        return;
    task->stopping = true;
    if (b->dies_after_us != SCN_FOREVER)
        push_task(sc, sc->now_us + b->dies_after_us, SC_DIE, row);
}

/* ---- saved work ---- */

int sc_checkpoint(struct sc *sc, uint32_t job, int64_t mark_us, struct err *err)
{
    struct sc_job *j = &sc->jobs[job];
    struct event event = {
        .type = EVENT_JOB_CHECKPOINT,
        .checkpoint = {(uint64_t)job + 1, mark_us == TIME_NONE ? sc->now_us : mark_us}};

    (void)err;
    if (mark_us == TIME_NONE)
        event.checkpoint.mark_us += sc->scn->jobs[job].checkpoint_skew_us;
    if (j->run_start_us >= 0)
        j->saved_us = j->run_saved_us + sc->now_us - j->run_start_us;
    report(sc, &event, job, NULL);
    return 0;
}

static bool runs(const struct sc *sc, uint32_t job, uint32_t starts)
{
    if (sc->jobs[job].ended || sc->jobs[job].starts != starts)
        return false;
    for (uint32_t i = 0; i < sc->alive_count; i++)
        if (sc->tasks[sc->alive[i]].job == job && sc->tasks[sc->alive[i]].state == SC_RUNNING)
            return true;
    return false;
}

static int checkpoint_again(struct sc *sc, const struct sc_due *due, struct err *err)
{
    if (!runs(sc, due->row, due->run))
        return 0;
    sc_push(sc, sc->now_us + sc->scn->jobs[due->row].checkpoint_every_us, due);
    return sc_checkpoint(sc, due->row, TIME_NONE, err);
}

/* ---- what lines of the file do to tasks ---- */

/* exit, lost: the tasks that are really there. */
int sc_end_tasks(struct sc *sc, const struct scn_action *action, struct err *err)
{
    (void)err;
    for (uint32_t i = 0; i < sc->alive_count; i++) {
        const struct sc_task *task = &sc->tasks[sc->alive[i]];

        if (task->job != action->job ||
            (action->task != SCN_TASK_ALL && action->task != task->task))
            continue;
        go(sc, sc->alive[i], action->verb == SCN_EXIT ? EVENT_TASK_EXITED : EVENT_TASK_LOST,
           action->exit_code);
    }
    return 0;
}

/* mask 0: all that are on the node. */
int sc_lose_tasks_on(struct sc *sc, const char *node, uint64_t gpu_mask, struct err *err)
{
    for (uint32_t i = 0; i < sc->alive_count; i++) {
        struct sc_task *task = &sc->tasks[sc->alive[i]];
        struct event event = {.type = EVENT_TASK_LOST,
                              .task = {.job_id = (uint64_t)task->job + 1,
                                       .task = task->task,
                                       .run = task->run,
                                       .node = ""}};
        int rc;

        if (strcmp(task->node, node) != 0 || (gpu_mask && !(task->gpu_mask & gpu_mask)))
            continue;
        if (task->state == SC_GONE) {
            task->told_gone = task->told_gone || !gpu_mask; /* with the node, if never reported */
            continue;
        }
        task->state = SC_GONE;
        task->told_gone = true;
        rc = sc_apply(sc, &event, "lost", task->job, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* It was lost, so all that is there is of before. */
static bool is_unlisted(const struct sc *sc, const char *node)
{
    const uint32_t row = core_find_node(sc->world.core, node);

    return row != ROW_NONE && (core_node_out(sc->world.core, row) & NODE_OUT_UNLISTED);
}

int sc_list_node(struct sc *sc, const char *node, struct err *err)
{
    const bool all = is_unlisted(sc, node); /* those that are still coming up as well */
    struct listed_task *tasks = mem_alloc(sc->alive_count + 1, sizeof *tasks);
    struct event event = {.type = EVENT_NODE_LISTED, .listed = {.node = node, .tasks = tasks}};
    int rc;

    for (uint32_t i = 0; i < sc->alive_count && !is_silent(sc, node); i++) {
        const struct sc_task *task = &sc->tasks[sc->alive[i]];

        if ((task->state == SC_RUNNING || (all && task->state == SC_SENT)) &&
            strcmp(task->node, node) == 0)
            tasks[event.listed.count++] =
                (struct listed_task){(uint64_t)task->job + 1, task->task, task->run};
        else if (task->state == SC_GONE && strcmp(task->node, node) == 0)
            sc->tasks[sc->alive[i]].told_gone = true;
    }
    rc = is_silent(sc, node) ? 0 : sc_apply(sc, &event, "list", SCN_JOB_NONE, err);
    mem_free(tasks);
    return rc;
}

/* As a driver does when a node that was lost is there again, and whenever a task ended since. */
int sc_list_lost_nodes(struct sc *sc, struct err *err)
{
    int rc = 0;

    for (uint32_t i = 0; i < sc->silent.count && rc == 0; i++) {
        const char *node = names_text(&sc->silent, i);

        if (!sc->to_list[i] || sc->is_silent[i])
            continue;
        sc->to_list[i] = false;
        if (is_unlisted(sc, node))
            rc = sc_list_node(sc, node, err);
    }
    return rc;
}

/* ---- the heap ---- */

/* Was the task that this report is about started again since? */
static bool is_of_before(const struct sc *sc, const struct event *event)
{
    for (uint32_t i = 0; i < sc->alive_count; i++) {
        const struct sc_task *task = &sc->tasks[sc->alive[i]];

        if (task->job + 1 == event->task.job_id && task->task == event->task.task &&
            task->run > event->task.run)
            return true;
    }
    return false;
}

static void note_gone(struct sc *sc, const struct event *event)
{
    if (event->type != EVENT_TASK_EXITED && event->type != EVENT_TASK_LOST)
        return;
    for (uint32_t i = 0; i < sc->alive_count; i++) {
        struct sc_task *task = &sc->tasks[sc->alive[i]];

        if (task->job + 1 == event->task.job_id && task->task == event->task.task &&
            task->run == event->task.run && task->state == SC_GONE) {
            task->told_gone = true;
            if (event->type == EVENT_TASK_EXITED && event->task.exit_code != 0 && !task->stopping &&
                !is_of_before(sc, event))
                sc->jobs[task->job].failed = true;
        }
    }
}

static int deliver(struct sc *sc, const struct sc_due *due, struct err *err)
{
    static const char *const words[SCN_REPORT_COUNT] = {"started", "exited", "lost", "checkpoint"};

    note_gone(sc, &due->event);
    return sc_apply(sc, &due->event, words[report_of(due->event.type)], due->row, err);
}

/* What is not an action: those are scenario.c's. */
int sc_handle(struct sc *sc, uint32_t id, struct err *err)
{
    const struct sc_due due = sc->dues[id];

    if (is_silent(sc, due.node)) {
        vec_push(sc->parked, sc->parked_count, sc->parked_cap, id);
        return 0;
    }
    switch (due.kind) {
    case SC_START:
        come_up(sc, due.row);
        return 0;
    case SC_END:
        go(sc, due.row, EVENT_TASK_EXITED,
           sc_behaviour(sc, sc->tasks[due.row].job, sc->tasks[due.row].task)->exit_code);
        return 0;
    case SC_STOP:
        hear_stop(sc, due.row);
        return 0;
    case SC_DIE:
        go(sc, due.row, EVENT_TASK_EXITED,
           sc_behaviour(sc, sc->tasks[due.row].job, sc->tasks[due.row].task)->exit_on_stop);
        return 0;
    case SC_DELIVER:
        return deliver(sc, &due, err);
    case SC_CHECKPOINT:
        return checkpoint_again(sc, &due, err);
    case SC_ACTION:
        break;
    }
    return 0;
}
