/* SPDX-License-Identifier: Apache-2.0 */
#include "base/check.h"
#include "base/err.h"
#include "fuzz/fuzz.h"
#include "wire/job_file.h"

static void check_group(const struct group_spec *group)
{
    check(group->tasks >= 1 && group->tasks <= JOB_TASKS_MAX);
    check(group->gpus <= NODE_GPUS_MAX && group->gpu_mgpu <= GPU_MGPU);
    check(group->gpus > 0 || (group->gpu_mgpu == 0 && group->gpu_memory_bytes == 0));
    check(group->cpu_mcpu >= 0 && group->cpu_mcpu <= CPU_MCPU_MAX);
    check(group->memory_bytes >= 0 && group->memory_bytes <= MEMORY_BYTES_MAX);
    check(group->model_count <= SELECTOR_TERMS_MAX && group->label_count <= SELECTOR_TERMS_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static const char *const names[] = {"fuzz.yaml", "fuzz.json"};
    struct job_file file;
    struct err err;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (job_file_parse(names[i], bytes, count, &file, &err) < 0)
            continue;
        check(file.job_count > 0);
        for (uint32_t k = 0; k < file.job_count; k++) {
            const struct job_layout_spec *layout = file.jobs[k].layouts;

            check(file.jobs[k].layout_count == 1 && layout->group_count <= GANG_GROUPS_MAX);
            for (uint32_t g = 0; g < layout->group_count; g++)
                check_group(&layout->groups[g]);
        }
        job_file_done(&file);
    }
    return 0;
}
