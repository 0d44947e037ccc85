/* SPDX-License-Identifier: Apache-2.0 */
/* submit.h - checking and interning what a job asks for. */
#pragma once
#include <stdint.h>

struct core;
struct err;
struct group_spec;

/* 0, or -EINVAL with the field that is out of range. */
int group_check(const struct group_spec *group, struct err *err);

/* The shape of one task of the group. */
uint32_t group_shape(struct core *core, const struct group_spec *group);
