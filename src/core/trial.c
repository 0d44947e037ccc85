/* SPDX-License-Identifier: Apache-2.0 */
/* trial.c - try, look, undo. */
#include "core/trial.h"

#include <string.h>

#include "base/mem.h"
#include "core/impl.h"
#include "core/ledger.h"

static void write(struct core *core, const struct trial_item *item)
{
    struct trial *t = &core->trial;

    vec_push(t->log, t->count, t->cap, *item);
}

void trial_take(struct core *core, uint32_t node, uint32_t shape, uint64_t gpu_mask,
                uint32_t mig_start, uint32_t slot)
{
    const struct trial_item item = {node, shape, gpu_mask, mig_start, slot, false};

    ledger_take(core, node, shape, gpu_mask, mig_start);
    write(core, &item);
}

void trial_give(struct core *core, uint32_t node, uint32_t shape, uint64_t gpu_mask,
                uint32_t mig_start, uint32_t slot)
{
    const struct trial_item item = {node, shape, gpu_mask, mig_start, slot, true};

    ledger_give(core, node, shape, gpu_mask, mig_start);
    write(core, &item);
}

void trial_undo(struct core *core, uint32_t mark)
{
    struct trial *t = &core->trial;

    while (t->count > mark) {
        const struct trial_item *item = &t->log[--t->count];

        if (item->given)
            ledger_take(core, item->node, item->shape, item->gpu_mask, item->mig_start);
        else
            ledger_give(core, item->node, item->shape, item->gpu_mask, item->mig_start);
    }
}

void trial_commit(struct core *core)
{
    core->trial.count = 0;
}

void trial_done(struct trial *trial)
{
    mem_free(trial->log);
    memset(trial, 0, sizeof *trial);
}
