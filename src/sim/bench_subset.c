/* SPDX-License-Identifier: Apache-2.0 */
/* bench_subset.c - what choosing GPUs by how they are wired costs. */
#include "sim/bench_subset.h"

#include <time.h>

#include "base/bits.h"
#include "base/mem.h"
#include "base/rng.h"
#include "core/subset.h"

enum { GPUS = SUBSET_EXACT_MAX, TASKS_MAX = GPUS };

struct choice {
    uint32_t free, wanted;
};

static int64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Tasks come and go; half of the time one leaves, if there is one. */
static void record(const struct links *links, struct rng *rng, struct choice *out, uint32_t count)
{
    uint32_t tasks[TASKS_MAX], task_count = 0, free = (1u << GPUS) - 1, made = 0;
    struct subsets subsets;

    subsets_init(&subsets);
    while (made < count) {
        const uint32_t wanted = 1u << rng_below(rng, 4);

        if (task_count > 0 && rng_below(rng, 2) == 0) {
            const uint32_t gone = (uint32_t)rng_below(rng, task_count);

            free |= tasks[gone];
            tasks[gone] = tasks[--task_count];
        } else if (wanted <= mask_popcount(free)) {
            out[made++] = (struct choice){free, wanted};
            tasks[task_count] = (uint32_t)subset_choose(&subsets, links, 1, free, wanted);
            free &= ~tasks[task_count++];
        }
    }
    subsets_done(&subsets);
}

/* A choice, all of them counted. */
static int64_t replay(struct subsets *subsets, const struct links *links,
                      const struct choice *choices, uint32_t count)
{
    const int64_t before_ns = clock_ns();
    uint64_t taken = 0;

    for (uint32_t i = 0; i < count; i++)
        taken |= subset_choose(subsets, links, 1, choices[i].free, choices[i].wanted);
    check(taken != 0);
    return (clock_ns() - before_ns) / count;
}

static uint32_t distinct(const struct choice *choices, uint32_t count)
{
    uint64_t *seen = mem_alloc(bit_set_words(1u << GPUS), sizeof *seen);
    uint32_t sets;

    for (uint32_t i = 0; i < count; i++)
        bit_set_set(seen, choices[i].free);
    sets = bit_set_popcount(seen, bit_set_words(1u << GPUS));
    mem_free(seen);
    return sets;
}

/* All GPUs are free, and nothing is known yet. */
static void measure_first(const struct links *links, struct bench_subset_result *out)
{
    struct subsets subsets;

    subsets_init(&subsets);
    for (uint32_t wanted = 1; wanted < GPUS; wanted++) {
        const int64_t before_ns = clock_ns();
        int64_t took_ns;

        (void)subset_choose(&subsets, links, 1, (1u << GPUS) - 1, wanted);
        took_ns = clock_ns() - before_ns;
        if (wanted == 1)
            out->tables_ns = took_ns;
        else if (took_ns > out->first_max_ns)
            out->first_max_ns = took_ns;
    }
    subsets_done(&subsets);
}

void bench_subset(uint32_t choices, uint64_t seed, struct bench_subset_result *out)
{
    struct choice *list = mem_alloc(choices, sizeof *list);
    uint32_t mbps[LINKS_PAIRS_MAX];
    struct subsets subsets;
    struct links links;
    struct rng rng;

    rng_init(&rng, seed);
    for (uint32_t i = 0; i < links_pairs(GPUS); i++)
        mbps[i] = 25000u << rng_below(&rng, 4);
    links_init(&links);
    (void)links_intern(&links, GPUS, mbps);
    record(&links, &rng, list, choices);
    *out = (struct bench_subset_result){
        .gpus = GPUS, .choices = choices, .free_sets = distinct(list, choices)};
    measure_first(&links, out);
    subsets_init(&subsets);
    out->first_ns = replay(&subsets, &links, list, choices);
    out->known_ns = replay(&subsets, &links, list, choices);
    subsets_done(&subsets);
    links_done(&links);
    mem_free(list);
}
