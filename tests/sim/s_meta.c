/* SPDX-License-Identifier: Apache-2.0 */
/* Changes that must not matter: two cores live through the same history, told differently, and
 * decide the same. Rows are not compared, only what an outsider sees. */
#include "core/impl.h"
#include "unit/core_random.h"

enum { SEEDS = 10, EVENTS = 900 };

struct twins {
    struct bed a, b;
    struct play play;
};

static const struct core_config configs[] = {
    {.placement = &place_full, .order = &in_turn},
    {.placement = &place_salted, .order = &in_turn, .seed = 4},
    {.placement = &place_first, .order = &in_strict_turn},
    {.placement = &place_empty, .order = &by_queue},
    {.placement = &place_full, .order = &by_attained},
    {.placement = &place_full, .order = &by_queue, .repack = REPACK_ANEW},
    {.placement = &place_first,
     .order = &by_queue,
     .repack = REPACK_KEEP,
     .migrate_wait_us = 2000000,
     .migrate_gain_ppm = 50000},
};
enum { CONFIGS = sizeof configs / sizeof configs[0] };

static void both_apply(struct twins *t, const struct event *a, const struct event *b)
{
    assert_int_equal(core_apply(t->a.core, a, NULL), core_apply(t->b.core, b, NULL));
}

/* "n7" becomes "x7". */
static const char *renamed(const char *name, char *buffer, size_t size)
{
    if (name[0] != 'n')
        return name;
    snprintf(buffer, size, "x%s", name + 1);
    return buffer;
}

static const char *rename_level(const char *level)
{
    return level != NULL && strcmp(level, "rack") == 0 ? "leaf" : level;
}

/* Racks are leaves, and their order by name is the other one. */
static void rename_labels(struct node_spec *node)
{
    static const char *const racks[] = {"rack=r0", "rack=r1", "rack=r2"};
    static const char *const leaves[] = {"leaf=9", "leaf=5", "leaf=1"};
    static const char *labels[2];

    for (uint32_t i = 0; i < node->label_count; i++) {
        labels[i] = node->labels[i];
        for (uint32_t k = 0; k < 3; k++)
            labels[i] = strcmp(labels[i], racks[k]) == 0 ? leaves[k] : labels[i];
    }
    node->labels = labels;
}

static struct event rename_racks(const struct event *event, struct level_spec *levels)
{
    struct event other = *event;

    for (uint32_t i = 0; event->type == EVENT_CONFIG_CHANGED && i < event->rules.level_count; i++) {
        levels[i] = event->rules.levels[i];
        levels[i].name = rename_level(levels[i].name);
    }
    if (event->type == EVENT_CONFIG_CHANGED)
        other.rules.levels = levels;
    if (event->type == EVENT_NODE_UPSERTED)
        rename_labels(&other.node);
    if (event->type == EVENT_JOB_SUBMITTED) {
        other.job.within = rename_level(event->job.within);
        other.job.near = rename_level(event->job.near);
        other.job.group_within = rename_level(event->job.group_within);
    }
    return other;
}

static struct event rename_nodes(const struct event *event, char *buffer, size_t size)
{
    static struct level_spec levels[2];
    struct event other = rename_racks(event, levels);

    if (event->type == EVENT_NODE_UPSERTED)
        other.node.name = renamed(event->node.name, buffer, size);
    else if (event->type == EVENT_NODE_REMOVED)
        other.node_name = renamed(event->node_name, buffer, size);
    else if (event->type == EVENT_GPU_HEALTH)
        other.gpu.node = renamed(event->gpu.node, buffer, size);
    else if (event->type == EVENT_NODE_HEALTH)
        other.node_health.node = renamed(event->node_health.node, buffer, size);
    else if (event->type == EVENT_NODE_LISTED)
        other.listed.node = renamed(event->listed.node, buffer, size);
    else if (event->type == EVENT_GPU_SPLIT)
        other.split.node = renamed(event->split.node, buffer, size);
    else if (event->type == EVENT_TASK_STARTED)
        other.task.node = renamed(event->task.node, buffer, size);
    return other;
}

static void both_have_levels(struct twins *t, bool same_names)
{
    struct event event = {.type = EVENT_CONFIG_CHANGED}, other;
    struct level_spec levels[2];

    if (!t->play.levels)
        return;
    play_levels(&t->play, &event.rules);
    event.rules.level_count = 2;
    other = same_names ? event : rename_racks(&event, levels);
    both_apply(t, &event, &other);
}

static void twins_open(struct twins *t, uint32_t config, uint64_t seed, bool same_names)
{
    struct core_config with_orders = configs[config];

    play_init(&t->play, seed * 31 + 3, 4 + (uint32_t)seed % 7);
    t->play.levels = seed % 2 == 0 && with_orders.repack == REPACK_NEVER;
    with_orders.orders = t->play.orders = test_orders;
    with_orders.order_count = t->play.order_count = TEST_ORDERS;
    bed_open_with(&t->a, &with_orders);
    bed_open_with(&t->b, &with_orders);
    both_have_levels(t, same_names);
    for (uint32_t i = 0; i < t->play.nodes; i++) {
        char buffer[32];
        struct event event = {0}, other;

        play_node(&t->play, &event);
        snprintf(t->play.name, sizeof t->play.name, "n%u", i);
        other = same_names ? event : rename_nodes(&event, buffer, sizeof buffer);
        both_apply(t, &event, &other);
    }
}

static void twins_close(struct twins *t)
{
    bed_check(&t->b);
    assert_true(t->play.next_id > 40);
    bed_close(&t->a);
    bed_close(&t->b);
}

/* Starts and stops. Notes come in no order, and tell of the last time that a gang was tried, which
 * a change that must not matter may well cause once more. */
static uint32_t next_move(const struct decisions *d, uint32_t at)
{
    while (at < d->count && d->items[at].type == DECISION_NOTE)
        at++;
    return at;
}

static void assert_same_story(const struct decisions *a, const struct decisions *b, bool names)
{
    uint32_t i = next_move(a, 0), j = next_move(b, 0);

    for (; i < a->count && j < b->count; i = next_move(a, i + 1), j = next_move(b, j + 1)) {
        const struct decision *x = &a->items[i], *y = &b->items[j];

        assert_true(x->type == y->type && x->job_id == y->job_id && x->layout == y->layout &&
                    x->mode == y->mode && x->reason == y->reason &&
                    x->place_count == y->place_count);
        for (uint32_t k = 0; k < x->place_count; k++) {
            const struct task_place *p = &a->places[x->place_first + k];
            const struct task_place *q = &b->places[y->place_first + k];

            assert_true(p->task == q->task && p->gpu_mask == q->gpu_mask);
            assert_string_equal(names ? p->node_name : p->node_name + 1,
                                names ? q->node_name : q->node_name + 1);
        }
    }
    assert_true(i == a->count && j == b->count);
}

static void both_step(struct twins *t, bool names)
{
    core_step(t->a.core, core_now_us(t->a.core), &t->a.out);
    core_step(t->b.core, core_now_us(t->b.core), &t->b.out);
    assert_same_story(&t->a.out, &t->b.out, names);
}

static void nodes_and_racks_by_other_names_are_used_the_same_way(void **state)
{
    (void)state;
    for (uint32_t c = 0; c < CONFIGS; c++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct twins t;

            twins_open(&t, c, seed, false);
            for (uint32_t i = 0; i < EVENTS; i++) {
                char buffer[32];
                struct event event, other;

                play_event(&t.play, t.a.core, &event);
                other = rename_nodes(&event, buffer, sizeof buffer);
                both_apply(&t, &event, &other);
                if (play_below(&t.play, 3) == 0)
                    both_step(&t, false);
            }
            twins_close(&t);
        }
}

/* ---- a step more ---- */

/* The clock of an order counts whole seconds here, so half a step of time changes no key. */
static void step_once_more(uint32_t config, uint64_t seed)
{
    struct twins t;

    twins_open(&t, config, seed, true);
    t.play.unsplit = true; /* what splitting costs is over at a time */
    for (uint32_t i = 0; i < EVENTS; i++) {
        struct event event;

        play_event(&t.play, t.a.core, &event);
        both_apply(&t, &event, &event);
        if (play_below(&t.play, 3) > 0)
            continue;
        both_step(&t, true);
        core_step(t.b.core, core_now_us(t.b.core) + 1, &t.b.out);
        assert_int_equal(next_move(&t.b.out, 0), t.b.out.count);
    }
    twins_close(&t);
}

static void a_step_in_between_decides_nothing_more(void **state)
{
    (void)state;
    for (uint32_t c = 0; c < CONFIGS; c++)
        for (uint64_t seed = 0; seed < SEEDS; seed++)
            if (configs[c].placement->refresh == NULL && configs[c].order != &by_attained &&
                configs[c].repack == REPACK_NEVER)
                step_once_more(c, seed); /* the others may change their mind at every step */
}

/* Its room was free, and its queue had none for it until the claim of another one was dropped. */
static void a_claimant_whose_queue_gets_room_starts_in_that_step(void **state)
{
    (void)state;
    step_once_more(2, 45);
}

static void time_that_passes_in_two_parts_is_the_same_time(void **state)
{
    (void)state;
    for (uint32_t c = 0; c < CONFIGS; c++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct twins t;

            twins_open(&t, c, seed, true);
            for (uint32_t i = 0; i < EVENTS; i++) {
                struct event event, half = {.type = EVENT_TIME_PASSED};

                play_event(&t.play, t.a.core, &event);
                half.at_us = (core_now_us(t.b.core) + event.at_us) / 2;
                assert_int_equal(core_apply(t.b.core, &half, NULL), 0);
                if (core_apply(t.a.core, &event, NULL) < 0) {
                    event.type = EVENT_TIME_PASSED; /* a refused event does not move the clock */
                    assert_int_equal(core_apply(t.a.core, &event, NULL), 0);
                }
                (void)core_apply(t.b.core, &event, NULL);
                assert_true(core_digest(t.a.core) == core_digest(t.b.core));
                if (play_below(&t.play, 3) == 0)
                    both_step(&t, true);
            }
            twins_close(&t);
        }
}

/* ---- what nobody can use ---- */

static void an_idle_node_that_nobody_may_use_changes_nothing(void **state)
{
    static const char *const labels[] = {"zone=z9", "rack=r9"}; /* a domain of its own */
    const struct event idle = {.type = EVENT_NODE_UPSERTED,
                               .node = {.name = "idle",
                                        .model = "H100",
                                        .gpus = 8,
                                        .gpu_memory_bytes = 80 * GB,
                                        .cpu_mcpu = 64000,
                                        .memory_bytes = 640 * GB,
                                        .labels = labels,
                                        .label_count = 2}};
    struct event alike = idle; /* where both have one, neither cluster is ever empty */

    alike.node.name = "alike";
    alike.node.label_count = 0;
    (void)state;
    for (uint32_t c = 0; c < CONFIGS; c++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct twins t;

            if (configs[c].placement == &place_salted)
                continue; /* its scores look at the numbers of classes */
            twins_open(&t, c, seed, true);
            both_apply(&t, &alike, &alike);
            assert_int_equal(core_apply(t.b.core, &idle, NULL), 0);
            for (uint32_t i = 0; i < EVENTS; i++) {
                struct event event;

                play_event(&t.play, t.a.core, &event);
                for (uint32_t g = 0; event.type == EVENT_JOB_SUBMITTED && g < 2; g++) {
                    t.play.groups[g].models = play_models;
                    t.play.groups[g].model_count = 3;
                }
                both_apply(&t, &event, &event);
                if (play_below(&t.play, 3) == 0)
                    both_step(&t, true);
            }
            twins_close(&t);
        }
}

static void a_job_that_nobody_can_serve_changes_nothing_for_others(void **state)
{
    const struct group_spec group = {.tasks = 1, .gpus = 64};
    const struct job_layout_spec layout = {
        .groups = &group, .group_count = 1, .slowdown_ppm = 1000000};
    const struct event hopeless = {.type = EVENT_JOB_SUBMITTED,
                                   .job = {.id = 1ull << 60,
                                           .queue = "0",
                                           .user = "",
                                           .name = "",
                                           .layouts = &layout,
                                           .layout_count = 1,
                                           .remaining_us = -1}};

    (void)state;
    for (uint32_t c = 0; c < CONFIGS; c++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct twins t;

            if (configs[c].order->blocks || configs[c].placement == &place_salted)
                continue; /* it would block; and shapes count from 0 in the salted scores */
            twins_open(&t, c, seed, true);
            for (uint32_t i = 0; i < EVENTS; i++) {
                struct event event;

                if (i == seed * 20) {
                    core_step(t.a.core, 0, &t.a.out);
                    core_step(t.b.core, 0, &t.b.out);
                    assert_int_equal(core_apply(t.b.core, &hopeless, NULL), 0);
                    core_step(t.a.core, 0, &t.a.out);
                    core_step(t.b.core, 0, &t.b.out);
                    assert_non_null(bed_find(&t.b, DECISION_REJECT, 1ull << 60));
                }
                play_event(&t.play, t.a.core, &event);
                both_apply(&t, &event, &event);
                if (play_below(&t.play, 3) == 0)
                    both_step(&t, true);
            }
            twins_close(&t);
        }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(nodes_and_racks_by_other_names_are_used_the_same_way),
        TEST(a_step_in_between_decides_nothing_more),
        TEST(a_claimant_whose_queue_gets_room_starts_in_that_step),
        TEST(time_that_passes_in_two_parts_is_the_same_time),
        TEST(an_idle_node_that_nobody_may_use_changes_nothing),
        TEST(a_job_that_nobody_can_serve_changes_nothing_for_others),
    };

    return RUN_TESTS(tests);
}
