/* SPDX-License-Identifier: Apache-2.0 */
/* doc_json.c - JSON text into a doc tree, strictly by RFC 8259.
 *
 * By hand rather than with a JSON library, since each value must know its line, and since numbers
 * must stay text: 64-bit ids and decimals may not pass through a double. Strings with U+0000 and
 * half surrogate pairs are errors. */
#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/text.h"
#include "wire/arena.h"
#include "wire/doc.h"
#include "wire/utf8.h"

struct json_in {
    struct doc *doc;
    const char *at, *end;
    uint32_t line;
    struct text string; /* the last string, unescaped */
    struct err *err;
};

static int fail(const struct json_in *in, const char *what)
{
    return err_set(in->err, -EINVAL, "%s:%u: not JSON: %s", in->doc->name, in->line, what);
}

static void skip_space(struct json_in *in)
{
    while (in->at < in->end &&
           (*in->at == ' ' || *in->at == '\t' || *in->at == '\r' || *in->at == '\n')) {
        in->line += *in->at == '\n';
        in->at++;
    }
}

/* The next character that is not space, or 0 at the end. It is not taken. */
static char peek(struct json_in *in)
{
    skip_space(in);
    return in->at < in->end ? *in->at : '\0';
}

static int hex4(struct json_in *in, uint32_t *out)
{
    uint32_t code = 0;

    if (in->end - in->at < 4)
        return fail(in, "a \\u escape needs four hex digits");
    for (int i = 0; i < 4; i++) {
        char c = *in->at++;

        if (c >= '0' && c <= '9')
            code = code * 16 + (uint32_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            code = code * 16 + (uint32_t)(c - 'a') + 10;
        else if (c >= 'A' && c <= 'F')
            code = code * 16 + (uint32_t)(c - 'A') + 10;
        else
            return fail(in, "a \\u escape needs four hex digits");
    }
    *out = code;
    return 0;
}

/* Behind "\u": one character, which may be two escapes (a surrogate pair). */
static int unicode_escape(struct json_in *in)
{
    uint32_t code, low = 0;
    char bytes[4];
    int rc = hex4(in, &code);

    if (rc < 0)
        return rc;
    if (code >= 0xd800 && code <= 0xdbff) {
        if (in->end - in->at < 2 || in->at[0] != '\\' || in->at[1] != 'u')
            return fail(in, "half a surrogate pair");
        in->at += 2;
        rc = hex4(in, &low);
        if (rc < 0)
            return rc;
        if (low < 0xdc00 || low > 0xdfff)
            return fail(in, "half a surrogate pair");
        code = 0x10000 + (code - 0xd800) * 0x400 + (low - 0xdc00);
    } else if (code >= 0xdc00 && code <= 0xdfff) {
        return fail(in, "half a surrogate pair");
    } else if (code == 0) {
        return fail(in, "a string with a NUL character");
    }
    text_add_bytes(&in->string, bytes, utf8_encode(code, bytes));
    return 0;
}

static int escape(struct json_in *in)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *which;

    in->at++;
    if (in->at == in->end)
        return fail(in, "string is not closed");
    if (*in->at == 'u') {
        in->at++;
        return unicode_escape(in);
    }
    which = *in->at ? strchr(from, *in->at) : NULL;
    if (!which)
        return fail(in, "unknown escape in a string");
    text_add_bytes(&in->string, &to[which - from], 1);
    in->at++;
    return 0;
}

/* The characters up to the next quote or escape. */
static int plain_run(struct json_in *in)
{
    const char *start = in->at;

    while (in->at < in->end && *in->at != '"' && *in->at != '\\' && (unsigned char)*in->at >= 0x20)
        in->at++;
    if (utf8_valid_bytes(start, (size_t)(in->at - start)) != (size_t)(in->at - start))
        return fail(in, "string is not UTF-8");
    text_add_bytes(&in->string, start, (size_t)(in->at - start));
    if (in->at == in->end || *in->at == '\n')
        return fail(in, "string is not closed");
    if ((unsigned char)*in->at < 0x20)
        return fail(in, "control character in a string");
    return 0;
}

/* At the opening quote: in->string gets the text, and the closing quote is taken. */
static int string(struct json_in *in)
{
    int rc = 0;

    text_clear(&in->string);
    in->at++;
    while (rc == 0) {
        rc = plain_run(in);
        if (rc == 0 && *in->at == '"') {
            in->at++;
            return 0;
        }
        if (rc == 0)
            rc = escape(in);
    }
    return rc;
}

static size_t digits(const char *at, const char *end)
{
    size_t n = 0;

    while (at + n < end && at[n] >= '0' && at[n] <= '9')
        n++;
    return n;
}

/* Bytes of the number at the start, 0 if there is none. */
static size_t number_bytes(const char *start, const char *end)
{
    const char *at = start;
    size_t n;

    at += at < end && *at == '-';
    n = digits(at, end);
    if (n == 0 || (n > 1 && *at == '0'))
        return 0;
    at += n;
    if (at < end && *at == '.') {
        n = digits(at + 1, end);
        if (n == 0)
            return 0;
        at += 1 + n;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        at += at < end && (*at == '+' || *at == '-');
        n = digits(at, end);
        if (n == 0)
            return 0;
        at += n;
    }
    return (size_t)(at - start);
}

/* A number, true, false or null, kept as it is written. */
static size_t word_bytes(const struct json_in *in)
{
    static const char *const words[] = {"true", "false", "null"};
    size_t left = (size_t)(in->end - in->at);

    for (size_t i = 0; i < 3; i++) {
        size_t len = strlen(words[i]);

        if (left >= len && memcmp(in->at, words[i], len) == 0)
            return len;
    }
    return number_bytes(in->at, in->end);
}

static int value(struct json_in *in, uint32_t parent, const char *key);

/* `"key": value` of a map, at its opening quote. */
static int member(struct json_in *in, uint32_t parent)
{
    const char *key;
    int rc;

    if (peek(in) != '"')
        return fail(in, "wanted a field name in quotes");
    rc = string(in);
    if (rc < 0)
        return rc;
    key = arena_text(in->doc->arena, text_str(&in->string), in->string.used);
    if (peek(in) != ':')
        return fail(in, "wanted ':' after a field name");
    in->at++;
    return value(in, parent, key);
}

/* What is between the brackets of a list or a map, and the closing bracket. */
static int members(struct json_in *in, uint32_t node, bool is_map)
{
    char close = is_map ? '}' : ']';
    int rc;

    in->at++;
    if (peek(in) == close) {
        in->at++;
        return 0;
    }
    for (;;) {
        rc = is_map ? member(in, node) : value(in, node, NULL);
        if (rc < 0)
            return rc;
        if (peek(in) == close)
            break;
        if (peek(in) != ',')
            return fail(in, is_map ? "wanted ',' or '}'" : "wanted ',' or ']'");
        in->at++;
    }
    in->at++;
    return 0;
}

/* Reads one value into a child of parent. Recursion ends at DOC_DEPTH_MAX, in doc_add(). */
static int value(struct json_in *in, uint32_t parent, const char *key)
{
    char c = peek(in);
    struct doc_value add = {.type = DOC_TEXT, .key = key, .line = in->line};
    int64_t node;
    int rc;

    if (c == '{' || c == '[') {
        add.type = c == '{' ? DOC_MAP : DOC_LIST;
    } else if (c == '"') {
        rc = string(in);
        if (rc < 0)
            return rc;
        add.text = arena_text(in->doc->arena, text_str(&in->string), in->string.used);
    } else {
        size_t len = word_bytes(in);

        if (len == 0)
            return fail(in, in->at == in->end ? "text ends early" : "wanted a value");
        add.text = arena_text(in->doc->arena, in->at, len);
        in->at += len;
    }
    node = doc_add(in->doc, parent, &add, in->err);
    if (node < 0 || add.type == DOC_TEXT)
        return node < 0 ? (int)node : 0;
    return members(in, (uint32_t)node, add.type == DOC_MAP);
}

int doc_parse_json(struct doc *doc, const char *bytes, size_t count, uint32_t line, struct err *err)
{
    struct json_in in = {.doc = doc, .at = bytes, .end = bytes + count, .line = line, .err = err};
    int rc;

    if (count > DOC_BYTES_MAX)
        return err_set(err, -EFBIG, "%s: larger than %zu bytes", doc->name, DOC_BYTES_MAX);
    text_init(&in.string, DOC_BYTES_MAX);
    rc = value(&in, 0, NULL);
    if (rc == 0) {
        (void)peek(&in);
        if (in.at != in.end)
            rc = fail(&in, "text after the end of the document");
    }
    text_done(&in.string);
    return rc;
}
