/* SPDX-License-Identifier: Apache-2.0 */
/* impl.h - what a core is made of. For files of src/core only; others read through view.h. */
#pragma once
#include <stdint.h>

#include "base/heap.h"
#include "base/names.h"
#include "base/vec.h"
#include "core/classes.h"
#include "core/contest.h"
#include "core/core.h"
#include "core/elastic.h"
#include "core/ended.h"
#include "core/entitle.h"
#include "core/expect.h"
#include "core/fits.h"
#include "core/gate.h"
#include "core/index.h"
#include "core/jobs.h"
#include "core/levels.h"
#include "core/mig_fit.h"
#include "core/nodes.h"
#include "core/orderers.h"
#include "core/pending.h"
#include "core/queues.h"
#include "core/reserve.h"
#include "core/shape.h"
#include "core/shortlist.h"
#include "core/subset.h"
#include "core/timeline.h"
#include "core/trial.h"
#include "core/victims.h"
#include "core/view.h"

struct core {
    /* configuration */
    const struct placement_policy *placement;
    const struct order_policy *order;         /* the core's own: orderers[0] */
    const struct order_policy *const *orders; /* [order_count] that queues may name */
    uint32_t order_count;
    int64_t *order_options; /* [order_option_count] */
    uint32_t order_option_count, order_option_cap;
    uint64_t seed;
    enum repack repack;
    int64_t migrate_wait_us;
    uint32_t migrate_gain_ppm;
    uint32_t nodes_max, jobs_max;
    uint32_t reservation_depth;
    uint64_t rules_digest; /* of the configuration that came last; 0 = none did */
    int64_t silent_us;     /* a node is lost when it was silent for so long */

    /* facts */
    int64_t now_us;
    int64_t settled_us; /* the clock at the last step: what was due then has been done */
    struct names names;
    uint32_t no_name;        /* the id of "" */
    struct map node_by_name; /* name id -> node row */
    struct shapes shapes;
    struct nodes nodes;
    struct jobs jobs;
    struct queues queues;
    struct classes classes;
    struct levels levels;     /* of the network between nodes */
    struct amounts asks;      /* of all unfinished jobs, at least */
    struct orderer *orderers; /* [orderer_count] */
    uint32_t orderer_count, orderer_cap;
    struct pending pending;
    struct gate gate;
    struct ended ended;    /* how the last jobs ended */
    struct expect expect;  /* run times of the jobs that finished */
    void *placement_state; /* [placement->state_size] */
    uint32_t *unsettled;   /* jobs that a step must look at: cancelled, failed, or lost a task */
    uint32_t unsettled_count, unsettled_cap;
    uint32_t *claimants; /* jobs that others were stopped for; they go first */
    uint32_t claimant_count, claimant_cap;
    struct reserve reserve; /* when and where waiting jobs start at the latest */
    struct drift drift;     /* what listings repaired */
    int64_t split_wake_us;  /* when a GPU may be split anew though nothing happens; TIME_NONE */
    uint64_t marks_ahead;   /* checkpoints said to be of a time that had not come yet */

    /* what follows from the facts; in no digest */
    struct fits fits;
    struct index index;
    struct subsets subsets;       /* which GPUs go together, by how they are wired */
    struct elastic elastic;       /* the jobs that could grow */
    struct mig_wanted mig_wanted; /* instances of split GPUs that waiting jobs ask for */
    struct shortlist *shortlists; /* [shortlist_count] by shape */
    uint32_t shortlist_count, shortlist_cap;
    uint64_t score_epoch; /* grows when the placement policy's scores change */
    struct trial trial;
    struct contest contest;
    struct amounts capacity; /* of the whole cluster, as of this step */
    struct entitle_scratch entitle;
    struct timeline timeline;
    struct heap due;        /* what is due at a time, see due.h */
    struct victims victims; /* the running jobs, worst first, of the last step that asked */
};

/* What the job's expected run time depends on. */
static inline struct expect_facts job_expect_facts(const struct core *core, const struct job *job)
{
    return (struct expect_facts){
        .queue = job->queue,
        .user = job->user != core->no_name ? job->user : EXPECT_NONE,
        .name = job->name != core->no_name ? job->name : EXPECT_NONE,
        .mgpu = (uint32_t)core->shapes.gangs[job->gang].mgpu,
    };
}

/* core.c: a core with empty tables, and then the states of its policies. core_free() takes either.
 */
struct core *core_bare(const struct core_config *config);
void core_init_policies(struct core *core, const struct core_config *config);

/* The job's tasks, by index. */
static inline struct task *job_task(const struct core *core, const struct job *job, uint32_t i)
{
    return &core->jobs.tasks[job->task_first + i];
}
