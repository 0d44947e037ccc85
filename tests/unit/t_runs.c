/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/run_test.h"

static void a_task_that_ends_well_has_started_and_ended_with_0(void **state)
{
    struct run_event event;

    (void)state;
    begin();
    (void)start(7, "echo hello");
    event = expect(RUN_EVENT_STARTED);
    assert_int_equal(event.key.job_id, 7);
    assert_true(event.state.task.pid > 0);
    assert_true(event.state.began_us > 0);
    event = expect(RUN_EVENT_ENDED);
    assert_int_equal(event.state.code, 0);
    assert_int_equal(event.state.signal, 0);
    assert_false(event.state.stopping);
    assert_true(event.state.end_us >= event.state.began_us);
    assert_string_equal(log_of(event.key), "hello\n");
    end();
}

static void the_exit_code_is_passed_on(void **state)
{
    (void)state;
    begin();
    (void)started(1, "exit 3");
    assert_int_equal(expect(RUN_EVENT_ENDED).state.code, 3);
    (void)started(2, "exit 85");
    assert_int_equal(expect(RUN_EVENT_ENDED).state.code, RUN_CODE_CHECKPOINTED);
    end();
}

static void a_signal_that_ends_it_is_128_and_the_signal(void **state)
{
    struct run_event event;

    (void)state;
    begin();
    (void)started(1, "kill -SEGV $$");
    event = expect(RUN_EVENT_ENDED);
    assert_int_equal(event.state.signal, SIGSEGV);
    assert_int_equal(event.state.code, 128 + SIGSEGV);
    end();
}

static void what_it_writes_to_both_outputs_is_one_log(void **state)
{
    (void)state;
    begin();
    (void)started(1, "echo one; echo two >&2; echo three >/dev/stdout; cat");
    assert_string_equal(log_of(expect(RUN_EVENT_ENDED).key), "one\ntwo\nthree\n");
    end();
}

static void a_program_that_is_not_there_never_started(void **state)
{
    struct run_event event;

    (void)state;
    begin();
    set_program(1, "no-such-program");
    WORKS(runs_start(world.runs, &world.spec, &err));
    event = expect(RUN_EVENT_FAILED);
    assert_int_equal(event.state.code, RUN_CODE_NOT_FOUND);
    assert_string_equal(event.state.error,
                        "cannot run 'no-such-program': No such file or directory");
    end();
}

static void a_program_that_may_not_be_run_never_started(void **state)
{
    struct run_event event;

    (void)state;
    begin();
    set_program(1, "/etc/passwd");
    WORKS(runs_start(world.runs, &world.spec, &err));
    event = expect(RUN_EVENT_FAILED);
    assert_int_equal(event.state.code, RUN_CODE_NOT_RUN);
    assert_string_equal(event.state.error, "cannot run '/etc/passwd': Permission denied");
    end();
}

static void a_folder_that_is_not_there_is_named(void **state)
{
    (void)state;
    begin();
    set_script(1, "true");
    run_spec_text(&world.spec.directory, "/no/such/folder");
    WORKS(runs_start(world.runs, &world.spec, &err));
    assert_string_equal(expect(RUN_EVENT_FAILED).state.error,
                        "cannot work in '/no/such/folder': No such file or directory");
    end();
}

static void a_shepherd_that_is_not_there_is_an_error_and_leaves_nothing(void **state)
{
    struct runs_config config = {.shepherd = "/no/such/shepherd", .cgroup = ""};

    (void)state;
    begin();
    runs_close(world.runs);
    config.folder = world.folder;
    WORKS(runs_open(&config, &world.runs, &err));
    set_script(1, "true");
    FAILS(runs_start(world.runs, &world.spec, &err), -ENOENT,
          "cannot run '/no/such/shepherd': No such file or directory");
    assert_false(is_there("live/1.0.1"));
    end();
}

static void a_run_is_started_once(void **state)
{
    (void)state;
    begin();
    (void)started(1, "sleep 1000");
    FAILS(runs_start(world.runs, &world.spec, &err), -EEXIST, "run 1.0.1: was started before");
    WORKS(runs_kill(world.runs, world.spec.key));
    (void)expect(RUN_EVENT_ENDED);
    FAILS(runs_start(world.runs, &world.spec, &err), -EEXIST, "was started before");
    end();
}

static void a_run_that_was_settled_is_not_started_again_while_its_log_is_there(void **state)
{
    struct run_key key;

    (void)state;
    begin();
    (void)started(1, "echo hello");
    key = expect(RUN_EVENT_ENDED).key;
    WORKS(runs_settle(world.runs, key));
    FAILS(runs_start(world.runs, &world.spec, &err), -EEXIST, "has ended before");
    assert_string_equal(log_of(key), "hello\n");
    assert_false(is_there("done/1.0.1/spec"));
    WORKS(runs_prune(world.runs, key));
    assert_false(is_there("done/1.0.1"));
    assert_string_equal(log_of(key), "");
    end();
}

static void a_settled_run_without_a_log_leaves_nothing(void **state)
{
    (void)state;
    begin();
    (void)started(1, "true");
    WORKS(runs_settle(world.runs, expect(RUN_EVENT_ENDED).key));
    assert_false(is_there("live/1.0.1"));
    assert_false(is_there("done/1.0.1"));
    end();
}

static void a_run_that_lives_is_listed_and_not_settled(void **state)
{
    uint32_t count;
    struct run_key *keys;

    (void)state;
    begin();
    (void)started(5, "sleep 1000");
    assert_int_equal(runs_settle(world.runs, world.spec.key), -ENOENT);
    keys = runs_list(world.runs, &count);
    assert_int_equal(count, 1);
    assert_int_equal(keys[0].job_id, 5);
    mem_free(keys);
    assert_int_equal(runs_find(world.runs, world.spec.key)->phase, RUN_RUNNING);
    WORKS(runs_kill(world.runs, world.spec.key));
    (void)expect(RUN_EVENT_ENDED);
    keys = runs_list(world.runs, &count);
    assert_int_equal(count, 0);
    mem_free(keys);
    end();
}

static void two_daemons_do_not_share_a_folder(void **state)
{
    struct runs_config config = {.shepherd = "x", .cgroup = ""};
    struct runs *other;
    int status;
    pid_t pid;

    (void)state;
    begin();
    config.folder = world.folder;
    pid = fork();
    if (pid == 0)
        _exit(runs_open(&config, &other, &err) == -EBUSY &&
                      strstr(err.text, "another daemon uses it") != NULL
                  ? 0
                  : 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    end();
}

static void a_hundred_tasks_at_once_end_each_as_its_own(void **state)
{
    bool seen[101] = {false};

    (void)state;
    begin();
    for (uint64_t job = 1; job <= 100; job++) {
        char script[64];

        snprintf(script, sizeof script, "echo job %d; exit %d", (int)job, (int)job);
        (void)start(job, script);
    }
    for (uint32_t left = 100; left > 0;) {
        const struct run_event event = next_event();
        char wanted[32];

        if (event.type == RUN_EVENT_STARTED)
            continue;
        assert_int_equal(event.type, RUN_EVENT_ENDED);
        assert_false(seen[event.key.job_id]);
        seen[event.key.job_id] = true;
        assert_int_equal(event.state.code, event.key.job_id);
        snprintf(wanted, sizeof wanted, "job %d\n", event.state.code);
        assert_string_equal(log_of(event.key), wanted);
        WORKS(runs_settle(world.runs, event.key));
        left--;
    }
    end();
}

/* ---- stopping ---- */

static void a_task_that_is_told_to_stop_may_end_by_itself(void **state)
{
    struct run_event event;

    (void)state;
    begin();
    (void)started(1, "trap 'exit 85' TERM; echo > ready; while :; do sleep 0.01; done");
    AWAIT(is_there("ready"));
    WORKS(runs_stop(world.runs, world.spec.key, SIGTERM, INT64_C(1000000000)));
    event = expect(RUN_EVENT_ENDED);
    assert_int_equal(event.state.code, RUN_CODE_CHECKPOINTED);
    assert_true(event.state.stopping);
    assert_false(event.state.killed);
    end();
}

static void a_task_that_does_not_listen_is_killed_after_its_grace(void **state)
{
    struct run_event event;

    (void)state;
    begin();
    (void)started(1, "trap '' TERM; echo > ready; while :; do sleep 0.01; done");
    AWAIT(is_there("ready"));
    WORKS(runs_stop(world.runs, world.spec.key, SIGTERM, 50000));
    event = expect(RUN_EVENT_ENDED);
    assert_int_equal(event.state.signal, SIGKILL);
    assert_true(event.state.killed);
    end();
}

static void a_second_stop_brings_the_end_nearer(void **state)
{
    (void)state;
    begin();
    (void)started(1, "trap '' TERM; echo > ready; while :; do sleep 0.01; done");
    AWAIT(is_there("ready"));
    WORKS(runs_stop(world.runs, world.spec.key, SIGTERM, INT64_MAX));
    WORKS(runs_stop(world.runs, world.spec.key, SIGTERM, 0));
    WORKS(runs_stop(world.runs, world.spec.key, SIGTERM, INT64_MAX));
    assert_true(expect(RUN_EVENT_ENDED).state.killed);
    end();
}

static void a_task_that_was_suspended_is_woken_to_stop(void **state)
{
    (void)state;
    begin();
    (void)started(1, "trap 'exit 4' TERM; echo > ready; kill -STOP $$; sleep 1000");
    AWAIT(is_there("ready"));
    WORKS(runs_stop(world.runs, world.spec.key, SIGTERM, INT64_C(1000000000)));
    assert_int_equal(expect(RUN_EVENT_ENDED).state.code, 4);
    end();
}

static void the_signal_to_checkpoint_is_for_the_first_process_only(void **state)
{
    (void)state;
    begin();
    (void)started(1, "sh -c 'echo $$ > child; exec sleep 1000' & "
                     "trap 'echo saved; kill -0 $(cat child) && exit 85' USR1; "
                     "while [ ! -s child ]; do :; done; echo > ready; "
                     "while :; do sleep 0.01; done");
    AWAIT(is_there("ready"));
    WORKS(runs_signal(world.runs, world.spec.key, SIGUSR1));
    assert_int_equal(expect(RUN_EVENT_ENDED).state.code, RUN_CODE_CHECKPOINTED);
    assert_string_equal(log_of(world.spec.key), "saved\n");
    end();
}

static void who_is_not_there_cannot_be_stopped(void **state)
{
    (void)state;
    begin();
    assert_int_equal(runs_kill(world.runs, (struct run_key){9, 0, 1}), -ENOENT);
    (void)started(1, "true");
    (void)expect(RUN_EVENT_ENDED);
    assert_int_equal(runs_stop(world.runs, world.spec.key, SIGTERM, 0), -ENOENT);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_task_that_ends_well_has_started_and_ended_with_0),
        TEST(the_exit_code_is_passed_on),
        TEST(a_signal_that_ends_it_is_128_and_the_signal),
        TEST(what_it_writes_to_both_outputs_is_one_log),
        TEST(a_program_that_is_not_there_never_started),
        TEST(a_program_that_may_not_be_run_never_started),
        TEST(a_folder_that_is_not_there_is_named),
        TEST(a_shepherd_that_is_not_there_is_an_error_and_leaves_nothing),
        TEST(a_run_is_started_once),
        TEST(a_run_that_was_settled_is_not_started_again_while_its_log_is_there),
        TEST(a_settled_run_without_a_log_leaves_nothing),
        TEST(a_run_that_lives_is_listed_and_not_settled),
        TEST(two_daemons_do_not_share_a_folder),
        TEST(a_hundred_tasks_at_once_end_each_as_its_own),
        TEST(a_task_that_is_told_to_stop_may_end_by_itself),
        TEST(a_task_that_does_not_listen_is_killed_after_its_grace),
        TEST(a_second_stop_brings_the_end_nearer),
        TEST(a_task_that_was_suspended_is_woken_to_stop),
        TEST(the_signal_to_checkpoint_is_for_the_first_process_only),
        TEST(who_is_not_there_cannot_be_stopped),
    };

    return RUN_TESTS_AND_CLEAN_UP(tests);
}
