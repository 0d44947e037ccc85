/* SPDX-License-Identifier: Apache-2.0 */
/* policies.h - every policy's table, each defined in the file of its name. */
#pragma once
#include "core/policy.h"

extern const struct placement_policy place_berth, place_fgd, place_bestfit, place_dotprod,
    place_packing, place_clustering, place_random, place_firstfit, place_worstfit;

extern const struct order_policy order_fifo, order_fifo_strict, order_las, order_tiresias,
    order_srtf, order_srsf, order_gittins, order_predicted, order_deadline;
