/* SPDX-License-Identifier: Apache-2.0 */
/* rules_json.h - private to the event lines: queues, classes and rules as JSON, complete and exact.
 *
 *   "queues":[{"name":"a","parent":"","order":"","weight":1,"guarantee":[4000,0,0,0], ...}], ...
 *
 * An amount of several resources is a list in the order of enum resource; the largest 64-bit number
 * is AMOUNT_NONE. */
#pragma once
#include "core/event.h"
#include "wire/strict_fields.h"

struct json_out;

/* The fields of a config_changed line, as they are read. */
struct rules_text {
    struct rules_spec rules;
    const struct doc_node *queues, *classes, *levels;
};

/* Rows for a table of fields whose AT() finds a struct rules_text in `m`. */
#define RULES_TEXT_FIELDS(m)                                                                       \
    NODE("queues", m.queues), TEXT("default_queue", m.rules.default_queue),                        \
        TEXT("root_order", m.rules.root_order), NODE("classes", m.classes),                        \
        TEXT("default_class", m.rules.default_class),                                              \
        U32("reservation_depth", m.rules.reservation_depth), I64("silent_us", m.rules.silent_us),  \
        I64("share_half_life_us", m.rules.share_half_life_us),                                     \
    {                                                                                              \
        "levels", FIELD_NODE, NUMBER_WHOLE, false, AT(m.levels), 0, 0                              \
    } /* where there are any */

void rules_format(struct json_out *json, const struct rules_spec *rules);

/* Arrays of *out live in the arena of the doc. */
int rules_parse(const struct doc *doc, const struct rules_text *text, struct rules_spec *out,
                struct err *err);
