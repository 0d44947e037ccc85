/* SPDX-License-Identifier: Apache-2.0 */
/* scn.h - a scenario: a cluster, its configuration, jobs that arrive and how they behave, what goes
 * wrong, and what is claimed about the run. docs/scenario.md describes the file.
 *
 * Job i has the core's id i + 1, in the order of their `submit` lines. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "core/event.h"
#include "wire/arena.h"
#include "wire/cluster.h"
#include "wire/config_file.h"
#include "wire/doc.h"
#include "wire/scn_text.h"

struct err;

#define SCN_ACTIONS_MAX   100000u
#define SCN_FOREVER       (-1) /* runs_us, dies_after_us */
#define SCN_TASK_ALL      UINT32_MAX
#define SCN_JOB_NONE      UINT32_MAX
#define SCN_EXIT_MAX      255 /* what a process can exit with */
#define SCN_EXIT_STOPPED  143 /* 128 + SIGTERM: the exit code of who was told to stop */
#define SCN_EXIT_NO_START 127 /* of who could not be started */
#define SCN_UNTIL_US      INT64_C(86400000000)

/* How the tasks of a job behave; a `task` line gives one of them a behaviour of its own. */
struct scn_behaviour {
    int64_t runs_us;       /* from its start to its own end, in all; SCN_FOREVER */
    int64_t dies_after_us; /* from being told to stop to being gone; SCN_FOREVER = it never dies */
    int64_t ack_delay_us;  /* from the decision to being reported started */
    int64_t exit_code;     /* of its own end */
    int64_t exit_on_stop;  /* when it was told to stop */
    const char *takes;     /* "NODE:GPUS" that it really takes, "" = as decided */
};

struct scn_task {
    uint32_t task, line;
    struct scn_behaviour behaviour;
};

struct scn_job {
    const char *name;
    uint32_t line;
    struct job_spec spec;
    struct scn_behaviour behaviour;
    uint32_t start_fails;    /* so many starts end at once: task 0 exits with SCN_EXIT_NO_START, */
    uint32_t start_loses;    /* or is lost */
    uint32_t instance_fails; /* before these: its instance cannot be made */
    int64_t checkpoint_every_us; /* 0 = only at `checkpoint` lines */
    int64_t checkpoint_skew_us;  /* of the mark that is told, against the time it was taken */
    struct scn_task *tasks;      /* [task_count] */
    uint32_t task_count, task_cap;
};

enum scn_verb {
    SCN_SUBMIT,
    SCN_CANCEL,
    SCN_HOLD,
    SCN_RELEASE,
    SCN_CHECKPOINT,
    SCN_EXIT,
    SCN_LOST,
    SCN_DROP,  /* the next reports of a kind never arrive, */
    SCN_DELAY, /* arrive later, */
    SCN_TWICE, /* or arrive twice */
    SCN_GPU,
    SCN_GPU_HAS,
    SCN_NODE,         /* it joins, or is described anew */
    SCN_NODE_HEALTH,  /* silent, heard, drained, undrained */
    SCN_NODE_REMOVED, /* with every task on it */
    SCN_LIST,         /* the node tells what really runs there */
    SCN_RESTART,
    SCN_CONFIG,
    SCN_VERB_COUNT,
};

enum scn_report { SCN_STARTED, SCN_EXITED, SCN_REPORTED_LOST, SCN_CHECKPOINTED, SCN_REPORT_COUNT };

struct scn_action {
    int64_t at_us;
    uint32_t line;
    enum scn_verb verb;
    uint32_t job;                  /* or SCN_JOB_NONE */
    uint32_t task;                 /* or SCN_TASK_ALL */
    const char *node;              /* or NULL */
    uint32_t gpu;                  /* GPU */
    uint32_t word;                 /* GPU: enum gpu_health; NODE_HEALTH: enum node_health */
    enum scn_report report;        /* DROP, DELAY, TWICE */
    uint32_t times;                /* DROP, DELAY, TWICE: for so many reports */
    int64_t delay_us;              /* DELAY */
    int64_t mark_us;               /* CHECKPOINT; TIME_NONE = when it is taken */
    int64_t exit_code;             /* EXIT */
    const struct node_spec *nodes; /* [node_count] NODE */
    uint32_t node_count;
    const struct split_instance *instances; /* [instance_count] GPU_HAS */
    uint32_t instance_count;
    const struct rules_spec *rules; /* CONFIG */
};

enum scn_claim {
    CLAIM_EVICTIONS, /* of a job, or of all */
    CLAIM_STARTS,
    CLAIM_STARTED,       /* by at_us */
    CLAIM_NEVER_RUNNING, /* before at_us */
    CLAIM_ENDED,         /* by at_us, as `text` says */
    CLAIM_RUNNING,       /* at at_us */
    CLAIM_PENDING,       /* at at_us, and `text` is in the reason */
    CLAIM_USED,          /* GPUs at at_us of a node, queue, user or all */
    CLAIM_DIGEST_STABLE, /* a restart after each step changes nothing */
    CLAIM_COUNT,
};

enum scn_compare { CMP_EQ, CMP_NE, CMP_LT, CMP_LE, CMP_GT, CMP_GE, CMP_COUNT };
enum scn_subject { OF_ALL, OF_NODE, OF_QUEUE, OF_USER, OF_SUBJECT_COUNT };

struct scn_assert {
    enum scn_claim claim;
    uint32_t line;
    const char *text_of_line;
    uint32_t job; /* or SCN_JOB_NONE: of all */
    enum scn_subject subject;
    const char *name; /* of the subject */
    enum scn_compare compare;
    int64_t value; /* a count, or mGPU */
    int64_t at_us; /* TIME_NONE: at the end */
    const char *text;
};

/* A line that gives the core a part of the configuration, or a node from the start. */
struct scn_setting {
    const char *word, *name; /* `queue NAME ...`; of one with a value alone, that */
    uint32_t line;
};

struct scn {
    const char *file;
    const char *variant; /* "" = the base */
    const char *title;   /* "" unless stated */
    struct config config;
    struct cluster cluster;
    struct scn_job *jobs;            /* [job_count] */
    struct scn_action *actions;      /* [action_count] in the order of time, then of lines */
    struct scn_assert *asserts;      /* [assert_count] */
    struct scn_setting *settings;    /* [setting_count] that hold from the start */
    const struct scn_expect *expect; /* NULL: no log is expected */
    uint32_t job_count, job_cap, action_count, action_cap, assert_count, assert_cap;
    uint32_t setting_count, setting_cap;
    int64_t until_us;
    bool overlap_allowed; /* two jobs may be given one GPU */
    struct arena arena;
};

/* One variant (NULL = the base) of a file that was read. Borrows from text. 0, or a negative errno
 * and nothing to give back. */
int scn_read(struct scn_text *text, const struct scn_variant *variant, struct scn *out,
             struct err *err);
void scn_done(struct scn *scn);

/* "n1:0-3,5" into a node's name and a mask; of an instance of a split GPU, "n1:0@4" says where it
 * starts, else that is 0. -EINVAL with what would be right. */
struct scn_place {
    const char *node;
    uint64_t gpu_mask;
    uint32_t mig_start;
};
int scn_parse_place(struct arena *arena, const char *text, struct scn_place *out, struct err *err);
