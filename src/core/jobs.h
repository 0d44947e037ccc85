/* SPDX-License-Identifier: Apache-2.0 */
/* jobs.h - the tables of jobs and of placed tasks. */
#pragma once
#include <stdint.h>

#include "base/map.h"
#include "core/job.h"

struct shapes;
struct tape;

struct jobs {
    struct job *rows;
    uint32_t *next_free; /* [cap] list of free rows */
    uint32_t count, cap, next_free_cap, free_first, live;
    struct map by_id;
    uint64_t submitted; /* next sequence number */
    uint32_t pending;   /* how many wait */
    uint32_t *active;   /* [active_count] STARTING, RUNNING and STOPPING, in no order */
    uint32_t active_count, active_cap;
    struct task *tasks;  /* blocks of a job's tasks, one after the other */
    uint32_t *task_free; /* [task_size] first row of a list of free blocks of that many tasks */
    uint32_t task_count, task_cap;
};

void jobs_init(struct jobs *j);
void jobs_done(struct jobs *j);
void jobs_copy(struct jobs *dst, const struct jobs *src);

uint32_t jobs_add(struct jobs *j, const struct job *job); /* its id must be new */
void jobs_remove(struct jobs *j, uint32_t job);
uint32_t jobs_find(const struct jobs *j, uint64_t id); /* ROW_NONE if unknown */

/* The job starts, or stops, holding GPUs. */
void jobs_activate(struct jobs *j, uint32_t job);
void jobs_deactivate(struct jobs *j, uint32_t job);

/* A block of rows for `count` tasks, and back. Contents are the caller's to fill. */
uint32_t jobs_tasks_add(struct jobs *j, uint32_t count);
void jobs_tasks_remove(struct jobs *j, uint32_t first, uint32_t count);

/* Times that can be saved and loaded are below this one: some 36,000 years. */
#define JOB_TIME_MAX (INT64_C(1) << 60)

/* How large the tables are that jobs point into. */
struct jobs_limits {
    uint32_t names, nodes, queues, classes;
    const struct shapes *shapes;
};

/* Loads into what jobs_init() left. Task rows are new ones; tasks are in no node's list yet, which
 * is the caller's to do: until then their node_prev is their own row. A loaded job is in one of the
 * states of a job, as job.h says. */
void jobs_walk(struct jobs *j, const struct jobs_limits *limits, struct tape *t);
