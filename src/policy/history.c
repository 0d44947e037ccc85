/* SPDX-License-Identifier: Apache-2.0 */
/* history.c - the tree of run times: jobs join, age and leave, and nodes are refreshed. */
#include "policy/history.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/tape.h"
#include "base/vec.h"

#define STALE_US (900 * 1000000LL)
#define SWEEP_US (STALE_US / 8)

/* weight: how many jobs the parent's word counts as; news_percent: a refresh is due after so much
 * news, of all the node has seen; gap_us: how long it stays open without a submission.
 * Found on Philly (pooled and by virtual cluster), Muri's and Pollux's traces together; they are
 * not sharp: one job more or less in a weight is within the noise of 2 to 3 %. */
static const struct {
    uint32_t weight, news_percent;
    int64_t gap_us;
} levels[HISTORY_LEVELS] = {
    [HISTORY_ALL] = {1, 5, 0},
    [HISTORY_QUEUE] = {3, 2, 0},
    [HISTORY_USER] = {1, 2, 0},
    [HISTORY_NAME] = {1, 2, 0},
    [HISTORY_GPUS] = {3, 2, 0},
    [HISTORY_SESSION] = {4, 5, 4 * 3600 * 1000000LL},
    [HISTORY_BURST] = {2, 1, 60 * 1000000LL},
};

static void refresh(struct history *h, uint32_t id, int64_t now_us)
{
    struct history_node *node = &h->nodes[id];
    const int32_t *parent = id > 0 ? h->nodes[node->parent].hazard : NULL;

    hazard_estimate(node->ended_parts, node->active_parts, parent, levels[node->level].weight,
                    node->hazard);
    node->refreshed_us = now_us;
    node->news = 0;
    if (node->level != HISTORY_BURST)
        return;
    for (uint32_t bin = 0; bin < HAZARD_BINS; bin++)
        node->cost_ms[bin] =
            node->active_parts[bin] > 0 ? hazard_cost_ms(&h->scale, node->hazard, bin) : 0;
    if (!node->changed) {
        node->changed = true;
        vec_push(h->changed, h->changed_count, h->changed_cap, id);
    }
}

/* A bin that held no jobs at the last refresh has no cost yet. */
static void price_bin(struct history *h, uint32_t burst, uint32_t bin)
{
    struct history_node *node = &h->nodes[burst];

    if (node->cost_ms[bin] == 0)
        node->cost_ms[bin] = hazard_cost_ms(&h->scale, node->hazard, bin);
}

static void refresh_if_due(struct history *h, uint32_t id, int64_t now_us)
{
    const struct history_node *node = &h->nodes[id];
    uint64_t seen = node->ended;

    if (node->level >= HISTORY_SESSION) {
        if (node->active == 0)
            return; /* nobody to tell */
        seen += node->active;
    }
    if (node->news * 100ULL >= seen * levels[node->level].news_percent)
        refresh(h, id, now_us);
}

/* ---- nodes ---- */

static uint32_t node_new(struct history *h, uint32_t parent, enum history_level level,
                         int64_t now_us)
{
    uint32_t id = h->free_first;
    bool changed = false; /* an old entry in the list of changes is as good as a new one */

    if (id != HISTORY_NONE) {
        h->free_first = h->nodes[id].parent;
        changed = h->nodes[id].changed;
    } else {
        vec_reserve(h->nodes, h->cap, h->count + 1);
        id = h->count++;
    }
    h->nodes[id] = (struct history_node){
        .level = level,
        .parent = parent,
        .in_use = true,
        .open = level >= HISTORY_SESSION,
        .changed = changed,
        .open_child = HISTORY_NONE,
    };
    refresh(h, id, now_us);
    return id;
}

/* A session or burst that nobody may join and nobody is in is forgotten. */
static void free_if_over(struct history *h, uint32_t id)
{
    struct history_node *node = &h->nodes[id];

    if (node->level < HISTORY_SESSION || node->open || node->active > 0)
        return;
    node->in_use = false;
    node->parent = h->free_first;
    h->free_first = id;
}

static void close_child(struct history *h, uint32_t parent)
{
    const uint32_t child = h->nodes[parent].open_child;

    if (child == HISTORY_NONE)
        return;
    if (h->nodes[child].open_child != HISTORY_NONE)
        close_child(h, child);
    h->nodes[parent].open_child = HISTORY_NONE;
    h->nodes[child].open = false;
    free_if_over(h, child);
}

static uint64_t group_key(uint32_t parent, enum history_level level, uint32_t fact)
{
    return (uint64_t)parent << 36 | (uint64_t)level << 32 | fact;
}

/* The node of this fact under parent, or parent itself when there are too many. */
static uint32_t group_under(struct history *h, uint32_t parent, enum history_level level,
                            uint32_t fact, int64_t now_us)
{
    const uint64_t key = group_key(parent, level, fact);
    uint32_t id;

    if (map_find(&h->groups, key, &id))
        return id;
    if (h->group_count >= HISTORY_GROUPS_MAX)
        return parent;
    h->group_count++;
    id = node_new(h, parent, level, now_us);
    h->nodes[id].fact = fact;
    map_put(&h->groups, key, id);
    return id;
}

static uint32_t open_under(struct history *h, uint32_t parent, enum history_level level,
                           int64_t gap_us, int64_t now_us)
{
    if (h->nodes[parent].open_child == HISTORY_NONE || gap_us > levels[level].gap_us) {
        uint32_t id;

        close_child(h, parent);
        id = node_new(h, parent, level, now_us);
        h->nodes[parent].open_child = id;
    }
    return h->nodes[parent].open_child;
}

/* ---- jobs ---- */

/* The nodes from the root down to the burst; returns how many. */
static uint32_t path_to(const struct history *h, uint32_t burst, uint32_t *out_path)
{
    uint32_t count = 0;

    for (uint32_t id = burst;; id = h->nodes[id].parent) {
        check(count < HISTORY_LEVELS && h->nodes[id].in_use);
        memmove(out_path + 1, out_path, count * sizeof *out_path);
        out_path[0] = id;
        count++;
        if (id == 0)
            return count;
    }
}

static uint32_t find_burst(struct history *h, const struct history_facts *facts, int64_t now_us)
{
    uint32_t group = group_under(h, 0, HISTORY_QUEUE, facts->queue, now_us);
    uint32_t session;
    int64_t gap_us;

    if (facts->user != HISTORY_NONE)
        group = group_under(h, group, HISTORY_USER, facts->user, now_us);
    if (facts->name != HISTORY_NONE)
        group = group_under(h, group, HISTORY_NAME, facts->name, now_us);
    group = group_under(h, group, HISTORY_GPUS, facts->mgpu, now_us);
    gap_us = now_us - h->nodes[group].joined_us;
    h->nodes[group].joined_us = now_us;
    session = open_under(h, group, HISTORY_SESSION, gap_us, now_us);
    return open_under(h, session, HISTORY_BURST, gap_us, now_us);
}

uint32_t history_join(struct history *h, const struct history_facts *facts, int64_t now_us)
{
    const uint32_t burst = find_burst(h, facts, now_us);
    uint32_t path[HISTORY_LEVELS];
    const uint32_t count = path_to(h, burst, path);

    for (uint32_t i = 0; i < count; i++) {
        struct history_node *node = &h->nodes[path[i]];

        node->active++;
        node->active_parts[0] += HAZARD_PARTS;
        if (node->level < HISTORY_SESSION)
            continue;
        node->news++;
        refresh_if_due(h, path[i], now_us);
    }
    price_bin(h, burst, 0);
    return burst;
}

void history_age(struct history *h, uint32_t burst, uint32_t from_bin, uint32_t to_bin)
{
    uint32_t path[HISTORY_LEVELS];
    const uint32_t count = path_to(h, burst, path);

    for (uint32_t i = 0; i < count; i++) {
        h->nodes[path[i]].active_parts[from_bin] -= HAZARD_PARTS;
        h->nodes[path[i]].active_parts[to_bin] += HAZARD_PARTS;
    }
    price_bin(h, burst, to_bin);
}

/* An end is spread over its bin and the neighbours, or the bins would be too sharp. */
static void count_end(struct history_node *node, uint32_t bin)
{
    node->ended++;
    node->news++;
    node->ended_parts[bin > 0 ? bin - 1 : bin] += 1;
    node->ended_parts[bin] += 2;
    node->ended_parts[bin < HAZARD_BINS - 1 ? bin + 1 : bin] += 1;
}

void history_leave(struct history *h, uint32_t burst, uint32_t bin, int64_t ran_us, int64_t now_us)
{
    uint32_t path[HISTORY_LEVELS];
    const uint32_t count = path_to(h, burst, path);

    for (uint32_t i = 0; i < count; i++) {
        struct history_node *node = &h->nodes[path[i]];

        node->active--;
        node->active_parts[bin] -= HAZARD_PARTS;
        if (ran_us >= 0) {
            count_end(node, hazard_bin(&h->scale, 0, ran_us));
            refresh_if_due(h, path[i], now_us);
        }
    }
    for (uint32_t i = count; i-- > 0;)
        free_if_over(h, path[i]);
}

void history_sweep(struct history *h, int64_t now_us)
{
    if (now_us - h->swept_us < SWEEP_US)
        return;
    h->swept_us = now_us;
    for (int level = HISTORY_ALL; level <= HISTORY_BURST; level++) /* parents first */
        for (uint32_t id = 0; id < h->count; id++) {
            const struct history_node *node = &h->nodes[id];

            if (node->in_use && (int)node->level == level && node->active > 0 &&
                now_us - node->refreshed_us >= STALE_US)
                refresh(h, id, now_us);
        }
}

uint32_t history_next_changed(struct history *h)
{
    uint32_t id;

    if (h->changed_count == 0)
        return HISTORY_NONE;
    id = h->changed[--h->changed_count];
    h->nodes[id].changed = false;
    return id;
}

/* ---- as a whole ---- */

void history_init(struct history *h)
{
    memset(h, 0, sizeof *h);
    hazard_scale_init(&h->scale);
    map_init(&h->groups);
    h->free_first = HISTORY_NONE;
    node_new(h, HISTORY_NONE, HISTORY_ALL, 0);
}

void history_done(struct history *h)
{
    mem_free(h->nodes);
    mem_free(h->changed);
    map_done(&h->groups);
    memset(h, 0, sizeof *h);
}

void history_copy(struct history *dst, const struct history *src)
{
    *dst = *src;
    dst->nodes = mem_copy(src->nodes, src->cap, sizeof *src->nodes);
    dst->changed = mem_copy(src->changed, src->changed_cap, sizeof *src->changed);
    map_copy(&dst->groups, &src->groups);
}

/* ---- the walk ---- */

static void node_walk(struct history_node *node, struct tape *t)
{
    tape_bool(t, &node->in_use);
    tape_u32(t, &node->parent);
    tape_bool(t, &node->changed);
    if (!node->in_use)
        return;
    tape_enum(t, node->level, HISTORY_BURST, "level of the history");
    tape_u32(t, &node->fact);
    tape_bool(t, &node->open);
    tape_u32(t, &node->open_child);
    tape_i64_in(t, &node->joined_us, 0, INT64_MAX, "time of the history");
    tape_u32(t, &node->ended);
    tape_u32(t, &node->news);
    tape_i64_in(t, &node->refreshed_us, 0, INT64_MAX, "time of the history");
    for (uint32_t b = 0; b < HAZARD_BINS; b++) {
        tape_u32(t, &node->ended_parts[b]);
        tape_i32_in(t, &node->hazard[b], 0, HAZARD_ONE, "hazard"); /* costs follow from it */
    }
}

/* Every path leads up to the root through levels that get less, and what is open is below. */
static bool node_is_sound(const struct history *h, uint32_t id)
{
    const struct history_node *node = &h->nodes[id], *parent, *child;

    if (id == 0)
        return node->in_use && node->level == HISTORY_ALL && node->open_child == HISTORY_NONE;
    if (!node->in_use)
        return true;
    if (node->parent >= h->count)
        return false;
    parent = &h->nodes[node->parent];
    if (!parent->in_use || parent->level >= node->level ||
        (node->level == HISTORY_BURST) != (parent->level == HISTORY_SESSION))
        return false;
    if (node->open_child == HISTORY_NONE)
        return true;
    child = node->open_child < h->count ? &h->nodes[node->open_child] : node;
    return child->in_use && child->open && child->parent == id &&
           child->level == (node->level < HISTORY_SESSION ? HISTORY_SESSION : HISTORY_BURST);
}

/* Nodes in no use are in the free list, once. */
static bool free_is_sound(const struct history *h)
{
    uint32_t unused = 0, id = h->free_first;

    for (uint32_t i = 0; i < h->count; i++)
        unused += !h->nodes[i].in_use;
    for (; unused > 0 && id < h->count && !h->nodes[id].in_use; unused--)
        id = h->nodes[id].parent;
    return unused == 0 && id == HISTORY_NONE;
}

static void nodes_loaded(struct history *h, struct tape *t)
{
    if (h->count == 0 || !free_is_sound(h)) {
        tape_fail(t, "history: its free nodes are not those in no use");
        return;
    }
    for (uint32_t id = 0; id < h->count; id++) {
        const struct history_node *node = &h->nodes[id];
        uint64_t key;

        if (!node_is_sound(h, id)) {
            tape_fail(t, "history: node %u is out of place", id);
            return;
        }
        if (!node->in_use || node->level == HISTORY_ALL || node->level >= HISTORY_SESSION)
            continue;
        key = group_key(node->parent, node->level, node->fact);
        if (map_find(&h->groups, key, NULL))
            tape_fail(t, "history: node %u is there twice", id);
        map_put(&h->groups, key, id);
        h->group_count++;
    }
}

/* Listed as changed, and marked so, once. */
static void changed_walk(struct history *h, struct tape *t)
{
    uint32_t count = h->changed_count, marked = 0;

    tape_count(t, &count, "changed bursts");
    for (uint32_t i = 0; tape_more(t, i, count); i++) {
        tape_grow(t, h->changed, h->changed_count, h->changed_cap);
        tape_row(t, &h->changed[i], h->count, "changed burst");
    }
    for (uint32_t id = 0; tape_loads(t) && id < h->count; id++)
        marked += h->nodes[id].changed;
    for (uint32_t i = 0; tape_loads(t) && tape_more(t, i, count); i++)
        if (!h->nodes[h->changed[i]].changed)
            tape_fail(t, "changed burst %u: is not marked", h->changed[i]);
    if (tape_loads(t) && marked != count)
        tape_fail(t, "%u changed bursts are marked, %u listed", marked, count);
}

void history_walk(struct history *h, struct tape *t)
{
    uint32_t count = h->count;

    if (tape_loads(t))
        h->count = h->changed_count = 0; /* without the root that history_init() made */
    tape_count(t, &count, "nodes of the history");
    for (uint32_t id = 0; tape_more(t, id, count); id++) {
        tape_grow(t, h->nodes, h->count, h->cap);
        if (tape_loads(t))
            h->nodes[id] = (struct history_node){0};
        node_walk(&h->nodes[id], t);
    }
    tape_u32(t, &h->free_first);
    tape_i64_in(t, &h->swept_us, 0, INT64_MAX, "time of the history");
    if (tape_loads(t) && !t->failed)
        nodes_loaded(h, t);
    changed_walk(h, t);
}

void history_count(struct history *h, uint32_t burst, uint32_t bin, struct tape *t)
{
    uint32_t path[HISTORY_LEVELS], count;

    if (burst >= h->count || !h->nodes[burst].in_use || h->nodes[burst].level != HISTORY_BURST) {
        tape_fail(t, "history: %u is no burst", burst);
        return;
    }
    count = path_to(h, burst, path);
    for (uint32_t i = 0; i < count; i++) {
        h->nodes[path[i]].active++;
        h->nodes[path[i]].active_parts[bin] += HAZARD_PARTS;
    }
}

void history_counted(struct history *h)
{
    for (uint32_t id = 0; id < h->count; id++)
        for (uint32_t bin = 0; bin < HAZARD_BINS; bin++)
            if (h->nodes[id].level == HISTORY_BURST && h->nodes[id].active_parts[bin] > 0)
                price_bin(h, id, bin);
}
