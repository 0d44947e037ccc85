/* SPDX-License-Identifier: Apache-2.0 */
/* trace_generic.c - berth's own trace format, for traces of other sites.
 *
 *   submit_s,duration_s,gpus[,tasks,gpu_milli,gpu_memory,cpus,memory,models,queue,user,name,count,
 *                               deadline_s,class]
 *
 * Columns in any order; an empty field is its default.
 *   submit_s    seconds from the start of the trace, up to six decimals; required in each row
 *   duration_s  seconds; empty = unknown
 *   gpus        of each task, on one node; required in each row
 *   tasks       tasks that start together; 1
 *   gpu_milli   share of each GPU in thousandths; whole GPUs, unless gpu_memory is stated
 *   gpu_memory  of each GPU: 20G
 *   cpus        of each task, up to three decimals; 0
 *   memory      of each task: 64G; 0
 *   models      allowed GPU models: A100|H100; any
 *   queue, user, name
 *   count       how many such jobs the row is; 1
 *   deadline_s  seconds from the start of the trace, when it should have ended; none
 *   class       priority class; the default one */
#include <errno.h>

#include "wire/quote.h"
#include "wire/trace_read.h"

enum {
    SUBMIT_S,
    DURATION_S,
    GPUS,
    REQUIRED,
    TASKS = REQUIRED,
    GPU_MILLI,
    GPU_MEMORY,
    CPUS,
    MEMORY,
    MODELS,
    QUEUE,
    USER,
    NAME,
    COUNT,
    DEADLINE_S,
    CLASS,
    COLUMNS
};

static const char *const columns[COLUMNS] = {
    "submit_s", "duration_s", "gpus", "tasks", "gpu_milli", "gpu_memory", "cpus", "memory",
    "models",   "queue",      "user", "name",  "count",     "deadline_s", "class"};

/* The GPUs: how many, and how much of each. */
static int read_gpus(const struct csv *csv, const uint32_t *column, struct trace_job *job,
                     struct err *err)
{
    uint32_t share_column =
        csv_is_empty(csv, column[GPU_MILLI]) ? column[GPU_MEMORY] : column[GPU_MILLI];
    int rc = csv_u32(csv, column[GPUS], 0, NODE_GPUS_MAX, &job->task_gpus, err);

    if (rc == -EINVAL)
        return csv_error(csv, column[GPUS], err, rc,
                         "must be a whole number (gpu_milli or gpu_memory asks for a part of each "
                         "GPU), is %s",
                         quote_of(csv_field(csv, column[GPUS])).text);
    job->tasks = 1;
    if (rc == 0)
        rc = csv_u32_or(csv, column[TASKS], 1, JOB_TASKS_MAX, &job->tasks, err);
    if (rc == 0)
        rc = csv_u32_or(csv, column[GPU_MILLI], 0, GPU_MGPU, &job->gpu_mgpu, err);
    if (rc == 0)
        rc = csv_number_or(csv, column[GPU_MEMORY], NUMBER_BYTES, 0, MEMORY_BYTES_MAX,
                           &job->gpu_memory_bytes, err);
    if (rc < 0)
        return rc;
    if (job->task_gpus == 0 && (job->gpu_mgpu > 0 || job->gpu_memory_bytes > 0))
        return csv_error(csv, share_column, err, -EINVAL, "must be 0 or empty where gpus is 0");
    if (job->task_gpus > 0 && job->gpu_mgpu == 0 && job->gpu_memory_bytes == 0)
        job->gpu_mgpu = GPU_MGPU;
    job->gpus = job->task_gpus * job->tasks;
    return 0;
}

static int read_texts(struct trace_reader *reader, const uint32_t *column, struct trace_job *job,
                      struct err *err)
{
    int rc = trace_models(reader, column[MODELS], job, err);

    if (rc == 0)
        rc = trace_text(reader, column[QUEUE], &job->queue, err);
    if (rc == 0)
        rc = trace_text(reader, column[USER], &job->user, err);
    if (rc == 0)
        rc = trace_text(reader, column[CLASS], &job->class, err);
    return rc < 0 ? rc : trace_text(reader, column[NAME], &job->name, err);
}

static int read_row(struct trace_reader *reader, const uint32_t *column, struct err *err)
{
    const struct csv *csv = &reader->csv;
    struct trace_job job = trace_job_default();
    uint32_t count = 1;
    int rc =
        csv_number(csv, column[SUBMIT_S], NUMBER_MICRO, 0, TRACE_TIME_US_MAX, &job.submit_us, err);

    if (rc == 0)
        rc = csv_number_or(csv, column[DURATION_S], NUMBER_MICRO, 0, TRACE_TIME_US_MAX,
                           &job.duration_us, err);
    if (rc == 0)
        rc = csv_number_or(csv, column[DEADLINE_S], NUMBER_MICRO, 0, TRACE_TIME_US_MAX,
                           &job.deadline_us, err);
    if (rc == 0)
        rc = read_gpus(csv, column, &job, err);
    if (rc == 0)
        rc = csv_number_or(csv, column[CPUS], NUMBER_MILLI, 0, CPU_MCPU_MAX, &job.cpu_mcpu, err);
    if (rc == 0)
        rc = csv_number_or(csv, column[MEMORY], NUMBER_BYTES, 0, MEMORY_BYTES_MAX,
                           &job.memory_bytes, err);
    if (rc == 0)
        rc = read_texts(reader, column, &job, err);
    if (rc == 0)
        rc = csv_u32_or(csv, column[COUNT], 1, TRACE_JOBS_MAX, &count, err);
    return rc < 0 ? rc : trace_add(reader, &job, count, err);
}

/* A column that the format does not have would be silently without effect. */
static int check_columns(const struct csv *csv, struct err *err)
{
    for (uint32_t i = 0; i < csv->column_count; i++) {
        uint32_t k = 0;

        while (k < COLUMNS && csv_find(csv, columns[k]) != i)
            k++;
        if (k == COLUMNS)
            return csv_error(
                csv, i, err, -EINVAL,
                "unknown column; there are submit_s, duration_s, gpus, tasks, gpu_milli, "
                "gpu_memory, cpus, memory, models, queue, user, name, count, deadline_s, class");
    }
    return 0;
}

static int read_rows(struct trace_reader *reader, struct err *err)
{
    uint32_t column[COLUMNS];
    int rc = check_columns(&reader->csv, err);

    for (uint32_t i = 0; i < COLUMNS; i++)
        column[i] = csv_find(&reader->csv, columns[i]);
    while (rc == 0 && (rc = csv_next(&reader->csv, err)) > 0)
        rc = read_row(reader, column, err);
    return rc;
}

const struct trace_format_reader trace_reader_generic = {
    .format = TRACE_GENERIC, .columns = columns, .column_count = REQUIRED, .read = read_rows};
