/* SPDX-License-Identifier: Apache-2.0 */
/* subset.c - the GPUs of a node that fit together best and are missed least. */
#include "core/subset.h"

#include <stdbool.h>
#include <string.h>

#include "base/bits.h"
#include "base/mem.h"
#include "base/vec.h"

void subsets_init(struct subsets *s)
{
    memset(s, 0, sizeof *s);
}

static void table_done(struct subset_table *t)
{
    mem_free(t->bottleneck);
    mem_free(t->offer);
    mem_free(t->inner);
    mem_free(t->answers);
}

void subsets_done(struct subsets *s)
{
    for (uint32_t i = 0; i < s->cap; i++)
        table_done(&s->tables[i]);
    mem_free(s->tables);
    memset(s, 0, sizeof *s);
}

void subsets_copy(struct subsets *dst, const struct subsets *src)
{
    *dst = *src;
    dst->tables = mem_copy(src->tables, src->cap, sizeof *src->tables);
    for (uint32_t i = 0; i < src->cap; i++) {
        const struct subset_table *from = &src->tables[i];
        struct subset_table *to = &dst->tables[i];
        const size_t sets = from->gpus > 0 ? (size_t)1 << from->gpus : 0;

        to->bottleneck = mem_copy(from->bottleneck, sets, sizeof *from->bottleneck);
        to->offer = mem_copy(from->offer, sets, sizeof *from->offer);
        to->inner = mem_copy(from->inner, sets, sizeof *from->inner);
        to->answers = mem_copy(from->answers, sets * from->gpus, sizeof *from->answers);
    }
}

/* ---- the tables of a row ---- */

/* Every pair of a set is one of it without its lowest GPU, or without its highest, or is these two;
 * so both tables follow from smaller sets. */
static void fill_pairs(struct subset_table *t, const uint32_t *mbps)
{
    for (uint32_t set = 0; set < 1u << t->gpus; set++) {
        uint32_t low, high, pair;

        t->bottleneck[set] = UINT32_MAX;
        if (mask_popcount(set) < 2)
            continue;
        low = set & -set;
        high = 1u << (31 - __builtin_clz(set));
        pair = mbps[links_at(mask_lowest(low), mask_lowest(high))];
        t->inner[set] =
            t->inner[set ^ low] + t->inner[set ^ high] - t->inner[set ^ low ^ high] + pair;
        t->bottleneck[set] = pair;
        if (t->bottleneck[set ^ low] < t->bottleneck[set])
            t->bottleneck[set] = t->bottleneck[set ^ low];
        if (t->bottleneck[set ^ high] < t->bottleneck[set])
            t->bottleneck[set] = t->bottleneck[set ^ high];
    }
}

/* The widest bottleneck of this size in the set, from those of the sets with one GPU less. */
static uint32_t widest(const struct subset_table *t, const uint32_t *of, uint32_t set,
                       uint32_t size)
{
    const uint32_t count = mask_popcount(set);
    uint32_t best = 0;

    if (count < size)
        return 0;
    if (count == size)
        return t->bottleneck[set];
    for (uint32_t left = set; left != 0; left &= left - 1) {
        const uint32_t without = of[set ^ (left & -left)];

        if (without > best)
            best = without;
    }
    return best;
}

static void fill_offers(struct subset_table *t)
{
    const uint32_t sets = 1u << t->gpus;
    uint32_t *of = mem_alloc(sets, sizeof *of);

    for (uint32_t size = 2; size <= t->gpus; size++)
        for (uint32_t set = 0; set < sets; set++) {
            of[set] = widest(t, of, set, size);
            t->offer[set] += of[set];
        }
    mem_free(of);
}

static void table_make(struct subset_table *t, uint32_t gpus, const uint32_t *mbps)
{
    const size_t sets = (size_t)1 << gpus;

    t->gpus = gpus;
    t->bottleneck = mem_alloc(sets, sizeof *t->bottleneck);
    t->offer = mem_alloc(sets, sizeof *t->offer);
    t->inner = mem_alloc(sets, sizeof *t->inner);
    t->answers = mem_alloc(sets * gpus, sizeof *t->answers);
    fill_pairs(t, mbps);
    fill_offers(t);
}

/* ---- the best set ---- */

/* Of two sets of one size: does `a` have the lowest GPU that is not in both? */
static bool is_lower(uint64_t a, uint64_t b)
{
    const uint64_t differ = a ^ b;

    return (a & differ & -differ) != 0;
}

/* Who breaks least keeps most: MB/s inside S and inside R, since those of both together are the
 * same for all S. */
static bool is_better(const struct subset_table *t, uint32_t free, uint32_t a, uint32_t b)
{
    const uint32_t rest_a = free ^ a, rest_b = free ^ b;
    uint32_t kept_a, kept_b;

    if (t->bottleneck[a] != t->bottleneck[b])
        return t->bottleneck[a] > t->bottleneck[b];
    if (t->offer[rest_a] != t->offer[rest_b])
        return t->offer[rest_a] > t->offer[rest_b];
    kept_a = t->inner[a] + t->inner[rest_a];
    kept_b = t->inner[b] + t->inner[rest_b];
    return kept_a != kept_b ? kept_a > kept_b : is_lower(a, b);
}

/* Sets in ascending order, as numbers: the lowest run of ones moves up by one free place, and what
 * is left of it goes back to the lowest. first[n]: the lowest n GPUs of `free`. 0 after the last.
 */
static uint32_t next_set(uint32_t set, uint32_t free, uint32_t wanted, const uint32_t *first)
{
    const uint32_t moved = ((set | ~free) + (set & -set)) & free;

    return moved == 0 ? 0 : moved | first[wanted - mask_popcount(moved)];
}

static uint32_t choose_exact(const struct subset_table *t, uint32_t free, uint32_t wanted)
{
    uint32_t first[SUBSET_EXACT_MAX + 1] = {0}, best, count = 0;

    for (uint32_t left = free; left != 0; left &= left - 1, count++)
        first[count + 1] = first[count] | (left & -left);
    best = first[wanted];
    for (uint32_t set = best; set != 0; set = next_set(set, free, wanted, first))
        if (is_better(t, free, set, best))
            best = set;
    return best;
}

/* ---- wider nodes ---- */

/* A set that grows. Of each free GPU outside of it: */
struct grown {
    uint64_t set;
    uint32_t bottleneck;
    uint32_t least[NODE_GPUS_MAX]; /* MB/s to that in the set which it reaches worst */
    uint64_t sum[NODE_GPUS_MAX];   /* MB/s to all in the set */
};

static void put(struct grown *g, const uint32_t *mbps, uint64_t free, uint32_t gpu)
{
    if (g->least[gpu] < g->bottleneck)
        g->bottleneck = g->least[gpu];
    g->set |= mask_bit(gpu);
    for (uint64_t left = free & ~g->set; left != 0; left = mask_drop_lowest(left)) {
        const uint32_t other = mask_lowest(left), pair = mbps[links_at(gpu, other)];

        g->sum[other] += pair;
        if (pair < g->least[other])
            g->least[other] = pair;
    }
}

/* Next comes who reaches all of the set best; then who has most of its links there. */
static void grow(struct grown *g, const uint32_t *mbps, uint64_t free)
{
    uint32_t best = NODE_GPUS_MAX;

    for (uint64_t left = free & ~g->set; left != 0; left = mask_drop_lowest(left)) {
        const uint32_t gpu = mask_lowest(left);

        if (best == NODE_GPUS_MAX || g->least[gpu] > g->least[best] ||
            (g->least[gpu] == g->least[best] && g->sum[gpu] > g->sum[best]))
            best = gpu;
    }
    put(g, mbps, free, best);
}

static uint64_t broken_by(const struct grown *g, uint64_t free)
{
    uint64_t mbps = 0;

    for (uint64_t left = free & ~g->set; left != 0; left = mask_drop_lowest(left))
        mbps += g->sum[mask_lowest(left)];
    return mbps;
}

static uint64_t choose_near(const uint32_t *mbps, uint64_t free, uint32_t wanted)
{
    uint64_t best = 0, best_broken = 0;
    uint32_t best_bottleneck = 0;

    for (uint64_t left = free; left != 0; left = mask_drop_lowest(left)) {
        struct grown g = {.bottleneck = UINT32_MAX};
        uint64_t broken;

        memset(g.least, 0xff, sizeof g.least);
        put(&g, mbps, free, mask_lowest(left));
        for (uint32_t i = 1; i < wanted; i++)
            grow(&g, mbps, free);
        broken = broken_by(&g, free);
        if (best != 0 &&
            (g.bottleneck < best_bottleneck ||
             (g.bottleneck == best_bottleneck &&
              (broken > best_broken || (broken == best_broken && !is_lower(g.set, best))))))
            continue;
        best = g.set;
        best_bottleneck = g.bottleneck;
        best_broken = broken;
    }
    return best;
}

uint64_t subset_choose(struct subsets *s, const struct links *links, uint32_t id, uint64_t free,
                       uint32_t wanted)
{
    const uint32_t gpus = links_gpus(links, id);
    struct subset_table *t;
    uint16_t *answer;

    check((free & ~mask_first(gpus)) == 0 && wanted <= mask_popcount(free));
    if (wanted == 0 || wanted == mask_popcount(free))
        return wanted == 0 ? 0 : free;
    if (gpus > SUBSET_EXACT_MAX)
        return choose_near(links_mbps(links, id), free, wanted);
    vec_reserve(s->tables, s->cap, id);
    t = &s->tables[id - 1];
    if (t->gpus == 0)
        table_make(t, gpus, links_mbps(links, id));
    answer = &t->answers[(size_t)free * gpus + wanted - 1];
    if (*answer == 0)
        *answer = (uint16_t)choose_exact(t, (uint32_t)free, wanted);
    return *answer;
}
