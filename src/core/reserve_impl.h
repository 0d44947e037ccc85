/* SPDX-License-Identifier: Apache-2.0 */
/* reserve_impl.h - between reserve.c and reserve_plan.c. */
#pragma once
#include <stdint.h>

struct core;

#define RESERVED_MAX_US (INT64_C(1) << 62) /* the clock, and then a limit, and a grace */

/* Its places into, or out of, the lists by node, during a pass. O(places * reservations there) */
void reservation_list(struct core *core, uint32_t row);
void reservation_unlist(struct core *core, uint32_t row);

/* The places of all reservations, listed by node from now on. O(nodes + places) */
void reserve_list(struct core *core);
