/* SPDX-License-Identifier: Apache-2.0 */
/* input.h - lines of a file, which may be gzip, or of bytes in memory.
 *
 * A line ends with "\n" or "\r\n"; the last one may lack it. A byte order mark at the start is
 * skipped. Lines are valid UTF-8 without NUL: everything else, a line over the limit, and a gzip
 * file that ends early are errors of the form "FILE:LINE: ...". */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct err;

struct input {
    const char *name;  /* for errors; borrowed */
    void *gz;          /* gzFile, or NULL: the bytes are all in memory */
    char *buffer;      /* of the file, owned; NULL for memory */
    const char *bytes; /* what is read and not used yet: [left] */
    size_t left;
    size_t line_bytes_max;
    struct text line;     /* the last line */
    uint32_t line_number; /* of the last line, from 1 */
};

/* Returns 0, or a negative errno ("cannot open 'x.csv': No such file or directory") and then there
 * is nothing to close. */
int input_open(struct input *input, const char *path, size_t line_bytes_max, struct err *err);
void input_open_bytes(struct input *input, const char *name, const void *bytes, size_t count,
                      size_t line_bytes_max);
void input_close(struct input *input);

/* 1 and the next line is input->line, 0 at the end, or a negative errno. The caller may write into
 * the bytes of the line. */
int input_line(struct input *input, struct err *err);

/* The whole of a file, which may be gzip, up to out->max bytes. */
int input_read_all(const char *path, struct text *out, struct err *err);
