/* SPDX-License-Identifier: Apache-2.0 */
/* reserve.c - the table of reservations, and a pass over it. reserve_plan.c finds times and places.
 */
#include "core/reserve.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/tape.h"
#include "core/due.h"
#include "core/ends.h"
#include "core/impl.h"
#include "core/life.h"
#include "core/reserve_impl.h"

void reserve_done(struct reserve *r)
{
    for (uint32_t i = 0; i < r->count; i++)
        mem_free(r->rows[i].places);
    mem_free(r->rows);
    mem_free(r->on);
    mem_free(r->on_node);
    mem_free(r->endings);
    mem_free(r->asides);
    memset(r, 0, sizeof *r);
}

void reserve_copy(struct reserve *dst, const struct reserve *src)
{
    *dst = (struct reserve){.upset = src->upset};
    dst->rows = mem_copy(src->rows, src->count, sizeof *src->rows);
    dst->count = dst->cap = src->count;
    for (uint32_t i = 0; i < src->count; i++)
        dst->rows[i].places =
            mem_copy(src->rows[i].places, src->rows[i].place_count, sizeof *src->rows[i].places);
}

void reserve_upset(struct core *core)
{
    core->reserve.upset = core->reservation_depth > 0 || core->reserve.count > 0;
}

/* ---- places by node ---- */

void reservation_list(struct core *core, uint32_t row)
{
    struct reserve *r = &core->reserve;

    for (uint32_t i = 0; r->open && i < r->rows[row].place_count; i++) {
        const uint32_t node = r->rows[row].places[i].node;
        const struct reserved item = {row, i, r->on_node[node]};

        r->on_node[node] = r->on_count;
        vec_push(r->on, r->on_count, r->on_cap, item);
    }
}

void reservation_unlist(struct core *core, uint32_t row)
{
    struct reserve *r = &core->reserve;

    for (uint32_t i = 0; r->open && i < r->rows[row].place_count; i++) {
        uint32_t *link = &r->on_node[r->rows[row].places[i].node];

        while (*link != ROW_NONE && (r->on[*link].row != row || r->on[*link].place != i))
            link = &r->on[*link].next;
        if (*link == ROW_NONE)
            continue;
        r->on[*link].row = ROW_NONE;
        *link = r->on[*link].next;
    }
}

static void drop_places(struct core *core, uint32_t row)
{
    struct reservation *reservation = &core->reserve.rows[row];

    reservation_unlist(core, row);
    mem_free(reservation->places);
    reservation->places = NULL;
    reservation->place_count = 0;
}

/* ---- rows ---- */

/* Rows without a job go; the order stays. */
static void compact(struct core *core)
{
    struct reserve *r = &core->reserve;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < r->count; i++) {
        if (r->rows[i].job == ROW_NONE) {
            mem_free(r->rows[i].places);
            continue;
        }
        r->rows[kept] = r->rows[i];
        core->jobs.rows[r->rows[kept].job].reservation = kept;
        kept++;
    }
    r->count = kept;
}

void reserve_forget(struct core *core, uint32_t job)
{
    const uint32_t row = core->jobs.rows[job].reservation;

    if (row == ROW_NONE)
        return;
    core->reserve.again = true;
    drop_places(core, row);
    core->jobs.rows[job].reservation = ROW_NONE;
    core->reserve.rows[row].job = ROW_NONE;
    due_job(core, job);
    if (!core->reserve.open)
        compact(core);
}

void reserve_lose_node(struct core *core, uint32_t node)
{
    for (uint32_t row = 0; row < core->reserve.count; row++) {
        const struct reservation *reservation = &core->reserve.rows[row];
        bool there = false;

        for (uint32_t i = 0; i < reservation->place_count && !there; i++)
            there = reservation->places[i].node == node;
        if (there)
            drop_places(core, row);
    }
}

/* ---- a pass ---- */

bool reservation_counts(const struct core *core, uint32_t row)
{
    const struct reserve *r = &core->reserve;
    const struct reservation *reservation = &r->rows[row];

    return reservation->job != ROW_NONE && reservation->place_count > 0 && row != r->own &&
           (reservation->turn != ROW_NONE ||
            (r->beside_all && core->jobs.rows[reservation->job].queued));
}

/* All are to have their turn, in places that are listed. */
static void claim_moved(struct core *core, uint32_t job)
{
    ends_claim_moved(core, job);
    due_job(core, job);
}

static void begin(struct core *core)
{
    struct reserve *r = &core->reserve;

    r->turns = 0;
    r->again = false;
    r->own = ROW_NONE;
    r->beside_all = false;
    for (uint32_t row = 0; row < r->count; row++)
        r->rows[row].turn = ROW_NONE;
    for (uint32_t i = 0; i < core->claimant_count; i++)
        if (job_has_claim(&core->jobs.rows[core->claimants[i]]))
            claim_moved(core, core->claimants[i]);
}

void reserve_list(struct core *core)
{
    struct reserve *r = &core->reserve;

    r->open = true;
    r->on_count = 0;
    vec_reserve(r->on_node, r->on_node_cap, core->nodes.count);
    for (uint32_t node = 0; node < core->nodes.count; node++)
        r->on_node[node] = ROW_NONE;
    for (uint32_t row = 0; row < r->count; row++)
        reservation_list(core, row);
}

bool reserve_open(struct core *core)
{
    struct reserve *r = &core->reserve;

    if (!r->upset)
        return false;
    r->aside_count = 0;
    r->charged = JOB_NONE;
    for (uint32_t row = 0; row < r->count; row++) {
        r->rows[row].for_job = JOB_NONE;
        r->rows[row].changed = false;
    }
    reserve_list(core);
    begin(core);
    return true;
}

void reserve_set_aside(struct core *core, uint32_t job)
{
    struct reserve *r = &core->reserve;
    struct job *row = &core->jobs.rows[job];
    const struct bucket *bucket = &core->pending.buckets[row->bucket];
    const struct aside aside = {job, bucket->bound, bucket->reason, bucket->told,
                                bucket->told_bound};

    vec_push(r->asides, r->aside_count, r->aside_cap, aside);
    pending_remove(&core->pending, row->bucket, job);
}

/* Each is before the next one in its bucket, whose reason and note are then those of the first. */
static void put_back(struct core *core)
{
    struct reserve *r = &core->reserve;

    while (r->aside_count > 0) {
        const struct aside *aside = &r->asides[--r->aside_count];
        struct job *row = &core->jobs.rows[aside->job];
        const struct wanted ask = job_wanted(core, row);
        const struct waiting waiting = {orderer_key(core, aside->job), row->sequence, aside->job};
        struct bucket *bucket;

        row->bucket = pending_add(&core->pending, &ask, &waiting);
        bucket = &core->pending.buckets[row->bucket];
        bucket->reason = aside->reason;
        bucket->bound = aside->bound;
        bucket->told = aside->told;
        bucket->told_bound = aside->told_bound;
    }
}

/* Who had no turn in the end has no reservation any more, which reserve_close() tells. */
static void drop_unturned(struct core *core)
{
    struct reserve *r = &core->reserve;

    for (uint32_t row = 0; row < r->count; row++)
        if (r->rows[row].job != ROW_NONE && r->rows[row].turn == ROW_NONE) {
            r->again = r->again || r->rows[row].place_count > 0;
            drop_places(core, row);
        }
}

bool reserve_again(struct core *core, bool changed)
{
    put_back(core);
    drop_unturned(core);
    if (!changed && !core->reserve.again)
        return false;
    begin(core);
    return true;
}

/* It starts as was told, or a moment later for a kill that was not heard of yet (ends.h). */
static bool is_as_told(const struct reservation *row)
{
    return row->told_us != TIME_NONE && row->for_job == JOB_NONE && row->at_us > row->told_us &&
           row->at_us - row->told_us <= KILLED_WITHIN_US;
}

static void tell(const struct core *core, struct reservation *row, struct decisions *out)
{
    struct decision decision = {
        .type = DECISION_RESERVE,
        .job_id = core->jobs.rows[row->job].id,
        .job = row->job,
        .layout = row->layout,
        .for_job = row->told_us != TIME_NONE && row->at_us > row->told_us && row->turn != ROW_NONE
                       ? row->for_job
                       : JOB_NONE,
        .at_us = row->turn != ROW_NONE ? row->at_us : TIME_NONE,
        .place_first = out->place_count,
    };

    for (uint32_t i = 0; row->turn != ROW_NONE && i < row->place_count; i++) {
        const struct trial_item *item = &row->places[i];
        const struct task_place place = {
            .task = item->slot,
            .node = item->node,
            .node_name = names_text(&core->names, core->nodes.rows[item->node].name),
            .gpu_mask = item->gpu_mask,
            .mig_start = item->mig_start,
        };

        vec_push(out->places, out->place_count, out->place_cap, place);
    }
    decision.place_count = out->place_count - decision.place_first;
    vec_push(out->items, out->count, out->cap, decision);
    if (row->told_us == TIME_NONE)
        row->first_us = decision.at_us;
    if (decision.for_job != JOB_NONE)
        row->late_by = decision.for_job;
    row->told_us = decision.at_us;
}

static int in_turn(const void *a, const void *b, void *arg)
{
    const struct reservation *x = a, *y = b;

    (void)arg;
    return x->turn < y->turn ? -1 : x->turn > y->turn;
}

void reserve_close(struct core *core, struct decisions *out)
{
    struct reserve *r = &core->reserve;

    put_back(core);
    drop_unturned(core);
    r->open = false;
    for (uint32_t row = 0; row < r->count; row++) {
        struct reservation *reservation = &r->rows[row];

        if (reservation->job == ROW_NONE || reservation->turn != ROW_NONE)
            continue;
        if (reservation->told_us != TIME_NONE)
            tell(core, reservation, out);
        core->jobs.rows[reservation->job].reservation = ROW_NONE;
        due_job(core, reservation->job);
        reservation->job = ROW_NONE;
    }
    if (r->count > 0)
        core->elastic.settled_at = NOT_REFUSED; /* what they left free may be other room */
    sort_stable(r->rows, r->count, sizeof *r->rows, in_turn, NULL);
    compact(core);
    for (uint32_t row = 0; row < r->count; row++) {
        due_job(core, r->rows[row].job);
        if (r->rows[row].changed && !is_as_told(&r->rows[row]))
            tell(core, &r->rows[row], out);
    }
    r->upset = false;
}

bool reserve_look(struct core *core)
{
    if (core->reserve.count == 0)
        return false;
    reserve_list(core);
    return true;
}

void reserve_look_done(struct core *core)
{
    core->reserve.open = false;
}

/* ---- rules and the walk ---- */

static int row_check(const struct core *core, uint32_t row, struct err *err)
{
    const struct reservation *reservation = &core->reserve.rows[row];
    const struct job *job = &core->jobs.rows[reservation->job];
    const unsigned long long id = job->id;

    if (job->state != JOB_PENDING || job->reservation != row)
        return err_set(err, -EINVAL, "rule 10: job %llu: has a reservation and does not wait", id);
    if (reservation->until_us <= reservation->at_us)
        return err_set(err, -EINVAL, "rule 10: job %llu: is reserved no time", id);
    for (uint32_t i = 0; i < reservation->place_count; i++)
        if (!core->nodes.rows[reservation->places[i].node].in_use)
            return err_set(err, -EINVAL, "rule 10: job %llu: is reserved a node that is gone", id);
    return 0;
}

int reserve_check(const struct core *core, struct err *err)
{
    uint32_t reserved = 0;
    int rc = 0;

    for (uint32_t row = 0; rc == 0 && row < core->reserve.count; row++)
        rc = row_check(core, row, err);
    for (uint32_t job = 0; rc == 0 && job < core->jobs.count; job++)
        reserved +=
            core->jobs.rows[job].state != JOB_FREE && core->jobs.rows[job].reservation != ROW_NONE;
    if (rc == 0 && reserved != core->reserve.count)
        return err_set(err, -EINVAL, "rule 10: %u jobs have a reservation, %u are known", reserved,
                       core->reserve.count);
    return rc;
}

static void place_walk(struct core *core, struct trial_item *place, struct tape *t)
{
    tape_row(t, &place->node, core->nodes.count, "node of a reservation");
    tape_row(t, &place->shape, core->shapes.shape_count, "shape of a reservation");
    tape_u64(t, &place->gpu_mask);
    if (!tape_digests(t) || place->mig_start != 0)
        tape_max(t, &place->mig_start, MIG_SLICES_MAX - 1, "start of a reserved instance");
    tape_max(t, &place->slot, JOB_TASKS_MAX - 1, "task of a reservation");
}

static uint32_t shape_of_slot(const struct core *core, const struct layout *layout, uint32_t slot)
{
    const struct group *group = &core->shapes.groups[layout->first_group];

    for (; slot >= group->tasks; group++)
        slot -= group->tasks;
    return group->shape;
}

static bool place_is_right(const struct core *core, const struct trial_item *place)
{
    const struct node_class *class = nodes_class_of(&core->nodes, place->node);
    const struct shape *shape = &core->shapes.shapes[place->shape];
    struct need need;

    return core->nodes.rows[place->node].in_use && need_on(shape, class, &need) &&
           (uint32_t)__builtin_popcountll(place->gpu_mask) == shape->gpus &&
           (class->gpu_count == 64 || place->gpu_mask >> class->gpu_count == 0) &&
           need_starts(class, &need, place->mig_start);
}

/* They are of tasks that it may start with, each once, on nodes that could hold them. */
static bool places_are_right(const struct core *core, const struct reservation *row,
                             const struct layout *layout)
{
    const uint32_t tasks = layout_tasks(&core->shapes, layout);
    uint8_t *seen = mem_alloc(tasks, sizeof *seen);
    bool right = row->place_count == 0 ||
                 (row->place_count >= layout->tasks_min && row->place_count <= tasks);

    for (uint32_t i = 0; right && i < row->place_count; i++) {
        const struct trial_item *place = &row->places[i];

        right = place->slot < tasks && seen[place->slot]++ == 0 &&
                place->shape == shape_of_slot(core, layout, place->slot) &&
                place_is_right(core, place);
    }
    mem_free(seen);
    return right;
}

static void row_loaded(struct core *core, uint32_t row, struct tape *t)
{
    const struct reservation *reservation = &core->reserve.rows[row];
    struct job *job = &core->jobs.rows[reservation->job];
    const struct gang *gang = &core->shapes.gangs[job->gang];

    if (job->state != JOB_PENDING || job->reservation != ROW_NONE ||
        reservation->layout >= gang->layout_count ||
        !places_are_right(core, reservation,
                          &core->shapes.layouts[gang->first_layout + reservation->layout]))
        tape_fail(t, "reservation of job row %u: is not what the job asks for", reservation->job);
    job->reservation = row;
}

static void row_walk(struct core *core, uint32_t row, struct tape *t)
{
    struct reservation *reservation = &core->reserve.rows[row];
    uint32_t count = reservation->place_count, cap = 0;
    int64_t told_us = reservation->told_us == TIME_NONE ? 0 : reservation->told_us + 1;

    tape_row(t, &reservation->job, core->jobs.count, "job of a reservation");
    tape_u32(t, &reservation->layout);
    tape_i64_in(t, &reservation->at_us, 0, RESERVED_MAX_US, "start of a reservation");
    tape_i64_in(t, &reservation->until_us, 0, RESERVED_MAX_US, "end of a reservation");
    tape_i64_in(t, &told_us, 0, RESERVED_MAX_US, "told start of a reservation");
    if (!tape_digests(t)) { /* they are only told */
        tape_i64_in(t, &reservation->first_us, 0, RESERVED_MAX_US,
                    "first told start of a reservation");
        tape_u64(t, &reservation->late_by);
    }
    if (tape_loads(t)) {
        reservation->told_us = told_us == 0 ? TIME_NONE : told_us - 1;
        reservation->place_count = 0;
    }
    tape_count(t, &count, "places of a reservation");
    for (uint32_t i = 0; tape_more(t, i, count); i++) {
        tape_grow(t, reservation->places, reservation->place_count, cap);
        place_walk(core, &reservation->places[i], t);
    }
    if (tape_loads(t) && !t->failed)
        row_loaded(core, row, t);
}

void reserve_walk(struct core *core, struct tape *t)
{
    struct reserve *r = &core->reserve;
    uint32_t count = r->count;

    tape_bool(t, &r->upset);
    tape_count(t, &count, "reservations");
    for (uint32_t i = 0; tape_more(t, i, count); i++) {
        tape_grow(t, r->rows, r->count, r->cap);
        row_walk(core, i, t);
    }
}
