/* SPDX-License-Identifier: Apache-2.0 */
/* report_table.c - the results of simulations as tables for people. */
#include <inttypes.h>
#include <libsmartcols.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"

/* The mean over the runs of one trace, policy and order. */
struct line {
    const struct result *first;
    uint32_t runs;
    double unallocated, unallocated_95, allocated, fragmented;
    double failed, waiting, finished, preemptions, cpu_s;
    double jct[4], wait[4], class_wait[CLASS_COUNT], makespan_s;
};

static bool same_line(const struct result *a, const struct result *b)
{
    return strcmp(a->trace, b->trace) == 0 && strcmp(a->policy, b->policy) == 0 &&
           strcmp(a->order, b->order) == 0;
}

static void line_add(struct line *line, const struct report_run *run)
{
    const struct result *r = &run->result;
    const int64_t jct[4] = {r->jct_mean_us, r->jct_p50_us, r->jct_p95_us, r->jct_p99_us};
    const int64_t wait[4] = {r->wait_mean_us, r->wait_p50_us, r->wait_p95_us, r->wait_p99_us};

    line->runs++;
    line->unallocated += (double)r->unallocated_ppm / 1e4;
    line->unallocated_95 += (double)r->unallocated_95_ppm / 1e4;
    line->allocated += (double)r->allocated_ppm / 1e4;
    line->fragmented += (double)r->fragmented_ppm / 1e4;
    line->failed += r->failed;
    line->waiting += r->waiting;
    line->finished += r->finished;
    line->preemptions += (double)r->preemptions;
    line->makespan_s += (double)r->makespan_us / 1e6;
    line->cpu_s += (double)run->cpu_us / 1e6;
    for (int i = 0; i < 4; i++) {
        line->jct[i] += (double)jct[i] / 1e6;
        line->wait[i] += (double)wait[i] / 1e6;
    }
    for (int i = 0; i < CLASS_COUNT; i++)
        line->class_wait[i] += (double)r->class_wait_us[i] / 1e6;
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
        const double n = l->runs;
        struct libscols_line *line = scols_table_new_line(table, NULL);
        size_t at = 0;

        put_text(line, &at, l->first->trace);
        put_text(line, &at, l->first->policy);
        put_number(line, &at, 0, n);
        put_number(line, &at, 3, l->unallocated / n);
        put_number(line, &at, 3, l->unallocated_95 / n);
        put_number(line, &at, 3, l->allocated / n);
        put_number(line, &at, 3, l->fragmented / n);
        put_number(line, &at, 1, l->failed / n);
        put_number(line, &at, 2, l->cpu_s / n);
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
        const double n = l->runs;
        struct libscols_line *line = scols_table_new_line(table, NULL);
        size_t at = 0;

        put_text(line, &at, l->first->trace);
        put_text(line, &at, l->first->policy);
        put_text(line, &at, l->first->order);
        put_number(line, &at, 0, n);
        put_number(line, &at, 2, l->allocated / n);
        put_number(line, &at, 0, l->finished / n);
        put_number(line, &at, 0, l->waiting / n);
        for (int k = 0; k < 4; k++)
            put_number(line, &at, 0, l->jct[k] / n);
        for (int k = 0; k < 4; k++)
            put_number(line, &at, 0, l->wait[k] / n);
        put_number(line, &at, 0, l->makespan_s / n);
        put_number(line, &at, 0, l->preemptions / n);
        put_number(line, &at, 2, l->fragmented / n);
        put_number(line, &at, 2, l->cpu_s / n);
    }
    print(table);
}

static void print_models(const struct result *r)
{
    static const char *const names[] = {"MODEL", "GPUS", "USED %", NULL};
    struct libscols_table *table = table_new(names, 1);

    for (uint32_t i = 0; i < r->model_count; i++) {
        struct libscols_line *line = scols_table_new_line(table, NULL);
        size_t at = 0;

        put_text(line, &at, r->models[i].model);
        put_number(line, &at, 0, (double)r->models[i].gpus);
        put_number(line, &at, 2, (double)r->models[i].used_ppm / 1e4);
    }
    printf("\nGPUs by model, last run (%s, %s, seed %" PRIu64 "):\n", r->policy, r->order, r->seed);
    print(table);
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
    if (count > 0 && runs[0].result.unallocated_ppm != UNKNOWN_PPM)
        print_fill(lines, n);
    else
        print_times(lines, n);
    if (count > 0)
        print_models(&runs[count - 1].result);
    printf("\npeak memory of the process: %.1f MiB\n", (double)peak_rss_bytes() / 1048576.0);
    free(lines);
}
