/* SPDX-License-Identifier: Apache-2.0 */
/* tables.h - the small tables that stand beside traces: restart costs, run times by layout, node
 * counts of virtual clusters, and results that others published. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "core/limits.h"
#include "wire/arena.h"

struct err;

#define TABLE_ROWS_MAX (1u << 20)

/* ---- num_gpu,model_name,overhead_s ------------------------------------------------------------
 */

struct restart_costs {
    struct map cost_us_by_key; /* (model name id, GPUs) -> row of costs_us */
    int64_t *costs_us;         /* [count] */
    uint32_t count, cap;
    struct arena arena;
};

/* 0 and *out filled, or a negative errno and *out needs no _done(); so for all of this file. */
int restart_costs_load(const char *path, struct restart_costs *out, struct err *err);
void restart_costs_done(struct restart_costs *costs);
/* The cost of a restart of this model on so many GPUs, or -1 when the table does not say. */
int64_t restart_costs_find_us(const struct restart_costs *costs, uint32_t gpus,
                              const char *model_name);

/* ---- application,num_replicas,batch_size,placement_gpus_per_node,num_nodes,runtime_s -----------
 */

struct runtime {
    const char *application;
    uint32_t replicas; /* GPUs */
    uint32_t batch_size;
    const uint32_t *gpus_per_node; /* [node_count] not increasing; their sum is replicas */
    uint32_t node_count;
    int64_t runtime_us; /* when the job stays on that placement */
};

struct runtimes {
    struct runtime *rows; /* [count] sorted by application, replicas, batch_size; else as read */
    uint32_t count, cap;
    struct arena arena;
};

int runtimes_load(const char *path, struct runtimes *out, struct err *err);
void runtimes_done(struct runtimes *runtimes);
/* The [*out_count] rows of one kind of job, or NULL and 0. */
const struct runtime *runtimes_find(const struct runtimes *runtimes, const char *application,
                                    uint32_t replicas, uint32_t batch_size, uint32_t *out_count);

/* ---- vc,nodes_8gpu: how many 8-GPU nodes each virtual cluster has ------------------------------
 */

struct vc_nodes {
    struct vc_node_count {
        const char *vc;
        uint32_t nodes;
    } * rows; /* [count] in the order of the file; each vc once */
    uint32_t count, cap;
    struct arena arena;
};

int vc_nodes_load(const char *path, struct vc_nodes *out, struct err *err);
void vc_nodes_done(struct vc_nodes *vcs);

/* ---- trace,policy,metric,value: published results ----------------------------------------------
 */

/* Scans the file for the first row of (trace, policy, metric). Returns 1 and the value in
 * millionths, 0 if there is no such row, or a negative errno. More than six decimals are cut. */
int published_find(const char *path, const char *trace, const char *policy, const char *metric,
                   int64_t *out_micro, struct err *err);

/* The same tables from memory, for tests and fuzzers. */
int restart_costs_parse(const char *name, const void *bytes, size_t count,
                        struct restart_costs *out, struct err *err);
int runtimes_parse(const char *name, const void *bytes, size_t count, struct runtimes *out,
                   struct err *err);
int vc_nodes_parse(const char *name, const void *bytes, size_t count, struct vc_nodes *out,
                   struct err *err);
