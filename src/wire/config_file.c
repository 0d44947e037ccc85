/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/config_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "wire/doc.h"
#include "wire/fields.h"
#include "wire/group_doc.h"
#include "wire/rules_doc.h"

struct config_text {
    struct rules_doc rules; /* first: the offsets of rules_fields hold */
    const char *placement, *order;
    uint64_t seed;
    const struct doc_node *order_options;
    int64_t migrate_wait_us;
    uint32_t migrate_gain_ppm, nodes_max, jobs_max;
};

#define AT(member) offsetof(struct config_text, member)

enum { OWN_FIELDS = 8 };

static const struct field own_fields[OWN_FIELDS] = {
    {"placement", FIELD_NAME, NUMBER_WHOLE, false, AT(placement), 0, 0},
    {"order", FIELD_NAME, NUMBER_WHOLE, false, AT(order), 0, 0},
    {"seed", FIELD_U64, NUMBER_WHOLE, false, AT(seed), 0, 0},
    {"order-options", FIELD_NODE, NUMBER_WHOLE, false, AT(order_options), 0, 0},
    {"migrate-wait", FIELD_I64, NUMBER_DURATION, false, AT(migrate_wait_us), 0, DURATION_US_MAX},
    {"migrate-gain", FIELD_U32, NUMBER_MICRO, false, AT(migrate_gain_ppm), 0, 1000000000},
    {"nodes-max", FIELD_U32, NUMBER_WHOLE, false, AT(nodes_max), 0, NODES_MAX},
    {"jobs-max", FIELD_U32, NUMBER_WHOLE, false, AT(jobs_max), 0, JOBS_MAX},
};

static int read_options(const struct doc *doc, const struct doc_node *list, struct config *out,
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

/* `order: fair` is an order of queues, not one that compares jobs. */
static const char *order_of_jobs(const char *order)
{
    return strcmp(order, "fair") == 0 ? "" : order;
}

int config_read(const struct doc *doc, const struct doc_node *map, struct config *out,
                struct err *err)
{
    struct field fields[OWN_FIELDS + RULES_FIELDS_COUNT];
    struct config_text text = {.rules = rules_doc_default(), .placement = "", .order = ""};
    int rc;

    memcpy(fields, own_fields, sizeof own_fields);
    memcpy(fields + OWN_FIELDS, rules_fields, sizeof rules_fields);
    rc = fields_read(doc, map, fields, OWN_FIELDS + RULES_FIELDS_COUNT, &text, err);
    if (rc < 0)
        return rc;
    *out = (struct config){.placement = text.placement,
                           .order = order_of_jobs(text.order),
                           .seed = text.seed,
                           .migrate_wait_us = text.migrate_wait_us,
                           .migrate_gain_ppm = text.migrate_gain_ppm,
                           .nodes_max = text.nodes_max,
                           .jobs_max = text.jobs_max,
                           .rules_stated = rules_doc_is_stated(&text.rules) ||
                                           order_of_jobs(text.order) != text.order};
    rc = rules_doc_finish(doc, &text.rules, &out->rules, err);
    out->rules.root_order = text.order;
    return rc == 0 && text.order_options ? read_options(doc, text.order_options, out, err) : rc;
}

/* ---- where things are ---- */

static const struct {
    const char *key, *word; /* of a list: what one of its members is; NULL: a single value */
} named[] = {
    {"queues", "queue"}, {"classes", "class"},    {"levels", "level"},
    {"order", NULL},     {"default-queue", NULL}, {"default-class", NULL},
};

static uint32_t count_places(const struct doc *doc, const struct doc_node *map)
{
    uint32_t count = 0;

    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        const struct doc_node *node = doc_find(doc, map, named[i].key);

        count += node == NULL ? 0 : named[i].word != NULL ? node->child_count : 1;
    }
    return count;
}

/* Of a map that was read, so every member has a name. */
static void note_places(const struct doc *doc, const struct doc_node *map, struct config_file *out)
{
    struct config_place *places = arena_alloc(doc->arena, count_places(doc, map), sizeof *places);
    uint32_t count = 0;

    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        const struct doc_node *node = doc_find(doc, map, named[i].key);

        if (node != NULL && named[i].word == NULL)
            places[count++] = (struct config_place){named[i].key, node->text, node->line};
        if (node == NULL || named[i].word == NULL)
            continue;
        for (const struct doc_node *n = doc_first(doc, node); n; n = doc_next(doc, n)) {
            const struct doc_node *name = doc_find(doc, n, "name");

            places[count++] = (struct config_place){named[i].word, name->text, name->line};
        }
    }
    out->places = places;
    out->place_count = count;
}

int config_file_refused(const struct config_file *file, int code, struct err *err)
{
    for (uint32_t i = 0; err != NULL && i < file->place_count; i++) {
        const struct config_place *place = &file->places[i];
        char begin[320];

        snprintf(begin, sizeof begin, "%s '%s':", place->word, place->name);
        if (strncmp(err->text, begin, strlen(begin)) == 0)
            return err_prefix(err, code, "%s:%u: ", file->name, place->line);
    }
    return err_prefix(err, code, "%s: ", file->name);
}

/* ---- files ---- */

static int read_config(const struct doc *doc, struct config_file *file, struct err *err)
{
    struct config *out = &file->config;
    const struct doc_node *node = doc_first(doc, doc_root(doc));
    const struct rules_doc nothing = rules_doc_default();
    int rc;

    *out = (struct config){.placement = "", .order = ""};
    if (!node)
        return rules_doc_finish(doc, &nothing, &out->rules, err);
    if (doc_next(doc, node))
        return doc_error(doc, doc_next(doc, node), err, -EINVAL,
                         "a second document, but a configuration is only one");
    rc = config_read(doc, node, out, err);
    if (rc == 0)
        note_places(doc, node, file);
    return rc;
}

static void begin(struct doc *doc, const char *name, struct config_file *file)
{
    *file = (struct config_file){0};
    arena_init(&file->arena);
    file->name = arena_text(&file->arena, name, strlen(name));
    doc_init(doc, name, &file->arena);
}

static int finish(struct doc *doc, struct config_file *file, int rc, struct err *err)
{
    if (rc == 0)
        rc = read_config(doc, file, err);
    doc_done(doc);
    if (rc < 0)
        config_file_done(file);
    return rc;
}

int config_file_load(const char *path, struct config_file *out, struct err *err)
{
    struct doc doc;

    begin(&doc, path, out);
    return finish(&doc, out, doc_load(&doc, path, err), err);
}

int config_file_parse(const char *name, const void *bytes, size_t count, struct config_file *out,
                      struct err *err)
{
    struct doc doc;

    begin(&doc, name, out);
    return finish(&doc, out, doc_parse(&doc, bytes, count, err), err);
}

void config_file_done(struct config_file *file)
{
    arena_done(&file->arena);
    *file = (struct config_file){0};
}
