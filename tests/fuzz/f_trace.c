/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "fuzz/fuzz.h"
#include "wire/trace.h"

static void check_job(const struct trace_job *job, uint32_t index)
{
    check(job->id == (uint64_t)index + 1);
    check(job->submit_us >= 0 && job->submit_us <= TRACE_TIME_US_MAX);
    check(job->duration_us >= -1 && job->duration_us <= TRACE_TIME_US_MAX);
    check(job->gpus <= TRACE_JOB_GPUS_MAX && job->task_gpus <= NODE_GPUS_MAX);
    check(job->tasks == 0 || job->gpus == job->tasks * job->task_gpus);
    check(job->gpu_mgpu <= GPU_MGPU);
    check(job->gpus > 0 || job->gpu_mgpu == 0);
    check(job->cpu_mcpu >= 0 && job->memory_bytes >= 0 && job->gpu_memory_bytes >= 0);
    check(job->queue && job->user && job->class && job->name && job->model_name &&
          job->application);
    check(job->model_count <= SELECTOR_TERMS_MAX);
    for (uint32_t i = 0; i < job->model_count; i++)
        check(strlen(job->models[i]) > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static const char *const picks[] = {NULL, "a", "0.5/1"};
    struct trace trace;
    struct err err;

    for (size_t i = 0; i < sizeof picks / sizeof *picks; i++) {
        if (trace_parse("fuzz.csv", picks[i], bytes, count, &trace, &err) < 0)
            continue;
        check(trace.job_count > 0);
        for (uint32_t k = 0; k < trace.job_count; k++)
            check_job(&trace.jobs[k], k);
        trace_done(&trace);
    }
    return 0;
}
