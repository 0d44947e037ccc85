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
};

static bool has_below(const struct rules_spec *rules, const char *queue)
{
    for (uint32_t i = 0; i < rules->queue_count; i++)
        if (strcmp(rules->queues[i].parent, queue) == 0)
            return true;
    return false;
}

static void known_init(struct known *known, const struct rules_spec *rules)
{
    struct names parents;

    names_init(&known->leaves);
    names_init(&parents);
    for (uint32_t i = 0; i < rules->queue_count; i++)
        (void)names_intern(&parents, rules->queues[i].parent);
    for (uint32_t i = 0; i < rules->queue_count; i++)
        if (names_find(&parents, rules->queues[i].name) == NAMES_NONE)
            (void)names_intern(&known->leaves, rules->queues[i].name);
    names_done(&parents);
    known->any_default = rules->default_queue[0] != '\0';
}

static void list_known(const struct names *names, struct text *out)
{
    text_init(out, LISTED_BYTES_MAX);
    for (uint32_t i = 0; i < names_count(names) && !out->overflow; i++)
        text_addf(out, "%s%s", i > 0 ? ", " : "", quote_of(names_text(names, i)).text);
}

static int error_queue(const struct trace *trace, const struct trace_job *job,
                       const struct rules_spec *rules, const struct known *known, struct err *err)
{
    struct text list;

    list_known(&known->leaves, &list);
    if (job->queue[0] == '\0')
        err_set(err, -EINVAL, "%s:%u: names no queue, and --config has no default-queue",
                trace->file, job->line);
    else if (has_below(rules, job->queue))
        err_set(err, -EINVAL, "%s:%u: queue %s: has queues below it, of which one must be named",
                trace->file, job->line, quote_of(job->queue).text);
    else
        err_set(err, -ENOENT, "%s:%u: queue %s: is not in --config", trace->file, job->line,
                quote_of(job->queue).text);
    if (err != NULL) {
        const struct err said = *err;

        err_set(err, -EINVAL, "%s; there are %s%s", said.text, text_str(&list),
                list.overflow ? ", ..." : "");
    }
    text_done(&list);
    return -EINVAL;
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

int trace_check(const struct trace *trace, const struct rules_spec *rules, struct err *err)
{
    struct known known;
    int rc;

    if (rules == NULL || rules->queue_count == 0)
        return 0;
    known_init(&known, rules);
    rc = check_queues(trace, rules, &known, err);
    names_done(&known.leaves);
    return rc;
}
