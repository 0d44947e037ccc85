/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "run/control.h"
#include "unit/run_test.h"

static int live_fd(void)
{
    return open(path_of("live"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void what_is_saved_is_loaded_whole(void **state)
{
    struct run_spec *spec = &world.spec, back;
    const uint32_t groups[] = {4, 27};
    struct stat facts;
    int folder;

    (void)state;
    begin();
    folder = live_fd();
    set_script(UINT64_MAX, "true");
    spec->key.task = 5;
    spec->key.run = 6;
    run_spec_word(&spec->set, &spec->set_count, "A=b");
    run_spec_word(&spec->devices, &spec->device_count, "GPU-1");
    spec->groups = mem_copy(groups, 2, sizeof *groups);
    spec->group_count = 2;
    spec->world_size = 2;
    spec->cpu_mcpu = 1500;
    run_spec_text(&spec->cgroup, "/sys/fs/cgroup/x");
    WORKS(run_spec_save(spec, folder, &err));
    run_spec_init(&back);
    WORKS(run_spec_load(folder, &back, &err));
    assert_true(back.key.job_id == UINT64_MAX);
    assert_int_equal(back.key.run, 6);
    assert_int_equal(back.argc, 3);
    assert_string_equal(back.argv[2], "true");
    assert_string_equal(back.set[0], "A=b");
    assert_string_equal(back.devices[0], "GPU-1");
    assert_int_equal(back.groups[1], 27);
    assert_int_equal(back.cpu_mcpu, 1500);
    assert_string_equal(back.cgroup, "/sys/fs/cgroup/x");
    assert_int_equal(fstatat(folder, "spec", &facts, 0), 0);
    assert_int_equal(facts.st_mode & 0777, 0600);
    run_spec_done(&back);
    close(folder);
    end();
}

static void a_spec_that_somebody_changed_is_refused(void **state)
{
    struct run_spec back;
    int folder, spec;

    (void)state;
    begin();
    folder = live_fd();
    set_script(1, "true");
    WORKS(run_spec_save(&world.spec, folder, &err));
    spec = openat(folder, "spec", O_RDWR | O_CLOEXEC);
    assert_int_equal(pwrite(spec, "x", 1, 20), 1);
    close(spec);
    run_spec_init(&back);
    FAILS(run_spec_load(folder, &back, &err), -EINVAL, "spec: ");
    run_spec_done(&back);
    close(folder);
    end();
}

static void fields_out_of_range_are_named(void **state)
{
    struct run_spec *spec = &world.spec;

    (void)state;
    begin();
    set_script(1, "true");
    run_spec_text(&spec->directory, "work");
    FAILS(runs_start(world.runs, spec, &err), -EINVAL, "directory: 'work' is not absolute");
    set_script(1, "true");
    run_spec_word(&spec->env, &spec->env_count, "PATH");
    FAILS(runs_start(world.runs, spec, &err), -EINVAL, "env[1]: 'PATH' is not NAME=value");
    set_script(1, "true");
    spec->world_size = 2;
    spec->rank = 2;
    FAILS(runs_start(world.runs, spec, &err), -EINVAL, "rank: 2 of 2");
    set_script(1, "true");
    spec->log_bytes = 1;
    FAILS(runs_start(world.runs, spec, &err), -EINVAL, "log: files of 4096 bytes at least");
    set_program(1, "");
    FAILS(runs_start(world.runs, spec, &err), -EINVAL, "argv: 1 to 65536 words");
    end();
}

static void names_of_runs_are_read_as_they_are_written(void **state)
{
    static const char *const bad[] = {
        "", "1", "1.2", "1.2.3.4", "a.2.3", "1..3", "1.2.-3", "1.2.99999999999", "1.2.3 "};
    struct run_key key;
    char name[RUN_NAME_BYTES];

    (void)state;
    run_key_name((struct run_key){UINT64_MAX, UINT32_MAX, UINT32_MAX}, name);
    assert_int_equal(run_key_parse(name, &key), 0);
    assert_true(key.job_id == UINT64_MAX && key.task == UINT32_MAX && key.run == UINT32_MAX);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(run_key_parse(bad[i], &key), -EINVAL);
}

static void a_state_is_read_as_it_is_written(void **state)
{
    struct run_state wrote = {.phase = RUN_ENDED,
                              .boot = "b",
                              .shepherd = {3, 4},
                              .task = {5, UINT64_MAX},
                              .stopping = true,
                              .code = -1,
                              .signal = 9,
                              .log_file_bytes = 4096,
                              .error = "two\nlines"};
    struct run_state back;
    char text[RUN_STATE_TEXT_BYTES];

    (void)state;
    (void)run_state_format(&wrote, text);
    WORKS(run_state_parse(text, &back, &err));
    assert_int_equal(back.phase, RUN_ENDED);
    assert_true(back.task.start == UINT64_MAX);
    assert_true(back.stopping && !back.killed);
    assert_int_equal(back.code, -1);
    assert_string_equal(back.error, "two lines");
}

static void the_largest_state_fits_its_text(void **state)
{
    struct run_state wrote, back;
    char text[RUN_STATE_TEXT_BYTES];

    (void)state;
    memset(&wrote, 0, sizeof wrote);
    wrote.shepherd = wrote.task = (struct process_id){INT32_MAX, UINT64_MAX};
    wrote.code = wrote.signal = INT32_MIN;
    wrote.oom_kills = wrote.log_lost_bytes = UINT64_MAX;
    wrote.log_file_bytes = wrote.began_us = wrote.end_us = INT64_MAX;
    memset(wrote.boot, 'b', sizeof wrote.boot - 1);
    memset(wrote.error, 'e', sizeof wrote.error - 1);
    assert_true(run_state_format(&wrote, text) < sizeof text);
    WORKS(run_state_parse(text, &back, &err));
    assert_int_equal(strlen(back.error), RUN_ERROR_BYTES - 1);
}

static void a_state_that_was_cut_is_refused(void **state)
{
    struct run_state wrote = {.phase = RUN_RUNNING, .log_file_bytes = 4096}, back;
    char text[RUN_STATE_TEXT_BYTES];

    (void)state;
    for (uint32_t length = run_state_format(&wrote, text); length-- > 0;) {
        text[length] = '\0';
        assert_int_equal(run_state_parse(text, &back, NULL), -EINVAL);
    }
}

static void requests_are_read_as_they_are_written(void **state)
{
    static const char *const bad[] = {"",          "stop",       "stop 15", "stop 0 1",
                                      "stop 65 1", "stop 15 -1", "kill 9",  "signal",
                                      "status ",   "stop  15 1", "end"};
    struct control control = {.verb = CONTROL_STOP, .signal = 15, .grace_us = INT64_MAX}, back;
    char text[CONTROL_BYTES_MAX];

    (void)state;
    (void)control_format(&control, text);
    assert_int_equal(control_parse(text, &back), 0);
    assert_int_equal(back.verb, CONTROL_STOP);
    assert_int_equal(back.signal, 15);
    assert_true(back.grace_us == INT64_MAX);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(control_parse(bad[i], &back), -EINVAL);
}

/* ---- cgroups ---- */

static void a_folder_that_is_no_cgroup_is_an_error_if_it_was_named(void **state)
{
    struct cgroup_powers powers = {true, true, true};
    char path[CGROUP_PATH_BYTES];

    (void)state;
    FAILS(cgroup_prepare("/tmp", path, &powers, &err), -ENOENT,
          "cgroup '/tmp': cannot make groups there: not in a cgroup2 file system");
    WORKS(cgroup_prepare("", path, &powers, &err));
    assert_string_equal(path, "");
    assert_false(powers.groups || powers.cpu || powers.memory);
}

static void a_group_that_is_not_there_is_empty_and_removed(void **state)
{
    (void)state;
    assert_false(cgroup_is_populated("/no/such/group"));
    assert_int_equal(cgroup_remove("/no/such/group"), 0);
    assert_int_equal(cgroup_kill("/no/such/group"), -ENOENT);
    assert_int_equal(cgroup_oom_kills("/no/such/group"), 0);
}

static void make_file(const char *name)
{
    close(open(path_of(name), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

static const char *line_of(const char *name)
{
    static char line[64];
    FILE *file = fopen(path_of(name), "re");

    assert_non_null(file);
    if (fgets(line, sizeof line, file) == NULL)
        line[0] = '\0';
    fclose(file);
    return line;
}

/* A folder that looks like the group that the kernel would make. */
static void limits_are_written_where_there_are_controllers_for_them(void **state)
{
    char path[CGROUP_PATH_BYTES];

    (void)state;
    begin();
    snprintf(path, sizeof path, "%s", path_of("live"));
    WORKS(cgroup_make(path, 1500, INT64_C(1) << 30, &err)); /* no controllers: passed over */
    make_file("live/cpu.max");
    make_file("live/memory.max");
    make_file("live/memory.swap.max");
    make_file("live/memory.oom.group");
    WORKS(cgroup_make(path, 1500, INT64_C(1) << 30, &err));
    assert_string_equal(line_of("live/cpu.max"), "150000 100000");
    assert_string_equal(line_of("live/memory.max"), "1073741824");
    assert_string_equal(line_of("live/memory.swap.max"), "0");
    assert_string_equal(line_of("live/memory.oom.group"), "1");
    end();
}

static void a_group_in_which_something_runs_is_not_taken(void **state)
{
    char path[CGROUP_PATH_BYTES];
    FILE *file;

    (void)state;
    begin();
    snprintf(path, sizeof path, "%s", path_of("live"));
    file = fopen(path_of("live/cgroup.events"), "we");
    assert_non_null(file);
    fputs("frozen 0\npopulated 1\n", file);
    fclose(file);
    FAILS(cgroup_make(path, 0, 0, &err), -EBUSY, "something runs in it already");
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_saved_is_loaded_whole),
        TEST(a_spec_that_somebody_changed_is_refused),
        TEST(fields_out_of_range_are_named),
        TEST(names_of_runs_are_read_as_they_are_written),
        TEST(a_state_is_read_as_it_is_written),
        TEST(the_largest_state_fits_its_text),
        TEST(a_state_that_was_cut_is_refused),
        TEST(requests_are_read_as_they_are_written),
        TEST(a_folder_that_is_no_cgroup_is_an_error_if_it_was_named),
        TEST(a_group_that_is_not_there_is_empty_and_removed),
        TEST(limits_are_written_where_there_are_controllers_for_them),
        TEST(a_group_in_which_something_runs_is_not_taken),
    };

    return RUN_TESTS_AND_CLEAN_UP(tests);
}
