/* SPDX-License-Identifier: Apache-2.0 */
/* job_doc.h - one job as people write it: a map of a doc. All fields may be left out.
 *
 *   name: train-resnet
 *   queue: vision
 *   user: ada
 *   class: high             # the default class
 *   time-limit: 2h          # run time at most; none
 *   deadline: 5h            # none
 *   grace: 30s              # from being told to stop to being killed; that of its class
 *   min-run: 10m            # it does not give way before; that of its class
 *   min-tasks: 2            # it may run with so few of its tasks; all
 *   service: true           # it never ends by itself
 *   hold: true              # it waits until it is released
 *   preemptible: false      # it never gives way, whatever its class
 *   retries: 2              # starts again after a task of it failed; 0
 *   array: sweep            # jobs of one array,
 *   array-limit: 4          # of which at most so many run at a time; all
 *   after: [{job: 3, end: ok}]   # it waits for job 3 to end well; any, failed
 *   tasks: 4                # the fields of group_doc.h, for jobs whose tasks are all alike;
 *   gpus: 8
 *   groups:                 # or a list of groups, which start together
 *     - {tasks: 1, cpus: 4}
 *     - {tasks: 8, gpus: 1} */
#pragma once
#include <stdint.h>

#include "core/event.h"

struct doc;
struct doc_node;
struct err;

#define RETRIES_MAX 1000000

/* The fields of a job, for who reads more fields beside them. NULL from the last one on. */
const char *job_field_name(uint32_t i);

/* Arrays of *out live in the arena of the doc. Its id is 0, its one layout is as stated, and
 * remaining_us is unknown. */
int job_read(const struct doc *doc, const struct doc_node *map, struct job_spec *out,
             struct err *err);
