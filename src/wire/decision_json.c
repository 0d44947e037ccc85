/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/decision_json.h"

#include "base/check.h"
#include "base/text.h"
#include "wire/event_text.h"
#include "wire/json_out.h"

static const char *decision_type_text(enum decision_type type)
{
    static const char *const texts[] = {[DECISION_START] = "start",
                                        [DECISION_STOP] = "stop",
                                        [DECISION_REJECT] = "reject",
                                        [DECISION_NOTE] = "note"};

    check(type <= DECISION_NOTE);
    return texts[type];
}

static void format_places(struct json_out *json, const struct task_place *places, uint32_t count)
{
    json_key(json, "places");
    json_array_begin(json);
    for (uint32_t i = 0; i < count; i++) {
        json_object_begin(json);
        json_key_u64(json, "task", places[i].task);
        json_key_string(json, "node", places[i].node_name);
        json_gpu_mask(json, "gpus", places[i].gpu_mask);
        json_object_end(json);
    }
    json_array_end(json);
}

void decision_format(const struct decisions *decisions, uint32_t index, int64_t now_us,
                     struct text *out)
{
    const struct decision *decision;
    struct json_out json;

    check(index < decisions->count);
    decision = &decisions->items[index];
    json_out_init(&json, out);
    json_object_begin(&json);
    json_key_string(&json, "decision", decision_type_text(decision->type));
    json_key_i64(&json, "at_us", now_us);
    json_key_u64(&json, "job_id", decision->job_id);
    if (decision->type == DECISION_START) {
        json_key_u64(&json, "layout", decision->layout);
        format_places(&json, decisions->places + decision->place_first, decision->place_count);
    } else {
        if (decision->type == DECISION_STOP)
            json_key_string(&json, "mode", decision->mode == STOP_CANCEL ? "cancel" : "preempt");
        json_key_string(&json, "reason", reason_text(decision->reason));
    }
    json_object_end(&json);
    text_add_bytes(out, "\n", 1);
}

void decisions_format(const struct decisions *decisions, int64_t now_us, struct text *out)
{
    for (uint32_t i = 0; i < decisions->count; i++)
        decision_format(decisions, i, now_us, out);
}
