/* SPDX-License-Identifier: Apache-2.0 */
/* split.c - GPUs are split anew for jobs that wait. */
#include "core/split.h"

#include <errno.h>

#include "base/bits.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/sort.h"
#include "core/claim.h"
#include "core/facts.h"
#include "core/impl.h"
#include "core/ledger.h"
#include "core/life.h"
#include "core/place.h"

/* A GPU whose idle instances are not there, in thought. */
struct stripped {
    uint32_t node, gpu;
    struct mig_gpu was;
    uint64_t leaving; /* layout of those that must go */
};

struct
try {
    struct core *core;
    int64_t since_us; /* the job has waited */
    int64_t until_us; /* when the price may let more be tried */
    struct stripped *gpus;
    uint32_t count, cap;
    struct trial_item *places;
    uint32_t place_count, place_cap;
};

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- in thought ---- */

/* Those that nobody holds. */
static uint64_t idle_of(const struct mig_gpu *made, const struct mig_room *room)
{
    uint64_t idle = 0;

    for (uint32_t s = 0; s < MIG_SLICES_MAX; s++)
        if ((room->held >> (4 * s) & 15) == 0)
            idle |= made->layout & UINT64_C(15) << (4 * s);
    return room->closed ? 0 : idle;
}

static void strip_gpu(struct try *t, uint32_t node, uint32_t gpu, struct mig_price_node *price)
{
    struct nodes *n = &t->core->nodes;
    struct mig_book *book = nodes_mig(n, node, gpu);
    const uint64_t idle = idle_of(&book->made, nodes_mig_room(n, node, gpu));
    const struct stripped row = {node, gpu, book->made, 0};
    struct mig_price_gpu of_gpu = book->price;
    int64_t until_us;

    if (idle == 0 || (n->rows[node].lost_mask >> gpu & 1))
        return;
    if (mig_price_ask(&mig_price_defaults, &of_gpu, price, t->since_us, t->core->now_us,
                      &until_us) != MIG_MAY) {
        t->until_us = earlier(t->until_us, until_us);
        return;
    }
    mig_price_pay(&of_gpu, price, t->core->now_us);
    vec_push(t->gpus, t->count, t->cap, row);
    book->made.layout &= ~idle;
    nodes_mig_changed(n, node, gpu);
}

static void strip_all(struct try *t)
{
    struct core *core = t->core;

    for (uint32_t node = 0; node < core->nodes.count; node++) {
        const struct node *row = &core->nodes.rows[node];
        const uint32_t before = t->count;
        struct mig_price_node price;

        if (!row->in_use || row->mig_first == ROW_NONE || row->state == ROW_NONE)
            continue;
        price = nodes_mig(&core->nodes, node, 0)->node_price;
        for (uint32_t i = 0; i < nodes_class_of(&core->nodes, node)->gpu_count; i++)
            strip_gpu(t, node, i, &price);
        if (t->count > before)
            ledger_refresh(core, node);
    }
}

static void unstrip_all(struct try *t)
{
    for (uint32_t i = 0; i < t->count; i++) {
        const struct stripped *s = &t->gpus[i];

        nodes_mig(&t->core->nodes, s->node, s->gpu)->made = s->was;
        nodes_mig_changed(&t->core->nodes, s->node, s->gpu);
        ledger_refresh(t->core, s->node);
    }
}

/* With the places taken: which of the instances that were there must go. Those stay that can. */
static void find_leaving(struct try *t)
{
    const struct nodes *n = &t->core->nodes;

    for (uint32_t i = 0; i < t->count; i++) {
        struct stripped *s = &t->gpus[i];
        const struct gpu_book *book = &n->gpus[n->rows[s->node].gpu_first + s->gpu];
        const struct mig_type *type = class_mig(nodes_class_of(n, s->node));
        const bool others = book->held_mgpu > 0 && (book->sharers.count == 0 ||
                                                    sharers_company(&book->sharers) != COMPANY_MIG);
        struct mig_gpu all = mig_room_gpu(nodes_mig_room(n, s->node, s->gpu));

        for (uint32_t at = 0; at < type->memory_slices; at++) {
            const uint32_t profile = mig_gpu_at(&s->was, at);

            if (profile == MIG_NONE || mig_gpu_at(&all, at) == profile)
                continue;
            if (!others && (mig_gpu_starts(type, &all, profile) >> at & 1))
                mig_gpu_add(type, &all, profile, at);
            else
                s->leaving |= s->was.layout & UINT64_C(15) << (4 * at);
        }
    }
}

/* Is there room without idle instances? Then the places are known, and nothing is taken. */
static bool find_places(struct try *t, uint32_t job, uint32_t *out_layout)
{
    struct core *core = t->core;
    const uint32_t mark = trial_mark(&core->trial);
    struct refusal refusal;
    enum reason reason;
    bool done, some = false;

    strip_all(t);
    done =
        t->count > 0 && place_job(core, job, HELD_NOW, out_layout, &reason, &refusal) == PLACE_DONE;
    if (done)
        find_leaving(t);
    for (uint32_t i = mark; i < core->trial.count; i++)
        vec_push(t->places, t->place_count, t->place_cap, core->trial.log[i]);
    trial_undo(core, mark);
    unstrip_all(t);
    for (uint32_t i = 0; i < t->count; i++)
        some = some || t->gpus[i].leaving != 0;
    return done && some;
}

/* ---- for good ---- */

static void add_instances(const struct core *core, const struct stripped *s, struct decisions *out)
{
    const struct mig_type *type = class_mig(nodes_class_of(&core->nodes, s->node));
    const struct mig_gpu leaving = {.layout = s->leaving};

    for (uint32_t at = 0; at < type->memory_slices; at++) {
        const uint32_t profile = mig_gpu_at(&leaving, at);
        const struct task_place place = {
            .node = s->node,
            .node_name = names_text(&core->names, core->nodes.rows[s->node].name),
            .gpu_mask = mask_bit(s->gpu),
            .mig_profile = profile != MIG_NONE ? type->profiles[profile].name : NULL,
            .mig_start = at,
        };

        if (profile != MIG_NONE)
            vec_push(out->places, out->place_count, out->place_cap, place);
    }
}

static void repartition(struct core *core, uint32_t job, const struct stripped *s,
                        struct decisions *out)
{
    struct mig_book *book = nodes_mig(&core->nodes, s->node, s->gpu);
    struct decision decision = {
        .type = DECISION_REPARTITION,
        .job_id = core->jobs.rows[job].id,
        .job = job,
        .for_job = core->jobs.rows[job].id,
        .place_first = out->place_count,
    };

    mig_price_pay(&book->price, &nodes_mig(&core->nodes, s->node, 0)->node_price, core->now_us);
    book->leaving = s->leaving;
    nodes_mig_changed(&core->nodes, s->node, s->gpu);
    ledger_refresh(core, s->node);
    add_instances(core, s, out);
    decision.place_count = out->place_count - decision.place_first;
    vec_push(out->items, out->count, out->cap, decision);
}

/* The claim is made before, so that nobody else is in between. */
static void decide(struct try *t, uint32_t job, uint32_t layout, struct decisions *out)
{
    struct core *core = t->core;

    claim_make(core, job, layout, t->places, t->place_count);
    core->jobs.rows[job].reason = REASON_SPLIT;
    vec_push(core->claimants, core->claimant_count, core->claimant_cap, job);
    for (uint32_t i = 0; i < t->count; i++)
        if (t->gpus[i].leaving != 0)
            repartition(core, job, &t->gpus[i], out);
    job_note(core, job, out);
}

/* *until_us: when it is worth another try, TIME_NONE if nothing but news would do. */
static bool split_for(struct core *core, uint32_t job, int64_t *until_us, struct decisions *out)
{
    struct try t = {
        .core = core, .since_us = core->jobs.rows[job].submit_us, .until_us = TIME_NONE};
    uint32_t layout;
    const bool done = find_places(&t, job, &layout);

    if (done)
        decide(&t, job, layout, out);
    *until_us = t.until_us;
    mem_free(t.gpus);
    mem_free(t.places);
    return done;
}

/* ---- whose turn it is ---- */

static int in_turn(const void *a, const void *b, void *arg)
{
    const struct core *core = arg;
    const struct bucket *x = &core->pending.buckets[*(const uint32_t *)a];
    const struct bucket *y = &core->pending.buckets[*(const uint32_t *)b];
    const uint32_t rank_x = core->classes.rows[x->ask.class_id].rank;
    const uint32_t rank_y = core->classes.rows[y->ask.class_id].rank;

    if (rank_x != rank_y)
        return rank_x > rank_y ? -1 : 1;
    if (x->heap[0].key != y->heap[0].key)
        return x->heap[0].key < y->heap[0].key ? -1 : 1;
    return x->heap[0].sequence < y->heap[0].sequence ? -1 : 1;
}

static bool lacks_room(enum reason reason)
{
    return reason_is_of_room(reason) || reason == REASON_SLOWDOWN;
}

/* Where rooms are promised, only who was promised the first may have one made. */
static bool may_ask(const struct core *core, const struct bucket *bucket)
{
    const struct reserve *r = &core->reserve;
    const uint32_t job = bucket->heap[0].job;

    return lacks_room(bucket->reason) && core->jobs.rows[job].victims == 0 &&
           (r->count == 0 || r->rows[0].job == job);
}

/* What was refused is refused until somebody has left, the price may let more be tried, or another
 * job is the first of the bucket. */
static bool may_be_news(const struct core *core, struct bucket *bucket)
{
    uint64_t id;

    if (bucket->count == 0 || !may_ask(core, bucket))
        return false;
    id = core->jobs.rows[bucket->heap[0].job].id;
    if (bucket->split_at == core->index.gains && bucket->split_job == id &&
        bucket->split_until_us > core->now_us)
        return false;
    bucket->split_at = core->index.gains;
    bucket->split_job = id;
    return true;
}

void step_split(struct core *core, struct decisions *out)
{
    uint32_t *buckets, count = 0;

    core->split_wake_us = TIME_NONE;
    if (core->placement->tie == TIE_RANDOM_NODE) /* to ask it is to draw */
        return;
    if (core->nodes.mig_count == 0 || core->repack != REPACK_NEVER || core->pending.open_count == 0)
        return;
    buckets = mem_alloc(core->pending.open_count, sizeof *buckets);
    for (uint32_t i = 0; i < core->pending.open_count; i++)
        if (may_ask(core, &core->pending.buckets[core->pending.open[i]]))
            buckets[count++] = core->pending.open[i];
    if (count > 0)
        sort_stable(buckets, count, sizeof *buckets, in_turn, core);
    for (uint32_t i = 0; i < count; i++) {
        struct bucket *bucket = &core->pending.buckets[buckets[i]];

        while (may_be_news(core, bucket) &&
               split_for(core, bucket->heap[0].job, &bucket->split_until_us, out))
            ;
        if (bucket->count > 0)
            core->split_wake_us = earlier(core->split_wake_us, bucket->split_until_us);
    }
    trial_commit(core);
    mem_free(buckets);
}

int64_t split_wake_us(const struct core *core)
{
    return core->split_wake_us;
}

/* ---- what becomes of it ---- */

bool split_awaited(const struct core *core, uint32_t job)
{
    const struct job *row = &core->jobs.rows[job];

    for (uint32_t i = 0; row->task_first != ROW_NONE && i < row->task_count; i++) {
        const struct task *task = job_task(core, row, i);

        if (core->nodes.rows[task->node].mig_first == ROW_NONE)
            continue;
        for (uint64_t left = task->gpu_mask; left != 0; left = mask_drop_lowest(left))
            if (nodes_mig(&core->nodes, task->node, mask_lowest(left))->leaving != 0)
                return true;
    }
    return false;
}

static void changed(struct core *core, uint32_t node, uint32_t gpu)
{
    nodes_mig_changed(&core->nodes, node, gpu);
    ledger_reported(core, node);
    core->index.gains++;
    ledger_refresh(core, node);
}

void split_is_done(struct core *core, uint32_t node, uint32_t gpu)
{
    struct mig_book *book = nodes_mig(&core->nodes, node, gpu);

    book->made.layout &= ~book->leaving;
    book->leaving = 0;
    changed(core, node, gpu);
}

/* The size of each instance and its profile, MIG_NONE if it is none of ours. */
static int instance_check(const struct core *core, const struct event *event, uint32_t node,
                          uint32_t i, uint32_t *out_profile, uint32_t *out_size, struct err *err)
{
    const struct mig_type *type = class_mig(nodes_class_of(&core->nodes, node));
    const struct split_instance *instance = &event->split.instances[i];
    struct mig_ask ask;

    *out_profile =
        mig_ask_parse(instance->profile, &ask, NULL) < 0 ? MIG_NONE : mig_profile_match(type, &ask);
    *out_size = *out_profile != MIG_NONE ? type->profiles[*out_profile].size : instance->size;
    if (*out_size == 0 || instance->start >= type->memory_slices ||
        *out_size > type->memory_slices - instance->start)
        return err_set(
            err, -EINVAL,
            "node '%s': gpu %u: instances[%u]: '%s' at %u of %u slices: is not on the GPU",
            event->split.node, event->split.gpu, i, instance->profile, instance->start, *out_size);
    return 0;
}

static int split_check(const struct core *core, const struct event *event, uint32_t *out_node,
                       struct err *err)
{
    const char *name = event->split.node;
    uint32_t profile, size;
    int rc = node_find(core, name, out_node, err);

    if (rc < 0)
        return rc;
    if (event->split.gpu >= nodes_class_of(&core->nodes, *out_node)->gpu_count ||
        core->nodes.rows[*out_node].mig_first == ROW_NONE)
        return err_set(err, -EINVAL, "node '%s': gpu %u: is none that may be split", name,
                       event->split.gpu);
    if (event->split.count > MIG_SLICES_MAX)
        return err_set(err, -EINVAL, "node '%s': gpu %u: has at most %u instances, are %u", name,
                       event->split.gpu, MIG_SLICES_MAX, event->split.count);
    for (uint32_t i = 0; i < event->split.count && rc == 0; i++)
        rc = instance_check(core, event, *out_node, i, &profile, &size, err);
    return rc;
}

/* Nibbles of the layout where tasks have an instance, claims left out. */
static uint64_t instances_of_tasks(const struct core *core, uint32_t node, uint32_t gpu)
{
    uint32_t t = core->nodes.rows[node].first_task;
    uint64_t nibbles = 0;

    for (; t != ROW_NONE; t = core->jobs.tasks[t].node_next) {
        const struct task *task = &core->jobs.tasks[t];

        if (!task->claimed && task->gpu_mask == mask_bit(gpu) &&
            shape_is_mig(&core->shapes.shapes[task->shape]))
            nibbles |= UINT64_C(15) << (4 * task->mig_start);
    }
    return nibbles;
}

/* What the device has: those that we know of stand on; others are somebody else's, and their slices
 * are out. One that a task holds stands on though it is not there yet, or not any more: the task
 * has its own reports. */
int fact_gpu_split(struct core *core, const struct event *event, struct err *err)
{
    const uint32_t gpu = event->split.gpu;
    struct mig_gpu now = {.layout = 0};
    uint64_t known = 0;
    uint32_t node, profile, size;
    struct mig_book *book;
    const int rc = split_check(core, event, &node, err);

    if (rc < 0)
        return rc;
    book = nodes_mig(&core->nodes, node, gpu);
    for (uint32_t i = 0; i < event->split.count; i++) {
        const uint32_t start = event->split.instances[i].start;

        (void)instance_check(core, event, node, i, &profile, &size, NULL);
        if (profile != MIG_NONE && mig_gpu_at(&book->made, start) == profile)
            known |= UINT64_C(15) << (4 * start);
        else
            now.blocked = (uint16_t)(now.blocked | ((1u << size) - 1) << start);
    }
    known |= instances_of_tasks(core, node, gpu);
    for (uint32_t s = 0; s < MIG_SLICES_MAX; s++) {
        const struct mig_type *type = class_mig(nodes_class_of(&core->nodes, node));

        profile = (known >> (4 * s) & 15) != 0 ? mig_gpu_at(&book->made, s) : MIG_NONE;
        if (profile != MIG_NONE && (mig_gpu_starts(type, &now, profile) >> s & 1))
            mig_gpu_add(type, &now, profile, s);
    }
    if (book->leaving == 0 && now.layout == book->made.layout && now.blocked == book->made.blocked)
        return 0;
    book->made = now;
    book->leaving = 0;
    changed(core, node, gpu);
    return 0;
}
