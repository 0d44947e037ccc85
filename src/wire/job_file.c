/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/job_file.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
#include "core/job.h"
#include "wire/doc.h"
#include "wire/group_doc.h"

enum { OWN_FIELDS = 4 };

struct job_text {
    struct group_text group; /* first: the offsets of group_fields hold */
    const char *name, *queue, *user;
    const struct doc_node *groups;
};

static const struct field own_fields[OWN_FIELDS] = {
    {"name", FIELD_TEXT, NUMBER_WHOLE, false, offsetof(struct job_text, name), 0, 0},
    {"queue", FIELD_TEXT, NUMBER_WHOLE, false, offsetof(struct job_text, queue), 0, 0},
    {"user", FIELD_TEXT, NUMBER_WHOLE, false, offsetof(struct job_text, user), 0, 0},
    {"groups", FIELD_NODE, NUMBER_WHOLE, false, offsetof(struct job_text, groups), 0, 0},
};

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

static int read_job(struct job_file *file, const struct doc *doc, const struct doc_node *node,
                    struct err *err)
{
    struct field fields[OWN_FIELDS + GROUP_FIELDS_COUNT];
    struct job_text text = {
        .group = group_text_default(), .name = "", .queue = "", .user = "", .groups = NULL};
    struct job_layout_spec *layout;
    struct job_spec job;
    int rc;

    if (file->job_count >= JOB_FILE_JOBS_MAX)
        return doc_error(doc, node, err, -ERANGE, "more than %u jobs", JOB_FILE_JOBS_MAX);
    memcpy(fields, own_fields, sizeof own_fields);
    memcpy(fields + OWN_FIELDS, group_fields, sizeof group_fields);
    rc = fields_read(doc, node, fields, OWN_FIELDS + GROUP_FIELDS_COUNT, &text, err);
    if (rc < 0)
        return rc;
    layout = arena_alloc(&file->arena, 1, sizeof *layout);
    rc = read_layout(doc, node, &text, layout, err);
    if (rc < 0)
        return rc;
    job = (struct job_spec){.id = (uint64_t)file->job_count + 1,
                            .queue = text.queue,
                            .user = text.user,
                            .name = text.name,
                            .layouts = layout,
                            .layout_count = 1,
                            .remaining_us = REMAINING_UNKNOWN};
    vec_push(file->jobs, file->job_count, file->job_cap, job);
    return 0;
}

static int read_doc(struct job_file *file, const struct doc *doc, struct err *err)
{
    int rc = 0;

    for (const struct doc_node *n = doc_first(doc, doc_root(doc)); n && rc == 0;
         n = doc_next(doc, n))
        rc = read_job(file, doc, n, err);
    if (rc == 0 && file->job_count == 0)
        rc = err_set(err, -EINVAL, "%s: no job in it", doc->name);
    return rc;
}

static int finish(struct doc *doc, struct job_file *file, int rc, struct err *err)
{
    if (rc == 0)
        rc = read_doc(file, doc, err);
    doc_done(doc);
    if (rc < 0)
        job_file_done(file);
    return rc;
}

static void begin(struct doc *doc, const char *name, struct job_file *file)
{
    *file = (struct job_file){0};
    arena_init(&file->arena);
    doc_init(doc, name, &file->arena);
}

int job_file_load(const char *path, struct job_file *out, struct err *err)
{
    struct doc doc;

    begin(&doc, path, out);
    return finish(&doc, out, doc_load(&doc, path, err), err);
}

int job_file_parse(const char *name, const void *bytes, size_t count, struct job_file *out,
                   struct err *err)
{
    struct doc doc;

    begin(&doc, name, out);
    return finish(&doc, out, doc_parse(&doc, bytes, count, err), err);
}

void job_file_done(struct job_file *file)
{
    mem_free(file->jobs);
    arena_done(&file->arena);
    *file = (struct job_file){0};
}
