/* SPDX-License-Identifier: Apache-2.0 */
/* journal_impl.h - a journal from inside: its file, and the batch that is not written yet. */
#pragma once
#include "base/text.h"
#include "store/journal.h"
#include "store/sql.h"

enum batch_verb { BATCH_ROW, BATCH_JOB, BATCH_JOB_END, BATCH_VERB_COUNT };
enum { BATCH_PARTS = 3 };

/* Bytes in batch_text; a zero byte follows. */
struct batch_part {
    size_t offset, length;
};

struct batch_item {
    enum batch_verb verb;
    enum journal_kind kind; /* ROW */
    uint64_t id;            /* ROW: seq; else of the job */
    int64_t at_us;
    struct batch_part parts[BATCH_PARTS]; /* ROW: text. JOB: user, spec, secret. JOB_END: result */
};

struct journal {
    struct sql sql;
    char *path;
    uint64_t committed;       /* seq of the last row on the disk */
    struct batch_item *items; /* [item_count] in the order of being put */
    uint32_t item_count, item_cap;
    uint32_t row_count; /* of the items, so many are rows: committed + 1, ... */
    struct text batch_text;
    sqlite3_stmt *begin, *commit, *verbs[BATCH_VERB_COUNT];
};

void batch_init(struct journal *journal);
int batch_prepare(struct journal *journal, struct err *err); /* once the tables are there */
void batch_done(struct journal *journal);
