/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h - one call for each kind of event; apply.c chooses. All check everything first and
 * change nothing when they return an error. Errors as in core_apply(). */
#pragma once
#include <stdint.h>

#include "core/event.h"

struct core;
struct err;

/* The row of the node of this name; -ENOENT. */
int node_find(const struct core *core, const char *name, uint32_t *out, struct err *err);

int fact_node_upserted(struct core *core, const struct node_spec *spec, struct err *err);
int fact_node_removed(struct core *core, const char *name, struct err *err);
int fact_gpu_health(struct core *core, const struct event *event, struct err *err);
int fact_node_health(struct core *core, const struct event *event, struct err *err);
int fact_node_listed(struct core *core, const struct event *event, struct err *err);
int fact_job_submitted(struct core *core, const struct job_spec *spec, struct err *err);
int fact_job_held(struct core *core, uint64_t job_id, struct err *err);
int fact_job_released(struct core *core, uint64_t job_id, struct err *err);
int fact_job_cancelled(struct core *core, uint64_t job_id, struct err *err);
int fact_task_started(struct core *core, const struct event *event, struct err *err);
int fact_task_exited(struct core *core, const struct event *event, struct err *err);
int fact_task_lost(struct core *core, const struct event *event, struct err *err);
int fact_gpu_split(struct core *core, const struct event *event, struct err *err);
int fact_instance_failed(struct core *core, const struct event *event, struct err *err);
int fact_config_changed(struct core *core, const struct rules_spec *spec, struct err *err);
int fact_job_checkpoint(struct core *core, const struct event *event, struct err *err);
int fact_job_progress(struct core *core, const struct event *event, struct err *err);
