/* SPDX-License-Identifier: Apache-2.0 */
/* journal.h - what came in and what was decided, durable before anything comes of it.
 *
 * One SQLite file (write-ahead log, every commit synced). Rows are put into a batch in memory, and
 * journal_commit() writes the batch as one transaction, so that all that comes in during a turn of
 * the daemon's loop costs one sync. A commit that fails has written nothing and keeps the batch: it
 * may be tried again when there is room, or what was put since a mark may be taken back.
 *
 *   put the events of the turn, apply, step, put the step mark and what was decided, commit, act
 *
 * A snapshot stands for all rows up to its own. What a restart needs is the newest snapshot and
 * the rows after it (recover.h). journal_prune() drops the rest by a stated rule.
 *
 * The file is readable by its owner only, and one process uses it at a time. One thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct journal;

#define JOURNAL_BATCH_BYTES_MAX (256u << 20)

enum journal_kind {
    JOURNAL_HEADER = 1,    /* how the core was set up: event_header_format() */
    JOURNAL_EVENT = 2,     /* a fact, or the mark of a step: one line of event_format() */
    JOURNAL_DECISIONS = 3, /* what the step before it decided: decisions_format(), whole */
};

struct journal_row {
    uint64_t seq; /* 1, 2, 3, ... without a gap */
    enum journal_kind kind;
    int64_t at_us;
    const char *text; /* [length], NUL-terminated */
    size_t length;
};

/* Opens the file or makes it, and brings it to this version. vfs: NULL, or the name of an SQLite
 * VFS, for tests. -EBUSY: another process has it. -EPROTO: it is of a later version. -EBADMSG: it
 * is no journal or damaged. -ENOSPC, -EACCES, ... with err set. */
int journal_open(const char *path, const char *vfs, struct journal **out, struct err *err);

/* What was put and not committed is gone. Takes NULL. */
void journal_close(struct journal *journal);

/* Adds a row to the batch; the text is copied. Returns its seq. The batch has at most
 * JOURNAL_BATCH_BYTES_MAX of text, jobs included: more is broken code. */
uint64_t journal_put(struct journal *journal, enum journal_kind kind, int64_t at_us,
                     const char *text, size_t length);

/* The seq that the next row gets. */
uint64_t journal_next_seq(const struct journal *journal);

/* How much is in the batch now; what is put later can be taken back to there, jobs included. */
uint32_t journal_mark(const struct journal *journal);
void journal_take_back(struct journal *journal, uint32_t mark);

/* Writes the batch: when this returns 0 it is on the disk, whole. Nothing to write is no work. On
 * an error nothing of it was written, and the batch is as it was: -ENOSPC the disk is full, -EIO.
 */
int journal_commit(struct journal *journal, struct err *err);

/* Writes a snapshot of what all rows so far have led to; the batch must be empty. bytes are
 * borrowed. On an error nothing was written. */
int journal_put_snapshot(struct journal *journal, int64_t at_us, const void *bytes, size_t count,
                         struct err *err);

/* What is kept. A row goes when it is older than keep_us and the oldest snapshot that is kept
 * stands for it; so there is always a way back to now, by `snapshots` ways. */
struct journal_rule {
    uint32_t snapshots; /* the newest so many are kept, 1.. */
    int64_t keep_us;    /* rows are kept for so long at least, for looking back */
    uint32_t rows_max;  /* at most so many rows go in one call, so that a call stays short */
};

/* Returns the number of rows that went; fewer than rows_max: nothing is left to do. */
int64_t journal_prune(struct journal *journal, const struct journal_rule *rule, int64_t now_us,
                      struct err *err);

/* ---- jobs ----
 *
 * What the core does not need to know of a job: its command, its environment, how it ended. They
 * are put into the same batch as the events that they belong to, and are committed with them. */

struct job_record {
    uint64_t job_id;
    const char *user;
    int64_t submitted_us;
    int64_t ended_us;   /* 0 = not yet */
    const char *spec;   /* what was submitted, as text */
    const void *secret; /* [secret_count] its environment; none once it has ended */
    size_t secret_count;
    const char *result; /* how it ended, as text; "" = not yet */
};

/* A job that was submitted. All that `job` points to is copied; ended_us and result are not used.
 */
void journal_put_job(struct journal *journal, const struct job_record *job);

/* It has ended: its environment goes. One that is not known changes nothing. */
void journal_end_job(struct journal *journal, uint64_t job_id, int64_t ended_us,
                     const char *result);

/* Calls `found` with what is committed of the job, valid for that call. 1, or 0 if there is none.
 */
int journal_find_job(struct journal *journal, uint64_t job_id,
                     int (*found)(void *arg, const struct job_record *job, struct err *err),
                     void *arg, struct err *err);

struct job_filter {
    const char *user;  /* NULL = of everybody */
    int64_t before_us; /* that ended before; INT64_MAX = all */
    uint32_t most;     /* at most so many */
};

/* Jobs that have ended, the last first, until `found` returns other than 0. Returns that, or 0. */
int journal_list_jobs(struct journal *journal, const struct job_filter *filter,
                      int (*found)(void *arg, const struct job_record *job, struct err *err),
                      void *arg, struct err *err);

/* A job that has ended goes when that was before keep_us ago, or when more than jobs_max ended
 * after it. Jobs that have not ended never go. */
struct job_rule {
    int64_t keep_us;
    uint32_t jobs_max;
    uint32_t rows_max; /* at most so many go in one call */
};

/* Calls `forget` for each job that goes, before it goes, so that its logs go first: after a crash
 * between the two it is called again. The number of jobs, or a negative errno. */
int64_t journal_prune_jobs(struct journal *journal, const struct job_rule *rule, int64_t now_us,
                           void (*forget)(void *arg, uint64_t job_id), void *arg, struct err *err);

/* Folds the write-ahead log into the file; for when the daemon has nothing else to do. */
int journal_tidy(struct journal *journal, struct err *err);

/* The newest snapshot of seq at most `before`: bytes are the caller's to mem_free(). 1, or 0 if
 * there is none, or a negative errno. */
int journal_load_snapshot(struct journal *journal, uint64_t before, uint64_t *out_seq,
                          uint8_t **out_bytes, size_t *out_count, struct err *err);

/* Calls `row` for each committed row after seq, in order, until it returns other than 0. Returns
 * that, or 0, or a negative errno. -EBADMSG: a row is missing between. */
int journal_read(struct journal *journal, uint64_t after,
                 int (*row)(void *arg, const struct journal_row *row, struct err *err), void *arg,
                 struct err *err);

/* The first row that is there, or what the next will be. */
int journal_first_seq(struct journal *journal, uint64_t *out_seq, struct err *err);
