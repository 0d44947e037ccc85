/* SPDX-License-Identifier: Apache-2.0 */
/* links.h - how fast the GPUs of a node reach each other, one row for all nodes wired alike.
 *
 * A row is one number for each pair of GPUs: MB/s (10^6 bytes) in one direction, 0 where there is
 * no way. Equal rows are one row, so that nodes built alike stay of one class. A node of which
 * nothing is known has no row; then every set of its GPUs is as good as any other. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "core/limits.h"

struct tape;

#define LINKS_UNKNOWN   0u /* instead of the id of a row */
#define LINKS_PAIRS_MAX (NODE_GPUS_MAX * (NODE_GPUS_MAX - 1) / 2)

/* Numbers of a row: pairs (0,1) (0,2) (1,2) (0,3) ..., each GPU with those before it. */
static inline uint32_t links_pairs(uint32_t gpus)
{
    return gpus * (gpus - 1) / 2;
}

/* Where the pair stands; a and b differ. */
static inline uint32_t links_at(uint32_t a, uint32_t b)
{
    return a < b ? links_pairs(b) + a : links_pairs(a) + b;
}

struct links_row {
    uint32_t gpus;  /* 2..NODE_GPUS_MAX */
    uint32_t first; /* of its numbers in links.mbps */
};

struct links {
    struct links_row *rows; /* [count] the row of id 1 is the first */
    uint32_t count, cap;
    uint32_t *mbps; /* [mbps_count] 0..LINK_MBPS_MAX */
    uint32_t mbps_count, mbps_cap;
};

void links_init(struct links *l);
void links_done(struct links *l);
void links_copy(struct links *dst, const struct links *src);

/* The id of the row with these [links_pairs(gpus)] numbers, or LINKS_UNKNOWN. O(rows). */
uint32_t links_find(const struct links *l, uint32_t gpus, const uint32_t *mbps);
/* The same; a new row if there is none. gpus is 2 or more. */
uint32_t links_intern(struct links *l, uint32_t gpus, const uint32_t *mbps);

/* GPUs and numbers of a row that exists; valid until a row is new. */
static inline uint32_t links_gpus(const struct links *l, uint32_t id)
{
    return l->rows[id - 1].gpus;
}
static inline const uint32_t *links_mbps(const struct links *l, uint32_t id)
{
    return l->mbps + l->rows[id - 1].first;
}

/* Loads into what links_init() left. A digest of no rows is as if there was no such table. */
void links_walk(struct links *l, struct tape *t);
