/* SPDX-License-Identifier: Apache-2.0 */
/* json_out.h - writes JSON into a text buffer, one value after the other, without spaces.
 *
 *   json_object_begin(&json);
 *   json_key(&json, "gpus");
 *   json_u64(&json, 8);
 *   json_object_end(&json);
 *
 * Commas are put by the writer. Keys and values must alternate in objects, and what is begun must
 * be ended: broken calls are checks. The result is always valid JSON in valid UTF-8: bytes of a
 * string that are not UTF-8 become U+FFFD. A full buffer shows in text->overflow. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

#define JSON_OUT_DEPTH_MAX 32

struct json_out {
    struct text *text;  /* borrowed; only appended to */
    uint32_t depth;     /* objects and arrays that are open */
    uint32_t in_object; /* bit d: level d is an object */
    uint32_t not_empty; /* bit d: level d has a member, so that the next one needs a comma */
    bool key_written;   /* the next call must be a value */
};

void json_out_init(struct json_out *json, struct text *text);

/* Every value and container is closed. For a file of lines: check this, then add the newline. */
bool json_out_is_complete(const struct json_out *json);

void json_object_begin(struct json_out *json);
void json_object_end(struct json_out *json);
void json_array_begin(struct json_out *json);
void json_array_end(struct json_out *json);

void json_key(struct json_out *json, const char *key);

void json_string(struct json_out *json, const char *value);
void json_i64(struct json_out *json, int64_t value);
void json_u64(struct json_out *json, uint64_t value);
void json_bool(struct json_out *json, bool value);
void json_null(struct json_out *json);

/* value / 10^places, places 0..18, all of them written: json_fixed(j, 12345, 3) is 12.345. */
void json_fixed(struct json_out *json, int64_t value, uint32_t places);

/* key and value in one call. */
void json_key_string(struct json_out *json, const char *key, const char *value);
void json_key_i64(struct json_out *json, const char *key, int64_t value);
void json_key_u64(struct json_out *json, const char *key, uint64_t value);
void json_key_bool(struct json_out *json, const char *key, bool value);
void json_key_null(struct json_out *json, const char *key);
void json_key_fixed(struct json_out *json, const char *key, int64_t value, uint32_t places);

/* [count] strings as an array. */
void json_key_strings(struct json_out *json, const char *key, const char *const *values,
                      uint32_t count);
