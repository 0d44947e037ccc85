/* SPDX-License-Identifier: Apache-2.0 */
/* scenario.h - plays a scenario: the same core as everywhere, and nodes that behave as the file
 * says. The log of the run is what it is compared by; docs/scenario.md says what is in it. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "wire/scn.h"

struct err;
struct explain_at;
struct world_watch;

#define SCENARIO_LOG_BYTES_MAX ((size_t)64 << 20)

struct scenario_result {
    struct text log; /* lines, each with its newline */
    uint32_t log_lines;
    uint64_t digest;
    struct text broken;  /* lines that say what does not hold: rules, claims; empty = all holds */
    struct text refused; /* the lines of the log that say what the core refused */
};

struct scenario_options {
    bool restart_each_step;          /* the core is taken from a copy after every step */
    const char *events;              /* a file for `berth replay`, or NULL */
    struct explain_at *explain;      /* stop at its time, and explain; or NULL */
    const struct world_watch *watch; /* looks on, or NULL */
};

/* One run. 0 and *out filled, also when something does not hold; or a negative errno: the core does
 * not take the cluster or the configuration. */
int scenario_run(const struct scn *scn, const struct scenario_options *options,
                 struct scenario_result *out, struct err *err);

/* The run, twice: that both are alike, and each claim, shows in out->broken. */
int scenario_check(const struct scn *scn, const char *events, struct scenario_result *out,
                   struct err *err);

void scenario_result_done(struct scenario_result *result);
