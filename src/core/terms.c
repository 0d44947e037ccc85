/* SPDX-License-Identifier: Apache-2.0 */
/* terms.c - lists of names as ascending lists of name ids. */
#include "core/terms.h"

#include "base/names.h"

uint32_t terms_intern(struct names *names, const char *const *texts, uint32_t count, uint32_t *out)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < count; i++) {
        const uint32_t id = names_intern(names, texts[i]);
        uint32_t at = kept;

        while (at > 0 && out[at - 1] > id)
            at--;
        if (at > 0 && out[at - 1] == id)
            continue;
        for (uint32_t k = kept++; k > at; k--)
            out[k] = out[k - 1];
        out[at] = id;
    }
    return kept;
}
