/* SPDX-License-Identifier: Apache-2.0 */
/* What a task leaves behind, and what happens when its shepherd is killed: without a cgroup, and
 * again in one where the machine lets us make one. */
#include "run/environment.h"
#include "run/tree.h"
#include "unit/run_test.h"

/* Once more inside a cgroup; the machine may have none that may be written. */
static bool begin_in_group(void)
{
    static const char *const roots[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
    struct cgroup_powers powers;
    char path[CGROUP_PATH_BYTES], found[CGROUP_PATH_BYTES] = "";

    for (size_t i = 0; i < sizeof roots / sizeof roots[0] && found[0] == '\0'; i++) {
        snprintf(path, sizeof path, "%s/berth-test-%d", roots[i], (int)getpid());
        if (cgroup_prepare(path, found, &powers, NULL) < 0)
            rmdir(path);
    }
    begin();
    if (found[0] == '\0')
        return false;
    runs_close(world.runs);
    memcpy(world.cgroup, found, sizeof found);
    open_runs();
    assert_true(runs_powers(world.runs).groups);
    return true;
}

/* A daemon that finds by itself where groups may be made: below the one it is in. */
static void a_daemon_in_a_group_of_its_own_makes_groups_below_it(void **state)
{
    char own[CGROUP_PATH_BYTES + 16], own_jobs[CGROUP_PATH_BYTES + 32];
    struct cgroup_powers powers;
    int status;
    pid_t pid;

    (void)state;
    if (!begin_in_group()) {
        end();
        skip();
    }
    snprintf(own, sizeof own, "%s/service", world.cgroup);
    WORKS(cgroup_make(own, 0, 0, &err));
    pid = fork();
    if (pid == 0) {
        char found[CGROUP_PATH_BYTES];

        if (cgroup_join(cgroup_open_procs(own)) < 0)
            _exit(2);
        if (cgroup_prepare("auto", found, &powers, &err) < 0 || !powers.groups)
            _exit(3);
        snprintf(own_jobs, sizeof own_jobs, "%s/berth", own);
        _exit(strcmp(found, own_jobs) == 0 ? 0 : 4);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    end();
}

#define DAEMONISED "setsid sh -c '(setsid sh -c \"echo \\$\\$ > grandchild; exec sleep 1000\" &)'; "

static void leave_a_daemon(void)
{
    struct process_id grandchild;

    (void)started(1, DAEMONISED "while [ ! -s grandchild ]; do :; done; exit 6");
    assert_int_equal(expect(RUN_EVENT_ENDED).state.code, 6);
    AWAIT(number_in("grandchild") > 0);
    grandchild = (struct process_id){(pid_t)number_in("grandchild"), 0};
    assert_int_equal(process_read(grandchild.pid, &(struct process){0}), -ESRCH);
}

static void what_a_task_leaves_behind_is_gone_when_it_has_ended(void **state)
{
    (void)state;
    begin();
    leave_a_daemon();
    end();
}

static void in_a_cgroup_too_what_a_task_leaves_behind_is_gone(void **state)
{
    char path[CGROUP_PATH_BYTES + 16];

    (void)state;
    if (begin_in_group()) {
        leave_a_daemon();
        snprintf(path, sizeof path, "%s/1.0.1", world.cgroup);
        assert_int_equal(access(path, F_OK), -1);
    }
    end();
}

static void one_that_makes_processes_as_fast_as_it_can_is_killed(void **state)
{
    (void)state;
    begin();
    (void)started(1, "echo > ready; f() { (sleep 0.01; f) & (sleep 0.01) & wait; }; "
                     "trap '' TERM; f");
    AWAIT(is_there("ready"));
    WORKS(runs_kill(world.runs, world.spec.key));
    assert_true(expect(RUN_EVENT_ENDED).state.killed);
    end();
}

/* ---- the shepherd is killed ---- */

static struct process_id shepherd_of_run(void)
{
    return runs_find(world.runs, world.spec.key)->shepherd;
}

static void kill_a_shepherd(void)
{
    struct process_id task, grandchild;
    struct run_event event;

    (void)started(1, DAEMONISED "echo $$ > task; while :; do sleep 0.01; done");
    task = process_in("task");
    grandchild = process_in("grandchild");
    WORKS(process_signal(shepherd_of_run(), SIGKILL));
    event = expect(RUN_EVENT_LOST);
    assert_int_equal(event.key.job_id, 1);
    assert_false(process_runs(task));
    assert_false(process_runs(grandchild));
    assert_int_equal(runs_kill(world.runs, event.key), -ENOENT);
    WORKS(runs_settle(world.runs, event.key));
}

static void when_the_shepherd_is_killed_the_task_is_lost_and_nothing_of_it_runs(void **state)
{
    (void)state;
    begin();
    kill_a_shepherd();
    end();
}

static void in_a_cgroup_too_the_task_is_lost_and_nothing_of_it_runs(void **state)
{
    (void)state;
    if (begin_in_group())
        kill_a_shepherd();
    end();
}

static void in_a_cgroup_even_who_hides_its_mark_is_found(void **state)
{
    struct process_id hidden;

    (void)state;
    if (begin_in_group()) {
        (void)started(1, "(setsid env -i sh -c 'echo $$ > hidden; while :; do :; done' &); "
                         "sleep 1000");
        hidden = process_in("hidden");
        WORKS(process_signal(shepherd_of_run(), SIGKILL));
        (void)expect(RUN_EVENT_LOST);
        assert_false(process_runs(hidden));
    }
    end();
}

static void who_hides_its_mark_is_found_in_its_session(void **state)
{
    struct process_id hidden;

    (void)state;
    begin();
    (void)started(1, "env -i /bin/sh -c 'echo $$ > hidden; while :; do :; done' & sleep 1000");
    hidden = process_in("hidden");
    WORKS(process_signal(shepherd_of_run(), SIGKILL));
    (void)expect(RUN_EVENT_LOST);
    assert_false(process_runs(hidden));
    end();
}

/* ---- pids that are used again ---- */

/* A session of the same user that has nothing to do with the run; its leader's pid. */
static pid_t make_stranger(const char *mark)
{
    const pid_t pid = fork();

    if (pid == 0) {
        char variable[RUN_MARK_BYTES];
        char *const argv[] = {(char[]){"sleep"}, (char[]){"1000"}, NULL};
        char *const env[] = {mark == NULL ? NULL : variable, NULL};

        snprintf(variable, sizeof variable, "%s", mark == NULL ? "" : mark);
        setsid();
        execve("/bin/sleep", argv, env);
        _exit(1);
    }
    return pid;
}

static void end_stranger(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void whoever_got_the_pid_of_a_task_is_left_alone(void **state)
{
    const pid_t stranger = make_stranger(NULL);
    struct run_state old = {.phase = RUN_RUNNING};
    struct process now;

    (void)state;
    AWAIT(process_read(stranger, &now) == 0 && now.session == stranger);
    process_boot_id(old.boot);
    old.task = (struct process_id){now.id.pid, now.id.start - 1};
    assert_true(tree_sweep(&old, geteuid(), ""));
    assert_true(process_runs(now.id));
    /* With its own start time it is the task. */
    old.task = now.id;
    assert_false(tree_sweep(&old, geteuid(), ""));
    AWAIT(tree_sweep(&old, geteuid(), ""));
    assert_false(process_runs(now.id));
    end_stranger(stranger);
}

static void after_a_reboot_nothing_is_left_whatever_the_pids_say(void **state)
{
    const pid_t stranger = make_stranger(NULL);
    struct run_state old = {.phase = RUN_RUNNING, .boot = "another"};
    struct process now;

    (void)state;
    AWAIT(process_read(stranger, &now) == 0 && now.session == stranger);
    old.task = now.id;
    assert_true(tree_sweep(&old, geteuid(), ""));
    assert_true(process_runs(now.id));
    end_stranger(stranger);
}

static void who_carries_the_mark_of_another_run_is_left_alone(void **state)
{
    const struct process_id ours = {INT32_MAX, 1}, other = {INT32_MAX, 2};
    struct run_state old = {.phase = RUN_RUNNING, .shepherd = ours};
    char mark[RUN_MARK_BYTES];
    struct process now;
    pid_t stranger;

    (void)state;
    run_mark(other, mark);
    stranger = make_stranger(mark);
    AWAIT(process_read(stranger, &now) == 0 &&
          process_has_name((struct process_id){stranger, now.id.start}, RUN_MARK_NAME));
    process_boot_id(old.boot);
    old.task = now.id;
    assert_true(tree_sweep(&old, geteuid(), ""));
    assert_true(process_runs(now.id));
    end_stranger(stranger);
    /* And of this run it is found, though the task is another process. */
    run_mark(ours, mark);
    stranger = make_stranger(mark);
    AWAIT(process_read(stranger, &now) == 0 && process_has_variable(now.id, mark));
    old.task = (struct process_id){0, 0};
    AWAIT(tree_sweep(&old, geteuid(), ""));
    assert_false(process_runs(now.id));
    end_stranger(stranger);
}

static void a_process_is_signalled_only_if_it_began_when_it_should(void **state)
{
    const pid_t stranger = make_stranger(NULL);
    struct process now;

    (void)state;
    WORKS(process_read(stranger, &now));
    now.id.start++;
    assert_int_equal(process_signal(now.id, SIGKILL), -ESRCH);
    now.id.start--;
    assert_true(process_runs(now.id));
    assert_int_equal(process_signal(now.id, SIGKILL), 0);
    AWAIT(!process_runs(now.id)); /* not reaped yet */
    waitpid(stranger, NULL, 0);
    assert_int_equal(process_signal(now.id, SIGKILL), -ESRCH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_a_task_leaves_behind_is_gone_when_it_has_ended),
        TEST(in_a_cgroup_too_what_a_task_leaves_behind_is_gone),
        TEST(a_daemon_in_a_group_of_its_own_makes_groups_below_it),
        TEST(one_that_makes_processes_as_fast_as_it_can_is_killed),
        TEST(when_the_shepherd_is_killed_the_task_is_lost_and_nothing_of_it_runs),
        TEST(in_a_cgroup_too_the_task_is_lost_and_nothing_of_it_runs),
        TEST(in_a_cgroup_even_who_hides_its_mark_is_found),
        TEST(who_hides_its_mark_is_found_in_its_session),
        TEST(whoever_got_the_pid_of_a_task_is_left_alone),
        TEST(after_a_reboot_nothing_is_left_whatever_the_pids_say),
        TEST(who_carries_the_mark_of_another_run_is_left_alone),
        TEST(a_process_is_signalled_only_if_it_began_when_it_should),
    };

    return RUN_TESTS_AND_CLEAN_UP(tests);
}
