/* SPDX-License-Identifier: Apache-2.0 */
/* tape.c - numbers and texts to bytes and back. */
#include "base/tape.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"

enum { CHECKSUM_BYTES = 8, COUNT_MAX = UINT32_MAX / 4 };

/* ---- bytes ---- */

static void put(struct tape *t, const void *bytes, size_t count)
{
    if (count > t->cap - t->count) {
        size_t cap = t->cap > 0 ? t->cap * 2 : 4096;

        while (cap - t->count < count)
            cap *= 2;
        t->saved = mem_resize(t->saved, t->cap, cap, 1);
        t->cap = cap;
    }
    memcpy(t->saved + t->count, bytes, count);
    t->count += count;
}

static void put_number(struct tape *t, uint64_t value)
{
    uint8_t bytes[10];
    size_t count = 0;

    for (; value >= 0x80; value >>= 7)
        bytes[count++] = (uint8_t)(value | 0x80);
    bytes[count++] = (uint8_t)value;
    put(t, bytes, count);
}

/* The shortest form only, so that equal contents are equal bytes. */
static uint64_t get_number(struct tape *t)
{
    uint64_t value = 0;

    for (uint32_t shift = 0; !t->failed; shift += 7) {
        uint8_t byte;

        if (t->at == t->count) {
            tape_fail(t, "ends within a number");
            break;
        }
        byte = t->from[t->at];
        if ((shift == 63 && byte > 1) || (shift > 0 && byte == 0)) {
            tape_fail(t, "a number is too long");
            break;
        }
        t->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    return 0;
}

static uint64_t checksum(const uint8_t *bytes, size_t count)
{
    struct digest d;
    uint64_t word = 0;

    digest_init(&d);
    digest_u64(&d, count);
    for (size_t i = 0; i < count; i++) {
        word |= (uint64_t)bytes[i] << (i % 8 * 8);
        if (i % 8 == 7 || i + 1 == count) {
            digest_u64(&d, word);
            word = 0;
        }
    }
    return digest_value(&d);
}

static void store_le(uint8_t *out, uint64_t value)
{
    for (uint32_t i = 0; i < CHECKSUM_BYTES; i++)
        out[i] = (uint8_t)(value >> (8 * i));
}

void tape_seal(uint8_t *bytes, size_t count)
{
    check(count >= CHECKSUM_BYTES);
    store_le(bytes + count - CHECKSUM_BYTES, checksum(bytes, count - CHECKSUM_BYTES));
}

/* ---- the tape ---- */

void tape_digest_init(struct tape *t)
{
    *t = (struct tape){.mode = TAPE_DIGEST};
    digest_init(&t->digest);
}

void tape_save_init(struct tape *t, const char *magic, uint32_t version)
{
    *t = (struct tape){.mode = TAPE_SAVE};
    put(t, magic, TAPE_MAGIC_BYTES);
    put_number(t, version);
}

int tape_load_init(struct tape *t, const char *magic, uint32_t version, const void *bytes,
                   size_t count, struct err *err)
{
    uint8_t sum[CHECKSUM_BYTES];
    uint64_t found;

    *t = (struct tape){.mode = TAPE_LOAD, .from = bytes, .err = err};
    if (count < TAPE_MAGIC_BYTES + CHECKSUM_BYTES || memcmp(bytes, magic, TAPE_MAGIC_BYTES) != 0)
        return err_set(err, -EINVAL, "byte 0: is not a '%.*s' or ends at once", TAPE_MAGIC_BYTES,
                       magic);
    t->count = count - CHECKSUM_BYTES;
    t->at = TAPE_MAGIC_BYTES;
    found = get_number(t);
    if (!t->failed && found != version)
        tape_fail(t, "is of version %llu, only %u is known", (unsigned long long)found, version);
    store_le(sum, checksum(t->from, t->count));
    if (!t->failed && memcmp(sum, t->from + t->count, CHECKSUM_BYTES) != 0) {
        t->at = t->count;
        tape_fail(t, "the checksum does not match: it is cut or was changed");
    }
    return t->failed ? -EINVAL : 0;
}

void tape_done(struct tape *t)
{
    mem_free(t->saved);
    mem_free(t->text);
    *t = (struct tape){0};
}

uint64_t tape_digest(const struct tape *t)
{
    return digest_value(&t->digest);
}

uint8_t *tape_take(struct tape *t, size_t *out_count)
{
    static const uint8_t room[CHECKSUM_BYTES];
    uint8_t *saved;

    check(t->mode == TAPE_SAVE);
    put(t, room, sizeof room);
    saved = t->saved;
    tape_seal(saved, t->count);
    *out_count = t->count;
    t->saved = NULL;
    t->count = t->cap = 0;
    return saved;
}

int tape_end(struct tape *t)
{
    if (t->at < t->count)
        tape_fail(t, "more follows than is known");
    return t->failed ? -EINVAL : 0;
}

void tape_fail(struct tape *t, const char *fmt, ...)
{
    char text[256];
    va_list args;

    check(t->mode == TAPE_LOAD);
    if (t->failed)
        return;
    t->failed = true;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    (void)err_set(t->err, -EINVAL, "byte %zu: %s", t->at, text);
}

/* ---- fields ---- */

uint64_t tape_number(struct tape *t, uint64_t value, uint64_t max)
{
    if (t->mode == TAPE_SAVE) {
        put_number(t, value);
        return value;
    }
    value = get_number(t);
    if (value <= max)
        return value;
    tape_fail(t, "a number is too large: %llu", (unsigned long long)value);
    return 0;
}

static uint64_t fold(int64_t x)
{
    return (uint64_t)x << 1 ^ (x < 0 ? UINT64_MAX : 0);
}

static int64_t unfold(uint64_t x)
{
    return (int64_t)(x >> 1 ^ (x & 1 ? UINT64_MAX : 0));
}

void tape_i64(struct tape *t, int64_t *x)
{
    if (t->mode == TAPE_DIGEST)
        digest_i64(&t->digest, *x);
    else if (t->mode == TAPE_SAVE)
        put_number(t, fold(*x));
    else
        *x = unfold(get_number(t));
}

void tape_i64_in(struct tape *t, int64_t *x, int64_t min, int64_t max, const char *what)
{
    tape_i64(t, x);
    if (!tape_loads(t) || (*x >= min && *x <= max))
        return;
    tape_fail(t, "%s: must be %lld to %lld, is %lld", what, (long long)min, (long long)max,
              (long long)*x);
    *x = min;
}

void tape_i32_in(struct tape *t, int32_t *x, int32_t min, int32_t max, const char *what)
{
    int64_t wide = *x;

    tape_i64_in(t, &wide, min, max, what);
    if (tape_loads(t))
        *x = (int32_t)wide;
}

void tape_i32(struct tape *t, int32_t *x)
{
    tape_i32_in(t, x, INT32_MIN, INT32_MAX, "a number");
}

void tape_bool(struct tape *t, bool *x)
{
    uint32_t word = *x;

    tape_max(t, &word, 1, "yes or no");
    if (tape_loads(t))
        *x = word;
}

void tape_max(struct tape *t, uint32_t *x, uint32_t max, const char *what)
{
    tape_u32(t, x);
    if (!tape_loads(t) || *x <= max)
        return;
    tape_fail(t, "%s: at most %u, is %u", what, max, *x);
    *x = 0;
}

void tape_row(struct tape *t, uint32_t *x, uint32_t rows, const char *what)
{
    tape_u32(t, x);
    if (!tape_loads(t) || *x < rows)
        return;
    tape_fail(t, "%s: row %u of a table of %u", what, *x, rows);
    *x = 0;
}

void tape_count(struct tape *t, uint32_t *count, const char *what)
{
    tape_u32(t, count);
    if (!tape_loads(t) || (*count <= t->count - t->at && *count <= COUNT_MAX))
        return;
    tape_fail(t, "%s: %u of them, but %zu bytes are left", what, *count, t->count - t->at);
    *count = 0;
}

static const char *load_text(struct tape *t)
{
    uint32_t length = 0;

    tape_count(t, &length, "text");
    if (!t->failed && memchr(t->from + t->at, 0, length) != NULL)
        tape_fail(t, "text: holds a zero byte");
    if (t->failed)
        return "";
    vec_reserve(t->text, t->text_cap, length + 1);
    memcpy(t->text, t->from + t->at, length);
    t->text[length] = '\0';
    t->at += length;
    return t->text;
}

const char *tape_text(struct tape *t, const char *text)
{
    if (t->mode == TAPE_LOAD)
        return load_text(t);
    if (t->mode == TAPE_DIGEST) {
        digest_text(&t->digest, text);
    } else {
        put_number(t, strlen(text));
        put(t, text, strlen(text));
    }
    return text;
}
