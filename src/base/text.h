/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - a growing text buffer with a stated maximum.
 *
 * An addition that would pass the maximum adds nothing and sets overflow; after that every
 * addition is ignored, so a writer checks once, at the end. The text is always NUL-terminated. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct text {
    char *bytes;   /* [cap], NULL while empty */
    size_t used;   /* without the final NUL */
    size_t cap;    /* with it */
    size_t max;    /* limit of used */
    bool overflow; /* sticky until text_clear */
};

/* max: most bytes the text may have, without the final NUL. */
void text_init(struct text *text, size_t max);
void text_done(struct text *text);

/* Empty again, overflow off; memory is kept. */
void text_clear(struct text *text);

void text_add(struct text *text, const char *s);
void text_add_bytes(struct text *text, const char *bytes, size_t count);
__attribute__((format(printf, 2, 3))) void text_addf(struct text *text, const char *fmt, ...);

/* The text, never NULL; valid until the next change. */
const char *text_str(const struct text *text);
