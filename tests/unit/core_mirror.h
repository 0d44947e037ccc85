/* SPDX-License-Identifier: Apache-2.0 */
/* core_mirror.h - a mirror of a cluster, kept without states, lists or versions, that is asked node
 * by node where a task goes; and a random history in which a core has to agree with it. */
#pragma once
#include "core/impl.h"
#include "unit/core_random.h"
#include "unit/links_brute.h"

enum { MIRROR_NODES = 400 };

struct mirror_node {
    bool in_use;
    uint32_t class_id, order, gpus;
    uint64_t lost;
    uint64_t kinds;
    int64_t mcpu, memory;
    int64_t mgpu[NODE_GPUS_MAX], bytes[NODE_GPUS_MAX];
    uint32_t clients_max, sharers[NODE_GPUS_MAX], company[NODE_GPUS_MAX];
    bool mixed[NODE_GPUS_MAX]; /* those who share it may not */
};

struct mirror {
    const struct core *core;
    struct mirror_node nodes[MIRROR_NODES];
    uint32_t count;
};

static inline uint64_t kind_bit(const struct shape *shape)
{
    if (shape->gpus == 0)
        return 0;
    return shape_is_share(shape) ? 1 : 1ull << (shape->gpus < 63 ? shape->gpus : 63);
}

static inline void mirror_take(struct mirror_node *node, const struct core *core, uint32_t shape_id,
                               uint64_t gpu_mask)
{
    const struct shape *shape = core_shape(core, shape_id);
    struct need need;

    assert_true(need_on(shape, core_class(core, node->class_id), &need));
    node->mcpu -= shape->cpu_mcpu;
    node->memory -= shape->memory_bytes;
    node->kinds |= kind_bit(shape);
    for (uint32_t i = 0; i < node->gpus; i++)
        if (gpu_mask >> i & 1) {
            node->mgpu[i] -= need.mgpu;
            node->bytes[i] -= need.memory_bytes;
            if (need.company == COMPANY_NONE)
                continue;
            node->mixed[i] |= node->sharers[i] > 0 && node->company[i] != need.company;
            node->company[i] = need.company;
            node->sharers[i]++;
        }
}

/* What is free, from the descriptions of nodes and the tasks on them alone. */
static inline void mirror_fill(struct mirror *m, const struct core *core)
{
    m->core = core;
    m->count = core_node_rows(core);
    assert_true(m->count <= MIRROR_NODES);
    for (uint32_t n = 0; n < m->count; n++) {
        struct mirror_node *node = &m->nodes[n];
        const struct node *row = &core->nodes.rows[n];
        const struct node_class *class = core_class(core, row->class_id);

        *node = (struct mirror_node){.in_use = node_takes_work(row),
                                     .class_id = row->class_id,
                                     .order = row->order,
                                     .gpus = class->gpu_count,
                                     .lost = row->lost_mask,
                                     .clients_max = class->mps_clients,
                                     .mcpu = class->cpu_mcpu,
                                     .memory = class->memory_bytes};
        for (uint32_t i = 0; i < node->gpus; i++) {
            node->mgpu[i] = GPU_MGPU;
            node->bytes[i] = class->gpu_memory_bytes;
        }
        if (!node->in_use)
            continue;
        for (uint32_t t = row->first_task; t != ROW_NONE; t = core_task(core, t)->node_next)
            mirror_take(node, core, core_task(core, t)->shape, core_task(core, t)->gpu_mask);
    }
}

static inline int64_t at_least_0(int64_t amount)
{
    return amount > 0 ? amount : 0;
}

static inline int64_t free_mgpu(const struct mirror_node *node, uint32_t gpu)
{
    const bool full = node->sharers[gpu] >= node->clients_max && node->company[gpu] >= COMPANY_MPS;

    return node->lost >> gpu & 1 || node->mixed[gpu] || full ? 0 : at_least_0(node->mgpu[gpu]);
}

/* Of those that others could join. */
static inline uint32_t company_of(const struct mirror_node *node, uint32_t gpu)
{
    return node->sharers[gpu] > 0 && free_mgpu(node, gpu) > 0 ? node->company[gpu] : 0;
}

static inline int64_t free_bytes(const struct mirror_node *node, uint32_t gpu)
{
    return node->lost >> gpu & 1 ? 0 : at_least_0(node->bytes[gpu]);
}

struct node_view {
    struct state_view view;
    uint16_t mgpu[NODE_GPUS_MAX];
    int64_t bytes[NODE_GPUS_MAX];
    uint32_t company[NODE_GPUS_MAX];
    uint32_t gpu[NODE_GPUS_MAX]; /* whose amounts these are */
};

/* Ascending by compute, then by bytes, then by company, then by index. */
static inline bool gpu_before(const struct mirror_node *node, uint32_t a, uint32_t b)
{
    if (free_mgpu(node, a) != free_mgpu(node, b))
        return free_mgpu(node, a) < free_mgpu(node, b);
    if (free_bytes(node, a) != free_bytes(node, b))
        return free_bytes(node, a) < free_bytes(node, b);
    if (company_of(node, a) != company_of(node, b))
        return company_of(node, a) < company_of(node, b);
    return a < b;
}

static inline void view_of(const struct mirror *m, const struct mirror_node *node,
                           struct node_view *out)
{
    out->view = (struct state_view){
        .class = core_class(m->core, node->class_id),
        .class_id = node->class_id,
        .gpu_count = node->gpus,
        .cpu_free_mcpu = at_least_0(node->mcpu),
        .memory_free_bytes = at_least_0(node->memory),
        .gpu_free_mgpu = out->mgpu,
        .gpu_free_bytes = out->bytes,
        .gpu_company = out->company,
        .kinds = m->core->placement->sees_kinds ? node->kinds : 0,
    };
    for (uint32_t i = 0; i < node->gpus; i++) {
        uint32_t at = i;

        for (; at > 0 && gpu_before(node, i, out->gpu[at - 1]); at--)
            out->gpu[at] = out->gpu[at - 1];
        out->gpu[at] = i;
        out->view.free_mgpu += (uint32_t)free_mgpu(node, i);
        out->view.whole_free += free_mgpu(node, i) == GPU_MGPU;
    }
    for (uint32_t i = 0; i < node->gpus; i++) {
        out->mgpu[i] = (uint16_t)free_mgpu(node, out->gpu[i]);
        out->bytes[i] = free_bytes(node, out->gpu[i]);
        out->company[i] = company_of(node, out->gpu[i]);
    }
}

static inline bool goes_with(const struct mirror_node *node, uint32_t gpu, const struct need *need)
{
    return node->sharers[gpu] == 0 || node->company[gpu] == need->company;
}

static inline bool fits(const struct mirror *m, const struct mirror_node *node, uint32_t shape_id,
                        struct need *need)
{
    const struct shape *shape = core_shape(m->core, shape_id);
    uint32_t fitting = 0;

    if (!node->in_use || !core_shape_fits_class(m->core, shape_id, node->class_id) ||
        at_least_0(node->mcpu) < shape->cpu_mcpu || at_least_0(node->memory) < shape->memory_bytes)
        return false;
    (void)need_on(shape, core_class(m->core, node->class_id), need);
    for (uint32_t i = 0; i < node->gpus; i++)
        fitting += free_mgpu(node, i) >= need->mgpu && free_bytes(node, i) >= need->memory_bytes &&
                   goes_with(node, i, need);
    return fitting >= shape->gpus;
}

/* So many unused GPUs of a node whose links are known. */
static inline uint64_t unused_of(const struct node_view *v, const uint32_t *mbps,
                                 const struct need *need, uint32_t wanted)
{
    uint64_t unused = 0;

    for (uint32_t i = 0; i < v->view.gpu_count; i++)
        if (v->mgpu[i] == GPU_MGPU && v->bytes[i] >= need->memory_bytes)
            unused |= 1ull << v->gpu[i];
    return brute_subset(mbps, unused, wanted, -1, NULL);
}

/* The GPUs of a task: for one share the first GPU with just what the chosen entry has free, else
 * those that fit with the least left, lowest first. Of unused ones, those that the links say, if
 * they are known; else mbps is NULL. */
static inline uint64_t gpus_of(const struct node_view *v, const uint32_t *mbps,
                               const struct shape *shape, const struct need *need, uint32_t slot)
{
    uint64_t mask = 0;
    uint32_t wanted = shape->gpus;

    if (shape->gpus == 1 && need->mgpu < GPU_MGPU && slot != SLOT_FULLEST) {
        for (; slot > 0 && v->mgpu[slot - 1] == v->mgpu[slot] &&
               v->bytes[slot - 1] == v->bytes[slot] && v->company[slot - 1] == v->company[slot];
             slot--)
            continue;
        return mbps != NULL && v->mgpu[slot] == GPU_MGPU ? unused_of(v, mbps, need, 1)
                                                         : 1ull << v->gpu[slot];
    }
    for (uint32_t level = need->mgpu; level <= GPU_MGPU && wanted > 0; level++) {
        if (level == GPU_MGPU && mbps != NULL)
            return mask | unused_of(v, mbps, need, wanted);
        for (uint32_t gpu = 0; gpu < v->view.gpu_count && wanted > 0; gpu++)
            for (uint32_t i = 0; i < v->view.gpu_count; i++)
                if (v->gpu[i] == gpu && v->mgpu[i] == level && v->bytes[i] >= need->memory_bytes &&
                    (level == GPU_MGPU || v->company[i] == need->company)) {
                    mask |= 1ull << gpu;
                    wanted--;
                }
    }
    return mask;
}

/* What is known of how the node's GPUs are wired, or NULL. */
static inline const uint32_t *mirror_links(const struct mirror *m, uint32_t node)
{
    const uint32_t id = core_class(m->core, m->nodes[node].class_id)->links;

    return id == LINKS_UNKNOWN ? NULL : links_mbps(&m->core->nodes.links, id);
}

/* The best node for one task, and its GPUs; ROW_NONE if it fits nowhere. */
static inline uint32_t best_place(const struct mirror *m, const bool *used, uint32_t shape_id,
                                  uint64_t *out_mask)
{
    const struct shape *shape = core_shape(m->core, shape_id);
    struct request request = {.shape = shape, .shape_id = shape_id};
    uint32_t best = ROW_NONE, best_slot = SLOT_FULLEST;
    int64_t best_score = 0;
    struct node_view v;

    for (uint32_t n = 0; n < m->count; n++) {
        const struct mirror_node *node = &m->nodes[n];
        uint32_t slot = SLOT_FULLEST;
        int64_t score;

        if (used[n] || !fits(m, node, shape_id, &request.need))
            continue;
        view_of(m, node, &v);
        score =
            m->core->placement->score(m->core->placement_state, m->core, &v.view, &request, &slot);
        if (best != ROW_NONE &&
            (score < best_score || (score == best_score && node->order > m->nodes[best].order)))
            continue;
        best = n;
        best_score = score;
        best_slot = slot;
    }
    if (best == ROW_NONE)
        return best;
    view_of(m, &m->nodes[best], &v);
    (void)need_on(shape, v.view.class, &request.need);
    *out_mask = gpus_of(&v, mirror_links(m, best), shape, &request.need, best_slot);
    return best;
}

/* Places a job of one group as the policy likes; false, and nothing taken, if it does not fit. */
static inline bool mirror_place(struct mirror *m, uint32_t gang, struct task_place *places)
{
    static struct mirror_node before[MIRROR_NODES];
    const struct layout *layout = core_layout(m->core, core_gang(m->core, gang)->first_layout);
    const struct group *group = core_group(m->core, layout->first_group);
    bool used[MIRROR_NODES] = {false};

    memcpy(before, m->nodes, sizeof before);
    for (uint32_t i = 0; i < group->tasks; i++) {
        places[i].node = best_place(m, used, group->shape, &places[i].gpu_mask);
        if (places[i].node == ROW_NONE) {
            memcpy(m->nodes, before, sizeof before);
            return false;
        }
        mirror_take(&m->nodes[places[i].node], m->core, group->shape, places[i].gpu_mask);
        used[places[i].node] = layout->apart;
    }
    return true;
}

static inline uint32_t waiting_gang(const struct core *core, uint32_t open)
{
    return core->pending.buckets[core->pending.open[open]].ask.gang;
}

/* The step's starts, one after the other, are where the mirror would put them; who still waits
 * fits nowhere. */
static inline void check_step(struct mirror *m, const struct bed *bed, uint64_t *starts)
{
    struct task_place places[8];

    m->core = bed->core; /* its policy is as it was when the step placed */
    for (uint32_t i = 0; i < bed->out.count; i++) {
        const struct decision *d = &bed->out.items[i];

        if (d->type != DECISION_START)
            continue;
        assert_true(mirror_place(m, core_job(bed->core, d->job)->gang, places));
        for (uint32_t t = 0; t < d->place_count; t++) {
            const struct task_place *is = &bed->out.places[d->place_first + t];

            assert_int_equal(is->node, places[t].node);
            assert_true(is->gpu_mask == places[t].gpu_mask);
        }
        (*starts)++;
    }
    for (uint32_t i = 0; i < bed->core->pending.open_count; i++)
        assert_false(mirror_place(m, waiting_gang(bed->core, i), places));
}

/* Plays `events` events on so many nodes and compares every step. */
static inline void mirror_compare(const struct placement_policy *policy, uint64_t seed,
                                  uint32_t nodes, uint32_t events)
{
    static struct mirror mirror;
    struct bed bed;
    struct play play;
    uint64_t starts = 0;

    play_init(&play, seed, nodes);
    play.one_group = play.one_queue = true;
    bed_open_with(&bed,
                  &(struct core_config){.placement = policy, .order = &in_turn, .seed = seed});
    play_join(&play, bed.core);
    for (uint32_t i = 0; i < events; i++) {
        struct event event;
        bool due;

        play_event(&play, bed.core, &event);
        (void)core_apply(bed.core, &event, NULL);
        if (nodes < 50 || i % 16 == 0)
            bed_check(&bed);
        if (play_below(&play, 4) > 0 && i + 1 < events)
            continue;
        due = core_next_wake_us(bed.core) <= core_now_us(bed.core); /* changes what is free */
        mirror_fill(&mirror, bed.core);
        core_step(bed.core, core_now_us(bed.core), &bed.out);
        if (!due)
            check_step(&mirror, &bed, &starts);
        bed_check(&bed);
    }
    assert_true(starts > events / 30);
    bed_close(&bed);
}
