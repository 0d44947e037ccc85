/* SPDX-License-Identifier: Apache-2.0 */
/* decision_json.h - what a step decided, as lines of JSON.
 *
 *   {"decision":"start","at_us":0,"job_id":7,"layout":0,
 *    "places":[{"task":0,"node":"node-3","gpus":[0,1]}]}
 *   {"decision":"stop","at_us":0,"job_id":7,"mode":"preempt","reason":"..."}
 *   {"decision":"reject","at_us":0,"job_id":7,"reason":"..."}       and "note" the same */
#pragma once
#include <stdint.h>

#include "core/decision.h"

struct text;

/* Appends a line for each decision of the step at now_us. */
void decisions_format(const struct decisions *decisions, int64_t now_us, struct text *out);

/* Appends the one line of decision `index`. */
void decision_format(const struct decisions *decisions, uint32_t index, int64_t now_us,
                     struct text *out);
