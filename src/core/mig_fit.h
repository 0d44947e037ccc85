/* SPDX-License-Identifier: Apache-2.0 */
/* mig_fit.h - which instance of a node's split GPUs a task gets.
 *
 * One that stands and that nobody holds goes first: nothing has to be made. Of several it is on the
 * GPU with the least left, then the lowest GPU and start. Otherwise a new one is made where
 * mig_slot.h says, by what waits: the tasks of all jobs in the queue that ask for instances. */
#pragma once
#include <stdint.h>

#include "core/mig_game.h"

struct core;
struct need;

/* What waits, by shape; and what is known of types, worked out when it is first needed. */
struct mig_wanted {
    struct mig_asked {
        uint32_t shape;
        uint64_t tasks;
    } * asked; /* [count] shapes that were ever asked for, in that order */
    uint32_t count, cap;
    struct mig_game *games; /* [mig_type_count], or NULL; zeroed ones are not worked out */
};

void mig_wanted_done(struct mig_wanted *w);
void mig_wanted_copy(struct mig_wanted *dst, const struct mig_wanted *src);

/* A shape that asks for an instance is there. */
void mig_note_shape(struct core *core, uint32_t shape);

/* A job of this gang waits (sign 1), or no more (-1). O(1) unless the gang asks for instances. */
void mig_note_waiting(struct core *core, uint32_t gang, int sign);

/* The task holds its instance, which is made if it does not stand yet; and it has started, so that
 * it stands; and it could not be made. Nothing for other tasks. */
void mig_make(struct core *core, uint32_t task);
void mig_is_made(struct core *core, uint32_t task);
void mig_not_made(struct core *core, uint32_t task);

/* The GPU and start for one more task of the need, for which some GPU of the node has room. O(GPUs
 * * starts), and see mig_choose(). */
uint32_t mig_fit(struct core *core, uint32_t node, const struct need *need, uint32_t *out_start);
