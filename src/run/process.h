/* SPDX-License-Identifier: Apache-2.0 */
/* process.h - which process is meant: a pid together with when it began.
 *
 * The kernel uses pids again; a pid and a start time it does not, until it is booted again, and
 * then the boot id differs. Nothing here ever signals a process by its pid alone. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process_id {
    pid_t pid;      /* 0 = none */
    uint64_t start; /* clock ticks since the boot */
};

/* One line of the list of all processes. */
struct process {
    struct process_id id;
    pid_t parent;
    pid_t group;
    pid_t session;
    char state; /* 'Z' = has ended, waits to be reaped */
};

struct process_list {
    struct process *items; /* [count] */
    uint32_t count, cap;
};

#define BOOT_ID_BYTES 40

/* This boot of the machine, "" if the kernel does not say. */
void process_boot_id(char out[BOOT_ID_BYTES]);

/* The process that has this pid now. 0, or -ESRCH. */
int process_read(pid_t pid, struct process *out);

/* Whether it still runs. One that has ended but was not reaped does not. */
bool process_runs(struct process_id id);

/* Sends a signal to just this process: -ESRCH if it is gone, whoever has its pid by now. -EPERM. */
int process_signal(struct process_id id, int signal);

/* All processes that this one can see, in no order. Replaces what is in the list. O(processes). */
void process_list_read(struct process_list *list);
void process_list_done(struct process_list *list);

/* Whether /proc/PID/environ holds this "NAME=value", or any value of the name. It is what the
 * program was started with. false if it may not be read. */
bool process_has_variable(struct process_id id, const char *variable);
bool process_has_name(struct process_id id, const char *name);

/* Marks in chosen [list->count] all processes below those that are marked already. */
void process_list_descend(const struct process_list *list, bool *chosen);
