/* SPDX-License-Identifier: Apache-2.0 */
/* What one pool of nodes does is none of another's business: jobs that ask for the nodes of one
 * pool are placed alike whatever the order in which others come for another pool, and capacity that
 * nobody may use has no price. Under every placement policy and every order. */
#include "base/rng.h"
#include "policy/registry.h"
#include "unit/core_test.h"

enum { SEEDS = 3, ROUNDS = 120, BATCH_MAX = 4, NODES = 6, POOLS = 2 };

static const char *const pools[POOLS] = {"pool=a", "pool=b"};

struct drawn {
    struct group_spec group;
    struct job_layout_spec layout;
    struct job_spec job;
    uint32_t pool;
};

static void draw_job(struct rng *rng, uint64_t id, struct drawn *d)
{
    static const struct group_spec shapes[] = {
        {.tasks = 1, .gpus = 1},
        {.tasks = 1, .gpus = 2},
        {.tasks = 2, .gpus = 1, .cpu_mcpu = 3000},
        {.tasks = 1, .gpus = 4},
        {.tasks = 1, .gpus = 1, .gpu_mgpu = 500},
        {.tasks = 1, .gpus = 1, .gpu_mgpu = 300, .gpu_memory_bytes = 9 * GB},
        {.tasks = 3, .gpus = 1, .gpu_mgpu = 200, .cpu_mcpu = 1000},
        {.tasks = 1, .cpu_mcpu = 5000, .memory_bytes = 4 * GB},
    };

    d->pool = (uint32_t)rng_below(rng, POOLS);
    d->group = shapes[rng_below(rng, sizeof shapes / sizeof shapes[0])];
    d->group.labels = &pools[d->pool];
    d->group.label_count = 1;
    d->layout =
        (struct job_layout_spec){.groups = &d->group, .group_count = 1, .slowdown_ppm = 1000000};
    d->job = (struct job_spec){
        .id = id,
        .queue = pools[d->pool],
        .user = "",
        .name = "",
        .class = "",
        .array = "",
        .layouts = &d->layout,
        .layout_count = 1,
        .grace_us = -1,
        .min_run_us = -1,
        .remaining_us = (int64_t)rng_below(rng, 100) * 1000000,
        .deadline_us = 1000000 + (int64_t)rng_below(rng, 1000) * 1000000,
    };
}

static void join(struct bed *bed, const char *name, const char *label)
{
    bed_apply(bed, &(struct event){.type = EVENT_NODE_UPSERTED,
                                   .node = {.name = name,
                                            .model = "A100",
                                            .gpus = 4,
                                            .gpu_memory_bytes = 40 * GB,
                                            .cpu_mcpu = 16000,
                                            .memory_bytes = 64 * GB,
                                            .labels = &label,
                                            .label_count = 1}});
}

/* An order that blocks holds back all of one line: there each pool has a queue of its own. */
static void set_queues(struct bed *bed)
{
    struct queue_spec queues[POOLS];

    for (uint32_t p = 0; p < POOLS; p++) {
        queues[p] = (struct queue_spec){.name = pools[p], .parent = "", .order = "", .weight = 1};
        for (int r = 0; r < RES_COUNT; r++)
            queues[p].guarantee[r] = queues[p].limit[r] = queues[p].borrow[r] = queues[p].lend[r] =
                queues[p].user_limit[r] = AMOUNT_NONE;
    }
    bed_apply(bed, &(struct event){.type = EVENT_CONFIG_CHANGED,
                                   .rules = {.queues = queues,
                                             .queue_count = POOLS,
                                             .default_queue = "",
                                             .root_order = "",
                                             .default_class = ""}});
}

static void open_one(struct bed *bed, const struct core_config *config)
{
    bed_open_with(bed, config);
    if (config->order->blocks)
        set_queues(bed);
    for (uint32_t i = 0; i < NODES; i++) {
        char name[16];

        snprintf(name, sizeof name, "n%u", i);
        join(bed, name, pools[i % POOLS]);
    }
}

static void submit(struct bed *bed, const struct drawn *d)
{
    bed_apply(bed, &(struct event){.type = EVENT_JOB_SUBMITTED, .job = d->job});
}

/* Jobs of the first pool first, or those of the last. */
static void submit_by_pool(struct bed *bed, const struct drawn *batch, uint32_t count, bool forward)
{
    for (uint32_t p = 0; p < POOLS; p++)
        for (uint32_t i = 0; i < count; i++)
            if (batch[i].pool == (forward ? p : POOLS - 1 - p))
                submit(bed, &batch[i]);
}

/* The same jobs start at the same places and the same ones stop, in any order. */
static void assert_same_moves(const struct bed *a, const struct bed *b)
{
    uint32_t moves = 0, others = 0;

    for (uint32_t i = 0; i < b->out.count; i++)
        others += b->out.items[i].type <= DECISION_STOP;
    for (uint32_t i = 0; i < a->out.count; i++) {
        const struct decision *x = &a->out.items[i];
        const struct decision *y;

        if (x->type > DECISION_STOP)
            continue;
        moves++;
        y = bed_find(b, x->type, x->job_id);
        assert_non_null(y);
        assert_int_equal(x->place_count, y->place_count);
        for (uint32_t k = 0; k < x->place_count; k++) {
            const struct task_place *p = &a->out.places[x->place_first + k];
            const struct task_place *q = &b->out.places[y->place_first + k];

            assert_true(p->task == q->task && p->gpu_mask == q->gpu_mask);
            assert_string_equal(p->node_name, q->node_name);
        }
    }
    assert_int_equal(moves, others);
}

/* What was decided comes true at once, in one core as in the other. */
static void come_true(struct bed *a, struct bed *b)
{
    const uint32_t count = a->out.count;
    struct decision *items = mem_copy(a->out.items, count, sizeof *items);

    for (uint32_t i = 0; i < count; i++) {
        const uint64_t id = items[i].job_id;

        if (items[i].type == DECISION_START) {
            bed_run(a, id);
            bed_run(b, id);
        } else if (items[i].type == DECISION_STOP) {
            bed_end(a, id, 143);
            bed_end(b, id, 143);
        }
    }
    mem_free(items);
}

static void step_both(struct bed *a, struct bed *b)
{
    for (uint32_t steps = 0; steps < 50; steps++) {
        bed_step(a);
        bed_step(b);
        assert_same_moves(a, b);
        if (bed_count(a, DECISION_START) + bed_count(a, DECISION_STOP) == 0)
            return;
        come_true(a, b);
    }
}

/* Some of those that run end. */
static void end_some(struct rng *rng, struct bed *a, struct bed *b, uint64_t last_id)
{
    for (uint64_t id = 1; id <= last_id; id++)
        if (bed_state(a, id) == JOB_RUNNING && rng_below(rng, 4) == 0) {
            bed_end(a, id, 0);
            bed_end(b, id, 0);
        }
}

static void play_permuted(const struct core_config *config, uint64_t seed)
{
    struct drawn batch[BATCH_MAX];
    struct bed a, b;
    struct rng rng;
    uint64_t id = 0;

    if (config->placement->tie == TIE_RANDOM_NODE)
        return; /* the next one who comes gets the next number that is drawn */
    rng_init(&rng, seed);
    open_one(&a, config);
    open_one(&b, config);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const uint32_t count = 1 + (uint32_t)rng_below(&rng, BATCH_MAX);

        for (uint32_t i = 0; i < count; i++)
            draw_job(&rng, ++id, &batch[i]);
        submit_by_pool(&a, batch, count, true);
        submit_by_pool(&b, batch, count, false);
        step_both(&a, &b);
        end_some(&rng, &a, &b, id);
    }
    bed_close(&a);
    bed_close(&b);
}

static void play_beside_idle(const struct core_config *config, uint64_t seed)
{
    struct bed a, b;
    struct rng rng;
    uint64_t id = 0;

    rng_init(&rng, seed);
    open_one(&a, config);
    open_one(&b, config);
    for (uint32_t i = 0; i < 5; i++) {
        char name[16];

        snprintf(name, sizeof name, "idle%u", i);
        join(&b, name, "pool=nobody");
    }
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct drawn d;

        draw_job(&rng, ++id, &d);
        submit(&a, &d);
        submit(&b, &d);
        step_both(&a, &b);
        end_some(&rng, &a, &b, id);
    }
    bed_close(&a);
    bed_close(&b);
}

/* Every placement policy with the first order, every order with the first policy. */
static void for_each_policy(void (*play)(const struct core_config *config, uint64_t seed))
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        for (uint32_t p = 0; placement_at(p) != NULL; p++)
            play(&(struct core_config){.placement = placement_at(p),
                                       .order = order_at(0),
                                       .seed = 5},
                 seed);
        for (uint32_t o = 1; order_at(o) != NULL; o++)
            play(&(struct core_config){.placement = placement_at(0),
                                       .order = order_at(o),
                                       .seed = 5},
                 seed);
    }
}

static void who_comes_first_for_another_pool_does_not_matter(void **state)
{
    (void)state;
    for_each_policy(play_permuted);
}

static void capacity_that_nobody_may_use_has_no_price(void **state)
{
    (void)state;
    for_each_policy(play_beside_idle);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(capacity_that_nobody_may_use_has_no_price),
        TEST(who_comes_first_for_another_pool_does_not_matter),
    };

    return RUN_TESTS(tests);
}
