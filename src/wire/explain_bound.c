/* SPDX-License-Identifier: Apache-2.0 */
/* explain_bound.c - the bound of a queue that holds it back. */
#include "base/text.h"
#include "core/view.h"
#include "wire/explain_impl.h"

void explain_add_whose(const struct explain_writer *w, uint32_t queue)
{
    const char *user, *name = core_queue_label(w->core, queue, &user);

    if (user != NULL)
        text_addf(w->out, "user %s in ", user);
    text_addf(w->out, "%s %s", core_queue_is_class(w->core, queue) ? "class" : "queue", name);
}

void explain_add_bound(const struct explain_writer *w)
{
    const struct explain_bound *b = &w->e->bound;

    if (w->e->bound_queue == QUEUE_NONE)
        return;
    text_add(w->out, "It is held back by ");
    explain_add_whose(w, w->e->bound_queue);
    if (b->refusal.bound != BOUND_NONE) {
        const enum resource r = b->refusal.resource;

        text_addf(w->out, b->refusal.bound == BOUND_LEND ? ": of the cluster " : ": ");
        explain_add_resource(w->out, r, b->held, true);
        text_add(w->out, " of ");
        explain_add_resource(w->out, r, b->limit, false);
        text_add(w->out, " are held, and it asks for ");
        if (b->asked_bytes > 0)
            explain_add_resource(w->out, RES_GPU_BYTES, b->asked_bytes, true);
        else
            explain_add_resource(w->out, r, b->asked, false);
    }
    text_add(w->out, ".\n");
}
