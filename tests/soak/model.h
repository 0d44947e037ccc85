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
    bool absent;       /* it has left, or never ran, and may be started */
    bool stopping;     /* it alone is told to stop */
    bool attended;     /* it should be long gone: its node gets no new work until it is */
    uint32_t missed;   /* listings of its node without it, at different times */
    int64_t missed_us; /* the last of these */
    int64_t up_us;     /* when it was heard to be up */
};

struct m_job {
    struct job_spec spec;
    enum m_state state;
    const char *class; /* name, as resolved when it came */
    uint64_t came;     /* as which of all jobs: an earlier time may be said later in a scenario */
    bool held, cancelled, failed, lost, preempted, limited;
    bool attended;         /* STOPS: a person was asked for */
    uint32_t retries_left; /* how often it may yet start again because a task failed */
    enum reason stopped_for;
    int64_t stopped_us;
    int64_t failed_us[SERVICE_FAILURES_MAX - 1]; /* a service: its last failures, or -1 */
    bool ended_well;                             /* OVER: each task ended with 0 */
    bool elsewhere;                              /* a task of this run is not where it was told */
    bool claims; /* others were told to stop for it, and it has not started since */
    uint32_t run, layout;
    struct m_task *tasks; /* [task_count] of its layout, while it is active */
    uint32_t task_count, task_cap;
    uint64_t for_job;       /* it, or a task of it, gives way to this job; JOB_NONE */
    uint64_t upsets;        /* claims: model.upsets when the last one was told to stop, */
    uint64_t step;          /* and model.steps */
    int64_t started_us;     /* when that was decided */
    int64_t all_up_us;      /* when the last task was heard to be up: it runs since then; or -1 */
    int64_t reserved_us;    /* when it starts at the latest, as last said, or -1 */
    int64_t reserved_at_us; /* when that was first said */
};

struct m_node {
    struct node_spec spec;
    bool present, drained, silent;
    bool lost;     /* silent, and its tasks were given up */
    bool unlisted; /* it was lost, and has not listed its tasks since without a stray */
    int64_t silent_since_us;
    int64_t silences_us[FLAP_SILENCES - 1]; /* its last silences, the oldest first; -1 */
    int64_t flaps_until_us;                 /* -1: it does not */
    bool surprised; /* a task took something else than it was told; until nothing runs there */
    uint64_t lost_mask;
    int64_t failed_us[NODE_GPUS_MAX][FAILED_STARTS - 1]; /* starts on a GPU, or -1 */
};

struct model {
    const struct core *core; /* to ask what only it can know */
    int64_t now_us;
    struct m_job *jobs; /* [job_count] by id - 1 */
    uint64_t came;      /* jobs that were submitted */
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
    uint64_t all_gpus; /* exclusive: of all of these; else 0 */
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

/* It may run with fewer than all of its tasks. */
bool model_is_loose(const struct m_job *job);
uint32_t model_tasks_min(const struct m_job *job);
/* All tasks of it that are to run are up. */
bool model_is_up(const struct m_job *job);

/* A step begins: nodes that were silent for too long are lost, those that blinked may be calm. */
void model_stepping(struct model *m);
/* Tasks on lost nodes count as lost once their job, or they alone, were told to stop. */
void model_lose(struct model *m);
/* Nothing may be started there. */
bool model_is_closed(const struct model *m, uint32_t node);

/* False if the node could never hold such a task, labels and models aside. */
bool model_need(const struct m_job *job, uint32_t task, const struct node_spec *node,
                struct m_need *out);
bool model_admits(const struct group_spec *group, const struct node_spec *node);

void m_sum_add(struct m_sum *sum, const struct m_need *need, uint64_t gpu_mask, int sign);
/* What tasks hold there: of all jobs, or without those that are told to stop. */
void model_sum(const struct model *m, uint32_t node, bool stopping, struct m_sum *out);

/* model_rules.c: queues, users and classes, by the configuration in force. */

/* NULL if there are no queues, or none is meant. */
const struct queue_spec *model_queue(const struct rules_spec *rules, const char *name);
const struct queue_spec *model_queue_of(const struct model *m, const struct m_job *job);
const struct queue_spec *model_parent(const struct rules_spec *rules,
                                      const struct queue_spec *queue);
bool model_is_below(const struct rules_spec *rules, const struct queue_spec *queue,
                    const struct queue_spec *top);
/* The class that a job of this name is in; NULL if there is none. */
const struct class_spec *model_class(const struct model *m, const char *name);
const struct class_spec *model_class_of(const struct model *m, const struct m_job *job);
int64_t model_grace_us(const struct model *m, const struct m_job *job);
int64_t model_min_run_us(const struct model *m, const struct m_job *job);

/* Whose jobs are added up: of a queue and those below it, of a user, of a class; NULL = of all. */
struct m_whose {
    const struct queue_spec *queue;
    const char *user;
    const struct class_spec *class;
};
bool model_is_of(const struct model *m, const struct m_job *job, const struct m_whose *whose);
/* What a task holds, and what those hold that are meant: all, or only what is told to stop. */
void model_add_task(const struct model *m, const struct m_job *job, uint32_t task,
                    int64_t out[RES_COUNT]);
void model_add_need(const struct m_job *job, const struct node_spec *node,
                    const struct m_need *need, int64_t out[RES_COUNT]);
void model_used(const struct model *m, const struct m_whose *whose, bool leaving,
                int64_t out[RES_COUNT]);
