/* SPDX-License-Identifier: Apache-2.0 */
/* trace_pollux.c - jobs of the Pollux simulator.
 *
 *   load,workload,name,time_s,application,num_replicas,batch_size
 *
 * A file holds several traces, named LOAD/WORKLOAD ("0.5/1"). num_replicas is the GPUs of the whole
 * job. Run times are in a table of their own (tables.h), by placement. */
#include <stdio.h>

#include "wire/trace_read.h"

enum { LOAD, WORKLOAD, NAME, TIME_S, APPLICATION, NUM_REPLICAS, BATCH_SIZE, COLUMNS };

static const char *const columns[COLUMNS] = {"load",        "workload",     "name",      "time_s",
                                             "application", "num_replicas", "batch_size"};

static int read_row(struct trace_reader *reader, const uint32_t *column, struct err *err)
{
    const struct csv *csv = &reader->csv;
    struct trace_job job = trace_job_default();
    int rc = trace_unique_name(reader, column[NAME], &job.name, err);

    if (rc == 0)
        rc = csv_number(csv, column[TIME_S], NUMBER_MICRO, 0, TRACE_TIME_US_MAX, &job.submit_us,
                        err);
    if (rc == 0)
        rc = trace_text(reader, column[APPLICATION], &job.application, err);
    if (rc == 0)
        rc = csv_u32(csv, column[NUM_REPLICAS], 1, TRACE_JOB_GPUS_MAX, &job.gpus, err);
    if (rc == 0)
        rc = csv_u32(csv, column[BATCH_SIZE], 0, UINT32_MAX, &job.batch_size, err);
    job.gpu_mgpu = GPU_MGPU;
    return rc < 0 ? rc : trace_add(reader, &job, 1, err);
}

static int read_rows(struct trace_reader *reader, struct err *err)
{
    const struct csv *csv = &reader->csv;
    char name[2 * CSV_TEXT_BYTES_MAX + 2];
    uint32_t column[COLUMNS];
    int rc = csv_find_all(csv, columns, COLUMNS, column, err);

    while (rc == 0 && (rc = csv_next(&reader->csv, err)) > 0) {
        const char *load = "", *workload = "";

        rc = csv_name(csv, column[LOAD], &load, err);
        if (rc == 0)
            rc = csv_name(csv, column[WORKLOAD], &workload, err);
        snprintf(name, sizeof name, "%s/%s", load, workload);
        if (rc == 0 && trace_row_is_picked(reader, name))
            rc = read_row(reader, column, err);
    }
    return rc;
}

const struct trace_format_reader trace_reader_pollux = {.format = TRACE_POLLUX,
                                                        .picks = true,
                                                        .columns = columns,
                                                        .column_count = COLUMNS,
                                                        .read = read_rows};
