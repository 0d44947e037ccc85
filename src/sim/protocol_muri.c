/* SPDX-License-Identifier: Apache-2.0 */
/* protocol_muri.c - the simulator of Muri (Zhao et al., SIGCOMM'22), quirks included.
 *
 * A job's run time is iterations x iteration time x 1.015; its duration column is unused. Things
 * happen at arrivals, ends and, for Tiresias, changes of queue. At each, every job that runs loses
 * its overhead (restart_overhead_s.csv beside the trace, by GPUs and model) once, whether or not it
 * was interrupted: what is left shrinks by max(time passed - overhead, 0). A job ends when the
 * event before said it would. Then all jobs are placed anew from an empty cluster, on the first
 * node with room; Tiresias counts GPUs only, so for it the cluster is one node of all GPUs. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "core/view.h"
#include "policy/registry.h"
#include "sim/beside.h"
#include "sim/protocol.h"
#include "sim/run.h"
#include "wire/tables.h"

__extension__ typedef __int128 wide;

#define TIRESIAS_RUNNING_FIRST 0
#define SECOND_US              1000000LL

struct muri {
    struct restart_costs costs;
    bool one_node; /* Tiresias */
    bool has_node; /* the one node was told */
    bool oracle;
    int64_t last_us; /* of the last event */
};

/* Queue limits in GPU-seconds as published. */
static const int64_t tiresias_options[] = {TIRESIAS_RUNNING_FIRST, 3250 * SECOND_US,
                                           7200 * SECOND_US};

static int muri_open(struct run *run, struct config *config, struct err *err)
{
    struct muri *m = run->protocol_state;
    const struct order_policy *order = order_find(config->order);
    char path[4096];
    int rc = 0;

    if (run->workload.trace->format != TRACE_MURI)
        return err_set(err, -EINVAL, "--protocol muri: needs a muri trace, '%s' is %s",
                       run->options->trace_path, trace_format_text(run->workload.trace->format));
    rc = path_beside(run->options->trace_path, "restart_overhead_s.csv", path, sizeof path, err);
    rc = rc < 0 ? rc : restart_costs_load(path, &m->costs, err);
    m->one_node = strcmp(config->order, "tiresias") == 0;
    m->oracle = order != NULL && order->oracle;
    config->placement = "firstfit";
    config->repack = REPACK_ANEW;
    if (m->one_node) {
        config->order_options = tiresias_options;
        config->order_option_count = sizeof tiresias_options / sizeof tiresias_options[0];
    }
    return rc;
}

static void muri_close(struct run *run)
{
    restart_costs_done(&((struct muri *)run->protocol_state)->costs);
}

static void muri_shape_node(struct run *run, struct node_spec *node)
{
    struct muri *m = run->protocol_state;

    node->cpu_mcpu = CPU_MCPU_MAX; /* they never bind */
    node->memory_bytes = MEMORY_BYTES_MAX;
    if (!m->one_node)
        return;
    node->gpus = m->has_node                                ? 0
                 : run->cluster->gpu_count <= NODE_GPUS_MAX ? (uint32_t)run->cluster->gpu_count
                                                            : NODE_GPUS_MAX;
    m->has_node = true;
}

static int64_t overhead_us(const struct run *run, uint32_t job)
{
    const struct muri *m = run->protocol_state;
    const struct trace_job *row = run->jobs[job].row;
    const int64_t cost_us = restart_costs_find_us(&m->costs, row->gpus, row->model_name);

    return cost_us > 0 ? cost_us : 0;
}

static int muri_shape_job(struct run *run, uint32_t job, struct job_request *out, struct err *err)
{
    struct run_job *j = &run->jobs[job];
    const wide run_us = (wide)j->row->iterations * j->row->iteration_time_us * 1015 / 1000;

    if (run_us > TRACE_TIME_US_MAX)
        return err_set(err, -ERANGE, "job %u: runs too long", job + 1);
    j->duration_us = j->left_us = (int64_t)run_us;
    out->spec.remaining_us = j->left_us;
    return 0;
}

static int64_t muri_next_us(struct run *run)
{
    const struct muri *m = run->protocol_state;
    int64_t next_us = TIME_NONE;

    for (uint32_t job = 0; job < run->next_arrival; job++)
        if (run->jobs[job].state == RUN_RUNNING && m->last_us + run->jobs[job].left_us < next_us)
            next_us = m->last_us + run->jobs[job].left_us;
    return next_us;
}

static int muri_advance(struct run *run, int64_t now_us, struct err *err)
{
    struct muri *m = run->protocol_state;
    const int64_t passed_us = now_us - m->last_us;

    for (uint32_t job = 0; job < run->next_arrival; job++) {
        struct run_job *j = &run->jobs[job];
        const int64_t done_us = passed_us - overhead_us(run, job);
        int rc = 0;

        if (j->state != RUN_RUNNING)
            continue;
        if (j->left_us <= passed_us) {
            rc = run_end_job(run, job, now_us, err);
        } else {
            j->left_us -= done_us > 0 ? done_us : 0;
            if (m->oracle)
                rc = run_tell_remaining(run, job, j->left_us, err);
        }
        if (rc < 0)
            return rc;
    }
    m->last_us = now_us;
    return 0;
}

const struct protocol protocol_muri = {
    .name = "muri",
    .summary = "as the simulator of Muri (SIGCOMM'22) does; muri traces only",
    .state_size = sizeof(struct muri),
    .open = muri_open,
    .close = muri_close,
    .shape_node = muri_shape_node,
    .shape_job = muri_shape_job,
    .next_us = muri_next_us,
    .advance = muri_advance,
};
