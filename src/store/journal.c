/* SPDX-License-Identifier: Apache-2.0 */
#include "store/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "store/journal_impl.h"
#include "store/schema.h"

/* What PRAGMAs are for: a journal in place of a rollback file, a sync at every commit, one process,
 * pages that are given back, and little in memory. */
static const char setup[] = "PRAGMA locking_mode = EXCLUSIVE;"
                            "PRAGMA auto_vacuum = INCREMENTAL;"
                            "PRAGMA journal_mode = WAL;"
                            "PRAGMA synchronous = FULL;"
                            "PRAGMA journal_size_limit = 67108864;"
                            "PRAGMA trusted_schema = OFF;"
                            "PRAGMA cell_size_check = ON;";

/* ---- open, close ---- */

/* SQLite would make the file as the umask says; its companions get the mode of the file. */
static int make_private(const char *path, struct err *err)
{
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    struct stat facts;
    int rc = 0;

    if (fd < 0)
        return err_set(err, -errno, "journal '%s': cannot open it: %s", path, strerror(errno));
    if (fstat(fd, &facts) < 0 || ((facts.st_mode & 0077) != 0 && fchmod(fd, 0600) < 0))
        rc = err_set(err, -errno, "journal '%s': others may read it: %s", path, strerror(errno));
    close(fd);
    return rc;
}

static int open_database(struct journal *journal, const char *vfs, struct err *err)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    int rc = sqlite3_open_v2(journal->path, &journal->sql.db, flags, vfs);

    if (journal->sql.db == NULL)
        return err_set(err, -ENOMEM, "journal '%s': no memory", journal->path);
    if (rc != SQLITE_OK)
        return sql_error(&journal->sql, "cannot open it", err);
    rc = sql_run(&journal->sql, setup, err);
    /* The first write takes the lock for good. */
    if (rc == 0)
        rc = sql_run(&journal->sql, "BEGIN IMMEDIATE; COMMIT", err);
    return rc;
}

/* The last row, also if it was pruned: a snapshot stands for it then. */
static int find_end(struct journal *journal, struct err *err)
{
    int64_t last;
    const int rc = sql_number(&journal->sql,
                              "SELECT max((SELECT coalesce(max(seq), 0) FROM journal),"
                              " (SELECT coalesce(max(seq), 0) FROM snapshot))",
                              &last, err);

    journal->committed = rc == 0 ? (uint64_t)last : 0;
    return rc;
}

int journal_open(const char *path, const char *vfs, struct journal **out, struct err *err)
{
    struct journal *journal;
    int rc = make_private(path, err);

    if (rc < 0)
        return rc;
    journal = mem_alloc(1, sizeof *journal);
    journal->path = mem_copy(path, strlen(path) + 1, 1);
    journal->sql.path = journal->path;
    batch_init(journal);
    rc = open_database(journal, vfs, err);
    if (rc == 0)
        rc = schema_bring_up(&journal->sql, err);
    if (rc == 0)
        rc = batch_prepare(journal, err);
    if (rc == 0)
        rc = find_end(journal, err);
    if (rc < 0) {
        journal_close(journal);
        return rc;
    }
    *out = journal;
    return 0;
}

void journal_close(struct journal *journal)
{
    if (journal == NULL)
        return;
    batch_done(journal);
    sqlite3_close(journal->sql.db);
    mem_free(journal->path);
    mem_free(journal);
}

/* ---- snapshots ---- */

int journal_put_snapshot(struct journal *journal, int64_t at_us, const void *bytes, size_t count,
                         struct err *err)
{
    sqlite3_stmt *to;
    int rc;

    check(journal->item_count == 0);
    rc = sql_prepare(&journal->sql, "INSERT OR REPLACE INTO snapshot VALUES (?, ?, ?)", &to, err);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(to, 1, (sqlite3_int64)journal->committed);
    sqlite3_bind_int64(to, 2, at_us);
    sqlite3_bind_blob64(to, 3, bytes, count, SQLITE_STATIC);
    rc = sql_step(&journal->sql, to, err);
    sqlite3_finalize(to);
    return rc;
}

int journal_load_snapshot(struct journal *journal, uint64_t before, uint64_t *out_seq,
                          uint8_t **out_bytes, size_t *out_count, struct err *err)
{
    const int64_t most = before > INT64_MAX ? INT64_MAX : (int64_t)before;
    sqlite3_stmt *from;
    int code, rc = sql_prepare(&journal->sql,
                               "SELECT seq, bytes FROM snapshot WHERE seq <= ?"
                               " ORDER BY seq DESC LIMIT 1",
                               &from, err);

    if (rc < 0)
        return rc;
    sqlite3_bind_int64(from, 1, most);
    code = sqlite3_step(from);
    if (code == SQLITE_ROW) {
        *out_seq = (uint64_t)sqlite3_column_int64(from, 0);
        *out_count = (size_t)sqlite3_column_bytes(from, 1);
        *out_bytes = mem_copy(sqlite3_column_blob(from, 1), *out_count, 1);
        rc = 1;
    } else if (code != SQLITE_DONE) {
        rc = sql_error(&journal->sql, "cannot read a snapshot", err);
    }
    sqlite3_finalize(from);
    return rc;
}

/* ---- reading ---- */

static int check_row(const struct journal *journal, const struct journal_row *row, uint64_t wanted,
                     struct err *err)
{
    if (row->seq != wanted)
        return err_set(err, -EBADMSG, "journal '%s': row %llu is missing", journal->path,
                       (unsigned long long)wanted);
    if (row->kind < JOURNAL_HEADER || row->kind > JOURNAL_DECISIONS)
        return err_set(err, -EBADMSG, "journal '%s': row %llu: of no known kind", journal->path,
                       (unsigned long long)row->seq);
    return 0;
}

int journal_read(struct journal *journal, uint64_t after,
                 int (*row)(void *arg, const struct journal_row *row, struct err *err), void *arg,
                 struct err *err)
{
    sqlite3_stmt *from;
    int code = SQLITE_DONE, rc = sql_prepare(&journal->sql,
                                             "SELECT seq, kind, at_us, text FROM journal"
                                             " WHERE seq > ? ORDER BY seq",
                                             &from, err);

    if (rc < 0)
        return rc;
    sqlite3_bind_int64(from, 1, (sqlite3_int64)after);
    for (uint64_t wanted = after + 1; rc == 0; wanted++) {
        struct journal_row found;

        code = sqlite3_step(from);
        if (code != SQLITE_ROW)
            break;
        found = (struct journal_row){.seq = (uint64_t)sqlite3_column_int64(from, 0),
                                     .kind = (enum journal_kind)sqlite3_column_int(from, 1),
                                     .at_us = sqlite3_column_int64(from, 2),
                                     .text = (const char *)sqlite3_column_text(from, 3),
                                     .length = (size_t)sqlite3_column_bytes(from, 3)};
        rc = check_row(journal, &found, wanted, err);
        if (rc == 0)
            rc = row(arg, &found, err);
    }
    if (rc == 0 && code != SQLITE_DONE)
        rc = sql_error(&journal->sql, "cannot read it", err);
    sqlite3_finalize(from);
    return rc;
}

int journal_first_seq(struct journal *journal, uint64_t *out_seq, struct err *err)
{
    int64_t first = 0;
    const int rc =
        sql_number(&journal->sql, "SELECT coalesce(min(seq), 0) FROM journal", &first, err);

    if (rc == 0)
        *out_seq = first == 0 ? journal->committed + 1 : (uint64_t)first;
    return rc;
}

/* ---- pruning ---- */

static int run_with(struct journal *journal, const char *text, const int64_t *values,
                    uint32_t value_count, struct err *err)
{
    sqlite3_stmt *statement;
    int rc = sql_prepare(&journal->sql, text, &statement, err);

    if (rc < 0)
        return rc;
    for (uint32_t i = 0; i < value_count; i++)
        sqlite3_bind_int64(statement, (int)i + 1, values[i]);
    rc = sql_step(&journal->sql, statement, err);
    sqlite3_finalize(statement);
    return rc;
}

/* Rows go from the front only, so that what is left has no gap: the first that is too young keeps
 * all behind it, whatever a clock that was set back says of them. */
static int64_t drop_rows(struct journal *journal, const struct journal_rule *rule, int64_t now_us,
                         struct err *err)
{
    const int64_t young[] = {now_us - rule->keep_us, (int64_t)rule->rows_max};
    const int rc = run_with(journal,
                            "DELETE FROM journal WHERE seq < min("
                            " (SELECT coalesce(min(seq), 0) FROM snapshot) + 1,"
                            " (SELECT coalesce(min(seq), 9223372036854775807) FROM journal"
                            "  WHERE at_us >= ?1),"
                            " (SELECT coalesce(min(seq), 0) FROM journal) + ?2)",
                            young, 2, err);

    return rc < 0 ? rc : sqlite3_changes64(journal->sql.db);
}

int64_t journal_prune(struct journal *journal, const struct journal_rule *rule, int64_t now_us,
                      struct err *err)
{
    const int64_t kept[] = {(int64_t)rule->snapshots};
    int64_t count;
    int rc;

    check(rule->snapshots >= 1 && rule->rows_max >= 1);
    rc = sql_step(&journal->sql, journal->begin, err);
    if (rc == 0)
        rc = run_with(journal,
                      "DELETE FROM snapshot WHERE seq NOT IN"
                      " (SELECT seq FROM snapshot ORDER BY seq DESC LIMIT ?)",
                      kept, 1, err);
    count = rc < 0 ? rc : drop_rows(journal, rule, now_us, err);
    if (count >= 0) {
        rc = sql_step(&journal->sql, journal->commit, err);
        count = rc < 0 ? rc : count;
    }
    if (count < 0) {
        sql_roll_back(&journal->sql);
        return count;
    }
    /* What is free goes back to the disk, a part at a time. */
    (void)sql_run(&journal->sql, "PRAGMA incremental_vacuum(1000)", NULL);
    return count;
}

int journal_tidy(struct journal *journal, struct err *err)
{
    return sql_run(&journal->sql, "PRAGMA wal_checkpoint(TRUNCATE)", err);
}
