/* SPDX-License-Identifier: Apache-2.0 */
/* explain_turn.c - its place in line, and when it is expected to start. */
#include "base/text.h"
#include "wire/explain_impl.h"

void explain_add_position(const struct explain_writer *w)
{
    const struct position *p = &w->e->position;

    if (!p->known)
        return;
    if (p->more)
        text_addf(w->out, "More than %u jobs have their turn before it.\n", p->before);
    else if (p->before == 0)
        text_add(w->out, "It has the first turn.\n");
    else
        text_addf(w->out, "%u job%s ha%s turn before it, %u of its own queue.\n", p->before,
                  p->before == 1 ? "" : "s", p->before == 1 ? "s its" : "ve their", p->in_queue);
}

void explain_add_start(const struct explain_writer *w, const struct forward *forward)
{
    const int64_t start_us = forward->start_us[w->e->job];

    if (start_us != TIME_NONE) {
        text_add(w->out, "It is expected to start in ");
        explain_add_time(w->out, start_us - w->e->now_us);
        text_add(w->out, ", at ");
        explain_add_time(w->out, start_us);
        text_add(w->out, ", if nothing new arrives and jobs end as expected.\n");
    } else if (forward->whole && w->e->reason == REASON_AFTER) {
        text_add(w->out, "It does not start by itself, if jobs end as expected.\n");
    } else if (forward->whole && forward->unending) {
        text_add(w->out, "It does not start by itself: services, and tasks that are stuck, would "
                         "have to end.\n");
    } else if (forward->whole) {
        text_add(w->out, "It does not start by itself, whatever ends.\n");
    } else {
        text_add(w->out, "It is not expected to start before ");
        explain_add_time(w->out, forward->end_us);
        text_add(w->out, "; further was not looked.\n");
    }
}
