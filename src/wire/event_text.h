/* SPDX-License-Identifier: Apache-2.0 */
/* event_text.h - the words that event lines and decision lines are written with. */
#pragma once
#include <stdint.h>

#include "core/event.h"

struct json_out;

#define EVENT_FILE_VERSION 2
#define EVENT_LISTED_MAX   (1u << 20) /* tasks of one node */
#define EVENT_MIX_MAX      (1u << 16) /* groups of the mix of a header line */

/* Words by the number of what they stand for. */
extern const char *const gpu_health_words[2];                  /* healthy, lost */
extern const char *const node_health_words[NODE_HEALTH_COUNT]; /* heard, silent, ... */
extern const char *const after_end_words[AFTER_COUNT];         /* ok, any, failed */
extern const char *const resource_words[RES_COUNT];            /* gpu_mgpu, gpu_bytes, ... */

/* "key":[0,3] for bits 0 and 3. */
void json_gpu_mask(struct json_out *json, const char *key, uint64_t mask);
void json_knob(struct json_out *json, uint32_t knob, int32_t value); /* of quality of service */
