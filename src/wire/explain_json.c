/* SPDX-License-Identifier: Apache-2.0 */
/* explain_json.c - an explanation as a JSON object: amounts as integers in the units of the core.
 */
#include "core/view.h"
#include "wire/explain_out.h"
#include "wire/json_out.h"

void explain_write_never(struct json_out *json, const struct never *never, const char *name)
{
    static const char *const kinds[NEVER_COUNT] = {
        [NEVER_MODEL] = "model", [NEVER_LABEL] = "label", [NEVER_MODES] = "modes",
        [NEVER_MIG] = "mig",     [NEVER_TASKS] = "tasks",
    };

    if (never->kind == NEVER_UNKNOWN)
        return;
    json_key_string(json, "lacks",
                    never->kind == NEVER_SMALL ? explain_shortage_text(never->what)
                                               : kinds[never->kind]);
    if (name != NULL)
        json_key_string(json, "name", name);
    if (never->kind == NEVER_SMALL || never->kind == NEVER_TASKS) {
        json_key_i64(json, "asked", never->asked);
        if (never_is_unknown(never))
            json_key_null(json, "most");
        else
            json_key_i64(json, "most", never->most);
    }
}

static void write_obstacles(const struct core *core, const struct obstacles *o,
                            struct json_out *json)
{
    json_key_u64(json, "nodes", o->nodes);
    json_key_u64(json, "nodes_fitting", o->fitting);
    json_key(json, "obstacles");
    json_array_begin(json);
    for (uint32_t i = 0; i < o->count; i++) {
        const struct obstacle *item = &o->items[i];

        json_object_begin(json);
        json_key_u64(json, "nodes", item->nodes);
        json_key_string(json, "kind", explain_obstacle_text(item->kind));
        if (item->kind == OBSTACLE_LABEL)
            json_key_string(json, "label", core_name(core, item->what));
        if (item->kind == OBSTACLE_OUT)
            json_key_string(json, "why", explain_out_text(item->what));
        if (item->kind == OBSTACLE_SMALL || item->kind == OBSTACLE_BUSY)
            json_key_string(json, "short_of", explain_shortage_text((enum shortage)item->what));
        if (item->asked > 0) {
            json_key_i64(json, "asked", item->asked);
            if (item->kind == OBSTACLE_UNKNOWN)
                json_key_null(json, "most");
            else
                json_key_i64(json, "most", item->most);
        }
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_whose(const struct core *core, uint32_t queue, struct json_out *json)
{
    const char *user, *name = core_queue_label(core, queue, &user);

    json_key_string(json, core_queue_is_class(core, queue) ? "class" : "queue", name);
    if (user != NULL)
        json_key_string(json, "user", user);
}

static void write_bound(const struct core *core, const struct explanation *e, struct json_out *json)
{
    if (e->bound_queue == QUEUE_NONE)
        return;
    json_key(json, "bound");
    json_object_begin(json);
    write_whose(core, e->bound_queue, json);
    if (e->bound.refusal.bound != BOUND_NONE) {
        json_key_string(json, "resource", explain_resource_text(e->bound.refusal.resource));
        json_key_i64(json, "limit", e->bound.limit);
        json_key_i64(json, "held", e->bound.held);
        json_key_i64(json, "asked", e->bound.asked);
    }
    json_object_end(json);
}

static void write_others(const struct explanation *e, const struct explain_names *names,
                         struct json_out *json)
{
    if (e->other_count == 0)
        return;
    json_key(json, "jobs");
    json_array_begin(json);
    for (uint32_t i = 0; i < e->named; i++)
        json_string(json, names->job(names->arg, e->others[i]));
    json_array_end(json);
    json_key_u64(json, "job_count", e->other_count);
    if (e->reason == REASON_VICTIMS)
        json_key_i64(json, "killed_us", e->killed_us);
    if (e->reason == REASON_ARRAY)
        json_key_u64(json, "array_limit", e->array_limit);
}

static void write_services(const struct explanation *e, const struct explain_names *names,
                           struct json_out *json)
{
    if (e->service_count == 0)
        return;
    json_key(json, "services_at_minimum");
    json_array_begin(json);
    for (uint32_t i = 0; i < e->services_named; i++)
        json_string(json, names->job(names->arg, e->services[i]));
    json_array_end(json);
    json_key_u64(json, "services_at_minimum_count", e->service_count);
}

static void write_young(const struct explanation *e, const struct explain_names *names,
                        struct json_out *json)
{
    if (e->takes_after_us > 0) {
        json_key_u64(json, "yields", e->yields);
        json_key_i64(json, "takes_after_us", e->takes_after_us);
    }
    if (e->young_count == 0)
        return;
    json_key(json, "in_minimum_run_time");
    json_array_begin(json);
    for (uint32_t i = 0; i < e->young_named; i++) {
        json_object_begin(json);
        json_key_string(json, "job", names->job(names->arg, e->young[i]));
        json_key_i64(json, "until_us", e->until_us[i]);
        json_object_end(json);
    }
    json_array_end(json);
    json_key_u64(json, "in_minimum_run_time_count", e->young_count);
}

static void write_reservations(const struct explanation *e, const struct explain_names *names,
                               struct json_out *json)
{
    if (e->ahead_job != JOB_NONE) {
        json_key(json, "runs_into");
        json_object_begin(json);
        json_key_string(json, "job", names->job(names->arg, e->ahead_job));
        json_key_i64(json, "reserved_us", e->ahead_us);
        if (e->run_until_us != TIME_NONE)
            json_key_i64(json, "run_until_us", e->run_until_us);
        else
            json_key_null(json, "run_until_us");
        json_object_end(json);
    }
    if (e->reserved_us == TIME_NONE)
        return;
    json_key(json, "reservation");
    json_object_begin(json);
    json_key_i64(json, "at_us", e->reserved_us);
    json_key_i64(json, "first_told_us", e->reserved_first_us);
    if (e->reserved_late_by != JOB_NONE)
        json_key_string(json, "late_because_of", names->job(names->arg, e->reserved_late_by));
    json_object_end(json);
}

static void write_position(const struct position *p, struct json_out *json)
{
    if (!p->known)
        return;
    json_key(json, "position");
    json_object_begin(json);
    json_key_u64(json, "before", p->before);
    json_key_u64(json, "before_in_queue", p->in_queue);
    json_key_bool(json, "more", p->more);
    json_object_end(json);
}

static void write_start(const struct explanation *e, const struct forward *forward,
                        struct json_out *json)
{
    if (forward->start_us[e->job] != TIME_NONE) {
        json_key_i64(json, "expected_start_us", forward->start_us[e->job]);
        return;
    }
    json_key_null(json, "expected_start_us");
    if (!forward->whole)
        json_key_i64(json, "not_before_us", forward->end_us);
    if (forward->unending)
        json_key_bool(json, "starts_when_services_end", true);
}

static void write_level(const struct core *core, uint32_t level, struct json_out *json)
{
    if (level != LEVEL_NONE)
        json_key_string(json, "level", core_name(core, level));
    else
        json_key_null(json, "level");
}

static void write_lack(const struct core *core, const struct together_lack *lack,
                       struct json_out *json)
{
    if (lack->level == LEVEL_NONE)
        return;
    write_level(core, lack->level, json);
    json_key_u64(json, "domains", lack->domains);
    json_key_u64(json, "tasks_in_best", lack->best);
}

static void write_remedy(const struct core *core, const struct explanation *e,
                         const struct explain_names *names, struct json_out *json)
{
    static const char *const words[] = {"none",  "release", "less",         "tasks",    "models",
                                        "label", "within",  "group_within", "slowdown", "limit",
                                        "class", "node",    "job_ends"};
    const struct remedy *r = &e->remedy;
    const bool amounts = r->type == REMEDY_LESS || r->type == REMEDY_TASKS ||
                         r->type == REMEDY_LIMIT || r->type == REMEDY_SLOWDOWN; /* in millionths */

    json_key(json, "nearest_change");
    json_object_begin(json);
    json_key_string(json, "change", words[r->type]);
    if (r->type == REMEDY_LESS)
        json_key_string(json, "of", explain_shortage_text(r->what));
    if (r->type == REMEDY_LIMIT) {
        write_whose(core, r->refusal.queue, json);
        json_key_string(json, "resource", explain_resource_text(r->refusal.resource));
    }
    if (amounts) {
        json_key_i64(json, "from", r->from);
        json_key_i64(json, "to", r->to);
    }
    if (r->type == REMEDY_LABEL || r->type == REMEDY_CLASS || r->type == REMEDY_NODE)
        json_key_string(json, "name", core_name(core, r->name));
    if (r->type == REMEDY_WITHIN || r->type == REMEDY_GROUPS)
        write_level(core, r->name, json);
    if (r->type == REMEDY_JOB_ENDS)
        json_key_string(json, "job", names->job(names->arg, r->job_id));
    json_key_u64(json, "tried", e->tries);
    json_object_end(json);
}

/* Of one that runs, or is on its way in or out: since when and where. */
static void write_places(const struct core *core, const struct explanation *e,
                         struct json_out *json)
{
    const struct job *job = core_job(core, e->job);
    uint32_t last = ROW_NONE;

    if (job_since_us(job) != TIME_NONE)
        json_key_i64(json, "since_us", job_since_us(job));
    json_key(json, "nodes");
    json_array_begin(json);
    for (uint32_t i = 0; job->task_first != ROW_NONE && i < job->task_count; i++) {
        const struct task *task = core_task(core, job->task_first + i);

        if (task->left || task->node == last)
            continue;
        json_string(json, core_name(core, core_node_name(core, task->node)));
        last = task->node;
    }
    json_array_end(json);
}

void explain_absent_json(const struct explain_absent *a, struct json_out *json)
{
    static const char *const states[] = {
        [EXPLAIN_COMES] = "not_submitted",
        [EXPLAIN_REFUSED] = "refused",
        [EXPLAIN_OVER] = "over",
    };

    json_object_begin(json);
    json_key_string(json, "job", a->job);
    json_key_i64(json, "now_us", a->now_us);
    json_key_string(json, "state", states[a->what]);
    if (a->what == EXPLAIN_OVER)
        json_key_string(json, "end", a->end);
    if (a->at_us != TIME_NONE)
        json_key_i64(json, a->what == EXPLAIN_OVER ? "end_us" : "submit_us", a->at_us);
    if (a->reason != NULL)
        json_key_string(json, "reason", a->reason);
    json_object_end(json);
}

void explain_json(const struct core *core, const struct explanation *e,
                  const struct forward *forward, const struct explain_names *names,
                  struct json_out *json)
{
    const bool waits = e->state == JOB_PENDING && !e->starts && !e->rejected;

    json_object_begin(json);
    json_key_string(json, "job", names->job(names->arg, e->job_id));
    json_key_i64(json, "now_us", e->now_us);
    json_key_string(json, "state", job_state_text(e->state));
    json_key_bool(json, "starts_next_step", e->starts);
    if (waits || e->rejected)
        json_key_string(json, "reason",
                        e->rejected ? reason_reject_text(e->reason) : reason_text(e->reason));
    if (e->rejected)
        explain_write_never(json, &e->never,
                            e->never.kind == NEVER_MODEL || e->never.kind == NEVER_LABEL
                                ? core_name(core, e->never.name)
                                : NULL);
    if (e->state != JOB_PENDING)
        write_places(core, e, json);
    if (waits) {
        write_others(e, names, json);
        write_bound(core, e, json);
        if (e->tasks > 0) {
            write_obstacles(core, &e->obstacles, json);
            json_key_u64(json, "tasks", e->tasks);
            json_key_u64(json, "tasks_fit", e->tasks_fit);
            write_lack(core, &e->lack, json);
        }
        write_services(e, names, json);
        write_young(e, names, json);
        write_reservations(e, names, json);
        write_position(&e->position, json);
        if (forward != NULL)
            write_start(e, forward, json);
        write_remedy(core, e, names, json);
    }
    json_object_end(json);
}
