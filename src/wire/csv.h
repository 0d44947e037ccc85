/* SPDX-License-Identifier: Apache-2.0 */
/* csv.h - rows of a CSV file with a header line, one at a time, with bounded memory.
 *
 * Plain and gzip files. Fields may stand in double quotes ("" is a quote inside), but a field ends
 * on the line where it begins. Empty lines are skipped; every other row must have as many fields
 * as the header. Columns are looked up by name. Errors name file, line and column:
 *   jobs.csv:12: column 'gpus': must be 0 to 64, is -3 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/input.h"
#include "wire/number.h"

struct err;

#define CSV_LINE_BYTES_MAX ((size_t)1 << 16)
#define CSV_COLUMNS_MAX    256
#define CSV_TEXT_BYTES_MAX 255 /* of a name; csv_text() */
#define CSV_NONE           UINT32_MAX

struct csv {
    struct input input;
    char *header;        /* the header line, cut into names */
    const char **names;  /* [column_count] */
    const char **fields; /* [column_count] of the current row, into input.line */
    uint32_t column_count;
};

/* Open and read the header. On failure there is nothing to close. */
int csv_open(struct csv *csv, const char *path, struct err *err);
int csv_open_bytes(struct csv *csv, const char *name, const void *bytes, size_t count,
                   struct err *err);
void csv_close(struct csv *csv);

/* 1 and a row, 0 at the end, or a negative errno. */
int csv_next(struct csv *csv, struct err *err);

/* Index of the column, or CSV_NONE. */
uint32_t csv_find(const struct csv *csv, const char *name);

/* Indices of the [count] columns, which must all be there. */
int csv_find_all(const struct csv *csv, const char *const *names, uint32_t count, uint32_t *out,
                 struct err *err);

/* A field of the current row; valid until csv_next. CSV_NONE is an empty field. */
const char *csv_field(const struct csv *csv, uint32_t column);
bool csv_is_empty(const struct csv *csv, uint32_t column);

/* A field as a number of this kind and range, as a name, or as a choice of either. */
int csv_number(const struct csv *csv, uint32_t column, enum number_kind kind, int64_t min,
               int64_t max, int64_t *out, struct err *err);
int csv_u32(const struct csv *csv, uint32_t column, uint32_t min, uint32_t max, uint32_t *out,
            struct err *err);
/* As csv_number, but an empty field leaves *out as it is. */
int csv_number_or(const struct csv *csv, uint32_t column, enum number_kind kind, int64_t min,
                  int64_t max, int64_t *out, struct err *err);
int csv_u32_or(const struct csv *csv, uint32_t column, uint32_t min, uint32_t max, uint32_t *out,
               struct err *err);
/* Up to CSV_TEXT_BYTES_MAX bytes; may be empty. */
int csv_text(const struct csv *csv, uint32_t column, const char **out, struct err *err);
/* The same, but it must not be empty. */
int csv_name(const struct csv *csv, uint32_t column, const char **out, struct err *err);

/* "FILE:LINE: column 'NAME': " and the text; returns code. */
__attribute__((format(printf, 5, 6))) int
csv_error(const struct csv *csv, uint32_t column, struct err *err, int code, const char *fmt, ...);
