/* SPDX-License-Identifier: Apache-2.0 */
#include "run/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "run/cgroup.h"
#include "run/environment.h"

/* How far the new process came. */
enum step {
    STEP_READY,
    STEP_SESSION,
    STEP_CGROUP,
    STEP_OUTPUT,
    STEP_GROUPS,
    STEP_USER,
    STEP_FOLDER,
    STEP_PROGRAM,
};

struct report {
    int32_t step;
    int32_t error; /* an errno, 0 with STEP_READY */
};

/* ---- in the new process ---- */

struct child {
    const struct run_spec *spec;
    char **env;
    int output_fd, procs_fd, go_fd, report_fd;
    pid_t shepherd;
};

/* Says how far it came; ends the process if that was the last step. */
static void tell(const struct child *child, enum step step, int error)
{
    const struct report report = {.step = (int32_t)step, .error = error};
    const ssize_t told = write(child->report_fd, &report, sizeof report);

    if (step != STEP_READY || told != (ssize_t)sizeof report)
        _exit(1);
}

static void must(const struct child *child, enum step step, int rc)
{
    if (rc < 0)
        tell(child, step, errno);
}

/* The shepherd ignores and blocks signals that the task should meet as any program does. */
static void default_signals(void)
{
    sigset_t none;

    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void take_output(const struct child *child)
{
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

    must(child, STEP_OUTPUT, null);
    must(child, STEP_OUTPUT, dup2(null, STDIN_FILENO));
    must(child, STEP_OUTPUT, dup2(child->output_fd, STDOUT_FILENO));
    must(child, STEP_OUTPUT, dup2(child->output_fd, STDERR_FILENO));
}

/* Only root can become somebody; others run what is their own. */
static void become(const struct child *child)
{
    const struct run_spec *spec = child->spec;

    if (geteuid() != 0) {
        if (spec->uid == geteuid() && spec->gid == getegid())
            return;
        tell(child, STEP_USER, EPERM);
    }
    must(child, STEP_GROUPS, setgroups(spec->group_count, spec->groups));
    must(child, STEP_USER, setresgid(spec->gid, spec->gid, spec->gid));
    must(child, STEP_USER, setresuid(spec->uid, spec->uid, spec->uid));
}

_Noreturn static void be_task(const struct child *child)
{
    char go;

    default_signals();
    must(child, STEP_SESSION, setsid());
    if (child->procs_fd >= 0) {
        const int rc = cgroup_join(child->procs_fd);

        if (rc < 0)
            tell(child, STEP_CGROUP, -rc);
    }
    take_output(child);
    become(child);
    umask(child->spec->umask);
    must(child, STEP_FOLDER, chdir(child->spec->directory));
    /* After the change of user, which takes it off. */
    must(child, STEP_SESSION, prctl(PR_SET_PDEATHSIG, SIGKILL));
    tell(child, STEP_READY, 0);
    if (read(child->go_fd, &go, 1) != 1 || getppid() != child->shepherd)
        _exit(1);
    environ = child->env; /* execvp looks in the task's own PATH */
    execvp(child->spec->argv[0], child->spec->argv);
    tell(child, STEP_PROGRAM, errno);
    _exit(1);
}

/* ---- in the shepherd ---- */

/* The next report: 0, or -EPIPE at the end. */
static int next_report(int fd, struct report *out)
{
    ssize_t count;

    do
        count = read(fd, out, sizeof *out);
    while (count < 0 && errno == EINTR);
    return count == (ssize_t)sizeof *out ? 0 : -EPIPE;
}

static int explain(const struct run_spec *spec, struct report report, struct err *err)
{
    const char *why = strerror(report.error);
    const int rc = -report.error;

    switch ((enum step)report.step) {
    case STEP_FOLDER:
        return err_set(err, rc, "cannot work in '%s': %s", spec->directory, why);
    case STEP_PROGRAM:
        return err_set(err, rc, "cannot run '%s': %s", spec->argv[0], why);
    case STEP_USER:
        return err_set(err, rc, "cannot run as user %u, group %u: %s", spec->uid, spec->gid, why);
    case STEP_GROUPS:
        return err_set(err, rc, "cannot take %u groups of user %u: %s", spec->group_count,
                       spec->uid, why);
    case STEP_CGROUP:
        return err_set(err, rc, "cannot join cgroup '%s': %s", spec->cgroup, why);
    case STEP_OUTPUT:
        return err_set(err, rc, "cannot take the task's output: %s", why);
    case STEP_SESSION:
    case STEP_READY:
        break;
    }
    return err_set(err, rc, "cannot make a session for the task: %s", why);
}

static void close_both(struct launch *launch)
{
    close(launch->go_fd);
    close(launch->error_fd);
}

/* argv as execvp wants it: NULL at the end. */
static struct run_spec ended_argv(const struct run_spec *spec)
{
    struct run_spec copy = *spec;

    copy.argv = mem_alloc(spec->argc + 1, sizeof *copy.argv);
    memcpy(copy.argv, spec->argv, spec->argc * sizeof *copy.argv);
    return copy;
}

/* Forks. The new process never comes back. */
static pid_t fork_task(const struct run_spec *spec, struct process_id shepherd, int output_fd,
                       int procs_fd, const int go[2], const int report[2])
{
    struct run_spec copy = ended_argv(spec);
    struct child child = {.spec = &copy,
                          .env = run_environment(spec, shepherd),
                          .output_fd = output_fd,
                          .procs_fd = procs_fd,
                          .go_fd = go[0],
                          .report_fd = report[1],
                          .shepherd = shepherd.pid};
    const pid_t pid = fork();

    if (pid == 0) {
        close(go[1]); /* or it would wait for itself */
        close(report[0]);
        be_task(&child);
    }
    mem_free(child.env);
    mem_free(copy.argv);
    return pid;
}

/* Waits until it is ready and knows when it began. */
static int await_ready(struct launch *launch, const struct run_spec *spec, struct err *err)
{
    struct report report;
    struct process process;
    int rc = next_report(launch->error_fd, &report);

    if (rc < 0)
        return err_set(err, rc, "the task's process died before it was ready");
    if (report.step != STEP_READY)
        return explain(spec, report, err);
    rc = process_read(launch->id.pid, &process);
    if (rc < 0)
        return err_set(err, rc, "the task's process is not in /proc");
    launch->id = process.id;
    return 0;
}

int launch_begin(const struct run_spec *spec, struct process_id shepherd, int output_fd,
                 int procs_fd, struct launch *out, struct err *err)
{
    struct launch launch;
    int go[2], report[2], rc;

    if (pipe2(go, O_CLOEXEC) < 0)
        return err_set(err, -errno, "cannot make a pipe: %s", strerror(errno));
    if (pipe2(report, O_CLOEXEC) < 0) {
        rc = -errno;
        close(go[0]);
        close(go[1]);
        return err_set(err, rc, "cannot make a pipe: %s", strerror(-rc));
    }
    launch = (struct launch){.go_fd = go[1], .error_fd = report[0]};
    launch.id.pid = fork_task(spec, shepherd, output_fd, procs_fd, go, report);
    rc = launch.id.pid < 0 ? -errno : 0;
    close(go[0]);
    close(report[1]);
    if (rc < 0) {
        close_both(&launch);
        return err_set(err, rc, "cannot make a process: %s", strerror(-rc));
    }
    rc = await_ready(&launch, spec, err);
    if (rc < 0) {
        launch_abandon(&launch);
        return rc;
    }
    *out = launch;
    return 0;
}

int launch_go(struct launch *launch, const struct run_spec *spec, struct err *err)
{
    struct report report;
    int rc = 0;

    if (write(launch->go_fd, "", 1) != 1)
        rc = err_set(err, -EPIPE, "the task's process died before it was let go");
    else if (next_report(launch->error_fd, &report) == 0)
        rc = explain(spec, report, err);
    close_both(launch);
    if (rc < 0)
        waitpid(launch->id.pid, NULL, 0);
    return rc;
}

void launch_abandon(struct launch *launch)
{
    close_both(launch);
    waitpid(launch->id.pid, NULL, 0);
}
