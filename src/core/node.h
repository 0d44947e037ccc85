/* SPDX-License-Identifier: Apache-2.0 */
/* node.h - nodes, the classes of nodes that are built alike, and what is free on each.
 *
 * A node's books are exact integers: capacity, used, releasing (told to stop, still holding) and
 * lost, per GPU and for CPU and memory; free is what is left. Only ledger.c changes them. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "core/limits.h"
#include "core/modes.h"
#include "core/shape.h"

/* Nodes with the same capacity, model, labels, links and modes. */
struct node_class {
    uint32_t model;           /* name id of the GPU model; of "" without GPUs */
    uint32_t gpu_count;       /* 0..NODE_GPUS_MAX */
    int64_t gpu_memory_bytes; /* of each GPU; 0 = unknown, then only compute is shared out */
    int64_t cpu_mcpu;
    int64_t memory_bytes;
    uint32_t label_count;
    uint32_t labels[SELECTOR_TERMS_MAX]; /* name ids of "key=value", ascending */
    uint32_t links;        /* how its GPUs are wired: a row of links.h, or LINKS_UNKNOWN */
    uint32_t modes;        /* that its GPUs may be in, MODE_BITs */
    int64_t context_bytes; /* that a task takes of a GPU it shares, beside what it states */
    uint32_t
        compute_factor;   /* how often the compute of a shared GPU is given out, in thousandths */
    uint32_t mps_clients; /* of one GPU, 1..MPS_CLIENTS_MAX */
};

/* What a task needs of each GPU of a given class. */
struct need {
    uint32_t mgpu;        /* 1..1000; 1000 = the whole device */
    int64_t memory_bytes; /* 0 where the class does not know its GPUs' memory */
    enum gpu_mode mode;
    uint32_t company; /* that may be beside it, see modes.h */
};

/* The request of a shape on one GPU of a class. A share of f without stated bytes budgets
 * floor(f * memory), its context included; stated bytes have the context on top. Bytes without a
 * share take that part of the compute, rounded down but never to zero. Where compute is given out f
 * times, a part takes 1/f of what it asks for, rounded up; memory is given out once. A part is
 * under MPS where both the node and the task will have it, else in turns, else a whole device; that
 * also where it is too large beside its context. Returns false if no GPU of this class can ever
 * serve it.
 */
bool need_on(const struct shape *shape, const struct node_class *class, struct need *out);

/* What a task of this shape takes of a node of this class while it has these GPUs: an exclusive one
 * takes all there is. need: of need_on(). */
struct holding {
    int64_t mcpu, memory_bytes;
    uint64_t gpus; /* mask; of each of them `need` */
    struct need need;
};
struct holding holding_on(const struct shape *shape, const struct node_class *class,
                          const struct need *need, uint64_t gpu_mask);

/* May a task with this selector use nodes of this class? O(terms). */
bool selector_admits(const struct selector *selector, const struct node_class *class);
