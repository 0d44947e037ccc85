/* SPDX-License-Identifier: Apache-2.0 */
/* levels.h - the network between nodes: named levels, coarse to fine, and the tree of domains.
 *
 * A node is in that domain of a level that its label of the level's name says: `leaf=l3` of level
 * leaf. Two nodes are in one domain if they have the same label at this level and at all coarser
 * ones, so that racks of two zones may have one name. A node without the label is outside the
 * level.
 *
 * The levels are facts. The tree follows from them and the nodes: it is made when it is asked for,
 * and again when nodes have come, gone or been described anew. So a cluster where nobody asks pays
 * nothing. In the tree a node has a slot at each depth: 0 is the root, d is level d - 1, and below
 * the last level each node is its own. Where a node lacks a label it is in a slot that is no
 * domain, together with the others that lack it there. All nodes of a slot follow each other. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "core/limits.h"

struct core;
struct tape;

struct level {
    uint32_t name;           /* name id; also the key of its label */
    int64_t bandwidth_bytes; /* each second, of one node to others of its domain; 0 = unknown */
    int64_t uplink_bytes;    /* each second, of a whole domain to others; 0 = unknown */
};

/* Nodes [first, first + count) of the tree; a domain, unless is_domain is false. */
struct slot {
    uint32_t first, count;
    uint32_t crossing; /* gangs with tasks in it and outside it: they share its uplink */
    bool is_domain;
};

/* What the best placement of a layout costs (slowdown.h): two halves of 128 bits, high first. */
struct level_best {
    uint64_t all_reduce[2], all_to_all[2];
};

struct levels {
    struct level rows[LEVELS_MAX]; /* [count] coarse to fine */
    uint32_t count;

    /* what follows; in no digest */
    uint32_t built_at; /* nodes.changes when the tree was made, 0 = never */
    uint32_t *nodes;   /* [node_count] rows of nodes, in the order of the tree */
    uint32_t node_count;
    uint32_t *at; /* [at_count] by row of a node: where it is in `nodes`, ROW_NONE */
    uint32_t at_count;
    uint32_t *paths;    /* [node_count * count] rows of slots, coarse to fine */
    struct slot *slots; /* [slot_count] those that a node joined first come first */
    uint32_t slot_count, slot_cap;
    struct map best_rows; /* layout and tasks -> row of `best` */
    struct level_best *best;
    uint32_t best_count, best_cap;
    uint8_t *counted; /* [counted_count] by row of a job, enum counted */
    uint32_t *moved;  /* [moved_count] rows of the jobs to be counted anew */
    uint32_t counted_count, moved_count, moved_cap;
};

void levels_init(struct levels *l);
void levels_done(struct levels *l);
/* The levels alone; the tree is made anew. */
void levels_copy(struct levels *dst, const struct levels *src);
void levels_walk(struct levels *l, uint32_t names, struct tape *t);

/* Its index, coarse to fine, or LEVEL_NONE (shape.h). */
uint32_t levels_find(const struct levels *l, uint32_t name);

/* The tree is as the nodes are now. O(1), or O(nodes * (labels + log nodes)) when they changed. */
void levels_sync(struct core *core);
/* The levels are others: the tree is made anew when it is asked for. */
void levels_changed(struct levels *l);

/* Gangs that cross uplinks are counted. O(tasks * levels) of the jobs whose tasks came or left
 * since, or of all that run when the tree was made anew. */
void levels_load_sync(struct core *core);
/* A task of the job comes to its node, or is about to leave it. O(1), or O(its tasks * levels) for
 * the first since it was counted. */
void levels_task_moves(struct core *core, uint32_t job);

/* For the rules: is what was counted what stands there? O(tasks * levels) */
bool levels_counted_right(const struct core *core);

/* The slot of the i-th node of the tree at this depth, 1..count. */
static inline uint32_t levels_slot(const struct levels *l, uint32_t i, uint32_t depth)
{
    return l->paths[(uint64_t)i * l->count + depth - 1];
}

/* The label of a node of this class at a level, as a name id, or LEVEL_NONE. O(labels) */
uint32_t levels_label(const struct core *core, uint32_t class_id, uint32_t level);

/* Are these nodes in one domain of this level? Of the labels alone. O(labels * levels) */
bool levels_share_domain(const struct core *core, uint32_t node, uint32_t other, uint32_t level);

/* Would the node be at another place of the tree, if it had these labels? */
bool levels_moves(const struct core *core, uint32_t node, const char *const *labels,
                  uint32_t count);
