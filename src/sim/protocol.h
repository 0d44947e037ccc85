/* SPDX-License-Identifier: Apache-2.0 */
/* protocol.h - how jobs make progress in a simulation, and when they end.
 *
 * Published simulators each have their own ways (overheads charged at odd times, rounds); each way
 * is one file protocol_NAME.c with one table, and nothing outside it knows. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "core/event.h"

struct cluster;
struct config;
struct decision;
struct err;
struct job_request;
struct run;

struct protocol {
    const char *name;
    const char *summary;
    size_t state_size;

    /* Once before the run: read side tables, and change the core's configuration if the published
     * simulator decides in another way (config->order names the order). May be NULL. */
    int (*open)(struct run *run, struct config *config, struct err *err);
    void (*close)(struct run *run);

    /* Change the nodes before they are told to the core. May be NULL. */
    void (*shape_node)(struct run *run, struct node_spec *node);

    /* Make the request of a job other than layout.h does; `out` holds what that did. May be NULL.
     * What it points to must live as long as the run. */
    int (*shape_job)(struct run *run, uint32_t job, struct job_request *out, struct err *err);

    /* When something happens next by itself, not before now; TIME_NONE for nothing. */
    int64_t (*next_us)(struct run *run);

    /* The clock has moved to now_us: account for progress, call run_end_job() for each job that
     * ended. Called before arrivals at that time are told to the core. */
    int (*advance)(struct run *run, int64_t now_us, struct err *err);

    /* Called after every step that changed something, for each job that started or stopped. */
    void (*started)(struct run *run, uint32_t job);
    void (*stopped)(struct run *run, uint32_t job);

    /* Arrivals and steps happen only at these times: the first one not before t. NULL: at any. */
    int64_t (*round_up_us)(struct run *run, int64_t t_us);
};

/* By name, or NULL. */
const struct protocol *protocol_find(const char *name);
const struct protocol *protocol_at(uint32_t index);

extern const struct protocol protocol_none, protocol_muri, protocol_pollux;
