/* SPDX-License-Identifier: Apache-2.0 */
/* mps_daemon.h - the simulated MPS control daemon: its servers, their clients, their limits.
 *
 * A server is a process of its own, started for a user with that user's first client, and holds the
 * devices of the daemon's CUDA_VISIBLE_DEVICES. One user's server at a time; the real daemon lets
 * clients of another user wait, this one refuses them. A server that fails takes all its clients
 * with it. */
#pragma once
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct text;

enum { MPS_SERVERS_MAX = 16, MPS_CLIENTS_MAX = 60 };

struct mps_server {
    bool used, fault;
    pid_t pid;
    uint32_t uid, percent;
    uint64_t limit_bytes;
};

struct mps_client {
    bool used;
    int fd;
    pid_t pid;
    uint32_t server;
};

struct mps_daemon {
    struct mps_server servers[MPS_SERVERS_MAX];
    struct mps_client clients[MPS_CLIENTS_MAX];
    uint32_t default_percent, default_priority;
    uint64_t default_limit_bytes; /* 0: none */
    bool quits;
};

void mps_daemon_init(struct mps_daemon *daemon);

/* Ends all servers, and so all clients. */
void mps_daemon_done(struct mps_daemon *daemon);

/* A request of a process that just connected; takes fd over. */
void mps_daemon_take(struct mps_daemon *daemon, int fd);

/* Servers that have ended and clients that have left. */
void mps_daemon_look(struct mps_daemon *daemon);

/* One command of nvidia-cuda-mps-control; what it prints is added to out. */
void mps_command(struct mps_daemon *daemon, char *line, struct text *out);

/* The server of a user, started if there is none; NULL if there is no room. */
struct mps_server *mps_start_server(struct mps_daemon *daemon, uint32_t uid);
struct mps_server *mps_find_server(struct mps_daemon *daemon, const char *pid);

/* Ends a client. */
void mps_drop_client(struct mps_client *client);
