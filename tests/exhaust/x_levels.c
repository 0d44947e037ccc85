/* SPDX-License-Identifier: Apache-2.0 */
/* Every gang of up to 5 tasks, with every wish that two levels allow, on every tree of 4 nodes of 2
 * GPUs, with every number of GPUs free on each: the gang is placed if and only if some domain holds
 * it; in the lowest that does; among these in one with the least room; inside on the fewest
 * children; and task numbers follow the tree. The answer that it is held against tries every number
 * of tasks on every node. */
#include "core/impl.h"
#include "core/place.h"
#include "unit/core_test.h"

enum { NODES = 4, GPUS = 2, LEVELS = 2, NODE_DEPTH = LEVELS + 1, TASKS = 5 };
enum { NO_LABEL = NODES };

struct wish {
    const char *within, *group_within;
    uint32_t within_depth, group_depth, group_size;
};

static const struct wish wishes[] = {
    {"", "", 0, 0, 0},     {"zone", "", 1, 0, 0},     {"rack", "", 2, 0, 0},
    {"", "rack", 0, 2, 2}, {"zone", "rack", 1, 2, 2}, {"", "zone", 0, 1, 2},
};
enum { WISHES = sizeof wishes / sizeof wishes[0] };

/* label[level][node]: the first node with the same one, or NO_LABEL. */
struct tree {
    uint32_t label[LEVELS][NODES];
    uint32_t free[NODES];
};

/* Tasks on each node. */
struct takes {
    uint32_t on[NODES];
};

static bool same_slot(const struct tree *t, uint32_t a, uint32_t b, uint32_t depth)
{
    if (depth == NODE_DEPTH)
        return a == b;
    for (uint32_t i = 0; i < depth; i++)
        if (t->label[i][a] != t->label[i][b])
            return false;
    return true;
}

static bool in_domain(const struct tree *t, uint32_t node, uint32_t depth)
{
    return depth == 0 || depth == NODE_DEPTH || t->label[depth - 1][node] != NO_LABEL;
}

/* ---- the brute force ---- */

static uint32_t sum(const struct takes *takes)
{
    return takes->on[0] + takes->on[1] + takes->on[2] + takes->on[3];
}

static uint32_t sum_in(const struct tree *t, const struct takes *takes, uint32_t node,
                       uint32_t depth)
{
    uint32_t tasks = 0;

    for (uint32_t i = 0; i < NODES; i++)
        tasks += same_slot(t, node, i, depth) ? takes->on[i] : 0;
    return tasks;
}

static bool is_allowed(const struct tree *t, const struct wish *wish, const struct takes *takes)
{
    for (uint32_t i = 0; i < NODES; i++) {
        if (takes->on[i] == 0)
            continue;
        if (takes->on[i] > t->free[i] || !in_domain(t, i, wish->within_depth) ||
            !in_domain(t, i, wish->group_depth))
            return false;
        if (wish->group_size > 0 && sum_in(t, takes, i, wish->group_depth) % wish->group_size != 0)
            return false;
        for (uint32_t k = 0; k < i; k++)
            if (takes->on[k] > 0 && !same_slot(t, i, k, wish->within_depth))
                return false;
    }
    return true;
}

static uint32_t first_used(const struct takes *takes)
{
    uint32_t i = 0;

    while (i + 1 < NODES && takes->on[i] == 0)
        i++;
    return i;
}

/* Of the lowest domain that holds all. */
static uint32_t depth_of(const struct tree *t, const struct takes *takes)
{
    const uint32_t first = first_used(takes);

    for (uint32_t depth = NODE_DEPTH;; depth--) {
        bool all = in_domain(t, first, depth);

        for (uint32_t i = 0; i < NODES; i++)
            all = all && (takes->on[i] == 0 || same_slot(t, first, i, depth));
        if (all)
            return depth;
    }
}

static bool next(struct takes *takes)
{
    for (uint32_t i = 0; i < NODES; i++) {
        if (takes->on[i]++ < GPUS)
            return true;
        takes->on[i] = 0;
    }
    return false;
}

/* Every way to put tasks on nodes that the wish allows. */
struct ways {
    struct takes list[81];
    uint32_t count;
};

static void list_ways(const struct tree *t, const struct wish *wish, struct ways *out)
{
    struct takes takes = {{0}};

    out->count = 0;
    while (next(&takes))
        if (is_allowed(t, wish, &takes))
            out->list[out->count++] = takes;
}

/* The most that the slot of this node holds. */
static uint32_t most_in(const struct tree *t, const struct ways *ways, uint32_t node,
                        uint32_t depth)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < ways->count; i++) {
        const uint32_t tasks = sum_in(t, &ways->list[i], node, depth);

        if (tasks == sum(&ways->list[i]) && tasks > most)
            most = tasks;
    }
    return most;
}

/* Children of the slot with tasks. */
static uint32_t children(const struct tree *t, const struct takes *takes, uint32_t node,
                         uint32_t depth)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < NODES; i++) {
        bool is_new = takes->on[i] > 0 && same_slot(t, node, i, depth);

        for (uint32_t k = 0; k < i && is_new; k++)
            is_new = takes->on[k] == 0 || !same_slot(t, i, k, depth + 1);
        count += is_new;
    }
    return count;
}

struct best {
    bool any;
    uint32_t depth, room; /* of the lowest domain that does, the least */
};

static struct best best_of(const struct tree *t, const struct ways *ways, uint32_t tasks)
{
    struct best best = {false, 0, 0};

    for (uint32_t i = 0; i < ways->count; i++) {
        const struct takes *takes = &ways->list[i];
        uint32_t depth, room;

        if (sum(takes) != tasks)
            continue;
        depth = depth_of(t, takes);
        if (best.any && depth < best.depth)
            continue;
        room = most_in(t, ways, first_used(takes), depth);
        if (!best.any || depth > best.depth || room < best.room)
            best = (struct best){true, depth, room};
    }
    return best;
}

/* Fewer children of a slot could not hold what it takes. */
static bool is_packed(const struct tree *t, const struct ways *ways, const struct takes *is,
                      uint32_t node, uint32_t depth)
{
    const uint32_t tasks = sum_in(t, is, node, depth), used = children(t, is, node, depth);

    for (uint32_t i = 0; i < ways->count; i++)
        if (sum(&ways->list[i]) == tasks && sum_in(t, &ways->list[i], node, depth) == tasks &&
            children(t, &ways->list[i], node, depth) < used)
            return false;
    for (uint32_t i = 0; depth + 1 < NODE_DEPTH && i < NODES; i++)
        if (is->on[i] > 0 && same_slot(t, node, i, depth) && !is_packed(t, ways, is, i, depth + 1))
            return false;
    return true;
}

/* ---- what the core does ---- */

struct tally {
    uint64_t cases, placed, at_depth[NODE_DEPTH + 1];
};

static void ask(struct bed *bed, const struct tree *t, uint32_t tasks, uint32_t w,
                const struct ways *ways, struct tally *tally)
{
    struct core *core = bed->core;
    const struct wish *wish = &wishes[w];
    const uint32_t job = jobs_find(&core->jobs, tasks * WISHES + w);
    const uint32_t mark = trial_mark(&core->trial);
    const struct best best = best_of(t, ways, tasks);
    struct takes is = {{0}};
    enum reason reason;
    uint32_t layout;

    tally->cases++;
    assert_int_equal(place_gang(core, core->jobs.rows[job].gang, UINT32_MAX, &layout, &reason),
                     best.any);
    if (!best.any) {
        assert_int_equal(core->trial.count, mark);
        return;
    }
    tally->placed++;
    tally->at_depth[best.depth]++;
    assert_int_equal(core->trial.count - mark, tasks);
    for (uint32_t i = 0; i < tasks; i++) {
        const struct trial_item *item = &core->trial.log[mark + i];

        is.on[item->node]++;
        assert_int_equal(item->slot, i);
        for (uint32_t d = 1; i > 0 && d <= NODE_DEPTH; d++)
            if (!same_slot(t, item[-1].node, item->node, d))
                for (uint32_t k = 0; k + 1 < i; k++) /* what was left is not come back to */
                    assert_false(same_slot(t, item[-1 - (int)k - 1].node, item->node, d));
    }
    assert_true(is_allowed(t, wish, &is));
    assert_int_equal(depth_of(t, &is), best.depth);
    assert_int_equal(most_in(t, ways, first_used(&is), best.depth), best.room);
    assert_true(is_packed(t, ways, &is, first_used(&is), best.depth));
    trial_undo(core, mark);
}

/* The first GPUs of each node are taken. */
static void take_gpus(struct core *core, struct tree *t, uint32_t shape)
{
    for (uint32_t node = 0; node < NODES; node++)
        for (uint32_t gpu = 0; gpu < GPUS - t->free[node]; gpu++)
            trial_take(core, node, shape, 1ull << gpu, 0, 0);
}

static void ask_all(struct bed *bed, struct tree *t, struct tally *tally)
{
    struct core *core = bed->core;
    const uint32_t gang = core->jobs.rows[jobs_find(&core->jobs, WISHES)].gang;
    const uint32_t shape =
        core->shapes.groups[core->shapes.layouts[core->shapes.gangs[gang].first_layout].first_group]
            .shape;

    for (uint32_t f = 0; f < 81; f++) {
        t->free[0] = f % 3;
        t->free[1] = f / 3 % 3;
        t->free[2] = f / 9 % 3;
        t->free[3] = f / 27;
        take_gpus(core, t, shape);
        for (uint32_t w = 0; w < WISHES; w++) {
            struct ways ways;

            list_ways(t, &wishes[w], &ways);
            for (uint32_t tasks = 1; tasks <= TASKS; tasks++)
                if (wishes[w].group_size == 0 || tasks % wishes[w].group_size == 0)
                    ask(bed, t, tasks, w, &ways, tally);
        }
        trial_undo(core, 0);
    }
}

static void submit(struct bed *bed, uint32_t tasks, uint32_t w)
{
    const struct group_spec group = {.tasks = tasks, .gpus = 1};
    const struct job_layout_spec layout = {
        .groups = &group, .group_count = 1, .slowdown_ppm = 1000000};
    const struct event event = {.type = EVENT_JOB_SUBMITTED,
                                .job = {.id = tasks * WISHES + w,
                                        .queue = "",
                                        .user = "",
                                        .name = "",
                                        .layouts = &layout,
                                        .layout_count = 1,
                                        .within = wishes[w].within,
                                        .near = wishes[w].within_depth < 2 ? "rack" : "",
                                        .group_within = wishes[w].group_within,
                                        .group_size = wishes[w].group_size,
                                        .grace_us = -1,
                                        .min_run_us = -1,
                                        .remaining_us = -1}};

    assert_int_equal(core_apply(bed->core, &event, &bed->err), 0);
}

static void join(struct bed *bed, const struct tree *t, uint32_t node)
{
    static const char *const labels[LEVELS][NODES] = {{"zone=a", "zone=b", "zone=c", "zone=d"},
                                                      {"rack=a", "rack=b", "rack=c", "rack=d"}};
    static const char *const names[NODES] = {"n0", "n1", "n2", "n3"};
    const char *own[LEVELS];
    struct event event = {
        .type = EVENT_NODE_UPSERTED,
        .node = {.name = names[node], .model = "A100", .gpus = GPUS, .labels = own}};

    for (uint32_t level = 0; level < LEVELS; level++)
        if (t->label[level][node] != NO_LABEL)
            own[event.node.label_count++] = labels[level][t->label[level][node]];
    assert_int_equal(core_apply(bed->core, &event, &bed->err), 0);
}

static void try_tree(struct tree *t, struct tally *tally)
{
    static const struct level_spec levels[LEVELS] = {{.name = "zone"}, {.name = "rack"}};
    const struct event config = {.type = EVENT_CONFIG_CHANGED,
                                 .rules = {.levels = levels, .level_count = LEVELS}};
    struct bed bed;

    bed_open(&bed, &place_first, &in_turn);
    assert_int_equal(core_apply(bed.core, &config, &bed.err), 0);
    for (uint32_t node = 0; node < NODES; node++)
        join(&bed, t, node);
    for (uint32_t tasks = 1; tasks <= TASKS; tasks++)
        for (uint32_t w = 0; w < WISHES; w++)
            if (wishes[w].group_size == 0 || tasks % wishes[w].group_size == 0)
                submit(&bed, tasks, w);
    ask_all(&bed, t, tally);
    bed_close(&bed);
}

/* Every way to give the nodes from this one on labels of the level; of names that differ in name
 * only, one. */
static void label_level(struct tree *t, uint32_t level, uint32_t node, struct tally *tally)
{
    if (node == NODES) {
        if (level + 1 == LEVELS)
            try_tree(t, tally);
        else
            label_level(t, level + 1, 0, tally);
        return;
    }
    for (uint32_t with = 0; with <= node; with++) {
        t->label[level][node] = with;
        if (with == node || t->label[level][with] == with)
            label_level(t, level, node + 1, tally);
    }
    t->label[level][node] = NO_LABEL;
    label_level(t, level, node + 1, tally);
}

static void every_gang_goes_to_the_lowest_domain_that_holds_it(void **state)
{
    struct tally tally = {0};
    struct tree tree;

    (void)state;
    label_level(&tree, 0, 0, &tally);
    assert_int_equal(tally.cases, 52 * 52 * 81 * (3 * TASKS + 3 * (TASKS / 2)));
    for (uint32_t depth = 0; depth <= NODE_DEPTH; depth++)
        assert_true(tally.at_depth[depth] > 10000); /* each is where some go */
    assert_true(tally.cases - tally.placed > 10000);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(every_gang_goes_to_the_lowest_domain_that_holds_it),
    };

    return RUN_TESTS(tests);
}
