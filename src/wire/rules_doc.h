/* SPDX-License-Identifier: Apache-2.0 */
/* rules_doc.h - queues, classes and rules as people write them, inside a configuration.
 *
 *   queues:                      # parents before their children
 *     - name: vision
 *       parent: research         # the root unless stated
 *       order: fair              # of its jobs; "fair": its children by share; its parent's
 *       weight: 2                # of its part of what is beyond the guarantees; 1
 *       guarantee: {gpus: 4, gpu-memory: 320G, cpus: 32, memory: 1T}
 *       limit: {gpus: 8}         # what is not named has no bound
 *       borrow: {gpus: 2}
 *       lend: {gpus: 2}
 *       user-limit: {gpus: 0.5}
 *       user-jobs: 100           # unfinished ones of each user; 0 = no bound
 *       users: [ada, bob]        # who may submit; everybody
 *   classes:
 *     - name: low
 *       rank: 1                  # required; higher ranks go first
 *       takes-below: 0           # it may take from classes of a rank below this; 0 = from none
 *       preemptible: true        # false: its jobs never give way
 *       grace: 30s               # from being told to stop to being killed
 *       min-run: 0s              # its jobs do not give way before
 *       user-limit: {gpus: 4}    # of each user, over all queues
 *       users: [ada]             # who may use it; everybody
 *   levels:                      # of the network between nodes, coarse to fine
 *     - name: leaf               # and the key of the label that says where a node is
 *       bandwidth: 400G          # bits each second of one node to others of its domain; unknown
 *       uplink: 1.6T             # of a whole domain to others; unknown
 *   default-queue: vision        # of jobs that name none; without it they are refused
 *   default-class: low           # medium if there is one, else the first
 *   reservation-depth: 1         # or all; 0: who does not fit is passed by
 *   node-silent: 60s             # a node is lost when it was silent for so long
 *   share-half-life: 0s          # of what counts as used by a queue or user; 0 = only now */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "core/event.h"
#include "wire/fields.h"

#define RULES_FIELDS_COUNT 8

#define RESERVATION_DEPTH_DEFAULT 0
#define NODE_SILENT_DEFAULT_US    INT64_C(60000000)
#define GRACE_DEFAULT_US          INT64_C(30000000)
#define DURATION_US_MAX           (INT64_C(1) << 55) /* about 1,100 years */

struct rules_doc {
    const struct doc_node *queues, *classes, *levels, *reservation_depth;
    const char *default_queue, *default_class;
    int64_t silent_us, share_half_life_us;
};

/* Fields of struct rules_doc, for tables that have more: offsets are from its start. */
extern const struct field rules_fields[RULES_FIELDS_COUNT];

struct rules_doc rules_doc_default(void);
bool rules_doc_is_stated(const struct rules_doc *text); /* one field at least */

/* The rules as the core takes them; the order of the root is the caller's. Arrays live in the arena
 * of the doc. Two queues or classes of one name, and a parent that does not stand before its child,
 * are errors. */
int rules_doc_finish(const struct doc *doc, const struct rules_doc *text, struct rules_spec *out,
                     struct err *err);
