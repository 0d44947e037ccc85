/* SPDX-License-Identifier: Apache-2.0 */
/* nodes.h - the table of nodes and the books of what is held on each.
 *
 * held = used + releasing: a task holds its share from the start decision until an event says that
 * it has left. free = capacity - held, and 0 where a GPU is lost, nobody may join those on it, or
 * more is held than there is (a deficit, after a node shrank or took other GPUs than it was told).
 * Rows are reused; `order` is not: it is the order of joining, which breaks all ties. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "core/links.h"
#include "core/node.h"

struct tape;

#define NODE_KINDS 64u /* kinds of GPU tasks that are told apart, see state_view.kinds */

struct gpu_book {
    int32_t held_mgpu;
    int64_t held_bytes;
    struct sharers sharers;
    int64_t failures_until_us[FAILED_STARTS - 1]; /* till when its last failed starts count */
};

struct node {
    bool in_use;
    uint32_t name; /* name id */
    uint32_t class_id;
    uint32_t order;     /* 0 = the first node that ever joined */
    uint32_t state;     /* row of the index, ROW_NONE while not placeable */
    uint32_t gpu_first; /* row of its first GPU book */
    uint32_t gpu_room;  /* GPU books that it owns, >= the class's gpu_count */
    uint32_t first_task;
    uint64_t lost_mask;        /* GPUs that are not usable, */
    uint64_t quarantined_mask; /* and which of these because nothing started there */
    bool drained;              /* by an admin */
    bool silent, lost;         /* it is not heard; and that for so long that its tasks are lost */
    bool unlisted;   /* it was lost, and has not shown since that nothing of then is there */
    uint32_t strays; /* in its last listing */
    int64_t silent_since_us; /* 0 unless silent */
    int64_t flaps_until_us;  /* it was silent too often: no new work until then; 0 = it was not */
    int64_t silences_until_us[FLAP_SILENCES - 1]; /* till when its last silences count */
    uint32_t stuck; /* tasks on it that should be long gone, see overdue.h */
    bool deficit;   /* a report from outside made more held than there is, at some time */
    int64_t held_mcpu;
    int64_t held_memory_bytes;
    /* Links of the set of nodes in the same state (nodeset.h). */
    uint32_t set_child, set_next, set_prev;
};

struct nodes {
    struct links links; /* that classes refer to */
    struct node_class *classes;
    uint32_t *class_nodes; /* [class_count] nodes in use of each class */
    uint32_t class_count, class_cap, class_nodes_cap;
    uint32_t factor_most; /* compute_factor of all classes that ever were; follows from them */
    struct node *rows;
    uint32_t count, cap; /* rows, free ones included */
    uint32_t in_use;
    uint32_t joined;  /* nodes that ever joined */
    uint32_t changes; /* how often a node came, went or was described anew, from 1; in no digest */
    uint16_t *kinds;  /* [rows * NODE_KINDS] tasks of each kind, or NULL: nobody looks */
    bool sees_kinds;
    struct gpu_book *gpus;
    uint32_t gpu_count, gpu_cap;
};

void nodes_init(struct nodes *n, bool sees_kinds);
void nodes_done(struct nodes *n);
void nodes_copy(struct nodes *dst, const struct nodes *src);

/* The id of the class with these contents; a new one if there is none. O(classes). */
uint32_t nodes_class(struct nodes *n, const struct node_class *class);

/* A new row, or a free one, for a node of this class; nothing is held on it. */
uint32_t nodes_add(struct nodes *n, uint32_t name, uint32_t class_id);
void nodes_remove(struct nodes *n, uint32_t node);
/* The node is described anew; what is held stays held. */
void nodes_set_class(struct nodes *n, uint32_t node, uint32_t class_id);

static inline const struct node_class *nodes_class_of(const struct nodes *n, uint32_t node)
{
    return &n->classes[n->rows[node].class_id];
}

/* May new work be placed on it? */
static inline bool node_takes_work(const struct node *node)
{
    return node->in_use && !node->drained && !node->silent && !node->unlisted &&
           node->flaps_until_us == 0 && node->stuck == 0;
}

/* One more (sign 1) or one less (-1) task of this kind; and which kinds there are, as a mask. */
void nodes_count_kind(struct nodes *n, uint32_t node, uint32_t kind, int sign);
uint64_t nodes_kinds(const struct nodes *n, uint32_t node);

int64_t nodes_free_mcpu(const struct nodes *n, uint32_t node);
int64_t nodes_free_memory_bytes(const struct nodes *n, uint32_t node);
uint32_t nodes_gpu_free_mgpu(const struct nodes *n, uint32_t node, uint32_t gpu);
int64_t nodes_gpu_free_bytes(const struct nodes *n, uint32_t node, uint32_t gpu);
/* Of those that share it while compute is left; else, and where nobody does, COMPANY_TURNS. */
uint32_t nodes_gpu_company(const struct nodes *n, uint32_t node, uint32_t gpu);

/* Could one that needs this be put beside such sharers? There is compute and memory for it. */
static inline bool company_admits(uint32_t free_mgpu, uint32_t company, const struct need *need)
{
    return free_mgpu == GPU_MGPU || company == need->company;
}

/* Is there room on this GPU? */
bool nodes_gpu_has(const struct nodes *n, uint32_t node, uint32_t gpu, const struct need *need);

/* May these share a GPU of this class? */
bool sharers_may(const struct sharers *s, const struct node_class *class);

/* Loads into what nodes_init() left. The nodes are in no state and have no tasks yet, which is the
 * caller's to do; what is held on them is as told. names: how many name ids there are. */
void nodes_walk(struct nodes *n, uint32_t names, struct tape *t);
