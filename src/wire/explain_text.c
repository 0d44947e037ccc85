/* SPDX-License-Identifier: Apache-2.0 */
/* explain_text.c - an explanation for people: what, on what, and what to do. */
#include "base/text.h"
#include "core/view.h"
#include "wire/explain_impl.h"

/* It runs, or is on its way in or out. */
static void add_state(const struct explain_writer *w)
{
    const struct job *job = core_job(w->core, w->e->job);

    text_addf(w->out, " does not wait: it is %s", job_state_text(w->e->state));
    if (job_since_us(job) != TIME_NONE) {
        text_add(w->out, ", since ");
        explain_add_time(w->out, job_since_us(job));
    }
    explain_add_places(w, w->e->job_id);
    text_add(w->out, ".\n");
}

static void add_rejected(const struct explain_writer *w)
{
    const struct never *never = &w->e->never;
    const bool named = never->kind == NEVER_MODEL || never->kind == NEVER_LABEL;

    text_addf(w->out, " is about to be rejected: %s", reason_reject_text(w->e->reason));
    explain_add_never(w->out, never, named ? core_name(w->core, never->name) : NULL);
    text_add(w->out, ".\n");
}

void explain_text(const struct core *core, const struct explanation *e,
                  const struct forward *forward, const struct explain_names *names,
                  struct text *out)
{
    const struct explain_writer w = {core, e, names, out};

    if (e->state != JOB_PENDING || e->starts || e->rejected) {
        explain_add_job(&w, e->job_id);
        if (e->rejected)
            add_rejected(&w);
        else if (e->starts)
            text_add(out, " starts with the next step.\n");
        else
            add_state(&w);
        return;
    }
    explain_add_reason(&w);
    explain_add_ahead(&w);
    explain_add_bound(&w);
    explain_add_room(&w);
    explain_add_lack(&w);
    explain_add_services(&w);
    explain_add_young(&w);
    explain_add_yields(&w);
    explain_add_position(&w);
    explain_add_reservation(&w);
    if (forward != NULL)
        explain_add_start(&w, forward);
    explain_add_remedy(&w);
}

void explain_absent_text(const struct explain_absent *a, struct text *out)
{
    static const char *const texts[] = {
        [EXPLAIN_COMES] = "is not there yet: it is submitted",
        [EXPLAIN_REFUSED] = "was refused when it was submitted,",
        [EXPLAIN_OVER] = "is over: ",
    };

    text_addf(out, "job %s %s", a->job, texts[a->what]);
    if (a->what == EXPLAIN_OVER)
        text_add(out, a->end);
    if (a->at_us != TIME_NONE) {
        text_add(out, " at ");
        explain_add_time(out, a->at_us);
    } else {
        text_add(out, " later");
    }
    if (a->reason != NULL)
        text_addf(out, "; %s", a->reason);
    text_add(out, ".\n");
}
