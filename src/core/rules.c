/* SPDX-License-Identifier: Apache-2.0 */
/* rules.c - the rules that hold after every apply and step, worked out from nothing but the facts.
 *
 *  1. What is held on a node is exactly what the tasks on it need: free + held + lost = total.
 *  2. No GPU has two owners: together they hold at most the whole of it, unless tasks took other
 *     GPUs than they were told (a deficit, which only a driver's report can make). Claims, which
 *     wait for others to leave, come on top.
 *  3. Every task is in the list of its node, and its job holds as many tasks as its layout says.
 *  4. A job is whole or holds nothing: PENDING without tasks (or with a claim), otherwise with all,
 *     or if it is elastic with its minimum at least. A service may have fewer, but never none. Jobs
 *     that could grow are listed.
 *  5. Every waiting job is in the queue once, and has a reason.
 *  6. The index says of every node what its books say.
 *  7. A claim is of a waiting job, and counts the jobs that are leaving for it.
 *  8. What is due at a time is known at that time.
 *  9. The books of queues and classes are what jobs and tasks add up to: rules_books.c.
 * 10. A reservation is of a job that waits, on nodes that are there.
 * 11. What is known of how a node's GPUs are wired is of as many GPUs as it has.
 * 12. A gang is inside the level that its tasks must share, and so are its groups, unless a report
 *     says that a task is elsewhere; an unfinished job names levels that are configured; and who
 *     crosses uplinks is counted from what is placed.
 * 13. No two instances of a split GPU have one slice, and each starts where it may. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "core/core.h"
#include "core/due.h"
#include "core/fit.h"
#include "core/impl.h"
#include "core/rules_books.h"
#include "core/together.h"

struct sums {
    int64_t mcpu, memory_bytes;
    int64_t gpu_mgpu[NODE_GPUS_MAX], gpu_bytes[NODE_GPUS_MAX];
    struct sharers sharers[NODE_GPUS_MAX];
    struct mig_held mig[NODE_GPUS_MAX];
};

/* claims: those of waiting jobs too. */
static void sum_tasks(const struct core *core, uint32_t node, bool claims, struct sums *sums)
{
    uint32_t t = core->nodes.rows[node].first_task;

    memset(sums, 0, sizeof *sums);
    for (; t != ROW_NONE; t = core->jobs.tasks[t].node_next) {
        const struct task *task = &core->jobs.tasks[t];
        const struct shape *shape = &core->shapes.shapes[task->shape];
        struct holding holding;
        struct need need;

        if (task->claimed && !claims)
            continue;
        (void)need_on(shape, nodes_class_of(&core->nodes, node), &need);
        holding = holding_on(shape, nodes_class_of(&core->nodes, node), &need, task->gpu_mask);
        sums->mcpu += holding.mcpu;
        sums->memory_bytes += holding.memory_bytes;
        for (uint64_t left = holding.gpus; left != 0; left &= left - 1) {
            sums->gpu_mgpu[__builtin_ctzll(left)] += holding.need.mgpu;
            sums->gpu_bytes[__builtin_ctzll(left)] += holding.need.memory_bytes;
            if (holding.need.company != COMPANY_NONE)
                sharers_add(&sums->sharers[__builtin_ctzll(left)], holding.need.company, 1);
        }
        if (need.mode == GPU_MIG)
            mig_held_add(&sums->mig[__builtin_ctzll(task->gpu_mask)],
                         class_mig(nodes_class_of(&core->nodes, node)), need.profile,
                         task->mig_start, 1);
    }
}

static int check_books(const struct core *core, uint32_t node, struct err *err)
{
    const struct node *row = &core->nodes.rows[node];
    const char *name = names_text(&core->names, row->name);
    struct sums sums;

    sum_tasks(core, node, true, &sums);
    if (sums.mcpu != row->held_mcpu || sums.memory_bytes != row->held_memory_bytes)
        return err_set(err, -EINVAL, "rule 1: node '%s': CPU or memory held is not the tasks' sum",
                       name);
    for (uint32_t i = 0; i < nodes_class_of(&core->nodes, node)->gpu_count; i++) {
        const struct gpu_book *gpu = &core->nodes.gpus[row->gpu_first + i];

        if (sums.gpu_mgpu[i] != gpu->held_mgpu || sums.gpu_bytes[i] != gpu->held_bytes)
            return err_set(err, -EINVAL, "rule 1: node '%s': GPU %u: held is not the tasks' sum",
                           name, i);
        if (memcmp(&sums.sharers[i], &gpu->sharers, sizeof gpu->sharers) != 0)
            return err_set(err, -EINVAL,
                           "rule 1: node '%s': GPU %u: is shared by others than its tasks", name,
                           i);
        if (row->mig_first != ROW_NONE &&
            memcmp(&sums.mig[i], &nodes_mig(&core->nodes, node, i)->held, sizeof sums.mig[i]) != 0)
            return err_set(err, -EINVAL,
                           "rule 1: node '%s': GPU %u: instances held are not those of its tasks",
                           name, i);
    }
    return 0;
}

static int check_owners(const struct core *core, uint32_t node, struct err *err)
{
    const struct node *row = &core->nodes.rows[node];
    const struct node_class *class = nodes_class_of(&core->nodes, node);
    struct sums sums;

    if (row->deficit)
        return 0;
    sum_tasks(core, node, false, &sums);
    for (uint32_t i = 0; i < class->gpu_count; i++) {
        if (sums.gpu_mgpu[i] > GPU_MGPU || sums.gpu_bytes[i] > class->gpu_memory_bytes)
            return err_set(err, -EINVAL, "rule 2: node '%s': GPU %u is given out twice",
                           names_text(&core->names, row->name), i);
        if (!sharers_may(&sums.sharers[i], class))
            return err_set(err, -EINVAL,
                           "rule 2: node '%s': GPU %u is shared by tasks that may not",
                           names_text(&core->names, row->name), i);
    }
    if (sums.mcpu > class->cpu_mcpu || sums.memory_bytes > class->memory_bytes)
        return err_set(err, -EINVAL, "rule 2: node '%s': CPU or memory is given out twice",
                       names_text(&core->names, row->name));
    return 0;
}

/* A node that takes no new work is in no state. */
static int check_out(const struct core *core, uint32_t node, struct err *err)
{
    const struct node *row = &core->nodes.rows[node];
    uint32_t stuck = 0, t = row->first_task;

    for (; t != ROW_NONE; t = core->jobs.tasks[t].node_next)
        stuck += core->jobs.rows[core->jobs.tasks[t].job].attended;
    if (stuck != row->stuck)
        return err_set(err, -EINVAL, "rule 6: node '%s': %u tasks should be long gone, not %u",
                       names_text(&core->names, row->name), stuck, row->stuck);
    if (node_takes_work(row) != (row->state != ROW_NONE))
        return err_set(err, -EINVAL, "rule 6: node '%s': takes new work, or not, as it should not",
                       names_text(&core->names, row->name));
    return 0;
}

static int check_state(const struct core *core, uint32_t node, struct err *err)
{
    const struct node *row = &core->nodes.rows[node];
    const struct node_class *class = nodes_class_of(&core->nodes, node);
    struct state_view view;
    uint32_t free_mgpu = 0, whole = 0, at_least = 0;

    index_view(&core->index, &core->nodes, row->state, &view);
    for (uint32_t i = 0; i < class->gpu_count; i++) {
        const uint32_t mgpu = nodes_gpu_free_mgpu(&core->nodes, node, i);

        free_mgpu += mgpu;
        whole += mgpu == GPU_MGPU;
        at_least += view.gpu_free_mgpu[i] <= (i > 0 ? view.gpu_free_mgpu[i - 1] : 0) && i > 0 &&
                    view.gpu_free_mgpu[i] != view.gpu_free_mgpu[i - 1];
    }
    if (at_least > 0 || view.free_mgpu != free_mgpu || view.whole_free != whole ||
        view.class_id != row->class_id ||
        view.cpu_free_mcpu != nodes_free_mcpu(&core->nodes, node) ||
        view.memory_free_bytes != nodes_free_memory_bytes(&core->nodes, node))
        return err_set(err, -EINVAL, "rule 6: node '%s': its state is not what its books say",
                       names_text(&core->names, row->name));
    return 0;
}

static int check_links(const struct core *core, uint32_t node, struct err *err)
{
    const struct node_class *class = nodes_class_of(&core->nodes, node);
    const struct links *links = &core->nodes.links;

    if (class->links == LINKS_UNKNOWN ||
        (class->links <= links->count && links_gpus(links, class->links) == class->gpu_count))
        return 0;
    return err_set(err, -EINVAL, "rule 11: node '%s': its links are not of its %u GPUs",
                   names_text(&core->names, core->nodes.rows[node].name), class->gpu_count);
}

/* No two instances are on each other, and none where the profile may not start. */
static int check_instances(const struct core *core, uint32_t node, struct err *err)
{
    const struct node *row = &core->nodes.rows[node];
    const struct node_class *class = nodes_class_of(&core->nodes, node);
    struct sums sums;

    if ((row->mig_first != ROW_NONE) != (class->mig_type > 0))
        return err_set(err, -EINVAL, "rule 13: node '%s': has books of instances, or has none",
                       names_text(&core->names, row->name));
    if (row->mig_first == ROW_NONE)
        return 0;
    sum_tasks(core, node, false, &sums);
    for (uint32_t i = 0; i < class->gpu_count; i++) {
        const struct mig_book *book = nodes_mig(&core->nodes, node, i);
        struct mig_gpu all = book->made;

        all.layout |= sums.mig[i].layout;
        if (!mig_gpu_valid(class_mig(class), &book->made) ||
            (!row->deficit && (mig_held_clashes(&sums.mig[i], &sums.mig[i]) ||
                               !mig_gpu_valid(class_mig(class), &all))))
            return err_set(err, -EINVAL, "rule 13: node '%s': GPU %u: instances cannot be so",
                           names_text(&core->names, row->name), i);
        if (!mig_room_is(&core->nodes.rooms, book->room, class->mig_type - 1, mig_book_bars(book),
                         &book->made, &book->held))
            return err_set(err, -EINVAL, "rule 6: node '%s': GPU %u: its room is another",
                           names_text(&core->names, row->name), i);
    }
    return 0;
}

int core_check_node(const struct core *core, uint32_t node, struct err *err)
{
    int rc;

    if (!core->nodes.rows[node].in_use)
        return 0;
    rc = check_books(core, node, err);
    rc = rc < 0 ? rc : check_owners(core, node, err);
    rc = rc < 0 ? rc : check_out(core, node, err);
    rc = rc < 0 ? rc : check_links(core, node, err);
    rc = rc < 0 ? rc : check_instances(core, node, err);
    return rc < 0 || core->nodes.rows[node].state == ROW_NONE ? rc : check_state(core, node, err);
}

static int check_nodes(const struct core *core, uint32_t *tasks_seen, struct err *err)
{
    for (uint32_t node = 0; node < core->nodes.count; node++) {
        uint32_t t = core->nodes.rows[node].first_task;
        const int rc = core_check_node(core, node, err);

        if (rc < 0)
            return rc;
        for (; t != ROW_NONE; t = core->jobs.tasks[t].node_next)
            (*tasks_seen)++;
    }
    return 0;
}

/* Enough of the tasks of an elastic job stand while it is not told to stop, or about to be. */
static int check_elastic(const struct core *core, const struct job *job, struct err *err)
{
    const bool listed = job->growing_at != ROW_NONE;
    const bool goes_on = job->state != JOB_STOPPING && !job->unsettled && !job->service;

    if ((job->tasks_absent > 0 && !job_is_elastic(core, job)) ||
        (goes_on && job_tasks_standing(job) < job_tasks_min(core, job)))
        return err_set(err, -EINVAL, "rule 4: job %llu: %u tasks are absent, %u shrinking",
                       (unsigned long long)job->id, job->tasks_absent, job->tasks_shrinking);
    if (listed != (job->state == JOB_RUNNING && job->tasks_absent > 0 &&
                   job->tasks_absent == job->tasks_left) ||
        (listed && &core->jobs.rows[core->elastic.growing[job->growing_at].job] != job))
        return err_set(err, -EINVAL,
                       "rule 4: job %llu: is not in the list of those that could grow",
                       (unsigned long long)job->id);
    return 0;
}

static int check_tasks(const struct core *core, const struct job *job, uint32_t *tasks,
                       struct err *err)
{
    const struct gang *gang = &core->shapes.gangs[job->gang];
    const struct layout *layout = &core->shapes.layouts[gang->first_layout + job->layout];
    const uint32_t asked = layout_tasks(&core->shapes, layout);

    if (job->task_count != asked || job->tasks_left >= job->task_count)
        return err_set(err, -EINVAL, "rule 4: job %llu: %u tasks of %u, %u left",
                       (unsigned long long)job->id, job->task_count, asked, job->tasks_left);
    for (uint32_t i = 0; i < job->task_count; i++) {
        const struct task *task = job_task(core, job, i);
        const uint32_t gpus = task->left ? 0 : core->shapes.shapes[task->shape].gpus;

        if (&core->jobs.rows[task->job] != job ||
            (uint32_t)__builtin_popcountll(task->gpu_mask) != gpus)
            return err_set(err, -EINVAL, "rule 3: job %llu: task %u: does not hold %u GPUs",
                           (unsigned long long)job->id, i, gpus);
        *tasks += !task->left;
    }
    if (!together_obeyed(core, job))
        return err_set(err, -EINVAL, "rule 12: job %llu: is outside the level that it must share",
                       (unsigned long long)job->id);
    return check_elastic(core, job, err);
}

static int check_claim(const struct core *core, const struct job *job, uint32_t *tasks,
                       struct err *err)
{
    bool listed = false;

    if (job->task_first == ROW_NONE)
        return 0;
    for (uint32_t i = 0; i < core->claimant_count; i++)
        listed = listed || &core->jobs.rows[core->claimants[i]] == job;
    for (uint32_t i = 0; i < job->task_count; i++)
        listed = listed && job_task(core, job, i)->claimed;
    *tasks += job->task_count;
    if (!together_obeyed(core, job))
        return err_set(err, -EINVAL, "rule 12: job %llu: claims room outside the level",
                       (unsigned long long)job->id);
    if (!listed || job->queued)
        return err_set(err, -EINVAL, "rule 4: job %llu: waits and holds tasks",
                       (unsigned long long)job->id);
    return 0;
}

static int check_waiting(const struct core *core, uint32_t job, struct err *err)
{
    const struct job *row = &core->jobs.rows[job];
    const struct bucket *bucket;
    uint32_t at;

    if (!row->queued && !row->in_vain && row->task_first == ROW_NONE &&
        !(row->reason == REASON_HELD && row->held) &&
        !(row->reason == REASON_AFTER && row->after_left > 0) &&
        !(row->reason == REASON_ARRAY && row->lined_up))
        return err_set(err, -EINVAL, "rule 5: job %llu: is kept out of the queue by nothing",
                       (unsigned long long)row->id);
    if (!row->queued)
        return 0;
    bucket = &core->pending.buckets[row->bucket];
    at = core->pending.place[job];
    if (at >= bucket->count || bucket->heap[at].job != job)
        return err_set(err, -EINVAL, "rule 5: job %llu: waits, but not in the queue",
                       (unsigned long long)row->id);
    if (bucket->reason == REASON_NONE)
        return err_set(err, -EINVAL, "rule 5: job %llu: waits without a reason",
                       (unsigned long long)row->id);
    return 0;
}

/* The levels that an unfinished job names stay configured. */
static int check_levels(const struct core *core, const struct job *job, struct err *err)
{
    const struct gang *gang = &core->shapes.gangs[job->gang];

    for (uint32_t i = 0; i < gang->layout_count; i++) {
        const struct together *t = &core->shapes.layouts[gang->first_layout + i].together;
        const uint32_t names[] = {t->within, t->near, t->group_within};

        if (t->slowdown_max_ppm > 0 && core->levels.count == 0)
            return err_set(err, -EINVAL, "rule 12: job %llu: there are no levels to be fast on",
                           (unsigned long long)job->id);
        for (uint32_t n = 0; n < 3; n++)
            if (names[n] != LEVEL_NONE && levels_find(&core->levels, names[n]) == LEVEL_NONE)
                return err_set(err, -EINVAL, "rule 12: job %llu: asks for an unknown level",
                               (unsigned long long)job->id);
    }
    return 0;
}

static int check_jobs(const struct core *core, uint32_t *tasks, uint32_t *victims, struct err *err)
{
    uint32_t pending = 0, in_line = 0, queued = 0;

    for (uint32_t job = 0; job < core->jobs.count; job++) {
        const struct job *row = &core->jobs.rows[job];
        int rc = 0;

        if (row->state == JOB_PENDING) {
            rc = check_waiting(core, job, err);
            rc = rc < 0 ? rc : check_claim(core, row, tasks, err);
        }
        if (row->state != JOB_PENDING && row->state != JOB_FREE)
            rc = check_tasks(core, row, tasks, err);
        if (row->state != JOB_FREE && rc == 0)
            rc = check_levels(core, row, err);
        if (rc < 0)
            return rc;
        pending += row->state == JOB_PENDING;
        in_line += row->state == JOB_PENDING && row->queued;
        victims[0] += row->state != JOB_FREE ? row->victims : 0;
        victims[1] += row->state != JOB_FREE && row->claimant != JOB_NONE;
    }
    for (uint32_t i = 0; i < core->pending.open_count; i++)
        queued += core->pending.buckets[core->pending.open[i]].count;
    if (pending != core->jobs.pending || in_line != queued)
        return err_set(err, -EINVAL,
                       "rule 5: %u jobs wait, %u are counted; %u are in line, %u are queued",
                       pending, core->jobs.pending, in_line, queued);
    return 0;
}

int core_check_rules(const struct core *core, struct err *err)
{
    uint32_t on_nodes = 0, of_jobs = 0, victims[2] = {0, 0};
    int rc = check_nodes(core, &on_nodes, err);

    rc = rc < 0 ? rc : check_jobs(core, &of_jobs, victims, err);
    if (rc < 0)
        return rc;
    if (on_nodes != of_jobs)
        return err_set(err, -EINVAL, "rule 3: %u tasks are on nodes, jobs hold %u", on_nodes,
                       of_jobs);
    if (victims[0] != victims[1])
        return err_set(err, -EINVAL, "rule 7: %u jobs are awaited, %u are leaving", victims[0],
                       victims[1]);
    if (!due_is_right(core))
        return err_set(err, -EINVAL, "rule 8: what is due is not known at its time");
    if (!levels_counted_right(core))
        return err_set(err, -EINVAL, "rule 12: gangs that cross uplinks are counted wrong");
    rc = core_check_books(core, err);
    return rc < 0 ? rc : reserve_check(core, err);
}
