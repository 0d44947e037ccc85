/* SPDX-License-Identifier: Apache-2.0 */
/* nodes.c - the table of nodes. */
#include "core/nodes.h"

#include <string.h>

#include "base/bits.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/tape.h"
#include "base/vec.h"
#include "core/job.h"

void nodes_init(struct nodes *n, bool sees_kinds)
{
    memset(n, 0, sizeof *n);
    links_init(&n->links);
    mig_rooms_init(&n->rooms);
    n->sees_kinds = sees_kinds;
    n->changes = 1;
}

void nodes_done(struct nodes *n)
{
    links_done(&n->links);
    mig_rooms_done(&n->rooms);
    mem_free(n->migs);
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
    links_copy(&dst->links, &src->links);
    mig_rooms_copy(&dst->rooms, &src->rooms);
    dst->migs = mem_copy(src->migs, src->mig_count, sizeof *src->migs);
    dst->mig_cap = src->mig_count;
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
    return a->model == b->model && a->links == b->links && a->gpu_count == b->gpu_count &&
           a->gpu_memory_bytes == b->gpu_memory_bytes && a->cpu_mcpu == b->cpu_mcpu &&
           a->memory_bytes == b->memory_bytes && a->label_count == b->label_count &&
           memcmp(a->labels, b->labels, a->label_count * sizeof *a->labels) == 0 &&
           a->modes == b->modes && a->context_bytes == b->context_bytes &&
           a->compute_factor == b->compute_factor && a->mps_clients == b->mps_clients &&
           a->mig_type == b->mig_type;
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
    if (class->compute_factor > n->factor_most)
        n->factor_most = class->compute_factor;
    return n->class_count++;
}

/* One more row, in no use. */
static uint32_t row_add(struct nodes *n)
{
    const uint32_t cap = n->cap;

    vec_reserve(n->rows, n->cap, n->count + 1);
    if (n->sees_kinds && n->cap > cap)
        n->kinds = mem_resize(n->kinds, (size_t)cap * NODE_KINDS, (size_t)n->cap * NODE_KINDS,
                              sizeof *n->kinds);
    n->rows[n->count].state = n->rows[n->count].first_task = ROW_NONE;
    n->rows[n->count].mig_first = ROW_NONE;
    return n->count++;
}

static uint32_t free_row(struct nodes *n)
{
    if (n->in_use < n->count)
        for (uint32_t i = 0; i < n->count; i++)
            if (!n->rows[i].in_use)
                return i;
    return row_add(n);
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

/* GPUs from this one on are gone, and what was known of them. */
static void books_clear(struct nodes *n, const struct node *row, uint32_t first)
{
    for (uint32_t i = first; i < row->gpu_room; i++)
        n->gpus[row->gpu_first + i] = (struct gpu_book){0};
}

/* Books of GPUs that may be split, if those of the class may. */
static void migs_reserve(struct nodes *n, struct node *row)
{
    const struct node_class *class = &n->classes[row->class_id];
    const uint32_t gpus = class->gpu_count;

    row->mig_first = ROW_NONE;
    if (class->mig_type == 0)
        return;
    if (gpus > row->mig_count) {
        vec_reserve(n->migs, n->mig_cap, n->mig_count + gpus);
        memset(&n->migs[n->mig_count], 0, gpus * sizeof *n->migs);
        for (uint32_t i = 0; i < row->mig_count; i++)
            n->migs[n->mig_count + i] = n->migs[row->mig_own + i];
        row->mig_own = n->mig_count;
        row->mig_count = gpus;
        n->mig_count += gpus;
    }
    row->mig_first = row->mig_own;
}

/* GPUs from this one on have no instances. */
static void migs_clear(struct nodes *n, const struct node *row, uint32_t first)
{
    for (uint32_t i = first; i < row->mig_count; i++)
        n->migs[row->mig_own + i] = (struct mig_book){0};
}

void nodes_mig_changed(struct nodes *n, uint32_t node, uint32_t gpu)
{
    struct mig_book *book = nodes_mig(n, node, gpu);

    book->room = mig_room_of(&n->rooms, nodes_class_of(n, node)->mig_type - 1, mig_book_bars(book),
                             &book->made, &book->held);
}

uint32_t nodes_mig_type(const char *model, int64_t gpu_memory_bytes)
{
    const struct mig_type *type = mig_type_find(model, gpu_memory_bytes);

    return type == NULL ? 0 : (uint32_t)(type - mig_types) + 1;
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
        .mig_own = row->mig_own,
        .mig_count = row->mig_count,
        .first_task = ROW_NONE,
        .set_child = ROW_NONE,
        .set_next = ROW_NONE,
        .set_prev = ROW_NONE,
    };
    migs_reserve(n, row);
    n->in_use++;
    n->changes++;
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
    books_clear(n, row, 0);
    migs_clear(n, row, 0);
    n->in_use--;
    n->changes++;
    n->class_nodes[row->class_id]--;
}

void nodes_set_class(struct nodes *n, uint32_t node, uint32_t class_id)
{
    struct node *row = &n->rows[node];
    const bool same_gpus = n->classes[row->class_id].mig_type == n->classes[class_id].mig_type;

    n->changes++;
    n->class_nodes[row->class_id]--;
    n->class_nodes[class_id]++;
    books_reserve(n, row, n->classes[class_id].gpu_count);
    row->class_id = class_id;
    row->lost_mask &= mask_first(n->classes[class_id].gpu_count);
    row->quarantined_mask &= row->lost_mask;
    books_clear(n, row, n->classes[class_id].gpu_count);
    migs_clear(n, row, same_gpus ? n->classes[class_id].gpu_count : 0);
    migs_reserve(n, row);
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

bool sharers_may(const struct sharers *s, const struct node_class *class)
{
    return sharers_agree(s) &&
           (!company_is_mps(sharers_company(s)) || s->count <= class->mps_clients);
}

/* Under MPS, no client more. */
static bool is_closed(const struct sharers *s, const struct node_class *class)
{
    return s->sum != 0 && (!sharers_agree(s) ||
                           (company_is_mps(sharers_company(s)) && s->count >= class->mps_clients));
}

/* Of a GPU that is split. It is for other instances; where a report from outside has put something
 * else on it, for nobody. */
static uint32_t split_free_mgpu(const struct gpu_book *book)
{
    const uint32_t left = (uint32_t)(GPU_MGPU - book->held_mgpu);

    if (book->sharers.count > 0 && sharers_company(&book->sharers) != COMPANY_MIG)
        return 0;
    return left < GPU_MGPU ? left : GPU_MGPU - 1;
}

uint32_t nodes_gpu_free_mgpu(const struct nodes *n, uint32_t node, uint32_t gpu)
{
    const struct node *row = &n->rows[node];
    const struct gpu_book *book = &n->gpus[row->gpu_first + gpu];

    if ((row->lost_mask >> gpu & 1) || book->held_mgpu >= GPU_MGPU ||
        is_closed(&book->sharers, &n->classes[row->class_id]))
        return 0;
    if (row->mig_first != ROW_NONE && nodes_mig(n, node, gpu)->room != 0)
        return split_free_mgpu(book);
    return (uint32_t)(GPU_MGPU - book->held_mgpu);
}

uint32_t nodes_gpu_company(const struct nodes *n, uint32_t node, uint32_t gpu)
{
    const struct sharers *sharers = &n->gpus[n->rows[node].gpu_first + gpu].sharers;
    const bool split = n->rows[node].mig_first != ROW_NONE && nodes_mig(n, node, gpu)->room != 0;

    if (split && nodes_gpu_free_mgpu(n, node, gpu) > 0)
        return MIG_ROOM_BIT | nodes_mig(n, node, gpu)->room;
    if (sharers->sum == 0 || nodes_gpu_free_mgpu(n, node, gpu) == 0)
        return COMPANY_TURNS;
    return sharers_company(sharers);
}

bool nodes_gpu_has(const struct nodes *n, uint32_t node, uint32_t gpu, const struct need *need)
{
    const uint32_t mgpu = nodes_gpu_free_mgpu(n, node, gpu);

    return mgpu >= need->mgpu && nodes_gpu_free_bytes(n, node, gpu) >= need->memory_bytes &&
           company_admits(&n->rooms, mgpu, nodes_gpu_company(n, node, gpu), need);
}

int64_t nodes_gpu_free_bytes(const struct nodes *n, uint32_t node, uint32_t gpu)
{
    const struct node *row = &n->rows[node];
    const int64_t left =
        n->classes[row->class_id].gpu_memory_bytes - n->gpus[row->gpu_first + gpu].held_bytes;

    return (row->lost_mask >> gpu & 1) || left < 0 ? 0 : left;
}

/* ---- the walk ---- */

/* Where nobody knows of links, digests are as if there was nothing to know. */
static void class_links_walk(const struct links *links, struct node_class *class, struct tape *t)
{
    if (tape_digests(t) && links->count == 0)
        return;
    tape_max(t, &class->links, links->count, "links of a class");
    if (tape_loads(t) && !t->failed && class->links != LINKS_UNKNOWN &&
        links_gpus(links, class->links) != class->gpu_count)
        tape_fail(t, "links of a class: are of %u GPUs, it has %u", links_gpus(links, class->links),
                  class->gpu_count);
}

static void class_walk(struct node_class *class, uint32_t names, struct tape *t)
{
    tape_row(t, &class->model, names, "model of a class");
    tape_max(t, &class->gpu_count, NODE_GPUS_MAX, "GPUs of a class");
    tape_i64_in(t, &class->gpu_memory_bytes, 0, MEMORY_BYTES_MAX, "GPU memory of a class");
    tape_i64_in(t, &class->cpu_mcpu, 0, CPU_MCPU_MAX, "CPU of a class");
    tape_i64_in(t, &class->memory_bytes, 0, MEMORY_BYTES_MAX, "memory of a class");
    tape_max(t, &class->label_count, SELECTOR_TERMS_MAX, "labels of a class");
    for (uint32_t i = 0; tape_more(t, i, class->label_count); i++)
        tape_row(t, &class->labels[i], names, "label of a class");
}

/* Where nobody said anything of modes, digests are as if there was nothing to say. */
static bool says_modes(const struct nodes *n)
{
    for (uint32_t i = 0; i < n->class_count; i++)
        if (n->classes[i].modes != MODES_DEFAULT || n->classes[i].context_bytes != 0 ||
            n->classes[i].compute_factor != 1000 || n->classes[i].mps_clients != MPS_CLIENTS)
            return true;
    return false;
}

static void class_modes_walk(struct node_class *class, bool says, struct tape *t)
{
    if (tape_digests(t) && !says)
        return;
    tape_max(t, &class->modes, MODES_ALL, "modes of a class");
    tape_i64_in(t, &class->context_bytes, 0, MEMORY_BYTES_MAX, "contexts of a class");
    tape_u32(t, &class->compute_factor);
    tape_u32(t, &class->mps_clients);
    if (!tape_digests(t)) /* it follows from the model */
        tape_max(t, &class->mig_type, mig_type_count, "MIG type of a class");
    if (tape_loads(t) && class->modes == 0)
        tape_fail(t, "modes of a class: no GPU can be had");
    if (tape_loads(t) &&
        (class->compute_factor < 1000 || class->compute_factor > COMPUTE_FACTOR_MAX ||
         class->mps_clients == 0 || class->mps_clients > MPS_CLIENTS_MAX))
        tape_fail(t, "modes of a class: how a GPU is shared is out of range");
    if (tape_loads(t) &&
        (class->mig_type > 0) != ((class->modes & MODE_BIT(GPU_MIG)) != 0 && class->gpu_count > 0))
        tape_fail(t, "modes of a class: its GPUs are split, or not, as they should not be");
}

/* How many nodes are of a class follows from the nodes; a loaded number is held against it. */
static void classes_walk(struct nodes *n, uint32_t names, struct tape *t)
{
    const bool says = says_modes(n);
    uint32_t count = n->class_count;

    tape_count(t, &count, "classes");
    for (uint32_t i = 0; tape_more(t, i, count); i++) {
        struct node_class none = {0}, *class = tape_loads(t) ? &none : &n->classes[i];

        class_walk(class, names, t);
        class_links_walk(&n->links, class, t);
        class_modes_walk(class, says, t);
        if (tape_loads(t) && !t->failed && nodes_class(n, class) != i) {
            tape_fail(t, "class %u is there twice", i);
            return;
        }
        if (!t->failed)
            tape_u32(t, &n->class_nodes[i]);
    }
}

static void health_walk(struct node *row, struct tape *t)
{
    tape_bool(t, &row->drained);
    tape_bool(t, &row->silent);
    tape_bool(t, &row->lost);
    tape_bool(t, &row->unlisted);
    tape_u32(t, &row->strays);
    tape_i64_in(t, &row->silent_since_us, 0, TIME_US_MAX, "since when a node is silent");
    tape_i64_in(t, &row->flaps_until_us, 0, TIME_US_MAX * 2, "until when a node is to be calm");
    for (uint32_t i = 0; i < FLAP_SILENCES - 1; i++)
        tape_i64_in(t, &row->silences_until_us[i], 0, TIME_US_MAX * 2, "silences of a node");
    if (tape_loads(t) && ((row->quarantined_mask & ~row->lost_mask) != 0 ||
                          (row->lost && (!row->silent || !row->unlisted)) ||
                          (!row->silent && row->silent_since_us != 0)))
        tape_fail(t, "health of a node: says two things");
}

static void splits_walk(struct mig_book *book, bool first, struct tape *t)
{
    tape_u64(t, &book->leaving);
    tape_i64_in(t, &book->failed_until_us, 0, TIME_US_MAX * 2, "when an instance may be made");
    mig_price_gpu_walk(&book->price, t);
    if (first)
        mig_price_node_walk(&book->node_price, t);
    for (uint32_t s = 0; tape_loads(t) && s < 16; s++)
        if ((book->leaving >> (4 * s) & 15) != 0 &&
            (book->leaving >> (4 * s) & 15) != (book->made.layout >> (4 * s) & 15))
            tape_fail(t, "instances of a GPU: one leaves that does not stand");
}

/* Which instances stand; what is held follows from the tasks. */
static void made_walk(struct nodes *n, struct node *row, struct tape *t)
{
    const struct node_class *class = &n->classes[row->class_id];

    if (tape_loads(t))
        migs_reserve(n, row);
    if (class->mig_type == 0 || row->mig_first == ROW_NONE)
        return;
    for (uint32_t i = 0; i < class->gpu_count; i++) {
        struct mig_gpu *made = &n->migs[row->mig_first + i].made;
        uint32_t blocked = made->blocked;

        tape_u64(t, &made->layout);
        tape_max(t, &blocked, UINT16_MAX, "blocked slices of a GPU");
        made->blocked = (uint16_t)blocked;
        if (tape_loads(t) && !mig_gpu_valid(class_mig(class), made))
            tape_fail(t, "instances of a GPU: cannot be so");
        splits_walk(&n->migs[row->mig_first + i], i == 0, t);
    }
}

static void node_walk(struct nodes *n, struct node *row, uint32_t names, struct tape *t)
{
    tape_bool(t, &row->in_use);
    if (!row->in_use)
        return;
    tape_row(t, &row->name, names, "name of a node");
    tape_row(t, &row->class_id, n->class_count, "class of a node");
    tape_row(t, &row->order, n->joined, "order of a node");
    tape_u64(t, &row->lost_mask);
    tape_u64(t, &row->quarantined_mask);
    health_walk(row, t);
    tape_bool(t, &row->deficit);
    tape_i64_in(t, &row->held_mcpu, 0, INT64_MAX, "CPU held on a node");
    tape_i64_in(t, &row->held_memory_bytes, 0, INT64_MAX, "memory held on a node");
    if (t->failed)
        return;
    if (tape_loads(t))
        books_reserve(n, row, n->classes[row->class_id].gpu_count);
    for (uint32_t i = 0; i < n->classes[row->class_id].gpu_count; i++) {
        struct gpu_book *gpu = &n->gpus[row->gpu_first + i];

        tape_i32_in(t, &gpu->held_mgpu, 0, INT32_MAX, "compute held on a GPU");
        tape_i64_in(t, &gpu->held_bytes, 0, INT64_MAX, "memory held on a GPU");
        for (uint32_t k = 0; k < FAILED_STARTS - 1; k++)
            tape_i64_in(t, &gpu->failures_until_us[k], 0, TIME_US_MAX * 2, "failed starts");
    }
    made_walk(n, row, t);
}

static void nodes_loaded(struct nodes *n, struct tape *t)
{
    uint32_t *counted = mem_alloc(n->class_count, sizeof *counted);

    for (uint32_t i = 0; i < n->count; i++) {
        n->in_use += n->rows[i].in_use;
        if (n->rows[i].in_use)
            counted[n->rows[i].class_id]++;
    }
    for (uint32_t i = 0; i < n->class_count; i++)
        if (counted[i] != n->class_nodes[i])
            tape_fail(t, "class %u: %u nodes are of it, not %u", i, counted[i], n->class_nodes[i]);
    mem_free(counted);
}

void nodes_walk(struct nodes *n, uint32_t names, struct tape *t)
{
    uint32_t count = n->count;

    links_walk(&n->links, t);
    classes_walk(n, names, t);
    tape_u32(t, &n->joined);
    tape_count(t, &count, "nodes");
    for (uint32_t i = 0; tape_more(t, i, count); i++) {
        if (tape_loads(t))
            (void)row_add(n);
        node_walk(n, &n->rows[i], names, t);
    }
    if (tape_loads(t) && !t->failed)
        nodes_loaded(n, t);
}
