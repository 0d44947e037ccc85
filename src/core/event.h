/* SPDX-License-Identifier: Apache-2.0 */
/* event.h - the facts that come in. An event says what happened, never what to do.
 *
 * All pointers are borrowed for the call of core_apply(). Names are text here, so that an event
 * means the same to every core; the core interns them. Times never decide by themselves: an event
 * older than the core's clock is taken at the core's clock. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "core/limits.h"

enum event_type {
    EVENT_NODE_UPSERTED, /* a node joined, or its description changed */
    EVENT_NODE_REMOVED,  /* it is gone, with every task on it (told as lost tasks before) */
    EVENT_GPU_HEALTH,    /* one GPU was lost, or came back */
    EVENT_JOB_SUBMITTED,
    EVENT_JOB_CANCELLED,
    EVENT_TASK_STARTED, /* with the GPUs really taken */
    EVENT_TASK_EXITED,  /* of itself, or as it was told to */
    EVENT_TASK_LOST,    /* with its node or GPU; the job waits again */
    EVENT_JOB_PROGRESS, /* an oracle says what is left (simulator only) */
    EVENT_TIME_PASSED,
    EVENT_STEPPED, /* a mark in event files: the core was stepped here */
    EVENT_TYPE_COUNT,
};

/* How a node is described. */
struct node_spec {
    const char *name;
    const char *model;        /* GPU model, "" without GPUs */
    uint32_t gpus;            /* 0..NODE_GPUS_MAX */
    int64_t gpu_memory_bytes; /* of each GPU, 0 = unknown */
    int64_t cpu_mcpu;
    int64_t memory_bytes;
    const char *const *labels; /* [label_count] "key=value" */
    uint32_t label_count;
};

/* One group of identical tasks. */
struct group_spec {
    uint32_t tasks;   /* 1..JOB_TASKS_MAX */
    int64_t cpu_mcpu; /* each task */
    int64_t memory_bytes;
    uint32_t gpus;             /* on one node */
    uint32_t gpu_mgpu;         /* of each GPU, 1..1000; 0 = by gpu_memory_bytes; 1000 = whole.
                                * Neither stated means whole devices */
    int64_t gpu_memory_bytes;  /* of each GPU; 0 = in proportion to gpu_mgpu */
    const char *const *models; /* [model_count] allowed GPU models, none = any */
    uint32_t model_count;
    const char *const *labels; /* [label_count] "key=value", all are required */
    uint32_t label_count;
};

/* One way to lay out a job: all its groups start together. */
struct job_layout_spec {
    const struct group_spec *groups; /* [group_count] 1..GANG_GROUPS_MAX */
    uint32_t group_count;
    uint32_t slowdown_ppm; /* run time against the fastest layout, 1000000 = as fast */
    uint32_t apart;        /* 1: each task on a node of its own; 0: as it comes */
};

struct job_spec {
    uint64_t id;       /* unique for ever */
    const char *queue; /* "" = the default queue */
    const char *user;  /* "" = unknown */
    const char *name;  /* "" = unknown; jobs of one name are expected to be alike */
    const struct job_layout_spec *layouts; /* [layout_count] most wanted first, 1.. */
    uint32_t layout_count;
    int64_t remaining_us; /* what an oracle knows of its run time, -1 = unknown */
    int64_t deadline_us;  /* when it should have ended, on the core's clock; 0 = none */
};

enum gpu_health { GPU_HEALTHY, GPU_LOST };

struct event {
    enum event_type type;
    int64_t at_us;
    union {
        struct node_spec node; /* NODE_UPSERTED */
        const char *node_name; /* NODE_REMOVED */
        struct {
            const char *node;
            uint32_t gpu; /* index on the node */
            enum gpu_health health;
        } gpu;               /* GPU_HEALTH */
        struct job_spec job; /* JOB_SUBMITTED */
        uint64_t job_id;     /* JOB_CANCELLED */
        struct {
            uint64_t job_id;
            uint32_t task;     /* index in the job, 0.. */
            const char *node;  /* TASK_STARTED: where; "" = as decided */
            uint64_t gpu_mask; /* TASK_STARTED: GPUs really taken, with `node` */
            int32_t exit_code; /* TASK_EXITED: 0 = well */
        } task;                /* TASK_STARTED, TASK_EXITED, TASK_LOST */
        struct {
            uint64_t job_id;
            int64_t remaining_us;
        } progress; /* JOB_PROGRESS */
    };
};
