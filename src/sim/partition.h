/* SPDX-License-Identifier: Apache-2.0 */
/* partition.h - each queue of a trace alone on nodes of its own.
 *
 * The nodes of a queue carry the label "queue=NAME", and its jobs ask for that label. A queue gets
 * a part of the nodes that a table (vc,nodes_8gpu) gives it, rounded to the nearest, but enough for
 * its largest gang, and at least one; queues that the table does not name get that too. */
#pragma once
#include <stdint.h>

#include "wire/cluster.h"

struct err;
struct trace;

#define PARTITION_NODE_GPUS 8u

/* The label by which jobs of this queue are kept on its nodes; the trace's own text lives on. */
struct partition {
    struct cluster cluster; /* the nodes of all queues */
    const char **queues;    /* [queue_count] texts of the trace */
    const char **labels;    /* [queue_count] "queue=NAME" */
    uint32_t queue_count, queue_cap, label_cap;
};

int partition_make(struct partition *p, const char *vc_path, uint32_t share_pct,
                   const struct trace *trace, struct err *err);
void partition_done(struct partition *p);

/* The label of a queue, or NULL. */
const char *const *partition_label(const struct partition *p, const char *queue);
