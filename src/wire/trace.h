/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - a recorded workload, whatever file it came from, as one table of jobs.
 *
 * The format is told by the header line (docs of each reader: trace_FORMAT.c). Plain and gzip files
 * are read. Everything is in range when a load succeeds; a row that is not is an error that names
 * file, line and column. A trace owns its memory: every pointer is valid until trace_done(). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/limits.h"
#include "wire/arena.h"

struct err;

#define TRACE_JOBS_MAX     (1u << 22)                      /* after `count` columns are expanded */
#define TRACE_JOB_GPUS_MAX (NODE_GPUS_MAX * JOB_TASKS_MAX) /* GPUs of one job, over all nodes */
#define TRACE_TIME_US_MAX  (INT64_C(1) << 55)              /* about 1,100 years */

enum trace_format {
    TRACE_OPENB, /* pods of Alibaba's openb cluster; or their shapes, with a count */
    TRACE_MURI,
    TRACE_POLLUX,
    TRACE_PHILLY,
    TRACE_GENERIC,
};

const char *trace_format_text(enum trace_format format);

/* A trace in that format can say the priority class of a job. */
bool trace_says_class(enum trace_format format);

struct trace_job {
    uint64_t id;         /* 1, 2, 3, ... in the order of the file */
    uint32_t line;       /* of the file, from 1 */
    int64_t submit_us;   /* 0 or more */
    int64_t duration_us; /* 0 or more, -1 = unknown */
    int64_t deadline_us; /* when it should have ended, on the clock of submit_us; 0 = none */
    uint32_t gpus;       /* of the whole job */
    uint32_t tasks;      /* tasks of task_gpus each, which start together; 0 = the trace states
                          * only the total: how it is laid out over nodes is the reader's choice */
    uint32_t task_gpus;  /* of each task, on one node, 0..NODE_GPUS_MAX; 0 if tasks is 0 */
    uint32_t gpu_mgpu;   /* of each GPU, 1..1000; 0 = by gpu_memory_bytes, or no GPU is asked */
    int64_t gpu_memory_bytes;  /* of each GPU, 0 = not stated */
    int64_t cpu_mcpu;          /* of each task, 0 = not stated */
    int64_t memory_bytes;      /* of each task, 0 = not stated */
    const char *const *models; /* [model_count] allowed GPU models, none = any */
    uint32_t model_count;
    const char *queue; /* never NULL; "" = not stated. Equal texts are the same pointer, here and */
    const char *user;  /* below. */
    const char *class; /* priority class; "" = the default one */
    const char *name;  /* one of a kind in openb, muri and pollux traces */
    /* muri */
    const char *model_name; /* "" elsewhere */
    uint64_t iterations;
    int64_t iteration_time_us; /* of one iteration */
    /* pollux */
    const char *application; /* "" elsewhere */
    uint32_t batch_size;     /* muri states it too */
};

struct trace {
    enum trace_format format;
    const char *file;       /* as errors call it */
    const char *label;      /* NAME of FILE:NAME, else the file's name without what all share */
    struct trace_job *jobs; /* [job_count] */
    uint32_t job_count, job_cap;
    struct arena arena;
};

/* spec: "FILE" or "FILE:NAME", where NAME picks the rows of one trace of a file that holds several
 * (openb_pod_specs.csv:cpu050, workloads.csv:0.5/1). A file whose own name has a ':' is found
 * first. Returns 0 and fills *out, or a negative errno and *out needs no trace_done(). */
int trace_load(const char *spec, struct trace *out, struct err *err);

/* The same from memory; name is what errors call it, pick is NAME or NULL. */
int trace_parse(const char *name, const char *pick, const void *bytes, size_t count,
                struct trace *out, struct err *err);

void trace_done(struct trace *trace); /* a zeroed trace is fine */
