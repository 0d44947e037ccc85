/* SPDX-License-Identifier: Apache-2.0 */
/* rules_books.c - rule 9: what the books of queues and classes say is what jobs and tasks add up
 * to.
 *
 * Sums are made for the rows where jobs stand, and then carried up the tree, which is not how the
 * books are kept: these follow each change along one path. */
#include "core/rules_books.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "core/impl.h"
#include "core/life.h"

enum { BOOKS = BOOK_RESERVED + 1 };

struct row_sums {
    struct amounts books[BOOKS];
    uint32_t jobs;
};

static void add_at(struct row_sums *sums, const struct standing *at, enum queue_book book,
                   const struct amounts *amounts)
{
    amounts_add(&sums[at->leaf].books[book], amounts, 1);
    if (at->of_class != QUEUE_NONE)
        amounts_add(&sums[at->of_class].books[book], amounts, 1);
}

static void add_tasks(const struct core *core, const struct job *job, struct row_sums *sums)
{
    for (uint32_t i = 0; job->task_first != ROW_NONE && i < job->task_count; i++) {
        const struct task *task = job_task(core, job, i);
        struct amounts amounts;

        if (task->left)
            continue;
        amounts = task_amounts(core, task);
        add_at(sums, &job->at, task->claimed ? BOOK_CLAIMED : BOOK_USED, &amounts);
        if (task->leaving)
            add_at(sums, &job->at, BOOK_LEAVING, &amounts);
    }
}

static void add_job(const struct core *core, const struct job *job, struct row_sums *sums)
{
    sums[job->at.leaf].jobs++;
    if (job->at.of_class != QUEUE_NONE)
        sums[job->at.of_class].jobs++;
    if (!core->queues.books)
        return;
    add_tasks(core, job, sums);
    if (job->queued)
        add_at(sums, &job->at, BOOK_ASKED, &core->shapes.gangs[job->gang].asks);
}

static int compare(const struct core *core, uint32_t row, const struct row_sums *sums,
                   struct err *err)
{
    static const char *const words[BOOKS] = {"used", "leaving", "claimed", "asked", "reserved"};
    const struct queue *queue = &core->queues.rows[row];
    const struct amounts *books[BOOKS] = {&queue->used, &queue->leaving, &queue->claimed,
                                          &queue->asked, &queue->reserved};
    const char *name = names_text(&core->names, queue->name);

    for (int b = 0; b < BOOKS; b++)
        for (int r = 0; r < RES_COUNT; r++)
            if (books[b]->of[r] != sums->books[b].of[r])
                return err_set(err, -EINVAL,
                               "rule 9: queue row %u '%s': %s: resource %d: is %lld, jobs have "
                               "%lld",
                               row, name, words[b], r, (long long)books[b]->of[r],
                               (long long)sums->books[b].of[r]);
    if (queue->jobs != sums->jobs)
        return err_set(err, -EINVAL, "rule 9: queue row %u '%s': counts %u jobs of %u", row, name,
                       queue->jobs, sums->jobs);
    return 0;
}

/* From the last row up: children come after their parents. */
static int check_rows(const struct core *core, struct row_sums *sums, struct err *err)
{
    int rc = 0;

    for (uint32_t row = core->queues.count; rc == 0 && row-- > 0;) {
        const uint32_t parent = core->queues.rows[row].parent;

        rc = compare(core, row, &sums[row], err);
        if (parent == QUEUE_NONE)
            continue;
        for (int b = 0; b < BOOKS; b++)
            amounts_add(&sums[parent].books[b], &sums[row].books[b], 1);
        sums[parent].jobs += sums[row].jobs;
    }
    return rc;
}

static int check_asks(const struct core *core, struct err *err)
{
    struct amounts asks = {{0}};

    for (uint32_t i = 0; i < core->jobs.count; i++)
        if (core->jobs.rows[i].state != JOB_FREE)
            amounts_add(&asks, &core->shapes.gangs[core->jobs.rows[i].gang].asks, 1);
    if (memcmp(&asks, &core->asks, sizeof asks) != 0)
        return err_set(err, -EINVAL, "rule 9: what all jobs ask for is not their sum");
    return 0;
}

static int check_classes(const struct core *core, struct err *err)
{
    uint32_t active[CLASSES_MAX] = {0};

    for (uint32_t i = 0; i < core->jobs.count; i++) {
        const struct job *job = &core->jobs.rows[i];

        active[job->class_id] += job->state != JOB_FREE && job->state != JOB_PENDING;
    }
    for (uint32_t i = 0; i < core->classes.count; i++)
        if (active[i] != core->classes.rows[i].active)
            return err_set(err, -EINVAL, "rule 9: class '%s': counts %u jobs that run, not %u",
                           names_text(&core->names, core->classes.rows[i].name),
                           core->classes.rows[i].active, active[i]);
    return 0;
}

int core_check_books(const struct core *core, struct err *err)
{
    struct row_sums *sums = mem_alloc(core->queues.count, sizeof *sums);
    int rc;

    memset(sums, 0, core->queues.count * sizeof *sums);
    for (uint32_t i = 0; i < core->jobs.count; i++)
        if (core->jobs.rows[i].state != JOB_FREE)
            add_job(core, &core->jobs.rows[i], sums);
    rc = check_rows(core, sums, err);
    mem_free(sums);
    rc = rc < 0 ? rc : check_asks(core, err);
    return rc < 0 ? rc : check_classes(core, err);
}
