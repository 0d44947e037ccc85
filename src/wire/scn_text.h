/* SPDX-License-Identifier: Apache-2.0 */
/* scn_text.h - a scenario file as lines of words: blocks and variants are taken apart, and what a
 * variant changes is put into the lines of the base. What lines mean is not known here (scn.h).
 *
 * A line is words between blanks. '#' at the start of a word begins a comment. Quotes keep blanks
 * together: "no node has room", reason="a b". */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "wire/arena.h"

struct err;

#define SCN_LINES_MAX    100000u
#define SCN_VARIANTS_MAX 1000u

struct scn_line {
    uint32_t number; /* in the file, from 1 */
    uint32_t count;
    const char **words;           /* [count], 1 at least */
    const struct scn_line *block; /* [block_count] of `config`: the lines up to its `end` */
    uint32_t block_count;
};

struct scn_lines {
    struct scn_line *items; /* [count] */
    uint32_t count, cap;
};

/* What an `expect` block says, one line of a log each, blanks evened out and comments gone. */
struct scn_expect {
    bool given;
    uint32_t first_line, end_line; /* of `expect` and its `end` */
    const char **lines;            /* [count] */
    uint32_t *numbers;             /* [count] in the file */
    uint32_t count, line_cap, number_cap;
};

struct scn_variant {
    const char *name;
    uint32_t number; /* of its first line */
    uint32_t end_line;
    struct scn_lines lines;
    struct scn_expect expect;
};

struct scn_text {
    const char *name;   /* of the file, for errors; borrowed */
    const char *folder; /* of the file, see links_folder(); NULL: there is no file */
    struct scn_lines lines;
    struct scn_expect expect;
    struct scn_variant *variants; /* [variant_count] */
    uint32_t variant_count, variant_cap;
    uint32_t line_count; /* of the file */
    struct arena arena;
};

/* 0 and *out filled, or a negative errno and nothing to give back: "x.scn:3: ...". */
int scn_text_load(const char *path, struct scn_text *out, struct err *err);
int scn_text_parse(const char *name, const void *bytes, size_t count, struct scn_text *out,
                   struct err *err);
void scn_text_done(struct scn_text *text);

/* The lines of the base with the changes of a variant (NULL = of none), in an array of its own. */
int scn_text_lines(struct scn_text *text, const struct scn_variant *variant, struct scn_lines *out,
                   struct err *err);

/* Which word says what the line is about: past "at TIME" and what repeats it; at most its count. */
uint32_t scn_line_verb(const struct scn_line *line);

__attribute__((format(printf, 5, 6))) int
scn_error(const char *name, uint32_t number, struct err *err, int code, const char *fmt, ...);
