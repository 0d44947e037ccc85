/* SPDX-License-Identifier: Apache-2.0 */
/* registry.c - the policies there are, the default first. */
#include "policy/registry.h"

#include <string.h>

#include "policy/policies.h"

static const struct placement_policy *const placements[] = {
    &place_berth,      &place_fgd,    &place_bestfit,  &place_dotprod,  &place_packing,
    &place_clustering, &place_random, &place_firstfit, &place_worstfit,
};

static const struct order_policy *const orders[] = {
    &order_fifo, &order_fifo_strict, &order_las,       &order_tiresias, &order_srtf,
    &order_srsf, &order_gittins,     &order_predicted, &order_deadline,
};

const struct placement_policy *placement_at(uint32_t index)
{
    return index < sizeof placements / sizeof placements[0] ? placements[index] : NULL;
}

const struct order_policy *order_at(uint32_t index)
{
    return index < sizeof orders / sizeof orders[0] ? orders[index] : NULL;
}

const struct order_policy *const *order_all(uint32_t *out_count)
{
    *out_count = sizeof orders / sizeof orders[0];
    return orders;
}

const struct placement_policy *placement_find(const char *name)
{
    for (uint32_t i = 0; placement_at(i) != NULL; i++)
        if (strcmp(placement_at(i)->name, name) == 0)
            return placement_at(i);
    return NULL;
}

const struct order_policy *order_find(const char *name)
{
    for (uint32_t i = 0; order_at(i) != NULL; i++)
        if (strcmp(order_at(i)->name, name) == 0)
            return order_at(i);
    return NULL;
}
