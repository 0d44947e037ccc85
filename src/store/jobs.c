/* SPDX-License-Identifier: Apache-2.0 */
/* jobs.c - what is kept of jobs beside the journal: reading it, and what goes. */
#include "base/mem.h"
#include "store/journal_impl.h"

#define JOB_COLUMNS "job_id, user, submitted_us, coalesce(ended_us, 0), spec, secret, result"

typedef int job_found(void *arg, const struct job_record *job, struct err *err);

static const char *text_or_empty(sqlite3_stmt *from, int column)
{
    const unsigned char *text = sqlite3_column_text(from, column);

    return text == NULL ? "" : (const char *)text;
}

static struct job_record read_record(sqlite3_stmt *from)
{
    struct job_record job = {.job_id = (uint64_t)sqlite3_column_int64(from, 0),
                             .user = text_or_empty(from, 1),
                             .submitted_us = sqlite3_column_int64(from, 2),
                             .ended_us = sqlite3_column_int64(from, 3),
                             .spec = text_or_empty(from, 4),
                             .result = text_or_empty(from, 6)};

    job.secret = sqlite3_column_blob(from, 5);
    job.secret_count = (size_t)sqlite3_column_bytes(from, 5);
    return job;
}

/* Calls found for each row until it returns other than 0; counts them. */
static int each(struct journal *journal, sqlite3_stmt *from, job_found *found, void *arg,
                uint32_t *out_count, struct err *err)
{
    int code, rc = 0;

    *out_count = 0;
    while (rc == 0 && (code = sqlite3_step(from)) != SQLITE_DONE) {
        struct job_record job;

        if (code != SQLITE_ROW)
            return sql_error(&journal->sql, "cannot read jobs", err);
        job = read_record(from);
        (*out_count)++;
        rc = found(arg, &job, err);
    }
    return rc;
}

int journal_find_job(struct journal *journal, uint64_t job_id, job_found *found, void *arg,
                     struct err *err)
{
    sqlite3_stmt *from;
    uint32_t count;
    int rc =
        sql_prepare(&journal->sql, "SELECT " JOB_COLUMNS " FROM job WHERE job_id = ?", &from, err);

    if (rc < 0)
        return rc;
    sqlite3_bind_int64(from, 1, (sqlite3_int64)job_id);
    rc = each(journal, from, found, arg, &count, err);
    sqlite3_finalize(from);
    return rc != 0 ? rc : (int)count;
}

int journal_list_jobs(struct journal *journal, const struct job_filter *filter, job_found *found,
                      void *arg, struct err *err)
{
    sqlite3_stmt *from;
    uint32_t count;
    int rc = sql_prepare(&journal->sql,
                         "SELECT " JOB_COLUMNS " FROM job"
                         " WHERE ended_us < ?1 AND (?2 IS NULL OR user = ?2)"
                         " ORDER BY ended_us DESC, job_id DESC LIMIT ?3",
                         &from, err);

    if (rc < 0)
        return rc;
    sqlite3_bind_int64(from, 1, filter->before_us);
    if (filter->user != NULL)
        sqlite3_bind_text(from, 2, filter->user, -1, SQLITE_STATIC);
    sqlite3_bind_int64(from, 3, filter->most);
    rc = each(journal, from, found, arg, &count, err);
    sqlite3_finalize(from);
    return rc;
}

/* ---- what goes ---- */

/* How many of those that ended are more than the rule allows. */
static int count_excess(struct journal *journal, const struct job_rule *rule, int64_t *out,
                        struct err *err)
{
    int64_t count = 0;
    const int rc = sql_number(&journal->sql, "SELECT count(*) FROM job WHERE ended_us IS NOT NULL",
                              &count, err);

    *out = count > rule->jobs_max ? count - rule->jobs_max : 0;
    return rc;
}

/* The jobs that go, in the order of their ends: ids [rule->rows_max]. Their number. */
static int64_t find_old(struct journal *journal, const struct job_rule *rule, int64_t old_us,
                        uint64_t *ids, struct err *err)
{
    sqlite3_stmt *from;
    int64_t count = 0, excess;
    int code = SQLITE_DONE, rc = count_excess(journal, rule, &excess, err);

    if (rc == 0)
        rc = sql_prepare(&journal->sql,
                         "SELECT job_id, ended_us FROM job WHERE ended_us IS NOT NULL"
                         " ORDER BY ended_us, job_id LIMIT ?",
                         &from, err);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(from, 1, rule->rows_max);
    while ((code = sqlite3_step(from)) == SQLITE_ROW) {
        if (count >= excess && sqlite3_column_int64(from, 1) >= old_us)
            break;
        ids[count++] = (uint64_t)sqlite3_column_int64(from, 0);
    }
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        count = sql_error(&journal->sql, "cannot read jobs", err);
    sqlite3_finalize(from);
    return count;
}

static int remove_all(struct journal *journal, const uint64_t *ids, int64_t count, struct err *err)
{
    sqlite3_stmt *statement;
    int rc = sql_prepare(&journal->sql, "DELETE FROM job WHERE job_id = ?", &statement, err);

    if (rc < 0)
        return rc;
    rc = sql_step(&journal->sql, journal->begin, err);
    for (int64_t i = 0; i < count && rc == 0; i++) {
        sqlite3_bind_int64(statement, 1, (sqlite3_int64)ids[i]);
        rc = sql_step(&journal->sql, statement, err);
    }
    sqlite3_finalize(statement);
    if (rc == 0)
        rc = sql_step(&journal->sql, journal->commit, err);
    if (rc < 0)
        sql_roll_back(&journal->sql);
    return rc;
}

int64_t journal_prune_jobs(struct journal *journal, const struct job_rule *rule, int64_t now_us,
                           void (*forget)(void *arg, uint64_t job_id), void *arg, struct err *err)
{
    uint64_t *ids = mem_alloc(rule->rows_max, sizeof *ids);
    int64_t count = find_old(journal, rule, now_us - rule->keep_us, ids, err);

    for (int64_t i = 0; i < count; i++)
        forget(arg, ids[i]);
    if (count > 0) {
        const int rc = remove_all(journal, ids, count, err);

        count = rc < 0 ? rc : count;
    }
    mem_free(ids);
    return count;
}
