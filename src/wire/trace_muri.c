/* SPDX-License-Identifier: Apache-2.0 */
/* trace_muri.c - jobs of the Muri simulator (virtual clusters of Philly).
 *
 *   job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,...,iteration_time,...
 *
 * Times are milliseconds. num_gpu is of the whole job: how it is laid out is the protocol's. The
 * simulator of that paper runs a job for iterations * iteration_time, not for its duration. */
#include "wire/trace_read.h"

enum {
    JOB_ID,
    NUM_GPU,
    SUBMIT_TIME,
    ITERATIONS,
    MODEL_NAME,
    BATCH_SIZE,
    DURATION,
    ITERATION_TIME,
    COLUMNS
};

static const char *const columns[COLUMNS] = {"job_id",     "num_gpu",       "submit_time",
                                             "iterations", "model_name",    "batch_size",
                                             "duration",   "iteration_time"};

static int read_row(struct trace_reader *reader, const uint32_t *column, struct err *err)
{
    const struct csv *csv = &reader->csv;
    struct trace_job job = trace_job_default();
    int64_t iterations = 0;
    int rc = trace_unique_name(reader, column[JOB_ID], &job.name, err);

    if (rc == 0)
        rc = csv_u32(csv, column[NUM_GPU], 1, TRACE_JOB_GPUS_MAX, &job.gpus, err);
    if (rc == 0)
        rc = csv_number(csv, column[SUBMIT_TIME], NUMBER_MILLI, 0, TRACE_TIME_US_MAX,
                        &job.submit_us, err);
    if (rc == 0)
        rc = csv_number(csv, column[ITERATIONS], NUMBER_WHOLE, 1, UINT32_MAX, &iterations, err);
    if (rc == 0)
        rc = trace_text(reader, column[MODEL_NAME], &job.model_name, err);
    if (rc == 0)
        rc = csv_u32_or(csv, column[BATCH_SIZE], 0, UINT32_MAX, &job.batch_size, err);
    if (rc == 0)
        rc = csv_number_or(csv, column[DURATION], NUMBER_MILLI, 0, TRACE_TIME_US_MAX,
                           &job.duration_us, err);
    if (rc == 0)
        rc = csv_number(csv, column[ITERATION_TIME], NUMBER_MILLI, 1, TRACE_TIME_US_MAX >> 32,
                        &job.iteration_time_us, err);
    if (rc < 0)
        return rc;
    job.iterations = (uint64_t)iterations;
    job.gpu_mgpu = GPU_MGPU;
    return trace_add(reader, &job, 1, err);
}

static int read_rows(struct trace_reader *reader, struct err *err)
{
    uint32_t column[COLUMNS];
    int rc = csv_find_all(&reader->csv, columns, COLUMNS, column, err);

    while (rc == 0 && (rc = csv_next(&reader->csv, err)) > 0)
        rc = read_row(reader, column, err);
    return rc;
}

const struct trace_format_reader trace_reader_muri = {
    .format = TRACE_MURI, .columns = columns, .column_count = COLUMNS, .read = read_rows};
