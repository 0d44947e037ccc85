/* SPDX-License-Identifier: Apache-2.0 */
/* never.h - what it is that no node of the cluster has, for a gang that can never run there. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "core/obstacles.h"

struct core;

enum never_kind {
    NEVER_UNKNOWN, /* nothing: the nodes would do by now */
    NEVER_MODEL,   /* GPUs of a model that the job takes */
    NEVER_LABEL,   /* a label, among nodes of these models with the labels before */
    NEVER_SMALL,   /* so much of a thing, among nodes of these models and labels */
    NEVER_MODES, /* GPUs in a mode that the job may have them in, and room there for its context */
    NEVER_MIG,   /* GPUs that may be split into such an instance */
    NEVER_TASKS, /* there are such nodes, and too few for so many tasks */
    NEVER_COUNT,
};

struct never {
    enum never_kind kind;
    uint32_t name;      /* MODEL: name id of the first that it takes; LABEL */
    uint32_t more;      /* MODEL: how many others it takes */
    enum shortage what; /* SMALL */
    int64_t asked;      /* SMALL: of each task, in the unit of `what`; TASKS: tasks */
    int64_t most;       /* SMALL: that any of these nodes has, 0 of GPU memory: not known;
                           TASKS: they have room for */
};

/* It is memory of GPUs of which it is not known how much they have. */
bool never_is_unknown(const struct never *never);

/* Of the gang's first layout, the first group for which the nodes would not do even if they were
 * empty (place_never). O(groups * classes * labels) */
struct never never_find(struct core *core, uint32_t gang);
