/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/decision_json.h"

#include "base/check.h"
#include "base/text.h"
#include "wire/event_text.h"
#include "wire/explain_out.h"
#include "wire/json_out.h"
#include "wire/modes_doc.h"

static const char *const type_words[] = {
    [DECISION_START] = "start",
    [DECISION_STOP] = "stop",
    [DECISION_REJECT] = "reject",
    [DECISION_NOTE] = "note",
    [DECISION_RESERVE] = "reserve",
    [DECISION_ATTEND] = "attend",
    [DECISION_REPARTITION] = "repartition",
};

const char *stop_mode_text(enum stop_mode mode)
{
    static const char *const texts[] = {[STOP_PREEMPT] = "preempt",
                                        [STOP_CANCEL] = "cancel",
                                        [STOP_LIMIT] = "limit",
                                        [STOP_SHRINK] = "shrink"};

    check(mode <= STOP_SHRINK);
    return texts[mode];
}

/* Where a driver has nothing to set but turns, nothing is said. */
static void format_sharing(struct json_out *json, const struct task_place *place)
{
    bool says = place->mode == GPU_MPS || place->mode == GPU_MIG;

    for (uint32_t k = 0; k < QOS_KNOBS; k++)
        says = says || place->qos[k] != QOS_UNSET;
    if (!says)
        return;
    json_key_string(json, "mode", gpu_mode_text(place->mode));
    if (place->gpu_memory_bytes > 0)
        json_key_i64(json, "gpu_memory_bytes", place->gpu_memory_bytes);
    for (uint32_t k = 0; k < QOS_KNOBS; k++)
        if (place->qos[k] != QOS_UNSET)
            json_knob(json, k, place->qos[k]);
}

/* Its instance of a split GPU: which, where on it, and whether it is to be made. */
static void format_instance(struct json_out *json, const struct task_place *place)
{
    json_key_string(json, "mig", place->mig_profile);
    json_key_u64(json, "mig_start", place->mig_start);
    json_key_bool(json, "mig_new", place->mig_new);
}

static void format_places(struct json_out *json, enum decision_type type,
                          const struct task_place *places, uint32_t count)
{
    json_key(json, "places");
    json_array_begin(json);
    for (uint32_t i = 0; i < count; i++) {
        json_object_begin(json);
        json_key_u64(json, "task", places[i].task);
        json_key_string(json, "node", places[i].node_name);
        json_gpu_mask(json, "gpus", places[i].gpu_mask);
        if (type == DECISION_START && places[i].mig_profile != NULL)
            format_instance(json, &places[i]);
        if (type == DECISION_REPARTITION) {
            json_key_string(json, "mig", places[i].mig_profile);
            json_key_u64(json, "mig_start", places[i].mig_start);
        }
        if (type == DECISION_START)
            format_sharing(json, &places[i]);
        json_object_end(json);
    }
    json_array_end(json);
}

static void format_for_job(struct json_out *json, uint64_t job_id)
{
    if (job_id == JOB_NONE)
        json_key_null(json, "for_job");
    else
        json_key_u64(json, "for_job", job_id);
}

static void format_why(struct json_out *json, const struct decision *decision)
{
    json_key_string(json, "reason",
                    decision->type == DECISION_REJECT ? reason_reject_text(decision->reason)
                                                      : reason_text(decision->reason));
    if (decision->queue)
        json_key_string(json, "queue", decision->queue);
    else
        json_key_null(json, "queue");
    if (decision->type != DECISION_REJECT)
        return;
    explain_write_never(json, &decision->never, decision->never_name);
    if (decision->queue) {
        json_key_string(json, "resource", explain_resource_text(decision->resource));
        json_key_i64(json, "asked", decision->asked);
        json_key_i64(json, "limit", decision->limit);
    }
}

/* Where no bandwidth is known, nothing is said. */
static void format_slowdown(struct json_out *json, const struct slowdown *slowdown)
{
    if (slowdown->all_reduce_ppm != 0)
        json_key_u64(json, "all_reduce_ppm", slowdown->all_reduce_ppm);
    if (slowdown->all_to_all_ppm != 0)
        json_key_u64(json, "all_to_all_ppm", slowdown->all_to_all_ppm);
}

static void format_rest(struct json_out *json, const struct decision *decision)
{
    switch (decision->type) {
    case DECISION_START:
        json_key_u64(json, "run", decision->run);
        json_key_u64(json, "layout", decision->layout);
        format_slowdown(json, &decision->slowdown);
        break;
    case DECISION_STOP:
        json_key_u64(json, "run", decision->run);
        json_key_string(json, "mode", stop_mode_text(decision->mode));
        json_key_string(json, "reason", reason_text(decision->reason));
        format_for_job(json, decision->for_job);
        json_key_i64(json, "grace_us", decision->grace_us);
        break;
    case DECISION_RESERVE:
        if (decision->at_us == TIME_NONE)
            json_key_null(json, "start_us");
        else
            json_key_i64(json, "start_us", decision->at_us);
        format_for_job(json, decision->for_job);
        break;
    case DECISION_REJECT:
    case DECISION_NOTE:
        format_why(json, decision);
        break;
    case DECISION_REPARTITION:
        format_for_job(json, decision->for_job);
        break;
    case DECISION_ATTEND:
        break;
    }
}

void decision_format(const struct decisions *decisions, uint32_t index, int64_t now_us,
                     struct text *out)
{
    const struct decision *decision;
    struct json_out json;

    check(index < decisions->count);
    decision = &decisions->items[index];
    check(decision->type <= DECISION_REPARTITION);
    json_out_init(&json, out);
    json_object_begin(&json);
    json_key_string(&json, "decision", type_words[decision->type]);
    json_key_i64(&json, "at_us", now_us);
    json_key_u64(&json, "job_id", decision->job_id);
    format_rest(&json, decision);
    if (decision->type != DECISION_REJECT && decision->type != DECISION_NOTE)
        format_places(&json, decision->type, decisions->places + decision->place_first,
                      decision->place_count);
    json_object_end(&json);
    text_add_bytes(out, "\n", 1);
}

void decisions_format(const struct decisions *decisions, int64_t now_us, struct text *out)
{
    for (uint32_t i = 0; i < decisions->count; i++)
        decision_format(decisions, i, now_us, out);
}
