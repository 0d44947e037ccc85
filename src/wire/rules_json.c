/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/rules_json.h"

#include <errno.h>

#include "wire/arena.h"
#include "wire/json_out.h"

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

/* ---- to text ---- */

static void format_amounts(struct json_out *json, const char *key, const int64_t *amounts)
{
    json_key(json, key);
    json_array_begin(json);
    for (int i = 0; i < RES_COUNT; i++)
        json_i64(json, amounts[i]);
    json_array_end(json);
}

static void format_queue(struct json_out *json, const struct queue_spec *queue)
{
    json_object_begin(json);
    json_key_string(json, "name", queue->name);
    json_key_string(json, "parent", or_empty(queue->parent));
    json_key_string(json, "order", or_empty(queue->order));
    json_key_u64(json, "weight", queue->weight);
    format_amounts(json, "guarantee", queue->guarantee);
    format_amounts(json, "limit", queue->limit);
    format_amounts(json, "borrow", queue->borrow);
    format_amounts(json, "lend", queue->lend);
    format_amounts(json, "user_limit", queue->user_limit);
    json_key_u64(json, "user_jobs", queue->user_jobs);
    json_key_strings(json, "users", queue->users, queue->user_count);
    json_object_end(json);
}

static void format_class(struct json_out *json, const struct class_spec *class)
{
    json_object_begin(json);
    json_key_string(json, "name", class->name);
    json_key_u64(json, "rank", class->rank);
    json_key_u64(json, "takes_below", class->takes_below);
    json_key_bool(json, "fixed", class->fixed);
    json_key_i64(json, "grace_us", class->grace_us);
    json_key_i64(json, "min_run_us", class->min_run_us);
    format_amounts(json, "user_limit", class->user_limit);
    json_key_strings(json, "users", class->users, class->user_count);
    json_object_end(json);
}

static void format_levels(struct json_out *json, const struct rules_spec *rules)
{
    json_key(json, "levels");
    json_array_begin(json);
    for (uint32_t i = 0; i < rules->level_count; i++) {
        json_object_begin(json);
        json_key_string(json, "name", rules->levels[i].name);
        json_key_i64(json, "bandwidth_bytes", rules->levels[i].bandwidth_bytes);
        json_key_i64(json, "uplink_bytes", rules->levels[i].uplink_bytes);
        json_object_end(json);
    }
    json_array_end(json);
}

void rules_format(struct json_out *json, const struct rules_spec *rules)
{
    json_key(json, "queues");
    json_array_begin(json);
    for (uint32_t i = 0; i < rules->queue_count; i++)
        format_queue(json, &rules->queues[i]);
    json_array_end(json);
    json_key_string(json, "default_queue", or_empty(rules->default_queue));
    json_key_string(json, "root_order", or_empty(rules->root_order));
    json_key(json, "classes");
    json_array_begin(json);
    for (uint32_t i = 0; i < rules->class_count; i++)
        format_class(json, &rules->classes[i]);
    json_array_end(json);
    json_key_string(json, "default_class", or_empty(rules->default_class));
    json_key_u64(json, "reservation_depth", rules->reservation_depth);
    json_key_i64(json, "silent_us", rules->silent_us);
    json_key_i64(json, "share_half_life_us", rules->share_half_life_us);
    if (rules->level_count > 0)
        format_levels(json, rules);
}

/* ---- from text ---- */

static int parse_amounts(const struct doc *doc, const struct doc_node *list, int64_t *out,
                         struct err *err)
{
    uint32_t count = 0;
    int rc = doc_want_list(doc, list, RES_COUNT, err);

    if (rc == 0 && list->child_count != RES_COUNT)
        return doc_error(doc, list, err, -EINVAL, "has %u members, wanted %d", list->child_count,
                         RES_COUNT);
    for (const struct doc_node *n = rc == 0 ? doc_first(doc, list) : NULL; n && rc == 0;
         n = doc_next(doc, n))
        rc = doc_want_number(doc, n, NUMBER_WHOLE, INT64_MIN, INT64_MAX, &out[count++], err);
    return rc;
}

struct queue_json {
    struct queue_spec queue;
    struct field_texts users;
    const struct doc_node *guarantee, *limit, *borrow, *lend, *user_limit;
};

#define AT(member) offsetof(struct queue_json, member)

static const struct field queue_fields[] = {
    TEXT("name", queue.name),         TEXT("parent", queue.parent),
    TEXT("order", queue.order),       U32("weight", queue.weight),
    NODE("guarantee", guarantee),     NODE("limit", limit),
    NODE("borrow", borrow),           NODE("lend", lend),
    NODE("user_limit", user_limit),   U32("user_jobs", queue.user_jobs),
    TEXTS("users", users, USERS_MAX),
};

static int parse_queue(const struct doc *doc, const struct doc_node *node, struct queue_spec *out,
                       struct err *err)
{
    struct queue_json json = {0};
    int rc = fields_read(doc, node, queue_fields, sizeof queue_fields / sizeof *queue_fields, &json,
                         err);

    if (rc < 0)
        return rc;
    *out = json.queue;
    out->users = json.users.items;
    out->user_count = json.users.count;
    rc = parse_amounts(doc, json.guarantee, out->guarantee, err);
    rc = rc < 0 ? rc : parse_amounts(doc, json.limit, out->limit, err);
    rc = rc < 0 ? rc : parse_amounts(doc, json.borrow, out->borrow, err);
    rc = rc < 0 ? rc : parse_amounts(doc, json.lend, out->lend, err);
    return rc < 0 ? rc : parse_amounts(doc, json.user_limit, out->user_limit, err);
}

struct class_json {
    struct class_spec class;
    struct field_texts users;
    const struct doc_node *user_limit;
};

#undef AT
#define AT(member) offsetof(struct class_json, member)

static const struct field class_fields[] = {
    TEXT("name", class.name),
    U32("rank", class.rank),
    U32("takes_below", class.takes_below),
    BOOL("fixed", class.fixed),
    I64("grace_us", class.grace_us),
    I64("min_run_us", class.min_run_us),
    NODE("user_limit", user_limit),
    TEXTS("users", users, USERS_MAX),
};

static int parse_class(const struct doc *doc, const struct doc_node *node, struct class_spec *out,
                       struct err *err)
{
    struct class_json json = {0};
    int rc = fields_read(doc, node, class_fields, sizeof class_fields / sizeof *class_fields, &json,
                         err);

    if (rc < 0)
        return rc;
    *out = json.class;
    out->users = json.users.items;
    out->user_count = json.users.count;
    return parse_amounts(doc, json.user_limit, out->user_limit, err);
}

#undef AT
#define AT(member) offsetof(struct level_spec, member)

static const struct field level_fields[] = {
    TEXT("name", name), I64("bandwidth_bytes", bandwidth_bytes), I64("uplink_bytes", uplink_bytes)};

static int parse_levels(const struct doc *doc, const struct doc_node *list, struct rules_spec *out,
                        struct err *err)
{
    struct level_spec *levels;
    int rc = doc_want_list(doc, list, LEVELS_MAX, err);

    if (rc < 0)
        return rc;
    levels = arena_alloc(doc->arena, list->child_count, sizeof *levels);
    out->levels = levels;
    for (const struct doc_node *n = doc_first(doc, list); n && rc == 0; n = doc_next(doc, n))
        rc = fields_read(doc, n, level_fields, 3, &levels[out->level_count++], err);
    return rc;
}

int rules_parse(const struct doc *doc, const struct rules_text *text, struct rules_spec *out,
                struct err *err)
{
    struct queue_spec *queues;
    struct class_spec *classes;
    int rc = doc_want_list(doc, text->queues, QUEUES_MAX, err);

    rc = rc < 0 ? rc : doc_want_list(doc, text->classes, CLASSES_MAX, err);
    if (rc < 0)
        return rc;
    *out = text->rules;
    queues = arena_alloc(doc->arena, text->queues->child_count, sizeof *queues);
    classes = arena_alloc(doc->arena, text->classes->child_count, sizeof *classes);
    out->queues = queues;
    out->classes = classes;
    for (const struct doc_node *n = doc_first(doc, text->queues); n && rc == 0;
         n = doc_next(doc, n))
        rc = parse_queue(doc, n, &queues[out->queue_count++], err);
    for (const struct doc_node *n = doc_first(doc, text->classes); n && rc == 0;
         n = doc_next(doc, n))
        rc = parse_class(doc, n, &classes[out->class_count++], err);
    return rc == 0 && text->levels ? parse_levels(doc, text->levels, out, err) : rc;
}
