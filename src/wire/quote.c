/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/quote.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "wire/utf8.h"

enum { QUOTED_BYTES_MAX = 40 };

static bool is_number(const char *text, size_t len)
{
    return len > 0 && len < QUOTED_BYTES_MAX && strspn(text, "-0123456789.") == len;
}

/* The copy of one character; returns how many bytes of text it took. */
static size_t copy_char(const char *text, size_t left, char *out, size_t *used)
{
    size_t n = utf8_char_bytes(text, left);

    if (n == 0 || (n == 1 && ((unsigned char)text[0] < 0x20 || text[0] == 0x7f))) {
        out[(*used)++] = '?';
        return 1;
    }
    memcpy(out + *used, text, n);
    *used += n;
    return n;
}

struct quote quote_of(const char *text)
{
    size_t len = strlen(text), at = 0, used = 0;
    char clean[QUOTED_BYTES_MAX + 4];
    struct quote quote;

    while (at < len && used < QUOTED_BYTES_MAX)
        at += copy_char(text + at, len - at, clean, &used);
    clean[used] = '\0';
    if (is_number(text, len))
        snprintf(quote.text, sizeof quote.text, "%s", clean);
    else
        snprintf(quote.text, sizeof quote.text, "'%s%s'", clean, at < len ? "..." : "");
    return quote;
}
