/* SPDX-License-Identifier: Apache-2.0 */
/* nodes.c - the table of nodes. */
#include "core/nodes.h"

#include <string.h>

#include "base/check.h"
#include "base/digest.h"
#include "base/mem.h"
#include "base/vec.h"
#include "core/job.h"

void nodes_init(struct nodes *n, bool sees_kinds)
{
    memset(n, 0, sizeof *n);
    n->sees_kinds = sees_kinds;
}

void nodes_done(struct nodes *n)
{
    mem_free(n->classes);
    mem_free(n->class_nodes);
    mem_free(n->rows);
    mem_free(n->gpus);
    mem_free(n->kinds);
    memset(n, 0, sizeof *n);
}

void nodes_copy(struct nodes *dst, const struct nodes *src)
{
    *dst = *src;
    dst->classes = mem_copy(src->classes, src->class_count, sizeof *src->classes);
    dst->class_nodes = mem_copy(src->class_nodes, src->class_count, sizeof *src->class_nodes);
    dst->rows = mem_copy(src->rows, src->cap, sizeof *src->rows);
    dst->gpus = mem_copy(src->gpus, src->gpu_count, sizeof *src->gpus);
    if (src->sees_kinds)
        dst->kinds = mem_copy(src->kinds, (size_t)src->cap * NODE_KINDS, sizeof *src->kinds);
    dst->class_cap = dst->class_nodes_cap = src->class_count;
    dst->gpu_cap = src->gpu_count;
}

static bool same_class(const struct node_class *a, const struct node_class *b)
{
    return a->model == b->model && a->gpu_count == b->gpu_count &&
           a->gpu_memory_bytes == b->gpu_memory_bytes && a->cpu_mcpu == b->cpu_mcpu &&
           a->memory_bytes == b->memory_bytes && a->label_count == b->label_count &&
           memcmp(a->labels, b->labels, a->label_count * sizeof *a->labels) == 0;
}

uint32_t nodes_class(struct nodes *n, const struct node_class *class)
{
    for (uint32_t i = 0; i < n->class_count; i++)
        if (same_class(&n->classes[i], class))
            return i;
    vec_reserve(n->classes, n->class_cap, n->class_count + 1);
    vec_reserve(n->class_nodes, n->class_nodes_cap, n->class_count + 1);
    n->classes[n->class_count] = *class;
    n->class_nodes[n->class_count] = 0;
    return n->class_count++;
}

static uint32_t free_row(struct nodes *n)
{
    if (n->in_use < n->count)
        for (uint32_t i = 0; i < n->count; i++)
            if (!n->rows[i].in_use)
                return i;
    const uint32_t cap = n->cap;

    vec_reserve(n->rows, n->cap, n->count + 1);
    if (n->sees_kinds && n->cap > cap)
        n->kinds = mem_resize(n->kinds, (size_t)cap * NODE_KINDS, (size_t)n->cap * NODE_KINDS,
                              sizeof *n->kinds);
    return n->count++;
}

/* Room for the books of so many GPUs; a node that grows gets a new block. */
static void books_reserve(struct nodes *n, struct node *row, uint32_t gpus)
{
    uint32_t first = n->gpu_count;

    if (gpus <= row->gpu_room)
        return;
    vec_reserve(n->gpus, n->gpu_cap, n->gpu_count + gpus);
    memset(&n->gpus[first], 0, gpus * sizeof *n->gpus);
    for (uint32_t i = 0; i < row->gpu_room; i++)
        n->gpus[first + i] = n->gpus[row->gpu_first + i];
    n->gpu_count += gpus;
    row->gpu_first = first;
    row->gpu_room = gpus;
}

uint32_t nodes_add(struct nodes *n, uint32_t name, uint32_t class_id)
{
    const uint32_t id = free_row(n);
    struct node *row = &n->rows[id];

    books_reserve(n, row, n->classes[class_id].gpu_count);
    *row = (struct node){
        .in_use = true,
        .name = name,
        .class_id = class_id,
        .order = n->joined++,
        .state = ROW_NONE,
        .gpu_first = row->gpu_first,
        .gpu_room = row->gpu_room,
        .first_task = ROW_NONE,
        .set_child = ROW_NONE,
        .set_next = ROW_NONE,
        .set_prev = ROW_NONE,
    };
    n->in_use++;
    n->class_nodes[class_id]++;
    return id;
}

void nodes_remove(struct nodes *n, uint32_t node)
{
    struct node *row = &n->rows[node];

    check(row->in_use && row->state == ROW_NONE && row->first_task == ROW_NONE);
    check(row->held_mcpu == 0 && row->held_memory_bytes == 0);
    row->in_use = false;
    row->lost_mask = 0;
    n->in_use--;
    n->class_nodes[row->class_id]--;
}

void nodes_set_class(struct nodes *n, uint32_t node, uint32_t class_id)
{
    struct node *row = &n->rows[node];

    n->class_nodes[row->class_id]--;
    n->class_nodes[class_id]++;
    books_reserve(n, row, n->classes[class_id].gpu_count);
    row->class_id = class_id;
}

void nodes_count_kind(struct nodes *n, uint32_t node, uint32_t kind, int sign)
{
    uint16_t *count;

    if (!n->sees_kinds)
        return;
    count = &n->kinds[(size_t)node * NODE_KINDS + kind];
    *count = (uint16_t)(*count + sign);
}

uint64_t nodes_kinds(const struct nodes *n, uint32_t node)
{
    uint64_t kinds = 0;

    for (uint32_t k = 0; n->sees_kinds && k < NODE_KINDS; k++)
        kinds |= (uint64_t)(n->kinds[(size_t)node * NODE_KINDS + k] > 0) << k;
    return kinds;
}

int64_t nodes_free_mcpu(const struct nodes *n, uint32_t node)
{
    const int64_t left = nodes_class_of(n, node)->cpu_mcpu - n->rows[node].held_mcpu;

    return left > 0 ? left : 0;
}

int64_t nodes_free_memory_bytes(const struct nodes *n, uint32_t node)
{
    const int64_t left = nodes_class_of(n, node)->memory_bytes - n->rows[node].held_memory_bytes;

    return left > 0 ? left : 0;
}

uint32_t nodes_gpu_free_mgpu(const struct nodes *n, uint32_t node, uint32_t gpu)
{
    const struct node *row = &n->rows[node];
    const int32_t held = n->gpus[row->gpu_first + gpu].held_mgpu;

    if ((row->lost_mask >> gpu & 1) || held >= GPU_MGPU)
        return 0;
    return (uint32_t)(GPU_MGPU - held);
}

int64_t nodes_gpu_free_bytes(const struct nodes *n, uint32_t node, uint32_t gpu)
{
    const struct node *row = &n->rows[node];
    const int64_t left =
        n->classes[row->class_id].gpu_memory_bytes - n->gpus[row->gpu_first + gpu].held_bytes;

    return (row->lost_mask >> gpu & 1) || left < 0 ? 0 : left;
}

static void digest_class(struct digest *d, const struct node_class *class)
{
    digest_u32(d, class->model);
    digest_u32(d, class->gpu_count);
    digest_i64(d, class->gpu_memory_bytes);
    digest_i64(d, class->cpu_mcpu);
    digest_i64(d, class->memory_bytes);
    digest_u32(d, class->label_count);
    for (uint32_t i = 0; i < class->label_count; i++)
        digest_u32(d, class->labels[i]);
}

static void digest_node(struct digest *d, const struct nodes *n, const struct node *row)
{
    digest_u32(d, row->in_use);
    if (!row->in_use)
        return;
    digest_u32(d, row->name);
    digest_u32(d, row->class_id);
    digest_u32(d, row->order);
    digest_u64(d, row->lost_mask);
    digest_u32(d, row->deficit);
    digest_i64(d, row->held_mcpu);
    digest_i64(d, row->held_memory_bytes);
    for (uint32_t i = 0; i < n->classes[row->class_id].gpu_count; i++) {
        digest_i64(d, n->gpus[row->gpu_first + i].held_mgpu);
        digest_i64(d, n->gpus[row->gpu_first + i].held_bytes);
    }
}

void nodes_digest(const struct nodes *n, struct digest *d)
{
    digest_u32(d, n->class_count);
    for (uint32_t i = 0; i < n->class_count; i++) {
        digest_class(d, &n->classes[i]);
        digest_u32(d, n->class_nodes[i]);
    }
    digest_u32(d, n->joined);
    digest_u32(d, n->count);
    for (uint32_t i = 0; i < n->count; i++)
        digest_node(d, n, &n->rows[i]);
}
