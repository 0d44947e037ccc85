/* SPDX-License-Identifier: Apache-2.0 */
/* split.h - GPUs are split anew: idle instances are taken away for a job that waits.
 *
 * That is the last thing that a step does for a job that finds no room: it is placed as if idle
 * instances were not there, on GPUs of which the price (mig_price.h) allows it now. If that works,
 * the job claims these places (claim.h), and each GPU on which instances are in their way is to be
 * repartitioned: a decision that a driver settles by saying what the device has then. Until that is
 * heard the GPU takes nobody. Instances that tasks hold are never touched, nor those that are in
 * nobody's way. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct core;
struct decisions;

/* For each bucket of waiting jobs, the first: higher classes first, then earlier ones. Nothing
 * where no GPU may be split; else O(buckets that wait), and a placement and O(GPUs that may be
 * split) for those that may have news. */
void step_split(struct core *core, struct decisions *out);

/* When that may come to more though nothing happens; TIME_NONE. Of the last step. */
int64_t split_wake_us(const struct core *core);

/* What is decided for this GPU has come true: for rehearsals. */
void split_is_done(struct core *core, uint32_t node, uint32_t gpu);

/* Is a GPU of the claim of this job being split? O(tasks) */
bool split_awaited(const struct core *core, uint32_t job);
