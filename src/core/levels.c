/* SPDX-License-Identifier: Apache-2.0 */
/* levels.c - the levels of the network, the tree of domains, and who crosses its uplinks. */
#include "core/levels.h"

#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "base/tape.h"
#include "base/vec.h"
#include "core/impl.h"

void levels_init(struct levels *l)
{
    memset(l, 0, sizeof *l);
    map_init(&l->best_rows);
}

static void tree_done(struct levels *l)
{
    mem_free(l->nodes);
    mem_free(l->at);
    mem_free(l->paths);
    mem_free(l->slots);
    mem_free(l->best);
    mem_free(l->counted);
    mem_free(l->moved);
    map_done(&l->best_rows);
    map_init(&l->best_rows);
    l->best = NULL;
    l->best_count = l->best_cap = 0;
    l->nodes = l->at = l->paths = NULL;
    l->slots = NULL;
    l->counted = NULL;
    l->moved = NULL;
    l->counted_count = l->moved_count = l->moved_cap = 0;
    l->node_count = l->at_count = l->slot_count = l->slot_cap = l->built_at = 0;
}

void levels_done(struct levels *l)
{
    tree_done(l);
    map_done(&l->best_rows);
    memset(l, 0, sizeof *l);
}

void levels_copy(struct levels *dst, const struct levels *src)
{
    levels_init(dst);
    dst->count = src->count;
    memcpy(dst->rows, src->rows, sizeof dst->rows);
}

void levels_changed(struct levels *l)
{
    tree_done(l);
}

/* Without levels, digests are as if there was nothing to know. */
void levels_walk(struct levels *l, uint32_t names, struct tape *t)
{
    if (tape_digests(t) && l->count == 0)
        return;
    tape_max(t, &l->count, LEVELS_MAX, "levels");
    for (uint32_t i = 0; tape_more(t, i, l->count); i++) {
        tape_row(t, &l->rows[i].name, names, "name of a level");
        tape_i64_in(t, &l->rows[i].bandwidth_bytes, 0, LEVEL_BYTES_MAX, "bandwidth of a level");
        tape_i64_in(t, &l->rows[i].uplink_bytes, 0, LEVEL_BYTES_MAX, "uplink of a level");
        if (tape_loads(t) && !t->failed && levels_find(l, l->rows[i].name) != i)
            tape_fail(t, "level %u is there twice", i);
    }
}

uint32_t levels_find(const struct levels *l, uint32_t name)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (l->rows[i].name == name)
            return i;
    return LEVEL_NONE;
}

/* ---- labels ---- */

/* Is it a label of this key? */
static bool has_key(const char *label, const char *key)
{
    const size_t len = strlen(key);

    return strncmp(label, key, len) == 0 && label[len] == '=';
}

/* Of several with one key, the first in order of text. */
uint32_t levels_label(const struct core *core, uint32_t class_id, uint32_t level)
{
    const struct node_class *class = &core->nodes.classes[class_id];
    const char *key = names_text(&core->names, core->levels.rows[level].name);
    uint32_t best = LEVEL_NONE;

    for (uint32_t i = 0; i < class->label_count; i++) {
        const char *label = names_text(&core->names, class->labels[i]);

        if (has_key(label, key) &&
            (best == LEVEL_NONE || strcmp(label, names_text(&core->names, best)) < 0))
            best = class->labels[i];
    }
    return best;
}

bool levels_share_domain(const struct core *core, uint32_t node, uint32_t other, uint32_t level)
{
    const uint32_t a = core->nodes.rows[node].class_id, b = core->nodes.rows[other].class_id;

    if (levels_label(core, a, level) == LEVEL_NONE)
        return false;
    for (uint32_t i = 0; a != b && i <= level; i++)
        if (levels_label(core, a, i) != levels_label(core, b, i))
            return false;
    return true;
}

static const char *label_among(const char *const *labels, uint32_t count, const char *key)
{
    const char *best = NULL;

    for (uint32_t i = 0; i < count; i++)
        if (has_key(labels[i], key) && (best == NULL || strcmp(labels[i], best) < 0))
            best = labels[i];
    return best;
}

bool levels_moves(const struct core *core, uint32_t node, const char *const *labels, uint32_t count)
{
    for (uint32_t i = 0; i < core->levels.count; i++) {
        const uint32_t is = levels_label(core, core->nodes.rows[node].class_id, i);
        const char *text =
            label_among(labels, count, names_text(&core->names, core->levels.rows[i].name));

        if ((is == LEVEL_NONE) != (text == NULL) ||
            (text != NULL && strcmp(names_text(&core->names, is), text) != 0))
            return true;
    }
    return false;
}

/* ---- the tree ---- */

/* A node while the tree is made. */
struct leaf {
    uint32_t node, order;
    uint32_t path[LEVELS_MAX];
};

static int by_join(const void *a, const void *b, void *arg)
{
    const struct leaf *x = a, *y = b;

    (void)arg;
    return x->order < y->order ? -1 : x->order > y->order;
}

static int by_path(const void *a, const void *b, void *arg)
{
    const struct leaf *x = a, *y = b;
    const struct levels *l = arg;

    for (uint32_t i = 0; i < l->count; i++)
        if (x->path[i] != y->path[i])
            return x->path[i] < y->path[i] ? -1 : 1;
    return by_join(a, b, NULL);
}

/* [classes * levels] */
static uint32_t *labels_of_classes(const struct core *core)
{
    const uint32_t count = core->levels.count;
    uint32_t *labels = mem_alloc((size_t)core->nodes.class_count * count, sizeof *labels);

    for (uint32_t class = 0; class < core->nodes.class_count; class ++)
        for (uint32_t i = 0; core->nodes.class_nodes[class] > 0 && i < count; i++)
            labels[class * count + i] = levels_label(core, class, i);
    return labels;
}

static uint32_t slot_below(struct levels *l, struct map *known, uint32_t above, uint32_t label)
{
    const uint64_t key = (uint64_t)above << 32 | label;
    const struct slot slot = {.is_domain = label != LEVEL_NONE};
    uint32_t row;

    if (map_find(known, key, &row))
        return row;
    row = l->slot_count;
    map_put(known, key, row);
    vec_push(l->slots, l->slot_count, l->slot_cap, slot);
    return row;
}

/* Nodes in order of joining, so that slots are numbered by their first node. */
static struct leaf *list_leaves(struct core *core)
{
    struct levels *l = &core->levels;
    struct leaf *leaves = mem_alloc(core->nodes.in_use, sizeof *leaves);
    uint32_t *labels = labels_of_classes(core), count = 0;
    struct map known;

    map_init(&known);
    for (uint32_t node = 0; node < core->nodes.count; node++)
        if (core->nodes.rows[node].in_use)
            leaves[count++] = (struct leaf){.node = node, .order = core->nodes.rows[node].order};
    sort_stable(leaves, count, sizeof *leaves, by_join, NULL);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t *of = &labels[core->nodes.rows[leaves[i].node].class_id * l->count];
        uint32_t above = UINT32_MAX;

        for (uint32_t d = 0; d < l->count; d++)
            above = leaves[i].path[d] = slot_below(l, &known, above, of[d]);
    }
    map_done(&known);
    mem_free(labels);
    return leaves;
}

static void take_leaf(struct levels *l, const struct leaf *leaf, uint32_t i)
{
    l->nodes[i] = leaf->node;
    l->at[leaf->node] = i;
    for (uint32_t d = 0; d < l->count; d++) {
        struct slot *slot = &l->slots[leaf->path[d]];

        l->paths[(uint64_t)i * l->count + d] = leaf->path[d];
        slot->first = slot->count == 0 ? i : slot->first;
        slot->count++;
    }
}

void levels_sync(struct core *core)
{
    struct levels *l = &core->levels;
    struct leaf *leaves;

    if (l->built_at == core->nodes.changes)
        return;
    tree_done(l);
    leaves = list_leaves(core);
    l->node_count = core->nodes.in_use;
    l->at_count = core->nodes.count;
    sort_stable(leaves, l->node_count, sizeof *leaves, by_path, l);
    l->nodes = mem_alloc(l->node_count, sizeof *l->nodes);
    l->at = mem_alloc(l->at_count, sizeof *l->at);
    l->paths = mem_alloc((size_t)l->node_count * l->count, sizeof *l->paths);
    for (uint32_t node = 0; node < l->at_count; node++)
        l->at[node] = ROW_NONE;
    for (uint32_t i = 0; i < l->node_count; i++)
        take_leaf(l, &leaves[i], i);
    mem_free(leaves);
    l->built_at = core->nodes.changes;
}

/* ---- who crosses uplinks ---- */

enum counted {
    COUNTED_NOT,
    COUNTED_YES,  /* in slots[].crossing, as its tasks are now */
    COUNTED_ANEW, /* it is to be: in the list `moved` */
};

static bool is_running(const struct job *row)
{
    return row->state != JOB_FREE && row->state != JOB_PENDING && row->task_first != ROW_NONE;
}

static uint32_t tasks_there(const struct core *core, const struct job *row)
{
    uint32_t tasks = 0;

    for (uint32_t i = 0; i < row->task_count; i++)
        tasks += !job_task(core, row, i)->left;
    return tasks;
}

/* It crosses the uplinks of each slot that has some of its tasks, and not all. */
static void count_crossing(const struct core *core, const struct job *row, int sign,
                           struct slot *slots)
{
    const struct levels *l = &core->levels;
    const uint32_t all = tasks_there(core, row);
    struct map tasks; /* slot -> how many */

    if (all < 2)
        return;
    map_init(&tasks);
    for (uint32_t i = 0; i < row->task_count; i++) {
        const struct task *task = job_task(core, row, i);

        for (uint32_t d = 1; !task->left && d <= l->count; d++) {
            const uint32_t slot = levels_slot(l, l->at[task->node], d);
            uint32_t inside = 0;

            (void)map_find(&tasks, slot, &inside);
            map_put(&tasks, slot, inside + 1);
            if (inside == 0)
                slots[slot].crossing += (uint32_t)sign;
            if (inside + 1 == all)
                slots[slot].crossing -= (uint32_t)sign;
        }
    }
    map_done(&tasks);
}

static uint8_t *counted_of(struct levels *l, uint32_t job)
{
    if (job >= l->counted_count) {
        uint32_t count = l->counted_count;

        vec_reserve(l->counted, count, job + 1);
        memset(l->counted + l->counted_count, COUNTED_NOT, count - l->counted_count);
        l->counted_count = count;
    }
    return &l->counted[job];
}

void levels_task_moves(struct core *core, uint32_t job)
{
    struct levels *l = &core->levels;
    uint8_t *counted;

    if (l->count == 0 || l->built_at != core->nodes.changes)
        return; /* all is counted with the new tree */
    counted = counted_of(l, job);
    if (*counted == COUNTED_ANEW)
        return;
    if (*counted == COUNTED_YES)
        count_crossing(core, &core->jobs.rows[job], -1, l->slots);
    *counted = COUNTED_ANEW;
    vec_push(l->moved, l->moved_count, l->moved_cap, job);
}

static void count_job(struct core *core, uint32_t job)
{
    const struct job *row = &core->jobs.rows[job];
    uint8_t *counted = counted_of(&core->levels, job);

    *counted = is_running(row) ? COUNTED_YES : COUNTED_NOT;
    if (is_running(row))
        count_crossing(core, row, 1, core->levels.slots);
}

void levels_load_sync(struct core *core)
{
    struct levels *l = &core->levels;
    const bool all = l->built_at != core->nodes.changes;

    levels_sync(core);
    if (l->count == 0)
        return;
    for (uint32_t i = 0; all && i < core->jobs.active_count; i++)
        count_job(core, core->jobs.active[i]);
    for (uint32_t i = 0; i < l->moved_count; i++)
        count_job(core, l->moved[i]);
    l->moved_count = 0;
}

bool levels_counted_right(const struct core *core)
{
    const struct levels *l = &core->levels;
    struct slot *slots;
    bool right = true;

    if (l->count == 0 || l->built_at != core->nodes.changes)
        return true;
    slots = mem_copy(l->slots, l->slot_count, sizeof *slots);
    for (uint32_t i = 0; i < l->slot_count; i++)
        slots[i].crossing = 0;
    for (uint32_t job = 0; job < l->counted_count; job++)
        if (l->counted[job] == COUNTED_YES)
            count_crossing(core, &core->jobs.rows[job], 1, slots);
    for (uint32_t i = 0; i < core->jobs.active_count; i++)
        right = right && core->jobs.active[i] < l->counted_count &&
                l->counted[core->jobs.active[i]] != COUNTED_NOT;
    for (uint32_t i = 0; i < l->slot_count; i++)
        right = right && slots[i].crossing == l->slots[i].crossing;
    mem_free(slots);
    return right;
}
