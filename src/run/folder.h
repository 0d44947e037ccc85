/* SPDX-License-Identifier: Apache-2.0 */
/* folder.h - the folder of a run: making it, starting a shepherd in it, and asking whether one is
 * there. */
#pragma once
#include <stdbool.h>

#include "run/spec.h"

struct err;

/* Opens or makes (mode 0700) a folder. An fd, or a negative errno with err set. */
int folder_open(int at_fd, const char *name, bool make, struct err *err);

/* Makes the folder of a run with its spec, and starts the shepherd in it. out_folder_fd is the
 * caller's to close; *out_pid its to reap. On failure there is no such folder. */
int folder_start(int live_fd, const struct run_spec *spec, const char *shepherd, int *out_folder_fd,
                 pid_t *out_pid, struct err *err);

enum folder_life {
    FOLDER_ALIVE,   /* a shepherd holds its lock */
    FOLDER_DEAD,    /* none does, but one began: there is a state */
    FOLDER_UNBEGUN, /* none did anything */
};
enum folder_life folder_life(int folder_fd);

/* Connects to the shepherd's socket. An fd, or a negative errno. */
int folder_connect(int folder_fd);
