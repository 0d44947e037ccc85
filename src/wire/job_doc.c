/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/job_doc.h"

#include <errno.h>
#include <string.h>

#include "core/job.h"
#include "wire/arena.h"
#include "wire/event_text.h"
#include "wire/fields.h"
#include "wire/group_doc.h"
#include "wire/modes_doc.h"
#include "wire/rules_doc.h"

enum { OWN_FIELDS = 31 };

struct job_text {
    struct group_text group; /* first: the offsets of group_fields hold */
    struct job_spec job;
    bool preemptible;
    const struct doc_node *groups, *after, *modes, *isolation, *qos, *knobs[QOS_KNOBS];
};

#define AT(member) offsetof(struct job_text, member)

static const struct field own_fields[OWN_FIELDS] = {
    {"name", FIELD_TEXT, NUMBER_WHOLE, false, AT(job.name), 0, 0},
    {"queue", FIELD_TEXT, NUMBER_WHOLE, false, AT(job.queue), 0, 0},
    {"user", FIELD_TEXT, NUMBER_WHOLE, false, AT(job.user), 0, 0},
    {"class", FIELD_NAME, NUMBER_WHOLE, false, AT(job.class), 0, 0},
    {"min-tasks", FIELD_U32, NUMBER_WHOLE, false, AT(job.tasks_min), 1, JOB_TASKS_MAX},
    {"service", FIELD_BOOL, NUMBER_WHOLE, false, AT(job.service), 0, 0},
    {"hold", FIELD_BOOL, NUMBER_WHOLE, false, AT(job.held), 0, 0},
    {"exclusive", FIELD_BOOL, NUMBER_WHOLE, false, AT(job.exclusive), 0, 0},
    {"preemptible", FIELD_BOOL, NUMBER_WHOLE, false, AT(preemptible), 0, 0},
    {"retries", FIELD_U32, NUMBER_WHOLE, false, AT(job.retries), 0, RETRIES_MAX},
    {"time-limit", FIELD_I64, NUMBER_DURATION, false, AT(job.limit_us), 1, DURATION_US_MAX},
    {"deadline", FIELD_I64, NUMBER_DURATION, false, AT(job.deadline_us), 1, DURATION_US_MAX},
    {"grace", FIELD_I64, NUMBER_DURATION, false, AT(job.grace_us), 0, DURATION_US_MAX},
    {"min-run", FIELD_I64, NUMBER_DURATION, false, AT(job.min_run_us), 0, DURATION_US_MAX},
    {"array", FIELD_NAME, NUMBER_WHOLE, false, AT(job.array), 0, 0},
    {"array-limit", FIELD_U32, NUMBER_WHOLE, false, AT(job.array_limit), 1, JOBS_MAX},
    {"within", FIELD_NAME, NUMBER_WHOLE, false, AT(job.within), 0, 0},
    {"near", FIELD_NAME, NUMBER_WHOLE, false, AT(job.near), 0, 0},
    {"group-within", FIELD_NAME, NUMBER_WHOLE, false, AT(job.group_within), 0, 0},
    {"group-size", FIELD_U32, NUMBER_WHOLE, false, AT(job.group_size), 1, JOB_TASKS_MAX},
    {"slowdown", FIELD_U32, NUMBER_MICRO, false, AT(job.slowdown_max_ppm), 1000000,
     SLOWDOWN_PPM_MAX},
    {"after", FIELD_NODE, NUMBER_WHOLE, false, AT(after), 0, 0},
    {"groups", FIELD_NODE, NUMBER_WHOLE, false, AT(groups), 0, 0},
    {"modes", FIELD_NODE, NUMBER_WHOLE, false, AT(modes), 0, 0},
    {"isolation", FIELD_NODE, NUMBER_WHOLE, false, AT(isolation), 0, 0},
    {"qos", FIELD_NODE, NUMBER_WHOLE, false, AT(qos), 0, 0},
    {"slice", FIELD_NODE, NUMBER_WHOLE, false, AT(knobs[QOS_SLICE]), 0, 0},
    {"mps-percent", FIELD_NODE, NUMBER_WHOLE, false, AT(knobs[QOS_MPS_PERCENT]), 0, 0},
    {"client-priority", FIELD_NODE, NUMBER_WHOLE, false, AT(knobs[QOS_CLIENT_PRIORITY]), 0, 0},
    {"stream-priority", FIELD_NODE, NUMBER_WHOLE, false, AT(knobs[QOS_STREAM_PRIORITY]), 0, 0},
    {"preemption", FIELD_NODE, NUMBER_WHOLE, false, AT(knobs[QOS_PREEMPTION]), 0, 0},
};

struct after_text {
    uint64_t job_id;
    const struct doc_node *end;
};

static const struct field after_fields[] = {
    {"job", FIELD_U64, NUMBER_WHOLE, true, offsetof(struct after_text, job_id), 0, 0},
    {"end", FIELD_NODE, NUMBER_WHOLE, false, offsetof(struct after_text, end), 0, 0},
};

static int read_after(const struct doc *doc, const struct doc_node *list, struct job_spec *out,
                      struct err *err)
{
    struct job_after *after;
    int rc = doc_want_list(doc, list, JOB_AFTER_MAX, err);

    if (rc < 0)
        return rc;
    after = arena_alloc(doc->arena, list->child_count, sizeof *after);
    out->after = after;
    for (const struct doc_node *n = doc_first(doc, list); n && rc == 0; n = doc_next(doc, n)) {
        struct after_text text = {0};
        uint32_t end = AFTER_OK;

        rc = fields_read(doc, n, after_fields, 2, &text, err);
        if (rc == 0 && text.end)
            rc = doc_want_word(doc, text.end, after_end_words, AFTER_COUNT, &end, err);
        after[out->after_count++] =
            (struct job_after){.job_id = text.job_id, .end = (enum after_end)end};
    }
    return rc;
}

/* A job states its groups, or fields of the only group, but not both. */
static int check_no_group_fields(const struct doc *doc, const struct doc_node *job, struct err *err)
{
    for (uint32_t i = 0; i < GROUP_FIELDS_COUNT; i++) {
        const struct doc_node *node = doc_find(doc, job, group_fields[i].name);

        if (node)
            return doc_error(doc, node, err, -EINVAL,
                             "must stand inside the groups when there are groups");
    }
    return 0;
}

static int check_tasks(const struct doc *doc, const struct doc_node *job,
                       const struct job_layout_spec *layout, struct err *err)
{
    uint64_t tasks = 0;

    for (uint32_t i = 0; i < layout->group_count; i++)
        tasks += layout->groups[i].tasks;
    if (tasks > JOB_TASKS_MAX)
        return doc_error(doc, job, err, -ERANGE, "job has %llu tasks, at most %d are allowed",
                         (unsigned long long)tasks, JOB_TASKS_MAX);
    return 0;
}

static int read_layout(const struct doc *doc, const struct doc_node *job,
                       const struct job_text *text, struct job_layout_spec *out, struct err *err)
{
    struct group_spec *group;
    int rc;

    out->slowdown_ppm = 1000000;
    if (text->groups) {
        rc = check_no_group_fields(doc, job, err);
        if (rc == 0)
            rc = groups_read(doc, text->groups, GANG_GROUPS_MAX, &out->groups, &out->group_count,
                             err);
    } else {
        group = arena_alloc(doc->arena, 1, sizeof *group);
        rc = group_text_finish(doc, job, &text->group, group, err);
        out->groups = group;
        out->group_count = 1;
    }
    return rc < 0 ? rc : check_tasks(doc, job, out, err);
}

/* How it shares GPUs. */
static int read_sharing(const struct doc *doc, const struct job_text *text, struct job_spec *out,
                        struct err *err)
{
    uint32_t class = QOS_NONE, strict = 0;
    int rc = 0;

    if (text->modes)
        rc = modes_read(doc, text->modes, &out->modes, err);
    if (rc == 0 && text->isolation)
        rc = doc_want_word(doc, text->isolation, isolation_words, 2, &strict, err);
    if (rc == 0 && text->qos)
        rc = doc_want_word(doc, text->qos, qos_class_words, QOS_CLASSES, &class, err);
    for (uint32_t k = 0; k < QOS_KNOBS && rc == 0; k++)
        if (text->knobs[k])
            rc = knob_read(doc, text->knobs[k], k, &out->qos, err);
    out->strict = strict != 0;
    out->qos.class = (enum qos_class) class;
    return rc;
}

const char *job_field_name(uint32_t i)
{
    if (i < OWN_FIELDS)
        return own_fields[i].name;
    return i < OWN_FIELDS + GROUP_FIELDS_COUNT ? group_fields[i - OWN_FIELDS].name : NULL;
}

int job_read(const struct doc *doc, const struct doc_node *map, struct job_spec *out,
             struct err *err)
{
    struct field fields[OWN_FIELDS + GROUP_FIELDS_COUNT];
    struct job_text text = {.group = group_text_default(),
                            .job = {.queue = "",
                                    .user = "",
                                    .name = "",
                                    .class = "",
                                    .array = "",
                                    .grace_us = -1,
                                    .min_run_us = -1,
                                    .remaining_us = REMAINING_UNKNOWN},
                            .preemptible = true};
    struct job_layout_spec *layout;
    int rc;

    memcpy(fields, own_fields, sizeof own_fields);
    memcpy(fields + OWN_FIELDS, group_fields, sizeof group_fields);
    rc = fields_read(doc, map, fields, OWN_FIELDS + GROUP_FIELDS_COUNT, &text, err);
    if (rc < 0)
        return rc;
    layout = arena_alloc(doc->arena, 1, sizeof *layout);
    rc = read_layout(doc, map, &text, layout, err);
    if (rc == 0 && text.after)
        rc = read_after(doc, text.after, &text.job, err);
    rc = rc < 0 ? rc : read_sharing(doc, &text, &text.job, err);
    *out = text.job;
    out->fixed = !text.preemptible;
    out->layouts = layout;
    out->layout_count = 1;
    return rc;
}
