/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/json_out.h"

#include <string.h>

#include "base/check.h"
#include "wire/utf8.h"

enum { DIGITS_MAX = 24 };

void json_out_init(struct json_out *json, struct text *text)
{
    *json = (struct json_out){.text = text};
}

bool json_out_is_complete(const struct json_out *json)
{
    return json->depth == 0 && !json->key_written;
}

static uint32_t level(const struct json_out *json)
{
    return UINT32_C(1) << (json->depth - 1);
}

/* The comma in front of the next member of what is open. */
static void comma(struct json_out *json)
{
    if (json->depth == 0)
        return;
    if (json->not_empty & level(json))
        text_add_bytes(json->text, ",", 1);
    json->not_empty |= level(json);
}

/* In front of each value. */
static void begin_value(struct json_out *json)
{
    if (json->depth > 0 && json->in_object & level(json)) {
        check(json->key_written);
        json->key_written = false;
    } else {
        comma(json);
    }
}

static void begin_container(struct json_out *json, const char *open, bool is_object)
{
    begin_value(json);
    check(json->depth < JSON_OUT_DEPTH_MAX);
    text_add_bytes(json->text, open, 1);
    json->depth++;
    json->not_empty &= ~level(json);
    json->in_object &= ~level(json);
    if (is_object)
        json->in_object |= level(json);
}

static void end_container(struct json_out *json, const char *close, bool is_object)
{
    check(json->depth > 0 && !json->key_written);
    check(((json->in_object & level(json)) != 0) == is_object);
    text_add_bytes(json->text, close, 1);
    json->depth--;
}

void json_object_begin(struct json_out *json)
{
    begin_container(json, "{", true);
}

void json_object_end(struct json_out *json)
{
    end_container(json, "}", true);
}

void json_array_begin(struct json_out *json)
{
    begin_container(json, "[", false);
}

void json_array_end(struct json_out *json)
{
    end_container(json, "]", false);
}

static void add_escape(struct text *text, unsigned char c)
{
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt", hex[] = "0123456789abcdef";
    const char *which = strchr(from, c);
    char escape[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};

    if (which) {
        escape[1] = to[which - from];
        text_add_bytes(text, escape, 2);
    } else {
        text_add_bytes(text, escape, 6);
    }
}

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static void add_string(struct text *text, const char *value)
{
    size_t left = strlen(value);

    text_add_bytes(text, "\"", 1);
    while (left > 0) {
        size_t run = 0;

        while (run < left && is_plain((unsigned char)value[run]))
            run++;
        if (run > 0) {
            text_add_bytes(text, value, run);
        } else if ((unsigned char)value[0] < 0x80) {
            add_escape(text, (unsigned char)value[0]);
            run = 1;
        } else {
            run = utf8_char_bytes(value, left);
            text_add_bytes(text, run ? value : "\xef\xbf\xbd", run ? run : 3);
            run = run ? run : 1;
        }
        value += run;
        left -= run;
    }
    text_add_bytes(text, "\"", 1);
}

void json_key(struct json_out *json, const char *key)
{
    check(json->depth > 0 && json->in_object & level(json) && !json->key_written);
    comma(json);
    add_string(json->text, key);
    text_add_bytes(json->text, ":", 1);
    json->key_written = true;
}

void json_string(struct json_out *json, const char *value)
{
    begin_value(json);
    add_string(json->text, value);
}

/* Writes the digits so that they end before `end`; at least `min` of them. */
static char *put_digits(char *end, uint64_t value, uint32_t min)
{
    for (uint32_t n = 0; value > 0 || n < min; n++) {
        *--end = (char)('0' + value % 10);
        value /= 10;
    }
    return end;
}

static uint64_t magnitude(int64_t value)
{
    return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

void json_i64(struct json_out *json, int64_t value)
{
    char digits[DIGITS_MAX], *end = digits + DIGITS_MAX;
    char *at = put_digits(end, magnitude(value), 1);

    if (value < 0)
        *--at = '-';
    begin_value(json);
    text_add_bytes(json->text, at, (size_t)(end - at));
}

void json_u64(struct json_out *json, uint64_t value)
{
    char digits[DIGITS_MAX], *end = digits + DIGITS_MAX;
    char *at = put_digits(end, value, 1);

    begin_value(json);
    text_add_bytes(json->text, at, (size_t)(end - at));
}

void json_fixed(struct json_out *json, int64_t value, uint32_t places)
{
    char digits[DIGITS_MAX], *end = digits + DIGITS_MAX, *at = end;
    uint64_t scale = 1, size = magnitude(value);

    check(places <= 18);
    for (uint32_t i = 0; i < places; i++)
        scale *= 10;
    if (places > 0) {
        at = put_digits(at, size % scale, places);
        *--at = '.';
    }
    at = put_digits(at, size / scale, 1);
    if (value < 0)
        *--at = '-';
    begin_value(json);
    text_add_bytes(json->text, at, (size_t)(end - at));
}

void json_bool(struct json_out *json, bool value)
{
    begin_value(json);
    text_add(json->text, value ? "true" : "false");
}

void json_null(struct json_out *json)
{
    begin_value(json);
    text_add(json->text, "null");
}

void json_key_string(struct json_out *json, const char *key, const char *value)
{
    json_key(json, key);
    json_string(json, value);
}

void json_key_i64(struct json_out *json, const char *key, int64_t value)
{
    json_key(json, key);
    json_i64(json, value);
}

void json_key_u64(struct json_out *json, const char *key, uint64_t value)
{
    json_key(json, key);
    json_u64(json, value);
}

void json_key_bool(struct json_out *json, const char *key, bool value)
{
    json_key(json, key);
    json_bool(json, value);
}

void json_key_null(struct json_out *json, const char *key)
{
    json_key(json, key);
    json_null(json);
}

void json_key_fixed(struct json_out *json, const char *key, int64_t value, uint32_t places)
{
    json_key(json, key);
    json_fixed(json, value, places);
}

void json_key_strings(struct json_out *json, const char *key, const char *const *values,
                      uint32_t count)
{
    json_key(json, key);
    json_array_begin(json);
    for (uint32_t i = 0; i < count; i++)
        json_string(json, values[i]);
    json_array_end(json);
}
