/* SPDX-License-Identifier: Apache-2.0 */
/* registry.h - the policies there are. One line in registry.c adds one. */
#pragma once
#include <stdint.h>

#include "core/policy.h"

/* By name, or NULL. */
const struct placement_policy *placement_find(const char *name);
const struct order_policy *order_find(const char *name);

/* All orders, which queues may name: for core_config. */
const struct order_policy *const *order_all(uint32_t *out_count);

/* By index, the default first; NULL past the end. For listings. */
const struct placement_policy *placement_at(uint32_t index);
const struct order_policy *order_at(uint32_t index);
