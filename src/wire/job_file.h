/* SPDX-License-Identifier: Apache-2.0 */
/* job_file.h - jobs as people write them: YAML or JSON, one job (job_doc.h) a document. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "core/event.h"
#include "wire/arena.h"

struct err;

#define JOB_FILE_JOBS_MAX (1u << 20)

struct job_file {
    struct job_spec *jobs; /* [job_count] in the order of the file, with ids 1, 2, 3, ...; each has
                            * one layout, and remaining_us is unknown */
    uint32_t job_count, job_cap;
    struct arena arena; /* owns all that jobs point to */
};

/* 0 and *out filled (with one job at least), or a negative errno and nothing to give back. */
int job_file_load(const char *path, struct job_file *out, struct err *err);
int job_file_parse(const char *name, const void *bytes, size_t count, struct job_file *out,
                   struct err *err);
void job_file_done(struct job_file *file);
