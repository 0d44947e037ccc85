/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/csv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "wire/quote.h"

/* Takes the quotes off a field that starts at `at`: writes it in place and returns what follows
 * its closing quote, or NULL if there is none. */
static char *unquote(char *at)
{
    char *out = at, *in = at + 1;

    for (;; in++) {
        if (*in == '\0')
            return NULL;
        if (*in == '"') {
            if (in[1] != '"')
                break;
            in++;
        }
        *out++ = *in;
    }
    *out = '\0';
    return in + 1;
}

/* Of a row, or of the header, which has no columns yet. */
static int width_error(const struct csv *csv, uint32_t max, struct err *err)
{
    return err_set(err, -EINVAL, "%s:%u: %s %u%s", csv->input.name, csv->input.line_number,
                   csv->fields ? "row has more columns than the header, which has" : "more than",
                   max, csv->fields ? "" : " columns");
}

/* Cuts the line into fields[], which has room for max. Returns their count, or a negative errno. */
static int split(const struct csv *csv, char *line, const char **fields, uint32_t max,
                 struct err *err)
{
    uint32_t count = 0;
    char *at = line;

    for (;;) {
        char *end = at;

        if (count == max)
            return width_error(csv, max, err);
        fields[count++] = at;
        if (*at == '"') {
            end = unquote(at);
            if (!end || (*end != ',' && *end != '\0'))
                return err_set(err, -EINVAL, "%s:%u: column %u: the quoted field %s",
                               csv->input.name, csv->input.line_number, count,
                               end ? "has text after its closing quote"
                                   : "is not closed on this line");
        } else {
            end += strcspn(end, ",");
        }
        if (*end == '\0')
            return (int)count;
        *end = '\0';
        at = end + 1;
    }
}

static int check_names(const struct csv *csv, struct err *err)
{
    for (uint32_t i = 0; i < csv->column_count; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (strcmp(csv->names[i], csv->names[k]) == 0)
                return err_set(err, -EINVAL, "%s:%u: column %s is there twice", csv->input.name,
                               csv->input.line_number, quote_of(csv->names[i]).text);
        }
    }
    return 0;
}

static int read_header(struct csv *csv, struct err *err)
{
    const char *names[CSV_COLUMNS_MAX];
    int rc = input_line(&csv->input, err);

    if (rc == 0)
        return err_set(err, -EINVAL, "%s: file is empty, wanted a header line", csv->input.name);
    if (rc < 0)
        return rc;
    csv->header = mem_copy(csv->input.line.bytes, csv->input.line.used + 1, 1);
    rc = split(csv, csv->header, names, CSV_COLUMNS_MAX, err);
    if (rc < 0)
        return rc;
    csv->column_count = (uint32_t)rc;
    csv->names = mem_copy(names, csv->column_count, sizeof *names);
    csv->fields = mem_alloc(csv->column_count, sizeof *csv->fields);
    return check_names(csv, err);
}

static int finish_open(struct csv *csv, struct err *err)
{
    int rc = read_header(csv, err);

    if (rc < 0)
        csv_close(csv);
    return rc;
}

int csv_open(struct csv *csv, const char *path, struct err *err)
{
    int rc;

    *csv = (struct csv){0};
    rc = input_open(&csv->input, path, CSV_LINE_BYTES_MAX, err);
    return rc < 0 ? rc : finish_open(csv, err);
}

int csv_open_bytes(struct csv *csv, const char *name, const void *bytes, size_t count,
                   struct err *err)
{
    *csv = (struct csv){0};
    input_open_bytes(&csv->input, name, bytes, count, CSV_LINE_BYTES_MAX);
    return finish_open(csv, err);
}

void csv_close(struct csv *csv)
{
    input_close(&csv->input);
    mem_free(csv->header);
    mem_free(csv->names);
    mem_free(csv->fields);
    *csv = (struct csv){0};
}

int csv_next(struct csv *csv, struct err *err)
{
    int rc;

    do {
        rc = input_line(&csv->input, err);
        if (rc <= 0)
            return rc;
    } while (csv->input.line.used == 0);
    rc = split(csv, csv->input.line.bytes, csv->fields, csv->column_count, err);
    if (rc < 0)
        return rc;
    if ((uint32_t)rc != csv->column_count)
        return err_set(err, -EINVAL, "%s:%u: row has %d columns, the header has %u",
                       csv->input.name, csv->input.line_number, rc, csv->column_count);
    return 1;
}

uint32_t csv_find(const struct csv *csv, const char *name)
{
    for (uint32_t i = 0; i < csv->column_count; i++) {
        if (strcmp(csv->names[i], name) == 0)
            return i;
    }
    return CSV_NONE;
}

int csv_find_all(const struct csv *csv, const char *const *names, uint32_t count, uint32_t *out,
                 struct err *err)
{
    for (uint32_t i = 0; i < count; i++) {
        out[i] = csv_find(csv, names[i]);
        if (out[i] == CSV_NONE)
            return err_set(err, -EINVAL, "%s:1: column '%s' is missing", csv->input.name, names[i]);
    }
    return 0;
}

const char *csv_field(const struct csv *csv, uint32_t column)
{
    check(column == CSV_NONE || column < csv->column_count);
    return column == CSV_NONE ? "" : csv->fields[column];
}

bool csv_is_empty(const struct csv *csv, uint32_t column)
{
    return csv_field(csv, column)[0] == '\0';
}

int csv_error(const struct csv *csv, uint32_t column, struct err *err, int code, const char *fmt,
              ...)
{
    struct err detail;
    va_list args;

    va_start(args, fmt);
    vsnprintf(detail.text, sizeof detail.text, fmt, args);
    va_end(args);
    return err_set(err, code, "%s:%u: column %s: %s", csv->input.name, csv->input.line_number,
                   quote_of(csv->names[column]).text, detail.text);
}

int csv_number(const struct csv *csv, uint32_t column, enum number_kind kind, int64_t min,
               int64_t max, int64_t *out, struct err *err)
{
    struct err detail;
    int rc = number_parse(csv_field(csv, column), kind, min, max, out, &detail);

    return rc < 0 ? csv_error(csv, column, err, rc, "%s", detail.text) : 0;
}

int csv_u32(const struct csv *csv, uint32_t column, uint32_t min, uint32_t max, uint32_t *out,
            struct err *err)
{
    int64_t value;
    int rc = csv_number(csv, column, NUMBER_WHOLE, min, max, &value, err);

    if (rc == 0)
        *out = (uint32_t)value;
    return rc;
}

int csv_number_or(const struct csv *csv, uint32_t column, enum number_kind kind, int64_t min,
                  int64_t max, int64_t *out, struct err *err)
{
    return csv_is_empty(csv, column) ? 0 : csv_number(csv, column, kind, min, max, out, err);
}

int csv_u32_or(const struct csv *csv, uint32_t column, uint32_t min, uint32_t max, uint32_t *out,
               struct err *err)
{
    return csv_is_empty(csv, column) ? 0 : csv_u32(csv, column, min, max, out, err);
}

int csv_text(const struct csv *csv, uint32_t column, const char **out, struct err *err)
{
    const char *field = csv_field(csv, column);

    if (strlen(field) > CSV_TEXT_BYTES_MAX)
        return csv_error(csv, column, err, -ERANGE, "text is longer than %d bytes: %s",
                         CSV_TEXT_BYTES_MAX, quote_of(field).text);
    *out = field;
    return 0;
}

int csv_name(const struct csv *csv, uint32_t column, const char **out, struct err *err)
{
    if (csv_is_empty(csv, column))
        return csv_error(csv, column, err, -EINVAL, "must not be empty");
    return csv_text(csv, column, out, err);
}
