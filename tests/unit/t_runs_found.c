/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon goes, however it goes, and comes back: nothing is lost and nothing runs twice. */
#include <sys/file.h>
#include <sys/mount.h>

#include "run/environment.h"
#include "unit/run_test.h"

/* A daemon of its own process, which starts a run and is then killed with SIGKILL: as soon as it
 * has started it, or in the middle of doing so. */
static void start_and_be_killed(uint64_t job_id, const char *script)
{
    int status;
    pid_t pid;

    runs_close(world.runs);
    world.runs = NULL;
    pid = fork();
    if (pid == 0) {
        open_runs();
        set_script(job_id, script);
        if (runs_start(world.runs, &world.spec, &err) < 0)
            _exit(1);
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    set_script(job_id, script);
}

static void a_task_runs_on_when_the_daemon_is_killed_and_is_found_again(void **state)
{
    struct run_event event;

    (void)state;
    begin();
    start_and_be_killed(1, "echo x >> ran; while [ ! -e go ]; do sleep 0.01; done; exit 9");
    AWAIT(is_there("ran"));
    open_runs();
    event = expect(RUN_EVENT_STARTED);
    assert_int_equal(event.key.job_id, 1);
    assert_true(process_runs(event.state.task));
    FAILS(runs_start(world.runs, &world.spec, &err), -EEXIST, "was started before");
    close(open(path_of("go"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    assert_int_equal(expect(RUN_EVENT_ENDED).state.code, 9);
    end();
}

static void a_task_that_ended_meanwhile_is_told_with_its_exit_code(void **state)
{
    struct run_event event;

    (void)state;
    begin();
    start_and_be_killed(1, "echo hello; exit 9");
    AWAIT(is_there("live/1.0.1/state"));
    open_runs();
    (void)expect(RUN_EVENT_STARTED);
    event = expect(RUN_EVENT_ENDED);
    assert_int_equal(event.state.code, 9);
    /* Until it is settled it is told again. */
    runs_close(world.runs);
    open_runs();
    (void)expect(RUN_EVENT_STARTED);
    assert_int_equal(expect(RUN_EVENT_ENDED).state.code, 9);
    WORKS(runs_settle(world.runs, event.key));
    runs_close(world.runs);
    open_runs();
    assert_int_equal(runs_next(world.runs, &event), 0);
    assert_string_equal(log_of(world.spec.key), "hello\n");
    end();
}

static void a_stop_with_a_grace_comes_true_without_the_daemon(void **state)
{
    struct process_id task;
    struct run_event event;

    (void)state;
    begin();
    (void)started(1, "trap '' TERM; echo $$ > task; while :; do sleep 0.01; done");
    task = process_in("task");
    WORKS(runs_stop(world.runs, world.spec.key, SIGTERM, 20000));
    runs_close(world.runs);
    AWAIT(!process_runs(task));
    open_runs();
    (void)expect(RUN_EVENT_STARTED);
    event = expect(RUN_EVENT_ENDED);
    assert_int_equal(event.state.signal, SIGKILL);
    assert_true(event.state.stopping);
    end();
}

static void a_shepherd_that_was_killed_with_the_daemon_away_is_a_lost_task(void **state)
{
    struct process_id shepherd, task;

    (void)state;
    begin();
    (void)started(1, "echo $$ > task; while :; do sleep 0.01; done");
    task = process_in("task");
    shepherd = runs_find(world.runs, world.spec.key)->shepherd;
    runs_close(world.runs);
    WORKS(process_signal(shepherd, SIGKILL));
    open_runs();
    (void)expect(RUN_EVENT_STARTED);
    (void)expect(RUN_EVENT_LOST);
    assert_false(process_runs(task));
    end();
}

static void a_machine_that_was_booted_again_has_lost_what_ran(void **state)
{
    struct run_state old = {.phase = RUN_RUNNING, .boot = "another", .log_file_bytes = 4096};
    int folder;

    (void)state;
    begin();
    runs_close(world.runs);
    assert_int_equal(mkdir(path_of("live/3.1.2"), 0700), 0);
    folder = open(path_of("live/3.1.2"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    old.task = (struct process_id){getpid(), 1};
    WORKS(run_state_save(&old, folder));
    close(folder);
    open_runs();
    assert_int_equal(expect(RUN_EVENT_STARTED).key.run, 2);
    assert_int_equal(expect(RUN_EVENT_LOST).key.task, 1);
    end();
}

/* Whatever the table says: what began in a folder is not begun again. */
static void a_folder_that_came_later_is_not_taken_for_nothing(void **state)
{
    struct run_state old = {.phase = RUN_RUNNING, .log_file_bytes = 4096};
    int folder;

    (void)state;
    begin();
    assert_int_equal(mkdir(path_of("live/1.0.1"), 0700), 0);
    folder = open(path_of("live/1.0.1"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    WORKS(run_state_save(&old, folder));
    close(folder);
    set_script(1, "true");
    FAILS(runs_start(world.runs, &world.spec, &err), -EEXIST, "was started before");
    assert_true(is_there("live/1.0.1/state"));
    end();
}

/* The daemon was killed between making the folder and starting a shepherd. */
static void a_folder_in_which_nothing_began_is_no_run(void **state)
{
    struct run_event event;

    (void)state;
    begin();
    runs_close(world.runs);
    assert_int_equal(mkdir(path_of("live/1.0.1"), 0700), 0);
    open_runs();
    event = expect(RUN_EVENT_UNBEGUN);
    assert_int_equal(event.key.job_id, 1);
    (void)started(1, "exit 2"); /* it may be started */
    assert_int_equal(expect(RUN_EVENT_ENDED).state.code, 2);
    end();
}

/* Its lock says that a shepherd is there, though it has written nothing yet. */
static void a_shepherd_that_has_written_nothing_yet_is_there(void **state)
{
    struct run_event event;
    int lock;

    (void)state;
    begin();
    runs_close(world.runs);
    assert_int_equal(mkdir(path_of("live/1.0.1"), 0700), 0);
    lock = open(path_of("live/1.0.1/lock"), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    assert_int_equal(flock(lock, LOCK_EX), 0);
    open_runs();
    assert_int_equal(runs_next(world.runs, &event), 0);
    set_script(1, "true");
    FAILS(runs_start(world.runs, &world.spec, &err), -EEXIST, "was started before");
    assert_int_equal(runs_kill(world.runs, world.spec.key), -EAGAIN);
    close(lock);
    (void)expect(RUN_EVENT_UNBEGUN);
    end();
}

static void strange_folders_are_left_alone(void **state)
{
    struct run_event event;

    (void)state;
    begin();
    runs_close(world.runs);
    assert_int_equal(mkdir(path_of("live/notes"), 0700), 0);
    open_runs();
    assert_int_equal(runs_next(world.runs, &event), 0);
    assert_true(is_there("live/notes"));
    end();
}

/* A disk of its own that is full; needs root. */
/* Until nothing more goes onto the disk. */
static void fill(int file)
{
    const char bytes[4096] = {0};

    while (write(file, bytes, sizeof bytes) > 0)
        continue;
    while (write(file, bytes, 1) > 0)
        continue;
}

static void on_a_full_disk_the_end_is_kept_in_mind_until_there_is_room(void **state)
{
    struct run_event event;
    int filler;

    (void)state;
    begin();
    runs_close(world.runs);
    if (mount("berth-test", world.folder, "tmpfs", 0, "size=1m,mode=755") < 0) {
        open_runs();
        end();
        skip();
    }
    open_runs();
    (void)started(1, "while [ ! -e go ]; do sleep 0.01; done; echo lost; exit 7");
    filler = open(path_of("filler"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    fill(filler);
    set_script(2, "true");
    FAILS(runs_start(world.runs, &world.spec, &err), -ENOSPC, "No space left on device");
    assert_null(runs_find(world.runs, world.spec.key));
    fill(filler); /* what that start had taken */
    assert_int_equal(mkdir(path_of("go"), 0700), 0);
    /* It has ended, and does not say so before that is written down. */
    AWAIT(!process_runs(runs_find(world.runs, (struct run_key){1, 0, 1})->task));
    assert_int_equal(runs_next(world.runs, &event), 0);
    close(filler);
    unlink(path_of("filler"));
    event = expect(RUN_EVENT_ENDED);
    assert_int_equal(event.state.code, 7);
    assert_int_equal(event.state.log_lost_bytes, 5);
    WORKS(runs_settle(world.runs, event.key));
    runs_close(world.runs);
    world.runs = NULL;
    AWAIT(umount(world.folder) == 0);
    open_runs();
    end();
}

/* Killed at any moment of a start, there is either no run or just one. */
static void wherever_the_daemon_is_killed_the_task_ran_once_or_not_at_all(void **state)
{
    (void)state;
    begin();
    for (uint64_t job = 1; job <= 40; job++) {
        char script[64], ran[32];
        struct run_event event;
        struct stat facts;
        int status;
        pid_t pid;

        snprintf(script, sizeof script, "echo x >> ran.%d", (int)job);
        snprintf(ran, sizeof ran, "ran.%d", (int)job);
        runs_close(world.runs);
        pid = fork();
        if (pid == 0) {
            open_runs();
            set_script(job, script);
            (void)runs_start(world.runs, &world.spec, &err);
            _exit(0);
        }
        poll(NULL, 0, (int)(job % 4));
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
        open_runs();
        set_script(job, script);
        if (runs_find(world.runs, world.spec.key) == NULL) {
            assert_false(is_there(ran));
            WORKS(runs_start(world.runs, &world.spec, &err));
        }
        do
            event = next_event();
        while (event.type == RUN_EVENT_STARTED);
        if (event.type == RUN_EVENT_UNBEGUN) {
            assert_false(is_there(ran));
            (void)started(job, script);
            event = expect(RUN_EVENT_ENDED);
        }
        assert_int_equal(event.type, RUN_EVENT_ENDED);
        assert_int_equal(stat(path_of(ran), &facts), 0);
        assert_int_equal(facts.st_size, 2); /* "x" and a newline, once */
        WORKS(runs_settle(world.runs, event.key));
    }
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_task_runs_on_when_the_daemon_is_killed_and_is_found_again),
        TEST(a_task_that_ended_meanwhile_is_told_with_its_exit_code),
        TEST(a_stop_with_a_grace_comes_true_without_the_daemon),
        TEST(a_shepherd_that_was_killed_with_the_daemon_away_is_a_lost_task),
        TEST(a_machine_that_was_booted_again_has_lost_what_ran),
        TEST(a_folder_that_came_later_is_not_taken_for_nothing),
        TEST(a_folder_in_which_nothing_began_is_no_run),
        TEST(a_shepherd_that_has_written_nothing_yet_is_there),
        TEST(strange_folders_are_left_alone),
        TEST(on_a_full_disk_the_end_is_kept_in_mind_until_there_is_room),
        TEST(wherever_the_daemon_is_killed_the_task_ran_once_or_not_at_all),
    };

    return RUN_TESTS_AND_CLEAN_UP(tests);
}
