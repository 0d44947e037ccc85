/* SPDX-License-Identifier: Apache-2.0 */
/* explain_text.c - an explanation for people: what, on what, and what to do. */
#include <inttypes.h>
#include <string.h>

#include "base/check.h"
#include "base/text.h"
#include "core/decision.h"
#include "core/view.h"
#include "wire/explain_out.h"

#define SECOND_US       INT64_C(1000000)
#define NODES_NAMED_MAX 4u

struct writer {
    const struct core *core;
    const struct explanation *e;
    const struct explain_names *names;
    struct text *out;
};

/* ---- amounts ---- */

/* "0.500s", "5m 30s", "2d 3h": the two largest units, rounded down. */
static void add_time(struct text *out, int64_t us)
{
    static const struct {
        int64_t us;
        const char *unit;
    } units[] = {
        {86400 * SECOND_US, "d"}, {3600 * SECOND_US, "h"}, {60 * SECOND_US, "m"}, {SECOND_US, "s"}};
    size_t i = 0;

    while (i < 3 && us < units[i].us)
        i++;
    if (i == 3 && us % SECOND_US > 0)
        text_addf(out, "%" PRId64 ".%03" PRId64 "s", us / SECOND_US, us % SECOND_US / 1000);
    else
        text_addf(out, "%" PRId64 "%s", us / units[i].us, units[i].unit);
    us %= units[i].us;
    if (i < 3 && us >= units[i + 1].us)
        text_addf(out, " %" PRId64 "%s", us / units[i + 1].us, units[i + 1].unit);
}

/* Thousandths, without zeros at the end. */
static void add_milli(struct text *out, int64_t milli)
{
    char digits[8];
    int n = 3;

    text_addf(out, "%" PRId64, milli / 1000);
    if (milli % 1000 == 0)
        return;
    for (int64_t rest = milli % 1000; n-- > 0; rest /= 10)
        digits[n] = (char)('0' + rest % 10);
    for (n = 3; digits[n - 1] == '0'; n--)
        ;
    text_addf(out, ".%.*s", n, digits);
}

/* Rounded down, but exact for whole MiB. */
static void add_bytes(struct text *out, int64_t bytes)
{
    const int64_t mib = bytes >> 20;

    if (bytes % (INT64_C(1) << 30) == 0 && bytes > 0)
        text_addf(out, "%" PRId64 " GiB", bytes >> 30);
    else if (mib >= 10 * 1024 && bytes % (INT64_C(1) << 20) != 0)
        text_addf(out, "%" PRId64 ".%" PRId64 " GiB", mib >> 10, (mib & 1023) * 10 >> 10);
    else if (mib > 0)
        text_addf(out, "%" PRId64 " MiB", mib);
    else
        text_addf(out, "%" PRId64 " bytes", bytes);
}

/* what: after the amount, or NULL for the amount alone. */
static void add_shortage(struct text *out, enum shortage what, int64_t amount, bool named)
{
    switch (what) {
    case SHORT_GPUS:
        text_addf(out, named ? amount == 1 ? "%" PRId64 " GPU" : "%" PRId64 " GPUs" : "%" PRId64,
                  amount);
        return;
    case SHORT_SHARED:
        text_addf(out,
                  named ? amount == 1 ? "%" PRId64 " GPU beside tasks that it may share with"
                                      : "%" PRId64 " GPUs beside tasks that it may share with"
                        : "%" PRId64,
                  amount);
        return;
    case SHORT_GPU_MGPU:
        add_milli(out, amount);
        text_add(out, named ? " of a GPU" : "");
        return;
    case SHORT_GPU_BYTES:
        add_bytes(out, amount);
        text_add(out, named ? " of GPU memory" : "");
        return;
    case SHORT_CPU_MCPU:
        add_milli(out, amount);
        text_add(out, named ? amount == 1000 ? " CPU" : " CPUs" : "");
        return;
    case SHORT_MEMORY_BYTES:
        add_bytes(out, amount);
        text_add(out, named ? " of memory" : "");
        return;
    case SHORT_MIG:
        text_addf(out, named ? "%" PRId64 " start for its MIG instance" : "%" PRId64, amount);
        return;
    case SHORT_COUNT:
        return;
    }
}

void explain_add_resource(struct text *out, enum resource r, int64_t amount, bool named)
{
    if (r == RES_GPU_MGPU || r == RES_CPU_MCPU) {
        add_milli(out, amount);
        if (named)
            text_addf(out, " %s%s", r == RES_GPU_MGPU ? "GPU" : "CPU", amount == 1000 ? "" : "s");
    } else {
        add_bytes(out, amount);
        if (named)
            text_add(out, r == RES_GPU_BYTES ? " of GPU memory" : " of memory");
    }
}

void explain_add_never(struct text *out, const struct never *never, const char *name)
{
    switch (never->kind) {
    case NEVER_MODEL:
        text_addf(out, " (no node has GPUs of model %s", name);
        if (never->more > 0)
            text_addf(out, ", or of the %u other%s that it takes", never->more,
                      never->more == 1 ? "" : "s");
        text_add(out, ")");
        break;
    case NEVER_LABEL:
        text_addf(out, " (no node that it could use otherwise has label %s)", name);
        break;
    case NEVER_SMALL:
        text_add(out, " (needs ");
        add_shortage(out, never->what, never->asked, true);
        if (never_is_unknown(never)) {
            text_add(out, ", and how much the nodes that it could use have is not known)");
            break;
        }
        text_add(out, ", no node that it could use has more than ");
        add_shortage(out, never->what, never->most, false);
        text_add(out, ")");
        break;
    case NEVER_MODES:
        text_add(out,
                 " (no node that it could use has GPUs in a mode that it may have them in, with "
                 "room for its context)");
        break;
    case NEVER_MIG:
        text_add(out, " (no node that it could use has GPUs that may be split into its MIG "
                      "instance)");
        break;
    case NEVER_TASKS:
        text_addf(out, " (needs room for %" PRId64 " tasks at once, there is room for %" PRId64 ")",
                  never->asked, never->most);
        break;
    case NEVER_UNKNOWN:
    case NEVER_COUNT:
        break;
    }
}

void explain_add_reject(struct text *out, const struct decision *decision)
{
    text_add(out, reason_reject_text(decision->reason));
    explain_add_never(out, &decision->never, decision->never_name);
    if (decision->queue == NULL)
        return;
    text_addf(out, " (%s: ", decision->queue);
    explain_add_resource(out, decision->resource, decision->asked, true);
    text_add(out, ", at most ");
    explain_add_resource(out, decision->resource, decision->limit, false);
    text_add(out, ")");
}

/* ---- why ---- */

static void add_job(const struct writer *w, uint64_t job_id)
{
    text_addf(w->out, "job %s", w->names->job(w->names->arg, job_id));
}

/* "job a and job b", and how those end that it waits for. */
static void add_others(const struct writer *w)
{
    static const char *const ends[AFTER_COUNT] = {" to end well", " to end", " to fail"};
    const struct explanation *e = w->e;

    for (uint32_t i = 0; i < e->named; i++) {
        text_add(w->out, i == 0 ? "" : i + 1 == e->other_count ? " and " : ", ");
        add_job(w, e->others[i]);
        if (e->reason == REASON_AFTER)
            text_add(w->out, ends[e->other_end[i]]);
    }
    if (e->other_count > e->named)
        text_addf(w->out, " and %u more", e->other_count - e->named);
}

static void add_reason(const struct writer *w)
{
    const struct explanation *e = w->e;

    add_job(w, e->job_id);
    if (e->reason == REASON_HELD) {
        text_add(w->out, " is held by its user.\n");
    } else if (e->reason == REASON_AFTER && e->other_count > 0) {
        text_add(w->out, " waits for ");
        add_others(w);
        text_add(w->out, ".\n");
    } else if (e->other_count > 0) {
        text_addf(w->out, " waits: %s: ", reason_text(e->reason));
        add_others(w);
        if (e->reason == REASON_ARRAY)
            text_addf(w->out, "; the limit is %u", e->array_limit);
        text_add(w->out, ".\n");
    } else {
        text_addf(w->out, " waits: %s.\n", reason_text(e->reason));
    }
    if (e->reason == REASON_VICTIMS && e->other_count > 0) {
        text_add(w->out, "They are killed in ");
        add_time(w->out, e->killed_us > e->now_us ? e->killed_us - e->now_us : 0);
        text_add(w->out, " at the latest.\n");
    }
}

/* ---- room ---- */

static void add_amounts(const struct writer *w, const struct obstacle *o, const char *have)
{
    const enum shortage what = o->kind == OBSTACLE_LOST ? SHORT_GPUS : (enum shortage)o->what;

    text_add(w->out, " (needs ");
    add_shortage(w->out, what, o->asked, true);
    text_addf(w->out, have[0] != '\0' ? ", %s " : ",%s ", have);
    if (o->most > 0)
        add_shortage(w->out, what, o->most, false);
    else
        text_add(w->out, "none");
    text_add(w->out, o->kind == OBSTACLE_BUSY ? " free)" : ")");
}

static void add_unknown(const struct writer *w, const struct obstacle *o)
{
    text_add(w->out, " (needs ");
    add_shortage(w->out, SHORT_GPU_BYTES, o->asked, true);
    text_add(w->out, ")");
}

static void add_obstacle(const struct writer *w, const struct obstacle *o)
{
    text_addf(w->out, "%u ", o->nodes);
    if (o->kind == OBSTACLE_LABEL)
        text_addf(w->out, "without label %s", core_name(w->core, o->what));
    else if (o->kind == OBSTACLE_OUT)
        text_add(w->out, explain_out_text(o->what));
    else
        text_add(w->out, explain_obstacle_text(o->kind));
    if (o->kind == OBSTACLE_SMALL)
        add_amounts(w, o, o->nodes > 1 ? "have at most" : "has");
    else if (o->kind == OBSTACLE_UNKNOWN)
        add_unknown(w, o);
    else if (o->kind == OBSTACLE_LOST || o->kind == OBSTACLE_BUSY)
        add_amounts(w, o, o->most == 0 ? "" : o->nodes > 1 ? "at most" : "has");
}

static void add_room(const struct writer *w)
{
    const struct explanation *e = w->e;
    const struct obstacles *o = &e->obstacles;

    if (o->nodes == 0 && e->tasks == 0)
        return;
    text_addf(w->out, "%u node%s", o->nodes, o->nodes == 1 ? "" : "s");
    for (uint32_t i = 0; i < o->count; i++) {
        text_add(w->out, i == 0 ? ": " : ", ");
        add_obstacle(w, &o->items[i]);
    }
    if (o->fitting > 0)
        text_addf(w->out, "%s%u with room for a task", o->count > 0 ? ", " : ": ", o->fitting);
    if (e->groups > 1)
        text_addf(w->out, " (for its group %u of %u)", e->group + 1, e->groups);
    text_add(w->out, ".\n");
    if (e->tasks > 1 && e->lack.level == LEVEL_NONE)
        text_addf(w->out, "%u of its %u tasks fit now.\n", e->tasks_fit, e->tasks);
}

/* What a domain lacks, or all of them together where groups must stay together. */
static void add_lack(const struct writer *w)
{
    const struct explanation *e = w->e;
    const struct together_lack *l = &e->lack;
    const char *level;

    if (l->level == LEVEL_NONE)
        return;
    level = core_name(w->core, l->level);
    if (l->domains == 0)
        text_addf(w->out, "No node is in a %s.\n", level);
    else if (l->groups)
        text_addf(w->out, "In groups that share a %s, %u of its %u tasks have room now.\n", level,
                  l->best, e->tasks);
    else
        text_addf(w->out, "No %s has room for all %u tasks of it now; the best of %u has for %u.\n",
                  level, e->tasks, l->domains, l->best);
}

/* "job a and job b" of a list that may be longer than what is named. */
static void add_jobs(const struct writer *w, const uint64_t *ids, uint32_t named, uint32_t count)
{
    for (uint32_t i = 0; i < named; i++) {
        text_add(w->out, i == 0 ? "" : i + 1 == count ? " and " : ", ");
        add_job(w, ids[i]);
    }
    if (count > named)
        text_addf(w->out, " and %u more", count - named);
}

static void add_services(const struct writer *w)
{
    const struct explanation *e = w->e;

    if (e->service_count == 0)
        return;
    text_add(w->out, "It may take from ");
    add_jobs(w, e->services, e->services_named, e->service_count);
    if (e->service_count == 1)
        text_addf(w->out, ", but that is a service and keeps its minimum of %u task%s.\n",
                  e->service_tasks_min, e->service_tasks_min == 1 ? "" : "s");
    else
        text_add(w->out, ", but these are services and keep their minimum of tasks.\n");
}

/* All of them are named, and may be stopped from the same time on. */
static bool young_end_together(const struct explanation *e)
{
    for (uint32_t i = 1; i < e->young_named; i++)
        if (e->until_us[i] != e->until_us[0])
            return false;
    return e->young_named == e->young_count;
}

static void add_young_each(const struct writer *w)
{
    const struct explanation *e = w->e;

    for (uint32_t i = 0; i < e->young_named; i++) {
        text_add(w->out, i == 0 ? "" : i + 1 == e->young_count ? " and " : ", ");
        add_job(w, e->young[i]);
        text_add(w->out, " (not before ");
        add_time(w->out, e->until_us[i]);
        text_add(w->out, ")");
    }
    if (e->young_count > e->young_named)
        text_addf(w->out, " and %u more", e->young_count - e->young_named);
}

static void add_young(const struct writer *w)
{
    const struct explanation *e = w->e;

    if (e->young_count == 0)
        return;
    text_add(w->out, "It may take from ");
    if (young_end_together(e)) {
        add_jobs(w, e->young, e->young_named, e->young_count);
        text_add(w->out, ", but not before ");
        add_time(w->out, e->until_us[0]);
    } else {
        add_young_each(w);
    }
    text_add(w->out, e->young_count == 1
                         ? ": that may not be stopped in its minimum run time.\n"
                         : ": these may not be stopped in their minimum run time.\n");
}

static void add_yields(const struct writer *w)
{
    if (w->e->takes_after_us == 0)
        return;
    text_addf(w->out,
              "It gave way %u times in a row soon after its start; it makes others give way by its "
              "class or its order again from ",
              w->e->yields);
    add_time(w->out, w->e->takes_after_us);
    text_add(w->out, " on.\n");
}

/* ---- queues ---- */

static void add_whose(const struct writer *w, uint32_t queue)
{
    const char *user, *name = core_queue_label(w->core, queue, &user);

    if (user != NULL)
        text_addf(w->out, "user %s in ", user);
    text_addf(w->out, "%s %s", core_queue_is_class(w->core, queue) ? "class" : "queue", name);
}

static void add_bound(const struct writer *w)
{
    const struct explain_bound *b = &w->e->bound;

    if (w->e->bound_queue == QUEUE_NONE)
        return;
    text_add(w->out, "It is held back by ");
    add_whose(w, w->e->bound_queue);
    if (b->refusal.bound != BOUND_NONE) {
        const enum resource r = b->refusal.resource;

        text_addf(w->out, b->refusal.bound == BOUND_LEND ? ": of the cluster " : ": ");
        explain_add_resource(w->out, r, b->held, true);
        text_add(w->out, " of ");
        explain_add_resource(w->out, r, b->limit, false);
        text_add(w->out, " are held, and it asks for ");
        if (b->asked_bytes > 0)
            explain_add_resource(w->out, RES_GPU_BYTES, b->asked_bytes, true);
        else
            explain_add_resource(w->out, r, b->asked, false);
    }
    text_add(w->out, ".\n");
}

/* ---- where and when ---- */

static void add_position(const struct writer *w)
{
    const struct position *p = &w->e->position;

    if (!p->known)
        return;
    if (p->more)
        text_addf(w->out, "More than %u jobs have their turn before it.\n", p->before);
    else if (p->before == 0)
        text_add(w->out, "It has the first turn.\n");
    else
        text_addf(w->out, "%u job%s ha%s turn before it, %u of its own queue.\n", p->before,
                  p->before == 1 ? "" : "s", p->before == 1 ? "s its" : "ve their", p->in_queue);
}

static void add_start(const struct writer *w, const struct forward *forward)
{
    const int64_t start_us = forward->start_us[w->e->job];

    if (start_us != TIME_NONE) {
        text_add(w->out, "It is expected to start in ");
        add_time(w->out, start_us - w->e->now_us);
        text_add(w->out, ", at ");
        add_time(w->out, start_us);
        text_add(w->out, ", if nothing new arrives and jobs end as expected.\n");
    } else if (forward->whole && w->e->reason == REASON_AFTER) {
        text_add(w->out, "It does not start by itself, if jobs end as expected.\n");
    } else if (forward->whole && forward->unending) {
        text_add(w->out, "It does not start by itself: services, and tasks that are stuck, would "
                         "have to end.\n");
    } else if (forward->whole) {
        text_add(w->out, "It does not start by itself, whatever ends.\n");
    } else {
        text_add(w->out, "It is not expected to start before ");
        add_time(w->out, forward->end_us);
        text_add(w->out, "; further was not looked.\n");
    }
}

/* ---- what to do ---- */

/* Where the job is, and what it holds there. */
static void add_places(const struct writer *w, uint64_t job_id)
{
    const uint32_t row = core_find_job(w->core, job_id);
    const struct job *job = row != ROW_NONE ? core_job(w->core, row) : NULL;
    uint32_t named = 0, last = ROW_NONE;

    if (job == NULL || job->task_first == ROW_NONE)
        return;
    for (uint32_t i = 0; i < job->task_count && named <= NODES_NAMED_MAX; i++) {
        const struct task *task = core_task(w->core, job->task_first + i);

        if (task->left || task->node == last)
            continue;
        if (named == NODES_NAMED_MAX)
            text_add(w->out, " and more");
        else
            text_addf(w->out, "%s%s", named == 0 ? " on " : ", ",
                      core_name(w->core, core_node_name(w->core, task->node)));
        last = task->node;
        named++;
    }
}

/* It ends when somebody ends it. */
static bool is_service(const struct writer *w, uint64_t job_id)
{
    const uint32_t row = core_find_job(w->core, job_id);

    return row != ROW_NONE && core_job(w->core, row)->service;
}

static void add_limit(const struct writer *w, const struct remedy *r)
{
    const bool borrow = r->refusal.bound == BOUND_BORROW;

    text_add(w->out, borrow ? "let " : "raise the limit of ");
    add_whose(w, r->refusal.queue);
    text_add(w->out, borrow ? " borrow " : " by ");
    explain_add_resource(w->out, r->refusal.resource, r->to - r->from, true);
    text_add(w->out, borrow ? " more, and hold " : ", to ");
    explain_add_resource(w->out, r->refusal.resource, r->to, false);
}

/* "allow its tasks anywhere in one spine" */
static void add_coarser(const struct writer *w, const struct remedy *r)
{
    text_add(w->out, explain_remedy_text(r->type));
    if (r->name != LEVEL_NONE)
        text_addf(w->out, " in one %s", core_name(w->core, r->name));
}

static void add_remedy(const struct writer *w)
{
    const struct remedy *r = &w->e->remedy;

    if (r->type == REMEDY_NONE) {
        if (w->e->tries == 0)
            text_add(w->out, "There is no single change to try.\n");
        else
            text_addf(w->out, "No single change starts it now; %u %s tried.\n", w->e->tries,
                      w->e->tries == 1 ? "was" : "were");
        return;
    }
    text_add(w->out, "It would start now with this change: ");
    if (r->type == REMEDY_LESS) {
        text_add(w->out, "ask for ");
        add_shortage(w->out, r->what, r->to, true);
        text_add(w->out, " instead of ");
        add_shortage(w->out, r->what, r->from, false);
    } else if (r->type == REMEDY_TASKS) {
        text_addf(w->out, "ask for %" PRId64 " task%s instead of %" PRId64, r->to,
                  r->to == 1 ? "" : "s", r->from);
    } else if (r->type == REMEDY_WITHIN || r->type == REMEDY_GROUPS) {
        add_coarser(w, r);
    } else if (r->type == REMEDY_SLOWDOWN) {
        text_add(w->out, "accept a slowdown of ");
        add_milli(w->out, (r->to + 999) / 1000);
        text_add(w->out, " instead of ");
        add_milli(w->out, r->from / 1000);
    } else if (r->type == REMEDY_LIMIT) {
        add_limit(w, r);
    } else if (r->type == REMEDY_JOB_ENDS) {
        add_job(w, r->job_id);
        add_places(w, r->job_id);
        text_add(w->out, is_service(w, r->job_id) ? " is cancelled"
                         : r->badly               ? " fails"
                                                  : " ends");
    } else {
        text_addf(w->out, "%s%s", explain_remedy_text(r->type),
                  r->name != 0 && r->type != REMEDY_MODELS ? core_name(w->core, r->name) : "");
    }
    if (r->stopped_count > 0) {
        text_add(w->out, "; then ");
        add_jobs(w, r->stopped, r->stopped_named, r->stopped_count);
        text_add(w->out, r->stopped_count == 1 ? " gives way to it" : " give way to it");
    }
    text_add(w->out, ".\n");
}

/* It runs, or is on its way in or out. */
static void add_state(const struct writer *w)
{
    const struct job *job = core_job(w->core, w->e->job);

    text_addf(w->out, " does not wait: it is %s", job_state_text(w->e->state));
    if (job_since_us(job) != TIME_NONE) {
        text_add(w->out, ", since ");
        add_time(w->out, job_since_us(job));
    }
    add_places(w, w->e->job_id);
    text_add(w->out, ".\n");
}

static void add_rejected(const struct writer *w)
{
    const struct never *never = &w->e->never;
    const bool named = never->kind == NEVER_MODEL || never->kind == NEVER_LABEL;

    text_addf(w->out, " is about to be rejected: %s", reason_reject_text(w->e->reason));
    explain_add_never(w->out, never, named ? core_name(w->core, never->name) : NULL);
    text_add(w->out, ".\n");
}

void explain_text(const struct core *core, const struct explanation *e,
                  const struct forward *forward, const struct explain_names *names,
                  struct text *out)
{
    const struct writer w = {core, e, names, out};

    if (e->state != JOB_PENDING || e->starts || e->rejected) {
        add_job(&w, e->job_id);
        if (e->rejected)
            add_rejected(&w);
        else if (e->starts)
            text_add(out, " starts with the next step.\n");
        else
            add_state(&w);
        return;
    }
    add_reason(&w);
    add_bound(&w);
    add_room(&w);
    add_lack(&w);
    add_services(&w);
    add_young(&w);
    add_yields(&w);
    add_position(&w);
    if (forward != NULL)
        add_start(&w, forward);
    add_remedy(&w);
}

void explain_absent_text(const struct explain_absent *a, struct text *out)
{
    static const char *const texts[] = {
        [EXPLAIN_COMES] = "is not there yet: it is submitted",
        [EXPLAIN_REFUSED] = "was refused when it was submitted,",
        [EXPLAIN_OVER] = "is over: ",
    };

    text_addf(out, "job %s %s", a->job, texts[a->what]);
    if (a->what == EXPLAIN_OVER)
        text_add(out, a->end);
    if (a->at_us != TIME_NONE) {
        text_add(out, " at ");
        add_time(out, a->at_us);
    } else {
        text_add(out, " later");
    }
    if (a->reason != NULL)
        text_addf(out, "; %s", a->reason);
    text_add(out, ".\n");
}

/* ---- words ---- */

const char *explain_obstacle_text(enum obstacle_kind kind)
{
    static const char *const texts[OBSTACLE_COUNT] = {
        [OBSTACLE_MODEL] = "of another model",
        [OBSTACLE_LABEL] = "without a label",
        [OBSTACLE_SMALL] = "too small",
        [OBSTACLE_UNKNOWN] = "whose GPU memory is not known",
        [OBSTACLE_OUT] = "without new work",
        [OBSTACLE_MODES] = "in other modes",
        [OBSTACLE_PROFILE] = "without such a MIG profile",
        [OBSTACLE_LOST] = "with lost GPUs",
        [OBSTACLE_BUSY] = "busy",
    };

    check(kind < OBSTACLE_COUNT);
    return texts[kind];
}

const char *explain_shortage_text(enum shortage what)
{
    static const char *const texts[SHORT_COUNT] = {
        [SHORT_GPUS] = "gpus",         [SHORT_SHARED] = "gpus_to_share",
        [SHORT_GPU_MGPU] = "gpu_mgpu", [SHORT_GPU_BYTES] = "gpu_memory_bytes",
        [SHORT_CPU_MCPU] = "cpu_mcpu", [SHORT_MEMORY_BYTES] = "memory_bytes",
        [SHORT_MIG] = "mig_starts",
    };

    check(what < SHORT_COUNT);
    return texts[what];
}

const char *explain_resource_text(enum resource resource)
{
    static const char *const texts[RES_COUNT] = {
        [RES_GPU_MGPU] = "gpu_mgpu",
        [RES_GPU_BYTES] = "gpu_memory_bytes",
        [RES_CPU_MCPU] = "cpu_mcpu",
        [RES_MEMORY_BYTES] = "memory_bytes",
    };

    check(resource < RES_COUNT);
    return texts[resource];
}

const char *explain_remedy_text(enum remedy_type type)
{
    switch (type) {
    case REMEDY_NONE:
        return "none";
    case REMEDY_RELEASE:
        return "release it";
    case REMEDY_LESS:
        return "ask for less";
    case REMEDY_TASKS:
        return "ask for fewer tasks";
    case REMEDY_MODELS:
        return "allow any GPU model";
    case REMEDY_LABEL:
        return "do without label ";
    case REMEDY_WITHIN:
        return "allow its tasks anywhere";
    case REMEDY_GROUPS:
        return "allow the tasks of a group anywhere";
    case REMEDY_SLOWDOWN:
        return "accept a larger slowdown";
    case REMEDY_LIMIT:
        return "raise a limit";
    case REMEDY_CLASS:
        return "submit it in class ";
    case REMEDY_NODE:
        return "give work again to drained node ";
    case REMEDY_JOB_ENDS:
        return "job ends";
    }
    check_failed("a known kind of change", __FILE__, __LINE__);
}

const char *explain_out_text(uint32_t out_bit)
{
    switch (out_bit) {
    case NODE_OUT_DRAINED:
        return "drained";
    case NODE_OUT_SILENT:
        return "silent";
    case NODE_OUT_LOST:
        return "lost";
    case NODE_OUT_UNLISTED:
        return "unlisted";
    case NODE_OUT_FLAPPING:
        return "flapping";
    case NODE_OUT_STUCK:
        return "stuck with tasks that should be gone";
    default:
        return "without new work";
    }
}
