/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

/* Whether count more bytes fit; makes room for them, or sets overflow. */
static bool make_room(struct text *text, size_t count)
{
    size_t need, cap = text->cap < 64 ? 64 : text->cap;

    if (text->overflow || count > text->max - text->used) {
        text->overflow = true;
        return false;
    }
    need = text->used + count + 1;
    if (need <= text->cap)
        return true;
    while (cap < need)
        cap *= 2;
    text->bytes = mem_resize(text->bytes, text->cap, cap, 1);
    text->cap = cap;
    return true;
}

void text_init(struct text *text, size_t max)
{
    check(max < (size_t)-1 / 4);
    *text = (struct text){.max = max};
}

void text_done(struct text *text)
{
    mem_free(text->bytes);
    *text = (struct text){0};
}

void text_clear(struct text *text)
{
    text->used = 0;
    text->overflow = false;
    if (text->bytes)
        text->bytes[0] = '\0';
}

void text_add(struct text *text, const char *s)
{
    text_add_bytes(text, s, strlen(s));
}

void text_add_bytes(struct text *text, const char *bytes, size_t count)
{
    if (!make_room(text, count))
        return;
    memcpy(text->bytes + text->used, bytes, count);
    text->used += count;
    text->bytes[text->used] = '\0';
}

void text_addf(struct text *text, const char *fmt, ...)
{
    char first[256];
    va_list args;
    int len;

    va_start(args, fmt);
    len = vsnprintf(first, sizeof first, fmt, args);
    va_end(args);
    check(len >= 0);
    if ((size_t)len < sizeof first) {
        text_add_bytes(text, first, (size_t)len);
        return;
    }
    if (!make_room(text, (size_t)len))
        return;
    va_start(args, fmt);
    vsnprintf(text->bytes + text->used, (size_t)len + 1, fmt, args);
    va_end(args);
    text->used += (size_t)len;
}

const char *text_str(const struct text *text)
{
    return text->bytes ? text->bytes : "";
}
