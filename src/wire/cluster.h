/* SPDX-License-Identifier: Apache-2.0 */
/* cluster.h - which nodes there are: from a cluster file, or from a few characters.
 *
 *   YAML or JSON    nodes:
 *                     - {name: a, count: 8, model: A100, gpus: 8, gpu-memory: 80G,
 *                        cpus: 96, memory: 512G, labels: {rack: r1}, links: dgx-a100}
 *                   `count: 8` makes a-0 to a-7. Without `gpus` a node has none; cpus and memory
 *                   must be stated; gpu-memory is optional (then shares are by compute only);
 *                   links says how the GPUs are wired, see links_doc.h, and is optional
 *   openb CSV       sn,cpu_milli,memory_mib,gpu,model
 *   muri CSV        num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node
 *                   (memory in GB, read as GiB); nodes node-0, node-1, ... of model "gpu"
 *   short text      72x8 or 72x8:MODEL: 72 nodes of 8 GPUs, node-0 to node-71, model "gpu" unless
 *                   named. Each node has CLUSTER_SHORT_CPUS and CLUSTER_SHORT_MEMORY, which is
 *                   meant to be more than any job asks for. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "core/event.h"
#include "wire/arena.h"

struct err;

#define CLUSTER_NODES_MAX          (1u << 20)         /* of one file, after `count` is expanded */
#define CLUSTER_SHORT_CPUS         4096               /* of each node of a short text */
#define CLUSTER_SHORT_MEMORY_BYTES (INT64_C(1) << 46) /* 64 TiB */
#define CLUSTER_MODEL_DEFAULT      "gpu"

struct cluster {
    struct node_spec *nodes; /* [node_count] in the order of the file; names are unique */
    uint32_t node_count, node_cap;
    uint64_t gpu_count; /* of all nodes */
    struct arena arena; /* owns every text */
};

/* spec: a file, or a short text where no such file exists. Returns 0 and fills *out, or a negative
 * errno and *out needs no cluster_done(). */
int cluster_load(const char *spec, struct cluster *out, struct err *err);

/* From memory: name is what errors call it, and its ending tells YAML, .json and .csv apart. */
int cluster_parse(const char *name, const void *bytes, size_t count, struct cluster *out,
                  struct err *err);

void cluster_done(struct cluster *cluster); /* a zeroed cluster is fine */
