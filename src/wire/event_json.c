/* SPDX-License-Identifier: Apache-2.0 */
/* event_json.c - events to lines; event_parse.c is the way back. Fields are written in a fixed
 * order, all of them (but links and modes that nobody said), so that equal events are equal lines.
 */
#include "wire/event_json.h"

#include "base/bits.h"
#include "base/check.h"
#include "base/text.h"
#include "core/links.h"
#include "wire/config_file.h"
#include "wire/event_text.h"
#include "wire/json_out.h"
#include "wire/modes_doc.h"
#include "wire/rules_json.h"

const char *event_type_text(enum event_type type)
{
    static const char *const texts[EVENT_TYPE_COUNT] = {
        [EVENT_NODE_UPSERTED] = "node_upserted",
        [EVENT_NODE_REMOVED] = "node_removed",
        [EVENT_GPU_HEALTH] = "gpu_health",
        [EVENT_NODE_HEALTH] = "node_health",
        [EVENT_NODE_LISTED] = "node_listed",
        [EVENT_JOB_SUBMITTED] = "job_submitted",
        [EVENT_JOB_CANCELLED] = "job_cancelled",
        [EVENT_JOB_HELD] = "job_held",
        [EVENT_JOB_RELEASED] = "job_released",
        [EVENT_JOB_CHECKPOINT] = "job_checkpoint",
        [EVENT_TASK_STARTED] = "task_started",
        [EVENT_TASK_EXITED] = "task_exited",
        [EVENT_TASK_LOST] = "task_lost",
        [EVENT_GPU_SPLIT] = "gpu_split",
        [EVENT_INSTANCE_FAILED] = "instance_failed",
        [EVENT_JOB_PROGRESS] = "job_progress",
        [EVENT_CONFIG_CHANGED] = "config_changed",
        [EVENT_TIME_PASSED] = "time_passed",
        [EVENT_STEPPED] = "stepped",
    };

    check(type < EVENT_TYPE_COUNT);
    return texts[type];
}

const char *const gpu_health_words[2] = {[GPU_HEALTHY] = "healthy", [GPU_LOST] = "lost"};
const char *const node_health_words[NODE_HEALTH_COUNT] = {[NODE_HEARD] = "heard",
                                                          [NODE_SILENT] = "silent",
                                                          [NODE_DRAINED] = "drained",
                                                          [NODE_UNDRAINED] = "undrained"};
const char *const after_end_words[AFTER_COUNT] = {
    [AFTER_OK] = "ok", [AFTER_ANY] = "any", [AFTER_FAILED] = "failed"};
const char *const resource_words[RES_COUNT] = {[RES_GPU_MGPU] = "gpu_mgpu",
                                               [RES_GPU_BYTES] = "gpu_bytes",
                                               [RES_CPU_MCPU] = "cpu_mcpu",
                                               [RES_MEMORY_BYTES] = "memory_bytes"};

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

void json_gpu_mask(struct json_out *json, const char *key, uint64_t mask)
{
    json_key(json, key);
    json_array_begin(json);
    for (uint64_t left = mask; left; left = mask_drop_lowest(left))
        json_u64(json, mask_lowest(left));
    json_array_end(json);
}

void json_knob(struct json_out *json, uint32_t knob, int32_t value)
{
    char text[KNOB_TEXT_BYTES];

    if (knob == QOS_SLICE || knob == QOS_PREEMPTION) {
        knob_text(knob, value, text);
        json_key_string(json, qos_facts[knob].name, text);
    } else {
        json_key_i64(json, qos_facts[knob].name, value);
    }
}

static void format_group(struct json_out *json, const struct group_spec *group)
{
    json_object_begin(json);
    json_key_u64(json, "tasks", group->tasks);
    json_key_i64(json, "cpu_mcpu", group->cpu_mcpu);
    json_key_i64(json, "memory_bytes", group->memory_bytes);
    json_key_u64(json, "gpus", group->gpus);
    json_key_u64(json, "gpu_mgpu", group->gpu_mgpu);
    json_key_i64(json, "gpu_memory_bytes", group->gpu_memory_bytes);
    if (group->mig != NULL && group->mig[0] != '\0') /* as for modes below */
        json_key_string(json, "mig", group->mig);
    json_key_strings(json, "models", group->models, group->model_count);
    json_key_strings(json, "labels", group->labels, group->label_count);
    json_object_end(json);
}

static void format_groups(struct json_out *json, const char *key, const struct group_spec *groups,
                          uint32_t count)
{
    json_key(json, key);
    json_array_begin(json);
    for (uint32_t i = 0; i < count; i++)
        format_group(json, &groups[i]);
    json_array_end(json);
}

/* What nobody said is not there, so that event files are as they always were. */
static void format_modes(struct json_out *json, uint32_t modes)
{
    if (modes == 0)
        return;
    json_key(json, "modes");
    json_array_begin(json);
    for (uint32_t mode = 0; mode < GPU_MODES; mode++)
        if (modes & MODE_BIT(mode))
            json_string(json, gpu_mode_words[mode]);
    json_array_end(json);
}

static void format_node_sharing(struct json_out *json, const struct node_spec *node)
{
    format_modes(json, node->modes);
    if (node->gpu_context_bytes != 0)
        json_key_i64(json, "gpu_context_bytes", node->gpu_context_bytes);
    if (node->compute_factor != 0)
        json_key_u64(json, "compute_factor", node->compute_factor);
    if (node->mps_clients != 0)
        json_key_u64(json, "mps_clients", node->mps_clients);
}

static void format_job_sharing(struct json_out *json, const struct job_spec *job)
{
    if (job->strict)
        json_key_bool(json, "strict", true);
    format_modes(json, job->modes);
    if (job->qos.class != QOS_NONE)
        json_key_string(json, "qos", qos_class_words[job->qos.class]);
    for (uint32_t k = 0; k < QOS_KNOBS; k++)
        if (job->qos.stated >> k & 1)
            json_knob(json, k, job->qos.values[k]);
}

static void format_node(struct json_out *json, const struct node_spec *node)
{
    json_key_string(json, "name", node->name);
    json_key_string(json, "model", node->model);
    json_key_u64(json, "gpus", node->gpus);
    json_key_i64(json, "gpu_memory_bytes", node->gpu_memory_bytes);
    json_key_i64(json, "cpu_mcpu", node->cpu_mcpu);
    json_key_i64(json, "memory_bytes", node->memory_bytes);
    json_key_strings(json, "labels", node->labels, node->label_count);
    format_node_sharing(json, node);
    if (node->links_mbps == NULL || node->gpus < 2)
        return;
    json_key(json, "links_mbps");
    json_array_begin(json);
    for (uint32_t i = 0; i < links_pairs(node->gpus); i++)
        json_u64(json, node->links_mbps[i]);
    json_array_end(json);
}

static void format_layouts(struct json_out *json, const struct job_spec *job)
{
    json_key(json, "layouts");
    json_array_begin(json);
    for (uint32_t i = 0; i < job->layout_count; i++) {
        json_object_begin(json);
        json_key_u64(json, "slowdown_ppm", job->layouts[i].slowdown_ppm);
        json_key_u64(json, "apart", job->layouts[i].apart);
        format_groups(json, "groups", job->layouts[i].groups, job->layouts[i].group_count);
        json_object_end(json);
    }
    json_array_end(json);
}

static void format_after(struct json_out *json, const struct job_spec *job)
{
    json_key(json, "after");
    json_array_begin(json);
    for (uint32_t i = 0; i < job->after_count; i++) {
        json_object_begin(json);
        json_key_u64(json, "job_id", job->after[i].job_id);
        json_key_string(json, "end", after_end_words[job->after[i].end]);
        json_object_end(json);
    }
    json_array_end(json);
}

/* Where its tasks are to be to each other. */
static void format_together(struct json_out *json, const struct job_spec *job)
{
    if (or_empty(job->within)[0] != '\0')
        json_key_string(json, "within", job->within);
    if (or_empty(job->near)[0] != '\0')
        json_key_string(json, "near", job->near);
    if (or_empty(job->group_within)[0] != '\0')
        json_key_string(json, "group_within", job->group_within);
    if (job->group_size != 0)
        json_key_u64(json, "group_size", job->group_size);
    if (job->slowdown_max_ppm != 0)
        json_key_u64(json, "slowdown_max_ppm", job->slowdown_max_ppm);
}

static void format_job(struct json_out *json, const struct job_spec *job)
{
    json_key_u64(json, "id", job->id);
    json_key_string(json, "queue", job->queue);
    json_key_string(json, "user", job->user);
    json_key_string(json, "name", job->name);
    json_key_string(json, "class", or_empty(job->class));
    format_layouts(json, job);
    json_key_u64(json, "tasks_min", job->tasks_min);
    json_key_bool(json, "service", job->service);
    json_key_bool(json, "held", job->held);
    json_key_bool(json, "exclusive", job->exclusive);
    json_key_bool(json, "fixed", job->fixed);
    format_job_sharing(json, job);
    format_together(json, job);
    json_key_u64(json, "retries", job->retries);
    json_key_i64(json, "deadline_us", job->deadline_us);
    json_key_i64(json, "limit_us", job->limit_us);
    json_key_i64(json, "grace_us", job->grace_us);
    json_key_i64(json, "min_run_us", job->min_run_us);
    json_key_string(json, "array", or_empty(job->array));
    json_key_u64(json, "array_limit", job->array_limit);
    format_after(json, job);
    json_key_i64(json, "remaining_us", job->remaining_us);
}

static void format_listed(struct json_out *json, const struct event *event)
{
    json_key_string(json, "node", event->listed.node);
    json_key(json, "tasks");
    json_array_begin(json);
    for (uint32_t i = 0; i < event->listed.count; i++) {
        json_object_begin(json);
        json_key_u64(json, "job_id", event->listed.tasks[i].job_id);
        json_key_u64(json, "task", event->listed.tasks[i].task);
        json_key_u64(json, "run", event->listed.tasks[i].run);
        json_object_end(json);
    }
    json_array_end(json);
}

static void format_split(struct json_out *json, const struct event *event)
{
    json_key_string(json, "node", event->split.node);
    json_key_u64(json, "gpu", event->split.gpu);
    json_key(json, "instances");
    json_array_begin(json);
    for (uint32_t i = 0; i < event->split.count; i++) {
        json_object_begin(json);
        json_key_string(json, "profile", event->split.instances[i].profile);
        json_key_u64(json, "start", event->split.instances[i].start);
        json_key_u64(json, "size", event->split.instances[i].size);
        json_object_end(json);
    }
    json_array_end(json);
}

static void format_task(struct json_out *json, const struct event *event)
{
    json_key_u64(json, "job_id", event->task.job_id);
    json_key_u64(json, "task", event->task.task);
    json_key_u64(json, "run", event->task.run);
    if (event->type == EVENT_TASK_STARTED) {
        json_key_string(json, "node", or_empty(event->task.node));
        json_gpu_mask(json, "gpus", event->task.gpu_mask);
        if (event->task.mig_start != 0)
            json_key_u64(json, "mig_start", event->task.mig_start);
    } else if (event->type == EVENT_TASK_EXITED) {
        json_key_i64(json, "exit_code", event->task.exit_code);
    }
}

static void format_rest(struct json_out *json, const struct event *event)
{
    switch (event->type) {
    case EVENT_NODE_UPSERTED:
        format_node(json, &event->node);
        break;
    case EVENT_NODE_REMOVED:
        json_key_string(json, "node", event->node_name);
        break;
    case EVENT_GPU_HEALTH:
        json_key_string(json, "node", event->gpu.node);
        json_key_u64(json, "gpu", event->gpu.gpu);
        json_key_string(json, "health", gpu_health_words[event->gpu.health == GPU_LOST]);
        break;
    case EVENT_NODE_HEALTH:
        json_key_string(json, "node", event->node_health.node);
        json_key_string(json, "health", node_health_words[event->node_health.health]);
        break;
    case EVENT_NODE_LISTED:
        format_listed(json, event);
        break;
    case EVENT_JOB_SUBMITTED:
        format_job(json, &event->job);
        break;
    case EVENT_JOB_CANCELLED:
    case EVENT_JOB_HELD:
    case EVENT_JOB_RELEASED:
        json_key_u64(json, "job_id", event->job_id);
        break;
    case EVENT_JOB_CHECKPOINT:
        json_key_u64(json, "job_id", event->checkpoint.job_id);
        json_key_i64(json, "mark_us", event->checkpoint.mark_us);
        break;
    case EVENT_CONFIG_CHANGED:
        rules_format(json, &event->rules);
        break;
    case EVENT_TASK_STARTED:
    case EVENT_TASK_EXITED:
    case EVENT_TASK_LOST:
    case EVENT_INSTANCE_FAILED:
        format_task(json, event);
        break;
    case EVENT_JOB_PROGRESS:
        json_key_u64(json, "job_id", event->progress.job_id);
        json_key_i64(json, "remaining_us", event->progress.remaining_us);
        break;
    case EVENT_GPU_SPLIT:
        format_split(json, event);
        break;
    case EVENT_TIME_PASSED:
    case EVENT_STEPPED:
    case EVENT_TYPE_COUNT:
        break;
    }
}

void event_format(const struct event *event, struct text *out)
{
    struct json_out json;

    json_out_init(&json, out);
    json_object_begin(&json);
    json_key_string(&json, "type", event_type_text(event->type));
    json_key_i64(&json, "at_us", event->at_us);
    format_rest(&json, event);
    json_object_end(&json);
    text_add_bytes(out, "\n", 1);
}

void event_header_format(const struct config *config, struct text *out)
{
    struct json_out json;

    json_out_init(&json, out);
    json_object_begin(&json);
    json_key_u64(&json, "berth-events", EVENT_FILE_VERSION);
    json_key_string(&json, "placement", config->placement);
    json_key_string(&json, "order", config->order);
    json_key_u64(&json, "seed", config->seed);
    json_key(&json, "order_options");
    json_array_begin(&json);
    for (uint32_t i = 0; i < config->order_option_count; i++)
        json_i64(&json, config->order_options[i]);
    json_array_end(&json);
    format_groups(&json, "mix", config->mix, config->mix_count);
    json_key_u64(&json, "repack", config->repack);
    json_key_i64(&json, "migrate_wait_us", config->migrate_wait_us);
    json_key_u64(&json, "migrate_gain_ppm", config->migrate_gain_ppm);
    json_key_u64(&json, "nodes_max", config->nodes_max);
    json_key_u64(&json, "jobs_max", config->jobs_max);
    json_object_end(&json);
    text_add_bytes(out, "\n", 1);
}
