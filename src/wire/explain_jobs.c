/* SPDX-License-Identifier: Apache-2.0 */
/* explain_jobs.c - the other jobs of an explanation: whom it waits for, and who keeps the room. */
#include "base/text.h"
#include "core/view.h"
#include "wire/explain_impl.h"

#define NODES_NAMED_MAX 4u

void explain_add_job(const struct explain_writer *w, uint64_t job_id)
{
    text_addf(w->out, "job %s", w->names->job(w->names->arg, job_id));
}

/* "job a and job b", and how those end that it waits for. */
static void add_others(const struct explain_writer *w)
{
    static const char *const ends[AFTER_COUNT] = {" to end well", " to end", " to fail"};
    const struct explanation *e = w->e;

    for (uint32_t i = 0; i < e->named; i++) {
        text_add(w->out, i == 0 ? "" : i + 1 == e->other_count ? " and " : ", ");
        explain_add_job(w, e->others[i]);
        if (e->reason == REASON_AFTER)
            text_add(w->out, ends[e->other_end[i]]);
    }
    if (e->other_count > e->named)
        text_addf(w->out, " and %u more", e->other_count - e->named);
}

void explain_add_reason(const struct explain_writer *w)
{
    const struct explanation *e = w->e;

    explain_add_job(w, e->job_id);
    if (e->reason == REASON_HELD) {
        text_add(w->out, " is held by its user.\n");
    } else if (e->reason == REASON_AFTER && e->other_count > 0) {
        text_add(w->out, " waits for ");
        add_others(w);
        text_add(w->out, ".\n");
    } else if (e->other_count > 0) {
        text_addf(w->out, " waits: %s: ", reason_text(e->reason));
        add_others(w);
        if (e->reason == REASON_ARRAY)
            text_addf(w->out, "; the limit is %u", e->array_limit);
        text_add(w->out, ".\n");
    } else {
        text_addf(w->out, " waits: %s.\n", reason_text(e->reason));
    }
    if (e->reason == REASON_VICTIMS && e->other_count > 0) {
        text_add(w->out, "They are killed in ");
        explain_add_time(w->out, e->killed_us > e->now_us ? e->killed_us - e->now_us : 0);
        text_add(w->out, " at the latest.\n");
    }
}

void explain_add_jobs(const struct explain_writer *w, const uint64_t *ids, uint32_t named,
                      uint32_t count)
{
    for (uint32_t i = 0; i < named; i++) {
        text_add(w->out, i == 0 ? "" : i + 1 == count ? " and " : ", ");
        explain_add_job(w, ids[i]);
    }
    if (count > named)
        text_addf(w->out, " and %u more", count - named);
}

void explain_add_services(const struct explain_writer *w)
{
    const struct explanation *e = w->e;

    if (e->service_count == 0)
        return;
    text_add(w->out, "It may take from ");
    explain_add_jobs(w, e->services, e->services_named, e->service_count);
    if (e->service_count == 1)
        text_addf(w->out, ", but that is a service and keeps its minimum of %u task%s.\n",
                  e->service_tasks_min, e->service_tasks_min == 1 ? "" : "s");
    else
        text_add(w->out, ", but these are services and keep their minimum of tasks.\n");
}

/* All of them are named, and may be stopped from the same time on. */
static bool young_end_together(const struct explanation *e)
{
    for (uint32_t i = 1; i < e->young_named; i++)
        if (e->until_us[i] != e->until_us[0])
            return false;
    return e->young_named == e->young_count;
}

static void add_young_each(const struct explain_writer *w)
{
    const struct explanation *e = w->e;

    for (uint32_t i = 0; i < e->young_named; i++) {
        text_add(w->out, i == 0 ? "" : i + 1 == e->young_count ? " and " : ", ");
        explain_add_job(w, e->young[i]);
        text_add(w->out, " (not before ");
        explain_add_time(w->out, e->until_us[i]);
        text_add(w->out, ")");
    }
    if (e->young_count > e->young_named)
        text_addf(w->out, " and %u more", e->young_count - e->young_named);
}

void explain_add_young(const struct explain_writer *w)
{
    const struct explanation *e = w->e;

    if (e->young_count == 0)
        return;
    text_add(w->out, "It may take from ");
    if (young_end_together(e)) {
        explain_add_jobs(w, e->young, e->young_named, e->young_count);
        text_add(w->out, ", but not before ");
        explain_add_time(w->out, e->until_us[0]);
    } else {
        add_young_each(w);
    }
    text_add(w->out, e->young_count == 1
                         ? ": that may not be stopped in its minimum run time.\n"
                         : ": these may not be stopped in their minimum run time.\n");
}

void explain_add_yields(const struct explain_writer *w)
{
    if (w->e->takes_after_us == 0)
        return;
    text_addf(w->out,
              "It gave way %u times in a row soon after its start; it makes others give way by its "
              "class or its order again from ",
              w->e->yields);
    explain_add_time(w->out, w->e->takes_after_us);
    text_add(w->out, " on.\n");
}

void explain_add_places(const struct explain_writer *w, uint64_t job_id)
{
    const uint32_t row = core_find_job(w->core, job_id);
    const struct job *job = row != ROW_NONE ? core_job(w->core, row) : NULL;
    uint32_t named = 0, last = ROW_NONE;

    if (job == NULL || job->task_first == ROW_NONE)
        return;
    for (uint32_t i = 0; i < job->task_count && named <= NODES_NAMED_MAX; i++) {
        const struct task *task = core_task(w->core, job->task_first + i);

        if (task->left || task->node == last)
            continue;
        if (named == NODES_NAMED_MAX)
            text_add(w->out, " and more");
        else
            text_addf(w->out, "%s%s", named == 0 ? " on " : ", ",
                      core_name(w->core, core_node_name(w->core, task->node)));
        last = task->node;
        named++;
    }
}
