/* SPDX-License-Identifier: Apache-2.0 */
/* model.h - what must be so, kept from facts and decisions alone: simple, slow, and written without
 * a look at how the core does it. A new kind of fact is one function in model.c.
 *
 * Texts and lists of the facts are borrowed: they live as long as the scenario that is played. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "core/core.h"

enum m_state {
    M_UNKNOWN, /* not submitted, or refused */
    M_WAITS,
    M_HOLDS, /* starting or running */
    M_STOPS, /* told to stop, still holding */
    M_OVER,
};

struct m_task {
    uint32_t node; /* of model.nodes */
    uint64_t gpu_mask;
    uint32_t run; /* of the start that it came with: a job that grows has several */
    bool started, left;
    bool stopping; /* it alone is told to stop */
    bool attended; /* it should be long gone: its node gets no new work until it is */
};

struct m_job {
    struct job_spec spec;
    enum m_state state;
    bool held, cancelled, failed, lost, preempted, limited;
    bool no_start;   /* a task ended before it was up: perhaps its GPU is to blame */
    bool ended_well; /* OVER: each task ended with 0 */
    bool claims;     /* others were told to stop for it, and it has not started since */
    uint32_t run, layout;
    struct m_task *tasks; /* [task_count] */
    uint32_t task_count, task_cap;
    uint64_t for_job;               /* STOPS: the job that it gives way to, JOB_NONE */
    uint64_t upsets;                /* claims: model.upsets when the last one was told to stop, */
    uint64_t step;                  /* and model.steps */
    int64_t started_us;             /* when that was decided */
    int64_t first_up_us, all_up_us; /* when the first and the last task was heard to be up, or -1 */
    int64_t reserved_us;            /* when it starts at the latest, as last said, or -1 */
    int64_t reserved_at_us;         /* when that was first said */
};

struct m_node {
    struct node_spec spec;
    bool present, drained, silent;
    int64_t silent_since_us;
    bool surprised; /* a task took something else than it was told; until nothing runs there */
    uint64_t lost_mask;
    uint32_t failed_starts[NODE_GPUS_MAX]; /* of each GPU, since it was said to be healthy */
};

struct model {
    const struct core *core; /* to ask what only it can know */
    int64_t now_us;
    struct m_job *jobs; /* [job_count] by id - 1 */
    uint32_t job_count, job_cap;
    struct m_node *nodes; /* [node_count] every node there ever was */
    uint32_t node_count, node_cap;
    struct rules_spec rules; /* in force */
    bool ruled;              /* somebody stated rules */
    uint64_t upsets;         /* facts about nodes or rules so far */
    uint64_t steps;
};

/* What one task takes on a node: of each of its GPUs, and of the node. */
struct m_need {
    uint32_t gpus;
    int64_t mgpu, gpu_bytes;
    int64_t mcpu, memory_bytes;
};

/* Everything on one node, added up. */
struct m_sum {
    int64_t mgpu[NODE_GPUS_MAX], gpu_bytes[NODE_GPUS_MAX];
    int64_t mcpu, memory_bytes;
};

void model_done(struct model *m);

/* A fact that the core took. */
void model_told(struct model *m, const struct event *event);
/* A decision, after it was checked. */
void model_decided(struct model *m, const struct decisions *d, uint32_t i);

struct m_job *model_job(struct model *m, uint64_t id);        /* NULL if not known */
uint32_t model_node(const struct model *m, const char *name); /* ROW_NONE if not known */
const struct group_spec *model_group(const struct m_job *job, uint32_t task);
uint32_t model_tasks(const struct m_job *job); /* of its layout */
bool model_is_active(const struct m_job *job); /* it holds something */

/* How many tasks it has is not for the model to know: what the core says is taken over. */
bool model_is_loose(const struct m_job *job);
void model_adopt(struct model *m);
/* Tasks on silent nodes, and on the one that was listed (or ROW_NONE), may be given up by the core
 * at any time: they count as lost then. told: only those of jobs that are told to stop. */
void model_lose(struct model *m, uint32_t listed, bool told);
/* GPUs that the core does not use any more: those on which so many starts failed may be such. */
#define FAILED_STARTS_LEAST 3u
void model_quarantine(struct model *m, uint32_t node, uint64_t core_mask);
/* Nothing may be started there. */
bool model_is_closed(const struct model *m, uint32_t node);

/* False if the node could never hold such a task, labels and models aside. */
bool model_need(const struct group_spec *group, const struct node_spec *node, struct m_need *out);
bool model_admits(const struct group_spec *group, const struct node_spec *node);

void m_sum_add(struct m_sum *sum, const struct m_need *need, uint64_t gpu_mask, int sign);
/* What tasks hold there: of all jobs, or without those that are told to stop. */
void model_sum(const struct model *m, uint32_t node, bool stopping, struct m_sum *out);
