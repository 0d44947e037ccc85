/* SPDX-License-Identifier: Apache-2.0 */
/* Every gang of up to 3 tasks on every cluster of up to 3 nodes of up to 4 GPUs, empty ones and
 * partly used ones: the core starts the gang if and only if some placement of it exists. The
 * answer that it is held against tries all sets of GPUs of all nodes for each task in turn. */
#include "core/impl.h"
#include "unit/core_test.h"

enum { NODES = 3, GPUS = 4, TASKS = 3 };

/* What one task may ask for, without and with a CPU. */
static const struct group_spec shapes[] = {
    {.tasks = 1, .gpus = 1},
    {.tasks = 1, .gpus = 2},
    {.tasks = 1, .gpus = 1, .gpu_mgpu = 300},
    {.tasks = 1, .gpus = 1, .gpu_mgpu = 500},
    {.tasks = 1, .gpus = 1, .gpu_mgpu = 700},
    {.tasks = 1, .gpus = 2, .gpu_mgpu = 500},
    {.tasks = 1, .gpus = 1, .cpu_mcpu = 1},
    {.tasks = 1, .gpus = 2, .cpu_mcpu = 1},
    {.tasks = 1, .gpus = 1, .gpu_mgpu = 300, .cpu_mcpu = 1},
    {.tasks = 1, .gpus = 1, .gpu_mgpu = 500, .cpu_mcpu = 1},
    {.tasks = 1, .gpus = 1, .gpu_mgpu = 700, .cpu_mcpu = 1},
    {.tasks = 1, .gpus = 2, .gpu_mgpu = 500, .cpu_mcpu = 1},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* A node: what is free on it. */
struct node_case {
    uint32_t gpus;
    uint32_t mcpu;
    uint32_t free_mgpu[GPUS];
};

/* ---- the brute force ---- */

struct brute {
    struct node_case nodes[NODES];
    uint32_t node_count;
    const uint32_t *gang; /* shapes, ROW_NONE behind the last */
};

static bool brute_place(struct brute *b, uint32_t task);

/* Tries every set of GPUs for this task that has `chosen` and then only later ones. */
static bool brute_gpus(struct brute *b, uint32_t task, struct node_case *node, uint32_t from,
                       uint32_t wanted)
{
    const struct group_spec *shape = &shapes[b->gang[task]];
    const uint32_t need = shape->gpu_mgpu > 0 ? shape->gpu_mgpu : GPU_MGPU;

    if (wanted == 0)
        return brute_place(b, task + 1);
    for (uint32_t gpu = from; gpu < node->gpus; gpu++) {
        bool done;

        if (node->free_mgpu[gpu] < need)
            continue;
        node->free_mgpu[gpu] -= need;
        done = brute_gpus(b, task, node, gpu + 1, wanted - 1);
        node->free_mgpu[gpu] += need;
        if (done)
            return true;
    }
    return false;
}

static bool brute_place(struct brute *b, uint32_t task)
{
    const struct group_spec *shape;

    if (task == TASKS || b->gang[task] == ROW_NONE)
        return true;
    shape = &shapes[b->gang[task]];
    for (uint32_t n = 0; n < b->node_count; n++) {
        bool done;

        if (b->nodes[n].mcpu < shape->cpu_mcpu)
            continue;
        b->nodes[n].mcpu -= (uint32_t)shape->cpu_mcpu;
        done = brute_gpus(b, task, &b->nodes[n], 0, shape->gpus);
        b->nodes[n].mcpu += (uint32_t)shape->cpu_mcpu;
        if (done)
            return true;
    }
    return false;
}

/* ---- the same cluster as a core ---- */

static void use_gpu(struct bed *bed, uint64_t *id, const char *name, uint32_t gpu, uint32_t mgpu)
{
    SUBMIT(bed, .id = ++*id, .gpus = 1, .mgpu = mgpu, .label = name);
    bed_step(bed);
    apply(bed, started_on(*id, 0, name, 1ull << gpu));
}

static void open_case(struct bed *bed, const struct placement_policy *policy,
                      const struct node_case *nodes, uint32_t count, uint64_t *id)
{
    static const char *const names[NODES] = {"n0", "n1", "n2"};

    bed_open(bed, policy, &in_turn);
    for (uint32_t n = 0; n < count; n++) {
        bed_apply(bed, &(struct event){.type = EVENT_NODE_UPSERTED,
                                       .node = {.name = names[n],
                                                .model = "A100",
                                                .gpus = nodes[n].gpus,
                                                .cpu_mcpu = nodes[n].mcpu,
                                                .labels = &names[n],
                                                .label_count = 1}});
        for (uint32_t gpu = 0; gpu < nodes[n].gpus; gpu++)
            if (nodes[n].free_mgpu[gpu] < GPU_MGPU)
                use_gpu(bed, id, names[n], gpu, GPU_MGPU - nodes[n].free_mgpu[gpu]);
    }
}

/* Equal tasks that follow each other are one group, as people would write them. */
static uint32_t gang_groups(const uint32_t *gang, struct group_spec *groups)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < TASKS && gang[i] != ROW_NONE; i++)
        if (i > 0 && gang[i] == gang[i - 1])
            groups[count - 1].tasks++;
        else
            groups[count++] = shapes[gang[i]];
    return count;
}

/* All tasks are where they fit, together. */
static void check_places(const struct bed *bed, uint64_t id, const struct brute *b)
{
    struct brute left = *b;
    uint32_t tasks = 0;

    for (; tasks < TASKS && b->gang[tasks] != ROW_NONE; tasks++) {
        const struct group_spec *shape = &shapes[b->gang[tasks]];
        const struct task_place *place = bed_place(bed, id, tasks);
        const uint32_t need = shape->gpu_mgpu > 0 ? shape->gpu_mgpu : GPU_MGPU;
        struct node_case *node = &left.nodes[place->node];

        assert_true(place->node < b->node_count);
        assert_int_equal(__builtin_popcountll(place->gpu_mask), shape->gpus);
        assert_true(node->mcpu >= shape->cpu_mcpu);
        node->mcpu -= (uint32_t)shape->cpu_mcpu;
        for (uint32_t gpu = 0; gpu < 64; gpu++)
            if (place->gpu_mask >> gpu & 1) {
                assert_true(gpu < node->gpus && node->free_mgpu[gpu] >= need);
                node->free_mgpu[gpu] -= need;
            }
    }
    assert_int_equal(bed_find(bed, DECISION_START, id)->place_count, tasks);
}

struct tally {
    uint64_t cases, fit;
};

static void try_gang(struct bed *bed, uint64_t id, struct brute *b, struct tally *tally)
{
    struct group_spec groups[TASKS];
    const struct job_layout_spec layout = {
        .groups = groups, .group_count = gang_groups(b->gang, groups), .slowdown_ppm = 1000000};
    const struct event submit = {.type = EVENT_JOB_SUBMITTED,
                                 .job = {.id = id,
                                         .queue = "",
                                         .user = "",
                                         .name = "",
                                         .layouts = &layout,
                                         .layout_count = 1,
                                         .remaining_us = -1}};
    const bool fits = brute_place(b, 0);

    assert_int_equal(core_apply(bed->core, &submit, NULL), 0);
    core_step(bed->core, 0, &bed->out);
    if ((bed_find(bed, DECISION_START, id) != NULL) != fits) {
        for (uint32_t n = 0; n < b->node_count; n++)
            print_message("# node %u: %u mcpu, GPUs %u %u %u %u\n", n, b->nodes[n].mcpu,
                          b->nodes[n].free_mgpu[0], b->nodes[n].free_mgpu[1],
                          b->nodes[n].free_mgpu[2], b->nodes[n].free_mgpu[3]);
        fail_msg("shapes %d %d %d: the core %s, but a place %s", (int)b->gang[0], (int)b->gang[1],
                 (int)b->gang[2], fits ? "waits" : "starts", fits ? "exists" : "does not exist");
    }
    tally->cases++;
    tally->fit += fits;
    if (!fits && bed_state(bed, id) == JOB_FREE)
        return; /* rejected: it could never fit */
    if (!fits) {
        assert_int_equal(core_apply(bed->core, &(struct event[]){cancelled(id)}[0], NULL), 0);
        return;
    }
    check_places(bed, id, b);
    for (uint32_t n = 0; n < b->node_count; n++)
        if (core_check_node(bed->core, n, &bed->err) < 0)
            fail_msg("%s", bed->err.text);
    for (uint32_t i = 0; i < TASKS && b->gang[i] != ROW_NONE; i++)
        assert_int_equal(core_apply(bed->core, &(struct event[]){exited(id, i, 0)}[0], NULL), 0);
}

/* All gangs of up to three tasks, in every order of different shapes that makes other groups. */
static void try_all_gangs(const struct placement_policy *policy, const struct node_case *nodes,
                          uint32_t count, struct tally *tally)
{
    struct brute b = {.node_count = count};
    struct bed bed;
    uint64_t id = 0, before;

    memcpy(b.nodes, nodes, count * sizeof *nodes);
    open_case(&bed, policy, nodes, count, &id);
    before = bed.core->index.whole_free;
    for (uint32_t x = 0; x < SHAPES; x++)
        for (uint32_t y = 0; y <= SHAPES; y++)
            for (uint32_t z = 0; z <= (y < SHAPES ? SHAPES : 0); z++) {
                const uint32_t gang[TASKS] = {x, y < SHAPES ? y : ROW_NONE,
                                              y < SHAPES && z < SHAPES ? z : ROW_NONE};

                if ((y < SHAPES && y < x) || (y < SHAPES && z < y))
                    continue;
                b.gang = gang;
                try_gang(&bed, ++id, &b, tally);
            }
    assert_int_equal(bed.core->index.whole_free, before);
    bed_check(&bed);
    bed_close(&bed);
}

static void try_all_clusters(const struct placement_policy *policy, const struct node_case *kinds,
                             uint32_t kind_count, uint32_t nodes_most, struct tally *tally)
{
    for (uint32_t a = 0; a < kind_count; a++) {
        const struct node_case one[] = {kinds[a]};

        try_all_gangs(policy, one, 1, tally);
        for (uint32_t b = a; nodes_most > 1 && b < kind_count; b++) {
            const struct node_case two[] = {kinds[a], kinds[b]};

            try_all_gangs(policy, two, 2, tally);
            for (uint32_t c = b; nodes_most > 2 && c < kind_count; c++) {
                const struct node_case three[] = {kinds[a], kinds[b], kinds[c]};

                try_all_gangs(policy, three, 3, tally);
            }
        }
    }
}

/* Up to four GPUs, all free, with 0 to 3 CPUs. */
static void every_gang_on_every_empty_cluster(void **state)
{
    struct node_case kinds[(GPUS + 1) * 3];
    struct tally tally = {0};
    uint32_t count = 0;

    (void)state;
    for (uint32_t gpus = 0; gpus <= GPUS; gpus++)
        for (uint32_t cpus = 0; cpus < 3; cpus++)
            kinds[count++] =
                (struct node_case){gpus, cpus, {GPU_MGPU, GPU_MGPU, GPU_MGPU, GPU_MGPU}};
    try_all_clusters(&place_first, kinds, count, 3, &tally);
    assert_int_equal(tally.cases, (15 + 120 + 680) * 454);
    assert_true(tally.fit > tally.cases / 4 && tally.fit < tally.cases);
}

/* One node in every state that 0.3, 0.5, 0.7 and whole tasks can leave, GPUs in ascending order
 * and in descending order (the index sorts them, the books do not). */
static void every_gang_on_every_node_that_is_partly_used(void **state)
{
    static const uint32_t levels[] = {0, 200, 300, 500, 700, 1000};
    struct tally tally = {0};

    (void)state;
    for (uint32_t gpus = 1; gpus <= GPUS; gpus++)
        for (uint32_t code = 0; code < 6 * 6 * 6 * 6; code++) {
            struct node_case node = {.gpus = gpus, .mcpu = 1 + code % 2};
            bool ascending = true, descending = true;

            for (uint32_t i = 0, rest = code; i < GPUS; i++, rest /= 6)
                node.free_mgpu[i] = i < gpus ? levels[rest % 6] : 0;
            for (uint32_t i = 1; i < gpus; i++) {
                ascending = ascending && node.free_mgpu[i - 1] <= node.free_mgpu[i];
                descending = descending && node.free_mgpu[i - 1] >= node.free_mgpu[i];
            }
            for (uint32_t i = gpus, rest = code; i < GPUS; i++) /* each once */
                ascending = ascending && (rest / (i == 1 ? 6 : i == 2 ? 36 : 216)) % 6 == 0;
            if (ascending || (descending && gpus == GPUS))
                try_all_gangs(code % 3 ? &place_full : &place_empty, &node, 1, &tally);
        }
    assert_true(tally.cases > 200 * 454);
    assert_true(tally.fit > tally.cases / 10 && tally.fit < tally.cases);
}

/* Two and three nodes that are partly used. */
static void every_gang_on_clusters_that_are_partly_used(void **state)
{
    static const struct node_case kinds[] = {
        {1, 1, {1000}},
        {1, 0, {500}},
        {1, 2, {700}},
        {2, 1, {1000, 500}},
        {2, 2, {700, 300}},
        {2, 1, {500, 500}},
        {3, 1, {500, 1000, 700}},
        {3, 2, {300, 700, 700}},
        {4, 1, {1000, 300, 500, 700}},
        {4, 2, {500, 300, 500, 700}},
        {4, 3, {1000, 1000, 500, 0}},
    };
    struct tally tally = {0};

    (void)state;
    try_all_clusters(&place_salted, kinds, sizeof kinds / sizeof kinds[0], 3, &tally);
    assert_int_equal(tally.cases, (11 + 66 + 286) * 454);
    assert_true(tally.fit > tally.cases / 4 && tally.fit < tally.cases);
}

/* Two nodes of up to two GPUs in every state of these amounts. */
static void every_gang_on_two_small_nodes_that_are_partly_used(void **state)
{
    static const uint32_t levels[] = {0, 300, 500, 700, 1000};
    struct node_case kinds[2 * (5 + 15)];
    struct tally tally = {0};
    uint32_t count = 0;

    (void)state;
    for (uint32_t cpus = 1; cpus <= 2; cpus++)
        for (uint32_t a = 0; a < 5; a++) {
            kinds[count++] = (struct node_case){1, cpus, {levels[a]}};
            for (uint32_t b = a; b < 5; b++)
                kinds[count++] = (struct node_case){2, cpus, {levels[b], levels[a]}};
        }
    try_all_clusters(&place_full, kinds, count, 2, &tally);
    assert_int_equal(tally.cases, (40 + 820) * 454);
    assert_true(tally.fit > tally.cases / 10 && tally.fit < tally.cases);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(every_gang_on_every_empty_cluster),
        TEST(every_gang_on_every_node_that_is_partly_used),
        TEST(every_gang_on_clusters_that_are_partly_used),
        TEST(every_gang_on_two_small_nodes_that_are_partly_used),
    };

    return RUN_TESTS(tests);
}
