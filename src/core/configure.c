/* SPDX-License-Identifier: Apache-2.0 */
/* configure.c - a new configuration: queues, priority classes, levels and rules, taken whole or not
 * at all.
 *
 * First everything is checked, also that every unfinished job finds its queue and class again.
 * Then the tables are made anew, the jobs move over, and the books are filled from what is held.
 * Claims are dropped, for the bounds that they were planned under may be others now. */
#include <errno.h>
#include <string.h>

#include "base/digest.h"
#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/sort.h"
#include "core/claim.h"
#include "core/due.h"
#include "core/ends.h"
#include "core/entitle.h"
#include "core/facts.h"
#include "core/impl.h"
#include "core/life.h"
#include "core/submit.h"

#define FAIR "fair"

/* ---- checking ---- */

static bool is_empty(const char *text)
{
    return text == NULL || text[0] == '\0';
}

static int order_check(const struct core *core, const char *order, struct err *err)
{
    if (is_empty(order) || strcmp(order, FAIR) == 0 || orderers_find(core, order) != NULL)
        return 0;
    return err_set(err, -EINVAL, "order '%s': unknown", order);
}

static int amounts_check(const char *queue, const char *field, const int64_t amounts[RES_COUNT],
                         struct err *err)
{
    for (int r = 0; r < RES_COUNT; r++)
        if (amounts[r] < 0 || (amounts[r] > AMOUNT_SUM_MAX && amounts[r] != AMOUNT_NONE))
            return err_set(err, -EINVAL, "'%s': %s: must be 0 to %lld, is %lld", queue, field,
                           (long long)AMOUNT_SUM_MAX, (long long)amounts[r]);
    return 0;
}

static int users_check(const char *kind, const char *owner, uint32_t count, struct err *err)
{
    if (count <= USERS_MAX)
        return 0;
    return err_set(err, -EINVAL, "%s '%s': users: at most %u, are %u", kind, owner, USERS_MAX,
                   count);
}

/* The row of the queue of this name before `end`, ROW_NONE. Rows here are those of the spec. */
static uint32_t queue_row(const struct rules_spec *spec, const char *name, uint32_t end)
{
    for (uint32_t i = 0; i < end; i++)
        if (strcmp(spec->queues[i].name, name) == 0)
            return i;
    return ROW_NONE;
}

static uint32_t depth_of(const struct rules_spec *spec, uint32_t row)
{
    uint32_t depth = 1;

    while (!is_empty(spec->queues[row].parent)) {
        row = queue_row(spec, spec->queues[row].parent, row);
        depth++;
    }
    return depth;
}

static bool is_leaf(const struct rules_spec *spec, uint32_t row)
{
    for (uint32_t i = row + 1; i < spec->queue_count; i++)
        if (!is_empty(spec->queues[i].parent) &&
            strcmp(spec->queues[i].parent, spec->queues[row].name) == 0)
            return false;
    return true;
}

static int quotas_check(const struct queue_spec *queue, struct err *err)
{
    const struct {
        const char *field;
        const int64_t *amounts;
    } all[] = {
        {"guarantee", queue->guarantee},   {"limit", queue->limit},
        {"borrow", queue->borrow},         {"lend", queue->lend},
        {"user-limit", queue->user_limit},
    };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (amounts_check(queue->name, all[i].field, all[i].amounts, err) < 0)
            return err_prefix(err, -EINVAL, "queue ");
    for (int r = 0; r < RES_COUNT; r++)
        if (queue->guarantee[r] != AMOUNT_NONE && queue->guarantee[r] > queue->limit[r])
            return err_set(err, -EINVAL, "queue '%s': guarantee: is more than its limit",
                           queue->name);
    return 0;
}

static bool limits_users(const struct queue_spec *queue)
{
    for (int r = 0; r < RES_COUNT; r++)
        if (queue->user_limit[r] != AMOUNT_NONE)
            return true;
    return queue->user_jobs > 0;
}

static int queue_check(const struct core *core, const struct rules_spec *spec, uint32_t row,
                       struct err *err)
{
    const struct queue_spec *queue = &spec->queues[row];
    int rc;

    if (is_empty(queue->name))
        return err_set(err, -EINVAL, "queue: name: is empty");
    if (queue_row(spec, queue->name, row) != ROW_NONE)
        return err_set(err, -EINVAL, "queue '%s': is there twice", queue->name);
    if (!is_empty(queue->parent) && queue_row(spec, queue->parent, row) == ROW_NONE)
        return err_set(err, -EINVAL, "queue '%s': parent '%s': does not stand before it",
                       queue->name, queue->parent);
    if (depth_of(spec, row) > QUEUE_DEPTH_MAX)
        return err_set(err, -EINVAL, "queue '%s': is more than %d levels below the root",
                       queue->name, QUEUE_DEPTH_MAX);
    if (queue->weight > QUEUE_WEIGHT_MAX)
        return err_set(err, -EINVAL, "queue '%s': weight: at most %u, is %u", queue->name,
                       QUEUE_WEIGHT_MAX, queue->weight);
    if (limits_users(queue) && !is_leaf(spec, row))
        return err_set(err, -EINVAL,
                       "queue '%s': user-limit, user-jobs: are for queues without queues below",
                       queue->name);
    rc = quotas_check(queue, err);
    if (rc == 0 && order_check(core, queue->order, err) < 0)
        return err_prefix(err, -EINVAL, "queue '%s': ", queue->name);
    return rc < 0 ? rc : users_check("queue", queue->name, queue->user_count, err);
}

static uint32_t class_row(const struct rules_spec *spec, const char *name, uint32_t end)
{
    for (uint32_t i = 0; i < end; i++)
        if (strcmp(spec->classes[i].name, name) == 0)
            return i;
    return ROW_NONE;
}

static int class_check(const struct rules_spec *spec, uint32_t row, struct err *err)
{
    const struct class_spec *class = &spec->classes[row];

    if (is_empty(class->name))
        return err_set(err, -EINVAL, "class: name: is empty");
    if (class_row(spec, class->name, row) != ROW_NONE)
        return err_set(err, -EINVAL, "class '%s': is there twice", class->name);
    if (class->rank > CLASS_RANK_MAX)
        return err_set(err, -EINVAL, "class '%s': rank: at most %u, is %u", class->name,
                       CLASS_RANK_MAX, class->rank);
    if (class->takes_below > class->rank)
        return err_set(err, -EINVAL,
                       "class '%s': takes-below: at most its rank, %u, or jobs of it would take "
                       "from each other for ever; is %u",
                       class->name, class->rank, class->takes_below);
    if (class->grace_us < 0 || class->grace_us > TIME_US_MAX || class->min_run_us < 0 ||
        class->min_run_us > TIME_US_MAX)
        return err_set(err, -EINVAL, "class '%s': grace, min-run: must be 0 to %lld", class->name,
                       TIME_US_MAX);
    if (amounts_check(class->name, "user-limit", class->user_limit, err) < 0)
        return err_prefix(err, -EINVAL, "class ");
    return users_check("class", class->name, class->user_count, err);
}

static bool is_usual_class(const char *name)
{
    return strcmp(name, "high") == 0 || strcmp(name, "medium") == 0 || strcmp(name, "low") == 0;
}

static int level_check(const struct rules_spec *spec, uint32_t row, struct err *err)
{
    const struct level_spec *level = &spec->levels[row];

    if (is_empty(level->name) || strchr(level->name, '=') != NULL)
        return err_set(err, -EINVAL, "level '%s': name: is empty or has a '='",
                       level->name != NULL ? level->name : "");
    for (uint32_t i = 0; i < row; i++)
        if (strcmp(spec->levels[i].name, level->name) == 0)
            return err_set(err, -EINVAL, "level '%s': is there twice", level->name);
    if (level->bandwidth_bytes < 0 || level->bandwidth_bytes > LEVEL_BYTES_MAX ||
        level->uplink_bytes < 0 || level->uplink_bytes > LEVEL_BYTES_MAX)
        return err_set(err, -EINVAL, "level '%s': bandwidth, uplink: must be 0 to %lld",
                       level->name, (long long)LEVEL_BYTES_MAX);
    return 0;
}

static int defaults_check(const struct rules_spec *spec, struct err *err)
{
    const char *queue = spec->default_queue, *class = spec->default_class;
    uint32_t row;

    if (!is_empty(queue)) {
        row = queue_row(spec, queue, spec->queue_count);
        if (row == ROW_NONE || !is_leaf(spec, row))
            return err_set(err, -EINVAL, "default-queue '%s': is no queue that jobs can be in",
                           queue);
    }
    if (!is_empty(class) && spec->class_count > 0 &&
        class_row(spec, class, spec->class_count) == ROW_NONE)
        return err_set(err, -EINVAL, "default-class '%s': unknown", class);
    if (!is_empty(class) && spec->class_count == 0 && !is_usual_class(class))
        return err_set(err, -EINVAL, "default-class '%s': unknown", class);
    if (spec->silent_us < 0 || spec->silent_us > TIME_US_MAX || spec->share_half_life_us < 0 ||
        spec->share_half_life_us > TIME_US_MAX)
        return err_set(err, -EINVAL, "node-silent, share-half-life: must be 0 to %lld",
                       TIME_US_MAX);
    return 0;
}

static int spec_check(const struct core *core, const struct rules_spec *spec, struct err *err)
{
    int rc = 0;

    if (core->repack != REPACK_NEVER)
        return err_set(err, -EINVAL, "configuration: queues do not go with packing anew");
    if (spec->queue_count > QUEUES_MAX || spec->class_count > CLASSES_MAX ||
        spec->level_count > LEVELS_MAX)
        return err_set(err, -EINVAL, "configuration: at most %u queues, %u classes and %u levels",
                       QUEUES_MAX, CLASSES_MAX, LEVELS_MAX);
    for (uint32_t i = 0; rc == 0 && i < spec->queue_count; i++)
        rc = queue_check(core, spec, i, err);
    for (uint32_t i = 0; rc == 0 && i < spec->class_count; i++)
        rc = class_check(spec, i, err);
    for (uint32_t i = 0; rc == 0 && i < spec->level_count; i++)
        rc = level_check(spec, i, err);
    rc = rc < 0 ? rc : order_check(core, spec->root_order, err);
    return rc < 0 ? rc : defaults_check(spec, err);
}

/* ---- the jobs that are there ---- */

/* The ids of the names of those queues of the spec that jobs can be in. */
static struct map leaves_of(const struct core *core, const struct rules_spec *spec)
{
    struct map leaves;

    map_init(&leaves);
    for (uint32_t i = 0; i < spec->queue_count; i++) {
        const uint32_t name = names_find(&core->names, spec->queues[i].name);

        if (name != NAMES_NONE && is_leaf(spec, i))
            map_put(&leaves, name, i);
    }
    return leaves;
}

static bool has_class(const struct core *core, const struct rules_spec *spec, const struct job *job)
{
    const char *name = names_text(&core->names, core->classes.rows[job->class_id].name);

    if (spec->class_count > 0)
        return class_row(spec, name, spec->class_count) != ROW_NONE;
    return is_usual_class(name);
}

/* The same domains as now, whatever their links are. */
static bool same_levels(const struct core *core, const struct rules_spec *spec)
{
    const struct levels *l = &core->levels;

    for (uint32_t i = 0; i < l->count && i < spec->level_count; i++)
        if (strcmp(names_text(&core->names, l->rows[i].name), spec->levels[i].name) != 0)
            return false;
    return l->count == spec->level_count;
}

static bool asks_for_levels(const struct core *core, const struct job *job)
{
    const uint32_t layout = core->shapes.gangs[job->gang].first_layout;

    return together_matters(&core->shapes.layouts[layout].together);
}

static int job_check(const struct core *core, const struct rules_spec *spec,
                     const struct map *leaves, const struct job *job, struct err *err)
{
    const bool named = job->queue != core->no_name;

    if (!same_levels(core, spec) && asks_for_levels(core, job))
        return err_set(err, -EBUSY,
                       "levels: job %llu asks for some; they can be others when such jobs have "
                       "ended",
                       (unsigned long long)job->id);

    if (spec->queue_count > 0 &&
        (named ? !map_find(leaves, job->queue, NULL) : is_empty(spec->default_queue)))
        return err_set(err, -EBUSY,
                       "queue '%s': job %llu is in it; it can be taken away, or divided, when its "
                       "jobs have ended",
                       names_text(&core->names, job->queue), (unsigned long long)job->id);
    if (!has_class(core, spec, job))
        return err_set(err, -EBUSY,
                       "class '%s': job %llu is of it; it can be taken away when its jobs have "
                       "ended",
                       names_text(&core->names, core->classes.rows[job->class_id].name),
                       (unsigned long long)job->id);
    return 0;
}

static int jobs_check(const struct core *core, const struct rules_spec *spec, struct err *err)
{
    struct map leaves = leaves_of(core, spec);
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < core->jobs.count; i++)
        if (core->jobs.rows[i].state != JOB_FREE)
            rc = job_check(core, spec, &leaves, &core->jobs.rows[i], err);
    map_done(&leaves);
    return rc;
}

/* ---- making the tables ---- */

struct tables {
    struct queues queues;
    struct classes classes;
};

static uint32_t intern_users(struct core *core, const char *const *users, uint32_t count,
                             uint32_t **list, uint32_t *list_count, uint32_t *list_cap)
{
    const uint32_t first = *list_count;

    for (uint32_t i = 0; i < count; i++)
        vec_push(*list, *list_count, *list_cap, names_intern(&core->names, users[i]));
    return first;
}

static struct amounts amounts_of(const int64_t of[RES_COUNT])
{
    struct amounts amounts;

    memcpy(amounts.of, of, sizeof amounts.of);
    return amounts;
}

static bool is_named(const int64_t of[RES_COUNT])
{
    for (int r = 0; r < RES_COUNT; r++)
        if (of[r] != AMOUNT_NONE)
            return true;
    return false;
}

/* "" and "fair" leave the jobs to the order of the queue above. */
static uint32_t orderer_for(struct core *core, const char *order, uint32_t above)
{
    if (is_empty(order) || strcmp(order, FAIR) == 0)
        return above;
    return orderers_want(core, orderers_find(core, order));
}

static void make_root(struct core *core, const struct rules_spec *spec, struct queues *q)
{
    queues_init(q, core->no_name, orderer_for(core, spec->root_order, 0));
    q->rows[QUEUE_ROOT].fair = !is_empty(spec->root_order) && strcmp(spec->root_order, FAIR) == 0;
    q->rows[QUEUE_ROOT].by_user = spec->queue_count == 0 && q->rows[QUEUE_ROOT].fair;
    q->half_life_us = spec->share_half_life_us;
    q->books = spec->queue_count > 0 || q->rows[QUEUE_ROOT].by_user;
    for (uint32_t i = 0; i < spec->class_count; i++)
        q->books = q->books || is_named(spec->classes[i].user_limit);
}

static void make_queue(struct core *core, const struct rules_spec *spec, uint32_t i,
                       struct queues *q)
{
    const struct queue_spec *s = &spec->queues[i];
    const bool fair = !is_empty(s->order) && strcmp(s->order, FAIR) == 0;
    uint32_t parent = QUEUE_ROOT;

    if (!is_empty(s->parent))
        (void)map_find(&q->by_name, names_find(&core->names, s->parent), &parent);
    queues_add(q, &(struct queue){
                      .fair = fair,
                      .by_user = is_leaf(spec, i) && (fair || limits_users(s)),
                      .guaranteed = is_named(s->guarantee),
                      .name = names_intern(&core->names, s->name),
                      .parent = parent,
                      .orderer = orderer_for(core, s->order, q->rows[parent].orderer),
                      .weight = s->weight,
                      .guarantee = amounts_of(s->guarantee),
                      .limit = amounts_of(s->limit),
                      .borrow = amounts_of(s->borrow),
                      .lend = amounts_of(s->lend),
                      .user_limit = amounts_of(s->user_limit),
                      .user_jobs_max = s->user_jobs > 0 ? s->user_jobs : UINT32_MAX,
                      .user_first = intern_users(core, s->users, s->user_count, &q->users,
                                                 &q->user_count, &q->user_cap),
                      .user_count = s->user_count,
                  });
}

static void make_queues(struct core *core, const struct rules_spec *spec, struct queues *q)
{
    make_root(core, spec, q);
    for (uint32_t i = 0; i < spec->queue_count; i++)
        make_queue(core, spec, i, q);
    if (spec->queue_count > 0)
        q->default_row = QUEUE_NONE;
    if (!is_empty(spec->default_queue))
        (void)map_find(&q->by_name, names_find(&core->names, spec->default_queue), &q->default_row);
}

static void make_class(struct core *core, const struct class_spec *s, struct classes *c)
{
    classes_add(c, &(struct priority){
                       .name = names_intern(&core->names, s->name),
                       .rank = s->rank,
                       .takes_below = s->takes_below,
                       .fixed = s->fixed,
                       .grace_us = s->grace_us,
                       .min_run_us = s->min_run_us,
                       .bounded = is_named(s->user_limit),
                       .user_limit = amounts_of(s->user_limit),
                       .user_first = intern_users(core, s->users, s->user_count, &c->users,
                                                  &c->user_count, &c->user_cap),
                       .user_count = s->user_count,
                   });
}

static void make_classes(struct core *core, const struct rules_spec *spec, struct classes *c)
{
    uint32_t row;

    if (spec->class_count == 0)
        classes_init(c, &core->names);
    else
        memset(c, 0, sizeof *c);
    for (uint32_t i = 0; i < spec->class_count; i++)
        make_class(core, &spec->classes[i], c);
    row = classes_find(c, names_intern(&core->names, "medium"));
    if (!is_empty(spec->default_class))
        row = classes_find(c, names_find(&core->names, spec->default_class));
    c->default_row = row != ROW_NONE ? row : 0;
}

/* Where the domains are others, what was found out for a gang is too. */
static void take_levels(struct core *core, const struct rules_spec *spec)
{
    struct levels *l = &core->levels;

    if (!same_levels(core, spec))
        core->nodes.changes++;
    levels_changed(l);
    l->count = spec->level_count;
    for (uint32_t i = 0; i < l->count; i++)
        l->rows[i] = (struct level){.name = names_intern(&core->names, spec->levels[i].name),
                                    .bandwidth_bytes = spec->levels[i].bandwidth_bytes,
                                    .uplink_bytes = spec->levels[i].uplink_bytes};
}

static void tables_done(struct tables *t)
{
    queues_done(&t->queues);
    classes_done(&t->classes);
}

/* ---- moving the jobs over ---- */

static int by_sequence(const void *a, const void *b, void *arg)
{
    const struct core *core = arg;
    const uint64_t x = core->jobs.rows[*(const uint32_t *)a].sequence;
    const uint64_t y = core->jobs.rows[*(const uint32_t *)b].sequence;

    return x < y ? -1 : x > y;
}

static uint32_t *list_jobs(struct core *core)
{
    uint32_t *jobs = mem_alloc(core->jobs.live, sizeof *jobs);
    uint32_t count = 0;

    for (uint32_t i = 0; i < core->jobs.count; i++)
        if (core->jobs.rows[i].state != JOB_FREE)
            jobs[count++] = i;
    sort_stable(jobs, count, sizeof *jobs, by_sequence, core);
    return jobs;
}

/* An order that loses the job is told as if it was cancelled, which teaches it nothing. */
static void leave_orderer(struct core *core, uint32_t job, uint32_t orderer)
{
    const struct orderer *o = &core->orderers[orderer];
    const enum job_state state = core->jobs.rows[job].state;

    core->jobs.rows[job].state = JOB_CANCELLED;
    if (o->policy->finished != NULL)
        o->policy->finished(o->state, core, job);
    core->jobs.rows[job].state = state;
}

static void enter_orderer(struct core *core, uint32_t job)
{
    orderer_submitted(core, job);
    if (core->jobs.rows[job].start_us != TIME_NONE)
        orderer_started(core, job);
}

static void book_all(struct core *core, const struct job *row)
{
    for (uint32_t i = 0; row->task_first != ROW_NONE && i < row->task_count; i++)
        if (!job_task(core, row, i)->left)
            job_book_task(core, row->task_first + i, 1);
}

static void keep_row(const struct core *core, struct queues *q, uint32_t from, uint32_t to)
{
    if (core->queues.half_life_us == 0)
        return; /* there is none */
    for (int r = 0; r < RES_COUNT; r++)
        q->rows[to].past.of[r] = queue_past(&core->queues, from, r, core->now_us);
    q->rows[to].past_us = core->now_us;
}

/* The past of a queue that has kept its name stays, and that of its users. */
static void keep_past(const struct core *core, struct queues *q)
{
    const struct queues *old = &core->queues;

    keep_row(core, q, QUEUE_ROOT, QUEUE_ROOT);
    for (uint32_t i = 1; i < old->count; i++) {
        const struct queue *row = &old->rows[i];
        const uint32_t named = row->kind == QUEUE_CONFIGURED ? i : row->parent;
        uint32_t to = QUEUE_ROOT;

        if (row->kind == QUEUE_OF_CLASS ||
            (named != QUEUE_ROOT && !map_find(&q->by_name, old->rows[named].name, &to)))
            continue;
        if (row->kind == QUEUE_OF_USER && !q->rows[to].by_user)
            continue;
        if (row->kind == QUEUE_OF_USER)
            to = queues_leaf(q, to, row->name);
        keep_row(core, q, i, to);
    }
}

static void take_out_all(struct core *core, const uint32_t *jobs)
{
    for (uint32_t i = 0; i < core->jobs.live; i++) {
        struct job *row = &core->jobs.rows[jobs[i]];

        if (row->queued)
            job_dequeue(core, jobs[i]);
        else
            continue;
        row->queued = true; /* it comes back */
    }
    pending_forget(&core->pending);
}

/* What was last noted of the first job of each bucket. It is not noted again unless it changes. */
struct noted {
    enum reason told;
    uint32_t bound_name; /* of the queue whose bound it was; NAMES_NONE = of none */
};

/* [jobs.count], the caller's to free. Where the bound is that of a user or a class it is not kept:
 * the row may be another one. */
static struct noted *list_noted(const struct core *core)
{
    struct noted *noted = mem_alloc(core->jobs.count + 1, sizeof *noted);

    for (uint32_t i = 0; i < core->pending.open_count; i++) {
        const struct bucket *b = &core->pending.buckets[core->pending.open[i]];
        const struct queue *bound =
            b->told_bound != QUEUE_NONE ? &core->queues.rows[b->told_bound] : NULL;

        if (bound != NULL && bound->kind != QUEUE_CONFIGURED)
            continue;
        noted[b->heap[0].job] = (struct noted){b->told, bound != NULL ? bound->name : NAMES_NONE};
    }
    return noted;
}

static void keep_noted(struct core *core, const struct noted *noted)
{
    for (uint32_t i = 0; i < core->pending.open_count; i++) {
        struct bucket *b = &core->pending.buckets[core->pending.open[i]];
        const struct noted *was = &noted[b->heap[0].job];
        uint32_t bound = QUEUE_NONE;

        if (was->told == REASON_NONE || (was->bound_name != NAMES_NONE &&
                                         !map_find(&core->queues.by_name, was->bound_name, &bound)))
            continue;
        b->told = was->told;
        b->told_bound = bound;
    }
}

static void move_job(struct core *core, const struct tables *old, uint32_t job)
{
    struct job *row = &core->jobs.rows[job];
    const uint32_t orderer = old->queues.rows[row->at.leaf].orderer;
    const uint32_t name = old->classes.rows[row->class_id].name;
    const bool queued = row->queued;
    uint32_t queue;

    if (core->queues.configured == 1 || row->queue == core->no_name ||
        !map_find(&core->queues.by_name, row->queue, &queue))
        queue = core->queues.default_row;
    row->class_id = classes_find(&core->classes, name);
    if (core->queues.rows[queue].orderer != orderer)
        leave_orderer(core, job, orderer);
    row->at = job_standing(core, queue, row->class_id, row->user);
    if (core->queues.rows[queue].orderer != orderer)
        enter_orderer(core, job);
    queues_count_job(&core->queues, &row->at, 1);
    if (row->state != JOB_PENDING)
        core->classes.rows[row->class_id].active++;
    book_all(core, row);
    ends_configured(core, job);
    due_job(core, job);
    row->queued = false;
    if (queued)
        job_enqueue(core, job);
}

static void digest_amounts(struct digest *d, const int64_t of[RES_COUNT])
{
    for (int r = 0; r < RES_COUNT; r++)
        digest_i64(d, of[r]);
}

static void digest_users(struct digest *d, const char *const *users, uint32_t count)
{
    digest_u32(d, count);
    for (uint32_t i = 0; i < count; i++)
        digest_text(d, users[i]);
}

static const char *text_of(const char *text)
{
    return text != NULL ? text : "";
}

static void digest_queue(struct digest *d, const struct queue_spec *s)
{
    digest_text(d, s->name);
    digest_text(d, text_of(s->parent));
    digest_text(d, text_of(s->order));
    digest_u32(d, s->weight);
    digest_amounts(d, s->guarantee);
    digest_amounts(d, s->limit);
    digest_amounts(d, s->borrow);
    digest_amounts(d, s->lend);
    digest_amounts(d, s->user_limit);
    digest_u32(d, s->user_jobs);
    digest_users(d, s->users, s->user_count);
}

static void digest_class(struct digest *d, const struct class_spec *s)
{
    digest_text(d, s->name);
    digest_u32(d, s->rank);
    digest_u32(d, s->takes_below);
    digest_u32(d, s->fixed);
    digest_i64(d, s->grace_us);
    digest_i64(d, s->min_run_us);
    digest_amounts(d, s->user_limit);
    digest_users(d, s->users, s->user_count);
}

/* Of all that it says, so that the same one is known again. */
static uint64_t spec_digest(const struct rules_spec *spec)
{
    struct digest d;

    digest_init(&d);
    digest_u32(&d, spec->queue_count);
    for (uint32_t i = 0; i < spec->queue_count; i++)
        digest_queue(&d, &spec->queues[i]);
    digest_u32(&d, spec->class_count);
    for (uint32_t i = 0; i < spec->class_count; i++)
        digest_class(&d, &spec->classes[i]);
    digest_text(&d, text_of(spec->default_queue));
    digest_text(&d, text_of(spec->root_order));
    digest_text(&d, text_of(spec->default_class));
    digest_u32(&d, spec->reservation_depth);
    digest_i64(&d, spec->silent_us);
    digest_i64(&d, spec->share_half_life_us);
    for (uint32_t i = 0; i < spec->level_count; i++) { /* none: as before there were any */
        digest_text(&d, spec->levels[i].name);
        digest_i64(&d, spec->levels[i].bandwidth_bytes);
        digest_i64(&d, spec->levels[i].uplink_bytes);
    }
    return digest_value(&d);
}

int fact_config_changed(struct core *core, const struct rules_spec *spec, struct err *err)
{
    struct tables tables, old;
    struct noted *noted;
    uint32_t *jobs;
    int rc = spec_check(core, spec, err);

    rc = rc < 0 ? rc : jobs_check(core, spec, err);
    if (rc < 0 || spec_digest(spec) == core->rules_digest)
        return rc;
    core->rules_digest = spec_digest(spec);
    make_queues(core, spec, &tables.queues);
    make_classes(core, spec, &tables.classes);
    jobs = list_jobs(core);
    noted = list_noted(core);
    take_out_all(core, jobs);
    keep_past(core, &tables.queues);
    old = (struct tables){core->queues, core->classes};
    core->queues = tables.queues;
    core->classes = tables.classes;
    core->reservation_depth = spec->reservation_depth;
    take_levels(core, spec);
    core->silent_us = spec->silent_us > 0 ? spec->silent_us : NODE_SILENT_US;
    for (uint32_t i = 0; i < core->jobs.live; i++)
        move_job(core, &old, jobs[i]);
    keep_noted(core, noted);
    core->capacity = core_capacity(core); /* nodes may have come and gone since the last step */
    for (uint32_t i = 0; i < core->jobs.live; i++)
        claim_judge_anew(core, jobs[i]);
    for (uint32_t node = 0; node < core->nodes.count; node++)
        due_node(core, node);
    core->index.gains++;
    tables_done(&old);
    mem_free(jobs);
    mem_free(noted);
    return 0;
}
