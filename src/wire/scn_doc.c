/* SPDX-License-Identifier: Apache-2.0 */
/* scn_doc.c - the lines that describe: settings, queues, classes, nodes, jobs. */
#include "wire/scn_doc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "base/vec.h"
#include "wire/cluster_read.h"
#include "wire/fields.h"
#include "wire/job_doc.h"
#include "wire/quote.h"
#include "wire/rules_doc.h"

/* ---- words as docs ---- */

static enum scn_shape shape_of(const char *field)
{
    static const struct {
        const char *field;
        enum scn_shape shape;
    } shapes[] = {{"guarantee", SHAPE_MAP},      {"limit", SHAPE_MAP},  {"borrow", SHAPE_MAP},
                  {"lend", SHAPE_MAP},           {"labels", SHAPE_MAP}, {"user-limit", SHAPE_MAP},
                  {"models", SHAPE_LIST},        {"modes", SHAPE_LIST}, {"users", SHAPE_LIST},
                  {"order-options", SHAPE_LIST}, {"group", SHAPE_MORE}};

    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (strcmp(shapes[i].field, field) == 0)
            return shapes[i].shape;
    return SHAPE_TEXT;
}

int64_t scn_doc_text(struct doc *doc, uint32_t map, const char *key, const char *text,
                     uint32_t line, struct err *err)
{
    const struct doc_value value = {DOC_TEXT, key, text, line};

    return doc_add(doc, map, &value, err);
}

/* "gpus:4,memory:1T" as a map, or "a,b" as a list. In a group, lists are "A100|H100". */
static int64_t add_parts(struct doc *doc, uint32_t parent, const char *key, const char *text,
                         enum scn_shape shape, uint32_t line, struct err *err)
{
    const struct doc_value value = {shape == SHAPE_LIST ? DOC_LIST : DOC_MAP, key, NULL, line};
    int64_t node = doc_add(doc, parent, &value, err), rc = node;

    while (rc >= 0 && *text != '\0') {
        const size_t len = strcspn(text, ",");
        char *part = arena_text(doc->arena, text, len), *colon = strchr(part, ':');

        if (shape != SHAPE_LIST && !colon)
            return err_set(err, -EINVAL, "%s:%u: %s: wanted NAME:VALUE[,NAME:VALUE...], is %s",
                           doc->name, line, key ? key : "group", quote_of(part).text);
        if (colon && shape != SHAPE_LIST)
            *colon++ = '\0';
        rc = scn_doc_text(doc, (uint32_t)node, shape == SHAPE_LIST ? NULL : part,
                          shape == SHAPE_LIST ? part : colon, line, err);
        text += len + (text[len] == ',');
    }
    return rc < 0 ? rc : node;
}

/* Each `group=` word is one member of the list `groups`. */
static int64_t add_group(struct doc *doc, uint32_t map, int64_t *groups, const char *text,
                         uint32_t line, struct err *err)
{
    const struct doc_value list = {DOC_LIST, "groups", NULL, line};

    if (*groups < 0)
        *groups = doc_add(doc, map, &list, err);
    return *groups < 0 ? *groups
                       : add_parts(doc, (uint32_t)*groups, NULL, text, SHAPE_MORE, line, err);
}

int64_t scn_doc_map(struct doc *doc, uint32_t parent, const char *key, const struct scn_line *line,
                    uint32_t first, bool (*wanted)(const char *field), struct err *err)
{
    const struct doc_value value = {DOC_MAP, key, NULL, line->number};
    int64_t map = doc_add(doc, parent, &value, err), groups = -1, rc = map;

    for (uint32_t w = first; w < line->count && rc >= 0; w++) {
        const size_t len = strcspn(line->words[w], "=");
        const char *field = arena_text(doc->arena, line->words[w], len);
        const char *text = line->words[w][len] == '=' ? line->words[w] + len + 1 : "true";
        const enum scn_shape shape = shape_of(field);

        if (wanted && !wanted(field))
            continue;
        if (shape == SHAPE_MORE)
            rc = add_group(doc, (uint32_t)map, &groups, text, line->number, err);
        else if (shape == SHAPE_TEXT)
            rc = scn_doc_text(doc, (uint32_t)map, field, text, line->number, err);
        else
            rc = add_parts(doc, (uint32_t)map, field, text, shape, line->number, err);
    }
    return rc < 0 ? rc : map;
}

/* ---- configuration ---- */

static const char *const settings[] = {
    "placement",
    "order",
    "seed",
    "order-options",
    "migrate-wait",
    "migrate-gain",
    "nodes-max",
    "jobs-max",
    "default-queue",
    "default-class",
    "reservation-depth",
    "share-half-life",
    "node-silent",
    "queue",
    "class",
    "level",
};

bool scn_is_setting(const struct scn_line *line)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (strcmp(line->words[0], settings[i]) == 0)
            return true;
    return false;
}

static int64_t add_setting(struct doc *doc, uint32_t map, const struct scn_line *line,
                           struct err *err)
{
    if (line->count != 2)
        return scn_error(doc->name, line->number, err, -EINVAL, "'%s' has one value",
                         line->words[0]);
    if (shape_of(line->words[0]) == SHAPE_LIST)
        return add_parts(doc, map, line->words[0], line->words[1], SHAPE_LIST, line->number, err);
    return scn_doc_text(doc, map, line->words[0], line->words[1], line->number, err);
}

/* `queue NAME FIELD=VALUE...` is a member of the list `queues`. */
static int64_t add_named(struct doc *doc, uint32_t map, const char *list_key, int64_t *list,
                         const struct scn_line *line, struct err *err)
{
    const struct doc_value value = {DOC_LIST, list_key, NULL, line->number};
    int64_t node;

    if (line->count < 2 || strchr(line->words[1], '='))
        return scn_error(doc->name, line->number, err, -EINVAL, "wanted %s NAME FIELD=VALUE...",
                         line->words[0]);
    if (*list < 0)
        *list = doc_add(doc, map, &value, err);
    if (*list < 0)
        return *list;
    node = scn_doc_map(doc, (uint32_t)*list, NULL, line, 2, NULL, err);
    if (node < 0)
        return node;
    return scn_doc_text(doc, (uint32_t)node, "name", line->words[1], line->number, err);
}

int scn_read_config(struct scn_reader *r, const struct scn_line *lines, uint32_t count,
                    struct config *out, struct err *err)
{
    const struct doc_value map = {DOC_MAP, NULL, NULL, 1};
    int64_t root, queues = -1, classes = -1, levels = -1, rc;
    struct doc doc;

    doc_init(&doc, r->text->name, &r->out->arena);
    root = rc = doc_add(&doc, 0, &map, err);
    for (uint32_t i = 0; i < count && rc >= 0; i++) {
        if (!scn_is_setting(&lines[i]))
            continue;
        if (strcmp(lines[i].words[0], "queue") == 0)
            rc = add_named(&doc, (uint32_t)root, "queues", &queues, &lines[i], err);
        else if (strcmp(lines[i].words[0], "class") == 0)
            rc = add_named(&doc, (uint32_t)root, "classes", &classes, &lines[i], err);
        else if (strcmp(lines[i].words[0], "level") == 0)
            rc = add_named(&doc, (uint32_t)root, "levels", &levels, &lines[i], err);
        else
            rc = add_setting(&doc, (uint32_t)root, &lines[i], err);
    }
    if (rc >= 0)
        rc = config_read(&doc, doc_first(&doc, doc_root(&doc)), out, err);
    doc_done(&doc);
    return rc < 0 ? (int)rc : 0;
}

/* ---- nodes ---- */

/* What a node has unless the line says otherwise: more than any job asks for. */
static int64_t add_node_defaults(struct doc *doc, uint32_t map, uint32_t line, struct err *err)
{
    const struct doc_node *node = &doc->nodes[map];
    int64_t rc = 0;

    if (!doc_find(doc, node, "cpus"))
        rc = scn_doc_text(doc, map, "cpus", "4096", line, err);
    if (rc >= 0 && !doc_find(doc, &doc->nodes[map], "memory"))
        rc = scn_doc_text(doc, map, "memory", "64T", line, err);
    return rc;
}

static int64_t add_node(struct doc *doc, uint32_t list, const struct scn_line *line,
                        uint32_t first_word, struct err *err)
{
    int64_t map, rc;

    if (line->count <= first_word || strchr(line->words[first_word], '='))
        return scn_error(doc->name, line->number, err, -EINVAL, "wanted node NAME FIELD=VALUE...");
    map = rc = scn_doc_map(doc, list, NULL, line, first_word + 1, NULL, err);
    if (rc >= 0)
        rc = scn_doc_text(doc, (uint32_t)map, "name", line->words[first_word], line->number, err);
    return rc < 0 ? rc : add_node_defaults(doc, (uint32_t)map, line->number, err);
}

int scn_read_nodes(struct scn_reader *r, const struct scn_line *const *lines, uint32_t count,
                   uint32_t first_word, struct cluster *out, struct err *err)
{
    const struct doc_value map = {DOC_MAP, NULL, NULL, 1}, list = {DOC_LIST, "nodes", NULL, 1};
    struct cluster_reader reader = {.out = out, .folder = r->text->folder};
    struct doc doc;
    int64_t rc, node;

    *out = (struct cluster){0};
    arena_init(&out->arena);
    names_init(&reader.seen);
    doc_init(&doc, r->text->name, &out->arena);
    rc = doc_add(&doc, 0, &map, err);
    node = rc = rc < 0 ? rc : doc_add(&doc, (uint32_t)rc, &list, err);
    for (uint32_t i = 0; i < count && rc >= 0; i++)
        rc = add_node(&doc, (uint32_t)node, lines[i], first_word, err);
    if (rc >= 0)
        rc = cluster_read_doc(&reader, &doc, err);
    doc_done(&doc);
    names_done(&reader.seen);
    if (rc < 0)
        cluster_done(out);
    return rc < 0 ? (int)rc : 0;
}

/* ---- jobs ---- */

struct behaviour_text {
    struct scn_behaviour behaviour;
    const struct doc_node *runs, *dies_after;
    int64_t checkpoint_every_us;
    const char *skew;
    uint32_t start_fails, start_loses, instance_fails;
    bool oracle;
};

#define AT(member) offsetof(struct behaviour_text, member)

static const struct field behaviour_fields[] = {
    {"runs", FIELD_NODE, NUMBER_WHOLE, false, AT(runs), 0, 0},
    {"dies-after", FIELD_NODE, NUMBER_WHOLE, false, AT(dies_after), 0, 0},
    {"ack-delay", FIELD_I64, NUMBER_DURATION, false, AT(behaviour.ack_delay_us), 0,
     DURATION_US_MAX},
    {"exit", FIELD_I64, NUMBER_WHOLE, false, AT(behaviour.exit_code), 0, SCN_EXIT_MAX},
    {"exit-on-stop", FIELD_I64, NUMBER_WHOLE, false, AT(behaviour.exit_on_stop), 0, SCN_EXIT_MAX},
    {"takes", FIELD_TEXT, NUMBER_WHOLE, false, AT(behaviour.takes), 0, 0},
    /* of jobs only: */
    {"start-fails", FIELD_U32, NUMBER_WHOLE, false, AT(start_fails), 0, UINT32_MAX},
    {"start-loses", FIELD_U32, NUMBER_WHOLE, false, AT(start_loses), 0, UINT32_MAX},
    {"instance-fails", FIELD_U32, NUMBER_WHOLE, false, AT(instance_fails), 0, UINT32_MAX},
    {"checkpoint-every", FIELD_I64, NUMBER_DURATION, false, AT(checkpoint_every_us), 1000,
     DURATION_US_MAX},
    {"checkpoint-skew", FIELD_TEXT, NUMBER_WHOLE, false, AT(skew), 0, 0},
    {"oracle", FIELD_BOOL, NUMBER_WHOLE, false, AT(oracle), 0, 0},
};

enum { TASK_FIELDS = 6, JOB_FIELDS = sizeof behaviour_fields / sizeof *behaviour_fields };

static bool is_behaviour(const char *field)
{
    for (size_t i = 0; i < JOB_FIELDS; i++)
        if (strcmp(behaviour_fields[i].name, field) == 0)
            return true;
    return false;
}

static bool is_of_job(const char *field)
{
    return !is_behaviour(field) && strcmp(field, "after") != 0;
}

static int read_forever(const struct doc *doc, const struct doc_node *node, const char *word,
                        int64_t *out, struct err *err)
{
    if (!node)
        return 0;
    if (node->type == DOC_TEXT && strcmp(node->text, word) == 0) {
        *out = SCN_FOREVER;
        return 0;
    }
    return doc_want_number(doc, node, NUMBER_DURATION, 0, DURATION_US_MAX, out, err);
}

static int check_takes(const struct scn_reader *r, const struct scn_line *line, const char *takes,
                       struct err *err)
{
    struct scn_place place;
    struct err detail;
    int rc = takes[0] ? scn_parse_place(&r->out->arena, takes, &place, &detail) : 0;

    return rc < 0 ? scn_line_error(r, line, err, rc, "takes: %s", detail.text) : 0;
}

/* The behaviour in the words from `first` on; what they do not say stays. */
static int read_behaviour(struct scn_reader *r, const struct scn_line *line, uint32_t first,
                          uint32_t fields, struct behaviour_text *out, struct err *err)
{
    struct doc doc;
    int64_t rc;

    doc_init(&doc, r->text->name, &r->out->arena);
    rc = scn_doc_map(&doc, 0, NULL, line, first, fields == JOB_FIELDS ? is_behaviour : NULL, err);
    if (rc >= 0)
        rc = fields_read(&doc, doc_first(&doc, doc_root(&doc)), behaviour_fields, fields, out, err);
    if (rc >= 0)
        rc = read_forever(&doc, out->runs, "forever", &out->behaviour.runs_us, err);
    if (rc >= 0)
        rc = read_forever(&doc, out->dies_after, "never", &out->behaviour.dies_after_us, err);
    if (rc >= 0)
        rc = check_takes(r, line, out->behaviour.takes, err);
    doc_done(&doc);
    return rc < 0 ? (int)rc : 0;
}

/* "2s" or "-2s". */
static int read_skew(const struct scn_reader *r, const struct scn_line *line, const char *text,
                     int64_t *out, struct err *err)
{
    const bool minus = text[0] == '-';
    int rc = scn_duration(r, line, "checkpoint-skew", text + minus, out, err);

    if (rc == 0 && minus)
        *out = -*out;
    return rc;
}

/* after=a:ok,b,c:any as the spec wants it. */
static int read_after(struct scn_reader *r, const struct scn_line *line, const char *text,
                      struct job_spec *spec, struct err *err)
{
    static const char *const ends[] = {"ok", "any", "failed"};
    struct job_after *after = arena_alloc(&r->out->arena, JOB_AFTER_MAX, sizeof *after);

    for (spec->after = after; *text != '\0';) {
        const size_t len = strcspn(text, ",");
        char *part = arena_text(&r->out->arena, text, len), *colon = strchr(part, ':');
        uint32_t job;
        int rc, end = AFTER_OK;

        if (colon)
            *colon++ = '\0';
        if (spec->after_count == JOB_AFTER_MAX)
            return scn_line_error(r, line, err, -ERANGE, "after: more than %u jobs", JOB_AFTER_MAX);
        rc = scn_find_job(r, line, part, &job, err);
        if (rc == 0 && colon)
            rc = end = scn_word(r, line, colon, ends, AFTER_COUNT, err);
        if (rc < 0)
            return rc;
        after[spec->after_count++] =
            (struct job_after){.job_id = (uint64_t)job + 1, .end = (enum after_end)end};
        text += len + (text[len] == ',');
    }
    return 0;
}

static int read_spec(struct scn_reader *r, const struct scn_line *line, uint32_t first,
                     struct job_spec *out, struct err *err)
{
    struct doc doc;
    int64_t rc;

    doc_init(&doc, r->text->name, &r->out->arena);
    rc = scn_doc_map(&doc, 0, NULL, line, first, is_of_job, err);
    if (rc >= 0)
        rc = job_read(&doc, doc_first(&doc, doc_root(&doc)), out, err);
    doc_done(&doc);
    for (uint32_t w = first; w < line->count && rc >= 0; w++)
        if (strncmp(line->words[w], "after=", 6) == 0)
            rc = read_after(r, line, line->words[w] + 6, out, err);
    return rc < 0 ? (int)rc : 0;
}

/* Field i of a `submit` line, NULL from the last one on: of a job, and of how it behaves. */
static const char *submit_field(uint32_t i)
{
    uint32_t of_job = 0;
    const char *name;

    while (job_field_name(of_job) != NULL)
        of_job++;
    if (i >= of_job)
        return i - of_job < JOB_FIELDS ? behaviour_fields[i - of_job].name : NULL;
    name = job_field_name(i);
    return strcmp(name, "groups") == 0 ? "group" : name; /* one word for each */
}

static bool is_submit_field(const char *word)
{
    const size_t len = strcspn(word, "=");

    for (uint32_t i = 0; submit_field(i) != NULL; i++)
        if (strlen(submit_field(i)) == len && strncmp(submit_field(i), word, len) == 0)
            return true;
    return false;
}

static int check_submit(const struct scn_reader *r, const struct scn_line *line, uint32_t first,
                        struct err *err)
{
    struct text known;
    uint32_t w = first;
    int rc;

    while (w < line->count && is_submit_field(line->words[w]))
        w++;
    if (w >= line->count)
        return 0;
    text_init(&known, 500);
    for (uint32_t i = 0; submit_field(i) != NULL; i++)
        text_addf(&known, "%s%s", i > 0 ? ", " : "", submit_field(i));
    rc = scn_line_error(r, line, err, -EINVAL, "%.*s: unknown field, known are %s",
                        (int)strcspn(line->words[w], "="), line->words[w], text_str(&known));
    text_done(&known);
    return rc;
}

int scn_read_job(struct scn_reader *r, const struct scn_line *line, struct scn_job *out,
                 struct err *err)
{
    const uint32_t first = scn_line_verb(line) + 2;
    struct behaviour_text text = {
        .behaviour = {.runs_us = SCN_FOREVER, .exit_on_stop = SCN_EXIT_STOPPED, .takes = ""},
        .skew = "0s"};
    int rc = check_submit(r, line, first, err);

    if (rc == 0)
        rc = read_spec(r, line, first, &out->spec, err);
    if (rc == 0)
        rc = read_behaviour(r, line, first, JOB_FIELDS, &text, err);
    if (rc == 0)
        rc = read_skew(r, line, text.skew, &out->checkpoint_skew_us, err);
    out->line = line->number;
    out->behaviour = text.behaviour;
    out->start_fails = text.start_fails;
    out->start_loses = text.start_loses;
    out->instance_fails = text.instance_fails;
    out->checkpoint_every_us = text.checkpoint_every_us;
    if (rc == 0 && text.oracle && text.behaviour.runs_us >= 0)
        out->spec.remaining_us = text.behaviour.runs_us;
    return rc;
}

int scn_read_task(struct scn_reader *r, const struct scn_line *line, struct err *err)
{
    struct behaviour_text text = {0};
    struct scn_job *job;
    struct scn_task task;
    int64_t number = 0;
    uint32_t row = 0;
    int rc;

    if (line->count < 4)
        return scn_line_error(r, line, err, -EINVAL, "wanted task JOB NUMBER FIELD=VALUE...");
    rc = scn_find_job(r, line, line->words[1], &row, err);
    if (rc == 0)
        rc = scn_number(r, line, "task", line->words[2], JOB_TASKS_MAX - 1, &number, err);
    if (rc < 0)
        return rc;
    job = &r->out->jobs[row];
    for (uint32_t i = 0; i < job->task_count; i++)
        if (job->tasks[i].task == number)
            return scn_line_error(r, line, err, -EEXIST,
                                  "task %u of job %s is there twice, see line %u", (uint32_t)number,
                                  quote_of(job->name).text, job->tasks[i].line);
    text.behaviour = job->behaviour;
    rc = read_behaviour(r, line, 3, TASK_FIELDS, &text, err);
    task = (struct scn_task){(uint32_t)number, line->number, text.behaviour};
    if (rc == 0)
        vec_push(job->tasks, job->task_count, job->task_cap, task);
    return rc;
}
