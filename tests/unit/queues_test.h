/* SPDX-License-Identifier: Apache-2.0 */
/* queues_test.h - configurations and jobs of users on the test bed (core_test.h). */
#pragma once
#include "core/impl.h"
#include "unit/core_test.h"

#define UNBOUNDED                                                                                  \
    {                                                                                              \
        AMOUNT_NONE, AMOUNT_NONE, AMOUNT_NONE, AMOUNT_NONE                                         \
    }

/* A queue without any bound. */
static inline struct queue_spec queue(const char *name, const char *parent)
{
    return (struct queue_spec){.name = name,
                               .parent = parent,
                               .order = "",
                               .weight = 1,
                               .guarantee = UNBOUNDED,
                               .limit = UNBOUNDED,
                               .borrow = UNBOUNDED,
                               .lend = UNBOUNDED,
                               .user_limit = UNBOUNDED};
}

static inline struct class_spec class(const char *name, uint32_t rank, uint32_t takes_below)
{
    return (struct class_spec){.name = name,
                               .rank = rank,
                               .takes_below = takes_below,
                               .grace_us = 30000000,
                               .user_limit = UNBOUNDED};
}

static inline struct event rules_event(const struct queue_spec *queues, uint32_t count,
                                       const struct class_spec *classes, uint32_t class_count)
{
    return (struct event){.type = EVENT_CONFIG_CHANGED,
                          .rules = {.queues = queues,
                                    .queue_count = count,
                                    .default_queue = "",
                                    .root_order = "",
                                    .classes = classes,
                                    .class_count = class_count,
                                    .default_class = ""}};
}

/* These queues from now on, and the usual classes. */
static inline void bed_queues(struct bed *bed, const struct queue_spec *queues, uint32_t count)
{
    const struct event event = rules_event(queues, count, NULL, 0);

    bed_apply(bed, &event);
}

static inline void bed_open_orders(struct bed *bed)
{
    bed_open_with(bed, &(struct core_config){.placement = &place_first,
                                             .order = &in_turn,
                                             .orders = test_orders,
                                             .order_count = TEST_ORDERS});
}

/* A job of one task. What is NULL is "". */
struct of_user {
    uint64_t id;
    const char *queue, *user, *class;
    uint32_t gpus, tasks;
    bool fixed;
};

static inline struct event job_of(const struct of_user *of, struct group_spec *group,
                                  struct job_layout_spec *layout)
{
    *group = (struct group_spec){.tasks = of->tasks > 0 ? of->tasks : 1, .gpus = of->gpus};
    *layout = (struct job_layout_spec){.groups = group, .group_count = 1, .slowdown_ppm = 1000000};
    return (struct event){.type = EVENT_JOB_SUBMITTED,
                          .job = {.id = of->id,
                                  .queue = of->queue != NULL ? of->queue : "",
                                  .user = of->user != NULL ? of->user : "",
                                  .name = "",
                                  .class = of->class != NULL ? of->class : "",
                                  .layouts = layout,
                                  .layout_count = 1,
                                  .fixed = of->fixed,
                                  .grace_us = -1,
                                  .min_run_us = -1,
                                  .remaining_us = -1}};
}

static inline void bed_submit_of(struct bed *bed, const struct of_user *of)
{
    struct group_spec group;
    struct job_layout_spec layout;
    const struct event event = job_of(of, &group, &layout);

    bed_apply(bed, &event);
}
#define SUBMIT_OF(bed, ...) bed_submit_of(bed, &(struct of_user){__VA_ARGS__})

static inline void bed_refuses_of(struct bed *bed, int error, const struct of_user *of)
{
    struct group_spec group;
    struct job_layout_spec layout;
    const struct event event = job_of(of, &group, &layout);

    bed_refuses(bed, &event, error);
}
#define REFUSES_OF(bed, error, ...) bed_refuses_of(bed, error, &(struct of_user){__VA_ARGS__})

/* GPUs that a queue or user's leaf holds. */
static inline int64_t queue_gpus(const struct bed *bed, const char *name)
{
    const struct queues *q = &bed->core->queues;

    for (uint32_t i = 1; i < q->count; i++)
        if (strcmp(core_name(bed->core, q->rows[i].name), name) == 0)
            return q->rows[i].used.of[RES_GPU_MGPU] / GPU_MGPU;
    return -1;
}
