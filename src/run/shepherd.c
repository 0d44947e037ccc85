/* SPDX-License-Identifier: Apache-2.0 */
#include "run/shepherd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "run/cgroup.h"
#include "run/control.h"
#include "run/launch.h"
#include "run/log.h"
#include "run/spec.h"
#include "run/state.h"
#include "run/tree.h"

enum {
    CLIENTS_MAX = 8,
    READ_BYTES = 65536,
    READS_MAX = 16,          /* in a turn, so that a task that only writes can still be stopped */
    KILL_AGAIN_US = 20000,   /* while something is left */
    SAVE_AGAIN_US = 1000000, /* while the end cannot be written down: the disk is full */
    OWN_GRACE_US = 30000000, /* when the shepherd itself is told to end: the machine goes down */
};

struct shepherd {
    struct run_spec spec;
    struct run_state state;
    struct run_log log;
    int output_fd; /* what the task writes comes from here, -1 at its end */
    int signal_fd;
    int clients[CLIENTS_MAX]; /* [client_count] */
    uint32_t client_count;
    bool leader_ended;  /* the first process of the task */
    bool killing;       /* until nothing is left */
    int64_t kill_at_us; /* on the monotonic clock, 0 = no time is set */
};

static int64_t clock_us(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* ---- who listens ---- */

static void drop_client(struct shepherd *s, uint32_t i)
{
    close(s->clients[i]);
    s->clients[i] = s->clients[--s->client_count];
}

/* One that does not read what it is told is let go: it may connect again. One that has gone may
 * have asked for something before, so it is heard to its end. */
static bool tell(int fd, const struct run_state *state)
{
    char text[RUN_STATE_TEXT_BYTES];
    const uint32_t length = run_state_format(state, text);

    return send(fd, text, length, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)length ||
           errno == EPIPE || errno == ECONNRESET;
}

static void tell_all(struct shepherd *s)
{
    for (uint32_t i = s->client_count; i-- > 0;)
        if (!tell(s->clients[i], &s->state))
            drop_client(s, i);
}

static void accept_clients(struct shepherd *s)
{
    int fd;

    while ((fd = accept4(SHEPHERD_LISTEN_FD, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        if (s->client_count == CLIENTS_MAX || !tell(fd, &s->state))
            close(fd);
        else
            s->clients[s->client_count++] = fd;
    }
}

/* ---- ending the task ---- */

static void kill_all(struct shepherd *s)
{
    s->killing = true;
    s->kill_at_us = 0;
    if (s->spec.cgroup[0] == '\0' || cgroup_kill(s->spec.cgroup) < 0)
        tree_kill_children();
}

/* A second stop may bring the end nearer, never further away. */
static void stop(struct shepherd *s, int number, int64_t grace_us)
{
    const int64_t now_us = clock_us(CLOCK_MONOTONIC);
    const int64_t at_us = grace_us < INT64_MAX / 2 - now_us ? now_us + grace_us : INT64_MAX / 2;

    s->state.stopping = true;
    if (!s->leader_ended) {
        kill(-s->state.task.pid, number);
        kill(-s->state.task.pid, SIGCONT);
    }
    if (s->kill_at_us == 0 || at_us < s->kill_at_us)
        s->kill_at_us = at_us;
}

static void obey(struct shepherd *s, const struct control *control)
{
    switch (control->verb) {
    case CONTROL_SIGNAL:
        if (!s->leader_ended)
            kill(s->state.task.pid, control->signal);
        break;
    case CONTROL_STOP:
        if (!s->killing)
            stop(s, control->signal, control->grace_us);
        break;
    case CONTROL_KILL:
        s->state.stopping = s->state.killed = true;
        kill_all(s);
        break;
    case CONTROL_STATUS:
    case CONTROL_VERB_COUNT:
        break;
    }
}

/* false: the client is gone, or asks what is not understood. */
static bool serve(struct shepherd *s, int fd)
{
    char text[CONTROL_BYTES_MAX + 1];
    struct control control;
    const ssize_t count = recv(fd, text, sizeof text - 1, MSG_DONTWAIT);

    /* A reset comes before what was asked ahead of it. */
    if (count < 0 && (errno == EAGAIN || errno == EINTR || errno == ECONNRESET))
        return true;
    if (count <= 0)
        return false;
    text[count] = '\0';
    if (control_parse(text, &control) < 0)
        return false;
    obey(s, &control);
    return tell(fd, &s->state);
}

/* ---- what the task does ---- */

static void read_output(struct shepherd *s)
{
    char bytes[READ_BYTES];

    for (uint32_t i = 0; i < READS_MAX && s->output_fd >= 0; i++) {
        const ssize_t count = read(s->output_fd, bytes, sizeof bytes);

        if (count < 0)
            return;
        if (count > 0) {
            run_log_write(&s->log, bytes, (size_t)count);
            continue;
        }
        close(s->output_fd);
        s->output_fd = -1;
    }
}

static void note_end(struct shepherd *s, int status)
{
    s->leader_ended = true;
    s->state.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    s->state.code = WIFSIGNALED(status) ? 128 + s->state.signal : WEXITSTATUS(status);
}

/* Takes all that ended; false when no process is left. */
static bool reap(struct shepherd *s)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        if (pid == s->state.task.pid)
            note_end(s, status);
    return pid == 0;
}

static void take_signals(struct shepherd *s)
{
    struct signalfd_siginfo info;

    while (read(s->signal_fd, &info, sizeof info) == (ssize_t)sizeof info)
        if (info.ssi_signo == SIGTERM && !s->killing)
            stop(s, SIGTERM, OWN_GRACE_US);
}

/* ---- the loop ---- */

static int wait_ms(const struct shepherd *s)
{
    int64_t left_us = -1;

    if (s->killing)
        left_us = KILL_AGAIN_US;
    else if (s->kill_at_us > 0)
        left_us = s->kill_at_us - clock_us(CLOCK_MONOTONIC);
    else
        return -1;
    if (left_us <= 0)
        return 0;
    return left_us > 60000000 ? 60000 : (int)((left_us + 999) / 1000);
}

/* Waits for anything and takes it. at most_ms: -1 = no bound. */
static void turn(struct shepherd *s, int most_ms)
{
    struct pollfd fds[CLIENTS_MAX + 3] = {
        {.fd = s->signal_fd, .events = POLLIN},
        {.fd = SHEPHERD_LISTEN_FD, .events = POLLIN},
        {.fd = s->output_fd, .events = POLLIN},
    };
    const uint32_t clients = s->client_count;

    for (uint32_t i = 0; i < clients; i++)
        fds[3 + i] = (struct pollfd){.fd = s->clients[i], .events = POLLIN};
    if (poll(fds, 3 + clients, most_ms) < 0)
        return;
    if (fds[0].revents != 0)
        take_signals(s);
    if (fds[2].revents != 0)
        read_output(s);
    /* Backwards: dropping one moves the last, which was looked at before, to its place. */
    for (uint32_t i = clients; i-- > 0;)
        if (fds[3 + i].revents != 0 && !serve(s, s->clients[i]))
            drop_client(s, i);
    if (fds[1].revents != 0)
        accept_clients(s);
}

/* Until nothing of the task is left. */
static void tend(struct shepherd *s)
{
    while (reap(s)) {
        if (s->kill_at_us > 0 && clock_us(CLOCK_MONOTONIC) >= s->kill_at_us) {
            s->state.killed = true;
            kill_all(s);
        } else if (s->leader_ended || s->killing) {
            kill_all(s);
        }
        turn(s, wait_ms(s));
    }
    read_output(s);
}

/* The end is told only when it is written down; until then it is kept in mind. */
static void write_down(struct shepherd *s, enum run_phase phase)
{
    struct run_state end = s->state;
    int rc;

    end.phase = phase;
    end.end_us = clock_us(CLOCK_REALTIME);
    /* Without the folder itself there is nobody to tell either. */
    while ((rc = run_state_save(&end, SHEPHERD_FOLDER_FD)) < 0 && rc != -ENOENT)
        turn(s, SAVE_AGAIN_US / 1000);
    s->state = end;
    accept_clients(s);
    tell_all(s);
}

/* ---- from beginning to end ---- */

static int block_signals(void)
{
    sigset_t set;

    signal(SIGPIPE, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* A pipe that the task may open again by its name (/dev/stdout), whoever it runs as. */
static int make_output(struct shepherd *s, int *out_write_fd, struct err *err)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_set(err, -errno, "cannot make a pipe: %s", strerror(errno));
    if (geteuid() == 0 && fchown(ends[1], s->spec.uid, s->spec.gid) < 0) {
        close(ends[0]);
        close(ends[1]);
        return err_set(err, -EPERM, "cannot give the output to user %u", s->spec.uid);
    }
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    s->output_fd = ends[0];
    *out_write_fd = ends[1];
    return 0;
}

static int open_group(struct shepherd *s, int *out_fd, struct err *err)
{
    const struct run_spec *spec = &s->spec;
    int rc;

    *out_fd = -1;
    if (spec->cgroup[0] == '\0')
        return 0;
    rc = cgroup_make(spec->cgroup, spec->cpu_mcpu, spec->memory_bytes, err);
    if (rc < 0)
        return rc;
    *out_fd = cgroup_open_procs(spec->cgroup);
    return *out_fd < 0 ? err_set(err, *out_fd, "cgroup '%s': cannot open cgroup.procs: %s",
                                 spec->cgroup, strerror(-*out_fd))
                       : 0;
}

/* Written down before it is let go: what runs is known. */
static int let_go(struct shepherd *s, struct launch *launch, struct err *err)
{
    int rc;

    s->state.task = launch->id;
    s->state.began_us = clock_us(CLOCK_REALTIME);
    rc = run_state_save(&s->state, SHEPHERD_FOLDER_FD);
    if (rc == 0)
        return launch_go(launch, &s->spec, err);
    launch_abandon(launch);
    return err_set(err, rc, "cannot write 'state': %s", strerror(-rc));
}

static int begin(struct shepherd *s, struct err *err)
{
    struct launch launch;
    int output_fd = -1, procs_fd = -1;
    int rc = run_spec_load(SHEPHERD_FOLDER_FD, &s->spec, err);

    if (rc < 0)
        return rc;
    s->state.log_file_bytes = s->spec.log_bytes;
    run_log_init(&s->log, SHEPHERD_FOLDER_FD, s->spec.log_bytes, s->spec.log_files);
    rc = open_group(s, &procs_fd, err);
    if (rc == 0)
        rc = make_output(s, &output_fd, err);
    if (rc == 0)
        rc = launch_begin(&s->spec, s->state.shepherd, output_fd, procs_fd, &launch, err);
    if (output_fd >= 0)
        close(output_fd);
    if (procs_fd >= 0)
        close(procs_fd);
    return rc < 0 ? rc : let_go(s, &launch, err);
}

static void fail(struct shepherd *s, int rc, const struct err *err)
{
    s->leader_ended = s->killing = true; /* there is nothing to stop */
    memcpy(s->state.error, err->text, sizeof s->state.error - 1);
    s->state.code = rc == -ENOENT || rc == -ENOTDIR ? RUN_CODE_NOT_FOUND : RUN_CODE_NOT_RUN;
    (void)cgroup_remove(s->spec.cgroup);
    write_down(s, RUN_FAILED);
}

static void run_to_the_end(struct shepherd *s)
{
    s->state.phase = RUN_RUNNING;
    (void)run_state_save(&s->state, SHEPHERD_FOLDER_FD);
    accept_clients(s);
    tell_all(s);
    tend(s);
    s->state.oom_kills = cgroup_oom_kills(s->spec.cgroup);
    (void)cgroup_remove(s->spec.cgroup);
    s->state.log_lost_bytes = s->log.lost_bytes;
    write_down(s, RUN_ENDED);
}

static void done(struct shepherd *s)
{
    while (s->client_count > 0)
        drop_client(s, 0);
    if (s->output_fd >= 0)
        close(s->output_fd);
    run_log_done(&s->log);
    run_spec_done(&s->spec);
    close(s->signal_fd);
}

/* What the daemon was started with and never closed is nobody's here. */
static void close_others(void)
{
    if (close_range(SHEPHERD_LISTEN_FD + 1, ~0U, 0) == 0)
        return;
    for (int fd = SHEPHERD_LISTEN_FD + 1; fd < 1024; fd++) /* kernels before 5.9 */
        close(fd);
}

/* What it was started with is not the task's. */
static int take_over(struct shepherd *s)
{
    struct process self;

    close_others();
    for (int fd = SHEPHERD_FOLDER_FD; fd <= SHEPHERD_LISTEN_FD; fd++)
        if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
            return -errno;
    if (fcntl(SHEPHERD_LISTEN_FD, F_SETFL, O_NONBLOCK) < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
        return -errno;
    s->signal_fd = block_signals();
    if (s->signal_fd < 0 || process_read(getpid(), &self) < 0)
        return -EIO;
    s->state.shepherd = self.id;
    process_boot_id(s->state.boot);
    return run_state_save(&s->state, SHEPHERD_FOLDER_FD);
}

int shepherd_main(void)
{
    struct shepherd s = {.output_fd = -1, .signal_fd = -1};
    struct err err = {""};
    int rc;

    run_spec_init(&s.spec);
    run_log_init(&s.log, SHEPHERD_FOLDER_FD, s.spec.log_bytes, s.spec.log_files);
    s.state.log_file_bytes = s.spec.log_bytes;
    rc = take_over(&s);
    if (rc < 0) {
        run_spec_done(&s.spec);
        return 1; /* nothing was begun, and that is what the folder says */
    }
    rc = begin(&s, &err);
    if (rc < 0)
        fail(&s, rc, &err);
    else
        run_to_the_end(&s);
    done(&s);
    return 0;
}
