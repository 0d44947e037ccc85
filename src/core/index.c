/* SPDX-License-Identifier: Apache-2.0 */
/* index.c - interning of node states, and the ring of their changes. */
#include "core/index.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/vec.h"
#include "core/job.h"
#include "core/nodeset.h"

#define RING_MIN     4096u
#define RING_PER_ROW 4u /* reading a record is many times cheaper than judging a state */
#define HEADS_MIN    256u

/* The contents of a state while it is looked up. */
struct state_key {
    struct state state;
    uint16_t mgpu[NODE_GPUS_MAX];
    int64_t bytes[NODE_GPUS_MAX];
    uint32_t company[NODE_GPUS_MAX];
    uint32_t gpus;
};

void index_init(struct index *x, bool sees_kinds)
{
    memset(x, 0, sizeof *x);
    x->sees_kinds = sees_kinds;
    x->stride = 1; /* never 0, so that the arrays of amounts exist */
    x->free_first = ROW_NONE;
    x->head_count = HEADS_MIN;
    x->heads = mem_alloc(x->head_count, sizeof *x->heads);
    memset(x->heads, 0xff, x->head_count * sizeof *x->heads);
    x->ring_count = RING_MIN;
    x->ring = mem_alloc(x->ring_count, sizeof *x->ring);
    x->filters = mem_alloc(x->ring_count, sizeof *x->filters);
}

void index_done(struct index *x)
{
    mem_free(x->rows);
    mem_free(x->gpu_mgpu);
    mem_free(x->gpu_bytes);
    mem_free(x->gpu_company);
    mem_free(x->heads);
    mem_free(x->ring);
    mem_free(x->filters);
    memset(x, 0, sizeof *x);
}

void index_copy(struct index *dst, const struct index *src)
{
    *dst = *src;
    dst->rows = mem_copy(src->rows, src->cap, sizeof *src->rows);
    dst->gpu_mgpu = mem_copy(src->gpu_mgpu, (size_t)src->cap * src->stride, sizeof *src->gpu_mgpu);
    dst->gpu_bytes =
        mem_copy(src->gpu_bytes, (size_t)src->cap * src->stride, sizeof *src->gpu_bytes);
    dst->gpu_company =
        mem_copy(src->gpu_company, (size_t)src->cap * src->stride, sizeof *src->gpu_company);
    dst->heads = mem_copy(src->heads, src->head_count, sizeof *src->heads);
    dst->ring = mem_copy(src->ring, src->ring_count, sizeof *src->ring);
    dst->filters = mem_copy(src->filters, src->ring_count, sizeof *src->filters);
}

/* ---- the contents of a state ---- */

/* Ascending: by compute, then memory, then company. */
static bool is_above(const struct state_key *key, uint32_t at, uint32_t mgpu, int64_t bytes,
                     uint32_t company)
{
    if (key->mgpu[at] != mgpu)
        return key->mgpu[at] > mgpu;
    if (key->bytes[at] != bytes)
        return key->bytes[at] > bytes;
    return key->company[at] > company;
}

static void key_insert(struct state_key *key, uint32_t mgpu, int64_t bytes, uint32_t company)
{
    uint32_t at = key->gpus++;

    while (at > 0 && is_above(key, at - 1, mgpu, bytes, company)) {
        key->mgpu[at] = key->mgpu[at - 1];
        key->bytes[at] = key->bytes[at - 1];
        key->company[at] = key->company[at - 1];
        at--;
    }
    key->mgpu[at] = (uint16_t)mgpu;
    key->bytes[at] = bytes;
    key->company[at] = company;
}

static void key_of(const struct nodes *n, uint32_t node, uint64_t kinds, struct state_key *key)
{
    struct state *s = &key->state;

    memset(s, 0, sizeof *s);
    key->gpus = 0;
    s->class_id = n->rows[node].class_id;
    s->kinds = kinds;
    s->cpu_free_mcpu = nodes_free_mcpu(n, node);
    s->memory_free_bytes = nodes_free_memory_bytes(n, node);
    for (uint32_t i = 0; i < n->classes[s->class_id].gpu_count; i++) {
        const uint32_t mgpu = nodes_gpu_free_mgpu(n, node, i);
        const struct gpu_book *book = &n->gpus[n->rows[node].gpu_first + i];
        const uint32_t company =
            book->sharers.sum == 0 ? COMPANY_TURNS : nodes_gpu_company(n, node, i);

        key_insert(key, mgpu, nodes_gpu_free_bytes(n, node, i), company);
        s->companies = s->companies || company != COMPANY_TURNS;
        s->free_mgpu += mgpu;
        s->whole_free += mgpu == GPU_MGPU;
    }
    s->largest_mgpu = key->gpus > 0 ? key->mgpu[key->gpus - 1] : 0;
}

static uint64_t mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
}

static uint64_t key_hash(const struct state_key *key)
{
    const struct state *s = &key->state;
    uint64_t h = mix(s->class_id, (uint64_t)s->cpu_free_mcpu);

    h = mix(mix(h, (uint64_t)s->memory_free_bytes), s->kinds);
    for (uint32_t i = 0; i < key->gpus; i++)
        h = mix(h, key->mgpu[i] ^ (uint64_t)key->bytes[i] << 10 ^ (uint64_t)key->company[i] << 38);
    return h;
}

static bool key_is(const struct index *x, uint32_t row, const struct state_key *key)
{
    const struct state *a = &x->rows[row], *b = &key->state;
    const size_t at = (size_t)row * x->stride;

    return a->class_id == b->class_id && a->cpu_free_mcpu == b->cpu_free_mcpu &&
           a->memory_free_bytes == b->memory_free_bytes && a->kinds == b->kinds &&
           memcmp(&x->gpu_mgpu[at], key->mgpu, key->gpus * sizeof *key->mgpu) == 0 &&
           memcmp(&x->gpu_bytes[at], key->bytes, key->gpus * sizeof *key->bytes) == 0 &&
           a->companies == b->companies &&
           (!a->companies ||
            memcmp(&x->gpu_company[at], key->company, key->gpus * sizeof *key->company) == 0);
}

/* ---- rows ---- */

static uint32_t rounded_up(int64_t amount, uint32_t shift)
{
    const int64_t units = (amount >> shift) + ((amount & ((1LL << shift) - 1)) != 0);

    return units < UINT32_MAX ? (uint32_t)units : UINT32_MAX;
}

uint32_t filter_cpu(int64_t mcpu)
{
    return rounded_up(mcpu, FILTER_CPU_SHIFT);
}

uint32_t filter_memory(int64_t bytes)
{
    return rounded_up(bytes, FILTER_MEMORY_SHIFT);
}

/* What the ring says of this state is no longer true. */
static void unrecord(struct index *x, uint32_t row)
{
    const struct state *s = &x->rows[row];
    const uint64_t at = s->changed_at & (x->ring_count - 1);

    if (x->ring[at].state == row && x->ring[at].version == s->version)
        x->filters[at].live = 0;
}

void index_describe(const struct index *x, uint32_t state, struct change *out)
{
    const struct state *s = &x->rows[state];

    *out = (struct change){
        .state = state,
        .version = s->version,
        .largest_mgpu = (uint16_t)s->largest_mgpu,
        .whole_free = (uint16_t)s->whole_free,
        .class_id = s->class_id,
        .free_mgpu = s->free_mgpu,
        .order = s->order,
        .cpu_free_mcpu = s->cpu_free_mcpu,
        .memory_free_bytes = s->memory_free_bytes,
    };
}

static void record(struct index *x, uint32_t row)
{
    struct state *s = &x->rows[row];

    unrecord(x, row);
    s->changed_at = x->changes;
    s->version++;
    index_describe(x, row, &x->ring[x->changes & (x->ring_count - 1)]);
    x->filters[x->changes & (x->ring_count - 1)] = (struct filter){
        .cpu_free = filter_cpu(s->cpu_free_mcpu),
        .memory_free = filter_memory(s->memory_free_bytes),
        .largest_mgpu = (uint16_t)s->largest_mgpu,
        .whole_free = (uint16_t)s->whole_free,
        .live = 1,
    };
    x->changes++;
}

static void heads_grow(struct index *x)
{
    mem_free(x->heads);
    x->head_count *= 2;
    x->heads = mem_alloc(x->head_count, sizeof *x->heads);
    memset(x->heads, 0xff, x->head_count * sizeof *x->heads);
    for (uint32_t row = 0; row < x->count; row++) {
        if (x->rows[row].node_count == 0)
            continue;
        uint32_t *head = &x->heads[x->rows[row].hash & (x->head_count - 1)];

        x->rows[row].next = *head;
        *head = row;
    }
}

/* The ring keeps the last records when it moves; readers that are further behind start anew. */
static void ring_grow(struct index *x)
{
    const uint32_t count = x->ring_count * 2;
    struct change *ring = mem_alloc(count, sizeof *ring);
    struct filter *filters = mem_alloc(count, sizeof *filters);
    const uint64_t kept = x->changes < x->ring_count ? x->changes : x->ring_count;

    for (uint64_t i = x->changes - kept; i < x->changes; i++) {
        ring[i & (count - 1)] = x->ring[i & (x->ring_count - 1)];
        filters[i & (count - 1)] = x->filters[i & (x->ring_count - 1)];
    }
    mem_free(x->ring);
    mem_free(x->filters);
    x->ring = ring;
    x->filters = filters;
    x->ring_count = count;
}

static void rows_grow(struct index *x)
{
    const uint32_t cap = vec_grown(x->cap, x->count + 1);

    x->rows = mem_resize(x->rows, x->cap, cap, sizeof *x->rows);
    x->gpu_mgpu = mem_resize(x->gpu_mgpu, (size_t)x->cap * x->stride, (size_t)cap * x->stride,
                             sizeof *x->gpu_mgpu);
    x->gpu_bytes = mem_resize(x->gpu_bytes, (size_t)x->cap * x->stride, (size_t)cap * x->stride,
                              sizeof *x->gpu_bytes);
    x->gpu_company = mem_resize(x->gpu_company, (size_t)x->cap * x->stride, (size_t)cap * x->stride,
                                sizeof *x->gpu_company);
    x->cap = cap;
    while (x->ring_count < RING_PER_ROW * cap)
        ring_grow(x);
}

static uint32_t row_new(struct index *x)
{
    const uint32_t row = x->free_first;

    if (row != ROW_NONE) {
        x->free_first = x->rows[row].next;
        return row;
    }
    if (x->count == x->cap)
        rows_grow(x);
    return x->count++;
}

/* A node with more GPUs than any before: every row gets wider. */
static void stride_grow(struct index *x, uint32_t stride)
{
    uint16_t *mgpu = mem_alloc((size_t)x->cap * stride, sizeof *mgpu);
    int64_t *bytes = mem_alloc((size_t)x->cap * stride, sizeof *bytes);
    uint32_t *company = mem_alloc((size_t)x->cap * stride, sizeof *company);

    for (uint32_t row = 0; row < x->count && x->stride > 0; row++) {
        memcpy(&mgpu[(size_t)row * stride], &x->gpu_mgpu[(size_t)row * x->stride],
               x->stride * sizeof *mgpu);
        memcpy(&bytes[(size_t)row * stride], &x->gpu_bytes[(size_t)row * x->stride],
               x->stride * sizeof *bytes);
        memcpy(&company[(size_t)row * stride], &x->gpu_company[(size_t)row * x->stride],
               x->stride * sizeof *company);
    }
    mem_free(x->gpu_mgpu);
    mem_free(x->gpu_bytes);
    mem_free(x->gpu_company);
    x->gpu_company = company;
    x->gpu_mgpu = mgpu;
    x->gpu_bytes = bytes;
    x->stride = stride;
}

static uint32_t state_add(struct index *x, const struct state_key *key)
{
    const uint32_t row = row_new(x), version = x->rows[row].version;
    const size_t at = (size_t)row * x->stride;
    uint32_t *head;

    if (++x->live > x->head_count)
        heads_grow(x);
    head = &x->heads[key->state.hash & (x->head_count - 1)];
    x->rows[row] = key->state;
    x->rows[row].version = version;
    x->rows[row].first_node = ROW_NONE;
    x->rows[row].next = *head;
    *head = row;
    memcpy(&x->gpu_mgpu[at], key->mgpu, key->gpus * sizeof *key->mgpu);
    memcpy(&x->gpu_bytes[at], key->bytes, key->gpus * sizeof *key->bytes);
    memcpy(&x->gpu_company[at], key->company, key->gpus * sizeof *key->company);
    return row;
}

static void state_free(struct index *x, uint32_t row)
{
    uint32_t *link = &x->heads[x->rows[row].hash & (x->head_count - 1)];

    while (*link != row)
        link = &x->rows[*link].next;
    *link = x->rows[row].next;
    unrecord(x, row);
    x->rows[row].version++; /* what others keep of it is stale */
    x->rows[row].next = x->free_first;
    x->free_first = row;
    x->live--;
}

static uint32_t state_of(struct index *x, struct state_key *key)
{
    uint32_t row;

    if (key->gpus > x->stride)
        stride_grow(x, key->gpus);
    key->state.hash = key_hash(key);
    row = x->heads[key->state.hash & (x->head_count - 1)];
    for (; row != ROW_NONE; row = x->rows[row].next)
        if (x->rows[row].hash == key->state.hash && key_is(x, row, key))
            return row;
    return state_add(x, key);
}

/* ---- nodes move between states ---- */

static void enter(struct index *x, struct nodes *n, uint32_t node, uint32_t row)
{
    struct state *s = &x->rows[row];
    const uint32_t first = nodeset_add(n->rows, s->first_node, node);

    n->rows[node].state = row;
    s->node_count++;
    x->whole_free += s->whole_free;
    if (first != s->first_node) {
        s->first_node = first;
        s->order = n->rows[first].order;
        record(x, row);
    }
}

static void leave(struct index *x, struct nodes *n, uint32_t node)
{
    const uint32_t row = n->rows[node].state;
    struct state *s = &x->rows[row];
    const uint32_t first = nodeset_remove(n->rows, s->first_node, node);

    n->rows[node].state = ROW_NONE;
    s->node_count--;
    x->whole_free -= s->whole_free;
    if (s->node_count == 0) {
        s->first_node = ROW_NONE;
        state_free(x, row);
    } else if (first != s->first_node) {
        s->first_node = first;
        s->order = n->rows[first].order;
        record(x, row);
    }
}

void index_update(struct index *x, struct nodes *n, uint32_t node, uint64_t kinds)
{
    struct state_key key;
    uint32_t row;

    key_of(n, node, x->sees_kinds ? kinds : 0, &key);
    row = state_of(x, &key);
    if (row == n->rows[node].state)
        return;
    x->rows[row].node_count++; /* hold it: leaving may free the row that was found */
    if (n->rows[node].state != ROW_NONE)
        leave(x, n, node);
    x->rows[row].node_count--;
    enter(x, n, node, row);
}

void index_remove(struct index *x, struct nodes *n, uint32_t node)
{
    if (n->rows[node].state != ROW_NONE)
        leave(x, n, node);
}

void index_view(const struct index *x, const struct nodes *n, uint32_t state,
                struct state_view *out)
{
    const struct state *s = &x->rows[state];
    const size_t at = (size_t)state * x->stride;

    check(s->node_count > 0);
    *out = (struct state_view){
        .class = &n->classes[s->class_id],
        .class_id = s->class_id,
        .gpu_count = n->classes[s->class_id].gpu_count,
        .whole_free = s->whole_free,
        .free_mgpu = s->free_mgpu,
        .cpu_free_mcpu = s->cpu_free_mcpu,
        .memory_free_bytes = s->memory_free_bytes,
        .gpu_free_mgpu = x->gpu_mgpu + at,
        .gpu_free_bytes = x->gpu_bytes + at,
        .gpu_company = x->gpu_company + at,
        .kinds = s->kinds,
    };
}
