/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - one simulation, event by event.
 *
 * At each time at which something happens: jobs that end are told to the core, then arrivals; then
 * the core is stepped, and its decisions come true at once, until a step decides nothing more. */
#include "sim/run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"
#include "base/vec.h"
#include "core/view.h"
#include "sim/by_queue.h"
#include "sim/explain_at.h"
#include "sim/mix.h"
#include "sim/partition.h"
#include "sim/protocol.h"
#include "wire/config_file.h"

#define EXIT_TOLD_TO_STOP 143    /* 128 + SIGTERM */
#define SETTLE_STEPS_MAX  10000u /* of one instant; more is a core that never comes to rest */

/* ---- telling the core ---- */

static int tell_started(struct run *run, const struct decision *decision, uint32_t task,
                        struct err *err)
{
    const struct event event = {
        .type = EVENT_TASK_STARTED,
        .at_us = run->now_us,
        .task = {.job_id = decision->job_id, .task = task, .run = decision->run, .node = ""},
    };

    return world_apply(&run->world, &event, err);
}

static int tell_exited(struct run *run, uint64_t job_id, uint32_t task, int32_t exit_code,
                       struct err *err)
{
    const struct event event = {
        .type = EVENT_TASK_EXITED,
        .at_us = run->now_us,
        .task = {.job_id = job_id, .task = task, .node = "", .exit_code = exit_code},
    };

    return world_apply(&run->world, &event, err);
}

/* Of all tasks that are there. With the last one the job is gone, or waits again. */
static int tell_exit(struct run *run, uint32_t job, int32_t exit_code, struct err *err)
{
    const struct core *core = run->world.core;

    for (uint32_t i = 0;; i++) {
        const uint32_t at = core_find_job(core, (uint64_t)job + 1);
        const struct job *row = at != ROW_NONE ? core_job(core, at) : NULL;
        int rc;

        if (row == NULL || row->state == JOB_PENDING || i >= row->task_count)
            return 0;
        if (core_task(core, row->task_first + i)->left)
            continue;
        rc = tell_exited(run, row->id, i, exit_code, err);
        if (rc < 0)
            return rc;
    }
}

/* What a task holds is put on, or taken off, the books of the measure. */
static void hold_task(struct run *run, const struct task *task, int sign)
{
    const struct core *core = run->world.core;
    const struct shape *shape = core_shape(core, task->shape);
    const struct node_class *class = core_class(core, core_node_class(core, task->node));
    struct need need;

    (void)need_on(shape, class, &need);
    measure_hold(&run->measure, core_name(core, class->model), (int64_t)shape->gpus * need.mgpu,
                 sign);
}

/* What the whole job holds is taken off. */
static void hold_no_more(struct run *run, uint32_t job)
{
    const struct core *core = run->world.core;
    const struct job *row = core_job(core, core_find_job(core, (uint64_t)job + 1));

    for (uint32_t i = 0; i < row->task_count; i++)
        if (!core_task(core, row->task_first + i)->left)
            hold_task(run, core_task(core, row->task_first + i), -1);
}

int run_end_job(struct run *run, uint32_t job, int64_t at_us, struct err *err)
{
    struct run_job *j = &run->jobs[job];

    hold_no_more(run, job);
    j->state = RUN_ENDED;
    j->end_us = at_us;
    run->left--;
    return tell_exit(run, job, 0, err);
}

int run_tell_remaining(struct run *run, uint32_t job, int64_t remaining_us, struct err *err)
{
    const struct event event = {
        .type = EVENT_JOB_PROGRESS,
        .at_us = run->now_us,
        .progress = {(uint64_t)job + 1, remaining_us > 0 ? remaining_us : 0},
    };

    return world_apply(&run->world, &event, err);
}

static int submit(struct run *run, uint32_t job, struct err *err)
{
    struct job_request request;
    struct event event = {.type = EVENT_JOB_SUBMITTED, .at_us = run->now_us};
    int rc = 0;

    job_request_make(run->workload.trace->format, run->jobs[job].row, (uint64_t)job + 1,
                     run->node_gpus, &request);
    if (run->options->partition != NULL)
        job_request_label(&request,
                          partition_label(run->options->partition, run->jobs[job].row->queue));
    request.spec.remaining_us = run->jobs[job].duration_us;
    if (run->options->workload.kind == WORKLOAD_TIMED) /* else the trace's clock is not the run's */
        request.spec.deadline_us = run->jobs[job].row->deadline_us;
    if (run->protocol->shape_job != NULL)
        rc = run->protocol->shape_job(run, job, &request, err);
    if (rc < 0)
        return rc;
    event.job = request.spec;
    run->jobs[job].state = RUN_WAITING;
    rc = world_apply(&run->world, &event, err);
    return rc < 0
               ? err_prefix(err, rc, "%s:%u: ", run->workload.trace->file, run->jobs[job].row->line)
               : 0;
}

const char *run_job_name(const struct run *run, uint32_t job, char number[RUN_NUMBER_BYTES])
{
    const struct trace_job *row = run->jobs[job].row;

    if (row->name[0] != '\0')
        return row->name;
    snprintf(number, RUN_NUMBER_BYTES, "%" PRIu64, row->id);
    return number;
}

bool run_job_never(const struct run *run, uint32_t job)
{
    const struct core *core = run->world.core;

    return core_job_reason(core, core_find_job(core, (uint64_t)job + 1)) == REASON_NEVER;
}

static int cancel(struct run *run, uint32_t job, struct err *err)
{
    const struct event event = {
        .type = EVENT_JOB_CANCELLED, .at_us = run->now_us, .job_id = (uint64_t)job + 1};

    run->jobs[job].state = RUN_DROPPED;
    run->jobs[job].end_us = run->now_us;
    run->left--;
    run->measure.failed++;
    run->measure.never += run_job_never(run, job);
    return world_apply(&run->world, &event, err);
}

/* ---- decisions come true ---- */

/* Of all that are rejected if somebody may ask about one, else of the first. */
static void keep_why(struct run *run, const struct decision *decision)
{
    struct text why;

    text_init(&why, 4096);
    explain_add_reject(&why, decision);
    vec_reserve(run->whys, run->why_cap, run->why_count + 1);
    run->whys[run->why_count++] =
        (struct run_why){decision->job_id, mem_copy(text_str(&why), why.used + 1, 1)};
    text_done(&why);
}

static const char *why_of(const struct run *run, uint64_t job_id)
{
    for (uint32_t i = 0; i < run->why_count; i++)
        if (run->whys[i].job_id == job_id)
            return run->whys[i].text;
    return NULL;
}

static void reject(struct run *run, const struct decision *decision)
{
    struct run_job *j = &run->jobs[decision->job_id - 1];

    j->state = RUN_DROPPED;
    j->end_us = run->now_us;
    j->rejected = true;
    if (run->options->explain != NULL || run->why_count == 0)
        keep_why(run, decision);
    run->left--;
    run->measure.failed++;
    run->measure.never += decision->reason == REASON_NEVER;
}

/* The tasks that a decision names, which are there: their rows, by index in the job. */
static const struct task *task_of(const struct run *run, const struct decision *d, uint32_t i)
{
    const struct core *core = run->world.core;
    const uint32_t task = run->world.decisions.places[d->place_first + i].task;

    return core_task(core, core_job(core, d->job)->task_first + task);
}

static int start(struct run *run, const struct decision *decision, struct err *err)
{
    const struct task_place *places = run->world.decisions.places + decision->place_first;
    const uint32_t job = (uint32_t)(decision->job_id - 1);
    struct run_job *j = &run->jobs[job];

    for (uint32_t i = 0; i < decision->place_count; i++) {
        const int rc = tell_started(run, decision, places[i].task, err);

        if (rc < 0)
            return rc;
        hold_task(run, task_of(run, decision, i), 1);
    }
    if (j->state == RUN_RUNNING) /* only more of its tasks */
        return 0;
    j->state = RUN_RUNNING;
    j->layout = decision->layout;
    j->starts++;
    j->start_us = run->now_us;
    if (j->first_start_us < 0)
        j->first_start_us = run->now_us;
    if (run->protocol->started != NULL)
        run->protocol->started(run, job);
    return 0;
}

/* Some of its tasks stop, and it goes on. */
static int shrink(struct run *run, const struct decision *decision, struct err *err)
{
    const struct task_place *places = run->world.decisions.places + decision->place_first;
    int rc = 0;

    for (uint32_t i = 0; i < decision->place_count && rc == 0; i++) {
        hold_task(run, task_of(run, decision, i), -1);
        rc = tell_exited(run, decision->job_id, places[i].task, EXIT_TOLD_TO_STOP, err);
    }
    return rc;
}

static int stop(struct run *run, const struct decision *decision, struct err *err)
{
    const uint32_t job = (uint32_t)(decision->job_id - 1);
    int rc;

    if (decision->mode == STOP_SHRINK)
        return shrink(run, decision, err);
    hold_no_more(run, job);
    run->measure.preemptions++;
    run->jobs[job].attained_us += run->now_us - run->jobs[job].start_us;
    run->jobs[job].state = RUN_WAITING;
    if (run->protocol->stopped != NULL)
        run->protocol->stopped(run, job);
    rc = tell_exit(run, job, EXIT_TOLD_TO_STOP, err);
    if (rc == 0 && run->jobs[job].duration_us >= 0)
        rc = run_tell_remaining(run, job, run->jobs[job].left_us, err);
    return rc;
}

static int carry_out(struct run *run, bool *out_changed, struct err *err)
{
    const struct decisions *d = &run->world.decisions;

    *out_changed = false;
    for (uint32_t i = 0; i < d->count; i++) {
        int rc = 0;

        if (d->items[i].type == DECISION_START)
            rc = start(run, &d->items[i], err);
        else if (d->items[i].type == DECISION_STOP)
            rc = stop(run, &d->items[i], err);
        else if (d->items[i].type == DECISION_REJECT)
            reject(run, &d->items[i]);
        else if (d->items[i].type == DECISION_RESERVE)
            promises_told(run, &d->items[i]);
        if (rc < 0)
            return rc;
        *out_changed =
            *out_changed || d->items[i].type == DECISION_START || d->items[i].type == DECISION_STOP;
    }
    return 0;
}

static int settle(struct run *run, struct err *err)
{
    bool changed = true;

    for (uint32_t steps = 0; changed; steps++) {
        int rc = steps < SETTLE_STEPS_MAX
                     ? world_step(&run->world, run->now_us, err)
                     : err_set(err, -ELOOP, "simulation: %u steps at one instant, no rest",
                               SETTLE_STEPS_MAX);

        rc = rc < 0 ? rc : carry_out(run, &changed, err);
        if (rc < 0)
            return rc;
    }
    if (run->options->by_queue != NULL)
        by_queue_settled(run->options->by_queue, run);
    return 0;
}

/* ---- time ---- */

static int64_t arrival_us(struct run *run)
{
    int64_t at_us;

    if (run->next_arrival == run->workload.count)
        return TIME_NONE;
    at_us = run->workload.arrivals[run->next_arrival].at_us;
    return run->protocol->round_up_us != NULL ? run->protocol->round_up_us(run, at_us) : at_us;
}

static int64_t next_us(struct run *run)
{
    const int64_t arrival = arrival_us(run), own = run->protocol->next_us(run);
    int64_t wake = core_next_wake_us(run->world.core), next;

    next = arrival < own ? arrival : own;
    if (run->protocol->round_up_us != NULL)
        wake = run->protocol->round_up_us(run, wake);
    next = wake < next ? wake : next;
    return next < run->now_us ? run->now_us : next;
}

/* Pods that fit nowhere are dropped where pods never leave, and so are those that an order took
 * the room from. */
static int after_arrival(struct run *run, uint32_t job, struct err *err)
{
    int rc;

    if (run->options->workload.kind != WORKLOAD_FILL)
        return 0;
    rc = settle(run, err);
    if (rc == 0 && run->jobs[job].state == RUN_WAITING)
        rc = cancel(run, job, err);
    for (uint32_t i = 0; rc == 0 && core_pending_count(run->world.core) > 0 && i < job; i++)
        if (run->jobs[i].state == RUN_WAITING)
            rc = cancel(run, i, err);
    measure_arrived(&run->measure, run->jobs[job].mgpu);
    return rc;
}

static int arrive(struct run *run, struct err *err)
{
    while (arrival_us(run) <= run->now_us) {
        const uint32_t job = run->next_arrival++;
        int rc = submit(run, job, err);

        rc = rc < 0 ? rc : after_arrival(run, job, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static bool is_over(const struct run *run)
{
    if (run->workload.measure_to_us != INT64_MAX)
        return run->now_us >= run->workload.measure_to_us;
    return run->left == 0;
}

/* ---- explaining ---- */

struct namer {
    const struct run *run;
    char number[RUN_NUMBER_BYTES];
};

static const char *job_name(void *arg, uint64_t job_id)
{
    struct namer *namer = arg;

    return run_job_name(namer->run, (uint32_t)(job_id - 1), namer->number);
}

/* Of a job that the core does not know: when it comes, or how it ended. False: it is there. */
static bool say_not_there(struct run *run, uint32_t job, struct explain_at *at)
{
    const struct run_job *j = &run->jobs[job];
    struct explain_absent absent = {
        .job = at->job, .now_us = run->now_us, .what = EXPLAIN_OVER, .at_us = j->end_us};

    if (core_find_job(run->world.core, (uint64_t)job + 1) != ROW_NONE)
        return false;
    if (j->state == RUN_COMING) {
        absent.what = EXPLAIN_COMES;
        absent.at_us = j->submit_us;
        if (run->protocol->round_up_us != NULL)
            absent.at_us = run->protocol->round_up_us(run, j->submit_us);
    } else if (j->state == RUN_DROPPED) {
        absent.end = j->rejected ? "rejected" : "cancelled";
        absent.reason = why_of(run, (uint64_t)job + 1);
    } else {
        absent.end = "finished";
    }
    explain_absence(at, &absent);
    return true;
}

static int say_why(struct run *run, struct err *err)
{
    struct explain_at *at = run->options->explain;
    struct namer namer = {.run = run};
    const struct explain_names names = {job_name, &namer};
    uint32_t job = 0;

    while (job < run->workload.count && strcmp(job_name(&namer, (uint64_t)job + 1), at->job) != 0)
        job++;
    if (job == run->workload.count)
        return err_set(err, -ENOENT,
                       "--explain: job '%s': the trace has no job of this name or, where jobs have "
                       "none, of this number",
                       at->job);
    if (say_not_there(run, job, at))
        return 0;
    at->terms.class_fixed = !trace_says_class(run->workload.trace->format);
    return explain_now(at, &run->world, (uint64_t)job + 1, &names, err);
}

/* The next time at which something happens, or somebody asks. */
static int64_t next_stop_us(struct run *run)
{
    const struct explain_at *at = run->options->explain;
    const int64_t next = next_us(run);

    if (at == NULL || at->at_us >= next)
        return next;
    return at->at_us > run->now_us ? at->at_us : run->now_us;
}

static int play(struct run *run, struct err *err)
{
    const struct explain_at *at = run->options->explain;

    while (!is_over(run)) {
        int64_t to_us = next_stop_us(run);
        int rc;

        if (to_us == TIME_NONE)
            return 0; /* what waits now waits for ever */
        if (to_us > TIME_US_MAX)
            return err_set(err, -ERANGE,
                           "simulation: it would go on for more than %lld years; use shorter jobs, "
                           "fewer of them or a larger cluster",
                           TIME_US_MAX / 31557600 / 1000000);
        to_us = to_us > run->workload.measure_to_us ? run->workload.measure_to_us : to_us;
        measure_advance(&run->measure, to_us);
        run->now_us = to_us;
        rc = run->protocol->advance(run, to_us, err);
        rc = rc < 0 ? rc : arrive(run, err);
        if (rc == 0 && run->options->workload.kind != WORKLOAD_FILL)
            rc = settle(run, err);
        if (rc == 0 && at != NULL && run->now_us >= at->at_us && next_us(run) > at->at_us)
            return say_why(run, err);
        if (rc < 0)
            return rc;
        if (run->options->progress != NULL)
            run->options->progress(run->options->progress_arg, run->next_arrival,
                                   run->workload.count);
    }
    if (at == NULL || run->workload.measure_to_us != INT64_MAX)
        return 0;
    run->now_us = at->at_us; /* all jobs are over by then */
    return say_why(run, err);
}

/* ---- the beginning ---- */

/* Nodes join in a random order of the seed, since that order breaks all ties; the order of the
 * file for workloads that are not random themselves. */
static int add_nodes(struct run *run, struct err *err)
{
    const uint32_t count = run->cluster->node_count;
    uint32_t *order = mem_alloc(count, sizeof *order);
    struct rng rng;
    int rc = 0;

    rng_init(&rng, run->options->workload.seed ^ 0x6e6f646573u); /* not the arrivals' stream */
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    if (run->options->workload.kind != WORKLOAD_TIMED)
        rng_shuffle_u32(&rng, order, count);
    for (uint32_t i = 0; i < count && rc == 0; i++) {
        struct event event = {.type = EVENT_NODE_UPSERTED, .node = run->cluster->nodes[order[i]]};

        if (run->protocol->shape_node != NULL)
            run->protocol->shape_node(run, &event.node);
        run->node_gpus = event.node.gpus > run->node_gpus ? event.node.gpus : run->node_gpus;
        rc = world_apply(&run->world, &event, err);
    }
    mem_free(order);
    return rc;
}

static void add_jobs(struct run *run)
{
    run->jobs = mem_alloc(run->workload.count, sizeof *run->jobs);
    run->left = run->workload.count;
    for (uint32_t i = 0; i < run->workload.count; i++) {
        const struct arrival *arrival = &run->workload.arrivals[i];
        const struct trace_job *row = &run->workload.trace->jobs[arrival->trace_row];

        run->jobs[i] = (struct run_job){
            .row = row,
            .submit_us = arrival->at_us,
            .first_start_us = -1,
            .promised_us = -1,
            .duration_us = arrival->duration_us,
            .left_us = arrival->duration_us,
            .mgpu = trace_job_mgpu(row),
        };
    }
}

static int set_rules(struct run *run, struct err *err)
{
    static const struct rules_spec none = {
        .default_queue = "", .root_order = "", .default_class = ""};
    const struct run_options *options = run->options;
    struct event event = {.type = EVENT_CONFIG_CHANGED,
                          .rules = options->rules != NULL ? *options->rules : none};
    int rc;

    if (options->rules == NULL && options->reservation_depth == 0)
        return 0;
    event.rules.reservation_depth = options->reservation_depth;
    rc = world_apply(&run->world, &event, err);
    return rc < 0 && options->config != NULL ? config_file_refused(options->config, rc, err) : rc;
}

static int open_world(struct run *run, struct err *err)
{
    struct config config = {
        .placement = run->options->placement,
        .order = run->options->order,
        .seed = run->options->workload.seed,
    };
    struct mix mix = {0};
    int rc = 0;

    if (run->options->mix_from_trace) {
        mix_make(&mix, run->workload.trace);
        config.mix = mix.groups;
        config.mix_count = mix.count;
    }
    if (run->protocol->open != NULL)
        rc = run->protocol->open(run, &config, err);
    if (rc == 0)
        rc = world_open(&run->world, &config, run->options->events, err);
    run->placement = config.placement; /* a protocol may have its own */
    run->world.check_all = run->options->check_all;
    mix_done(&mix);
    return rc < 0 ? rc : set_rules(run, err);
}

static int play_all(struct run *run, struct result *out, struct err *err)
{
    int rc = open_world(run, err);

    rc = rc < 0 ? rc : add_nodes(run, err);
    rc = rc < 0 ? rc : play(run, err);
    rc = rc < 0 ? rc : core_check_rules(run->world.core, err);
    if (rc < 0)
        return rc;
    measure_result(run, out);
    if (run->options->by_queue != NULL)
        by_queue_finish(run->options->by_queue, run);
    promises_result(run, &out->promises);
    out->reserves = run->options->reservation_depth > 0;
    return 0;
}

int run_simulation(const struct run_options *options, const struct trace *trace,
                   const struct cluster *cluster, struct result *out, struct err *err)
{
    struct run run = {.options = options, .cluster = cluster, .protocol = options->protocol};
    int rc = workload_make(&run.workload, trace, cluster, &options->workload, err);

    if (rc < 0)
        return rc;
    memset(out, 0, sizeof *out);
    *out = (struct result){.trace = trace->label,
                           .policy = options->placement,
                           .order = options->order,
                           .seed = options->workload.seed};
    heap_init(&run.ends);
    measure_init(&run.measure, cluster);
    run.measure.from_us = run.workload.measure_from_us;
    run.measure.to_us = run.workload.measure_to_us;
    run.protocol_state = mem_alloc(1, run.protocol->state_size);
    add_jobs(&run);
    rc = play_all(&run, out, err);
    if (run.protocol->close != NULL)
        run.protocol->close(&run);
    const int closed = world_close(&run.world, rc == 0 ? err : NULL);

    for (uint32_t i = 0; i < run.why_count; i++)
        mem_free(run.whys[i].text);
    mem_free(run.whys);
    mem_free(run.protocol_state);
    mem_free(run.jobs);
    heap_done(&run.ends);
    workload_done(&run.workload);
    return rc < 0 ? rc : closed;
}
