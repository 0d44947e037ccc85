/* SPDX-License-Identifier: Apache-2.0 */
/* gate.c - jobs that are held, wait for others, or for their array. */
#include "core/gate.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/tape.h"
#include "core/impl.h"
#include "core/life.h"

void gate_init(struct gate *g)
{
    memset(g, 0, sizeof *g);
    map_init(&g->after);
    map_init(&g->array_by_name);
    g->edge_free = g->array_free = ROW_NONE;
}

void gate_done(struct gate *g)
{
    mem_free(g->edges);
    mem_free(g->arrays);
    map_done(&g->after);
    map_done(&g->array_by_name);
    memset(g, 0, sizeof *g);
}

void gate_copy(struct gate *dst, const struct gate *src)
{
    *dst = *src;
    dst->edges = mem_copy(src->edges, src->edge_count, sizeof *src->edges);
    dst->edge_cap = src->edge_count;
    dst->arrays = mem_copy(src->arrays, src->array_count, sizeof *src->arrays);
    dst->array_cap = src->array_count;
    map_copy(&dst->after, &src->after);
    map_copy(&dst->array_by_name, &src->array_by_name);
}

/* ---- waiting for other jobs ---- */

static bool is_met(enum after_end end, bool well)
{
    return end == AFTER_ANY || (end == AFTER_OK) == well;
}

static void wait_in_vain(struct core *core, uint32_t job)
{
    if (core->jobs.rows[job].in_vain)
        return;
    core->jobs.rows[job].in_vain = true;
    core->jobs.rows[job].reason = REASON_AFTER;
    job_unsettle(core, job);
}

static void edge_add(struct core *core, uint32_t job, const struct job_after *after)
{
    struct gate *g = &core->gate;
    uint32_t row = g->edge_free, first = ROW_NONE;

    (void)map_find(&g->after, after->job_id, &first);
    if (row != ROW_NONE) {
        g->edge_free = g->edges[row].next;
    } else {
        vec_reserve(g->edges, g->edge_cap, g->edge_count + 1);
        row = g->edge_count++;
    }
    g->edges[row] = (struct after_edge){after->job_id, job, after->end, first};
    map_put(&g->after, after->job_id, row);
    core->jobs.rows[job].after_left++;
}

void gate_wait_for(struct core *core, uint32_t job, const struct job_after *after)
{
    const enum ended_known known = ended_find(&core->ended, after->job_id);

    if (jobs_find(&core->jobs, after->job_id) != ROW_NONE)
        edge_add(core, job, after);
    else if (!is_met(after->end, known == ENDED_WELL))
        wait_in_vain(core, job);
}

/* An edge ends: its job has one less to wait for, or waits in vain. */
static void edge_end(struct core *core, const struct after_edge *edge, bool well)
{
    struct job *row = &core->jobs.rows[edge->job];

    row->after_left--;
    if (!is_met(edge->end, well))
        wait_in_vain(core, edge->job);
    if (row->after_left == 0 && !row->in_vain)
        gate_try(core, edge->job);
}

static int by_sequence(const void *a, const void *b, void *arg)
{
    const struct core *core = arg;
    const uint64_t x = core->jobs.rows[((const struct after_edge *)a)->job].sequence;
    const uint64_t y = core->jobs.rows[((const struct after_edge *)b)->job].sequence;

    return x < y ? -1 : x > y;
}

static void edges_end(struct core *core, uint64_t on, bool well)
{
    struct gate *g = &core->gate;
    struct after_edge *ended = NULL;
    uint32_t count = 0, cap = 0, row;

    if (!map_find(&g->after, on, &row))
        return;
    map_remove(&g->after, on);
    while (row != ROW_NONE) {
        const uint32_t next = g->edges[row].next;

        vec_push(ended, count, cap, g->edges[row]);
        g->edges[row] = (struct after_edge){.job = ROW_NONE, .next = g->edge_free};
        g->edge_free = row;
        row = next;
    }
    sort_stable(ended, count, sizeof *ended, by_sequence, core);
    for (uint32_t i = 0; i < count; i++)
        edge_end(core, &ended[i], well);
    mem_free(ended);
}

/* The job goes before what it waits for. */
static void edges_forget(struct core *core, uint32_t job)
{
    struct gate *g = &core->gate;

    for (uint32_t row = 0; core->jobs.rows[job].after_left > 0 && row < g->edge_count; row++) {
        struct after_edge *edge = &g->edges[row];
        uint32_t first, *link = &first;

        if (edge->job != job)
            continue;
        (void)map_find(&g->after, edge->on, &first);
        while (*link != row)
            link = &g->edges[*link].next;
        *link = edge->next;
        if (first == ROW_NONE)
            map_remove(&g->after, edge->on);
        else
            map_put(&g->after, edge->on, first);
        *edge = (struct after_edge){.job = ROW_NONE, .next = g->edge_free};
        g->edge_free = row;
        core->jobs.rows[job].after_left--;
    }
}

/* ---- arrays ---- */

static uint64_t array_key(uint32_t user, uint32_t name)
{
    return (uint64_t)user << 32 | name;
}

bool gate_array_agrees(const struct gate *g, uint32_t user, uint32_t name, uint32_t limit)
{
    uint32_t row;

    return !map_find(&g->array_by_name, array_key(user, name), &row) ||
           g->arrays[row].limit == (limit > 0 ? limit : UINT32_MAX);
}

static uint32_t array_new(struct gate *g, uint32_t user, uint32_t name, uint32_t limit)
{
    uint32_t row = g->array_free;

    if (row != ROW_NONE) {
        g->array_free = g->arrays[row].next_free;
    } else {
        vec_reserve(g->arrays, g->array_cap, g->array_count + 1);
        row = g->array_count++;
    }
    g->arrays[row] = (struct array){
        .user = user,
        .name = name,
        .limit = limit > 0 ? limit : UINT32_MAX,
        .first = ROW_NONE,
        .last = ROW_NONE,
    };
    map_put(&g->array_by_name, array_key(user, name), row);
    return row;
}

void gate_join_array(struct core *core, uint32_t job, uint32_t name, uint32_t limit)
{
    struct gate *g = &core->gate;
    const uint32_t user = core->jobs.rows[job].user;
    uint32_t row;

    if (!map_find(&g->array_by_name, array_key(user, name), &row))
        row = array_new(g, user, name, limit);
    g->arrays[row].jobs++;
    core->jobs.rows[job].array = row;
}

/* Into the list of those that are kept out, by sequence; nearly always at its end. */
static void line_up(struct core *core, uint32_t job)
{
    struct job *rows = core->jobs.rows;
    struct array *array = &core->gate.arrays[rows[job].array];
    uint32_t before = array->last;

    while (before != ROW_NONE && rows[before].sequence > rows[job].sequence)
        before = rows[before].array_prev;
    rows[job].array_prev = before;
    rows[job].array_next = before != ROW_NONE ? rows[before].array_next : array->first;
    if (rows[job].array_next != ROW_NONE)
        rows[rows[job].array_next].array_prev = job;
    else
        array->last = job;
    if (before != ROW_NONE)
        rows[before].array_next = job;
    else
        array->first = job;
    rows[job].lined_up = true;
}

static void line_leave(struct core *core, uint32_t job)
{
    struct job *rows = core->jobs.rows;
    struct array *array = &core->gate.arrays[rows[job].array];

    if (rows[job].array_prev != ROW_NONE)
        rows[rows[job].array_prev].array_next = rows[job].array_next;
    else
        array->first = rows[job].array_next;
    if (rows[job].array_next != ROW_NONE)
        rows[rows[job].array_next].array_prev = rows[job].array_prev;
    else
        array->last = rows[job].array_prev;
    rows[job].lined_up = false;
}

/* One that was in has left: the first of those that are kept out comes in. */
static void array_out(struct core *core, uint32_t row)
{
    struct array *array = &core->gate.arrays[row];
    const uint32_t next = array->first;

    array->in--;
    if (next == ROW_NONE)
        return;
    line_leave(core, next);
    gate_try(core, next);
}

/* It is in no more, but it is still of its array. */
static void array_let_go(struct core *core, uint32_t job)
{
    if (!core->jobs.rows[job].let_in)
        return;
    core->jobs.rows[job].let_in = false;
    array_out(core, core->jobs.rows[job].array);
}

static void array_leave(struct core *core, uint32_t job)
{
    struct gate *g = &core->gate;
    const uint32_t row = core->jobs.rows[job].array;

    if (row == ROW_NONE)
        return;
    if (core->jobs.rows[job].lined_up)
        line_leave(core, job);
    array_let_go(core, job);
    core->jobs.rows[job].array = ROW_NONE;
    if (--g->arrays[row].jobs > 0)
        return;
    map_remove(&g->array_by_name, array_key(g->arrays[row].user, g->arrays[row].name));
    g->arrays[row].next_free = g->array_free;
    g->array_free = row;
}

/* ---- the gate ---- */

static void keep_out(struct core *core, uint32_t job, enum reason reason)
{
    core->jobs.rows[job].reason = reason;
    job_unsettle(core, job); /* so that the next step tells why */
}

void gate_try(struct core *core, uint32_t job)
{
    struct job *row = &core->jobs.rows[job];
    struct array *array = row->array != ROW_NONE ? &core->gate.arrays[row->array] : NULL;

    check(row->state == JOB_PENDING && !row->queued && !row->lined_up);
    if (row->held && !row->in_vain) {
        keep_out(core, job, REASON_HELD);
        array_let_go(core, job);
    } else if (row->after_left > 0 || row->in_vain) {
        keep_out(core, job, REASON_AFTER);
    } else if (array != NULL && !row->let_in && array->in >= array->limit) {
        line_up(core, job);
        keep_out(core, job, REASON_ARRAY);
    } else {
        if (array != NULL && !row->let_in) {
            row->let_in = true;
            array->in++;
        }
        job_enqueue(core, job);
    }
}

void gate_take_out(struct core *core, uint32_t job, bool leave)
{
    struct job *row = &core->jobs.rows[job];

    check(row->state == JOB_PENDING);
    if (row->queued)
        job_dequeue(core, job);
    if (row->lined_up)
        line_leave(core, job);
    if (leave)
        array_let_go(core, job);
}

void gate_ended(struct core *core, uint32_t job, bool well)
{
    edges_forget(core, job);
    array_leave(core, job);
    edges_end(core, core->jobs.rows[job].id, well);
    ended_add(&core->ended, core->jobs.rows[job].id, well);
}

/* ---- the walk ---- */

static void edge_walk(struct core *core, struct after_edge *edge, struct tape *t)
{
    tape_u64(t, &edge->on);
    tape_row(t, &edge->job, core->jobs.count, "job that waits for another");
    tape_enum(t, edge->end, AFTER_COUNT - 1, "how another job is to end");
    if (tape_loads(t) && !t->failed && core->jobs.rows[edge->job].state != JOB_PENDING)
        tape_fail(t, "job row %u: does not wait for another", edge->job);
}

static int by_job(const void *a, const void *b, void *arg)
{
    const struct after_edge *x = a, *y = b;

    (void)arg;
    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    if (x->on != y->on)
        return x->on < y->on ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

/* The edges by job: which row an edge is in does not count. */
static struct after_edge *edges_by_job(const struct gate *g, uint32_t *out_count)
{
    struct after_edge *edges = mem_alloc(g->edge_count, sizeof *edges);
    uint32_t count = 0;

    for (uint32_t i = 0; i < g->edge_count; i++)
        if (g->edges[i].job != ROW_NONE)
            edges[count++] = g->edges[i];
    sort_stable(edges, count, sizeof *edges, by_job, NULL);
    *out_count = count;
    return edges;
}

static void edges_walk(struct core *core, struct tape *t)
{
    uint32_t count;
    struct after_edge *edges = edges_by_job(&core->gate, &count), before = {0};

    tape_count(t, &count, "jobs that wait for others");
    for (uint32_t i = 0; tape_more(t, i, count); i++) {
        struct after_edge loaded = {0};

        edge_walk(core, tape_loads(t) ? &loaded : &edges[i], t);
        if (tape_loads(t) && i > 0 && by_job(&before, &loaded, NULL) > 0)
            tape_fail(t, "job row %u: is out of order among those that wait", loaded.job);
        before = loaded;
        if (tape_loads(t) && !t->failed)
            edge_add(core, loaded.job, &(struct job_after){loaded.on, loaded.end});
    }
    mem_free(edges);
}

/* Arrays follow from their jobs, in the order of rows; which is in is the jobs' own. */
static void array_job_walk(struct core *core, uint32_t job, struct tape *t)
{
    struct job *row = &core->jobs.rows[job];
    bool of_array = row->array != ROW_NONE;
    uint32_t name = of_array ? core->gate.arrays[row->array].name : 0;
    uint32_t limit = of_array ? core->gate.arrays[row->array].limit : 1;

    tape_bool(t, &of_array);
    tape_bool(t, &row->let_in);
    tape_bool(t, &row->lined_up);
    if (!of_array) {
        if (tape_loads(t) && (row->let_in || row->lined_up))
            tape_fail(t, "job row %u: stands in no array", job);
        return;
    }
    tape_row(t, &name, names_count(&core->names), "name of an array");
    tape_u32(t, &limit);
    if (!tape_loads(t) || t->failed)
        return;
    if (row->lined_up && (row->let_in || row->queued || row->state != JOB_PENDING))
        tape_fail(t, "job row %u: is kept out by its array and is in", job);
    if (limit == 0 || !gate_array_agrees(&core->gate, row->user, name, limit))
        tape_fail(t, "job row %u: its array has another limit", job);
    gate_join_array(core, job, name, limit == UINT32_MAX ? 0 : limit);
    core->gate.arrays[row->array].in += row->let_in;
    if (row->lined_up)
        line_up(core, job);
}

void gate_walk(struct core *core, struct tape *t)
{
    edges_walk(core, t);
    for (uint32_t job = 0; tape_more(t, job, core->jobs.count); job++)
        if (core->jobs.rows[job].state != JOB_FREE)
            array_job_walk(core, job, t);
}
