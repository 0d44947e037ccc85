/* SPDX-License-Identifier: Apache-2.0 */
/* due.h - when a job or a node needs the core though nothing happens.
 *
 * Each of them is in one heap at most once, at the first time at which something of it is due. That
 * time follows from its facts: whoever changes one of those says so with due_job() or due_node(),
 * O(log what is due). So nothing in the heap is stale, and it is in no digest and no snapshot.
 *
 * Of a job: its time limit; when it should be gone (ends.h); the end of its min_run_us, when it may
 * give way; the time at which tasks that were told to stop should be long gone; and when it may
 * make others give way again. Of a node: when
 * it is lost, since nothing was heard of it; and when it has been calm for long enough after being
 * silent too often. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/heap.h"

struct core;

/* The row's facts have changed, or the row is gone. */
void due_job(struct core *core, uint32_t job);
void due_node(struct core *core, uint32_t node);

/* The first time, TIME_NONE if there is none. */
int64_t due_next_us(const struct core *core);

/* Takes out the first that is due by now: one of *out_job and *out_node is its row, the other is
 * ROW_NONE. False when there is no more. What is done about it must end with due_job() or
 * due_node(). */
bool due_pop(struct core *core, uint32_t *out_job, uint32_t *out_node);

/* Is each row in the heap where its facts say? For rules.c. O(jobs + nodes). */
bool due_is_right(const struct core *core);
