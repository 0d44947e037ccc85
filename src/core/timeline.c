/* SPDX-License-Identifier: Apache-2.0 */
/* timeline.c - the books of nodes as they will be. */
#include "core/timeline.h"

#include <string.h>

#include "base/mem.h"
#include "core/fit.h"
#include "core/impl.h"

void timeline_done(struct timeline *t)
{
    mem_free(t->rows);
    mem_free(t->at);
    memset(t, 0, sizeof *t);
}

/* ---- amounts ---- */

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Whoever joins then must go with both. */
static void sharers_most(struct sharers *most, const struct sharers *other)
{
    if (most->count == 0 || (sharers_agree(most) && sharers_agree(other) &&
                             sharers_company(most) == sharers_company(other)))
        *most = other->count > most->count ? *other : *most;
    else
        sharers_join(most, other, 1);
}

static void hold_most(struct hold *most, const struct hold *other, uint32_t gpus, bool mig)
{
    most->mcpu = larger(most->mcpu, other->mcpu);
    most->memory_bytes = larger(most->memory_bytes, other->memory_bytes);
    for (uint32_t i = 0; i < gpus; i++) {
        most->gpu_mgpu[i] = (int32_t)larger(most->gpu_mgpu[i], other->gpu_mgpu[i]);
        most->gpu_bytes[i] = larger(most->gpu_bytes[i], other->gpu_bytes[i]);
        sharers_most(&most->sharers[i], &other->sharers[i]);
        if (mig)
            mig_held_most(&most->mig[i], &other->mig[i]);
    }
}

/* ---- time ---- */

static uint32_t first_on(const struct core *core, uint32_t node)
{
    return node < core->reserve.on_node_cap ? core->reserve.on_node[node] : ROW_NONE;
}

static void held_at(const struct core *core, uint32_t node, int64_t at_us, struct hold *out)
{
    const struct reserve *r = &core->reserve;
    uint32_t t = core->nodes.rows[node].first_task;

    hold_clear(core, node, out);
    for (; t != ROW_NONE; t = core->jobs.tasks[t].node_next) {
        const struct task *task = &core->jobs.tasks[t];

        if (at_us <= core->now_us || core->jobs.rows[task->job].ends_us > at_us)
            hold_add(core, node, task->shape, task->gpu_mask, task->mig_start, out);
    }
    for (uint32_t i = first_on(core, node); i != ROW_NONE; i = r->on[i].next) {
        const struct reservation *row = &r->rows[r->on[i].row];
        const struct trial_item *place = &row->places[r->on[i].place];

        if (row->at_us <= at_us && at_us < row->until_us && reservation_counts(core, r->on[i].row))
            hold_add(core, node, place->shape, place->gpu_mask, place->mig_start, out);
    }
}

static void most_held(const struct core *core, uint32_t node, struct window window,
                      struct hold *out)
{
    const struct reserve *r = &core->reserve;
    const uint32_t gpus = nodes_class_of(&core->nodes, node)->gpu_count;
    int64_t last_us = window.from_us; /* tasks of one gang follow each other */
    struct hold other;

    held_at(core, node, window.from_us, out);
    for (uint32_t i = first_on(core, node); i != ROW_NONE; i = r->on[i].next) {
        const struct reservation *row = &r->rows[r->on[i].row];

        if (row->at_us <= window.from_us || row->at_us >= window.until_us ||
            row->at_us == last_us || !reservation_counts(core, r->on[i].row))
            continue;
        last_us = row->at_us;
        held_at(core, node, row->at_us, &other);
        hold_most(out, &other, gpus, core->nodes.rows[node].mig_first != ROW_NONE);
    }
}

/* ---- showing ---- */

static struct shown *shown_of(struct core *core, uint32_t node)
{
    struct timeline *t = &core->timeline;

    vec_reserve(t->at, t->at_cap, core->nodes.count);
    if (t->at[node] == 0) {
        const struct shown row = {.node = node};

        vec_push(t->rows, t->count, t->cap, row);
        t->at[node] = t->count;
    }
    return &t->rows[t->at[node] - 1];
}

/* hold - what the node really holds */
static void subtract_held(const struct core *core, uint32_t node, struct hold *hold)
{
    const struct node *row = &core->nodes.rows[node];

    hold->mcpu -= row->held_mcpu;
    hold->memory_bytes -= row->held_memory_bytes;
    for (uint32_t i = 0; i < nodes_class_of(&core->nodes, node)->gpu_count; i++) {
        hold->gpu_mgpu[i] -= core->nodes.gpus[row->gpu_first + i].held_mgpu;
        hold->gpu_bytes[i] -= core->nodes.gpus[row->gpu_first + i].held_bytes;
        sharers_join(&hold->sharers[i], &core->nodes.gpus[row->gpu_first + i].sharers, -1);
        if (row->mig_first != ROW_NONE)
            mig_held_join(&hold->mig[i], &nodes_mig(&core->nodes, node, i)->held, -1);
    }
}

void timeline_show(struct core *core, uint32_t node, struct window window)
{
    struct shown *shown = shown_of(core, node);
    struct hold most;

    ledger_hold(core, node, &shown->more, -1);
    most_held(core, node, window, &most);
    subtract_held(core, node, &most);
    shown->more = most;
    ledger_hold(core, node, &shown->more, 1);
}

void timeline_show_all(struct core *core)
{
    const struct reserve *r = &core->reserve;

    for (uint32_t i = 0; i < r->on_count; i++) {
        const struct trial_item *place;
        struct hold hold = {0};

        if (r->on[i].row == ROW_NONE || !reservation_counts(core, r->on[i].row))
            continue;
        place = &r->rows[r->on[i].row].places[r->on[i].place];
        hold_add(core, place->node, place->shape, place->gpu_mask, place->mig_start, &hold);
        ledger_hold(core, place->node, &hold, 1);
        hold_add(core, place->node, place->shape, place->gpu_mask, place->mig_start,
                 &shown_of(core, place->node)->more);
    }
}

void timeline_hide(struct core *core)
{
    struct timeline *t = &core->timeline;

    for (uint32_t i = 0; i < t->count; i++) {
        t->at[t->rows[i].node] = 0;
        ledger_hold(core, t->rows[i].node, &t->rows[i].more, -1);
    }
    t->count = 0;
}

/* ---- room for given places ---- */

/* On a GPU that may be split: are the instances in `used` on no others' slices - those in `held`,
 * which has them too, and those that stand - and does none stand where there is to be none? */
static bool mig_goes(const struct core *core, uint32_t node, uint32_t gpu, const struct hold *held,
                     const struct hold *used)
{
    const struct mig_book *book = nodes_mig(&core->nodes, node, gpu);
    const struct mig_held *own = &used->mig[gpu];

    if (used->gpu_mgpu[gpu] == 0)
        return true;
    if (book->leaving != 0)
        return false;
    if (own->layout == 0)
        return (book->made.layout | book->made.blocked) == 0;
    return !mig_held_clashes(&held->mig[gpu], own) &&
           mig_held_stands(&book->made, class_mig(nodes_class_of(&core->nodes, node)), own) &&
           (book->failed_until_us == 0 || (own->layout & ~book->made.layout) == 0);
}

/* `used` is part of `held`. Elsewhere more may be held than there is (a deficit, a claim), which is
 * no matter to who does not ask for it. */
static bool is_within(const struct core *core, uint32_t node, const struct hold *held,
                      const struct hold *used)
{
    const struct node_class *class = nodes_class_of(&core->nodes, node);

    if ((used->mcpu > 0 && held->mcpu > class->cpu_mcpu) ||
        (used->memory_bytes > 0 && held->memory_bytes > class->memory_bytes))
        return false;
    for (uint32_t i = 0; i < class->gpu_count; i++)
        if ((used->gpu_mgpu[i] > 0 && held->gpu_mgpu[i] > GPU_MGPU) ||
            (used->gpu_bytes[i] > 0 && held->gpu_bytes[i] > class->gpu_memory_bytes) ||
            (used->sharers[i].count > 0 && !sharers_may(&held->sharers[i], class)) ||
            (class->mig_type > 0 && !mig_goes(core, node, i, held, used)))
            return false;
    return true;
}

static bool node_fits(struct core *core, const struct trial_item *places, uint32_t count,
                      uint32_t node, struct window window)
{
    struct hold held, used = {0};
    struct need need;

    if (core->nodes.rows[node].state == ROW_NONE)
        return false;
    most_held(core, node, window, &held);
    for (uint32_t i = 0; i < count; i++) {
        if (places[i].node != node)
            continue;
        if ((core->nodes.rows[node].lost_mask & places[i].gpu_mask) != 0 ||
            !fit_ever(core, places[i].shape, core->nodes.rows[node].class_id, &need))
            return false;
        hold_add(core, node, places[i].shape, places[i].gpu_mask, places[i].mig_start, &held);
        hold_add(core, node, places[i].shape, places[i].gpu_mask, places[i].mig_start, &used);
    }
    return is_within(core, node, &held, &used);
}

bool timeline_fits(struct core *core, const struct trial_item *places, uint32_t count,
                   struct window window)
{
    for (uint32_t i = 0; i < count; i++) {
        bool seen = false;

        for (uint32_t j = 0; j < i && !seen; j++)
            seen = places[j].node == places[i].node;
        if (!seen && !node_fits(core, places, count, places[i].node, window))
            return false;
    }
    return count > 0;
}
