/* SPDX-License-Identifier: Apache-2.0 */
/* recover.h - the core as it was when the journal was last committed.
 *
 * The newest snapshot that this version can load, and the rows after it: facts are applied, and
 * where a step is marked it is taken again. What it decides must be what the journal says was
 * decided, for that is what drivers were told; another version of the scheduler that would have
 * decided otherwise is an error here, never a silent change. */
#pragma once
#include <stdint.h>

#include "core/core.h"
#include "store/journal.h"

struct recovery {
    uint64_t snapshot_seq;      /* 0 = from the first row on */
    uint64_t snapshots_refused; /* newer ones, which this version does not read */
    uint64_t events, steps;
    uint64_t events_refused; /* by the core, as they were at the time */
};

/* 0 and the core, the caller's to core_free(); an empty one if the journal is empty. config: as it
 * was set up (the header row of the journal). -EBADMSG: what is needed is not there or not
 * understood. -ESTALE: a step decides otherwise than it did. O(rows after the snapshot). */
int recover(struct journal *journal, const struct core_config *config, struct core **out,
            struct recovery *out_recovery, struct err *err);
