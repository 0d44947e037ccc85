/* SPDX-License-Identifier: Apache-2.0 */
/* shrink.h - a scenario that breaks something, made as short as it gets while it still breaks the
 * same check: without lines, without fields, with less of everything. */
#pragma once
#include <stdint.h>

#include "base/text.h"

struct attempt;

/* text: in, what breaks; out, what is left of it. seed: of the oracle, as it was; a
 * thorough one, which needs no lots, is tried first. */
void shrink(struct text *text, uint64_t seed, const struct attempt *found);
