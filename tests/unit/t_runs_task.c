/* SPDX-License-Identifier: Apache-2.0 */
/* What a task is given: its variables, folder, user, limits of its log. */
#include <grp.h>

#include "run/log.h"
#include "unit/run_test.h"

static void set_variable(const char *variable)
{
    run_spec_word(&world.spec.env, &world.spec.env_count, variable);
}

static const char *output_of(void)
{
    WORKS(runs_start(world.runs, &world.spec, &err));
    (void)expect(RUN_EVENT_STARTED);
    return log_of(expect(RUN_EVENT_ENDED).key);
}

static void a_task_of_a_gang_knows_its_place(void **state)
{
    struct run_spec *spec = &world.spec;

    (void)state;
    begin();
    set_script(12, "echo $RANK/$WORLD_SIZE $LOCAL_RANK $MASTER_ADDR:$MASTER_PORT "
                   "$BERTH_JOB_ID.$BERTH_TASK");
    spec->key.task = 3;
    spec->rank = 3;
    spec->world_size = 8;
    spec->local_rank = 1;
    spec->master_port = 29500;
    run_spec_text(&spec->master_address, "node7");
    assert_string_equal(output_of(), "3/8 1 node7:29500 12.3\n");
    end();
}

static void a_task_sees_its_gpus_by_uuid_whatever_its_user_had(void **state)
{
    (void)state;
    begin();
    set_script(1, "echo $CUDA_VISIBLE_DEVICES $CUDA_DEVICE_ORDER");
    set_variable("CUDA_VISIBLE_DEVICES=0,1,2,3");
    run_spec_word(&world.spec.devices, &world.spec.device_count, "GPU-aaaa");
    run_spec_word(&world.spec.devices, &world.spec.device_count, "MIG-bbbb");
    assert_string_equal(output_of(), "GPU-aaaa,MIG-bbbb PCI_BUS_ID\n");
    end();
}

static void a_task_without_gpus_sees_none(void **state)
{
    (void)state;
    begin();
    set_script(1, "echo \"<$CUDA_VISIBLE_DEVICES>\"");
    set_variable("CUDA_VISIBLE_DEVICES=0");
    assert_string_equal(output_of(), "<>\n");
    end();
}

static void what_the_daemon_sets_goes_before_what_the_user_had(void **state)
{
    (void)state;
    begin();
    set_script(1, "echo $MPS $MINE; env | grep -c MPS");
    set_variable("MPS=user");
    set_variable("MINE=1");
    set_variable("MINE=2");
    run_spec_word(&world.spec.set, &world.spec.set_count, "MPS=daemon");
    assert_string_equal(output_of(), "daemon 2\n1\n");
    end();
}

static void an_environment_of_a_megabyte_is_passed_on_whole(void **state)
{
    char variable[1100];

    (void)state;
    begin();
    set_script(1, "env | grep -c ^BIG_; env | grep ^BIG_ | wc -c; echo ${#BIG_999}");
    for (uint32_t i = 0; i < 1000; i++) {
        const int length = snprintf(variable, sizeof variable, "BIG_%u=", i);

        memset(variable + length, 'x', 1050 - (size_t)length);
        variable[1050] = '\0';
        set_variable(variable);
    }
    assert_string_equal(output_of(), "1000\n1051000\n1042\n");
    end();
}

static void more_than_the_kernel_takes_is_a_clear_failure(void **state)
{
    char *variable = mem_alloc(200001, 1);

    (void)state;
    begin();
    set_script(1, "true");
    memset(variable, 'x', 200000);
    memcpy(variable, "BIG=", 4);
    set_variable(variable);
    mem_free(variable);
    WORKS(runs_start(world.runs, &world.spec, &err));
    assert_string_equal(expect(RUN_EVENT_FAILED).state.error,
                        "cannot run 'sh': Argument list too long");
    end();
}

static void folder_and_umask_are_those_of_the_submission(void **state)
{
    struct stat facts;

    (void)state;
    begin();
    set_script(1, "pwd -P; umask; > made");
    world.spec.umask = 077;
    assert_int_equal(mkdir(path_of("work"), 0755), 0);
    run_spec_text(&world.spec.directory, path_of("work"));
    WORKS(runs_start(world.runs, &world.spec, &err));
    (void)expect(RUN_EVENT_STARTED);
    (void)expect(RUN_EVENT_ENDED);
    assert_non_null(strstr(log_of(world.spec.key), "/work\n0077\n"));
    assert_int_equal(stat(path_of("work/made"), &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0600);
    end();
}

static void a_task_has_no_file_of_its_shepherd_and_no_input(void **state)
{
    const int inherited = open("/dev/null", O_RDONLY); /* of whoever started the daemon */

    (void)state;
    begin();
    set_script(1, "ls /proc/self/fd | tr '\\n' ' '; readlink /proc/self/fd/0; "
                  "grep -c . < /dev/stdin; grep SigBlk /proc/self/status; "
                  "grep SigIgn /proc/self/status | sed s/18/00/"); /* 32, 33: glibc's own */
    /* 3 is that of ls itself. */
    assert_string_equal(output_of(), "0 1 2 3 /dev/null\n0\n"
                                     "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
    close(inherited);
    end();
}

/* ---- users ---- */

enum { OTHER_UID = 54321, OTHER_GID = 54322, THIRD_GID = 54323 };

static void set_other_user(void)
{
    struct run_spec *spec = &world.spec;
    const uint32_t groups[] = {OTHER_GID, THIRD_GID};

    spec->uid = OTHER_UID;
    spec->gid = OTHER_GID;
    spec->groups = mem_copy(groups, 2, sizeof *groups);
    spec->group_count = 2;
    assert_int_equal(chmod(world.folder, 0777), 0);
}

static void a_task_runs_as_its_user_and_cannot_go_back(void **state)
{
    struct stat facts;

    (void)state;
    if (geteuid() != 0)
        skip();
    begin();
    set_script(1, "id -u; id -g; id -G; > made; echo again > /dev/stdout; "
                  "grep ^Uid /proc/self/status; cat live/1.0.1/spec > /dev/null && echo read");
    set_other_user();
    assert_string_equal(output_of(), "54321\n54322\n54322 54323\nagain\n"
                                     "Uid:\t54321\t54321\t54321\t54321\n"
                                     "cat: live/1.0.1/spec: Permission denied\n");
    assert_int_equal(stat(path_of("made"), &facts), 0);
    assert_int_equal(facts.st_uid, OTHER_UID);
    assert_int_equal(facts.st_gid, OTHER_GID);
    assert_int_equal(stat(path_of("live/1.0.1/log.0"), &facts), 0);
    assert_int_equal(facts.st_uid, 0);
    assert_int_equal(facts.st_mode & 0777, 0600);
    end();
}

static void a_task_cannot_signal_those_of_another_user(void **state)
{
    char script[128];

    (void)state;
    if (geteuid() != 0)
        skip();
    begin();
    (void)started(1, "echo $$ > task; sleep 1000");
    (void)process_in("task");
    snprintf(script, sizeof script, "kill -9 %ld %d && echo killed; exit 0", number_in("task"),
             (int)runs_find(world.runs, world.spec.key)->shepherd.pid);
    set_script(2, script);
    set_other_user();
    WORKS(runs_start(world.runs, &world.spec, &err));
    (void)expect(RUN_EVENT_STARTED);
    assert_int_equal(expect(RUN_EVENT_ENDED).key.job_id, 2);
    assert_null(strstr(log_of(world.spec.key), "killed"));
    WORKS(runs_kill(world.runs, (struct run_key){1, 0, 1}));
    (void)expect(RUN_EVENT_ENDED);
    end();
}

static void a_task_of_another_user_is_killed_like_any(void **state)
{
    struct process_id task;

    (void)state;
    if (geteuid() != 0)
        skip();
    begin();
    set_script(1, "trap '' TERM; echo $$ > task; while :; do sleep 0.01; done");
    set_other_user();
    WORKS(runs_start(world.runs, &world.spec, &err));
    (void)expect(RUN_EVENT_STARTED);
    task = process_in("task");
    WORKS(process_signal(runs_find(world.runs, world.spec.key)->shepherd, SIGKILL));
    (void)expect(RUN_EVENT_LOST);
    assert_false(process_runs(task));
    end();
}

static void only_root_runs_tasks_of_others(void **state)
{
    int status;
    pid_t pid;

    (void)state;
    begin();
    runs_close(world.runs);
    world.runs = NULL;
    assert_int_equal(chown(world.folder, geteuid() == 0 ? OTHER_UID : geteuid(), (gid_t)-1), 0);
    assert_int_equal(file_remove_tree(AT_FDCWD, path_of("live")), 0);
    assert_int_equal(file_remove_tree(AT_FDCWD, path_of("done")), 0);
    unlink(path_of("lock"));
    pid = fork();
    if (pid == 0) {
        struct run_event event;

        if (geteuid() == 0 &&
            (setgroups(0, NULL) < 0 || setgid(OTHER_GID) < 0 || setuid(OTHER_UID) < 0))
            _exit(2);
        open_runs();
        set_script(1, "true");
        world.spec.uid = 0;
        if (runs_start(world.runs, &world.spec, &err) < 0)
            _exit(3);
        event = next_event();
        if (event.type != RUN_EVENT_FAILED || strstr(event.state.error, "as user 0") == NULL ||
            strstr(event.state.error, "Operation not permitted") == NULL)
            _exit(4);
        (void)started(2, "id -u");
        event = expect(RUN_EVENT_ENDED);
        _exit(event.state.code == 0 ? 0 : 5);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    end();
}

/* ---- the log ---- */

static void the_log_keeps_its_newest_files_and_every_byte_its_offset(void **state)
{
    const struct run_key key = {1, 0, 1};
    uint64_t offset = 0;
    char bytes[16];

    (void)state;
    begin();
    /* 3000 lines of 8 bytes: 24,000 bytes in files of 4,096, of which two stay. */
    set_script(1, "i=0; while [ $i -lt 3000 ]; do printf 'l%06d\\n' $i; i=$((i+1)); done");
    world.spec.log_bytes = 4096;
    world.spec.log_files = 2;
    WORKS(runs_start(world.runs, &world.spec, &err));
    (void)expect(RUN_EVENT_STARTED);
    assert_int_equal(expect(RUN_EVENT_ENDED).state.log_lost_bytes, 0);
    assert_false(is_there("live/1.0.1/log.3"));
    assert_true(is_there("live/1.0.1/log.4"));
    assert_true(is_there("live/1.0.1/log.5"));
    assert_int_equal(runs_read_log(world.runs, key, &offset, bytes, 8), 8);
    assert_int_equal(offset, 4 * 4096);
    assert_memory_equal(bytes, "l002048\n", 8);
    offset = 2999 * 8;
    assert_int_equal(runs_read_log(world.runs, key, &offset, bytes, sizeof bytes), 8);
    assert_memory_equal(bytes, "l002999\n", 8);
    offset = 3000 * 8;
    assert_int_equal(runs_read_log(world.runs, key, &offset, bytes, sizeof bytes), 0);
    end();
}

static void a_task_that_only_writes_can_be_stopped(void **state)
{
    uint64_t offset = 0;
    char byte;

    (void)state;
    begin();
    set_script(1, "exec yes");
    world.spec.log_bytes = 65536;
    WORKS(runs_start(world.runs, &world.spec, &err));
    (void)expect(RUN_EVENT_STARTED);
    /* What was written first is gone already. */
    AWAIT(runs_read_log(world.runs, world.spec.key, &offset, &byte, 1) >= 0 && offset > 0);
    WORKS(runs_stop(world.runs, world.spec.key, SIGTERM, INT64_C(1000000000)));
    assert_int_equal(expect(RUN_EVENT_ENDED).state.signal, SIGTERM);
    end();
}

static void a_log_is_read_while_it_is_written(void **state)
{
    (void)state;
    begin();
    (void)started(1, "echo one; while [ ! -e go ]; do sleep 0.01; done; echo two");
    AWAIT(strcmp(log_of(world.spec.key), "one\n") == 0);
    close(open(path_of("go"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    assert_string_equal(log_of(expect(RUN_EVENT_ENDED).key), "one\ntwo\n");
    end();
}

static void what_cannot_be_written_is_lost_and_counted(void **state)
{
    struct run_log log;
    int folder;

    (void)state;
    begin();
    folder = open(path_of("live"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    run_log_init(&log, folder, 8, 2);
    run_log_write(&log, "12345678abc", 11);
    assert_int_equal(symlink("/dev/full", path_of("live/log.2")), 0);
    run_log_write(&log, "defgh", 5);
    run_log_write(&log, "lost", 4);
    assert_int_equal(log.lost_bytes, 4);
    assert_int_equal(log.end, 16);
    unlink(path_of("live/log.2"));
    run_log_write(&log, "more", 4); /* there is room again */
    assert_int_equal(log.lost_bytes, 4);
    assert_int_equal(log.end, 20);
    assert_false(is_there("live/log.0"));
    run_log_done(&log);
    close(folder);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_task_of_a_gang_knows_its_place),
        TEST(a_task_sees_its_gpus_by_uuid_whatever_its_user_had),
        TEST(a_task_without_gpus_sees_none),
        TEST(what_the_daemon_sets_goes_before_what_the_user_had),
        TEST(an_environment_of_a_megabyte_is_passed_on_whole),
        TEST(more_than_the_kernel_takes_is_a_clear_failure),
        TEST(folder_and_umask_are_those_of_the_submission),
        TEST(a_task_has_no_file_of_its_shepherd_and_no_input),
        TEST(a_task_runs_as_its_user_and_cannot_go_back),
        TEST(a_task_cannot_signal_those_of_another_user),
        TEST(a_task_of_another_user_is_killed_like_any),
        TEST(only_root_runs_tasks_of_others),
        TEST(the_log_keeps_its_newest_files_and_every_byte_its_offset),
        TEST(a_task_that_only_writes_can_be_stopped),
        TEST(a_log_is_read_while_it_is_written),
        TEST(what_cannot_be_written_is_lost_and_counted),
    };

    return RUN_TESTS_AND_CLEAN_UP(tests);
}
