/* SPDX-License-Identifier: Apache-2.0 */
/* victims.c - the running jobs that may give way, worst first. */
#include "base/mem.h"
#include "base/sort.h"
#include "core/impl.h"
#include "core/victims.h"

__extension__ typedef __int128 wide;

static int compare(const void *a, const void *b, void *arg)
{
    const struct victim *x = a, *y = b;

    (void)arg;
    if (x->key != y->key)
        return x->key > y->key ? -1 : 1;
    return x->sequence > y->sequence ? -1 : 1;
}

/* A running job's key counts less than a waiting job's, or equal jobs would swap for ever. */
static int64_t after_hysteresis(const struct core *core, int64_t key)
{
    return (int64_t)((wide)key * 1000000 / core->order->hysteresis_ppm);
}

static void learn(struct core *core, struct victims *victims)
{
    victims->known = true;
    for (uint32_t job = 0; job < core->jobs.count; job++) {
        const struct job *row = &core->jobs.rows[job];

        if (row->state != JOB_RUNNING)
            continue;
        const int64_t key = core->order->key(core->order_state, core, job, core->now_us);
        const struct victim victim = {after_hysteresis(core, key), row->sequence, job};

        vec_push(victims->list, victims->count, victims->cap, victim);
    }
    sort_stable(victims->list, victims->count, sizeof *victims->list, compare, NULL);
}

uint32_t victims_above(struct core *core, struct victims *victims, int64_t key)
{
    uint32_t count = 0;

    if (!victims->known)
        learn(core, victims);
    while (count < victims->count && victims->list[count].key > key)
        count++;
    return count;
}

void victims_done(struct victims *victims)
{
    mem_free(victims->list);
    *victims = (struct victims){0};
}
