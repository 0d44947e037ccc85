/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - the results of simulations as a table, as JSON and as CSV. */
#pragma once
#include <stdint.h>

#include "sim/measure.h"

struct report_run {
    struct result result;
    int64_t cpu_us; /* of the whole run, reading the trace left out */
};

/* Tables for people: first the runs, mean over seeds of each (policy, order); then, for the last
 * run, the use of each GPU model, and of the first run that rejected jobs how many. */
void report_table(const struct report_run *runs, uint32_t count);

/* {"runs":[...],"peak_rss_bytes":N} - the names are documented in docs/sim.md and stay. */
void report_json(const struct report_run *runs, uint32_t count);

/* The same fields, a header line and a line a run. */
void report_csv(const struct report_run *runs, uint32_t count);

/* One run, as CSV with a row for each queue; `first` prints the names of the columns too. */
struct by_queue;
void report_queues(const struct result *result, const struct by_queue *queues, bool first);

int64_t peak_rss_bytes(void);
int64_t cpu_time_us(void); /* of this process so far */
