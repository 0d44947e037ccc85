/* SPDX-License-Identifier: Apache-2.0 */
/* explain_reserved.c - the reservation that it has, and the one of another job that holds it back.
 */
#include "base/text.h"
#include "wire/explain_impl.h"

void explain_add_ahead(const struct explain_writer *w)
{
    const struct explanation *e = w->e;

    if (e->ahead_job == JOB_NONE)
        return;
    text_add(w->out, "It would fit now, but it may run ");
    if (e->run_until_us != TIME_NONE) {
        text_add(w->out, "until ");
        explain_add_time(w->out, e->run_until_us);
    } else {
        text_add(w->out, "for ever");
    }
    text_add(w->out, ", into the reservation of ");
    explain_add_job(w, e->ahead_job);
    text_add(w->out, " for ");
    explain_add_time(w->out, e->ahead_us);
    text_add(w->out, ".\n");
}

void explain_add_reservation(const struct explain_writer *w)
{
    const struct explanation *e = w->e;

    if (e->reserved_us == TIME_NONE)
        return;
    text_add(w->out, "It has a reservation for ");
    explain_add_time(w->out, e->reserved_us);
    if (e->reserved_us > e->reserved_first_us) {
        text_add(w->out, ", ");
        explain_add_time(w->out, e->reserved_us - e->reserved_first_us);
        text_add(w->out, " later than it was told first");
        if (e->reserved_late_by != JOB_NONE) {
            text_add(w->out, ", because of ");
            explain_add_job(w, e->reserved_late_by);
        }
    }
    text_add(w->out, ".\n");
}
