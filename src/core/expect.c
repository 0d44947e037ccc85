/* SPDX-License-Identifier: Apache-2.0 */
/* expect.c - how long jobs are expected to run. */
#include "core/expect.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/tape.h"
#include "base/vec.h"

__extension__ typedef __int128 wide;

#define FADE_SHIFT   9 /* a job that finishes counts 1/512 more than the one before */
#define RENORM_SHIFT 6
#define OCTAVE_FIRST 20 /* the first bin ends at 2^20 us */
#define LONG_PERCENT 90

/* ---- bins ---- */

static uint32_t bin_of(int64_t us)
{
    uint32_t octave, bin;

    if (us < INT64_C(1) << OCTAVE_FIRST)
        return 0;
    octave = 63 - (uint32_t)__builtin_clzll((uint64_t)us);
    bin = 1 + (octave - OCTAVE_FIRST) * 4 + (uint32_t)(us >> (octave - 2) & 3);
    return bin < EXPECT_BINS ? bin : EXPECT_BINS - 1;
}

static int64_t bin_start_us(uint32_t bin)
{
    return bin > 0 ? (int64_t)(4 + (bin - 1) % 4) << (OCTAVE_FIRST - 2 + (bin - 1) / 4) : 0;
}

/* The jobs of a key that ran longer than some age, by bin. */
struct rest {
    uint32_t first; /* the bin of the age; nothing is below */
    int64_t age_us;
    uint32_t weight[EXPECT_BINS];
    uint64_t sum;
};

static int64_t rest_start_us(const struct rest *rest, uint32_t bin)
{
    return bin == rest->first ? rest->age_us : bin_start_us(bin);
}

/* Of the age's own bin only the part above the age; jobs are taken as spread evenly in a bin. */
static void rest_of(const struct expect_key *key, int64_t age_us, struct rest *out)
{
    const uint32_t bin = bin_of(age_us);
    const int64_t start_us = bin_start_us(bin), end_us = bin_start_us(bin + 1);
    const int64_t left_us = age_us < end_us ? end_us - age_us : 0;

    out->first = bin;
    out->age_us = age_us;
    out->weight[bin] = (uint32_t)((wide)key->weight[bin] * left_us / (end_us - start_us));
    out->sum = out->weight[bin];
    for (uint32_t b = bin + 1; b < EXPECT_BINS; b++) {
        out->weight[b] = key->weight[b];
        out->sum += key->weight[b];
    }
}

static int64_t rest_mean_us(const struct rest *rest)
{
    wide total = 0;

    for (uint32_t b = rest->first; b < EXPECT_BINS; b++)
        total += (wide)rest->weight[b] * ((rest_start_us(rest, b) + bin_start_us(b + 1)) / 2);
    return (int64_t)(total / rest->sum);
}

static int64_t rest_percentile_us(const struct rest *rest, uint32_t percent)
{
    uint64_t left = rest->sum * percent / 100;
    uint32_t b = rest->first;
    int64_t start_us;

    while (left >= rest->weight[b])
        left -= rest->weight[b++];
    start_us = rest_start_us(rest, b);
    return start_us + (int64_t)((wide)(bin_start_us(b + 1) - start_us) * left / rest->weight[b]);
}

/* ---- keys ---- */

static uint64_t pair(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

static bool is_named(const struct expect_facts *facts)
{
    return facts->user != EXPECT_NONE && facts->name != EXPECT_NONE;
}

/* Its keys that exist, the most specific first; returns how many. */
static uint32_t keys_of(const struct expect *e, const struct expect_facts *facts, uint32_t out[3])
{
    uint32_t count = 0;

    count += is_named(facts) && map_find(&e->by_name, pair(facts->user, facts->name), &out[count]);
    count += map_find(&e->by_queue, pair(facts->queue, facts->mgpu), &out[count]);
    out[count++] = 0;
    return count;
}

static uint32_t key_new(struct expect *e, uint64_t facts, bool by_name)
{
    vec_reserve(e->keys, e->cap, e->count + 1);
    e->keys[e->count] = (struct expect_key){.facts = facts, .by_name = by_name, .one = EXPECT_ONE};
    return e->count++;
}

static void add_key(struct expect *e, struct map *map, uint64_t facts, bool by_name)
{
    if (e->count < EXPECT_KEYS_MAX && !map_find(map, facts, NULL))
        map_put(map, facts, key_new(e, facts, by_name));
}

/* What the most specific key says that knows such jobs; false if there is none. */
static bool find_rest(const struct expect *e, const struct expect_facts *facts, int64_t age_us,
                      struct rest *out)
{
    uint32_t ids[3];
    const uint32_t count = keys_of(e, facts, ids);

    for (uint32_t i = 0; i < count; i++) {
        rest_of(&e->keys[ids[i]], age_us, out);
        if (out->sum > 0)
            return true;
    }
    return false;
}

static int64_t unknown_us(int64_t least_us, int64_t age_us)
{
    if (age_us > INT64_MAX / 2)
        return INT64_MAX;
    return 2 * age_us > least_us ? 2 * age_us : least_us;
}

/* What was known fades by the newer counting more, so that a job costs no walk over the bins. */
static void count_job(struct expect_key *key, uint32_t bin)
{
    key->weight[bin] += key->one;
    key->one += key->one >> FADE_SHIFT;
    if (key->one < EXPECT_ONE_MAX)
        return;
    key->one >>= RENORM_SHIFT;
    for (uint32_t b = 0; b < EXPECT_BINS; b++)
        key->weight[b] >>= RENORM_SHIFT;
}

void expect_learn(struct expect *e, const struct expect_facts *facts, int64_t ran_us)
{
    uint32_t ids[3], count;

    if (is_named(facts))
        add_key(e, &e->by_name, pair(facts->user, facts->name), true);
    add_key(e, &e->by_queue, pair(facts->queue, facts->mgpu), false);
    count = keys_of(e, facts, ids);
    for (uint32_t i = 0; i < count; i++)
        count_job(&e->keys[ids[i]], bin_of(ran_us));
}

int64_t expect_run_us(const struct expect *e, const struct expect_facts *facts, int64_t age_us)
{
    struct rest rest;

    if (!find_rest(e, facts, age_us, &rest))
        return unknown_us(EXPECT_RUN_US, age_us);
    return rest_mean_us(&rest);
}

int64_t expect_long_us(const struct expect *e, const struct expect_facts *facts, int64_t age_us)
{
    struct rest rest;
    int64_t mean_us, most_us;

    if (!find_rest(e, facts, age_us, &rest))
        return unknown_us(EXPECT_LONG_US, age_us);
    mean_us = rest_mean_us(&rest);
    most_us = rest_percentile_us(&rest, LONG_PERCENT);
    return most_us > mean_us ? most_us : mean_us;
}

/* ---- as a whole ---- */

void expect_init(struct expect *e)
{
    memset(e, 0, sizeof *e);
    map_init(&e->by_name);
    map_init(&e->by_queue);
    key_new(e, 0, false);
}

void expect_done(struct expect *e)
{
    mem_free(e->keys);
    map_done(&e->by_name);
    map_done(&e->by_queue);
    memset(e, 0, sizeof *e);
}

void expect_copy(struct expect *dst, const struct expect *src)
{
    *dst = *src;
    dst->keys = mem_copy(src->keys, src->count, sizeof *src->keys);
    dst->cap = src->count;
    map_copy(&dst->by_name, &src->by_name);
    map_copy(&dst->by_queue, &src->by_queue);
}

/* The maps follow from the keys. */
static void key_loaded(struct expect *e, uint32_t key, struct tape *t)
{
    struct map *map = e->keys[key].by_name ? &e->by_name : &e->by_queue;

    if (key == 0)
        return; /* all jobs */
    if (map_find(map, e->keys[key].facts, NULL))
        tape_fail(t, "run times: key %u is there twice", key);
    map_put(map, e->keys[key].facts, key);
}

void expect_walk(struct expect *e, struct tape *t)
{
    uint32_t count = e->count;

    if (tape_loads(t))
        e->count = 0; /* without the key that expect_init() made */
    tape_count(t, &count, "keys of run times");
    for (uint32_t i = 0; tape_more(t, i, count); i++) {
        tape_grow(t, e->keys, e->count, e->cap);
        if (tape_loads(t))
            e->keys[i] = (struct expect_key){0};
        tape_u64(t, &e->keys[i].facts);
        tape_max(t, &e->keys[i].by_name, 1, "kind of a key of run times");
        tape_max(t, &e->keys[i].one, EXPECT_ONE_MAX, "weight of a job of a key of run times");
        for (uint32_t b = 0; b < EXPECT_BINS; b++)
            tape_max(t, &e->keys[i].weight[b], EXPECT_WEIGHT_MAX, "weight of a bin of run times");
        if (tape_loads(t) && !t->failed)
            key_loaded(e, i, t);
    }
    if (tape_loads(t) && !t->failed && (count == 0 || count > EXPECT_KEYS_MAX))
        tape_fail(t, "run times: %u keys, must be 1 to %u", count, EXPECT_KEYS_MAX);
}
