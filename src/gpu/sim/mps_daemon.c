/* SPDX-License-Identifier: Apache-2.0 */
/* mps_daemon.c - the simulated MPS control daemon. */
#include "gpu/sim/mps_daemon.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/scan.h"
#include "base/text.h"
#include "gpu/sim/store.h"
#include "gpu/sim/target.h"

#define SERVER_MEMORY_BYTES (UINT64_C(30) << 20)

void mps_daemon_init(struct mps_daemon *daemon)
{
    *daemon = (struct mps_daemon){.default_percent = 100};
}

void mps_drop_client(struct mps_client *client)
{
    close(client->fd);
    *client = (struct mps_client){0};
}

static void drop_clients_of(struct mps_daemon *daemon, uint32_t server)
{
    for (uint32_t i = 0; i < MPS_CLIENTS_MAX; i++)
        if (daemon->clients[i].used && daemon->clients[i].server == server)
            mps_drop_client(&daemon->clients[i]);
}

void mps_daemon_done(struct mps_daemon *daemon)
{
    for (uint32_t i = 0; i < MPS_SERVERS_MAX; i++) {
        if (!daemon->servers[i].used)
            continue;
        drop_clients_of(daemon, i);
        kill(daemon->servers[i].pid, SIGKILL);
        while (waitpid(daemon->servers[i].pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
}

/* The server is on the devices as a compute process. Without simulated GPUs it is on none. */
static void hold_devices(void)
{
    struct target targets[SIM_GPUS_MAX];
    struct store *store;
    uint32_t count;

    if (store_open(store_default_directory(), getenv("BERTH_SIM_GPUS"), &store, NULL) < 0)
        return;
    (void)store_read(store);
    count = target_list(store_write(store), getenv("CUDA_VISIBLE_DEVICES"), targets, SIM_GPUS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        const struct sim_process process = {.pid = (uint32_t)getpid(),
                                            .gpu = targets[i].gpu,
                                            .gi_id = targets[i].gi_id,
                                            .ci_id = targets[i].ci_id,
                                            .kinds = SIM_COMPUTE | SIM_SERVER,
                                            .memory_bytes = SERVER_MEMORY_BYTES};

        (void)machine_put_process(store_write(store), &process, NULL);
    }
    store_end(store, true);
    store_close(store);
}

static _Noreturn void be_server(int ready)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "nvidia-cuda-mps");
    signal(SIGTERM, SIG_DFL);
    /* A connection that the server holds open would not end when the daemon drops it. */
    for (int fd = 3; fd < 1024; fd++)
        if (fd != ready)
            close(fd);
    hold_devices();
    close(ready);
    for (;;)
        pause();
}

struct mps_server *mps_start_server(struct mps_daemon *daemon, uint32_t uid)
{
    struct mps_server *server = NULL;
    int ready[2];
    char byte;

    for (uint32_t i = MPS_SERVERS_MAX; i > 0; i--) {
        struct mps_server *it = &daemon->servers[i - 1];

        if (it->used && it->uid == uid)
            return it;
        if (!it->used)
            server = it;
    }
    if (server == NULL || pipe(ready) < 0)
        return NULL;
    *server = (struct mps_server){.used = true,
                                  .uid = uid,
                                  .percent = daemon->default_percent,
                                  .limit_bytes = daemon->default_limit_bytes};
    server->pid = fork();
    if (server->pid == 0)
        be_server(ready[1]);
    close(ready[1]);
    if (server->pid < 0)
        *server = (struct mps_server){0};
    else
        (void)!read(ready[0], &byte, 1); /* it holds its devices, or has ended */
    close(ready[0]);
    return server->used ? server : NULL;
}

struct mps_server *mps_find_server(struct mps_daemon *daemon, const char *pid)
{
    uint32_t number;

    if (pid == NULL || scan_u32(pid, &number) < 0)
        return NULL;
    for (uint32_t i = 0; i < MPS_SERVERS_MAX; i++)
        if (daemon->servers[i].used && (uint32_t)daemon->servers[i].pid == number)
            return &daemon->servers[i];
    return NULL;
}

static bool has_clients(const struct mps_daemon *daemon, uint32_t server)
{
    for (uint32_t i = 0; i < MPS_CLIENTS_MAX; i++)
        if (daemon->clients[i].used && daemon->clients[i].server == server)
            return true;
    return false;
}

void mps_daemon_look(struct mps_daemon *daemon)
{
    for (uint32_t i = 0; i < MPS_SERVERS_MAX; i++)
        if (daemon->servers[i].used && waitpid(daemon->servers[i].pid, NULL, WNOHANG) != 0) {
            drop_clients_of(daemon, i);
            daemon->servers[i] = (struct mps_server){0};
        }
    for (uint32_t i = 0; i < MPS_CLIENTS_MAX; i++) {
        struct pollfd end = {.fd = daemon->clients[i].fd, .events = POLLIN};

        /* A client says nothing after it came, so all there is to read is its end. */
        if (daemon->clients[i].used && poll(&end, 1, 0) > 0)
            mps_drop_client(&daemon->clients[i]);
    }
    for (uint32_t i = 0; i < MPS_SERVERS_MAX; i++)
        if (daemon->servers[i].fault && !has_clients(daemon, i))
            daemon->servers[i].fault = false;
}

static void say(int fd, const char *line)
{
    (void)!send(fd, line, strlen(line), MSG_NOSIGNAL);
}

/* Another user's server that has clients keeps everybody else out; one without them makes room. */
static bool make_room(struct mps_daemon *daemon, uint32_t uid)
{
    for (uint32_t i = 0; i < MPS_SERVERS_MAX; i++) {
        struct mps_server *server = &daemon->servers[i];

        if (!server->used || server->uid == uid)
            continue;
        if (has_clients(daemon, i))
            return false;
        kill(server->pid, SIGKILL);
        while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
        *server = (struct mps_server){0};
    }
    return true;
}

static struct mps_client *free_client(struct mps_daemon *daemon)
{
    for (uint32_t i = 0; i < MPS_CLIENTS_MAX; i++)
        if (!daemon->clients[i].used)
            return &daemon->clients[i];
    return NULL;
}

/* "client PERCENT BYTES": what a client asks for can only be less than what the server gives. */
static bool admit(struct mps_daemon *daemon, int fd, char *words)
{
    struct mps_client *client = free_client(daemon);
    struct mps_server *server;
    struct ucred who = {0};
    socklen_t size = sizeof who;
    uint32_t percent = 100;
    uint64_t limit = 0;
    char line[96], *space = strchr(words, ' ');

    if (space != NULL)
        *space++ = '\0';
    if (space == NULL || scan_u32(words, &percent) < 0 || scan_u64(space, &limit) < 0 ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) < 0)
        return false;
    if (client == NULL || !make_room(daemon, who.uid)) {
        say(fd, client == NULL ? "too many clients\n" : "another user's server is active\n");
        return false;
    }
    server = mps_start_server(daemon, who.uid);
    if (server == NULL || server->fault) {
        say(fd, "the server has failed\n");
        return false;
    }
    if (percent > server->percent)
        percent = server->percent;
    if (limit == 0 || (server->limit_bytes > 0 && limit > server->limit_bytes))
        limit = server->limit_bytes;
    *client = (struct mps_client){
        .used = true, .fd = fd, .pid = who.pid, .server = (uint32_t)(server - daemon->servers)};
    snprintf(line, sizeof line, "welcome %u %llu\n", percent, (unsigned long long)limit);
    say(fd, line);
    return true;
}

/* Up to a line's end; who does not send one within a second is not waited for. */
static bool read_line(int fd, char *line, size_t size)
{
    const struct timeval second = {.tv_sec = 1};
    size_t used = 0;

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
    while (used + 1 < size) {
        ssize_t got = read(fd, line + used, 1);

        if (got <= 0)
            return false;
        if (line[used] == '\n') {
            line[used] = '\0';
            return true;
        }
        used++;
    }
    return false;
}

void mps_daemon_take(struct mps_daemon *daemon, int fd)
{
    struct text out;
    char line[256];

    if (!read_line(fd, line, sizeof line)) {
        close(fd);
        return;
    }
    mps_daemon_look(daemon);
    if (strncmp(line, "client ", 7) == 0) {
        if (!admit(daemon, fd, line + 7))
            close(fd);
        return;
    }
    text_init(&out, 65536);
    mps_command(daemon, line, &out);
    say(fd, text_str(&out));
    text_done(&out);
    close(fd);
}
