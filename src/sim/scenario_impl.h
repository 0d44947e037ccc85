/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_impl.h - private to scenario*.c: the state of one run.
 *
 * A task is what is really there, whatever the core was told. What happens by itself is in a heap:
 * at one time, first what jobs and nodes do, in the order in which it became due, then the lines of
 * the file, in their order; then the core is stepped until it asks for nothing more. */
#pragma once
#include "base/heap.h"
#include "sim/scenario.h"
#include "sim/world.h"

enum sc_state { SC_SENT, SC_RUNNING, SC_GONE };

struct sc_task {
    uint32_t job; /* of scn->jobs */
    uint32_t task, run;
    enum sc_state state;
    bool stopping;    /* told to stop */
    bool told_gone;   /* the core heard that it has gone */
    const char *node; /* where it was decided to be, and is unless it takes something else */
    uint64_t gpu_mask;
    uint32_t mig_start;
    uint16_t mig_slices; /* that its instance has of its GPU; 0 = it is no instance */
    int64_t exit_code;   /* with which it goes when `due` */
    int64_t started_us;
};

/* What happens by itself, or when its time has come. */
enum sc_kind {
    SC_START,      /* a task comes up and is reported */
    SC_END,        /* a task ends of itself */
    SC_STOP,       /* a task hears that it is to stop */
    SC_DIE,        /* a task that was told to stop is gone */
    SC_DELIVER,    /* a report arrives */
    SC_SPLIT,      /* a GPU was split anew, which is reported */
    SC_CHECKPOINT, /* the job saves its work, and again after checkpoint_every_us */
    SC_ACTION,     /* a line of the file */
};

struct sc_due {
    enum sc_kind kind;
    uint32_t row;       /* task; action; job of a checkpoint */
    uint32_t run;       /* checkpoint: of this start */
    const char *node;   /* that must be heard of, or NULL */
    uint32_t gpu;       /* SPLIT */
    struct event event; /* DELIVER */
};

struct sc_filter {
    const struct scn_action *action;
    uint32_t left;
};

struct sc_job {
    bool submitted, ended, active; /* active: the core has it on GPUs */
    bool cancelled, failed, limited, rejected;
    const char
        *why; /* it was rejected, or refused when it was submitted; in the arena of the run */
    const char *end; /* word of the log, NULL until ended */
    int64_t first_start_us, end_us;
    uint32_t starts, evictions; /* starts: of the job, not those of more of its tasks */
    uint32_t first_starts;      /* of its task 0 */
    int64_t run_start_us;       /* when its first task came up in this run; -1 = not yet */
    int64_t saved_us;           /* work that need not be done again */
    int64_t run_saved_us;       /* what was saved when this run began */
};

struct sc_gpu {
    int64_t bytes;
    uint32_t compute_factor;    /* thousandths */
    const struct mig_type *mig; /* what they may be split into, or NULL */
};

/* An instance that stands on a GPU. */
struct sc_instance {
    const char *node;
    uint32_t gpu, profile, start;
};

struct sc {
    const struct scn *scn;
    const struct scenario_options *options;
    struct scenario_result *out;
    struct world world;
    int64_t now_us;
    uint64_t ties;
    struct heap heap;
    struct sc_due *dues; /* [due_count] by id of the heap */
    uint32_t due_count, due_cap;
    struct sc_task *tasks; /* [task_count] all there ever were */
    uint32_t task_count, task_cap;
    uint32_t *alive; /* [alive_count] rows of tasks that the core has not heard to be gone */
    uint32_t alive_count, alive_cap;
    struct sc_job *jobs; /* [scn->job_count] */
    uint32_t *live;      /* [live_count] submitted and not ended */
    uint32_t live_count, live_cap;
    struct sc_filter *filters; /* [filter_count] */
    uint32_t filter_count, filter_cap;
    struct names silent; /* nodes that ever were silent, */
    bool *is_silent;     /* [silent count] and whether they are */
    bool *to_list;       /* [silent count] heard again, or a task ended there: it lists, if lost */
    uint32_t silent_cap, to_list_cap;
    uint32_t *parked; /* [parked_count] dues that wait for a node to be heard */
    uint32_t parked_count, parked_cap;
    struct names nodes;      /* every node there was, */
    struct sc_gpu *node_gpu; /* what each of its GPUs is */
    uint32_t node_cap;
    struct sc_instance *instances; /* [instance_count] */
    uint32_t instance_count, instance_cap;
    struct arena arena;
    uint32_t evictions, starts;
    bool *judged; /* [scn->assert_count] */
};

/* scenario_world.c - what really happens. */
void sc_push(struct sc *sc, int64_t at_us, const struct sc_due *due);
void sc_begin_tasks(struct sc *sc, const struct decision *decision);
void sc_stop_tasks(struct sc *sc, const struct decision *decision);
int sc_handle(struct sc *sc, uint32_t due, struct err *err);
void sc_set_silent(struct sc *sc, const char *node, bool silent);
void sc_know_node(struct sc *sc, const struct node_spec *node);
int sc_end_tasks(struct sc *sc, const struct scn_action *action, struct err *err);
int sc_lose_tasks_on(struct sc *sc, const char *node, uint64_t gpu_mask, struct err *err);
int sc_list_node(struct sc *sc, const char *node, struct err *err);
int sc_list_lost_nodes(struct sc *sc, struct err *err);
/* scenario_mig.c - the instances of split GPUs. */
bool sc_is_split(const struct sc *sc, const char *node, uint32_t gpu);
void sc_forget_instances(struct sc *sc, const char *node);
void sc_have_instance(struct sc *sc, struct sc_task *task, const struct task_place *place);
void sc_no_instance(struct sc *sc, const struct sc_task *task);
void sc_begin_split(struct sc *sc, const struct decision *decision);
int sc_end_split(struct sc *sc, const struct sc_due *due, struct err *err);
int sc_gpu_has(struct sc *sc, const struct scn_action *action, struct err *err);

int sc_checkpoint(struct sc *sc, uint32_t job, int64_t mark_us, struct err *err);
const struct scn_behaviour *sc_behaviour(const struct sc *sc, uint32_t job, uint32_t task);
int64_t sc_task_mgpu(const struct sc *sc, const struct sc_task *task); /* of each of its GPUs */
uint32_t sc_task_gpus(const struct sc *sc, const struct sc_task *task);

/* scenario.c */
int sc_apply(struct sc *sc, const struct event *event, const char *what, uint32_t job,
             struct err *err);
void sc_watch(struct sc *sc);
const char *sc_job_name(void *arg, uint64_t job_id); /* arg: the sc */

/* scenario_log.c */
__attribute__((format(printf, 2, 3))) void sc_log(struct sc *sc, const char *fmt, ...);
__attribute__((format(printf, 2, 3))) void sc_broken(struct sc *sc, const char *fmt, ...);
void sc_log_refused(struct sc *sc, const char *what, uint32_t job, const char *why);

/* The same for an explanation of this job, in the arena of the run: other jobs by their names. */
const char *sc_keep_refused(struct sc *sc, uint32_t job, const char *why);
void sc_log_decision(struct sc *sc, const struct decision *decision);
void sc_add_time(struct text *text, int64_t at_us); /* "9s", "0.5s" */
void sc_add_gpus(struct text *text, uint64_t mask); /* "0-3,5" */

/* scenario_claims.c - the claims about times before next_us, and at the end (TIME_NONE). */
void sc_judge(struct sc *sc, int64_t next_us);
