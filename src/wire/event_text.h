/* SPDX-License-Identifier: Apache-2.0 */
/* event_text.h - the words that event lines and decision lines are written with. */
#pragma once
#include <stdint.h>

#include "core/event.h"

struct json_out;

#define EVENT_FILE_VERSION 2
#define EVENT_MIX_MAX      (1u << 16) /* groups of the mix of a header line */

const char *gpu_health_text(enum gpu_health health); /* "healthy", "lost" */

/* "key":[0,3] for bits 0 and 3. */
void json_gpu_mask(struct json_out *json, const char *key, uint64_t mask);
