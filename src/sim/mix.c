/* SPDX-License-Identifier: Apache-2.0 */
/* mix.c - the shapes of a trace with their counts. */
#include "sim/mix.h"

#include <string.h>

#include "base/digest.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "sim/layout.h"
#include "wire/trace.h"

static bool same_models(const struct group_spec *a, const struct group_spec *b)
{
    if (a->model_count != b->model_count)
        return false;
    for (uint32_t i = 0; i < a->model_count; i++)
        if (strcmp(a->models[i], b->models[i]) != 0)
            return false;
    return true;
}

static bool same_group(const struct group_spec *a, const struct group_spec *b)
{
    return a->cpu_mcpu == b->cpu_mcpu && a->memory_bytes == b->memory_bytes && a->gpus == b->gpus &&
           a->gpu_mgpu == b->gpu_mgpu && a->gpu_memory_bytes == b->gpu_memory_bytes &&
           same_models(a, b);
}

static uint64_t key_of(const struct group_spec *group, uint64_t salt)
{
    struct digest d;

    digest_init(&d);
    digest_u64(&d, salt);
    digest_i64(&d, group->cpu_mcpu);
    digest_i64(&d, group->memory_bytes);
    digest_u32(&d, group->gpus);
    digest_u32(&d, group->gpu_mgpu);
    digest_i64(&d, group->gpu_memory_bytes);
    for (uint32_t i = 0; i < group->model_count; i++)
        digest_text(&d, group->models[i]);
    return digest_value(&d);
}

static void mix_add(struct mix *mix, struct map *rows, const struct group_spec *group)
{
    uint64_t salt = 0;
    uint32_t row;

    for (; map_find(rows, key_of(group, salt), &row); salt++)
        if (same_group(&mix->groups[row], group)) {
            mix->groups[row].tasks += group->tasks;
            return;
        }
    map_put(rows, key_of(group, salt), mix->count);
    vec_push(mix->groups, mix->count, mix->cap, *group);
}

void mix_make(struct mix *mix, const struct trace *trace)
{
    struct map rows;

    memset(mix, 0, sizeof *mix);
    map_init(&rows);
    for (uint32_t i = 0; i < trace->job_count; i++) {
        struct job_request request;

        job_request_make(trace->format, &trace->jobs[i], 1, NODE_GPUS_MAX, &request);
        for (uint32_t g = 0; g < request.layout.group_count; g++)
            mix_add(mix, &rows, &request.groups[g]);
    }
    map_done(&rows);
}

void mix_done(struct mix *mix)
{
    mem_free(mix->groups);
    memset(mix, 0, sizeof *mix);
}
