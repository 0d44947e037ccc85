/* SPDX-License-Identifier: Apache-2.0 */
/* decision.c - the list that a step fills. */
#include "core/decision.h"

#include <string.h>

#include "base/mem.h"

void decisions_init(struct decisions *d)
{
    memset(d, 0, sizeof *d);
}

void decisions_clear(struct decisions *d)
{
    d->count = 0;
    d->place_count = 0;
}

void decisions_done(struct decisions *d)
{
    mem_free(d->items);
    mem_free(d->places);
    memset(d, 0, sizeof *d);
}
