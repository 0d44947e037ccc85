/* SPDX-License-Identifier: Apache-2.0 */
/* shepherd.h - runs one task of a job and outlives whoever started it.
 *
 * It gives the task its session, cgroup, user, environment and output, answers on a socket, ends it
 * when told to, and writes down how it ended once nothing of it runs any more: whatever a task
 * leaves behind comes back to its shepherd, and is killed. It decides nothing. */
#pragma once

/* File descriptors that a shepherd is started with. */
enum {
    SHEPHERD_FOLDER_FD = 3, /* the folder of the run */
    SHEPHERD_LOCK_FD = 4,   /* its file "lock", locked: for as long as the shepherd lives */
    SHEPHERD_LISTEN_FD = 5, /* its socket, listening */
};

/* Runs the task that is described in the folder to its end; the exit code of the program: 0 if the
 * end is written down. */
int shepherd_main(void);
