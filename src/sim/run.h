/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - one simulation: the jobs of a workload, the core that schedules them, what is measured.
 *
 * A protocol (protocol.h) says how jobs make progress and when they end; everything is placed
 * through core_apply and core_step. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/heap.h"
#include "sim/layout.h"
#include "sim/measure.h"
#include "sim/workload.h"
#include "sim/world.h"

struct config_file;
struct explain_at;
struct partition;
struct protocol;

enum run_state { RUN_COMING, RUN_WAITING, RUN_RUNNING, RUN_ENDED, RUN_DROPPED };

/* Job i of a run has the core's job id i + 1. */
struct run_job {
    const struct trace_job *row;
    enum run_state state;
    uint32_t starts;
    uint32_t layout; /* index in its list of layouts */
    int64_t submit_us;
    int64_t first_start_us; /* -1 until then */
    int64_t promised_us;    /* the first start that its reservation said; -1 = none */
    int64_t bound_us;       /* and the last one */
    uint32_t slips;         /* how often it was told a later one */
    int64_t start_us;       /* of this run */
    int64_t end_us;         /* ENDED, DROPPED */
    bool rejected;          /* DROPPED: not cancelled */
    int64_t duration_us;    /* on the fastest layout; -1 = never leaves */
    int64_t left_us;        /* of duration_us, when it last stopped */
    int64_t mgpu;           /* GPU compute of the whole job */
    int64_t left_milli;     /* for the protocol: work left in units of its own, thousandths */
    int64_t attained_us;    /* for the protocol */
};

/* Why a job was rejected. */
struct run_why {
    uint64_t job_id;
    char *text; /* owned */
};

struct run {
    const struct run_options *options;
    const struct cluster *cluster;
    const struct protocol *protocol;
    const char *placement; /* the one that was used */
    void *protocol_state;  /* [protocol->state_size] */
    struct workload workload;
    struct world world;
    struct run_job *jobs; /* [workload.count] */
    struct heap ends;     /* running jobs by the time they end, for protocols that know it */
    uint32_t next_arrival;
    uint32_t node_gpus; /* of the largest node */
    uint32_t left;      /* jobs that have not ended */
    int64_t now_us;
    struct measure measure;
    struct promises promises;
    struct run_why *whys; /* [why_count] in the order of rejection: all where somebody asks, else
                             the first */
    uint32_t why_count, why_cap;
};

struct run_options {
    const char *trace_path; /* protocols find their side tables beside it */
    const char *placement, *order;
    const char *events;         /* file to record, or NULL */
    uint32_t reservation_depth; /* how many waiting jobs have a reservation;
                                   rules->reservation_depth is of no account */
    const struct protocol *protocol;
    struct workload_options workload;
    int64_t restart_cost_us;
    int64_t checkpoint_every_us; /* work since the last checkpoint is lost; 0 = nothing is lost */
    const struct rules_spec *rules;    /* queues, classes and rules, or NULL */
    const struct config_file *config;  /* that says them, for what is refused of them; or NULL */
    struct by_queue *by_queue;         /* what is to be known of each queue, or NULL */
    const struct partition *partition; /* jobs stay on their queue's nodes, or NULL */
    struct explain_at *explain;        /* stop at its time, and explain; or NULL */
    bool mix_from_trace;
    bool check_all;
    void (*progress)(void *arg, uint32_t done, uint32_t total); /* or NULL */
    void *progress_arg;
};

/* Runs it to the end. 0, and *out needs result_done(); or a negative errno with err set. */
int run_simulation(const struct run_options *options, const struct trace *trace,
                   const struct cluster *cluster, struct result *out, struct err *err);

#define RUN_NUMBER_BYTES 24

/* Its name in the trace, or else its number there, which is written into `number`. */
const char *run_job_name(const struct run *run, uint32_t job, char number[RUN_NUMBER_BYTES]);

/* ---- for protocols ---- */

/* The job has ended, at that time (not after now). */
int run_end_job(struct run *run, uint32_t job, int64_t at_us, struct err *err);

/* For a job that waits: could no node of the cluster hold a task of it, even empty? */
bool run_job_never(const struct run *run, uint32_t job);

/* An oracle's word on what is left of the job. */
int run_tell_remaining(struct run *run, uint32_t job, int64_t remaining_us, struct err *err);
