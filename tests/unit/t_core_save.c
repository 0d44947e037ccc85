/* SPDX-License-Identifier: Apache-2.0 */
/* A core that was saved and loaded is the same core: for every placement policy and order it goes
 * on as the one that was saved, decision for decision; and bytes that are no snapshot are refused.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "core/impl.h"
#include "policy/registry.h"
#include "unit/core_random.h"

enum { EVENTS = 260, SEEDS = 2 };

/* Users and names too, so that histories grow in all directions. */
static void next_event(struct play *play, const struct core *core, struct event *out)
{
    static const char *const users[] = {"", "ann", "bob"}, *const names[] = {"", "train", "eval"};

    play_event(play, core, out);
    if (out->type != EVENT_JOB_SUBMITTED)
        return;
    out->job.user = users[play_below(play, 3)];
    out->job.name = names[play_below(play, 3)];
}

static void play_on(struct play *play, struct bed *bed, uint32_t events)
{
    for (uint32_t i = 0; i < events; i++) {
        struct event event;

        next_event(play, bed->core, &event);
        (void)core_apply(bed->core, &event, NULL);
        if (play_below(play, 3) == 0)
            core_step(bed->core, core_now_us(bed->core), &bed->out);
    }
}

static struct core *load(const struct core_config *config, const uint8_t *bytes, size_t count,
                         struct err *err)
{
    uint8_t *copy = mem_copy(bytes, count, 1); /* of exactly so many, for the sanitizer */
    struct core *core = core_load(config, copy, count, err);

    mem_free(copy);
    return core;
}

/* A copy by way of a snapshot, and what it must be. */
static struct core *reload(const struct core_config *config, const struct core *core)
{
    const struct core_config bare = {.placement = config->placement,
                                     .order = config->order,
                                     .orders = config->orders,
                                     .order_count = config->order_count};
    struct err err;
    size_t count, again_count;
    uint8_t *bytes = core_save(core, &count), *again;
    struct core *loaded = load(&bare, bytes, count, &err);

    if (loaded == NULL)
        fail_msg("%s, %s: %s", config->placement->name, config->order->name, err.text);
    again = core_save(loaded, &again_count);
    assert_int_equal(again_count, count);
    assert_memory_equal(again, bytes, count);
    assert_true(core_digest(loaded) == core_digest(core));
    assert_true(core_next_wake_us(loaded) == core_next_wake_us(core));
    mem_free(bytes);
    mem_free(again);
    return loaded;
}

static void check_digests(const struct core_config *config, const struct bed *a,
                          const struct bed *b)
{
    if (core_digest(a->core) != core_digest(b->core))
        fail_msg("%s, %s: a loaded core has another digest", config->placement->name,
                 config->order->name);
}

static void both(struct play *play, const struct core_config *config, struct bed *a, struct bed *b)
{
    struct event event;
    int rc;

    next_event(play, a->core, &event);
    rc = core_apply(a->core, &event, NULL);
    assert_int_equal(core_apply(b->core, &event, NULL), rc);
    check_digests(config, a, b);
    if (play_below(play, 3) > 0)
        return;
    core_step(a->core, core_now_us(a->core), &a->out);
    core_step(b->core, core_now_us(b->core), &b->out);
    assert_same_decisions(&a->out, &b->out);
    check_digests(config, a, b);
}

static void check_config(const struct core_config *without_orders, uint64_t seed)
{
    struct core_config with_orders = *without_orders, *config = &with_orders;
    struct bed bed, loaded = {0};
    struct play play;

    play_init(&play, seed, 9);
    play.levels = seed % 2 == 1;
    config->orders = play.orders = order_all(&config->order_count);
    play.order_count = config->order_count;
    bed_open_with(&bed, config);
    play_join(&play, bed.core);
    play_on(&play, &bed, EVENTS);
    decisions_init(&loaded.out);
    loaded.core = reload(config, bed.core);
    bed_check(&loaded);
    for (uint32_t i = 0; i < EVENTS; i++) {
        both(&play, config, &bed, &loaded);
        if (i % 64 == 63) { /* and one that was loaded can be loaded again */
            struct core *core = reload(config, loaded.core);

            core_free(loaded.core);
            loaded.core = core;
        }
    }
    bed_check(&loaded);
    bed_close(&bed);
    play_on(&play, &loaded, 20); /* it needs nothing of its origin */
    bed_check(&loaded);
    bed_close(&loaded);
}

static void a_loaded_core_goes_the_same_way_under_all_policies(void **state)
{
    (void)state;
    for (uint32_t p = 0; placement_at(p) != NULL; p++)
        for (uint32_t o = 0; order_at(o) != NULL; o++)
            for (uint64_t seed = 0; seed < SEEDS; seed++)
                check_config(&(struct core_config){.placement = placement_at(p),
                                                   .order = order_at(o),
                                                   .seed = seed + 3},
                             seed * 100 + p * 10 + o);
}

static void a_loaded_core_goes_the_same_way_where_all_is_packed_anew(void **state)
{
    static const char *const orders[] = {"las", "tiresias", "gittins", "srsf"};

    (void)state;
    for (uint32_t o = 0; o < 4; o++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct core_config config = {.placement = placement_at((uint32_t)seed + o),
                                         .order = order_find(orders[o]),
                                         .repack = REPACK_ANEW};

            check_config(&config, seed);
            config.repack = REPACK_KEEP;
            config.migrate_wait_us = 1000000;
            config.migrate_gain_ppm = 100000;
            check_config(&config, seed);
        }
}

/* What an order and a placement were told at the start comes from the snapshot as well. */
static void options_and_a_known_mix_come_from_the_snapshot(void **state)
{
    static const int64_t options[] = {1, 3000000, 9000000};
    static const struct group_spec mix[] = {
        {.tasks = 30, .gpus = 1, .gpu_mgpu = 300, .cpu_mcpu = 2000},
        {.tasks = 20, .gpus = 2},
        {.tasks = 9, .gpus = 1, .cpu_mcpu = 4000, .models = play_models, .model_count = 2},
    };
    struct core_config config = {.placement = placement_find("fgd"),
                                 .order = order_find("tiresias"),
                                 .order_options = options,
                                 .order_option_count = 3,
                                 .mix = mix,
                                 .mix_count = 3,
                                 .nodes_max = 20,
                                 .jobs_max = 500};

    (void)state;
    for (uint64_t seed = 0; seed < 6; seed++)
        check_config(&config, seed);
}

/* ---- by hand ---- */

static void an_empty_core_can_be_saved(void **state)
{
    (void)state;
    for (uint32_t p = 0; placement_at(p) != NULL; p++)
        for (uint32_t o = 0; order_at(o) != NULL; o++) {
            const struct core_config config = {.placement = placement_at(p), .order = order_at(o)};
            struct bed bed, loaded = {0};

            bed_open_with(&bed, &config);
            decisions_init(&loaded.out);
            loaded.core = reload(&config, bed.core);
            bed_node(&loaded, "n0", 8);
            SUBMIT(&loaded, .id = 1, .gpus = 8);
            bed_step(&loaded);
            assert_non_null(bed_find(&loaded, DECISION_START, 1));
            bed_close(&loaded);
            bed_close(&bed);
        }
}

/* A bed with nodes, jobs that run, wait, and left a free row. */
static void open_small(struct bed *bed, struct core_config *config)
{
    *config =
        (struct core_config){.placement = placement_find("berth"), .order = order_find("gittins")};
    bed_open_with(bed, config);
    bed_nodes(bed, 2, 4);
    SUBMIT(bed, .id = 1, .gpus = 1, .tasks = 3);
    SUBMIT(bed, .id = 2, .gpus = 2);
    SUBMIT(bed, .id = 3, .gpus = 4, .model = "A100");
    SUBMIT(bed, .id = 4, .gpus = 1, .mgpu = 500);
    bed_step(bed);
    bed_run(bed, 1);
    bed_run(bed, 2);
    bed_end(bed, 2, 0);
}

static void other_policies_than_those_of_the_snapshot_are_refused(void **state)
{
    struct core_config config;
    struct bed bed;
    struct err err;
    size_t count;
    uint8_t *bytes;

    (void)state;
    open_small(&bed, &config);
    bytes = core_save(bed.core, &count);
    config.placement = placement_find("fgd");
    assert_null(load(&config, bytes, count, &err));
    assert_non_null(strstr(err.text, "the snapshot is of 'berth', not of 'fgd'"));
    config.placement = placement_find("berth");
    config.order = order_find("las");
    assert_null(load(&config, bytes, count, &err));
    assert_non_null(strstr(err.text, "the snapshot is of 'gittins', not of 'las'"));
    mem_free(bytes);
    bed_close(&bed);
}

static void cut_snapshots_are_refused(void **state)
{
    struct core_config config;
    struct bed bed;
    size_t count;
    uint8_t *bytes;

    (void)state;
    open_small(&bed, &config);
    bytes = core_save(bed.core, &count);
    for (size_t cut = 0; cut < count; cut++) {
        struct err err = {0};

        assert_null(load(&config, bytes, cut, &err));
        assert_non_null(strstr(err.text, "snapshot: byte "));
    }
    mem_free(bytes);
    bed_close(&bed);
}

static void snapshots_with_a_flipped_bit_are_refused(void **state)
{
    struct core_config config;
    struct bed bed;
    size_t count;
    uint8_t *bytes;

    (void)state;
    open_small(&bed, &config);
    bytes = core_save(bed.core, &count);
    for (size_t at = 0; at < count; at++) {
        const uint8_t bit = (uint8_t)(1u << at % 8);
        struct err err;

        bytes[at] ^= bit;
        assert_null(load(&config, bytes, count, &err));
        bytes[at] ^= bit;
    }
    mem_free(bytes);
    bed_close(&bed);
}

/* Somebody who can make a checksum may say anything. It is refused, or is a core that goes on. */
static uint32_t try_edited(const struct core_config *config, const uint8_t *saved, size_t count,
                           struct rng *rng)
{
    uint8_t *bytes = mem_copy(saved, count, 1);
    size_t cut = rng_below(rng, 8) == 0 ? 17 + rng_below(rng, count - 17) : count;
    struct bed bed = {0};

    for (uint32_t edits = 1 + (uint32_t)rng_below(rng, 2); edits > 0; edits--) {
        const size_t at = 9 + rng_below(rng, count - 17);

        if (rng_below(rng, 2) == 0)
            bytes[at] = (uint8_t)rng_below(rng, 4);
        else
            bytes[at] ^= (uint8_t)(1u << rng_below(rng, 8));
    }
    tape_seal(bytes, cut);
    bed.core = load(config, bytes, cut, &bed.err);
    if (bed.core != NULL) {
        size_t again_count;
        uint8_t *again = core_save(bed.core, &again_count);

        assert_true(again_count == count && memcmp(again, bytes, count) == 0);
        bed_check(&bed);
        mem_free(again);
        decisions_init(&bed.out);
        for (int i = 0; i < 3; i++)
            core_step(bed.core, core_now_us(bed.core) + 1000000, &bed.out);
        bed_check(&bed);
        decisions_done(&bed.out);
    }
    mem_free(bytes);
    core_free(bed.core);
    return bed.core != NULL;
}

static void hostile_snapshots_are_refused_or_obey_the_rules(void **state)
{
    uint32_t accepted = 0, tried = 0;
    struct rng rng;

    (void)state;
    rng_init(&rng, 13);
    for (uint32_t p = 0; placement_at(p) != NULL; p++)
        for (uint32_t o = 0; order_at(o) != NULL; o++) {
            const struct core_config config = {.placement = placement_at(p), .order = order_at(o)};
            struct play play;
            struct bed bed;
            size_t count;
            uint8_t *bytes;

            play_init(&play, p * 10 + o, 5);
            play.levels = (p + o) % 2 == 1;
            bed_open_with(&bed, &config);
            play_join(&play, bed.core);
            play_on(&play, &bed, 120);
            bytes = core_save(bed.core, &count);
            for (uint32_t i = 0; i < 300; i++, tried++)
                accepted += try_edited(&config, bytes, count, &rng);
            mem_free(bytes);
            bed_close(&bed);
        }
    assert_true(accepted > tried / 50 && accepted < tried / 2);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(a_loaded_core_goes_the_same_way_under_all_policies),
        TEST(a_loaded_core_goes_the_same_way_where_all_is_packed_anew),
        TEST(options_and_a_known_mix_come_from_the_snapshot),
        TEST(an_empty_core_can_be_saved),
        TEST(other_policies_than_those_of_the_snapshot_are_refused),
        TEST(cut_snapshots_are_refused),
        TEST(snapshots_with_a_flipped_bit_are_refused),
        TEST(hostile_snapshots_are_refused_or_obey_the_rules),
    };

    return RUN_TESTS(tests);
}
