/* SPDX-License-Identifier: Apache-2.0 */
/* step.h - the parts of a step that place jobs, one file each. */
#pragma once

struct core;
struct decisions;

/* fill.c: waiting jobs in order; each starts where it fits, or makes others give way. */
void step_fill(struct core *core, struct decisions *out);

/* repack.c: all jobs in order, packed anew from an empty cluster. */
void step_repack(struct core *core, struct decisions *out);
