/* SPDX-License-Identifier: Apache-2.0 */
/* reserve_plan.c - when and where a job can start beside reservations: now, or at the latest. */
#include "base/mem.h"
#include "base/sort.h"
#include "core/ends.h"
#include "core/impl.h"
#include "core/life.h"
#include "core/place.h"
#include "core/reserve.h"
#include "core/reserve_impl.h"

/* A time and places that were found for a job. */
struct found {
    int64_t at_us, until_us;
    uint32_t layout;
    struct trial_item *places; /* [count] owned */
    uint32_t count, cap;
};

static struct window window_of(int64_t from_us, int64_t bound_us)
{
    return (struct window){from_us, from_us + bound_us};
}

static bool overlaps(const struct reservation *row, struct window window)
{
    return row->at_us < window.until_us && row->until_us > window.from_us;
}

static struct reservation *own_row(struct core *core, uint32_t job)
{
    const uint32_t row = core->jobs.rows[job].reservation;

    return row != ROW_NONE ? &core->reserve.rows[row] : NULL;
}

/* From now on its own does not count, and others do: all, or those before it in turn. */
static void look_for(struct core *core, uint32_t job, bool beside_all)
{
    core->reserve.own = core->jobs.rows[job].reservation;
    core->reserve.beside_all = beside_all;
}

static bool some_wait_for_their_turn(const struct core *core)
{
    const struct reserve *r = &core->reserve;

    for (uint32_t row = 0; row < r->count; row++)
        if (r->rows[row].job != ROW_NONE && r->rows[row].turn == ROW_NONE && row != r->own)
            return true;
    return false;
}

/* ---- bounds of queues ---- */

/* What reservations will hold in this window, as if it was held (sign 1), or not (-1). */
static void book_reserved(struct core *core, struct window window, int sign)
{
    const struct reserve *r = &core->reserve;

    for (uint32_t row = 0; core->queues.books && row < r->count; row++)
        if (reservation_counts(core, row) && overlaps(&r->rows[row], window)) {
            const struct job *job = &core->jobs.rows[r->rows[row].job];

            queues_book(&core->queues, &job->at, BOOK_RESERVED, &core->shapes.gangs[job->gang].asks,
                        sign, core->now_us);
        }
}

static bool is_admitted(struct core *core, uint32_t job, enum held held)
{
    const struct job *row = &core->jobs.rows[job];
    struct refusal refusal;

    return queues_admit(&core->queues, &row->at, &core->shapes.gangs[row->gang].asks,
                        &core->capacity, held, &refusal);
}

/* What the job will have given back, as if it was leaving. */
static void book_ended(struct core *core, uint32_t job, int sign)
{
    const struct job *row = &core->jobs.rows[job];

    for (uint32_t i = 0; core->queues.books && i < row->task_count; i++) {
        const struct task *task = job_task(core, row, i);
        struct amounts amounts;

        if (task->left || task->leaving)
            continue; /* booked so already */
        amounts = task_amounts(core, task);
        queues_book(&core->queues, &row->at, BOOK_LEAVING, &amounts, sign, core->now_us);
    }
}

static bool has_ending_claim(const struct core *core, uint32_t job)
{
    return job_has_claim(&core->jobs.rows[job]) && core->jobs.rows[job].ends_us != TIME_NONE;
}

static void book_ended_by(struct core *core, int64_t at_us, int sign)
{
    for (uint32_t i = 0; core->queues.books && i < core->jobs.active_count; i++)
        if (core->jobs.rows[core->jobs.active[i]].ends_us <= at_us)
            book_ended(core, core->jobs.active[i], sign);
    for (uint32_t i = 0; core->queues.books && i < core->claimant_count; i++)
        if (has_ending_claim(core, core->claimants[i]) &&
            core->jobs.rows[core->claimants[i]].ends_us <= at_us)
            book_ended(core, core->claimants[i], sign);
}

/* ---- places in a window ---- */

/* Does a reservation that counts have a place there, in the window? */
static bool is_reserved(const struct core *core, uint32_t node, struct window window)
{
    const struct reserve *r = &core->reserve;

    for (uint32_t i = r->on_node[node]; i != ROW_NONE; i = r->on[i].next)
        if (reservation_counts(core, r->on[i].row) && overlaps(&r->rows[r->on[i].row], window))
            return true;
    return false;
}

/* Each node once, at the first place of its list. */
static bool next_listed(const struct reserve *r, uint32_t *i, uint32_t *out_node)
{
    while (*i < r->on_count) {
        const uint32_t at = (*i)++, row = r->on[at].row;

        if (row == ROW_NONE)
            continue;
        *out_node = r->rows[row].places[r->on[at].place].node;
        if (r->on_node[*out_node] == at)
            return true;
    }
    return false;
}

static void show_reserved(struct core *core, struct window window)
{
    uint32_t node;

    for (uint32_t i = 0; next_listed(&core->reserve, &i, &node);)
        if (is_reserved(core, node, window))
            timeline_show(core, node, window);
}

/* On trial, by the books as they are shown. */
static bool place_within(struct core *core, uint32_t job, enum held held, uint32_t *out_layout)
{
    struct refusal refusal;
    enum reason reason;

    return is_admitted(core, job, held) &&
           place_job(core, job, held, out_layout, &reason, &refusal) == PLACE_DONE;
}

static bool place_now(struct core *core, uint32_t job, struct window window, uint32_t *out_layout)
{
    bool done;

    show_reserved(core, window);
    book_reserved(core, window, 1);
    done = place_within(core, job, HELD_NOW, out_layout);
    book_reserved(core, window, -1);
    timeline_hide(core);
    return done;
}

static const struct layout *layout_reserved(const struct core *core, const struct reservation *row)
{
    const uint32_t gang = core->jobs.rows[row->job].gang;

    return &core->shapes.layouts[core->shapes.gangs[gang].first_layout + row->layout];
}

/* Where its reservation is. */
static bool place_as_reserved(struct core *core, uint32_t job, struct window window,
                              uint32_t *out_layout)
{
    const struct reservation *row = own_row(core, job);
    const uint32_t mark = trial_mark(&core->trial);
    struct refusal refusal;
    bool done;

    if (row == NULL || !timeline_fits(core, row->places, row->place_count, window))
        return false;
    book_reserved(core, window, 1);
    done = is_admitted(core, job, HELD_NOW);
    book_reserved(core, window, -1);
    *out_layout = row->layout;
    if (!done)
        return false;
    for (uint32_t i = 0; i < row->place_count; i++)
        trial_take(core, row->places[i].node, row->places[i].shape, row->places[i].gpu_mask,
                   row->places[i].mig_start, row->places[i].slot);
    if (place_within_bounds(core, job, mark, row->place_count, HELD_NOW, &refusal) &&
        slowdown_within(core, layout_reserved(core, row), mark))
        return true;
    trial_undo(core, mark);
    return false;
}

/* Can it have its places so much later, by those before it in turn? */
static bool is_to_be_had(struct core *core, const struct reservation *row, int64_t later_us)
{
    const struct window window = {row->at_us + later_us, row->until_us + later_us};
    bool admitted;

    if (window.from_us <= core->now_us)
        return false;
    look_for(core, row->job, false);
    if (!timeline_fits(core, row->places, row->place_count, window))
        return false;
    book_ended_by(core, window.from_us, 1);
    book_reserved(core, window, 1);
    admitted = is_admitted(core, row->job, HELD_IN_FUTURE);
    book_reserved(core, window, -1);
    book_ended_by(core, window.from_us, -1);
    return admitted;
}

/* Can it have what it was promised? */
static bool is_kept(struct core *core, uint32_t job)
{
    const struct reservation *row = own_row(core, job);

    return row != NULL && is_to_be_had(core, row, 0);
}

/* Or can it in a moment, when it was heard of that somebody was killed (ends.h)? Then it waits for
 * that: to look for another place would take what was promised to others. */
static bool is_kept_waiting(struct core *core, uint32_t job)
{
    struct reservation *row = own_row(core, job);
    int64_t later_us;

    if (row == NULL || row->told_us == TIME_NONE)
        return false;
    later_us = row->told_us + KILLED_WITHIN_US - row->at_us;
    if (later_us <= 0 || !ends_some_are_killed(core, row->at_us + later_us) ||
        !is_to_be_had(core, row, later_us))
        return false;
    row->at_us += later_us;
    row->until_us += later_us;
    row->changed = true;
    return true;
}

bool reserve_binds(struct core *core, uint32_t job)
{
    look_for(core, job, true);
    for (uint32_t row = 0; row < core->reserve.count; row++)
        if (reservation_counts(core, row))
            return true;
    return false;
}

static struct window from_now(const struct core *core)
{
    return (struct window){core->now_us, INT64_MAX};
}

void reserve_show(struct core *core, uint32_t job)
{
    look_for(core, job, false);
    book_reserved(core, from_now(core), 1);
    timeline_show_all(core);
}

void reserve_hide(struct core *core)
{
    timeline_hide(core);
    book_reserved(core, from_now(core), -1);
}

static struct window rest_of_run(const struct core *core, uint32_t running)
{
    return (struct window){core->now_us, core->jobs.rows[running].ends_us};
}

void reserve_show_beside(struct core *core, uint32_t running)
{
    look_for(core, running, false);
    show_reserved(core, rest_of_run(core, running));
    book_reserved(core, rest_of_run(core, running), 1);
}

void reserve_hide_beside(struct core *core, uint32_t running)
{
    book_reserved(core, rest_of_run(core, running), -1);
    timeline_hide(core);
}

/* ---- the earliest time ---- */

static int by_time(const void *a, const void *b, void *arg)
{
    const struct ending *x = a, *y = b;

    (void)arg;
    if (x->at_us != y->at_us)
        return x->at_us < y->at_us ? -1 : 1;
    return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

static void list_ending(struct core *core, uint32_t job, int64_t before_us)
{
    struct reserve *r = &core->reserve;
    const struct job *row = &core->jobs.rows[job];
    const struct ending ending = {row->ends_us, row->sequence, job};

    if (row->ends_us < before_us)
        vec_push(r->endings, r->ending_count, r->ending_cap, ending);
}

/* When room gets free before this time, the earliest first. */
static void list_endings(struct core *core, int64_t before_us)
{
    struct reserve *r = &core->reserve;

    r->ending_count = 0;
    for (uint32_t i = 0; i < core->jobs.active_count; i++)
        list_ending(core, core->jobs.active[i], before_us);
    for (uint32_t i = 0; i < core->claimant_count; i++)
        if (has_ending_claim(core, core->claimants[i]))
            list_ending(core, core->claimants[i], before_us);
    for (uint32_t row = 0; row < r->count; row++) {
        const struct ending ending = {r->rows[row].until_us, UINT64_MAX, ROW_NONE};

        if (reservation_counts(core, row) && ending.at_us < before_us &&
            !core->jobs.rows[r->rows[row].job].service)
            vec_push(r->endings, r->ending_count, r->ending_cap, ending);
    }
    sort_stable(r->endings, r->ending_count, sizeof *r->endings, by_time, NULL);
}

static void show_ended(struct core *core, uint32_t job, struct window window)
{
    const struct job *row = &core->jobs.rows[job];

    for (uint32_t i = 0; i < row->task_count; i++)
        if (!job_task(core, row, i)->left)
            timeline_show(core, job_task(core, row, i)->node, window);
}

/* Nodes with reservations are shown anew at each time, for the window moves over these. */
static void show_all_reserved(struct core *core, struct window window)
{
    uint32_t node;

    for (uint32_t i = 0; next_listed(&core->reserve, &i, &node);)
        timeline_show(core, node, window);
}

static bool place_then(struct core *core, uint32_t job, struct window window, struct found *out)
{
    const uint32_t mark = trial_mark(&core->trial);
    bool done;

    show_all_reserved(core, window);
    book_reserved(core, window, 1);
    done = place_within(core, job, HELD_IN_FUTURE, &out->layout);
    book_reserved(core, window, -1);
    if (!done)
        return false;
    out->at_us = window.from_us;
    out->until_us = window.until_us;
    for (uint32_t i = mark; i < core->trial.count; i++)
        vec_push(out->places, out->count, out->cap, core->trial.log[i]);
    trial_undo(core, mark);
    return true;
}

/* The earliest time before `before_us` at which it fits beside all that counts. */
static bool find_time(struct core *core, uint32_t job, int64_t before_us, struct found *out)
{
    const int64_t bound_us = run_bound_us(core, &core->jobs.rows[job]);
    const struct reserve *r = &core->reserve;
    uint32_t ended = 0;
    bool done = false;

    *out = (struct found){0};
    list_endings(core, before_us);
    while (ended < r->ending_count && !done) {
        const struct window window = window_of(r->endings[ended].at_us, bound_us);

        for (; ended < r->ending_count && r->endings[ended].at_us == window.from_us; ended++) {
            if (r->endings[ended].job == ROW_NONE)
                continue;
            show_ended(core, r->endings[ended].job, window);
            book_ended(core, r->endings[ended].job, 1);
        }
        done = window.from_us > core->now_us && place_then(core, job, window, out);
    }
    for (uint32_t i = 0; i < ended; i++)
        if (r->endings[i].job != ROW_NONE)
            book_ended(core, r->endings[i].job, -1);
    timeline_hide(core);
    return done;
}

/* The same beside those before it in turn; and at that time beside all others, if that is possible.
 */
static bool find_in_turn(struct core *core, uint32_t job, struct found *out)
{
    struct found better;

    look_for(core, job, false);
    if (!find_time(core, job, TIME_NONE, out))
        return false;
    if (!some_wait_for_their_turn(core))
        return true;
    look_for(core, job, true);
    if (find_time(core, job, out->at_us + 1, &better)) {
        mem_free(out->places);
        *out = better;
    }
    return true;
}

/* ---- who made it later ---- */

static bool shares_room(const struct reservation *row, uint32_t node, uint64_t gpu_mask)
{
    for (uint32_t i = 0; i < row->place_count; i++)
        if (row->places[i].node == node &&
            ((row->places[i].gpu_mask & gpu_mask) != 0 || row->places[i].gpu_mask == 0))
            return true;
    return false;
}

/* The first submitted of those that overran and are where the job should have started. */
static uint32_t overran_there(const struct core *core, const struct reservation *row)
{
    uint32_t found = ROW_NONE;

    for (uint32_t i = 0; i < row->place_count; i++) {
        uint32_t t = core->nodes.rows[row->places[i].node].first_task;

        for (; t != ROW_NONE; t = core->jobs.tasks[t].node_next) {
            const uint32_t job = core->jobs.tasks[t].job;

            if (core->jobs.rows[job].overran && core->jobs.rows[job].ends_us > row->at_us &&
                shares_room(row, core->jobs.tasks[t].node, core->jobs.tasks[t].gpu_mask) &&
                (found == ROW_NONE ||
                 core->jobs.rows[job].sequence < core->jobs.rows[found].sequence))
                found = job;
        }
    }
    return found;
}

/* A job before it in turn has moved there because of one. */
static uint64_t passed_on(const struct core *core, const struct reservation *row)
{
    const struct reserve *r = &core->reserve;
    const struct window window = {row->at_us, row->until_us};

    for (uint32_t other = 0; other < r->count; other++) {
        if (!reservation_counts(core, other) || r->rows[other].for_job == JOB_NONE ||
            !overlaps(&r->rows[other], window))
            continue;
        for (uint32_t i = 0; i < r->rows[other].place_count; i++)
            if (shares_room(row, r->rows[other].places[i].node, r->rows[other].places[i].gpu_mask))
                return r->rows[other].for_job;
    }
    return JOB_NONE;
}

/* Or, where that one has started meanwhile, by the overrun that this step began with. */
static uint64_t charged(struct core *core, uint32_t job, const struct reservation *row)
{
    const uint32_t overran = overran_there(core, row);
    uint64_t id;

    look_for(core, job, false);
    id = overran != ROW_NONE ? core->jobs.rows[overran].id : passed_on(core, row);
    return id != JOB_NONE ? id : core->reserve.charged;
}

/* What it was promised is not to be had any more, if it was promised something. */
static void note_broken(struct core *core, uint32_t job)
{
    struct reservation *row = own_row(core, job);

    if (row == NULL || row->place_count == 0 || row->for_job != JOB_NONE)
        return;
    row->for_job = charged(core, job, row);
    if (core->reserve.charged == JOB_NONE)
        core->reserve.charged = row->for_job;
}

/* ---- at its turn ---- */

bool reserve_place(struct core *core, uint32_t job, uint32_t *out_layout)
{
    const struct window window = window_of(core->now_us, run_bound_us(core, &core->jobs.rows[job]));

    look_for(core, job, true);
    if (place_now(core, job, window, out_layout) ||
        place_as_reserved(core, job, window, out_layout))
        return true;
    if (is_kept(core, job))
        return false;
    look_for(core, job, false);
    if (place_as_reserved(core, job, window, out_layout))
        return true;
    if (is_kept_waiting(core, job))
        return false;
    note_broken(core, job);
    if (!some_wait_for_their_turn(core))
        return false;
    look_for(core, job, false);
    return place_now(core, job, window, out_layout);
}

static struct reservation *row_for(struct core *core, uint32_t job)
{
    struct reserve *r = &core->reserve;

    if (core->jobs.rows[job].reservation == ROW_NONE) {
        const struct reservation row = {.job = job,
                                        .told_us = TIME_NONE,
                                        .late_by = JOB_NONE,
                                        .for_job = JOB_NONE,
                                        .turn = ROW_NONE};

        core->jobs.rows[job].reservation = r->count;
        vec_push(r->rows, r->count, r->cap, row);
    }
    return &r->rows[core->jobs.rows[job].reservation];
}

static void reserve_at(struct core *core, uint32_t job, const struct found *found)
{
    struct reservation *row = row_for(core, job);

    reservation_unlist(core, core->jobs.rows[job].reservation);
    core->reserve.again = core->reserve.again || row->place_count > 0;
    mem_free(row->places);
    row->places = found->places;
    row->place_count = found->count;
    row->layout = found->layout;
    row->at_us = found->at_us;
    row->until_us = found->until_us;
    row->changed = true;
    reservation_list(core, core->jobs.rows[job].reservation);
}

bool reserve_for(struct core *core, uint32_t job)
{
    struct reserve *r = &core->reserve;
    const uint32_t depth =
        core->reservation_depth < RESERVATIONS_MAX ? core->reservation_depth : RESERVATIONS_MAX;
    struct found found;

    if (r->turns >= depth || place_never(core, core->jobs.rows[job].gang))
        return false;
    if (is_kept(core, job) || is_kept_waiting(core, job)) {
        look_for(core, job, true);
        if (find_time(core, job, row_for(core, job)->at_us, &found))
            reserve_at(core, job, &found);
    } else {
        note_broken(core, job);
        if (!find_in_turn(core, job, &found))
            return false;
        reserve_at(core, job, &found);
    }
    row_for(core, job)->turn = r->turns++;
    return true;
}

/* ---- between steps ---- */

/* The table is cut short for it, so that the rest does not count. */
static bool has_room_beside(struct core *core, uint32_t job, uint32_t count)
{
    const struct window window = window_of(core->now_us, run_bound_us(core, &core->jobs.rows[job]));
    const uint32_t mark = trial_mark(&core->trial), all = core->reserve.count;
    uint32_t layout;
    bool room;

    core->reserve.count = count;
    reserve_list(core);
    look_for(core, job, true);
    room = place_now(core, job, window, &layout);
    trial_undo(core, mark);
    reserve_look_done(core);
    core->reserve.count = all;
    return room;
}

/* With `free` of them it has room, with `taken` of them it has none. */
uint32_t reserve_in_the_way(struct core *core, uint32_t job)
{
    uint32_t free = 0, taken = core->reserve.count;

    if (taken == 0 || !has_room_beside(core, job, 0) || has_room_beside(core, job, taken))
        return ROW_NONE;
    while (taken - free > 1) {
        const uint32_t half = free + (taken - free) / 2;

        if (has_room_beside(core, job, half))
            free = half;
        else
            taken = half;
    }
    return free;
}
