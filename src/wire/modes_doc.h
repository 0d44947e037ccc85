/* SPDX-License-Identifier: Apache-2.0 */
/* modes_doc.h - the field `modes` of a node: a list of the modes that its GPUs may be in. */
#pragma once
#include <stdint.h>

#include "core/modes.h"

struct doc;
struct doc_node;
struct err;

extern const char *const gpu_mode_words[GPU_MODES]; /* exclusive, timeslice */

/* *out: MODE_BITs; 0 if the list is empty, which the core takes for all. 0, or a negative errno. */
int modes_read(const struct doc *doc, const struct doc_node *list, uint32_t *out, struct err *err);
