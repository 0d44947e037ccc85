/* SPDX-License-Identifier: Apache-2.0 */
/* explain_remedy.c - the nearest single change that would start it. */
#include <inttypes.h>

#include "base/text.h"
#include "core/view.h"
#include "wire/explain_impl.h"

/* It ends when somebody ends it. */
static bool is_service(const struct explain_writer *w, uint64_t job_id)
{
    const uint32_t row = core_find_job(w->core, job_id);

    return row != ROW_NONE && core_job(w->core, row)->service;
}

static void add_limit(const struct explain_writer *w, const struct remedy *r)
{
    const bool borrow = r->refusal.bound == BOUND_BORROW;

    text_add(w->out, borrow ? "let " : "raise the limit of ");
    explain_add_whose(w, r->refusal.queue);
    text_add(w->out, borrow ? " borrow " : " by ");
    explain_add_resource(w->out, r->refusal.resource, r->to - r->from, true);
    text_add(w->out, borrow ? " more, and hold " : ", to ");
    explain_add_resource(w->out, r->refusal.resource, r->to, false);
}

/* "allow its tasks anywhere in one spine" */
static void add_coarser(const struct explain_writer *w, const struct remedy *r)
{
    text_add(w->out, explain_remedy_text(r->type));
    if (r->name != LEVEL_NONE)
        text_addf(w->out, " in one %s", core_name(w->core, r->name));
}

void explain_add_remedy(const struct explain_writer *w)
{
    const struct remedy *r = &w->e->remedy;

    if (r->type == REMEDY_NONE) {
        if (w->e->tries == 0)
            text_add(w->out, "There is no single change to try.\n");
        else
            text_addf(w->out, "No single change starts it now; %u %s tried.\n", w->e->tries,
                      w->e->tries == 1 ? "was" : "were");
        return;
    }
    text_add(w->out, "It would start now with this change: ");
    if (r->type == REMEDY_LESS) {
        text_add(w->out, "ask for ");
        explain_add_shortage(w->out, r->what, r->to, true);
        text_add(w->out, " instead of ");
        explain_add_shortage(w->out, r->what, r->from, false);
    } else if (r->type == REMEDY_TASKS) {
        text_addf(w->out, "ask for %" PRId64 " task%s instead of %" PRId64, r->to,
                  r->to == 1 ? "" : "s", r->from);
    } else if (r->type == REMEDY_WITHIN || r->type == REMEDY_GROUPS) {
        add_coarser(w, r);
    } else if (r->type == REMEDY_SLOWDOWN) {
        text_add(w->out, "accept a slowdown of ");
        explain_add_milli(w->out, (r->to + 999) / 1000);
        text_add(w->out, " instead of ");
        explain_add_milli(w->out, r->from / 1000);
    } else if (r->type == REMEDY_LIMIT) {
        add_limit(w, r);
    } else if (r->type == REMEDY_JOB_ENDS) {
        explain_add_job(w, r->job_id);
        explain_add_places(w, r->job_id);
        text_add(w->out, is_service(w, r->job_id) ? " is cancelled"
                         : r->badly               ? " fails"
                                                  : " ends");
    } else {
        text_addf(w->out, "%s%s", explain_remedy_text(r->type),
                  r->name != 0 && r->type != REMEDY_MODELS ? core_name(w->core, r->name) : "");
    }
    if (r->stopped_count > 0) {
        text_add(w->out, "; then ");
        explain_add_jobs(w, r->stopped, r->stopped_named, r->stopped_count);
        text_add(w->out, r->stopped_count == 1 ? " gives way to it" : " give way to it");
    }
    text_add(w->out, ".\n");
}
