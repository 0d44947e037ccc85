/* SPDX-License-Identifier: Apache-2.0 */
/* mig_price.c - whether a GPU may be split anew now. */
#include "core/mig_price.h"

#include "base/check.h"
#include "base/tape.h"

#define SECOND_US INT64_C(1000000)

const struct mig_price_rules mig_price_defaults = {
    .takes_us = 10 * SECOND_US,
    .cooldown_us = 600 * SECOND_US,
    .window_us = 600 * SECOND_US,
    .splits_max = 4,
};

/* a + b, both times; far in the future is as good as never. */
static int64_t later(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* When the node may split again: window after the one that is splits_max back. */
static int64_t node_free_us(const struct mig_price_rules *rules, const struct mig_price_node *node)
{
    uint32_t oldest;

    if (node->count < rules->splits_max)
        return INT64_MIN;
    oldest = (node->next + MIG_SPLITS_MAX - rules->splits_max) % MIG_SPLITS_MAX;
    return later(node->last_us[oldest], rules->window_us);
}

enum mig_verdict mig_price_ask(const struct mig_price_rules *rules, const struct mig_price_gpu *gpu,
                               struct mig_price_node *node, int64_t waiting_since_us,
                               int64_t now_us, int64_t *until_us)
{
    const int64_t from_us[MIG_VERDICTS] = {
        [MIG_MAY] = now_us,
        [MIG_TOO_SOON] = later(later(waiting_since_us, rules->takes_us), 1),
        [MIG_COOLING] = gpu->splits > 0 ? later(gpu->last_us, rules->cooldown_us) : INT64_MIN,
        [MIG_NODE_BUSY] = node_free_us(rules, node),
    };
    enum mig_verdict verdict = MIG_MAY;

    check(rules->splits_max >= 1 && rules->splits_max <= MIG_SPLITS_MAX);
    *until_us = now_us;
    for (uint32_t v = MIG_VERDICTS - 1; v > MIG_MAY; v--) {
        if (from_us[v] <= now_us)
            continue;
        verdict = (enum mig_verdict)v;
        *until_us = from_us[v] > *until_us ? from_us[v] : *until_us;
    }
    node->asked[verdict]++;
    return verdict;
}

void mig_price_pay(struct mig_price_gpu *gpu, struct mig_price_node *node, int64_t now_us)
{
    gpu->last_us = now_us;
    gpu->splits++;
    node->last_us[node->next] = now_us;
    node->next = (node->next + 1) % MIG_SPLITS_MAX;
    if (node->count < MIG_SPLITS_MAX)
        node->count++;
}

uint64_t mig_price_bound(const struct mig_price_rules *rules, int64_t length_us)
{
    uint64_t by_gpu = UINT64_MAX, by_node = UINT64_MAX;

    if (rules->cooldown_us > 0)
        by_gpu = (uint64_t)(length_us / rules->cooldown_us) + 1;
    if (rules->window_us > 0)
        by_node = ((uint64_t)(length_us / rules->window_us) + 1) * rules->splits_max;
    return by_gpu < by_node ? by_gpu : by_node;
}

void mig_price_gpu_walk(struct mig_price_gpu *gpu, struct tape *t)
{
    tape_i64(t, &gpu->last_us);
    tape_u64(t, &gpu->splits);
}

void mig_price_node_walk(struct mig_price_node *node, struct tape *t)
{
    for (uint32_t i = 0; i < MIG_SPLITS_MAX; i++)
        tape_i64(t, &node->last_us[i]);
    tape_max(t, &node->next, MIG_SPLITS_MAX - 1, "next split");
    tape_max(t, &node->count, MIG_SPLITS_MAX, "splits");
    for (uint32_t v = 0; v < MIG_VERDICTS; v++)
        tape_u64(t, &node->asked[v]);
}

const char *mig_verdict_text(enum mig_verdict verdict)
{
    static const char *const texts[MIG_VERDICTS] = {
        [MIG_MAY] = "may be split anew",
        [MIG_TOO_SOON] = "has not waited for longer than splitting takes",
        [MIG_COOLING] = "the GPU was split not long ago",
        [MIG_NODE_BUSY] = "the node has split as many GPUs as it may for now",
    };

    check((uint32_t)verdict < MIG_VERDICTS);
    return texts[verdict];
}
