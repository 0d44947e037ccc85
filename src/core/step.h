/* SPDX-License-Identifier: Apache-2.0 */
/* step.h - the parts of a step that place jobs, one file each. */
#pragma once

struct core;
struct decisions;

/* fill.c: waiting jobs in order; each starts where it fits, or makes others give way. */
void step_fill(struct core *core, struct decisions *out);

/* grow.c: services that have fewer tasks than their minimum get what is missing; and, when all that
 * wait had their chance, jobs that could grow get more tasks, smallest key first. */
void step_mend(struct core *core, struct decisions *out);
void step_grow(struct core *core, struct decisions *out);

/* repack.c: all jobs in order, packed anew from an empty cluster. */
void step_repack(struct core *core, struct decisions *out);
