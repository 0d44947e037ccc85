/* SPDX-License-Identifier: Apache-2.0 */
#include <sqlite3.h>

#include "store/schema.h"
#include "unit/journal_test.h"

static void run_sql(const char *statements)
{
    sqlite3 *db;

    assert_int_equal(sqlite3_open(world.path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, statements, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* ---- jobs ---- */

static void put_job(uint64_t job_id, const char *user, int64_t submitted_us)
{
    const struct job_record record = {.job_id = job_id,
                                      .user = user,
                                      .submitted_us = submitted_us,
                                      .spec = "run",
                                      .secret = "A=\0B",
                                      .secret_count = 4};

    journal_put_job(world.journal, &record);
}

/* A job as "id user submitted-ended spec secret-bytes result". */
static int add_job(void *arg, const struct job_record *record, struct err *e)
{
    char *out = arg;
    const size_t used = strlen(out);

    (void)e;
    snprintf(out + used, 4096 - used, "%s%llu %s %lld-%lld %s %zu %s", used == 0 ? "" : ", ",
             (unsigned long long)record->job_id, record->user, (long long)record->submitted_us,
             (long long)record->ended_us, record->spec, record->secret_count, record->result);
    return 0;
}

static const char *job(uint64_t job_id)
{
    static char out[4096];

    out[0] = '\0';
    WORKS(journal_find_job(world.journal, job_id, add_job, out, &err));
    return out;
}

static const char *jobs_of(const char *user, int64_t before_us, uint32_t most)
{
    static char out[4096];
    const struct job_filter filter = {user, before_us, most};

    out[0] = '\0';
    WORKS(journal_list_jobs(world.journal, &filter, add_job, out, &err));
    return out;
}

static void a_job_is_kept_with_its_environment_until_it_has_ended(void **state)
{
    (void)state;
    begin();
    put_job(UINT64_MAX, "ann", 5);
    (void)put(5, "submitted");
    assert_string_equal(job(UINT64_MAX), "");
    WORKS(journal_commit(world.journal, &err));
    close_journal();
    open_journal();
    assert_string_equal(job(UINT64_MAX), "18446744073709551615 ann 5-0 run 4 ");
    journal_end_job(world.journal, UINT64_MAX, 9, "ok");
    journal_end_job(world.journal, 3, 9, "not known");
    WORKS(journal_commit(world.journal, &err));
    assert_string_equal(job(UINT64_MAX), "18446744073709551615 ann 5-9 run 0 ok");
    assert_string_equal(job(3), "");
    end();
}

/* Jobs 1..6 of ann and bob in turn, that ended at 10..60 us, and job 7 that did not. */
static void make_jobs(void)
{
    for (uint64_t id = 1; id <= 7; id++)
        put_job(id, id % 2 == 1 ? "ann" : "bob", 0);
    for (uint64_t id = 1; id <= 6; id++)
        journal_end_job(world.journal, id, 10 * (int64_t)id, "ok");
    WORKS(journal_commit(world.journal, &err));
}

static void jobs_that_ended_are_listed_the_last_first(void **state)
{
    (void)state;
    begin();
    make_jobs();
    assert_string_equal(jobs_of(NULL, INT64_MAX, 2), "6 bob 0-60 run 0 ok, 5 ann 0-50 run 0 ok");
    assert_string_equal(jobs_of("ann", 50, 10), "3 ann 0-30 run 0 ok, 1 ann 0-10 run 0 ok");
    assert_string_equal(jobs_of("cy", INT64_MAX, 10), "");
    end();
}

static void forget_job(void *arg, uint64_t job_id)
{
    char *out = arg;
    const size_t used = strlen(out);

    snprintf(out + used, 64 - used, "%d ", (int)job_id);
}

/* The jobs that go. */
static const char *prune_jobs(int64_t keep_us, uint32_t jobs_max, uint32_t rows_max)
{
    const struct job_rule rule = {keep_us, jobs_max, rows_max};
    static char out[64];

    out[0] = '\0';
    WORKS(journal_prune_jobs(world.journal, &rule, 100, forget_job, out, &err));
    return out;
}

static void jobs_go_when_they_ended_long_ago_or_are_too_many(void **state)
{
    (void)state;
    begin();
    make_jobs();
    assert_string_equal(prune_jobs(90, 6, 100), ""); /* ended at 10: not before 10 */
    assert_string_equal(prune_jobs(70, 6, 100), "1 2 ");
    assert_string_equal(prune_jobs(70, 3, 100), "3 ");
    assert_string_equal(prune_jobs(0, 0, 2), "4 5 ");
    assert_string_equal(prune_jobs(0, 0, 2), "6 ");
    assert_string_equal(prune_jobs(0, 0, 2), "");
    assert_string_equal(job(7), "7 ann 0-0 run 4 "); /* it has not ended */
    end();
}

/* As berth 0.1.0 before there were jobs in it would have made it. */
static void a_journal_of_an_older_version_gets_what_is_new(void **state)
{
    (void)state;
    make_folder();
    run_sql("CREATE TABLE journal (seq INTEGER PRIMARY KEY, kind INTEGER NOT NULL,"
            " at_us INTEGER NOT NULL, text TEXT NOT NULL) STRICT;"
            "CREATE TABLE snapshot (seq INTEGER PRIMARY KEY, at_us INTEGER NOT NULL,"
            " bytes BLOB NOT NULL) STRICT;"
            "INSERT INTO journal VALUES (1, 2, 10, 'old');"
            "PRAGMA user_version = 1; PRAGMA application_id = 1651668072;");
    open_journal();
    assert_string_equal(rows_after(0), "1:old");
    make_jobs();
    close_journal();
    open_journal();
    assert_string_equal(jobs_of(NULL, INT64_MAX, 1), "6 bob 0-60 run 0 ok");
    end();
}

static void what_was_committed_is_there_after_a_restart(void **state)
{
    (void)state;
    begin();
    assert_int_equal(put(10, "a"), 1);
    assert_int_equal(put(20, "b"), 2);
    WORKS(journal_commit(world.journal, &err));
    close_journal();
    open_journal();
    assert_string_equal(rows_after(0), "1:a 2:b");
    assert_string_equal(rows_after(1), "2:b");
    assert_int_equal(journal_next_seq(world.journal), 3);
    end();
}

static void what_was_not_committed_is_not(void **state)
{
    (void)state;
    begin();
    (void)put(10, "a");
    WORKS(journal_commit(world.journal, &err));
    (void)put(20, "b");
    assert_string_equal(rows_after(0), "1:a");
    close_journal();
    open_journal();
    assert_string_equal(rows_after(0), "1:a");
    assert_int_equal(put(20, "c"), 2);
    end();
}

static void a_batch_is_taken_back_from_a_mark_on(void **state)
{
    uint32_t mark;

    (void)state;
    begin();
    (void)put(10, "a");
    mark = journal_mark(world.journal);
    (void)put(20, "refused");
    put_job(7, "ann", 20);
    (void)put(20, "refused too");
    journal_take_back(world.journal, mark);
    journal_take_back(world.journal, journal_mark(world.journal));
    assert_int_equal(put(30, "b"), 2);
    WORKS(journal_commit(world.journal, &err));
    assert_string_equal(rows_after(0), "1:a 2:b");
    assert_string_equal(job(7), "");
    end();
}

static void an_empty_commit_is_no_work(void **state)
{
    (void)state;
    begin();
    WORKS(journal_commit(world.journal, &err));
    assert_int_equal(journal_next_seq(world.journal), 1);
    end();
}

static void only_its_owner_reads_it(void **state)
{
    const mode_t old = umask(0);
    struct stat facts;
    char path[96];

    (void)state;
    begin();
    (void)put(1, "a");
    WORKS(journal_commit(world.journal, &err));
    assert_int_equal(stat(world.path, &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0600);
    snprintf(path, sizeof path, "%s-wal", world.path);
    assert_int_equal(stat(path, &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0600);
    close_journal();
    assert_int_equal(chmod(world.path, 0644), 0);
    open_journal();
    assert_int_equal(stat(world.path, &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0600);
    umask(old);
    end();
}

static void one_process_uses_it_at_a_time(void **state)
{
    int status;
    pid_t pid;

    (void)state;
    begin();
    pid = fork();
    if (pid == 0) {
        struct journal *other;

        _exit(journal_open(world.path, NULL, &other, &err) == -EBUSY &&
                      strstr(err.text, "another process uses it") != NULL
                  ? 0
                  : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    end();
}

/* ---- what is no journal of ours ---- */

static void a_journal_of_a_later_version_is_refused(void **state)
{
    struct journal *journal;

    (void)state;
    begin();
    close_journal();
    run_sql("PRAGMA user_version = 99");
    FAILS(journal_open(world.path, NULL, &journal, &err), -EPROTO,
          "of version 99, this berth knows up to 2; use a newer one");
    end();
}

static void a_database_of_another_program_is_left_alone(void **state)
{
    struct journal *journal;

    (void)state;
    make_folder();
    run_sql("CREATE TABLE theirs (x)");
    FAILS(journal_open(world.path, NULL, &journal, &err), -EBADMSG,
          "a database of another program");
    run_sql("INSERT INTO theirs VALUES (1)");
    end();
}

static void a_file_that_is_no_database_is_refused(void **state)
{
    struct journal *journal;
    FILE *file;

    (void)state;
    make_folder();
    file = fopen(world.path, "we");
    assert_non_null(file);
    for (uint32_t i = 0; i < 100; i++)
        fputs("these are notes, and no journal\n", file);
    fclose(file);
    FAILS(journal_open(world.path, NULL, &journal, &err), -EBADMSG, "it is damaged or no journal");
    end();
}

static void a_folder_that_is_not_there_is_an_error(void **state)
{
    struct journal *journal;

    (void)state;
    FAILS(journal_open("/no/such/folder/journal", NULL, &journal, &err), -ENOENT,
          "journal '/no/such/folder/journal': cannot open it: No such file or directory");
}

static void a_row_that_is_missing_is_found_out(void **state)
{
    char out[4096] = "";

    (void)state;
    begin();
    (void)put(1, "a");
    (void)put(1, "b");
    (void)put(1, "c");
    WORKS(journal_commit(world.journal, &err));
    close_journal();
    run_sql("DELETE FROM journal WHERE seq = 2");
    open_journal();
    FAILS(journal_read(world.journal, 0, add_row, out, &err), -EBADMSG, "row 2 is missing");
    end();
}

/* ---- snapshots and pruning ---- */

static void put_snapshot(int64_t at_us, const char *bytes)
{
    WORKS(journal_put_snapshot(world.journal, at_us, bytes, strlen(bytes), &err));
}

/* The newest snapshot of seq at most before as "seq:bytes", "" if there is none; static. */
static const char *snapshot(uint64_t before)
{
    static char out[64];
    uint8_t *bytes;
    size_t count;
    uint64_t seq;
    const int rc = journal_load_snapshot(world.journal, before, &seq, &bytes, &count, &err);

    WORKS(rc);
    if (rc == 0)
        return "";
    snprintf(out, sizeof out, "%d:%.*s", (int)seq, (int)count, (const char *)bytes);
    mem_free(bytes);
    return out;
}

static void a_snapshot_stands_for_the_rows_so_far(void **state)
{
    (void)state;
    begin();
    assert_string_equal(snapshot(UINT64_MAX), "");
    put_snapshot(0, "empty");
    (void)put(1, "a");
    WORKS(journal_commit(world.journal, &err));
    put_snapshot(2, "one");
    (void)put(3, "b");
    WORKS(journal_commit(world.journal, &err));
    close_journal();
    open_journal();
    assert_string_equal(snapshot(UINT64_MAX), "1:one");
    assert_string_equal(snapshot(0), "0:empty");
    end();
}

/* Rows 1..10 at 10..100 us, snapshots after rows 3, 6 and 9. */
static void make_history(void)
{
    for (int64_t i = 1; i <= 10; i++) {
        char text[8];

        snprintf(text, sizeof text, "%d", (int)i);
        (void)put(10 * i, text);
        WORKS(journal_commit(world.journal, &err));
        if (i % 3 == 0)
            put_snapshot(10 * i, "s");
    }
}

static int64_t prune(uint32_t snapshots, int64_t keep_us, uint32_t rows_max, int64_t now_us)
{
    const struct journal_rule rule = {snapshots, keep_us, rows_max};
    const int64_t count = journal_prune(world.journal, &rule, now_us, &err);

    WORKS(count);
    return count;
}

static void rows_go_when_they_are_old_and_a_snapshot_stands_for_them(void **state)
{
    (void)state;
    begin();
    make_history();
    /* Old enough are 1..7; the older of two snapshots stands for 1..6. */
    assert_int_equal(prune(2, 30, 1000, 101), 6);
    assert_string_equal(rows_after(6), "7:7 8:8 9:9 10:10");
    assert_string_equal(snapshot(8), "6:s");
    assert_string_equal(snapshot(5), "");
    /* One snapshot would do for 1..9; 7 is old enough. */
    assert_int_equal(prune(1, 30, 1000, 101), 1);
    assert_string_equal(snapshot(8), "");
    end();
}

static void no_call_drops_more_than_it_may(void **state)
{
    uint64_t first;

    (void)state;
    begin();
    make_history();
    assert_int_equal(prune(1, 0, 4, 1000), 4);
    WORKS(journal_first_seq(world.journal, &first, &err));
    assert_int_equal(first, 5);
    assert_int_equal(prune(1, 0, 4, 1000), 4);
    assert_int_equal(prune(1, 0, 4, 1000), 1);
    assert_int_equal(prune(1, 0, 4, 1000), 0);
    assert_string_equal(rows_after(9), "10:10");
    end();
}

static void without_a_snapshot_nothing_goes(void **state)
{
    (void)state;
    begin();
    (void)put(1, "a");
    WORKS(journal_commit(world.journal, &err));
    assert_int_equal(prune(1, 0, 1000, 1000000), 0);
    end();
}

static void a_clock_that_was_set_back_makes_no_gap(void **state)
{
    (void)state;
    begin();
    (void)put(500, "young");
    (void)put(1, "looks old");
    (void)put(600, "young too");
    WORKS(journal_commit(world.journal, &err));
    put_snapshot(600, "s");
    assert_int_equal(prune(1, 100, 1000, 550), 0);
    assert_string_equal(rows_after(0), "1:young 2:looks old 3:young too");
    assert_int_equal(prune(1, 100, 1000, 650), 2);
    assert_string_equal(rows_after(2), "3:young too");
    end();
}

static void numbers_go_on_when_all_rows_are_gone(void **state)
{
    uint64_t first;

    (void)state;
    begin();
    make_history();
    put_snapshot(100, "last");
    assert_int_equal(prune(1, 0, 1000, 1000), 10);
    close_journal();
    open_journal();
    WORKS(journal_first_seq(world.journal, &first, &err));
    assert_int_equal(first, 11);
    assert_int_equal(put(110, "k"), 11);
    end();
}

static void what_was_dropped_goes_back_to_the_disk(void **state)
{
    char *text = mem_alloc(100001, 1);
    struct stat before, after;

    (void)state;
    begin();
    memset(text, 'x', 100000);
    for (int64_t i = 0; i < 30; i++) {
        (void)put(i, text);
        WORKS(journal_commit(world.journal, &err));
    }
    WORKS(journal_tidy(world.journal, &err));
    assert_int_equal(stat(world.path, &before), 0);
    put_snapshot(30, "s");
    assert_int_equal(prune(1, 0, 1000, 1000), 30);
    WORKS(journal_tidy(world.journal, &err));
    assert_int_equal(stat(world.path, &after), 0);
    assert_true(after.st_size < before.st_size / 10);
    mem_free(text);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_job_is_kept_with_its_environment_until_it_has_ended),
        TEST(jobs_that_ended_are_listed_the_last_first),
        TEST(jobs_go_when_they_ended_long_ago_or_are_too_many),
        TEST(a_journal_of_an_older_version_gets_what_is_new),
        TEST(what_was_committed_is_there_after_a_restart),
        TEST(what_was_not_committed_is_not),
        TEST(a_batch_is_taken_back_from_a_mark_on),
        TEST(an_empty_commit_is_no_work),
        TEST(only_its_owner_reads_it),
        TEST(one_process_uses_it_at_a_time),
        TEST(a_journal_of_a_later_version_is_refused),
        TEST(a_database_of_another_program_is_left_alone),
        TEST(a_file_that_is_no_database_is_refused),
        TEST(a_folder_that_is_not_there_is_an_error),
        TEST(a_row_that_is_missing_is_found_out),
        TEST(a_snapshot_stands_for_the_rows_so_far),
        TEST(rows_go_when_they_are_old_and_a_snapshot_stands_for_them),
        TEST(no_call_drops_more_than_it_may),
        TEST(without_a_snapshot_nothing_goes),
        TEST(a_clock_that_was_set_back_makes_no_gap),
        TEST(numbers_go_on_when_all_rows_are_gone),
        TEST(what_was_dropped_goes_back_to_the_disk),
    };

    return RUN_TESTS(tests);
}
