/* SPDX-License-Identifier: Apache-2.0 */
/* layout.h - what a job of a trace asks the core for. */
#pragma once
#include <stdint.h>

#include "core/event.h"
#include "wire/trace.h"

/* Room for one job's request; the spec points into it. */
struct job_request {
    struct group_spec groups[2];
    struct job_layout_spec layout;
    struct job_spec spec;
};

/* A trace that states only the total of GPUs gets the fewest nodes: tasks of node_gpus GPUs, and
 * one smaller task for the rest. node_gpus: of the largest node of the cluster. */
void job_request_make(enum trace_format format, const struct trace_job *job, uint64_t id,
                      uint32_t node_gpus, struct job_request *out);

/* Every task asks for this one label as well; it must live as long as the request. */
void job_request_label(struct job_request *request, const char *const *label);
