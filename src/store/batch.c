/* SPDX-License-Identifier: Apache-2.0 */
/* batch.c - what was put and is not written yet, and writing it as one transaction. */
#include <string.h>

#include "base/vec.h"
#include "store/journal_impl.h"

#define PUT_JOB                                                                                    \
    "INSERT OR REPLACE INTO job (job_id, submitted_us, user, spec, secret) VALUES (?, ?, ?, ?, ?)"

static const char *const verb_texts[BATCH_VERB_COUNT] = {
    [BATCH_ROW] = "INSERT INTO journal VALUES (?, ?, ?, ?)",
    [BATCH_JOB] = PUT_JOB,
    [BATCH_JOB_END] = "UPDATE job SET ended_us = ?2, result = ?3, secret = NULL WHERE job_id = ?1",
};

void batch_init(struct journal *journal)
{
    text_init(&journal->batch_text, JOURNAL_BATCH_BYTES_MAX);
}

int batch_prepare(struct journal *journal, struct err *err)
{
    const struct sql *sql = &journal->sql;
    int rc = sql_prepare(sql, "BEGIN IMMEDIATE", &journal->begin, err);

    if (rc == 0)
        rc = sql_prepare(sql, "COMMIT", &journal->commit, err);
    for (uint32_t verb = 0; verb < BATCH_VERB_COUNT && rc == 0; verb++)
        rc = sql_prepare(sql, verb_texts[verb], &journal->verbs[verb], err);
    return rc;
}

void batch_done(struct journal *journal)
{
    sqlite3_finalize(journal->begin);
    sqlite3_finalize(journal->commit);
    for (uint32_t verb = 0; verb < BATCH_VERB_COUNT; verb++)
        sqlite3_finalize(journal->verbs[verb]);
    text_done(&journal->batch_text);
    mem_free(journal->items);
}

/* ---- put ---- */

static struct batch_part add_part(struct journal *journal, const void *bytes, size_t count)
{
    const struct batch_part part = {journal->batch_text.used, count};

    text_add_bytes(&journal->batch_text, bytes, count);
    text_add_bytes(&journal->batch_text, "", 1);
    check(!journal->batch_text.overflow);
    return part;
}

static struct batch_part add_text(struct journal *journal, const char *text)
{
    return add_part(journal, text, strlen(text));
}

uint64_t journal_next_seq(const struct journal *journal)
{
    return journal->committed + journal->row_count + 1;
}

uint64_t journal_put(struct journal *journal, enum journal_kind kind, int64_t at_us,
                     const char *text, size_t length)
{
    const struct batch_item item = {.verb = BATCH_ROW,
                                    .kind = kind,
                                    .id = journal_next_seq(journal),
                                    .at_us = at_us,
                                    .parts = {add_part(journal, text, length)}};

    vec_push(journal->items, journal->item_count, journal->item_cap, item);
    journal->row_count++;
    return item.id;
}

void journal_put_job(struct journal *journal, const struct job_record *job)
{
    struct batch_item item = {.verb = BATCH_JOB, .id = job->job_id, .at_us = job->submitted_us};

    item.parts[0] = add_text(journal, job->user);
    item.parts[1] = add_text(journal, job->spec);
    item.parts[2] = add_part(journal, job->secret, job->secret_count);
    vec_push(journal->items, journal->item_count, journal->item_cap, item);
}

void journal_end_job(struct journal *journal, uint64_t job_id, int64_t ended_us, const char *result)
{
    const struct batch_item item = {.verb = BATCH_JOB_END,
                                    .id = job_id,
                                    .at_us = ended_us,
                                    .parts = {add_text(journal, result)}};

    vec_push(journal->items, journal->item_count, journal->item_cap, item);
}

uint32_t journal_mark(const struct journal *journal)
{
    return journal->item_count;
}

void journal_take_back(struct journal *journal, uint32_t mark)
{
    check(mark <= journal->item_count);
    for (; journal->item_count > mark; journal->item_count--) {
        const struct batch_item *item = &journal->items[journal->item_count - 1];

        journal->row_count -= item->verb == BATCH_ROW;
        journal->batch_text.used = item->parts[0].offset;
    }
}

/* ---- commit ---- */

static void bind_text(const struct journal *journal, sqlite3_stmt *to, int at,
                      struct batch_part part)
{
    sqlite3_bind_text64(to, at, journal->batch_text.bytes + part.offset, part.length, SQLITE_STATIC,
                        SQLITE_UTF8);
}

static int write_item(struct journal *journal, const struct batch_item *item, struct err *err)
{
    sqlite3_stmt *to = journal->verbs[item->verb];

    sqlite3_bind_int64(to, 1, (sqlite3_int64)item->id);
    switch (item->verb) {
    case BATCH_ROW:
        sqlite3_bind_int(to, 2, (int)item->kind);
        sqlite3_bind_int64(to, 3, item->at_us);
        bind_text(journal, to, 4, item->parts[0]);
        break;
    case BATCH_JOB:
        sqlite3_bind_int64(to, 2, item->at_us);
        bind_text(journal, to, 3, item->parts[0]);
        bind_text(journal, to, 4, item->parts[1]);
        sqlite3_bind_blob64(to, 5, journal->batch_text.bytes + item->parts[2].offset,
                            item->parts[2].length, SQLITE_STATIC);
        break;
    case BATCH_JOB_END:
        sqlite3_bind_int64(to, 2, item->at_us);
        bind_text(journal, to, 3, item->parts[0]);
        break;
    case BATCH_VERB_COUNT:
        break;
    }
    return sql_step(&journal->sql, to, err);
}

int journal_commit(struct journal *journal, struct err *err)
{
    int rc;

    if (journal->item_count == 0)
        return 0;
    rc = sql_step(&journal->sql, journal->begin, err);
    for (uint32_t i = 0; i < journal->item_count && rc == 0; i++)
        rc = write_item(journal, &journal->items[i], err);
    if (rc == 0)
        rc = sql_step(&journal->sql, journal->commit, err);
    if (rc < 0) {
        sql_roll_back(&journal->sql);
        return rc;
    }
    journal->committed += journal->row_count;
    journal->item_count = journal->row_count = 0;
    text_clear(&journal->batch_text);
    return 0;
}
