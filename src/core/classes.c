/* SPDX-License-Identifier: Apache-2.0 */
/* classes.c - priority classes. */
#include "core/classes.h"

#include <string.h>

#include "base/mem.h"
#include "base/names.h"
#include "base/tape.h"
#include "base/vec.h"
#include "core/job.h"
#include "core/jobs.h"
#include "core/queues.h"

static const struct {
    const char *name;
    uint32_t rank, takes_below;
} usual[] = {{"high", 300, 300}, {"medium", 200, 200}, {"low", 100, 0}};

#define USUAL_DEFAULT 1

void classes_init(struct classes *c, struct names *names)
{
    memset(c, 0, sizeof *c);
    for (uint32_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        classes_add(c, &(struct priority){.name = names_intern(names, usual[i].name),
                                          .rank = usual[i].rank,
                                          .takes_below = usual[i].takes_below,
                                          .grace_us = GRACE_US_DEFAULT});
    c->default_row = USUAL_DEFAULT;
}

void classes_done(struct classes *c)
{
    mem_free(c->rows);
    mem_free(c->users);
    memset(c, 0, sizeof *c);
}

void classes_copy(struct classes *dst, const struct classes *src)
{
    *dst = *src;
    dst->rows = mem_copy(src->rows, src->count, sizeof *src->rows);
    dst->cap = src->count;
    dst->users = mem_copy(src->users, src->user_count, sizeof *src->users);
    dst->user_cap = src->user_count;
}

uint32_t classes_add(struct classes *c, const struct priority *class)
{
    vec_push(c->rows, c->count, c->cap, *class);
    return c->count - 1;
}

uint32_t classes_find(const struct classes *c, uint32_t name)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (c->rows[i].name == name)
            return i;
    return ROW_NONE;
}

uint32_t classes_lowest(const struct classes *c)
{
    uint32_t lowest = UINT32_MAX;

    for (uint32_t i = 0; i < c->count; i++)
        if (c->rows[i].active > 0 && !c->rows[i].fixed && c->rows[i].rank < lowest)
            lowest = c->rows[i].rank;
    return lowest;
}

bool classes_may_take(const struct classes *c, uint32_t class_id)
{
    return classes_lowest(c) < c->rows[class_id].takes_below;
}

/* ---- the walk ---- */

static void class_walk(const struct classes *c, struct priority *row, uint32_t names,
                       struct tape *t)
{
    tape_row(t, &row->name, names, "name of a class");
    tape_max(t, &row->rank, CLASS_RANK_MAX, "rank of a class");
    tape_u32(t, &row->takes_below);
    tape_bool(t, &row->fixed);
    tape_i64_in(t, &row->grace_us, 0, TIME_US_MAX, "grace of a class");
    tape_i64_in(t, &row->min_run_us, 0, TIME_US_MAX, "minimum run time of a class");
    tape_bool(t, &row->bounded);
    bounds_walk(&row->user_limit, "limit of users of a class", t);
    tape_u32(t, &row->user_first);
    tape_u32(t, &row->user_count);
    if (tape_loads(t) && !t->failed &&
        (row->user_first > c->user_count || row->user_count > c->user_count - row->user_first))
        tape_fail(t, "class: its users are not there");
}

void classes_walk(struct classes *c, uint32_t names, struct tape *t)
{
    uint32_t count = c->user_count;

    tape_count(t, &count, "users of classes");
    for (uint32_t i = 0; tape_more(t, i, count); i++) {
        tape_grow(t, c->users, c->user_count, c->user_cap);
        tape_row(t, &c->users[i], names, "user of a class");
    }
    count = c->count;
    if (tape_loads(t))
        c->count = 0;
    tape_count(t, &count, "classes of jobs");
    for (uint32_t i = 0; tape_more(t, i, count); i++) {
        tape_grow(t, c->rows, c->count, c->cap);
        if (tape_loads(t))
            c->rows[i] = (struct priority){0};
        class_walk(c, &c->rows[i], names, t);
    }
    tape_row(t, &c->default_row, count, "default class");
    if (tape_loads(t) && !t->failed && count > CLASSES_MAX)
        tape_fail(t, "classes of jobs: at most %u", CLASSES_MAX);
}
