/* SPDX-License-Identifier: Apache-2.0 */
/* steady.h - arrivals of a cluster in a steady state. */
#pragma once
#include <stdint.h>

struct workload;
struct workload_options;

/* Jobs drawn uniformly with replacement; exponential gaps whose mean makes the asked GPU compute
 * times lifetime the load; lognormal lifetimes of mean STEADY_LIFETIME_US. */
void steady_make(struct workload *w, int64_t capacity_mgpu, const struct workload_options *options);
