/* SPDX-License-Identifier: Apache-2.0 */
/* place_random.c - any node that fits, each as likely; within it any GPU that fits. */
#include "base/rng.h"
#include "policy/policies.h"

struct random {
    struct rng rng;
};

static void random_init(void *state, const struct placement_config *config)
{
    struct random *r = state;

    rng_init(&r->rng, config->seed);
}

static void random_copy(void *dst, const void *src)
{
    const struct random *from = src;
    struct random *to = dst;

    *to = *from;
}

static void random_walk(void *state, const struct core *core, struct tape *t)
{
    struct random *r = state;
    uint64_t any = 0;

    (void)core;
    for (uint32_t i = 0; i < 4; i++) {
        tape_u64(t, &r->rng.s[i]);
        any |= r->rng.s[i];
    }
    if (tape_loads(t) && any == 0)
        tape_fail(t, "random: a generator of zeros");
}

static uint64_t random_draw(void *state, uint64_t n)
{
    struct random *r = state;

    return rng_below(&r->rng, n);
}

const struct placement_policy place_random = {
    .name = "random",
    .summary = "any node that fits",
    .state_size = sizeof(struct random),
    .tie = TIE_RANDOM_NODE,
    .init = random_init,
    .copy = random_copy,
    .walk = random_walk,
    .draw = random_draw,
};
