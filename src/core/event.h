/* SPDX-License-Identifier: Apache-2.0 */
/* event.h - the facts that come in. An event says what happened, never what to do.
 *
 * All pointers are borrowed for the call of core_apply(). Names are text here, so that an event
 * means the same to every core; the core interns them. Times never decide by themselves: an event
 * older than the core's clock is taken at the core's clock. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "core/amounts.h"
#include "core/limits.h"
#include "core/qos.h"

enum event_type {
    EVENT_NODE_UPSERTED, /* a node joined, or its description changed; what was said of GPUs that it
                          * no longer has is forgotten */
    EVENT_NODE_REMOVED,  /* it is gone, with every task on it (told as lost tasks before) */
    EVENT_GPU_HEALTH,    /* one GPU was lost, or came back */
    EVENT_NODE_HEALTH, /* a node went silent, was heard again, is drained by an admin or no more */
    EVENT_NODE_LISTED, /* all tasks that a node really runs: what is not listed has gone */
    EVENT_JOB_SUBMITTED,
    EVENT_JOB_CANCELLED,
    EVENT_JOB_HELD, /* by its user: it waits until it is released */
    EVENT_JOB_RELEASED,
    EVENT_JOB_CHECKPOINT,  /* what it did up to then is not lost when it stops */
    EVENT_TASK_STARTED,    /* with the GPUs really taken */
    EVENT_TASK_EXITED,     /* of itself, or as it was told to */
    EVENT_TASK_LOST,       /* with its node or GPU; the job waits again */
    EVENT_JOB_PROGRESS,    /* an oracle says what is left (simulator only) */
    EVENT_GPU_SPLIT,       /* the instances that a GPU really has */
    EVENT_INSTANCE_FAILED, /* that of a task could not be made; what was begun of it is gone */
    EVENT_CONFIG_CHANGED,  /* queues, classes and rules that hold from now on, whole */
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
    const uint32_t *links_mbps; /* [links_pairs(gpus)] 0..LINK_MBPS_MAX, see links.h; NULL =
                                 * unknown: every set of GPUs is as good as any other */
    uint32_t modes;             /* that its GPUs may be in, MODE_BITs of modes.h; 0 = whole ones,
                                 * and parts in turns */
    int64_t gpu_context_bytes;  /* that a task takes of a GPU it shares, beside what it states */
    uint32_t compute_factor;    /* thousandths, 1000..COMPUTE_FACTOR_MAX: how often the compute of
                                 * a shared GPU is given out; 0 = once */
    uint32_t mps_clients;       /* of a GPU, 1..MPS_CLIENTS_MAX; 0 = MPS_CLIENTS */
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
    const char *mig;           /* an instance of a split GPU: its profile ("1g.10gb"), or "any": the
                                * smallest with gpu_memory_bytes; NULL, "" = none. See mig.h */
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

/* When a job that this one depends on has ended so, it may start. */
enum after_end { AFTER_OK, AFTER_ANY, AFTER_FAILED, AFTER_COUNT };

struct job_after {
    uint64_t job_id;
    enum after_end end;
};

struct job_spec {
    uint64_t id;       /* unique for ever */
    const char *queue; /* "" = the default queue */
    const char *user;  /* "" = unknown */
    const char *name;  /* "" = unknown; jobs of one name are expected to be alike */
    const char *class; /* priority class, "" = the default one */
    const struct job_layout_spec *layouts; /* [layout_count] most wanted first, 1.. */
    uint32_t layout_count;
    uint32_t tasks_min; /* elastic, service: it may run with so few of its tasks; 0 = all */
    bool service;       /* it never ends by itself; tasks_min is its min available */
    bool held;          /* it waits until it is released */
    bool exclusive;     /* each of its tasks has a node for itself; whole GPUs only */
    bool fixed;         /* it never gives way, whatever its class */
    bool strict;        /* no other task is in one fault domain with it: never under MPS */
    uint32_t modes;     /* that parts of GPUs may be had in, MODE_BITs of modes.h; 0 =
                         * MODES_DEFAULT */
    struct qos qos;
    uint32_t retries;     /* how often it may start again after a task of it failed */
    int64_t deadline_us;  /* when it should have ended, on the core's clock; 0 = none */
    int64_t limit_us;     /* run time at most, then it is told to stop; 0 = none */
    int64_t grace_us;     /* from being told to stop to being killed; -1 = that of its class */
    int64_t min_run_us;   /* it does not give way before; -1 = that of its class */
    const char *array;    /* jobs of one array, "" = none */
    uint32_t array_limit; /* of which at most so many run at a time; 0 = all */
    /* Levels of the configuration, by name, "" or NULL = none; see levels.h. */
    const char *within;            /* all its tasks share one domain of it, or it waits */
    const char *near;              /* it would like them to */
    const char *group_within;      /* each group_size tasks in a row share one domain of it */
    uint32_t group_size;           /* tasks, with group_within; 0 = none */
    uint32_t slowdown_max_ppm;     /* worst slowdown that it accepts, from 1000000 on; 0 = any */
    const struct job_after *after; /* [after_count] it waits for all of these */
    uint32_t after_count;          /* 0..JOB_AFTER_MAX */
    int64_t remaining_us;          /* what an oracle knows of its run time, -1 = unknown */
};

enum gpu_health { GPU_HEALTHY, GPU_LOST };
enum node_health { NODE_HEARD, NODE_SILENT, NODE_DRAINED, NODE_UNDRAINED, NODE_HEALTH_COUNT };

/* ---- configuration ---- */

struct queue_spec {
    const char *name;
    const char *parent; /* "" = the root */
    const char *order; /* of the jobs below it; "fair" = its children by share; "" = its parent's */
    uint32_t weight;   /* of its part of what is beyond the guarantees; 0 = what nobody wants */
    int64_t guarantee[RES_COUNT];  /* it gets this back when it asks; AMOUNT_NONE = none */
    int64_t limit[RES_COUNT];      /* it never holds more */
    int64_t borrow[RES_COUNT];     /* beyond its guarantee at most so much */
    int64_t lend[RES_COUNT];       /* of its guarantee others may use at most so much */
    int64_t user_limit[RES_COUNT]; /* of each user in it; leaf queues only */
    uint32_t user_jobs;            /* unfinished jobs of each user in it; 0 = no bound */
    const char *const *users;      /* [user_count] who may submit to it; none = everybody */
    uint32_t user_count;
};

/* A priority class. Higher ranks go first. */
struct class_spec {
    const char *name;
    uint32_t rank;                 /* 0..CLASS_RANK_MAX */
    uint32_t takes_below;          /* may take from running jobs of classes of a rank below this */
    bool fixed;                    /* its jobs never give way */
    int64_t grace_us;              /* from being told to stop to being killed */
    int64_t min_run_us;            /* its jobs do not give way before they ran so long */
    int64_t user_limit[RES_COUNT]; /* of each user in it, over all queues */
    const char *const *users;      /* [user_count] who may use it; none = everybody */
    uint32_t user_count;
};

/* A level of the network between nodes. A node is in the domain of a level that its label of the
 * level's name says; one without that label is outside the level. */
struct level_spec {
    const char *name;
    int64_t bandwidth_bytes; /* each second, of one node to others of its domain; 0 = unknown */
    int64_t uplink_bytes;    /* each second, of a whole domain to others; 0 = unknown */
};

struct rules_spec {
    const struct queue_spec *queues; /* [queue_count] parents first; none = one queue for all */
    uint32_t queue_count;
    const char *default_queue; /* of jobs that name none; "" = they are refused, if queues exist */
    const char *root_order;    /* "fair" or an order; "" = the core's own */
    const struct class_spec *classes; /* [class_count] none = high, medium and low */
    uint32_t class_count;
    const char *default_class;       /* "" = medium if there is one, else the first */
    uint32_t reservation_depth;      /* 0: who does not fit is passed by; 1: EASY; RESERVE_ALL */
    int64_t silent_us;               /* a node is lost when it was silent for so long; 0 = 60 s */
    const struct level_spec *levels; /* [level_count] coarse to fine */
    uint32_t level_count;
    int64_t share_half_life_us; /* of what counts as used by a queue or user; 0 = only now */
};

/* An instance that stands on a GPU. */
struct split_instance {
    const char *profile; /* as its driver prints it */
    uint32_t start;      /* its first memory slice */
    uint32_t size;       /* memory slices; 0 = those of the profile */
};

/* A task that a node really runs. */
struct listed_task {
    uint64_t job_id;
    uint32_t task;
    uint32_t run;
};

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
        struct {
            const char *node;
            enum node_health health;
        } node_health; /* NODE_HEALTH */
        struct {
            const char *node;
            const struct listed_task *tasks; /* [count] */
            uint32_t count;
        } listed; /* NODE_LISTED */
        struct {
            const char *node;
            uint32_t gpu;
            const struct split_instance *instances; /* [count] */
            uint32_t count;
        } split;                 /* GPU_SPLIT */
        struct rules_spec rules; /* CONFIG_CHANGED */
        uint64_t job_id;         /* JOB_CANCELLED, JOB_HELD, JOB_RELEASED */
        struct {
            uint64_t job_id;
            int64_t mark_us; /* what was done up to this time is saved */
        } checkpoint;        /* JOB_CHECKPOINT */
        struct {
            uint64_t job_id;
            uint32_t task;      /* index in the job, 0.. */
            uint32_t run;       /* with which decision it was started; 0 = the last one */
            const char *node;   /* TASK_STARTED: where; "" = as decided */
            uint64_t gpu_mask;  /* TASK_STARTED: GPUs really taken, with `node` */
            uint32_t mig_start; /* TASK_STARTED: first slice of its instance, with `node` */
            int32_t exit_code;  /* TASK_EXITED: 0 = well */
        } task;                 /* TASK_STARTED, TASK_EXITED, TASK_LOST, INSTANCE_FAILED */
        struct {
            uint64_t job_id;
            int64_t remaining_us;
        } progress; /* JOB_PROGRESS */
    };
};
