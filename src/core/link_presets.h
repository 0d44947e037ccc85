/* SPDX-License-Identifier: Apache-2.0 */
/* link_presets.h - well-known machines by name: how their GPUs are wired. */
#pragma once
#include <stdint.h>

struct link_preset;
struct err;

/* NULL if there is none of that name. */
const struct link_preset *link_preset_find(const char *name);

/* The names, one by one; NULL at the end. */
const char *link_preset_name(uint32_t index);

/* Nodes of so few and so many GPUs are built like that. */
void link_preset_range(const struct link_preset *preset, uint32_t *out_min, uint32_t *out_max);

/* Fills out_mbps: [links_pairs(gpus)] as in links.h. -EINVAL if such machines do not have so many
 * GPUs. */
int link_preset_fill(const struct link_preset *preset, uint32_t gpus, uint32_t *out_mbps,
                     struct err *err);
