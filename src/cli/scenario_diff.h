/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_diff.h - an expected log beside one that happened, and the file with the new one. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "wire/scn_text.h"

struct err;

/* True if they are equal but for blanks. Else `out` gets the differences with two lines around
 * each; expected lines come with their numbers in the file. */
bool scenario_diff(const struct scn_expect *expect, const char *log, struct text *out);

/* A log that is to stand in a file: in place of lines first..end-1 (the block without its `end`),
 * or as a new block before line `end` (first 0), or at the end of the file (end 0 too). */
struct scenario_edit {
    uint32_t first_line, end_line;
    const char *indent; /* of a new block */
    char *log;          /* owned */
};

struct scenario_edits {
    struct scenario_edit *items; /* [count] */
    uint32_t count, cap;
};

void scenario_edits_add(struct scenario_edits *edits, const struct scn_text *text,
                        const struct scn_variant *variant, const char *log);
void scenario_edits_done(struct scenario_edits *edits);

/* Rewrites the file if an edit changes it. All comments stay: those of an expected line that stays
 * with it, others in their place. */
int scenario_edits_write(const struct scenario_edits *edits, const char *path, struct err *err);
