/* SPDX-License-Identifier: Apache-2.0 */
/* fits.h - what each shape means on each class of nodes, worked out once for each pair. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "core/node.h"

struct nodes;

struct fit {
    bool ever; /* fits on an empty node of the class */
    struct need need;
};

struct fits {
    struct fit *table; /* [shape_cap * class_cap] */
    uint32_t *known;   /* [shape_cap] classes that are worked out for each shape */
    uint32_t shape_cap, class_cap;
};

void fits_init(struct fits *f);
void fits_done(struct fits *f);
void fits_copy(struct fits *dst, const struct fits *src);
/* All classes of one shape, by class id; valid until a shape or class is new. */
const struct fit *fits_row(struct fits *f, const struct shapes *s, const struct nodes *n,
                           uint32_t shape_id);
const struct fit *fits_get(struct fits *f, const struct shapes *s, const struct nodes *n,
                           uint32_t shape_id, uint32_t class_id);
