/* SPDX-License-Identifier: Apache-2.0 */
/* fragment.h - free GPU compute that typical tasks of a trace cannot use. */
#pragma once
#include <stdint.h>

struct core;
struct trace;

/* F of FGD (USENIX ATC'23), in mGPU: over the shapes of the trace, weighted by how often they
 * occur, the free compute of each node that the shape cannot use: all of it where the task does
 * not fit or wants no GPU, else the GPUs with too little left. Cost: O(states * shapes). */
int64_t fragmented_mgpu(const struct core *core, const struct trace *trace);
