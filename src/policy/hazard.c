/* SPDX-License-Identifier: Apache-2.0 */
/* hazard.c - hazard tables and the Gittins index, in integers. */
#include "policy/hazard.h"

#include <stddef.h>

__extension__ typedef __int128 wide;

#define FIRST_END_US 10000000
#define MIDDLE_PPM   1224745 /* sqrt(1.5) */
#define ALIVE_MIN    16      /* of HAZARD_ONE: a tail of a millionth does not count */

void hazard_scale_init(struct hazard_scale *scale)
{
    int64_t end_us = FIRST_END_US;

    for (uint32_t b = 0; b < HAZARD_BINS; b++) {
        scale->end_us[b] = end_us;
        scale->end_ms[b] = end_us / 1000;
        scale->middle_ms[b] = scale->end_ms[b] * 1000000 / MIDDLE_PPM;
        end_us = end_us / 2 * 3;
    }
}

uint32_t hazard_bin(const struct hazard_scale *scale, uint32_t from, int64_t age_us)
{
    uint32_t bin = from;

    while (bin < HAZARD_BINS - 1 && age_us >= scale->end_us[bin])
        bin++;
    return bin;
}

void hazard_estimate(const uint32_t *ended, const uint32_t *active, const int32_t *parent,
                     uint32_t weight, int32_t *out_hazard)
{
    const int64_t prior = (int64_t)HAZARD_PARTS * weight;
    int64_t at_risk = 0; /* parts that reached this bin's end or ended in it */

    for (uint32_t b = HAZARD_BINS; b-- > 0;) {
        const int64_t expected =
            parent != NULL ? parent[b] : HAZARD_ONE / (int64_t)(HAZARD_BINS - b);

        at_risk += ended[b];
        out_hazard[b] =
            (int32_t)((ended[b] * (int64_t)HAZARD_ONE + prior * expected) / (at_risk + prior));
        at_risk += active[b];
    }
    out_hazard[HAZARD_BINS - 1] = HAZARD_ONE;
}

int64_t hazard_cost_ms(const struct hazard_scale *scale, const int32_t *hazard, uint32_t bin)
{
    const int64_t age_ms = bin > 0 ? scale->end_ms[bin - 1] : 0;
    int64_t alive = HAZARD_ONE, spent = 0; /* spent: by those that ended, x HAZARD_ONE */
    int64_t best_ended = 0, best_spent = 1;

    for (uint32_t b = bin; b < HAZARD_BINS && alive >= ALIVE_MIN; b++) {
        const int64_t ends = alive * hazard[b] / HAZARD_ONE;
        int64_t total, ended;

        alive -= ends;
        ended = HAZARD_ONE - alive;
        spent += ends * (scale->middle_ms[b] - age_ms);
        total = spent + alive * (scale->end_ms[b] - age_ms); /* at most 2^61 */
        if ((wide)ended * best_spent > (wide)best_ended * total) {
            best_ended = ended;
            best_spent = total;
        }
    }
    if (best_ended == 0 || best_spent / best_ended > HAZARD_COST_MS_MAX)
        return HAZARD_COST_MS_MAX;
    return best_spent / best_ended > 1 ? best_spent / best_ended : 1;
}
