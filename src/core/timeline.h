/* SPDX-License-Identifier: Apache-2.0 */
/* timeline.h - the books of nodes as they will be: what is held at most in a window of time.
 *
 * Running jobs hold what they have until their ends_us, reservations that count (reserve.h) their
 * places from their start to their end. The most in a window is held at its beginning or when a
 * reservation starts in it, for in between room only gets free. A node that is shown has these
 * amounts in its books instead, so that placing sees them as it sees everything; hiding gives back
 * what it really holds. Both may go on while tasks are taken and given on trial. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "core/ledger.h"

struct core;

struct window {
    int64_t from_us, until_us;
};

struct shown {
    uint32_t node;
    struct hold more; /* than it really holds; may be less than 0 */
};

struct timeline {
    struct shown *rows; /* [count] */
    uint32_t count, cap;
    uint32_t *at; /* [at_cap] by node: row + 1, 0 = as it is */
    uint32_t at_cap;
};

void timeline_done(struct timeline *t);

/* O(tasks on the node * reservations on it that start in the window) */
void timeline_show(struct core *core, uint32_t node, struct window window);

/* The places of all reservations that count, on top of what is held. */
void timeline_show_all(struct core *core);
void timeline_hide(struct core *core);

/* Is there room for these places in the window, beside all that counts? The nodes are as they are.
 */
struct trial_item;
bool timeline_fits(struct core *core, const struct trial_item *places, uint32_t count,
                   struct window window);
