/* SPDX-License-Identifier: Apache-2.0 */
/* layout.c - what a job of a trace asks the core for. */
#include "sim/layout.h"

static struct group_spec group_of(const struct trace_job *job, uint32_t tasks, uint32_t gpus)
{
    return (struct group_spec){
        .tasks = tasks,
        .cpu_mcpu = job->cpu_mcpu,
        .memory_bytes = job->memory_bytes,
        .gpus = gpus,
        .gpu_mgpu = gpus > 0 ? job->gpu_mgpu : 0,
        .gpu_memory_bytes = gpus > 0 ? job->gpu_memory_bytes : 0,
        .models = job->models,
        .model_count = job->model_count,
    };
}

/* What a user would call the job's kind. Openb and Muri name each job by a number of its own. */
static const char *kind_name(enum trace_format format, const struct trace_job *job)
{
    if (format == TRACE_POLLUX)
        return job->application;
    return format == TRACE_GENERIC ? job->name : "";
}

void job_request_make(enum trace_format format, const struct trace_job *job, uint64_t id,
                      uint32_t node_gpus, struct job_request *out)
{
    uint32_t count = 0;

    if (job->tasks > 0 || job->gpus <= node_gpus || node_gpus == 0) {
        out->groups[count++] = job->tasks > 0 ? group_of(job, job->tasks, job->task_gpus)
                                              : group_of(job, 1, job->gpus);
    } else {
        out->groups[count++] = group_of(job, job->gpus / node_gpus, node_gpus);
        if (job->gpus % node_gpus > 0)
            out->groups[count++] = group_of(job, 1, job->gpus % node_gpus);
    }
    out->layout = (struct job_layout_spec){out->groups, count, 1000000, 0};
    out->spec = (struct job_spec){
        .id = id,
        .queue = job->queue,
        .user = job->user,
        .name = kind_name(format, job),
        .class = job->class,
        .array = "",
        .grace_us = -1,
        .min_run_us = -1,
        .layouts = &out->layout,
        .layout_count = 1,
        .remaining_us = -1,
    };
}

void job_request_label(struct job_request *request, const char *const *label)
{
    for (uint32_t g = 0; g < request->layout.group_count; g++) {
        request->groups[g].labels = label;
        request->groups[g].label_count = label != NULL ? 1 : 0;
    }
}
