/* SPDX-License-Identifier: Apache-2.0 */
#include "base/digest.h"

#include <string.h>

void digest_text(struct digest *digest, const char *text)
{
    size_t len = strlen(text);
    uint64_t word = 0;

    digest_u64(digest, len);
    for (size_t i = 0; i < len; i++) {
        word |= (uint64_t)(unsigned char)text[i] << (i % 8 * 8);
        if (i % 8 == 7 || i + 1 == len) {
            digest_u64(digest, word);
            word = 0;
        }
    }
}

uint64_t digest_value(const struct digest *digest)
{
    uint64_t v = digest->v;

    v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9u;
    v = (v ^ (v >> 27)) * 0x94d049bb133111ebu;
    return v ^ (v >> 31);
}
