/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/job_file.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
#include "wire/doc.h"
#include "wire/job_doc.h"

static int read_job(struct job_file *file, const struct doc *doc, const struct doc_node *node,
                    struct err *err)
{
    struct job_spec job;
    int rc;

    if (file->job_count >= JOB_FILE_JOBS_MAX)
        return doc_error(doc, node, err, -ERANGE, "more than %u jobs", JOB_FILE_JOBS_MAX);
    rc = job_read(doc, node, &job, err);
    if (rc < 0)
        return rc;
    job.id = (uint64_t)file->job_count + 1;
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
