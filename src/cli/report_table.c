/* SPDX-License-Identifier: Apache-2.0 */
/* report_table.c - the results of simulations as tables for people. */
#include <inttypes.h>
#include <libsmartcols.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"

/* Over those runs that know the value. */
struct mean {
    double sum;
    uint32_t count;
};

/* The mean over the runs of one trace, policy and order. */
struct line {
    const struct result *first;
    uint32_t runs;
    struct mean unallocated, unallocated_95, allocated, fragmented;
    struct mean failed, waiting, finished, preemptions, cpu_s;
    struct mean jct[4], wait[4], makespan_s;
};

static bool same_line(const struct result *a, const struct result *b)
{
    return strcmp(a->trace, b->trace) == 0 && strcmp(a->policy, b->policy) == 0 &&
           strcmp(a->order, b->order) == 0;
}

static void add(struct mean *mean, double value)
{
    mean->sum += value;
    mean->count++;
}

static void add_ppm(struct mean *mean, int64_t ppm)
{
    if (ppm != UNKNOWN_PPM)
        add(mean, (double)ppm / 1e4);
}

static void add_us(struct mean *mean, int64_t us)
{
    if (us >= 0)
        add(mean, (double)us / 1e6);
}

static void line_add(struct line *line, const struct report_run *run)
{
    const struct result *r = &run->result;
    const int64_t jct[4] = {r->jct_mean_us, r->jct_p50_us, r->jct_p95_us, r->jct_p99_us};
    const int64_t wait[4] = {r->wait_mean_us, r->wait_p50_us, r->wait_p95_us, r->wait_p99_us};

    line->runs++;
    add_ppm(&line->unallocated, r->unallocated_ppm);
    add_ppm(&line->unallocated_95, r->unallocated_95_ppm);
    add_ppm(&line->allocated, r->allocated_ppm);
    add_ppm(&line->fragmented, r->fragmented_ppm);
    add(&line->failed, r->failed);
    add(&line->waiting, r->waiting);
    add(&line->finished, r->finished);
    add(&line->preemptions, (double)r->preemptions);
    add_us(&line->makespan_s, r->makespan_us);
    add_us(&line->cpu_s, run->cpu_us);
    for (int i = 0; i < 4; i++) {
        add_us(&line->jct[i], jct[i]);
        add_us(&line->wait[i], wait[i]);
    }
}

static uint32_t make_lines(const struct report_run *runs, uint32_t count, struct line *lines)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = 0;

        while (at < n && !same_line(lines[at].first, &runs[i].result))
            at++;
        if (at == n)
            lines[n++] = (struct line){.first = &runs[i].result};
        line_add(&lines[at], &runs[i]);
    }
    return n;
}

static void column(struct libscols_table *table, const char *name, bool right)
{
    scols_table_new_column(table, name, 0, right ? SCOLS_FL_RIGHT : 0);
}

static void put_text(struct libscols_line *line, size_t *at, const char *text)
{
    scols_line_set_data(line, (*at)++, text);
}

static void put_number(struct libscols_line *line, size_t *at, int places, double value)
{
    char text[40];

    snprintf(text, sizeof text, "%.*f", places, value);
    put_text(line, at, text);
}

static void put_mean(struct libscols_line *line, size_t *at, int places, const struct mean *mean)
{
    if (mean->count > 0)
        put_number(line, at, places, mean->sum / mean->count);
    else
        put_text(line, at, "-"); /* no run knows it */
}

static struct libscols_table *table_new(const char *const *names, uint32_t text_columns)
{
    struct libscols_table *table = scols_new_table();

    if (table == NULL) {
        fputs("berth: no memory for a table\n", stderr);
        exit(1);
    }
    for (uint32_t i = 0; names[i] != NULL; i++)
        column(table, names[i], i >= text_columns);
    scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
    return table;
}

static void print(struct libscols_table *table)
{
    scols_print_table(table);
    scols_unref_table(table);
}

static void print_fill(const struct line *lines, uint32_t count)
{
    static const char *const names[] = {"TRACE",        "POLICY",
                                        "RUNS",         "UNALLOCATED %",
                                        "AT 95 %",      "AT THE END: ALLOCATED %",
                                        "FRAGMENTED %", "FAILED",
                                        "CPU s",        NULL};
    struct libscols_table *table = table_new(names, 2);

    for (uint32_t i = 0; i < count; i++) {
        const struct line *l = &lines[i];
        struct libscols_line *line = scols_table_new_line(table, NULL);
        size_t at = 0;

        put_text(line, &at, l->first->trace);
        put_text(line, &at, l->first->policy);
        put_number(line, &at, 0, l->runs);
        put_mean(line, &at, 3, &l->unallocated);
        put_mean(line, &at, 3, &l->unallocated_95);
        put_mean(line, &at, 3, &l->allocated);
        put_mean(line, &at, 3, &l->fragmented);
        put_mean(line, &at, 1, &l->failed);
        put_mean(line, &at, 2, &l->cpu_s);
    }
    print(table);
}

static void print_times(const struct line *lines, uint32_t count)
{
    static const char *const names[] = {"TRACE",       "POLICY",       "ORDER",   "RUNS",
                                        "ALLOCATED %", "FINISHED",     "WAITING", "JCT MEAN s",
                                        "P50",         "P95",          "P99",     "WAIT MEAN s",
                                        "P50",         "P95",          "P99",     "MAKESPAN s",
                                        "PREEMPTIONS", "FRAGMENTED %", "CPU s",   NULL};
    struct libscols_table *table = table_new(names, 3);

    for (uint32_t i = 0; i < count; i++) {
        const struct line *l = &lines[i];
        struct libscols_line *line = scols_table_new_line(table, NULL);
        size_t at = 0;

        put_text(line, &at, l->first->trace);
        put_text(line, &at, l->first->policy);
        put_text(line, &at, l->first->order);
        put_number(line, &at, 0, l->runs);
        put_mean(line, &at, 2, &l->allocated);
        put_mean(line, &at, 0, &l->finished);
        put_mean(line, &at, 0, &l->waiting);
        for (int k = 0; k < 4; k++)
            put_mean(line, &at, 0, &l->jct[k]);
        for (int k = 0; k < 4; k++)
            put_mean(line, &at, 0, &l->wait[k]);
        put_mean(line, &at, 0, &l->makespan_s);
        put_mean(line, &at, 0, &l->preemptions);
        put_mean(line, &at, 2, &l->fragmented);
        put_mean(line, &at, 2, &l->cpu_s);
    }
    print(table);
}

static void print_models(const struct result *r)
{
    static const char *const names[] = {"MODEL", "GPUS", "USED %", NULL};
    struct libscols_table *table = table_new(names, 1);

    for (uint32_t i = 0; i < r->model_count; i++) {
        struct libscols_line *line = scols_table_new_line(table, NULL);
        struct mean used = {0};
        size_t at = 0;

        put_text(line, &at, r->models[i].model);
        put_number(line, &at, 0, (double)r->models[i].gpus);
        add_ppm(&used, r->models[i].used_ppm);
        put_mean(line, &at, 2, &used);
    }
    printf("\nGPUs by model, last run (%s, %s, seed %" PRIu64 "):\n", r->policy, r->order, r->seed);
    print(table);
}

/* Of the first run that rejected any; it is seldom that the others differ. */
static void print_rejected(const struct report_run *runs, uint32_t count)
{
    const struct result *r;
    uint32_t i = 0;

    while (i < count && runs[i].result.rejected == 0)
        i++;
    if (i == count)
        return;
    r = &runs[i].result;
    printf("\nrejected: %u of %u jobs", r->rejected, r->jobs);
    if (count > 1)
        printf(" (%s, %s, seed %" PRIu64 ")", r->policy, r->order, r->seed);
    printf("; the first is job %s: %s\n", r->rejected_job, r->rejected_reason);
}

void report_table(const struct report_run *runs, uint32_t count)
{
    struct line *lines = calloc(count > 0 ? count : 1, sizeof *lines);
    uint32_t n;

    if (lines == NULL) {
        fputs("berth: no memory for a table\n", stderr);
        exit(1);
    }
    n = make_lines(runs, count, lines);
    if (count > 0 && runs[0].result.filled)
        print_fill(lines, n);
    else
        print_times(lines, n);
    if (count > 0)
        print_models(&runs[count - 1].result);
    print_rejected(runs, count);
    printf("\npeak memory of the process: %.1f MiB\n", (double)peak_rss_bytes() / 1048576.0);
    free(lines);
}
