/* SPDX-License-Identifier: Apache-2.0 */
/* explain_never.c - why a job is rejected, and what no node has. */
#include <inttypes.h>

#include "base/text.h"
#include "core/decision.h"
#include "wire/explain_impl.h"

void explain_add_never(struct text *out, const struct never *never, const char *name)
{
    switch (never->kind) {
    case NEVER_MODEL:
        text_addf(out, " (no node has GPUs of model %s", name);
        if (never->more > 0)
            text_addf(out, ", or of the %u other%s that it takes", never->more,
                      never->more == 1 ? "" : "s");
        text_add(out, ")");
        break;
    case NEVER_LABEL:
        text_addf(out, " (no node that it could use otherwise has label %s)", name);
        break;
    case NEVER_SMALL:
        text_add(out, " (needs ");
        explain_add_shortage(out, never->what, never->asked, true);
        if (never_is_unknown(never)) {
            text_add(out, ", and how much the nodes that it could use have is not known)");
            break;
        }
        text_add(out, ", no node that it could use has more than ");
        explain_add_shortage(out, never->what, never->most, false);
        text_add(out, ")");
        break;
    case NEVER_MODES:
        text_add(out,
                 " (no node that it could use has GPUs in a mode that it may have them in, with "
                 "room for its context)");
        break;
    case NEVER_MIG:
        text_add(out, " (no node that it could use has GPUs that may be split into its MIG "
                      "instance)");
        break;
    case NEVER_TASKS:
        text_addf(out, " (needs room for %" PRId64 " tasks at once, there is room for %" PRId64 ")",
                  never->asked, never->most);
        break;
    case NEVER_UNKNOWN:
    case NEVER_COUNT:
        break;
    }
}

void explain_add_reject(struct text *out, const struct decision *decision)
{
    text_add(out, reason_reject_text(decision->reason));
    explain_add_never(out, &decision->never, decision->never_name);
    if (decision->queue == NULL)
        return;
    text_addf(out, " (%s: ", decision->queue);
    explain_add_resource(out, decision->resource, decision->asked, true);
    text_add(out, ", at most ");
    explain_add_resource(out, decision->resource, decision->limit, false);
    text_add(out, ")");
}
