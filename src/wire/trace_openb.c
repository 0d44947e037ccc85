/* SPDX-License-Identifier: Apache-2.0 */
/* trace_openb.c - pods of Alibaba's openb cluster.
 *
 *   name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,...      one pod a row, names are unique
 *   trace,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,count   `count` pods a row, of one of
 *                                                                 several traces
 *
 * gpu_milli is of each GPU. gpu_spec "A|B" names the allowed models, empty is any. The optional
 * columns creation_time, deletion_time and scheduled_time are seconds: a pod is submitted at its
 * creation and runs from scheduled to deletion; one without either has an unknown duration. */
#include <errno.h>

#include "wire/trace_read.h"

enum { CPU_MILLI, MEMORY_MIB, NUM_GPU, GPU_MILLI, GPU_SPEC, FIRST, LAST, COLUMNS };

static const char *const pod_columns[] = {"cpu_milli", "memory_mib", "num_gpu",
                                          "gpu_milli", "gpu_spec",   "name"};
static const char *const spec_columns[] = {"cpu_milli", "memory_mib", "num_gpu", "gpu_milli",
                                           "gpu_spec",  "trace",      "count"};

static int read_shape(struct trace_reader *reader, const uint32_t *column, struct trace_job *job,
                      struct err *err)
{
    const struct csv *csv = &reader->csv;
    int rc = csv_number(csv, column[CPU_MILLI], NUMBER_WHOLE, 0, CPU_MCPU_MAX, &job->cpu_mcpu, err);

    if (rc == 0)
        rc = csv_number(csv, column[MEMORY_MIB], NUMBER_MIB, 0, MEMORY_BYTES_MAX,
                        &job->memory_bytes, err);
    if (rc == 0)
        rc = csv_u32(csv, column[NUM_GPU], 0, NODE_GPUS_MAX, &job->gpus, err);
    if (rc == 0)
        rc = job->gpus > 0 ? csv_u32(csv, column[GPU_MILLI], 1, GPU_MGPU, &job->gpu_mgpu, err)
                           : csv_u32_or(csv, column[GPU_MILLI], 0, 0, &job->gpu_mgpu, err);
    if (rc == 0)
        rc = trace_models(reader, column[GPU_SPEC], job, err);
    job->task_gpus = job->gpus;
    job->tasks = 1;
    return rc;
}

struct time_columns {
    uint32_t creation, deletion, scheduled;
};

static int read_times(const struct csv *csv, const struct time_columns *columns,
                      struct trace_job *job, struct err *err)
{
    int64_t start_us = 0, end_us = 0;
    int rc = csv_number_or(csv, columns->creation, NUMBER_MICRO, 0, TRACE_TIME_US_MAX,
                           &job->submit_us, err);

    if (rc == 0)
        rc = csv_number_or(csv, columns->scheduled, NUMBER_MICRO, 0, TRACE_TIME_US_MAX, &start_us,
                           err);
    if (rc == 0)
        rc =
            csv_number_or(csv, columns->deletion, NUMBER_MICRO, 0, TRACE_TIME_US_MAX, &end_us, err);
    if (rc < 0 || csv_is_empty(csv, columns->scheduled) || csv_is_empty(csv, columns->deletion))
        return rc;
    if (end_us < start_us)
        return csv_error(csv, columns->deletion, err, -EINVAL, "is before scheduled_time");
    job->duration_us = end_us - start_us;
    return 0;
}

static int read_pods(struct trace_reader *reader, struct err *err)
{
    struct csv *csv = &reader->csv;
    struct time_columns times = {csv_find(csv, "creation_time"), csv_find(csv, "deletion_time"),
                                 csv_find(csv, "scheduled_time")};
    uint32_t column[COLUMNS];
    int rc = csv_find_all(csv, pod_columns, LAST, column, err);

    while (rc == 0 && (rc = csv_next(csv, err)) > 0) {
        struct trace_job job = trace_job_default();

        rc = trace_unique_name(reader, column[FIRST], &job.name, err);
        if (rc == 0)
            rc = read_shape(reader, column, &job, err);
        if (rc == 0)
            rc = read_times(csv, &times, &job, err);
        if (rc == 0)
            rc = trace_add(reader, &job, 1, err);
    }
    return rc;
}

static int read_specs(struct trace_reader *reader, struct err *err)
{
    struct csv *csv = &reader->csv;
    uint32_t column[COLUMNS];
    int rc = csv_find_all(csv, spec_columns, COLUMNS, column, err);

    while (rc == 0 && (rc = csv_next(csv, err)) > 0) {
        struct trace_job job = trace_job_default();
        const char *trace = "";
        uint32_t count = 0;

        rc = csv_name(csv, column[FIRST], &trace, err);
        if (rc == 0 && !trace_row_is_picked(reader, trace))
            continue;
        if (rc == 0)
            rc = read_shape(reader, column, &job, err);
        if (rc == 0)
            rc = csv_u32(csv, column[LAST], 1, TRACE_JOBS_MAX, &count, err);
        if (rc == 0)
            rc = trace_add(reader, &job, count, err);
    }
    return rc;
}

const struct trace_format_reader trace_reader_openb_pods = {
    .format = TRACE_OPENB, .columns = pod_columns, .column_count = LAST, .read = read_pods};

const struct trace_format_reader trace_reader_openb_specs = {.format = TRACE_OPENB,
                                                             .picks = true,
                                                             .columns = spec_columns,
                                                             .column_count = COLUMNS,
                                                             .read = read_specs};
