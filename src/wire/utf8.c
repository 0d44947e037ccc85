/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/utf8.h"

#include <stdbool.h>
#include <string.h>

#include "base/check.h"

static bool is_tail(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

/* The second byte decides about overlong forms, surrogates and the upper end. */
static bool is_second(unsigned char first, unsigned char second)
{
    if (first == 0xe0)
        return second >= 0xa0 && second <= 0xbf;
    if (first == 0xed)
        return second >= 0x80 && second <= 0x9f;
    if (first == 0xf0)
        return second >= 0x90 && second <= 0xbf;
    if (first == 0xf4)
        return second >= 0x80 && second <= 0x8f;
    return is_tail(second);
}

size_t utf8_char_bytes(const char *bytes, size_t count)
{
    const unsigned char *c = (const unsigned char *)bytes;
    size_t need;

    if (count == 0)
        return 0;
    if (c[0] < 0x80)
        return 1;
    if (c[0] < 0xc2 || c[0] > 0xf4)
        return 0;
    need = c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : 4;
    if (count < need || !is_second(c[0], c[1]))
        return 0;
    for (size_t i = 2; i < need; i++) {
        if (!is_tail(c[i]))
            return 0;
    }
    return need;
}

size_t utf8_valid_bytes(const char *bytes, size_t count)
{
    size_t used = 0;

    while (used < count) {
        size_t n;

        while (count - used >= 8) { /* most text is ASCII: eight bytes a turn */
            uint64_t word;

            memcpy(&word, bytes + used, sizeof word);
            if (word & UINT64_C(0x8080808080808080))
                break;
            used += 8;
        }
        n = utf8_char_bytes(bytes + used, count - used);
        if (n == 0)
            break;
        used += n;
    }
    return used;
}

size_t utf8_encode(uint32_t code, char out[static 4])
{
    check(code <= 0x10ffff);
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        check(code < 0xd800 || code > 0xdfff);
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}
