/* SPDX-License-Identifier: Apache-2.0 */
/* trace_philly.c - jobs of Microsoft's Philly clusters.
 *
 *   timestamp,duration_s,num_gpus,vc
 *
 * timestamp is "YYYY-MM-DD HH:MM:SS"; the first row is time 0, and no row is before it. vc, the
 * virtual cluster, is the queue. num_gpus is of the whole job. */
#include <errno.h>
#include <string.h>

#include "wire/quote.h"
#include "wire/trace_read.h"

enum { TIMESTAMP, DURATION_S, NUM_GPUS, VC, COLUMNS };

static const char *const columns[COLUMNS] = {"timestamp", "duration_s", "num_gpus", "vc"};

/* [count] digits at text, which were seen to be digits. */
static int64_t digits_of(const char *text, int count)
{
    int64_t value = 0;

    for (int i = 0; i < count; i++)
        value = value * 10 + (text[i] - '0');
    return value;
}

/* Days from 1970-01-01 in the Gregorian calendar, by counting years that begin in March. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t m = month <= 2 ? month + 9 : month - 3; /* 0 is March */

    return y * 365 + y / 4 - y / 100 + y / 400 + (m * 153 + 2) / 5 + day - 1 - 719468;
}

static int64_t month_days(int64_t year, int64_t month)
{
    int64_t next_year = month == 12 ? year + 1 : year;

    return days_of(next_year, month % 12 + 1, 1) - days_of(year, month, 1);
}

/* Seconds since 1970, or -1 if the text is no such time. */
static int64_t seconds_of(const char *text)
{
    static const char pattern[] = "dddd-dd-dd dd:dd:dd";
    int64_t year, month, day, hour, minute, second;

    if (strlen(text) != sizeof pattern - 1)
        return -1;
    for (size_t i = 0; i < sizeof pattern - 1; i++) {
        bool digit = text[i] >= '0' && text[i] <= '9';

        if (pattern[i] == 'd' ? !digit : text[i] != pattern[i])
            return -1;
    }
    year = digits_of(text, 4);
    month = digits_of(text + 5, 2);
    day = digits_of(text + 8, 2);
    hour = digits_of(text + 11, 2);
    minute = digits_of(text + 14, 2);
    second = digits_of(text + 17, 2);
    if (year < 1970 || month < 1 || month > 12 || day < 1 || day > month_days(year, month) ||
        hour > 23 || minute > 59 || second > 59)
        return -1;
    return days_of(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
}

static int read_time(struct trace_reader *reader, uint32_t column, int64_t *first_s,
                     int64_t *out_us, struct err *err)
{
    const char *text = csv_field(&reader->csv, column);
    int64_t s = seconds_of(text);

    if (s < 0)
        return csv_error(&reader->csv, column, err, -EINVAL,
                         "must be a time such as 2017-10-09 13:05:00, is %s", quote_of(text).text);
    if (reader->trace->job_count == 0)
        *first_s = s;
    if (s < *first_s)
        return csv_error(&reader->csv, column, err, -EINVAL, "is before the time of the first row");
    if (s - *first_s > TRACE_TIME_US_MAX / 1000000)
        return csv_error(&reader->csv, column, err, -ERANGE, "is %lld days after the first row",
                         (long long)((s - *first_s) / 86400));
    *out_us = (s - *first_s) * 1000000;
    return 0;
}

static int read_row(struct trace_reader *reader, const uint32_t *column, int64_t *first_s,
                    struct err *err)
{
    const struct csv *csv = &reader->csv;
    struct trace_job job = trace_job_default();
    int rc = read_time(reader, column[TIMESTAMP], first_s, &job.submit_us, err);

    if (rc == 0)
        rc = csv_number(csv, column[DURATION_S], NUMBER_MICRO, 0, TRACE_TIME_US_MAX,
                        &job.duration_us, err);
    if (rc == 0)
        rc = csv_u32(csv, column[NUM_GPUS], 0, TRACE_JOB_GPUS_MAX, &job.gpus, err);
    if (rc == 0)
        rc = trace_text(reader, column[VC], &job.queue, err);
    job.gpu_mgpu = job.gpus ? GPU_MGPU : 0;
    return rc < 0 ? rc : trace_add(reader, &job, 1, err);
}

static int read_rows(struct trace_reader *reader, struct err *err)
{
    uint32_t column[COLUMNS];
    int64_t first_s = 0;
    int rc = csv_find_all(&reader->csv, columns, COLUMNS, column, err);

    while (rc == 0 && (rc = csv_next(&reader->csv, err)) > 0)
        rc = read_row(reader, column, &first_s, err);
    return rc;
}

const struct trace_format_reader trace_reader_philly = {
    .format = TRACE_PHILLY, .columns = columns, .column_count = COLUMNS, .read = read_rows};
