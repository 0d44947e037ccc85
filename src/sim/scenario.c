/* SPDX-License-Identifier: Apache-2.0 */
/* scenario.c - one run: time goes from one thing that happens to the next. */
#include "sim/scenario.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
#include "core/view.h"
#include "policy/registry.h"
#include "sim/explain_at.h"
#include "sim/scenario_impl.h"

#define SETTLE_STEPS_MAX 10000u /* of one instant; more is a core that never comes to rest */

/* ---- telling the core ---- */

static bool is_report(enum event_type type)
{
    return type == EVENT_TASK_STARTED || type == EVENT_TASK_EXITED || type == EVENT_TASK_LOST ||
           type == EVENT_JOB_CHECKPOINT;
}

/* The core says no: that is part of the log, unless a report comes when its job is gone or waits
 * again. 1: it said no. */
int sc_apply(struct sc *sc, const struct event *event, const char *what, uint32_t job,
             struct err *err)
{
    struct event told = *event;
    struct err detail = {""};
    int rc;

    told.at_us = sc->now_us;
    rc = world_apply(&sc->world, &told, &detail);
    if (rc == -EIO || (rc == -ENOSPC && event->type != EVENT_JOB_SUBMITTED))
        return err_set(err, rc, "%s", detail.text);
    if (rc < 0 && (rc != -ENOENT || !is_report(event->type)))
        sc_log_refused(sc, what, job, detail.text);
    if (rc < 0 && event->type == EVENT_JOB_SUBMITTED)
        sc->jobs[job].why = sc_keep_refused(sc, job, detail.text);
    sc_watch(sc);
    return rc < 0;
}

/* A service never finishes. */
static const char *end_of(const struct sc_job *j, bool service)
{
    return j->rejected              ? "rejected"
           : j->cancelled           ? "cancelled"
           : j->limited             ? "limit"
           : (j->failed || service) ? "failed"
                                    : "finished";
}

/* Jobs that the core has let go of, and jobs that wait again, since it was looked last. */
void sc_watch(struct sc *sc)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < sc->live_count; i++) {
        const uint32_t job = sc->live[i];
        const uint32_t row = core_find_job(sc->world.core, (uint64_t)job + 1);
        struct sc_job *j = &sc->jobs[job];

        if (row == ROW_NONE) {
            j->ended = true;
            j->end = end_of(j, sc->scn->jobs[job].spec.service);
            j->end_us = sc->now_us;
            if (!j->rejected)
                sc_log(sc, "end %s %s", sc->scn->jobs[job].name, j->end);
            continue;
        }
        if (j->active && core_job(sc->world.core, row)->state == JOB_PENDING)
            sc_log(sc, "left %s", sc->scn->jobs[job].name);
        j->active = core_job(sc->world.core, row)->state != JOB_PENDING;
        sc->live[kept++] = job;
    }
    sc->live_count = kept;
}

static int submit(struct sc *sc, uint32_t job, struct err *err)
{
    const struct event event = {.type = EVENT_JOB_SUBMITTED, .job = sc->scn->jobs[job].spec};
    int rc;

    sc->jobs[job].submitted = true;
    rc = sc_apply(sc, &event, "submit", job, err);
    if (rc == 0)
        vec_push(sc->live, sc->live_count, sc->live_cap, job);
    return rc < 0 ? rc : 0;
}

static int restart(struct sc *sc, struct err *err)
{
    const uint64_t before = core_digest(sc->world.core);

    if (world_restart(&sc->world, err) < 0)
        return -EINVAL;
    if (core_digest(sc->world.core) != before)
        sc_broken(sc, "the digest after a restart is another one");
    return 0;
}

static int of_job(struct sc *sc, const struct scn_action *a, enum event_type type, const char *what,
                  struct err *err)
{
    const struct event event = {.type = type, .job_id = (uint64_t)a->job + 1};

    if (a->verb == SCN_CANCEL && sc->jobs[a->job].submitted && !sc->jobs[a->job].ended)
        sc->jobs[a->job].cancelled = true;
    return sc_apply(sc, &event, what, a->job, err);
}

static int act_on_node(struct sc *sc, const struct scn_action *a, struct err *err)
{
    struct event event = {.type = EVENT_NODE_HEALTH,
                          .node_health = {a->node, (enum node_health)a->word}};
    int rc = 0;

    if (a->verb == SCN_NODE_REMOVED) {
        rc = sc_lose_tasks_on(sc, a->node, 0, err);
        event = (struct event){.type = EVENT_NODE_REMOVED, .node_name = a->node};
    } else if (a->verb == SCN_GPU) {
        if (a->word == GPU_LOST)
            rc = sc_lose_tasks_on(sc, a->node, UINT64_C(1) << a->gpu, err);
        event = (struct event){.type = EVENT_GPU_HEALTH,
                               .gpu = {a->node, a->gpu, (enum gpu_health)a->word}};
    }
    rc = rc < 0 ? rc : sc_apply(sc, &event, "node", SCN_JOB_NONE, err);
    if (a->verb == SCN_NODE_REMOVED)
        sc_forget_instances(sc, a->node);
    if (rc == 0 && a->verb == SCN_NODE_REMOVED)
        sc_set_silent(sc, a->node, false); /* should it join again, it is heard */
    if (rc == 0 && a->verb == SCN_NODE_HEALTH && (a->word == NODE_SILENT || a->word == NODE_HEARD))
        sc_set_silent(sc, a->node, a->word == NODE_SILENT);
    return rc;
}

static int join_nodes(struct sc *sc, const struct node_spec *nodes, uint32_t count, struct err *err)
{
    int rc = 0;

    for (uint32_t i = 0; i < count && rc >= 0; i++) {
        const struct event event = {.type = EVENT_NODE_UPSERTED, .node = nodes[i]};

        rc = sc_apply(sc, &event, "node", SCN_JOB_NONE, err);
        if (rc == 0) /* else it stays as it was described before */
            sc_know_node(sc, &nodes[i]);
    }
    return rc;
}

static int act(struct sc *sc, const struct scn_action *a, struct err *err)
{
    const struct sc_filter filter = {a, a->times};
    struct event event = {.type = EVENT_CONFIG_CHANGED};

    switch (a->verb) {
    case SCN_SUBMIT:
        return submit(sc, a->job, err);
    case SCN_CANCEL:
        return of_job(sc, a, EVENT_JOB_CANCELLED, "cancel", err);
    case SCN_HOLD:
        return of_job(sc, a, EVENT_JOB_HELD, "hold", err);
    case SCN_RELEASE:
        return of_job(sc, a, EVENT_JOB_RELEASED, "release", err);
    case SCN_CHECKPOINT:
        return sc_checkpoint(sc, a->job, a->mark_us, err);
    case SCN_EXIT:
    case SCN_LOST:
        return sc_end_tasks(sc, a, err);
    case SCN_DROP:
    case SCN_DELAY:
    case SCN_TWICE:
        vec_push(sc->filters, sc->filter_count, sc->filter_cap, filter);
        return 0;
    case SCN_GPU:
    case SCN_NODE_HEALTH:
    case SCN_NODE_REMOVED:
        return act_on_node(sc, a, err);
    case SCN_GPU_HAS:
        return sc_gpu_has(sc, a, err);
    case SCN_NODE:
        return join_nodes(sc, a->nodes, a->node_count, err);
    case SCN_LIST:
        return sc_list_node(sc, a->node, err);
    case SCN_RESTART:
        return restart(sc, err);
    case SCN_CONFIG:
        event.rules = *a->rules;
        return sc_apply(sc, &event, "config", SCN_JOB_NONE, err);
    case SCN_VERB_COUNT:
        break;
    }
    return 0;
}

/* ---- decisions come true ---- */

/* Not only more of its tasks start. */
static void begin_job(struct sc *sc, struct sc_job *j)
{
    sc->starts++;
    j->starts++;
    j->run_start_us = -1;
    j->failed = false;
    j->active = true;
    j->first_start_us = j->first_start_us < 0 ? sc->now_us : j->first_start_us;
}

static const char *keep_why(struct sc *sc, const struct decision *d)
{
    const char *kept;
    struct text why;

    text_init(&why, 4096);
    explain_add_reject(&why, d);
    kept = arena_intern(&sc->arena, text_str(&why));
    text_done(&why);
    return kept;
}

static void carry_out(struct sc *sc, const struct decision *d)
{
    struct sc_job *j = &sc->jobs[d->job_id - 1];

    if (d->type == DECISION_START) {
        if (!j->active)
            begin_job(sc, j);
        sc_begin_tasks(sc, d);
    } else if (d->type == DECISION_STOP) {
        const bool evicted =
            d->mode == STOP_PREEMPT && d->reason != REASON_LOST && d->reason != REASON_FAILED;

        sc->evictions += evicted;
        j->evictions += evicted;
        j->limited = d->mode == STOP_LIMIT;
        sc_stop_tasks(sc, d);
    } else if (d->type == DECISION_REPARTITION) {
        sc_begin_split(sc, d);
    } else if (d->type == DECISION_REJECT) {
        j->rejected = true;
        j->why = keep_why(sc, d);
    }
}

/* It left, waits again, and starts again within one step. */
static void log_left(struct sc *sc, const struct decision *d)
{
    struct sc_job *j = &sc->jobs[d->job_id - 1];

    if (d->type != DECISION_START || !j->active ||
        core_job(sc->world.core, d->job)->state != JOB_STARTING)
        return; /* not, or only more of its tasks */
    sc_log(sc, "left %s", sc->scn->jobs[d->job_id - 1].name);
    j->active = false;
}

/* Rows of tasks that nobody need know of any more. */
static void forget_gone(struct sc *sc)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < sc->alive_count; i++) {
        const struct sc_task *task = &sc->tasks[sc->alive[i]];

        if (task->state != SC_GONE || (!task->told_gone && !sc->jobs[task->job].ended))
            sc->alive[kept++] = sc->alive[i];
    }
    sc->alive_count = kept;
}

static int step(struct sc *sc, bool *out_more, struct err *err)
{
    const struct decisions *d = &sc->world.decisions;
    struct err detail = {""};
    int rc = world_step(&sc->world, sc->now_us, &detail);

    if (rc == -EINVAL) {
        struct text time;

        text_init(&time, 64);
        sc_add_time(&time, sc->now_us);
        sc_broken(sc, "at %s: %s", text_str(&time), detail.text);
        text_done(&time);
    } else if (rc < 0) {
        return err_set(err, rc, "%s", detail.text);
    }
    *out_more = false;
    for (uint32_t i = 0; i < d->count; i++) {
        log_left(sc, &d->items[i]);
        sc_log_decision(sc, &d->items[i]);
        carry_out(sc, &d->items[i]);
        *out_more |= d->items[i].type == DECISION_START || d->items[i].type == DECISION_STOP;
    }
    sc_watch(sc);
    forget_gone(sc);
    return sc->options->restart_each_step ? restart(sc, err) : 0;
}

/* ---- time ---- */

static int take_due(struct sc *sc, struct err *err)
{
    struct heap_item item;
    int rc = 0;

    while (rc >= 0 && heap_peek(&sc->heap, &item) && item.key <= sc->now_us) {
        heap_pop(&sc->heap, &item);
        rc = sc->dues[item.id].kind == SC_ACTION
                 ? act(sc, &sc->scn->actions[sc->dues[item.id].row], err)
                 : sc_handle(sc, item.id, err);
    }
    return rc < 0 ? rc : sc_list_lost_nodes(sc, err);
}

static bool is_due(const struct sc *sc)
{
    struct heap_item item;

    return heap_peek(&sc->heap, &item) && item.key <= sc->now_us;
}

static int settle(struct sc *sc, struct err *err)
{
    bool more = true;

    for (uint32_t steps = 0; more || is_due(sc); steps++) {
        int rc = take_due(sc, err);

        if (rc == 0 && steps >= SETTLE_STEPS_MAX) {
            sc_broken(sc, "%u steps at one instant, and no rest", SETTLE_STEPS_MAX);
            return 0;
        }
        rc = rc < 0 ? rc : step(sc, &more, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int64_t next_us(const struct sc *sc)
{
    int64_t next = core_next_wake_us(sc->world.core);
    struct heap_item item;

    if (heap_peek(&sc->heap, &item) && item.key < next)
        next = item.key;
    return next == TIME_NONE || next > sc->now_us ? next : sc->now_us + 1;
}

const char *sc_job_name(void *arg, uint64_t job_id)
{
    return ((const struct sc *)arg)->scn->jobs[job_id - 1].name;
}

static int64_t submit_us(const struct scn *scn, uint32_t job)
{
    for (uint32_t i = 0; i < scn->action_count; i++)
        if (scn->actions[i].verb == SCN_SUBMIT && scn->actions[i].job == job)
            return scn->actions[i].at_us;
    return TIME_NONE;
}

/* Of a job that the core does not know: when it comes, or how it ended. False: it is there. */
static bool say_not_there(const struct sc *sc, uint32_t job, struct explain_at *at)
{
    const struct sc_job *j = &sc->jobs[job];
    struct explain_absent absent = {.job = at->job, .now_us = sc->now_us};

    if (j->submitted && !j->ended && core_find_job(sc->world.core, (uint64_t)job + 1) != ROW_NONE)
        return false;
    absent.what = !j->submitted ? EXPLAIN_COMES : !j->ended ? EXPLAIN_REFUSED : EXPLAIN_OVER;
    absent.at_us = j->ended ? j->end_us : submit_us(sc->scn, job);
    absent.end = j->end;
    absent.reason = j->why;
    explain_absence(at, &absent);
    return true;
}

static int say_why(struct sc *sc, struct err *err)
{
    struct explain_at *at = sc->options->explain;
    const struct explain_names names = {sc_job_name, sc};
    uint32_t job = 0;
    int rc;

    while (job < sc->scn->job_count && strcmp(sc->scn->jobs[job].name, at->job) != 0)
        job++;
    if (job == sc->scn->job_count)
        return err_set(err, -ENOENT, "--explain: job '%s': there is none of this name", at->job);
    sc->now_us = at->at_us > sc->now_us ? at->at_us : sc->now_us;
    rc = settle(sc, err);
    if (rc == 0 && say_not_there(sc, job, at))
        return 0;
    return rc < 0 ? rc : explain_now(at, &sc->world, (uint64_t)job + 1, &names, err);
}

static int play(struct sc *sc, struct err *err)
{
    for (;;) {
        int64_t next;
        int rc = settle(sc, err);

        if (rc < 0)
            return rc;
        next = next_us(sc);
        if (sc->options->explain != NULL && sc->options->explain->at_us < next)
            return say_why(sc, err);
        if (next > sc->scn->until_us || sc->out->broken.overflow || sc->out->log.overflow)
            return 0;
        sc_judge(sc, next);
        sc->now_us = next;
    }
}

/* ---- the beginning and the end ---- */

static int open_world(struct sc *sc, struct err *err)
{
    const struct event event = {.type = EVENT_CONFIG_CHANGED, .rules = sc->scn->config.rules};
    int rc = world_open(&sc->world, &sc->scn->config, sc->options->events, err);

    sc->world.check_all = true;
    sc->world.watch = sc->options->watch;
    if (rc == 0 && sc->scn->config.rules_stated)
        rc = world_apply(&sc->world, &event, err);
    for (uint32_t i = 0; i < sc->scn->cluster.node_count && rc == 0; i++) {
        const struct event node = {.type = EVENT_NODE_UPSERTED, .node = sc->scn->cluster.nodes[i]};

        sc_know_node(sc, &node.node);
        rc = world_apply(&sc->world, &node, err);
    }
    return rc;
}

/* What is refused begins with what it is of: "queue 'a': ...", "order 'b': ...". The line that says
 * it, 0 if none does. */
static uint32_t line_of(const struct scn *scn, const char *refusal)
{
    for (uint32_t i = 0; i < scn->setting_count; i++) {
        const struct scn_setting *s = &scn->settings[i];
        char begin[320];

        snprintf(begin, sizeof begin,
                 "%s '%s':", strcmp(s->word, "placement") == 0 ? "policy" : s->word, s->name);
        if (strncmp(refusal, begin, strlen(begin)) == 0)
            return s->line;
    }
    return 0;
}

static bool takes_options(const char *order)
{
    const struct order_policy *policy = order[0] != '\0' ? order_find(order) : NULL;

    return policy != NULL && policy->takes_options;
}

static bool rules_take_options(const struct rules_spec *rules)
{
    bool take = takes_options(rules->root_order);

    for (uint32_t i = 0; i < rules->queue_count; i++)
        take = take || takes_options(rules->queues[i].order);
    return take;
}

/* Numbers that no order of the file looks at are a mistake. */
static int check_options(const struct scn *scn, struct err *err)
{
    bool take = scn->config.order_option_count == 0 || takes_options(scn->config.order) ||
                rules_take_options(&scn->config.rules);

    for (uint32_t i = 0; i < scn->action_count; i++)
        take = take ||
               (scn->actions[i].verb == SCN_CONFIG && rules_take_options(scn->actions[i].rules));
    for (uint32_t i = 0; i < scn->setting_count && !take; i++)
        if (strcmp(scn->settings[i].word, "order-options") == 0)
            return scn_error(scn->file, scn->settings[i].line, err, -EINVAL,
                             "order-options: no order of this file has any; tiresias has");
    return 0;
}

static int begin_world(struct sc *sc, struct err *err)
{
    struct err detail = {""};
    const int rc = open_world(sc, &detail);
    const uint32_t line = rc < 0 ? line_of(sc->scn, detail.text) : 0;

    if (rc == 0)
        return check_options(sc->scn, err);

    if (line > 0)
        return scn_error(sc->scn->file, line, err, rc, "%s", detail.text);
    return err_set(err, rc, "%s: %s", sc->scn->file, detail.text);
}

static void init(struct sc *sc)
{
    heap_init(&sc->heap);
    names_init(&sc->silent);
    names_init(&sc->nodes);
    arena_init(&sc->arena);
    text_init(&sc->out->log, SCENARIO_LOG_BYTES_MAX);
    text_init(&sc->out->broken, 1 << 16);
    text_init(&sc->out->refused, SCENARIO_LOG_BYTES_MAX);
    sc->jobs = mem_alloc(sc->scn->job_count, sizeof *sc->jobs);
    sc->judged = mem_alloc(sc->scn->assert_count, sizeof *sc->judged);
    for (uint32_t i = 0; i < sc->scn->job_count; i++)
        sc->jobs[i].first_start_us = sc->jobs[i].run_start_us = -1;
    for (uint32_t i = 0; i < sc->scn->action_count; i++) {
        const struct sc_due due = {.kind = SC_ACTION, .row = i};

        sc_push(sc, sc->scn->actions[i].at_us, &due);
    }
}

static void done(struct sc *sc)
{
    heap_done(&sc->heap);
    names_done(&sc->silent);
    names_done(&sc->nodes);
    arena_done(&sc->arena);
    mem_free(sc->dues);
    mem_free(sc->tasks);
    mem_free(sc->alive);
    mem_free(sc->jobs);
    mem_free(sc->live);
    mem_free(sc->filters);
    mem_free(sc->is_silent);
    mem_free(sc->to_list);
    mem_free(sc->parked);
    mem_free(sc->node_gpu);
    mem_free(sc->instances);
    mem_free(sc->judged);
}

int scenario_run(const struct scn *scn, const struct scenario_options *options,
                 struct scenario_result *out, struct err *err)
{
    struct sc sc = {.scn = scn, .options = options, .out = out};
    int rc, closed, begun;

    *out = (struct scenario_result){0};
    init(&sc);
    begun = begin_world(&sc, err);
    rc = begun < 0 ? begun : play(&sc, err);
    if (rc == 0) {
        sc_judge(&sc, TIME_NONE);
        out->digest = core_digest(sc.world.core);
        if (out->log.overflow)
            sc_broken(&sc, "the log is longer than %zu bytes", SCENARIO_LOG_BYTES_MAX);
    }
    closed = world_close(&sc.world, rc == 0 ? err : NULL);
    done(&sc);
    rc = rc < 0 ? rc : closed;
    if (rc < 0) {
        scenario_result_done(out);
        return begun < 0 ? rc : err_prefix(err, rc, "%s: ", scn->file);
    }
    return 0;
}

static int run_again(const struct scn *scn, bool restart_each_step, const char *what,
                     struct scenario_result *out, struct err *err)
{
    const struct scenario_options options = {.restart_each_step = restart_each_step};
    struct scenario_result again;
    int rc = scenario_run(scn, &options, &again, err);

    if (rc < 0)
        return rc;
    if (again.digest != out->digest || strcmp(text_str(&again.log), text_str(&out->log)) != 0)
        text_addf(&out->broken, "%s: digest %016llx, not %016llx\n", what,
                  (unsigned long long)again.digest, (unsigned long long)out->digest);
    scenario_result_done(&again);
    return 0;
}

int scenario_check(const struct scn *scn, const char *events, struct scenario_result *out,
                   struct err *err)
{
    const struct scenario_options options = {.events = events};
    int rc = scenario_run(scn, &options, out, err);

    if (rc == 0)
        rc = run_again(scn, false, "a second run differs", out, err);
    for (uint32_t i = 0; i < scn->assert_count && rc == 0; i++)
        if (scn->asserts[i].claim == CLAIM_DIGEST_STABLE)
            rc = run_again(scn, true, "with a restart after each step it differs", out, err);
    return rc;
}

void scenario_result_done(struct scenario_result *result)
{
    text_done(&result->log);
    text_done(&result->broken);
    text_done(&result->refused);
    *result = (struct scenario_result){0};
}
