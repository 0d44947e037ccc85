/* SPDX-License-Identifier: Apache-2.0 */
/* world.h - a core as a simulator or a replay holds it: every fact and step goes through here, is
 * written to the event file if there is one, and is checked against the rules of core.h. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "core/core.h"
#include "wire/config_file.h"
#include "wire/event_file.h"

struct err;

/* After each step the nodes that it touched are checked; all rules every so many steps. */
#define WORLD_FULL_CHECK_STEPS 4096u

struct world;

/* Somebody who looks on, for tests: told of every fact before and after the core hears it, and of
 * every step. Any may be NULL. */
struct world_watch {
    void *context;
    void (*telling)(void *context, const struct world *world, const struct event *event);
    void (*told)(void *context, const struct world *world, const struct event *event, int rc);
    void (*stepping)(void *context, const struct world *world, int64_t now_us);
    /* rc, err: what the check of the rules said */
    void (*stepped)(void *context, const struct world *world, int rc, const struct err *err);
};

struct world {
    struct core *core;
    struct decisions decisions;      /* of the last step */
    struct event_writer *writer;     /* or NULL */
    bool check_all;                  /* all rules after every step */
    const struct world_watch *watch; /* or NULL */
    uint64_t steps;
};

/* A core by the names in `config` (empty names mean the defaults). recorded: a file to write
 * events to, or NULL. 0, or a negative errno: unknown policy, file. */
int world_open(struct world *world, const struct config *config, const char *recorded,
               struct err *err);
int world_close(struct world *world, struct err *err); /* also after a failed open */

/* The core by way of its bytes, for the caller to free; NULL with err set if they are not taken. */
struct core *world_copy(const struct world *world, struct err *err);

/* As after a crash: the core is gone, and another one takes its place with the same state.
 * `decisions` are void then. */
int world_restart(struct world *world, struct err *err);

int world_apply(struct world *world, const struct event *event, struct err *err);
int world_step(struct world *world, int64_t now_us, struct err *err);
