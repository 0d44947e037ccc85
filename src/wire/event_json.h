/* SPDX-License-Identifier: Apache-2.0 */
/* event_json.h - one event as one line of JSON, complete and exact.
 *
 * What is written and parsed again is equal field by field, and parsing what was written and
 * writing it again gives the same bytes. All numbers are whole: 64-bit values are written in full.
 * A GPU mask is the list of its indices. Fields of an event may come in any order; a field that is
 * unknown, missing or double is an error. Ranges are not checked here but by core_apply().
 *
 *   {"type":"job_cancelled","at_us":5000000,"job_id":7} */
#pragma once
#include <stddef.h>

#include "core/event.h"

struct arena;
struct config;
struct doc;
struct doc_node;
struct err;
struct text;

#define EVENT_LINE_BYTES_MAX (16u << 20)

const char *event_type_text(enum event_type type); /* "job_submitted" */

/* Appends the line and its newline to out. Cost: well under a microsecond for small events. */
void event_format(const struct event *event, struct text *out);

/* Reads one line (without newline). Texts and arrays of *out live in `arena`. `line_number` and
 * `name` are for errors: "events.jsonl:12: job_id: ...". Returns 0 or a negative errno. */
int event_parse(const char *name, uint32_t line_number, const char *line, size_t len,
                struct arena *arena, struct event *out, struct err *err);

/* The first line of an event file: the configuration of the core that saw the events.
 *   {"berth-events":2,"placement":"berth","order":"fifo","seed":42,"order_options":[],"mix":[],
 *    "repack":0,"migrate_wait_us":0,"migrate_gain_ppm":0,"nodes_max":0,"jobs_max":0} */
void event_header_format(const struct config *config, struct text *out);
int event_header_parse(const char *name, uint32_t line_number, const char *line, size_t len,
                       struct arena *arena, struct config *out, struct err *err);
