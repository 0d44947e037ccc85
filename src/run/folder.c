/* SPDX-License-Identifier: Apache-2.0 */
#include "run/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/err.h"
#include "run/file.h"
#include "run/shepherd.h"

/* Above what a shepherd is started with, so that putting one in place overwrites no other. */
enum { FD_MIN = 10, BACKLOG = 8 };

int folder_open(int at_fd, const char *name, bool make, struct err *err)
{
    int fd;

    if (make && mkdirat(at_fd, name, 0700) < 0 && errno != EEXIST)
        return err_set(err, -errno, "cannot make folder '%s': %s", name, strerror(errno));
    fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    return fd < 0 ? err_set(err, -errno, "cannot open folder '%s': %s", name, strerror(errno)) : fd;
}

/* ---- is a shepherd there? ---- */

enum folder_life folder_life(int folder_fd)
{
    const int lock = openat(folder_fd, "lock", O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    struct stat facts;
    bool held = false;

    if (lock >= 0) {
        held = flock(lock, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
        close(lock);
    }
    if (held)
        return FOLDER_ALIVE;
    return fstatat(folder_fd, "state", &facts, AT_SYMLINK_NOFOLLOW) == 0 ? FOLDER_DEAD
                                                                         : FOLDER_UNBEGUN;
}

/* By way of /proc the path is short, wherever the folder is. */
static struct sockaddr_un socket_address(int folder_fd)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/socket", folder_fd);
    return address;
}

int folder_connect(int folder_fd)
{
    const struct sockaddr_un address = socket_address(folder_fd);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int rc;

    if (fd < 0)
        return -errno;
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    rc = -errno;
    close(fd);
    return rc;
}

/* ---- start ---- */

/* The same file under a number that is out of the way. */
static int move_up(int fd)
{
    const int up = fd < 0 ? -errno : fcntl(fd, F_DUPFD_CLOEXEC, FD_MIN);
    const int rc = up < 0 && fd >= 0 ? -errno : up;

    if (fd >= 0)
        close(fd);
    return rc;
}

static int make_lock(int folder_fd)
{
    const int fd = move_up(openat(folder_fd, "lock", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));

    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
        close(fd);
        return -EBUSY;
    }
    return fd;
}

static int make_socket(int folder_fd)
{
    const struct sockaddr_un address = socket_address(folder_fd);
    const int fd = move_up(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    int rc;

    if (fd < 0)
        return fd;
    if (bind(fd, (const struct sockaddr *)&address, sizeof address) == 0 &&
        listen(fd, BACKLOG) == 0)
        return fd;
    rc = -errno;
    close(fd);
    return rc;
}

/* Its standard error is a file in the folder, where nobody looks unless something is wrong. */
static int spawn(const char *shepherd, const char *name, const int fds[3], int trouble_fd,
                 pid_t *out_pid)
{
    char own[] = "berth-shepherd", run[RUN_NAME_BYTES];
    char *const argv[] = {own, run, NULL}, *const env[] = {NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t all, none;
    int rc;

    snprintf(run, sizeof run, "%s", name);
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, trouble_fd, STDERR_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fds[0], SHEPHERD_FOLDER_FD);
    posix_spawn_file_actions_adddup2(&actions, fds[1], SHEPHERD_LOCK_FD);
    posix_spawn_file_actions_adddup2(&actions, fds[2], SHEPHERD_LISTEN_FD);
    rc = posix_spawn(out_pid, shepherd, &actions, &attributes, argv, env);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return -rc;
}

static int start_in(int folder_fd, const struct run_spec *spec, const char *shepherd,
                    pid_t *out_pid, struct err *err)
{
    static const char *const names[] = {"folder", "lock", "socket", "trouble"};
    char name[RUN_NAME_BYTES];
    int fds[4] = {-1, -1, -1, -1}, rc = run_spec_save(spec, folder_fd, err);

    if (rc < 0)
        return rc;
    run_key_name(spec->key, name);
    fds[0] = fcntl(folder_fd, F_DUPFD_CLOEXEC, FD_MIN);
    fds[1] = make_lock(folder_fd);
    fds[2] = make_socket(folder_fd);
    fds[3] = move_up(openat(folder_fd, "trouble", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    for (uint32_t i = 0; i < 4 && rc == 0; i++)
        if (fds[i] < 0)
            rc = err_set(err, fds[i], "run %s: %s: %s", name, names[i], strerror(-fds[i]));
    if (rc == 0) {
        rc = spawn(shepherd, name, fds, fds[3], out_pid);
        if (rc < 0)
            rc = err_set(err, rc, "cannot run '%s': %s", shepherd, strerror(-rc));
    }
    for (uint32_t i = 0; i < 4; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    return rc;
}

int folder_start(int live_fd, const struct run_spec *spec, const char *shepherd, int *out_folder_fd,
                 pid_t *out_pid, struct err *err)
{
    char name[RUN_NAME_BYTES];
    int folder_fd, rc;

    run_key_name(spec->key, name);
    if (mkdirat(live_fd, name, 0700) < 0)
        return err_set(err, -errno, "cannot make folder '%s': %s", name, strerror(errno));
    folder_fd = folder_open(live_fd, name, false, err);
    rc = folder_fd < 0 ? folder_fd : start_in(folder_fd, spec, shepherd, out_pid, err);
    if (rc == 0) {
        *out_folder_fd = folder_fd;
        return 0;
    }
    if (folder_fd >= 0)
        close(folder_fd);
    (void)file_remove_tree(live_fd, name);
    return rc;
}
