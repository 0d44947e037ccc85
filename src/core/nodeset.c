/* SPDX-License-Identifier: Apache-2.0 */
/* nodeset.c - a pairing heap by node order, linked through the node table. */
#include "core/nodeset.h"

#include "core/job.h"
#include "core/nodes.h"

/* Both are roots without siblings. */
static uint32_t meld(struct node *nodes, uint32_t a, uint32_t b)
{
    if (a == ROW_NONE)
        return b;
    if (b == ROW_NONE)
        return a;
    if (nodes[b].order < nodes[a].order) {
        const uint32_t swap = a;

        a = b;
        b = swap;
    }
    nodes[b].set_prev = a; /* of a first child: its parent */
    nodes[b].set_next = nodes[a].set_child;
    if (nodes[b].set_next != ROW_NONE)
        nodes[nodes[b].set_next].set_prev = b;
    nodes[a].set_child = b;
    return a;
}

static uint32_t detach(struct node *nodes, uint32_t node)
{
    const uint32_t next = nodes[node].set_next;

    nodes[node].set_next = nodes[node].set_prev = ROW_NONE;
    return next;
}

/* Melds a list of siblings in pairs, left to right, then the pairs right to left. */
static uint32_t meld_list(struct node *nodes, uint32_t first)
{
    uint32_t pairs = ROW_NONE, root = ROW_NONE;

    while (first != ROW_NONE) {
        const uint32_t a = first, b = detach(nodes, a);

        first = b == ROW_NONE ? ROW_NONE : detach(nodes, b);
        const uint32_t pair = meld(nodes, a, b);
        nodes[pair].set_next = pairs;
        pairs = pair;
    }
    while (pairs != ROW_NONE) {
        const uint32_t pair = pairs;

        pairs = detach(nodes, pair);
        root = meld(nodes, root, pair);
    }
    return root;
}

uint32_t nodeset_add(struct node *nodes, uint32_t root, uint32_t node)
{
    nodes[node].set_child = nodes[node].set_next = nodes[node].set_prev = ROW_NONE;
    return meld(nodes, root, node);
}

/* Takes a node that is not the root out of its parent's list of children. */
static void cut(struct node *nodes, uint32_t node)
{
    const uint32_t prev = nodes[node].set_prev, next = nodes[node].set_next;

    if (nodes[prev].set_child == node)
        nodes[prev].set_child = next;
    else
        nodes[prev].set_next = next;
    if (next != ROW_NONE)
        nodes[next].set_prev = prev;
    nodes[node].set_next = nodes[node].set_prev = ROW_NONE;
}

uint32_t nodeset_remove(struct node *nodes, uint32_t root, uint32_t node)
{
    if (node != root)
        cut(nodes, node);
    const uint32_t below = meld_list(nodes, nodes[node].set_child);

    nodes[node].set_child = ROW_NONE;
    return node == root ? below : meld(nodes, root, below);
}
