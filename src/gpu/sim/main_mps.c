/* SPDX-License-Identifier: Apache-2.0 */
/* main_mps.c - a simulated nvidia-cuda-mps-control: the daemon (-d, -f), or commands to it. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "gpu/sim/mps_daemon.h"
#include "gpu/sim/mps_wire.h"

enum { LOOK_EVERY_MS = 50 };

static volatile sig_atomic_t told_to_end;

static void on_signal(int number)
{
    (void)number;
    told_to_end = 1;
}

/* Sends one command and prints the answer. */
static int ask(const char *line)
{
    char bytes[4096];
    ssize_t got;
    int fd;

    if (mps_connect(&fd) < 0) {
        fprintf(stderr, "Cannot find MPS control daemon process\n");
        return 1;
    }
    (void)!send(fd, line, strlen(line), MSG_NOSIGNAL);
    while ((got = read(fd, bytes, sizeof bytes)) > 0)
        fwrite(bytes, 1, (size_t)got, stdout);
    close(fd);
    return 0;
}

static int ask_stdin(void)
{
    char line[256];
    int rc = 0;

    while (rc == 0 && fgets(line, sizeof line - 1, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        memcpy(line + strlen(line), "\n", 2);
        if (line[0] != '\n')
            rc = ask(line);
    }
    return rc;
}

static void path_of(char *out, size_t size, const char *name)
{
    snprintf(out, size, "%s/%s", mps_directory(), name);
}

/* A descriptor that listens, or -1 with the reason said. */
static int listen_there(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd;

    if (mps_connect(&fd) == 0) {
        close(fd);
        fprintf(stderr, "An instance of this daemon is already running\n");
        return -1;
    }
    if (mkdir(mps_directory(), 0755) < 0 && errno != EEXIST) {
        fprintf(stderr, "%s: %s\n", mps_directory(), strerror(errno));
        return -1;
    }
    path_of(address.sun_path, sizeof address.sun_path, "control");
    unlink(address.sun_path);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof address) < 0 ||
        chmod(address.sun_path, 0666) < 0 || listen(fd, 64) < 0) {
        fprintf(stderr, "%s: %s\n", address.sun_path, strerror(errno));
        return -1;
    }
    return fd;
}

static void write_pid(void)
{
    char path[4096];
    FILE *file;

    path_of(path, sizeof path, "nvidia-cuda-mps-control.pid");
    file = fopen(path, "we");
    if (file == NULL)
        return;
    fprintf(file, "%d", (int)getpid());
    fclose(file);
}

static void clean_up(void)
{
    char path[4096];

    path_of(path, sizeof path, "nvidia-cuda-mps-control.pid");
    unlink(path);
    path_of(path, sizeof path, "control");
    unlink(path);
}

static int serve(int fd)
{
    struct sigaction action = {.sa_handler = on_signal};
    struct mps_daemon daemon;

    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    write_pid();
    mps_daemon_init(&daemon);
    while (!daemon.quits && !told_to_end) {
        struct pollfd door = {.fd = fd, .events = POLLIN};

        if (poll(&door, 1, LOOK_EVERY_MS) > 0) {
            int request = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

            if (request >= 0)
                mps_daemon_take(&daemon, request);
        }
        mps_daemon_look(&daemon);
    }
    clean_up();
    mps_daemon_done(&daemon);
    return 0;
}

/* The parent ends once the daemon listens. */
static int serve_behind(int fd)
{
    pid_t pid = fork();

    if (pid < 0)
        return 1;
    if (pid > 0)
        return 0;
    setsid();
    if (freopen("/dev/null", "r", stdin) == NULL || freopen("/dev/null", "w", stdout) == NULL ||
        freopen("/dev/null", "w", stderr) == NULL)
        return 1;
    return serve(fd);
}

int main(int argc, char **argv)
{
    int fd;

    if (argc == 1)
        return ask_stdin();
    if (argc != 2 || (strcmp(argv[1], "-d") != 0 && strcmp(argv[1], "-f") != 0)) {
        fputs("usage: nvidia-cuda-mps-control [-d | -f]   (commands on standard input)\n", stderr);
        return 1;
    }
    fd = listen_there();
    if (fd < 0)
        return 1;
    return strcmp(argv[1], "-d") == 0 ? serve_behind(fd) : serve(fd);
}
