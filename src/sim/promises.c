/* SPDX-License-Identifier: Apache-2.0 */
/* promises.c - when jobs were told to start at the latest, and when they did. */
#include "sim/promises.h"

#include <stdbool.h>

#include "sim/run.h"

void promises_told(struct run *run, const struct decision *decision)
{
    struct run_job *j = &run->jobs[decision->job_id - 1];

    if (decision->at_us == TIME_NONE)
        return;
    if (j->promised_us < 0) {
        j->promised_us = decision->at_us;
        run->promises.jobs++;
    } else if (decision->at_us > j->bound_us) {
        j->slips++;
        run->promises.slips++;
        run->promises.slips_charged += decision->for_job != JOB_NONE;
    }
    j->bound_us = decision->at_us;
}

static bool is_larger(const struct largest *a, const struct largest *b)
{
    return a->gpus != b->gpus ? a->gpus > b->gpus : a->wait_us > b->wait_us;
}

static void put(struct promises *out, const struct largest *item)
{
    uint32_t at = out->largest_count;

    for (; at > 0 && is_larger(item, &out->largest[at - 1]); at--)
        if (at < LARGEST_MAX)
            out->largest[at] = out->largest[at - 1];
    if (at < LARGEST_MAX)
        out->largest[at] = *item;
    out->largest_count += out->largest_count < LARGEST_MAX;
}

void promises_result(const struct run *run, struct promises *out)
{
    *out = run->promises;
    for (uint32_t i = 0; i < run->workload.count; i++) {
        const struct run_job *j = &run->jobs[i];
        const struct largest item = {
            .gpus = (uint64_t)j->mgpu / 1000,
            .wait_us = j->first_start_us - j->submit_us,
            .promised_us = j->promised_us - j->submit_us,
            .bound_us = j->bound_us - j->submit_us,
            .slips = j->slips,
        };

        if (j->first_start_us < 0 || j->promised_us < 0)
            continue;
        out->late_jobs += j->first_start_us > j->promised_us;
        put(out, &item);
    }
}
