/* SPDX-License-Identifier: Apache-2.0 */
/* health.h - nodes that are silent, blink, or are drained; GPUs on which nothing starts.
 *
 * A node that is not heard gets no new work at once, and is lost when that has lasted: its tasks
 * are told to stop, should the node hear it, and count as lost. It stays known. When it is
 * heard, what was started there may still run, so it gets new work only after it has listed its
 * tasks, and none of them is a stray. One that was silent too often gets no new work until it has
 * been calm. What a person drained only a person gives back. In all of this what runs on a node
 * stays, until it is lost. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct core;
struct decisions;
struct task;

/* Something of the node is due: it has been silent, or calm, for long enough. */
void node_overdue(struct core *core, uint32_t node, struct decisions *out);

/* It has listed what runs there, and nothing does that should not. */
void node_is_clean(struct core *core, uint32_t node);

/* The task failed before it had started, on the GPUs that it was given. True if that was once too
 * often for one of them: it gets no new work until it is said to be healthy, and is at fault. */
bool gpus_failed_to_start(struct core *core, const struct task *task);

/* The GPU is said to be healthy: nothing of that is held against it any more. */
void gpu_is_healthy(struct core *core, uint32_t node, uint32_t gpu);
