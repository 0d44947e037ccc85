/* SPDX-License-Identifier: Apache-2.0 */
/* protocol_pollux.c - the simulator of Pollux (Qiao et al., OSDI'21), with rigid jobs.
 *
 * Time goes in rounds of 60 s: jobs are admitted and placed at their ends; a job that ends inside a
 * round gives its GPUs back at the end of it. How long a job runs depends on how its GPUs are
 * spread over nodes (runtimes.csv beside the trace). Every start costs 30 s without progress. Who
 * runs is decided by the number of GPUs; who runs on keeps its GPUs.
 *
 * Tiresias, as published: two queues in line, limit 57,600 GPU-s; a job spills over the nodes with
 * the most free GPUs. That is: of all spreads the one with the largest parts that fits. Any other
 * order is given the table of run times as layouts, fastest first, and may move a running job to a
 * layout at least 5 % faster after 300 s. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/vec.h"
#include "core/view.h"
#include "policy/registry.h"
#include "sim/beside.h"
#include "sim/protocol.h"
#include "sim/run.h"
#include "wire/tables.h"

__extension__ typedef __int128 wide;

#define SECOND_US     1000000LL
#define ROUND_US      (60 * SECOND_US)
#define RESTART_US    (30 * SECOND_US)
#define MOVE_WAIT_US  (300 * SECOND_US)
#define MOVE_GAIN_PPM 50000
#define WHOLE_JOB     1000000000000LL /* work is counted in so many parts of a job */
#define PARTS_MAX     64u             /* nodes that one job is spread over */

struct pollux_job {
    int64_t left;       /* of WHOLE_JOB */
    int64_t runtime_us; /* of the whole job on its present spread */
    int64_t idle_us;    /* of the restart, still to come */
};

struct pollux {
    struct runtimes runtimes;
    struct pollux_job *jobs; /* [workload.count] */
    struct group_spec *groups;
    struct job_layout_spec *layouts;
    uint32_t group_cap, layout_cap;
    bool published;
    bool oracle;
    int64_t last_us;
};

static const int64_t tiresias_options[] = {1 /* in line */, 57600 * SECOND_US};

static int pollux_open(struct run *run, struct config *config, struct err *err)
{
    struct pollux *p = run->protocol_state;
    const struct order_policy *order = order_find(config->order);
    char path[4096];
    int rc;

    if (run->workload.trace->format != TRACE_POLLUX)
        return err_set(err, -EINVAL, "--protocol pollux: needs a pollux trace, '%s' is %s",
                       run->options->trace_path, trace_format_text(run->workload.trace->format));
    rc = path_beside(run->options->trace_path, "runtimes.csv", path, sizeof path, err);
    rc = rc < 0 ? rc : runtimes_load(path, &p->runtimes, err);
    p->jobs = mem_alloc(run->workload.count, sizeof *p->jobs);
    p->published = strcmp(config->order, "tiresias") == 0;
    p->oracle = order != NULL && order->oracle;
    config->repack = REPACK_KEEP;
    config->placement = p->published ? "worstfit" : "bestfit";
    if (p->published) {
        config->order_options = tiresias_options;
        config->order_option_count = sizeof tiresias_options / sizeof tiresias_options[0];
    } else {
        config->migrate_wait_us = MOVE_WAIT_US;
        config->migrate_gain_ppm = MOVE_GAIN_PPM;
    }
    return rc;
}

static void pollux_close(struct run *run)
{
    struct pollux *p = run->protocol_state;

    runtimes_done(&p->runtimes);
    mem_free(p->jobs);
    mem_free(p->groups);
    mem_free(p->layouts);
}

/* ---- layouts ---- */

static int compare_parts(const void *a, const void *b, void *arg)
{
    const struct runtime *x = *(const struct runtime *const *)a;
    const struct runtime *y = *(const struct runtime *const *)b;

    (void)arg;
    for (uint32_t i = 0; i < x->node_count && i < y->node_count; i++)
        if (x->gpus_per_node[i] != y->gpus_per_node[i])
            return x->gpus_per_node[i] > y->gpus_per_node[i] ? -1 : 1;
    return 0;
}

static int compare_runtime(const void *a, const void *b, void *arg)
{
    const struct runtime *x = *(const struct runtime *const *)a;
    const struct runtime *y = *(const struct runtime *const *)b;

    (void)arg;
    return x->runtime_us < y->runtime_us ? -1 : x->runtime_us > y->runtime_us;
}

/* The parts of a spread as groups of equal tasks. Returns how many. */
static uint32_t spread_groups(const struct runtime *spread, struct group_spec *out)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < spread->node_count; i++) {
        if (count > 0 && out[count - 1].gpus == spread->gpus_per_node[i]) {
            out[count - 1].tasks++;
            continue;
        }
        out[count++] =
            (struct group_spec){.tasks = 1, .gpus = spread->gpus_per_node[i], .gpu_mgpu = GPU_MGPU};
    }
    return count;
}

/* The request lives until the next one is made; the core copies it. */
static void fill_layouts(struct pollux *p, const struct runtime **spreads, uint32_t count,
                         struct job_request *out)
{
    struct group_spec *next;

    vec_reserve(p->layouts, p->layout_cap, count);
    vec_reserve(p->groups, p->group_cap, count * PARTS_MAX);
    next = p->groups;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t groups = spread_groups(spreads[i], next);

        p->layouts[i] = (struct job_layout_spec){
            .groups = next,
            .group_count = groups,
            .apart = 1,
            .slowdown_ppm = p->published ? 1000000
                                         : (uint32_t)(spreads[i]->runtime_us * 1000000 /
                                                      spreads[0]->runtime_us),
        };
        next += groups;
    }
    out->spec.layouts = p->layouts;
    out->spec.layout_count = count;
}

static const struct runtime *rows_of(const struct pollux *p, const struct trace_job *row,
                                     uint32_t *out_count)
{
    return runtimes_find(&p->runtimes, row->application, row->gpus, row->batch_size, out_count);
}

static int64_t best_runtime_us(const struct pollux *p, const struct trace_job *row)
{
    int64_t best_us = INT64_MAX;
    uint32_t count;
    const struct runtime *rows = rows_of(p, row, &count);

    for (uint32_t i = 0; i < count; i++)
        best_us = rows[i].runtime_us < best_us ? rows[i].runtime_us : best_us;
    return best_us;
}

static int pollux_shape_job(struct run *run, uint32_t job, struct job_request *out, struct err *err)
{
    struct pollux *p = run->protocol_state;
    const struct trace_job *row = run->jobs[job].row;
    const struct runtime *spreads[GANG_LAYOUTS_MAX];
    uint32_t count;
    const struct runtime *rows = rows_of(p, row, &count);

    if (count == 0 || count > GANG_LAYOUTS_MAX)
        return err_set(err, -EINVAL,
                       "job %u: runtimes.csv has %u rows for %s, %u replicas, batch "
                       "%u; must be 1 to %u",
                       job + 1, count, row->application, row->gpus, row->batch_size,
                       GANG_LAYOUTS_MAX);
    for (uint32_t i = 0; i < count; i++)
        spreads[i] = &rows[i];
    sort_stable(spreads, count, sizeof *spreads, p->published ? compare_parts : compare_runtime,
                NULL);
    fill_layouts(p, spreads, count, out);
    p->jobs[job].left = WHOLE_JOB;
    run->jobs[job].duration_us = run->jobs[job].left_us = best_runtime_us(p, row);
    out->spec.remaining_us = run->jobs[job].left_us;
    return 0;
}

/* ---- progress ---- */

/* GPUs on each node that the job really has, largest first. Returns how many nodes. */
static uint32_t spread_of(const struct core *core, const struct job *row, uint32_t *gpus)
{
    uint32_t nodes[PARTS_MAX], count = 0;

    for (uint32_t i = 0; i < row->task_count; i++) {
        const struct task *task = core_task(core, row->task_first + i);
        uint32_t at = 0;

        if (task->left)
            continue;
        while (at < count && nodes[at] != task->node)
            at++;
        if (at == count) {
            nodes[count] = task->node;
            gpus[count++] = 0;
        }
        gpus[at] += (uint32_t)__builtin_popcountll(task->gpu_mask);
    }
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t k = i; k > 0 && gpus[k] > gpus[k - 1]; k--) {
            const uint32_t swap = gpus[k];

            gpus[k] = gpus[k - 1];
            gpus[k - 1] = swap;
        }
    return count;
}

static void pollux_started(struct run *run, uint32_t job)
{
    struct pollux *p = run->protocol_state;
    const struct core *core = run->world.core;
    const struct job *row = core_job(core, core_find_job(core, (uint64_t)job + 1));
    uint32_t gpus[PARTS_MAX], count;
    const uint32_t parts = spread_of(core, row, gpus);
    const struct runtime *rows = rows_of(p, run->jobs[job].row, &count);

    p->jobs[job].idle_us = RESTART_US;
    p->jobs[job].runtime_us = best_runtime_us(p, run->jobs[job].row);
    for (uint32_t i = 0; i < count; i++)
        if (rows[i].node_count == parts &&
            memcmp(rows[i].gpus_per_node, gpus, parts * sizeof *gpus) == 0)
            p->jobs[job].runtime_us = rows[i].runtime_us;
}

/* One round of one job; the time of its end, or -1. Whole seconds, as published. */
static int64_t run_round(struct pollux_job *j, int64_t from_us)
{
    const int64_t idle_us = j->idle_us < ROUND_US ? j->idle_us : ROUND_US;
    const int64_t seconds = (ROUND_US - idle_us) / SECOND_US;
    const int64_t runtime_s = j->runtime_us / SECOND_US;
    const int64_t need_s = (int64_t)((wide)j->left * runtime_s / WHOLE_JOB);

    j->idle_us -= idle_us;
    if (need_s <= seconds)
        return from_us + idle_us + need_s * SECOND_US;
    j->left -= seconds * (WHOLE_JOB / runtime_s);
    return -1;
}

static int pollux_advance(struct run *run, int64_t now_us, struct err *err)
{
    struct pollux *p = run->protocol_state;

    for (uint32_t job = 0; now_us > p->last_us && job < run->next_arrival; job++) {
        struct run_job *j = &run->jobs[job];
        int64_t end_us;
        int rc = 0;

        if (j->state != RUN_RUNNING)
            continue;
        end_us = run_round(&p->jobs[job], now_us - ROUND_US);
        j->left_us = (int64_t)((wide)p->jobs[job].left * best_runtime_us(p, j->row) / WHOLE_JOB);
        if (end_us >= 0)
            rc = run_end_job(run, job, end_us, err);
        else if (p->oracle)
            rc = run_tell_remaining(run, job, j->left_us, err);
        if (rc < 0)
            return rc;
    }
    p->last_us = now_us;
    return 0;
}

static int64_t pollux_next_us(struct run *run)
{
    const struct pollux *p = run->protocol_state;

    for (uint32_t job = 0; job < run->next_arrival; job++)
        if (run->jobs[job].state == RUN_RUNNING)
            return p->last_us + ROUND_US;
    return TIME_NONE;
}

static int64_t pollux_round_up_us(struct run *run, int64_t t_us)
{
    (void)run;
    if (t_us > TIME_NONE - ROUND_US)
        return TIME_NONE;
    return t_us <= ROUND_US ? ROUND_US : (t_us + ROUND_US - 1) / ROUND_US * ROUND_US;
}

const struct protocol protocol_pollux = {
    .name = "pollux",
    .summary = "as the simulator of Pollux (OSDI'21) does; pollux traces only",
    .state_size = sizeof(struct pollux),
    .open = pollux_open,
    .close = pollux_close,
    .shape_job = pollux_shape_job,
    .next_us = pollux_next_us,
    .advance = pollux_advance,
    .started = pollux_started,
    .round_up_us = pollux_round_up_us,
};
