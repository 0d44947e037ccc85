/* SPDX-License-Identifier: Apache-2.0 */
/* links.c - the table of how GPUs inside a node are wired. */
#include "core/links.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/tape.h"
#include "base/vec.h"

void links_init(struct links *l)
{
    memset(l, 0, sizeof *l);
}

void links_done(struct links *l)
{
    mem_free(l->rows);
    mem_free(l->mbps);
    memset(l, 0, sizeof *l);
}

void links_copy(struct links *dst, const struct links *src)
{
    *dst = *src;
    dst->rows = mem_copy(src->rows, src->cap, sizeof *src->rows);
    dst->mbps = mem_copy(src->mbps, src->mbps_cap, sizeof *src->mbps);
}

uint32_t links_find(const struct links *l, uint32_t gpus, const uint32_t *mbps)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (l->rows[i].gpus == gpus &&
            memcmp(l->mbps + l->rows[i].first, mbps, links_pairs(gpus) * sizeof *mbps) == 0)
            return i + 1;
    return LINKS_UNKNOWN;
}

uint32_t links_intern(struct links *l, uint32_t gpus, const uint32_t *mbps)
{
    const uint32_t found = links_find(l, gpus, mbps), pairs = links_pairs(gpus);
    struct links_row row = {.gpus = gpus, .first = l->mbps_count};

    if (found != LINKS_UNKNOWN)
        return found;
    check(gpus >= 2 && gpus <= NODE_GPUS_MAX && l->count < LINKS_MAX);
    vec_reserve(l->mbps, l->mbps_cap, l->mbps_count + pairs);
    memcpy(l->mbps + l->mbps_count, mbps, pairs * sizeof *mbps);
    l->mbps_count += pairs;
    vec_push(l->rows, l->count, l->cap, row);
    return l->count;
}

/* Fills mbps, or names what is there. */
static void row_walk(uint32_t *gpus, uint32_t *mbps, struct tape *t)
{
    tape_max(t, gpus, NODE_GPUS_MAX, "GPUs of a row of links");
    if (tape_loads(t) && !t->failed && *gpus < 2)
        tape_fail(t, "a row of links: is of fewer than 2 GPUs");
    for (uint32_t i = 0; !t->failed && i < links_pairs(*gpus); i++)
        tape_max(t, &mbps[i], LINK_MBPS_MAX, "MB/s of a link");
}

void links_walk(struct links *l, struct tape *t)
{
    uint32_t count = l->count, loaded[LINKS_PAIRS_MAX], gpus;

    if (tape_digests(t) && count == 0)
        return;
    tape_count(t, &count, "rows of links");
    if (tape_loads(t) && count > LINKS_MAX)
        tape_fail(t, "%u rows of links: at most %u", count, LINKS_MAX);
    for (uint32_t i = 0; tape_more(t, i, count); i++) {
        gpus = tape_loads(t) ? 0 : l->rows[i].gpus;
        row_walk(&gpus, tape_loads(t) ? loaded : l->mbps + l->rows[i].first, t);
        if (tape_loads(t) && !t->failed && links_intern(l, gpus, loaded) != i + 1)
            tape_fail(t, "row %u of links is there twice", i);
    }
}
