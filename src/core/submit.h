/* SPDX-License-Identifier: Apache-2.0 */
/* submit.h - checking and interning what a job asks for. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "core/standing.h"

struct core;
struct err;
struct group_spec;

/* 0, or -EINVAL with the field that is out of range. */
int group_check(const struct group_spec *group, struct err *err);

/* Where a job of this user stands that names the configured leaf and the class. May add rows. */
struct standing job_standing(struct core *core, uint32_t queue, uint32_t class_id, uint32_t user);

/* What a job says for all of its tasks. */
struct task_terms {
    bool exclusive; /* a node for each */
    uint32_t modes; /* that a part of a GPU may be had in; 0 = the default ones */
    uint32_t user;  /* name id */
    bool latency;
};

/* The shape of one task of the group. */
uint32_t group_shape(struct core *core, const struct group_spec *group,
                     const struct task_terms *terms);
