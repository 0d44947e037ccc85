/* SPDX-License-Identifier: Apache-2.0 */
/* control.h - what may be asked of a shepherd, on the socket in the folder of its run.
 *
 * Each request is one packet of text, each answer the state of the run (state.h) as one packet; it
 * also comes unasked when one connects, and whenever it changes. After the end of the task it comes
 * once more, and the connection is closed. */
#pragma once
#include <stdint.h>

enum control_verb {
    CONTROL_STATUS, /* nothing but the answer */
    CONTROL_SIGNAL, /* to the first process of the task only: it is who knows of checkpoints */
    CONTROL_STOP,   /* a signal to its process group, and after the grace all of it is killed */
    CONTROL_KILL,   /* all of it is killed now */
    CONTROL_VERB_COUNT,
};

#define CONTROL_BYTES_MAX 64

struct control {
    enum control_verb verb;
    int signal;       /* SIGNAL, STOP: 1..64 */
    int64_t grace_us; /* STOP: 0.. */
};

/* A NUL-terminated text; its length. */
uint32_t control_format(const struct control *control, char out[CONTROL_BYTES_MAX]);
int control_parse(const char *text, struct control *out); /* 0 or -EINVAL */
