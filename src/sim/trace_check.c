/* SPDX-License-Identifier: Apache-2.0 */
/* trace_check.c - what the jobs of a trace name must be there in the configuration of the run.
 *
 * The core refuses such jobs too, but only when they arrive: that may be hours into a run, and the
 * core knows nothing of files and lines. */
#include "sim/trace_check.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/names.h"
#include "base/text.h"
#include "core/event.h"
#include "wire/quote.h"
#include "wire/trace.h"

#define LISTED_BYTES_MAX 200u /* of the names that an error lists */

struct known {
    struct names leaves; /* queues that jobs may stand in */
    bool any_default;    /* and those that name none have one as well */
    struct names classes;
};

static bool has_below(const struct rules_spec *rules, const char *queue)
{
    for (uint32_t i = 0; i < rules->queue_count; i++)
        if (strcmp(rules->queues[i].parent, queue) == 0)
            return true;
    return false;
}

static void know_queues(struct known *known, const struct rules_spec *rules)
{
    struct names parents;

    names_init(&parents);
    for (uint32_t i = 0; i < rules->queue_count; i++)
        (void)names_intern(&parents, rules->queues[i].parent);
    for (uint32_t i = 0; i < rules->queue_count; i++)
        if (names_find(&parents, rules->queues[i].name) == NAMES_NONE)
            (void)names_intern(&known->leaves, rules->queues[i].name);
    names_done(&parents);
    known->any_default = rules->default_queue[0] != '\0';
}

static void know_classes(struct known *known, const struct rules_spec *rules)
{
    static const char *const usual[] = {"high", "medium", "low"};
    const uint32_t stated = rules != NULL ? rules->class_count : 0;

    for (uint32_t i = 0; i < stated; i++)
        (void)names_intern(&known->classes, rules->classes[i].name);
    for (size_t i = 0; stated == 0 && i < sizeof usual / sizeof usual[0]; i++)
        (void)names_intern(&known->classes, usual[i]);
}

/* To what the error says already. Returns its code. */
static int add_known(const struct names *names, struct err *err)
{
    struct err said;
    struct text list;

    if (err == NULL)
        return -EINVAL;
    said = *err;
    text_init(&list, LISTED_BYTES_MAX);
    for (uint32_t i = 0; i < names_count(names) && !list.overflow; i++)
        text_addf(&list, "%s%s", i > 0 ? ", " : "", quote_of(names_text(names, i)).text);
    err_set(err, -EINVAL, "%s; there are %s%s", said.text, text_str(&list),
            list.overflow ? ", ..." : "");
    text_done(&list);
    return -EINVAL;
}

static int error_queue(const struct trace *trace, const struct trace_job *job,
                       const struct rules_spec *rules, const struct known *known, struct err *err)
{
    if (job->queue[0] == '\0')
        err_set(err, -EINVAL, "%s:%u: names no queue, and --config has no default-queue",
                trace->file, job->line);
    else if (has_below(rules, job->queue))
        err_set(err, -EINVAL, "%s:%u: queue %s: has queues below it, of which one must be named",
                trace->file, job->line, quote_of(job->queue).text);
    else
        err_set(err, -EINVAL, "%s:%u: queue %s: is not in --config", trace->file, job->line,
                quote_of(job->queue).text);
    return add_known(&known->leaves, err);
}

static int check_queues(const struct trace *trace, const struct rules_spec *rules,
                        const struct known *known, struct err *err)
{
    const char *last = NULL; /* equal texts are the same pointer */

    for (uint32_t i = 0; i < trace->job_count; i++) {
        const struct trace_job *job = &trace->jobs[i];

        if (job->queue == last)
            continue;
        if (job->queue[0] == '\0' ? !known->any_default
                                  : names_find(&known->leaves, job->queue) == NAMES_NONE)
            return error_queue(trace, job, rules, known, err);
        last = job->queue;
    }
    return 0;
}

static int check_classes(const struct trace *trace, const struct rules_spec *rules,
                         const struct known *known, struct err *err)
{
    const bool configured = rules != NULL && rules->class_count > 0;
    const char *last = "";

    for (uint32_t i = 0; i < trace->job_count; i++) {
        const struct trace_job *job = &trace->jobs[i];

        if (job->class == last || job->class[0] == '\0')
            continue;
        if (names_find(&known->classes, job->class) == NAMES_NONE) {
            err_set(err, -EINVAL, "%s:%u: class %s: %s", trace->file, job->line,
                    quote_of(job->class).text,
                    configured ? "is not in --config" : "is none, and --config has no classes");
            return add_known(&known->classes, err);
        }
        last = job->class;
    }
    return 0;
}

int trace_check(const struct trace *trace, const struct rules_spec *rules, struct err *err)
{
    struct known known = {.any_default = false};
    int rc = 0;

    names_init(&known.leaves);
    names_init(&known.classes);
    know_classes(&known, rules);
    if (rules != NULL && rules->queue_count > 0) {
        know_queues(&known, rules);
        rc = check_queues(trace, rules, &known, err);
    }
    rc = rc < 0 ? rc : check_classes(trace, rules, &known, err);
    names_done(&known.leaves);
    names_done(&known.classes);
    return rc;
}
