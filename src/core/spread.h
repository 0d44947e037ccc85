/* SPDX-License-Identifier: Apache-2.0 */
/* spread.h - how many tasks of a gang each node takes, so that they are near each other.
 *
 * Pure: given how many tasks each node of the tree (levels.h) could take, it says how many it does
 * take. The lowest slot that holds all is chosen: a node, a domain of the finest level, and so on
 * up to the level that is required, or the whole cluster. Among slots of one depth it is the one
 * with the least room that is enough; then the one with fewer gangs that cross uplinks inside it;
 * then the first of the tree. Inside, the fewest children that hold the tasks are used: the largest
 * whole, and the rest where it fits best.
 *
 * Tasks may come in groups that do not part at a level: then a domain of this level takes a
 * multiple of the group, and what is left of its room counts for nothing. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "core/levels.h"

struct spread {
    const struct levels *levels; /* its tree is up to date */
    const uint32_t *room;        /* [node_count] tasks that each node of the tree could take */
    uint32_t *takes;             /* [node_count] tasks that it takes; out */
    uint32_t within;             /* depth of the slot that holds all, 0 = the whole cluster */
    uint32_t group;              /* depth at which groups do not part; 0 = there are none */
    uint32_t group_size;         /* tasks, at least 1; 1 without groups */
};

/* A slot of the tree with room for a gang. */
struct spread_slot {
    uint32_t first, count; /* of levels.nodes */
    uint32_t depth;
    uint64_t room; /* tasks */
    uint64_t load; /* gangs that cross uplinks inside it */
};

/* Tasks that these nodes, all of one slot at this depth, could take. O(count) */
uint64_t spread_room(const struct spread *s, uint32_t first, uint32_t count, uint32_t depth);

/* The slots of this depth among these nodes that have room for `tasks`, best first; the caller
 * frees *out. O(nodes + found * log found) */
uint32_t spread_slots(const struct spread *s, uint32_t first, uint32_t count, uint32_t depth,
                      uint64_t tasks, struct spread_slot **out);

/* The tasks go to these nodes, which have room for them: written into `takes` of these nodes, the
 * others of them get 0. O(nodes * depth, sorted) */
void spread_over(const struct spread *s, const struct spread_slot *slot, uint32_t tasks);
