/* SPDX-License-Identifier: Apache-2.0 */
/* draw.h - a world drawn from a seed, as the text of a scenario (docs/scenario.md). */
#pragma once
#include <stdint.h>

#include "base/text.h"

/* The same seed, the same text. */
void draw_world(uint64_t seed, struct text *out);
