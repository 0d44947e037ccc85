/* SPDX-License-Identifier: Apache-2.0 */
/* decision_json.h - what a step decided, as lines of JSON.
 *
 *   {"decision":"start","at_us":0,"job_id":7,"run":1,"layout":0,
 *    "places":[{"task":0,"node":"node-3","gpus":[0,1]}]}
 *   {"decision":"stop","at_us":0,"job_id":7,"run":1,"mode":"preempt","reason":"...","for_job":8,
 *    "grace_us":30000000,"places":[]}            modes: preempt, cancel, limit, shrink
 *   {"decision":"reject","at_us":0,"job_id":7,"reason":"...","queue":null}   and "note" the same
 *   {"decision":"reserve","at_us":0,"job_id":7,"start_us":5000000,"for_job":null,"places":[]}
 *   {"decision":"attend","at_us":0,"job_id":7,"places":[]}
 *
 * for_job, queue and start_us are null where there is none. */
#pragma once
#include <stdint.h>

#include "core/decision.h"

struct text;

const char *stop_mode_text(enum stop_mode mode); /* "preempt" */

/* Appends a line for each decision of the step at now_us. */
void decisions_format(const struct decisions *decisions, int64_t now_us, struct text *out);

/* Appends the one line of decision `index`. */
void decision_format(const struct decisions *decisions, uint32_t index, int64_t now_us,
                     struct text *out);
