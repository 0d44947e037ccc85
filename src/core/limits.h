/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h - every bound of the core that a user can reach. */
#pragma once

#define NODE_GPUS_MAX      64              /* GPUs of one node: one bit each in a mask */
#define LINK_MBPS_MAX      10000000        /* between two GPUs of a node: 10 TB/s */
#define LINKS_MAX          256u            /* kinds of nodes by how their GPUs are wired */
#define GPU_MGPU           1000            /* compute of one GPU, in thousandths */
#define JOB_TASKS_MAX      4096            /* tasks of one job */
#define GANG_GROUPS_MAX    64              /* groups of identical tasks in one layout */
#define GANG_LAYOUTS_MAX   256             /* alternative layouts of one job */
#define SELECTOR_TERMS_MAX 64              /* models or labels that one job names */
#define CPU_MCPU_MAX       1000000000000   /* one node: a billion CPUs */
#define MEMORY_BYTES_MAX   (1LL << 56)     /* one node, or one GPU */
#define LEVELS_MAX         8               /* named levels of the network between nodes */
#define LEVEL_BYTES_MAX    125000000000000 /* each second: a petabit */
#define SLOWDOWN_PPM_MAX   1000000000      /* a thousand times */
#define NODES_MAX          (1u << 22)
#define TIME_US_MAX        (1LL << 60) /* of the clock: 36,000 years */
#define JOBS_MAX           (1u << 24)  /* jobs that are not finished yet */
#define QUEUES_MAX         4096u       /* of one configuration */
#define QUEUE_DEPTH_MAX    16          /* levels of queues below the root */
#define CLASSES_MAX        64u
#define CLASS_RANK_MAX     1000000u
#define QUEUE_WEIGHT_MAX   1000000u
#define USERS_MAX          4096u      /* named by one queue or class */
#define JOB_AFTER_MAX      64u        /* jobs that one job waits for */
#define ENDED_MAX          65536u     /* jobs that have ended, and of which it is known how */
#define RESERVE_ALL        UINT32_MAX /* reservation_depth: every waiting job has one, */
#define RESERVATIONS_MAX   256u       /* up to so many, the first in their turn */

/* Times, and how often; see overdue.h, health.h, listed.c. */
#define GRACE_US_DEFAULT 30000000LL  /* from being told to stop to being killed */
#define ATTEND_AFTER_US  60000000LL  /* after that, who is still there needs a person */
#define KILLED_WITHIN_US 1000000LL   /* the end of who is killed is heard of within that time */
#define NODE_SILENT_US   60000000LL  /* a node is lost when it was silent for so long */
#define FLAP_SILENCES    5           /* a node that was silent so often */
#define FLAP_WINDOW_US   600000000LL /* within this time must be calm for as long */
#define FAILED_STARTS    3           /* a GPU on which so many starts failed */
#define FAILED_WITHIN_US 300000000LL /* within this time gets no new work */
#define MIG_FAILED_US    60000000LL /* a GPU on which no instance could be made gets none so long */
#define MISSED_MAX       2          /* listings without a task that is on its way: it is lost */
/* Who gave way so soon after its start, again and again, makes nobody give way for a while; that
 * doubles each time, up to so often. See rights.h. */
#define YIELD_SOON_US    (600 * 1000000LL)
#define YIELDS_FREE      1 /* in a row, that cost nothing */
#define TAKES_AGAIN_US   (60 * 1000000LL)
#define TAKES_DOUBLE_MAX 10
/* A service fails when so many tasks of it fail within this time. */
#define SERVICE_FAILURES_MAX 5
#define SERVICE_FAILURES_US  (600 * 1000000LL)
#define SERVICE_LEAST_RUN_US (10 * 1000000LL) /* one that ends well before that has failed too */
