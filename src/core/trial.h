/* SPDX-License-Identifier: Apache-2.0 */
/* trial.h - the one place where the books change on trial: try, look, undo.
 *
 * Every taking and giving while a step decides is written into a log. A mark is a length of the
 * log; undoing back to a mark gives back and takes again in reverse order, after which the books
 * are as they were. What is left in the log when the step ends is what was decided. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct core;

struct trial_item {
    uint32_t node;
    uint32_t shape;
    uint64_t gpu_mask;
    uint32_t mig_start; /* of an instance of a split GPU; else 0 */
    uint32_t slot;      /* the caller's own number: which task it is */
    bool given;         /* a running task was taken off; otherwise a new one was put on */
};

struct trial {
    struct trial_item *log; /* [count] */
    uint32_t count, cap;
};

static inline uint32_t trial_mark(const struct trial *trial)
{
    return trial->count;
}

/* Where: as ledger_take(). */
void trial_take(struct core *core, uint32_t node, uint32_t shape, uint64_t gpu_mask,
                uint32_t mig_start, uint32_t slot);
void trial_give(struct core *core, uint32_t node, uint32_t shape, uint64_t gpu_mask,
                uint32_t mig_start, uint32_t slot);
void trial_undo(struct core *core, uint32_t mark);
void trial_commit(struct core *core); /* forget the log; the books stay as they are */
void trial_done(struct trial *trial);
