/* SPDX-License-Identifier: Apache-2.0 */
/* partition.c - each queue of a trace alone on nodes of its own. */
#include "sim/partition.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "wire/tables.h"
#include "wire/trace.h"

#define NAME_MAX_BYTES 300

static uint32_t queue_row(const struct partition *p, const char *queue)
{
    for (uint32_t i = 0; i < p->queue_count; i++)
        if (strcmp(p->queues[i], queue) == 0)
            return i;
    return UINT32_MAX;
}

const char *const *partition_label(const struct partition *p, const char *queue)
{
    const uint32_t row = queue_row(p, queue);

    return row != UINT32_MAX ? &p->labels[row] : NULL;
}

static void list_queues(struct partition *p, const struct trace *trace)
{
    for (uint32_t i = 0; i < trace->job_count; i++) {
        const char *queue = trace->jobs[i].queue;
        char text[NAME_MAX_BYTES];

        if (queue_row(p, queue) != UINT32_MAX)
            continue;
        snprintf(text, sizeof text, "queue=%s", queue);
        vec_reserve(p->queues, p->queue_cap, p->queue_count + 1);
        vec_reserve(p->labels, p->label_cap, p->queue_count + 1);
        p->queues[p->queue_count] = queue;
        p->labels[p->queue_count++] = arena_intern(&p->cluster.arena, text);
    }
}

static uint32_t largest_gang_nodes(const struct trace *trace, const char *queue)
{
    uint32_t gpus = 1;

    for (uint32_t i = 0; i < trace->job_count; i++)
        if (strcmp(trace->jobs[i].queue, queue) == 0 && trace->jobs[i].gpus > gpus)
            gpus = trace->jobs[i].gpus;
    return (gpus + PARTITION_NODE_GPUS - 1) / PARTITION_NODE_GPUS;
}

static uint32_t nodes_of(const struct partition *p, const struct vc_nodes *table,
                         uint32_t share_pct, const struct trace *trace, uint32_t row)
{
    const uint32_t least = largest_gang_nodes(trace, p->queues[row]);
    uint64_t nodes = 0;

    for (uint32_t i = 0; i < table->count; i++)
        if (strcmp(table->rows[i].vc, p->queues[row]) == 0)
            nodes = ((uint64_t)table->rows[i].nodes * share_pct + 50) / 100;
    return nodes > least ? (uint32_t)nodes : least;
}

/* Of jobs that name no queue. */
#define NO_QUEUE "no-queue"

static void add_nodes(struct partition *p, uint32_t row, uint32_t count)
{
    const char *queue = p->queues[row][0] != '\0' ? p->queues[row] : NO_QUEUE;
    struct cluster *c = &p->cluster;

    for (uint32_t i = 0; i < count; i++) {
        char name[NAME_MAX_BYTES];

        snprintf(name, sizeof name, "%s-%u", queue, i);
        vec_reserve(c->nodes, c->node_cap, c->node_count + 1);
        c->nodes[c->node_count++] = (struct node_spec){
            .name = arena_intern(&c->arena, name),
            .model = CLUSTER_MODEL_DEFAULT,
            .gpus = PARTITION_NODE_GPUS,
            .cpu_mcpu = CLUSTER_SHORT_CPUS * 1000LL,
            .memory_bytes = CLUSTER_SHORT_MEMORY_BYTES,
            .labels = &p->labels[row],
            .label_count = 1,
        };
        c->gpu_count += PARTITION_NODE_GPUS;
    }
}

int partition_make(struct partition *p, const char *vc_path, uint32_t share_pct,
                   const struct trace *trace, struct err *err)
{
    struct vc_nodes table;
    const int rc = vc_nodes_load(vc_path, &table, err);

    memset(p, 0, sizeof *p);
    if (rc < 0)
        return rc;
    arena_init(&p->cluster.arena);
    list_queues(p, trace);
    for (uint32_t row = 0; row < p->queue_count; row++)
        add_nodes(p, row, nodes_of(p, &table, share_pct, trace, row));
    vc_nodes_done(&table);
    return 0;
}

void partition_done(struct partition *p)
{
    cluster_done(&p->cluster);
    mem_free(p->queues);
    mem_free(p->labels);
    memset(p, 0, sizeof *p);
}
