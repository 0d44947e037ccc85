/* SPDX-License-Identifier: Apache-2.0 */
/* recent.c - counts of what was asked for lately. */
#include "policy/recent.h"

#include "base/mem.h"
#include "base/vec.h"

#define HALF_LIFE_MIN     8192
#define HALF_LIFE_RUNNING 2 /* times the running jobs */
#define LN2_Q20           726817

void recent_init(struct recent *r)
{
    r->next_at = 1;
    r->period = 1;
}

void recent_done(struct recent *r)
{
    mem_free(r->count);
    r->count = NULL;
    r->cap = 0;
}

void recent_copy(struct recent *dst, const struct recent *src)
{
    *dst = *src;
    dst->count = mem_copy(src->count, src->cap, sizeof *src->count);
}

/* Up to the last shape that was ever asked for; room behind it does not count. */
static uint32_t recent_used(const struct recent *r)
{
    uint32_t used = r->cap;

    while (used > 0 && r->count[used - 1] == 0)
        used--;
    return used;
}

void recent_walk(struct recent *r, uint32_t shapes, struct tape *t)
{
    uint32_t used = recent_used(r);

    tape_max(t, &used, shapes, "shapes with a recent count");
    for (uint32_t i = 0; tape_more(t, i, used); i++) {
        if (tape_loads(t))
            vec_reserve(r->count, r->cap, i + 1);
        tape_u64(t, &r->count[i]);
    }
    tape_u64(t, &r->seen);
    tape_u64(t, &r->noted_at);
    tape_u64(t, &r->next_at);
    tape_u64(t, &r->period);
}

void recent_add(struct recent *r, uint32_t shape_id, uint32_t tasks)
{
    vec_reserve(r->count, r->cap, shape_id + 1);
    r->count[shape_id] += (uint64_t)tasks * RECENT_ONE;
    r->seen += tasks;
}

bool recent_is_due(const struct recent *r)
{
    return r->seen >= r->next_at && r->seen > r->noted_at;
}

void recent_fade(struct recent *r, uint64_t running_jobs, uint64_t settled_period)
{
    const uint64_t turnover = running_jobs * HALF_LIFE_RUNNING;
    const uint64_t half_life = turnover > HALF_LIFE_MIN ? turnover : HALF_LIFE_MIN;
    uint64_t part_q20 = (r->seen - r->noted_at) * LN2_Q20 / half_life;

    if (part_q20 > 1 << 19)
        part_q20 = 1 << 19;
    for (uint32_t i = 0; i < r->cap; i++)
        r->count[i] -=
            (r->count[i] >> 20) * part_q20 + ((r->count[i] % (1 << 20)) * part_q20 >> 20);
    r->noted_at = r->seen;
    r->period += r->period / 2 + (r->period == 1);
    if (r->period > settled_period)
        r->period = settled_period;
    r->next_at = r->seen + r->period;
}
