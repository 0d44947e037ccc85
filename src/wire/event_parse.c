/* SPDX-License-Identifier: Apache-2.0 */
/* event_parse.c - lines to events: each type of event is a table of its fields. */
#include <errno.h>
#include <string.h>

#include "base/bits.h"
#include "base/err.h"
#include "core/links.h"
#include "wire/arena.h"
#include "wire/config_file.h"
#include "wire/doc.h"
#include "wire/event_json.h"
#include "wire/event_text.h"
#include "wire/fields.h"
#include "wire/modes_doc.h"
#include "wire/quote.h"
#include "wire/rules_json.h"
#include "wire/strict_fields.h"

/* Every field that some event has. */
struct event_text {
    const char *type, *name, *model, *node;
    int64_t at_us, gpu_memory_bytes, gpu_context_bytes, cpu_mcpu, memory_bytes, remaining_us,
        mark_us, exit_code;
    uint64_t job_id;
    uint32_t gpu_count, gpu, task, run, compute_factor, mps_clients, mig_start;
    struct field_texts labels;
    struct job_spec job;
    struct rules_text rules;
    const struct doc_node *layouts, *gpu_list, *health, *after, *tasks, *instances, *links, *modes,
        *qos, *knobs[QOS_KNOBS];
};

#define AT(member) offsetof(struct event_text, member)
#define HEAD       TEXT("type", type), I64("at_us", at_us)

static const struct field time_fields[] = {HEAD};
static const struct field node_fields[] = {
    HEAD,
    TEXT("name", name),
    TEXT("model", model),
    U32("gpus", gpu_count),
    I64("gpu_memory_bytes", gpu_memory_bytes),
    I64("cpu_mcpu", cpu_mcpu),
    I64("memory_bytes", memory_bytes),
    {"labels", FIELD_TEXTS, NUMBER_WHOLE, true, AT(labels), 0, SELECTOR_TERMS_MAX},
    {"modes", FIELD_NODE, NUMBER_WHOLE, false, AT(modes), 0, 0}, /* where they are said */
    {"gpu_context_bytes", FIELD_I64, NUMBER_WHOLE, false, AT(gpu_context_bytes), INT64_MIN,
     INT64_MAX},
    {"compute_factor", FIELD_U32, NUMBER_WHOLE, false, AT(compute_factor), 0, UINT32_MAX},
    {"mps_clients", FIELD_U32, NUMBER_WHOLE, false, AT(mps_clients), 0, UINT32_MAX},
    {"links_mbps", FIELD_NODE, NUMBER_WHOLE, false, AT(links), 0, 0}, /* where they are known */
};
static const struct field removed_fields[] = {HEAD, TEXT("node", node)};
static const struct field health_fields[] = {HEAD, TEXT("node", node), U32("gpu", gpu),
                                             NODE("health", health)};
static const struct field node_health_fields[] = {HEAD, TEXT("node", node), NODE("health", health)};
static const struct field listed_fields[] = {HEAD, TEXT("node", node), NODE("tasks", tasks)};
static const struct field job_fields[] = {
    HEAD,
    U64("id", job.id),
    TEXT("queue", job.queue),
    TEXT("user", job.user),
    TEXT("name", job.name),
    TEXT("class", job.class),
    NODE("layouts", layouts),
    U32("tasks_min", job.tasks_min),
    BOOL("service", job.service),
    BOOL("held", job.held),
    BOOL("exclusive", job.exclusive),
    BOOL("fixed", job.fixed),
    {"strict", FIELD_BOOL, NUMBER_WHOLE, false, AT(job.strict), 0, 0}, /* where they are said */
    {"modes", FIELD_NODE, NUMBER_WHOLE, false, AT(modes), 0, 0},
    {"qos", FIELD_NODE, NUMBER_WHOLE, false, AT(qos), 0, 0},
    {"slice", FIELD_NODE, NUMBER_WHOLE, false, AT(knobs[QOS_SLICE]), 0, 0},
    {"mps-percent", FIELD_NODE, NUMBER_WHOLE, false, AT(knobs[QOS_MPS_PERCENT]), 0, 0},
    {"client-priority", FIELD_NODE, NUMBER_WHOLE, false, AT(knobs[QOS_CLIENT_PRIORITY]), 0, 0},
    {"stream-priority", FIELD_NODE, NUMBER_WHOLE, false, AT(knobs[QOS_STREAM_PRIORITY]), 0, 0},
    {"preemption", FIELD_NODE, NUMBER_WHOLE, false, AT(knobs[QOS_PREEMPTION]), 0, 0},
    {"within", FIELD_TEXT, NUMBER_WHOLE, false, AT(job.within), 0, 0},
    {"near", FIELD_TEXT, NUMBER_WHOLE, false, AT(job.near), 0, 0},
    {"group_within", FIELD_TEXT, NUMBER_WHOLE, false, AT(job.group_within), 0, 0},
    {"group_size", FIELD_U32, NUMBER_WHOLE, false, AT(job.group_size), 0, UINT32_MAX},
    {"slowdown_max_ppm", FIELD_U32, NUMBER_WHOLE, false, AT(job.slowdown_max_ppm), 0, UINT32_MAX},
    U32("retries", job.retries),
    I64("deadline_us", job.deadline_us),
    I64("limit_us", job.limit_us),
    I64("grace_us", job.grace_us),
    I64("min_run_us", job.min_run_us),
    TEXT("array", job.array),
    U32("array_limit", job.array_limit),
    NODE("after", after),
    I64("remaining_us", job.remaining_us),
};
static const struct field job_id_fields[] = {HEAD, U64("job_id", job_id)};
static const struct field checkpoint_fields[] = {HEAD, U64("job_id", job_id),
                                                 I64("mark_us", mark_us)};
#define TASK HEAD, U64("job_id", job_id), U32("task", task), U32("run", run)
static const struct field started_fields[] = {
    TASK,
    TEXT("node", node),
    NODE("gpus", gpu_list),
    {"mig_start", FIELD_U32, NUMBER_WHOLE, false, AT(mig_start), 0, UINT32_MAX},
};
static const struct field exited_fields[] = {
    TASK,
    {"exit_code", FIELD_I64, NUMBER_WHOLE, true, AT(exit_code), INT32_MIN, INT32_MAX},
};
static const struct field lost_fields[] = {TASK};
static const struct field split_fields[] = {HEAD, TEXT("node", node), U32("gpu", gpu),
                                            NODE("instances", instances)};
static const struct field progress_fields[] = {HEAD, U64("job_id", job_id),
                                               I64("remaining_us", remaining_us)};
static const struct field config_fields[] = {HEAD, RULES_TEXT_FIELDS(rules)};

#define TABLE(fields)                                                                              \
    {                                                                                              \
        fields, sizeof(fields) / sizeof *(fields)                                                  \
    }

static const struct {
    const struct field *fields;
    uint32_t count;
} tables[EVENT_TYPE_COUNT] = {
    [EVENT_NODE_UPSERTED] = TABLE(node_fields),
    [EVENT_NODE_REMOVED] = TABLE(removed_fields),
    [EVENT_GPU_HEALTH] = TABLE(health_fields),
    [EVENT_NODE_HEALTH] = TABLE(node_health_fields),
    [EVENT_NODE_LISTED] = TABLE(listed_fields),
    [EVENT_JOB_SUBMITTED] = TABLE(job_fields),
    [EVENT_JOB_CANCELLED] = TABLE(job_id_fields),
    [EVENT_JOB_HELD] = TABLE(job_id_fields),
    [EVENT_JOB_RELEASED] = TABLE(job_id_fields),
    [EVENT_JOB_CHECKPOINT] = TABLE(checkpoint_fields),
    [EVENT_TASK_STARTED] = TABLE(started_fields),
    [EVENT_TASK_EXITED] = TABLE(exited_fields),
    [EVENT_TASK_LOST] = TABLE(lost_fields),
    [EVENT_INSTANCE_FAILED] = TABLE(lost_fields),
    [EVENT_GPU_SPLIT] = TABLE(split_fields),
    [EVENT_JOB_PROGRESS] = TABLE(progress_fields),
    [EVENT_CONFIG_CHANGED] = TABLE(config_fields),
    [EVENT_TIME_PASSED] = TABLE(time_fields),
    [EVENT_STEPPED] = TABLE(time_fields),
};

struct group_json {
    struct group_spec group;
    struct field_texts models, labels;
};

#undef AT
#define AT(member) offsetof(struct group_json, member)

static const struct field group_json_fields[] = {
    U32("tasks", group.tasks),
    I64("cpu_mcpu", group.cpu_mcpu),
    I64("memory_bytes", group.memory_bytes),
    U32("gpus", group.gpus),
    U32("gpu_mgpu", group.gpu_mgpu),
    I64("gpu_memory_bytes", group.gpu_memory_bytes),
    {"mig", FIELD_TEXT, NUMBER_WHOLE, false, AT(group.mig), 0, 0}, /* where it is asked for */
    {"models", FIELD_TEXTS, NUMBER_WHOLE, true, AT(models), 0, SELECTOR_TERMS_MAX},
    {"labels", FIELD_TEXTS, NUMBER_WHOLE, true, AT(labels), 0, SELECTOR_TERMS_MAX},
};

static int parse_groups(const struct doc *doc, const struct doc_node *list, uint32_t max,
                        const struct group_spec **out, uint32_t *out_count, struct err *err)
{
    struct group_spec *groups;
    uint32_t count = 0;
    int rc = doc_want_list(doc, list, max, err);

    if (rc < 0)
        return rc;
    groups = arena_alloc(doc->arena, list->child_count, sizeof *groups);
    for (const struct doc_node *n = doc_first(doc, list); n; n = doc_next(doc, n)) {
        struct group_json json = {0};

        rc = fields_read(doc, n, group_json_fields,
                         sizeof group_json_fields / sizeof *group_json_fields, &json, err);
        if (rc < 0)
            return rc;
        json.group.models = json.models.items;
        json.group.model_count = json.models.count;
        json.group.labels = json.labels.items;
        json.group.label_count = json.labels.count;
        groups[count++] = json.group;
    }
    *out = groups;
    *out_count = count;
    return 0;
}

struct layout_json {
    uint32_t slowdown_ppm, apart;
    const struct doc_node *groups;
};

#undef AT
#define AT(member) offsetof(struct layout_json, member)

static const struct field layout_fields[] = {U32("slowdown_ppm", slowdown_ppm), U32("apart", apart),
                                             NODE("groups", groups)};

static int parse_layouts(const struct doc *doc, const struct doc_node *list, struct job_spec *out,
                         struct err *err)
{
    struct job_layout_spec *layouts;
    uint32_t count = 0;
    int rc = doc_want_list(doc, list, GANG_LAYOUTS_MAX, err);

    if (rc < 0)
        return rc;
    layouts = arena_alloc(doc->arena, list->child_count, sizeof *layouts);
    for (const struct doc_node *n = doc_first(doc, list); n; n = doc_next(doc, n)) {
        struct job_layout_spec *layout = &layouts[count++];
        struct layout_json json;

        rc = fields_read(doc, n, layout_fields, sizeof layout_fields / sizeof layout_fields[0],
                         &json, err);
        if (rc == 0)
            rc = parse_groups(doc, json.groups, GANG_GROUPS_MAX, &layout->groups,
                              &layout->group_count, err);
        if (rc < 0)
            return rc;
        layout->slowdown_ppm = json.slowdown_ppm;
        layout->apart = json.apart;
    }
    out->layouts = layouts;
    out->layout_count = count;
    return 0;
}

/* [0,3] is 0b1001. Ascending, so that each mask has one spelling. */
static int parse_gpu_mask(const struct doc *doc, const struct doc_node *list, uint64_t *out,
                          struct err *err)
{
    int64_t least = 0, gpu;
    uint64_t mask = 0;
    int rc = doc_want_list(doc, list, NODE_GPUS_MAX, err);

    if (rc < 0)
        return rc;
    for (const struct doc_node *n = doc_first(doc, list); n; n = doc_next(doc, n)) {
        rc = doc_want_number(doc, n, NUMBER_WHOLE, 0, NODE_GPUS_MAX - 1, &gpu, err);
        if (rc < 0)
            return rc;
        if (gpu < least)
            return doc_error(doc, n, err, -EINVAL, "GPUs must be in ascending order");
        mask |= mask_bit((uint32_t)gpu);
        least = gpu + 1;
    }
    *out = mask;
    return 0;
}

#undef AT
#define AT(member) offsetof(struct listed_task, member)

static const struct field listed_task_fields[] = {U64("job_id", job_id), U32("task", task),
                                                  U32("run", run)};

static int parse_listed(const struct doc *doc, const struct event_text *text, struct event *out,
                        struct err *err)
{
    struct listed_task *tasks;
    int rc = doc_want_list(doc, text->tasks, EVENT_LISTED_MAX, err);

    if (rc < 0)
        return rc;
    tasks = arena_alloc(doc->arena, text->tasks->child_count, sizeof *tasks);
    out->listed.node = text->node;
    out->listed.tasks = tasks;
    for (const struct doc_node *n = doc_first(doc, text->tasks); n && rc == 0; n = doc_next(doc, n))
        rc = fields_read(doc, n, listed_task_fields, 3, &tasks[out->listed.count++], err);
    return rc;
}

struct after_json {
    uint64_t job_id;
    const struct doc_node *end;
};

#undef AT
#define AT(member) offsetof(struct after_json, member)

static const struct field after_fields[] = {U64("job_id", job_id), NODE("end", end)};

static int parse_after(const struct doc *doc, const struct doc_node *list, struct job_spec *out,
                       struct err *err)
{
    struct job_after *after;
    int rc = doc_want_list(doc, list, JOB_AFTER_MAX, err);

    if (rc < 0)
        return rc;
    after = arena_alloc(doc->arena, list->child_count, sizeof *after);
    out->after = after;
    for (const struct doc_node *n = doc_first(doc, list); n && rc == 0; n = doc_next(doc, n)) {
        struct after_json json = {0};
        uint32_t end = 0;

        rc = fields_read(doc, n, after_fields, 2, &json, err);
        if (rc == 0)
            rc = doc_want_word(doc, json.end, after_end_words, AFTER_COUNT, &end, err);
        after[out->after_count++] =
            (struct job_after){.job_id = json.job_id, .end = (enum after_end)end};
    }
    return rc;
}

/* One number for each pair of GPUs. */
static int parse_links(const struct doc *doc, const struct doc_node *list, uint32_t gpus,
                       const uint32_t **out, struct err *err)
{
    uint32_t *mbps;
    int rc = doc_want_list(doc, list, LINKS_PAIRS_MAX, err);

    if (rc == 0 && (gpus > NODE_GPUS_MAX || gpus < 2 || list->child_count != links_pairs(gpus)))
        rc = doc_error(doc, list, err, -EINVAL, "%u numbers are not one for each pair of %u GPUs",
                       list->child_count, gpus);
    if (rc < 0)
        return rc;
    *out = mbps = arena_alloc(doc->arena, list->child_count, sizeof *mbps);
    for (const struct doc_node *n = doc_first(doc, list); n && rc == 0; n = doc_next(doc, n)) {
        int64_t value = 0;

        rc = doc_want_number(doc, n, NUMBER_WHOLE, 0, UINT32_MAX, &value, err);
        *mbps++ = (uint32_t)value;
    }
    return rc;
}

static int fill_node(const struct doc *doc, const struct event_text *text, struct node_spec *out,
                     struct err *err)
{
    int rc = 0;

    *out = (struct node_spec){.name = text->name,
                              .model = text->model,
                              .gpus = text->gpu_count,
                              .gpu_memory_bytes = text->gpu_memory_bytes,
                              .cpu_mcpu = text->cpu_mcpu,
                              .memory_bytes = text->memory_bytes,
                              .labels = text->labels.items,
                              .label_count = text->labels.count,
                              .gpu_context_bytes = text->gpu_context_bytes,
                              .compute_factor = text->compute_factor,
                              .mps_clients = text->mps_clients};
    if (text->modes != NULL)
        rc = modes_read(doc, text->modes, &out->modes, err);
    if (rc == 0 && text->links != NULL)
        rc = parse_links(doc, text->links, out->gpus, &out->links_mbps, err);
    return rc;
}

static int parse_sharing(const struct doc *doc, const struct event_text *text, struct job_spec *out,
                         struct err *err)
{
    uint32_t class = QOS_NONE;
    int rc = 0;

    if (text->modes != NULL)
        rc = modes_read(doc, text->modes, &out->modes, err);
    if (rc == 0 && text->qos != NULL)
        rc = doc_want_word(doc, text->qos, qos_class_words, QOS_CLASSES, &class, err);
    out->qos.class = (enum qos_class) class;
    for (uint32_t k = 0; k < QOS_KNOBS && rc == 0; k++)
        if (text->knobs[k] != NULL)
            rc = knob_read(doc, text->knobs[k], k, &out->qos, err);
    return rc;
}

static int fill_job(const struct doc *doc, const struct event_text *text, struct job_spec *out,
                    struct err *err)
{
    int rc;

    *out = text->job;
    rc = parse_layouts(doc, text->layouts, out, err);
    rc = rc < 0 ? rc : parse_sharing(doc, text, out, err);
    return rc < 0 ? rc : parse_after(doc, text->after, out, err);
}

static int fill_task(const struct doc *doc, const struct event_text *text, struct event *out,
                     struct err *err)
{
    out->task.job_id = text->job_id;
    out->task.task = text->task;
    out->task.run = text->run;
    out->task.node = text->node ? text->node : "";
    out->task.exit_code = (int32_t)text->exit_code;
    out->task.mig_start = text->mig_start;
    return text->gpu_list ? parse_gpu_mask(doc, text->gpu_list, &out->task.gpu_mask, err) : 0;
}

#undef AT
#define AT(member) offsetof(struct split_instance, member)

static const struct field instance_fields[] = {TEXT("profile", profile), U32("start", start),
                                               U32("size", size)};

static int parse_split(const struct doc *doc, const struct event_text *text, struct event *out,
                       struct err *err)
{
    struct split_instance *instances;
    int rc = doc_want_list(doc, text->instances, UINT32_MAX, err);

    if (rc < 0)
        return rc;
    out->split.node = text->node;
    out->split.gpu = text->gpu;
    out->split.instances = instances =
        arena_alloc(doc->arena, text->instances->child_count, sizeof *instances);
    for (const struct doc_node *n = doc_first(doc, text->instances); n && rc == 0;
         n = doc_next(doc, n))
        rc = fields_read(doc, n, instance_fields, 3, &instances[out->split.count++], err);
    return rc;
}

static int fill_health(const struct doc *doc, const struct event_text *text, struct event *out,
                       struct err *err)
{
    const bool gpu = out->type == EVENT_GPU_HEALTH;
    uint32_t word = 0;
    int rc = doc_want_word(doc, text->health, gpu ? gpu_health_words : node_health_words,
                           gpu ? 2 : NODE_HEALTH_COUNT, &word, err);

    if (gpu) {
        out->gpu.node = text->node;
        out->gpu.gpu = text->gpu;
        out->gpu.health = (enum gpu_health)word;
    } else {
        out->node_health.node = text->node;
        out->node_health.health = (enum node_health)word;
    }
    return rc;
}

static int fill(const struct doc *doc, const struct event_text *text, struct event *out,
                struct err *err)
{
    switch (out->type) {
    case EVENT_NODE_UPSERTED:
        return fill_node(doc, text, &out->node, err);
    case EVENT_NODE_REMOVED:
        out->node_name = text->node;
        return 0;
    case EVENT_GPU_HEALTH:
    case EVENT_NODE_HEALTH:
        return fill_health(doc, text, out, err);
    case EVENT_NODE_LISTED:
        return parse_listed(doc, text, out, err);
    case EVENT_JOB_SUBMITTED:
        return fill_job(doc, text, &out->job, err);
    case EVENT_JOB_CANCELLED:
    case EVENT_JOB_HELD:
    case EVENT_JOB_RELEASED:
        out->job_id = text->job_id;
        return 0;
    case EVENT_JOB_CHECKPOINT:
        out->checkpoint.job_id = text->job_id;
        out->checkpoint.mark_us = text->mark_us;
        return 0;
    case EVENT_CONFIG_CHANGED:
        return rules_parse(doc, &text->rules, &out->rules, err);
    case EVENT_TASK_STARTED:
    case EVENT_TASK_EXITED:
    case EVENT_TASK_LOST:
    case EVENT_INSTANCE_FAILED:
        return fill_task(doc, text, out, err);
    case EVENT_GPU_SPLIT:
        return parse_split(doc, text, out, err);
    case EVENT_JOB_PROGRESS:
        out->progress.job_id = text->job_id;
        out->progress.remaining_us = text->remaining_us;
        return 0;
    case EVENT_TIME_PASSED:
    case EVENT_STEPPED:
    case EVENT_TYPE_COUNT:
        break;
    }
    return 0;
}

static int find_type(const struct doc *doc, const struct doc_node *event, enum event_type *out,
                     struct err *err)
{
    const struct doc_node *node = doc_find(doc, event, "type");
    int rc = doc_want_map(doc, event, err);

    if (rc < 0)
        return rc;
    if (!node)
        return doc_error(doc, event, err, -EINVAL, "field 'type' is missing");
    for (int i = 0; i < EVENT_TYPE_COUNT; i++) {
        if (strcmp(node->text, event_type_text((enum event_type)i)) == 0) {
            *out = (enum event_type)i;
            return 0;
        }
    }
    return doc_error(doc, node, err, -EINVAL, "no such event: %s", quote_of(node->text).text);
}

static int parse_event(const struct doc *doc, struct event *out, struct err *err)
{
    const struct doc_node *node = doc_first(doc, doc_root(doc));
    struct event_text text = {0};
    struct event event = {0};
    int rc = find_type(doc, node, &event.type, err);

    if (rc == 0)
        rc =
            fields_read(doc, node, tables[event.type].fields, tables[event.type].count, &text, err);
    if (rc < 0)
        return rc;
    event.at_us = text.at_us;
    rc = fill(doc, &text, &event, err);
    if (rc == 0)
        *out = event;
    return rc;
}

int event_parse(const char *name, uint32_t line_number, const char *line, size_t len,
                struct arena *arena, struct event *out, struct err *err)
{
    struct doc doc;
    int rc;

    doc_init(&doc, name, arena);
    rc = doc_parse_json(&doc, line, len, line_number, err);
    if (rc == 0)
        rc = parse_event(&doc, out, err);
    doc_done(&doc);
    return rc;
}

struct header_json {
    struct config config;
    uint32_t version;
    const struct doc_node *order_options, *mix;
};

#undef AT
#define AT(member) offsetof(struct header_json, member)

static const struct field header_fields[] = {
    {"berth-events", FIELD_U32, NUMBER_WHOLE, true, AT(version), EVENT_FILE_VERSION,
     EVENT_FILE_VERSION},
    TEXT("placement", config.placement),
    TEXT("order", config.order),
    U64("seed", config.seed),
    NODE("order_options", order_options),
    NODE("mix", mix),
    U32("repack", config.repack),
    I64("migrate_wait_us", config.migrate_wait_us),
    U32("migrate_gain_ppm", config.migrate_gain_ppm),
    U32("nodes_max", config.nodes_max),
    U32("jobs_max", config.jobs_max),
};

static int parse_options(const struct doc *doc, const struct doc_node *list, struct config *out,
                         struct err *err)
{
    int64_t *options;
    uint32_t count = 0;
    int rc = doc_want_list(doc, list, CONFIG_OPTIONS_MAX, err);

    if (rc < 0)
        return rc;
    options = arena_alloc(doc->arena, list->child_count, sizeof *options);
    for (const struct doc_node *n = doc_first(doc, list); n && rc == 0; n = doc_next(doc, n))
        rc = doc_want_number(doc, n, NUMBER_WHOLE, INT64_MIN, INT64_MAX, &options[count++], err);
    out->order_options = options;
    out->order_option_count = count;
    return rc;
}

static int parse_header(const struct doc *doc, struct config *out, struct err *err)
{
    const struct doc_node *node = doc_first(doc, doc_root(doc));
    struct header_json json = {0};
    int rc = doc_want_map(doc, node, err);

    if (rc == 0 && !doc_find(doc, node, "berth-events"))
        return doc_error(doc, node, err, -EINVAL,
                         "not an event file: field 'berth-events' is "
                         "missing in its first line");
    if (rc == 0)
        rc = fields_read(doc, node, header_fields, sizeof header_fields / sizeof *header_fields,
                         &json, err);
    if (rc == 0)
        rc = parse_options(doc, json.order_options, &json.config, err);
    if (rc == 0)
        rc = parse_groups(doc, json.mix, EVENT_MIX_MAX, &json.config.mix, &json.config.mix_count,
                          err);
    if (rc == 0)
        *out = json.config;
    return rc;
}

int event_header_parse(const char *name, uint32_t line_number, const char *line, size_t len,
                       struct arena *arena, struct config *out, struct err *err)
{
    struct doc doc;
    int rc;

    doc_init(&doc, name, arena);
    rc = doc_parse_json(&doc, line, len, line_number, err);
    if (rc == 0)
        rc = parse_header(&doc, out, err);
    doc_done(&doc);
    return rc;
}
