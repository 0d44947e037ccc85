/* SPDX-License-Identifier: Apache-2.0 */
/* nodeset.h - the nodes of one state, of which only the one that joined first is ever asked for.
 *
 * A pairing heap by node order, linked through the node table, so that a set costs no memory of
 * its own: `root` is its first node, or ROW_NONE. Add is O(1), remove O(log n) amortised. */
#pragma once
#include <stdint.h>

struct node;

uint32_t nodeset_add(struct node *nodes, uint32_t root, uint32_t node);    /* the new root */
uint32_t nodeset_remove(struct node *nodes, uint32_t root, uint32_t node); /* the new root */
