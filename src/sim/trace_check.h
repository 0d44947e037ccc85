/* SPDX-License-Identifier: Apache-2.0 */
/* trace_check.h - what the jobs of a trace name must be there in the configuration of the run. */
#pragma once

struct err;
struct rules_spec;
struct trace;

/* rules: NULL = none. Without queues there all jobs stand in one, whatever they call it; without
 * classes there are high, medium and low. 0, or a negative errno: the first row that names a queue
 * which is not there, or from which others hang, or none where there is no default one; else the
 * first with a class that is not there. O(jobs + queues + classes) */
int trace_check(const struct trace *trace, const struct rules_spec *rules, struct err *err);
