/* SPDX-License-Identifier: Apache-2.0 */
/* A journal that is written while the process, the power or the disk goes, at every point where
 * something is written: what was committed is there, whole turns or nothing, no row twice. */
#include "unit/fault_vfs.h"
#include "unit/journal_test.h"

enum { TURNS = 5, TURN_ROWS = 3, SNAPSHOT_AFTER = 3, PRUNE_AFTER = 4, TEXT_BYTES = 2500 };

/* In memory where it can be: what a sync is worth is played, and thousands of real ones take long.
 */
static void make_quick_folder(void)
{
    make_folder_in(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
}

/* The text of a row says which it is, and is long enough for rows to take several pages. */
static const char *text_of(uint64_t seq)
{
    static char text[TEXT_BYTES + 1];
    const int used = snprintf(text, sizeof text, "row %d ", (int)seq);

    memset(text + used, 'a' + (int)(seq % 26), (size_t)(TEXT_BYTES - used));
    text[TEXT_BYTES] = '\0';
    return text;
}

static void put_turn(struct journal *journal)
{
    for (uint32_t i = 0; i < TURN_ROWS; i++) {
        const uint64_t seq = journal_next_seq(journal);

        (void)journal_put(journal, JOURNAL_EVENT, (int64_t)seq, text_of(seq), TEXT_BYTES);
    }
}

static void say(int fd, char what)
{
    if (write(fd, &what, 1) != 1)
        _exit(3);
}

/* In a process of its own, which says on fd what is committed: 't' a turn, 's' a snapshot. */
_Noreturn static void write_history(int fd)
{
    const struct journal_rule rule = {.snapshots = 1, .keep_us = 0, .rows_max = 1000};
    struct journal *journal;

    if (journal_open(world.path, "fault", &journal, &err) < 0)
        _exit(4);
    for (uint32_t turn = 1; turn <= TURNS; turn++) {
        put_turn(journal);
        if (journal_commit(journal, &err) < 0)
            _exit(5);
        say(fd, 't');
        if (turn == SNAPSHOT_AFTER) {
            if (journal_put_snapshot(journal, 0, text_of(0), TEXT_BYTES, &err) < 0)
                _exit(6);
            say(fd, 's');
        }
        if (turn == PRUNE_AFTER &&
            (journal_prune(journal, &rule, 1000, &err) < 0 || journal_tidy(journal, &err) < 0))
            _exit(7);
    }
    say(fd, 'e');
    _exit(0);
}

static void check_whole(void)
{
    sqlite3 *db;
    sqlite3_stmt *query;

    assert_int_equal(sqlite3_open(world.path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &query, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(query), SQLITE_ROW);
    assert_string_equal(sqlite3_column_text(query, 0), "ok");
    sqlite3_finalize(query);
    sqlite3_close(db);
}

static int check_row_text(void *arg, const struct journal_row *row, struct err *e)
{
    (void)arg;
    (void)e;
    assert_string_equal(row->text, text_of(row->seq));
    return 0;
}

static void check_history(uint32_t turns, bool snapshot)
{
    uint64_t seq, first, rows;
    uint8_t *bytes;
    size_t count;
    int rc;

    check_whole();
    open_journal();
    rows = journal_next_seq(world.journal) - 1;
    assert_int_equal(rows % TURN_ROWS, 0);
    assert_true(rows / TURN_ROWS == turns || rows / TURN_ROWS == turns + 1);
    WORKS(journal_first_seq(world.journal, &first, &err));
    assert_true(first == 1 || first == SNAPSHOT_AFTER * TURN_ROWS + 1);
    WORKS(journal_read(world.journal, first - 1, check_row_text, NULL, &err));
    rc = journal_load_snapshot(world.journal, UINT64_MAX, &seq, &bytes, &count, &err);
    WORKS(rc);
    assert_true(rc == 1 || (!snapshot && first == 1));
    if (rc == 1) {
        assert_int_equal(seq, SNAPSHOT_AFTER * TURN_ROWS);
        assert_int_equal(count, TEXT_BYTES);
        assert_memory_equal(bytes, text_of(0), TEXT_BYTES);
        mem_free(bytes);
    }
    /* And it goes on. */
    put_turn(world.journal);
    WORKS(journal_commit(world.journal, &err));
    close_journal();
}

/* One history that ends at point `at`; false if it came to its own end before. */
static bool crash_at(enum fault_kind kind, uint32_t at)
{
    uint32_t turns = 0;
    bool snapshot = false;
    int ends[2], status;
    char what;
    pid_t pid;

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid = fork();
    if (pid == 0) {
        fault_begin(kind, at);
        write_history(ends[1]);
    }
    close(ends[1]);
    while (read(ends[0], &what, 1) == 1) {
        turns += what == 't';
        snapshot = snapshot || what == 's';
    }
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_true(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == FAULT_EXIT);
    check_history(turns, snapshot);
    remove_files();
    return WEXITSTATUS(status) == FAULT_EXIT;
}

static void crash_everywhere(enum fault_kind kind)
{
    uint32_t at = 1;

    make_quick_folder();
    while (crash_at(kind, at))
        at++;
    assert_true(at > 50); /* there were so many points */
    end();
}

static void a_process_that_is_killed_anywhere_loses_nothing_that_was_committed(void **state)
{
    (void)state;
    crash_everywhere(FAULT_KILL);
}

static void a_write_that_was_cut_loses_nothing_that_was_committed(void **state)
{
    (void)state;
    crash_everywhere(FAULT_TORN);
}

static void a_power_cut_anywhere_loses_nothing_that_was_committed(void **state)
{
    (void)state;
    crash_everywhere(FAULT_POWER);
}

/* ---- errors ---- */

/* false: it cannot even be opened, or the fault is beyond the end. */
static bool write_through(enum fault_kind kind, uint32_t at, uint32_t *out_failures)
{
    struct journal *journal;
    int rc;

    fault_begin(kind, at);
    rc = journal_open(world.path, "fault", &journal, &err);
    if (rc < 0) {
        fault_clear();
        WORKS(journal_open(world.path, "fault", &journal, &err));
    }
    *out_failures = rc < 0;
    for (uint32_t turn = 1; turn <= TURNS; turn++) {
        put_turn(journal);
        while ((rc = journal_commit(journal, &err)) < 0) {
            assert_true(rc == -ENOSPC || rc == -EIO);
            if (rc == -ENOSPC)
                assert_non_null(strstr(err.text, "No space left on device; free some space"));
            assert_int_equal(journal_next_seq(journal), turn * TURN_ROWS + 1);
            (*out_failures)++;
            fault_clear(); /* there is room again */
        }
    }
    rc = journal_put_snapshot(journal, 0, text_of(0), TEXT_BYTES, &err);
    assert_true(rc == 0 || *out_failures == 0);
    *out_failures += rc < 0;
    fault_clear();
    journal_close(journal);
    return fault.count >= at;
}

static void fail_everywhere(enum fault_kind kind)
{
    uint32_t at = 1, failures, failures_sum = 0;

    make_quick_folder();
    while (write_through(kind, at, &failures)) {
        failures_sum += failures;
        check_whole();
        open_journal();
        assert_int_equal(journal_next_seq(world.journal), TURNS * TURN_ROWS + 1);
        WORKS(journal_read(world.journal, 0, check_row_text, NULL, &err));
        close_journal();
        remove_files();
        at++;
    }
    assert_true(failures_sum > 20);
    end();
}

static void a_disk_that_is_full_anywhere_loses_nothing_and_is_tried_again(void **state)
{
    (void)state;
    fail_everywhere(FAULT_FULL);
}

static void one_write_or_sync_that_fails_anywhere_loses_nothing(void **state)
{
    (void)state;
    fail_everywhere(FAULT_ONCE);
}

static void on_a_full_disk_what_is_new_may_be_taken_back(void **state)
{
    struct journal *journal;
    uint32_t mark;

    (void)state;
    make_quick_folder();
    fault_begin(FAULT_NONE, 0);
    WORKS(journal_open(world.path, "fault", &journal, &err));
    (void)journal_put(journal, JOURNAL_EVENT, 1, "exited", 6);
    mark = journal_mark(journal);
    (void)journal_put(journal, JOURNAL_EVENT, 1, "submitted", 9);
    fault_begin(FAULT_FULL, 1);
    FAILS(journal_commit(journal, &err), -ENOSPC, "No space left on device");
    journal_take_back(journal, mark);
    fault_clear();
    WORKS(journal_commit(journal, &err));
    journal_close(journal);
    open_journal();
    assert_string_equal(rows_after(0), "1:exited");
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_process_that_is_killed_anywhere_loses_nothing_that_was_committed),
        TEST(a_write_that_was_cut_loses_nothing_that_was_committed),
        TEST(a_power_cut_anywhere_loses_nothing_that_was_committed),
        TEST(a_disk_that_is_full_anywhere_loses_nothing_and_is_tried_again),
        TEST(one_write_or_sync_that_fails_anywhere_loses_nothing),
        TEST(on_a_full_disk_what_is_new_may_be_taken_back),
    };

    return RUN_TESTS(tests);
}
