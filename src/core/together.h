/* SPDX-License-Identifier: Apache-2.0 */
/* together.h - a place for a gang whose tasks must, or should, be near each other.
 *
 * What levels and domains are is in levels.h; how the tasks go to the nodes of a domain, in
 * spread.h. Task numbers follow the tree: neighbours in a ring of ranks are neighbours in the
 * network. Everything is taken on trial. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "core/job.h"

struct core;
struct layout;

/* Nodes of the tree that a gang is to be on: a slot at `depth`. */
struct together_part {
    uint32_t first, count, depth;
};

/* Every task of this layout, or of one that may run with fewer as many as one domain holds, with
 * the task's index as slot. On false nothing is taken. part: only there, or NULL.
 * O(nodes * levels), and for each domain that was tried in vain, its nodes: with tasks that are not
 * alike, or a slowdown that is too large. */
bool together_place(struct core *core, const struct layout *layout,
                    const struct together_part *part, enum reason *out_reason);

/* More tasks of a RUNNING job: absent ones, up to `max`, in the domain where the others are, and as
 * near to the first of them as there is room. Returns how many. */
uint32_t together_grow(struct core *core, uint32_t job, uint32_t max);

/* Could the layout be placed if all nodes were empty? O(nodes * (levels + groups)) */
bool together_fits_empty(struct core *core, const struct layout *layout);

/* The same with so many tasks, all like those of the largest group: what each node of the tree
 * takes. takes: [levels.node_count], written if it is so. */
bool together_spread_empty(struct core *core, const struct layout *layout, uint32_t tasks,
                           uint32_t *takes);

/* The domains of the level that all tasks must share; all nodes if there is none. The caller frees
 * *out. */
uint32_t together_parts(struct core *core, const struct layout *layout, struct together_part **out);

/* Why no domain does: the most tasks of the layout's first group that one of them has room for now,
 * whole groups only. The layout names a level that is required. O(nodes * levels) */
struct together_lack {
    uint32_t level;   /* name id of the level that is in the way, LEVEL_NONE: there is none */
    bool groups;      /* only each group must share it, and `best` is of all nodes */
    uint32_t domains; /* of it */
    uint32_t best;    /* tasks */
};
void together_look(struct core *core, const struct layout *layout, struct together_lack *out);

/* Where tasks of this job stand, does it obey the levels that it must? O(tasks * levels * labels)
 */
bool together_obeyed(const struct core *core, const struct job *job);
