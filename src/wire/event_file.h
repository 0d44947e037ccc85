/* SPDX-License-Identifier: Apache-2.0 */
/* event_file.h - a recorded run: a header line with the core's configuration, then its events.
 *
 * Steps are in the file as EVENT_STEPPED events, so that a replay takes the same steps at the same
 * times. Files that end in .gz are written compressed; both kinds are read. */
#pragma once
#include <stdint.h>

#include "base/text.h"
#include "core/event.h"
#include "wire/arena.h"
#include "wire/config_file.h"
#include "wire/input.h"

struct err;

struct event_writer {
    const char *path; /* borrowed */
    void *gz;         /* gzFile; NULL when closed */
    struct text text; /* what is not written yet */
};

/* Creates the file (an old one is replaced) and writes the header. */
int event_writer_open(struct event_writer *writer, const char *path, const struct config *config,
                      struct err *err);
int event_writer_put(struct event_writer *writer, const struct event *event, struct err *err);
/* Writes what is left. A negative errno means that the file is not complete. */
int event_writer_close(struct event_writer *writer, struct err *err);

struct event_reader {
    struct input input;
    struct arena header_arena; /* of the configuration: valid until close */
    struct arena arena;        /* of the last event */
};

/* Opens the file and reads the header into *out_config, whose texts are valid until close. On
 * failure there is nothing to close. */
int event_reader_open(struct event_reader *reader, const char *path, struct config *out_config,
                      struct err *err);
/* The same over memory, which is borrowed until close. */
int event_reader_open_bytes(struct event_reader *reader, const char *name, const void *bytes,
                            size_t count, struct config *out_config, struct err *err);
/* 1 and the next event, whose pointers are valid until the next call; 0 at the end; or a negative
 * errno. */
int event_reader_next(struct event_reader *reader, struct event *out, struct err *err);
void event_reader_close(struct event_reader *reader);
