/* SPDX-License-Identifier: Apache-2.0 */
/* report_queues.c - what runs were like for each queue, as CSV. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/report.h"
#include "sim/by_queue.h"

/* A name with a comma or a quote is quoted. */
static void print_name(const char *name)
{
    if (strpbrk(name, ",\"\n\r") == NULL) {
        printf("%s", name);
        return;
    }
    putchar('"');
    for (; *name != '\0'; name++) {
        if (*name == '"')
            putchar('"');
        putchar(*name);
    }
    putchar('"');
}

static void print_seconds(int64_t us)
{
    printf(",%" PRId64 ".%06" PRId64, us / 1000000, us % 1000000);
}

void report_queues(const struct result *result, const struct by_queue *queues, bool first)
{
    if (first)
        puts("trace,policy,order,seed,queue,jobs,finished_jobs,jct_mean_s,jct_p99_s,wait_mean_s,"
             "owed_times,owed_s,owed_longest_s,owed_could_s");
    for (uint32_t i = 0; i < queues->count; i++) {
        const struct queue_run *row = &queues->rows[i];

        print_name(result->trace);
        printf(",%s,%s,%" PRIu64 ",", result->policy, result->order, result->seed);
        print_name(names_text(&queues->names, i));
        printf(",%u,%u", row->jobs, row->finished);
        print_seconds(row->jct_mean_us);
        print_seconds(row->jct_p99_us);
        print_seconds(row->wait_mean_us);
        printf(",%u", row->owed_times);
        print_seconds(row->owed_us);
        print_seconds(row->owed_longest_us);
        print_seconds(row->could_us);
        putchar('\n');
    }
}
