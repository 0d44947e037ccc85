/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/scenario_diff.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
#include "wire/input.h"

#define FILE_BYTES_MAX ((size_t)64 << 20)
#define CELLS_MAX      (1u << 24) /* of the table of common lines; above, all lines differ */

enum { AROUND = 2 };

/* ---- lines ---- */

struct lines {
    char *bytes; /* owned */
    char **items;
    uint32_t count, cap;
};

static void even_out(char *line)
{
    char *to = line;

    for (const char *from = line; *from != '\0'; from++) {
        if (*from == ' ' || *from == '\t') {
            if (to > line && to[-1] != ' ')
                *to++ = ' ';
        } else {
            *to++ = *from;
        }
    }
    while (to > line && to[-1] == ' ')
        to--;
    *to = '\0';
}

static void lines_split(struct lines *lines, const char *text)
{
    char *at;

    *lines = (struct lines){.bytes = mem_copy(text, strlen(text) + 1, 1)};
    for (at = lines->bytes; *at != '\0';) {
        char *end = at + strcspn(at, "\n");
        const bool more = *end != '\0';

        *end = '\0';
        vec_push(lines->items, lines->count, lines->cap, at);
        at = end + more;
    }
}

static void lines_done(struct lines *lines)
{
    mem_free(lines->bytes);
    mem_free(lines->items);
}

/* ---- what is common ---- */

enum op { OP_KEEP, OP_DROP, OP_ADD };

struct ops {
    enum op *items;
    uint32_t count, cap;
};

static void add_op(struct ops *ops, enum op op)
{
    vec_push(ops->items, ops->count, ops->cap, op);
}

/* table[i][j]: how many lines a[i..] and b[j..] have in common, in order. */
static void walk_table(const char *const *a, uint32_t n, const char *const *b, uint32_t m,
                       struct ops *ops)
{
    uint32_t *table = mem_alloc((size_t)(n + 1) * (m + 1), sizeof *table), i, j;
    const size_t row = m + 1;

    for (i = n; i-- > 0;)
        for (j = m; j-- > 0;) {
            const uint32_t down = table[(i + 1) * row + j], right = table[i * row + j + 1];

            table[i * row + j] = strcmp(a[i], b[j]) == 0 ? table[(i + 1) * row + j + 1] + 1
                                 : down > right          ? down
                                                         : right;
        }
    for (i = j = 0; i < n || j < m;) {
        if (i < n && j < m && strcmp(a[i], b[j]) == 0) {
            add_op(ops, OP_KEEP);
            i++;
            j++;
        } else if (i < n && (j == m || table[(i + 1) * row + j] >= table[i * row + j + 1])) {
            add_op(ops, OP_DROP);
            i++;
        } else {
            add_op(ops, OP_ADD);
            j++;
        }
    }
    mem_free(table);
}

/* How a becomes b, with as many lines kept as there can be. */
static void find_ops(const char *const *a, uint32_t n, const char *const *b, uint32_t m,
                     struct ops *ops)
{
    uint32_t head = 0, tail = 0;

    *ops = (struct ops){0};
    while (head < n && head < m && strcmp(a[head], b[head]) == 0)
        head++;
    while (head + tail < n && head + tail < m && strcmp(a[n - 1 - tail], b[m - 1 - tail]) == 0)
        tail++;
    for (uint32_t i = 0; i < head; i++)
        add_op(ops, OP_KEEP);
    n -= head + tail;
    m -= head + tail;
    if ((uint64_t)(n + 1) * (m + 1) <= CELLS_MAX) {
        walk_table(a + head, n, b + head, m, ops);
    } else {
        for (uint32_t i = 0; i < n; i++)
            add_op(ops, OP_DROP);
        for (uint32_t j = 0; j < m; j++)
            add_op(ops, OP_ADD);
    }
    for (uint32_t i = 0; i < tail; i++)
        add_op(ops, OP_KEEP);
}

/* ---- for people ---- */

static bool is_near_change(const struct ops *ops, uint32_t at)
{
    const uint32_t from = at > AROUND ? at - AROUND : 0;

    for (uint32_t i = from; i < ops->count && i <= at + AROUND; i++)
        if (ops->items[i] != OP_KEEP)
            return true;
    return false;
}

bool scenario_diff(const struct scn_expect *expect, const char *log, struct text *out)
{
    uint32_t i = 0, j = 0;
    bool same = true;
    struct lines lines;
    struct ops ops;

    lines_split(&lines, log);
    for (uint32_t l = 0; l < lines.count; l++)
        even_out(lines.items[l]);
    find_ops(expect->lines, expect->count, (const char *const *)lines.items, lines.count, &ops);
    for (uint32_t at = 0; at < ops.count; at++) {
        const enum op op = ops.items[at];

        same = same && op == OP_KEEP;
        if (op == OP_ADD)
            text_addf(out, "      + %s\n", lines.items[j]);
        else if (op == OP_DROP || is_near_change(&ops, at))
            text_addf(out, "%5u %c %s\n", expect->numbers[i], op == OP_DROP ? '-' : ' ',
                      expect->lines[i]);
        i += op != OP_ADD;
        j += op != OP_DROP;
    }
    lines_done(&lines);
    mem_free(ops.items);
    return same;
}

/* ---- into the file ---- */

void scenario_edits_add(struct scenario_edits *edits, const struct scn_text *text,
                        const struct scn_variant *variant, const char *log)
{
    const struct scn_expect *expect = variant ? &variant->expect : &text->expect;
    struct scenario_edit edit = {.indent = variant ? "  " : "",
                                 .log = mem_copy(log, strlen(log) + 1, 1)};

    if (expect->given) {
        edit.first_line = expect->first_line + 1;
        edit.end_line = expect->end_line;
    } else if (variant) {
        edit.end_line = variant->end_line;
    }
    /* A variant without a block goes by the base's: it gets one of its own if it differs. */
    if (variant && !expect->given &&
        (!text->expect.given || strcmp(edits->count > 0 ? edits->items[0].log : "", log) == 0))
        mem_free(edit.log);
    else
        vec_push(edits->items, edits->count, edits->cap, edit);
}

void scenario_edits_done(struct scenario_edits *edits)
{
    for (uint32_t i = 0; i < edits->count; i++)
        mem_free(edits->items[i].log);
    mem_free(edits->items);
    *edits = (struct scenario_edits){0};
}

/* The comment of a line, from its '#', or NULL. */
static const char *comment_of(const char *line)
{
    for (size_t i = 0; line[i] != '\0'; i++)
        if (line[i] == '#' && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t'))
            return line + i;
    return NULL;
}

/* The old lines of the block, [count], without comments and evened out; "" where nothing is left.
 */
static char **bare_lines(char *const *old, uint32_t count)
{
    char **bare = mem_alloc(count + 1, sizeof *bare);

    for (uint32_t i = 0; i < count; i++) {
        const char *comment = comment_of(old[i]);
        const size_t len = comment ? (size_t)(comment - old[i]) : strlen(old[i]);

        bare[i] = mem_alloc(len + 1, 1);
        if (len > 0)
            memcpy(bare[i], old[i], len);
        even_out(bare[i]);
    }
    return bare;
}

static void add_old(struct text *out, const char *line, bool kept, const char *indent)
{
    const char *comment = comment_of(line);

    if (kept)
        text_addf(out, "%s\n", line);
    else if (comment)
        text_addf(out, "%s%s\n", indent, comment);
}

/* The block anew: old lines [count] of which the log still has some, and its other lines. */
static void merge(struct text *out, char *const *old, uint32_t count, const char *log,
                  const char *indent)
{
    const char **wanted = mem_alloc(count + 1, sizeof *wanted);
    char **bare = bare_lines(old, count);
    uint32_t lines_of = 0, i = 0, j = 0;
    struct lines shown, lines;
    struct ops ops;

    for (uint32_t l = 0; l < count; l++)
        if (bare[l][0] != '\0')
            wanted[lines_of++] = bare[l];
    lines_split(&shown, log);
    lines_split(&lines, log);
    for (uint32_t l = 0; l < lines.count; l++)
        even_out(lines.items[l]);
    find_ops(wanted, lines_of, (const char *const *)lines.items, lines.count, &ops);
    for (uint32_t at = 0; at < ops.count; at++) {
        for (; ops.items[at] != OP_ADD && bare[i][0] == '\0'; i++)
            text_addf(out, "%s\n", old[i]);
        if (ops.items[at] == OP_ADD)
            text_addf(out, "%s%s\n", indent, shown.items[j]);
        else
            add_old(out, old[i++], ops.items[at] == OP_KEEP, indent);
        j += ops.items[at] != OP_DROP;
    }
    for (; i < count; i++)
        text_addf(out, "%s\n", old[i]);
    for (uint32_t l = 0; l < count; l++)
        mem_free(bare[l]);
    mem_free(bare);
    mem_free(wanted);
    mem_free(ops.items);
    lines_done(&shown);
    lines_done(&lines);
}

static void add_new(struct text *out, const struct scenario_edit *edit)
{
    char indent[16];

    snprintf(indent, sizeof indent, "%s  ", edit->indent);
    text_addf(out, "%sexpect\n", edit->indent);
    merge(out, NULL, 0, edit->log, indent);
    text_addf(out, "%send\n", edit->indent);
}

static const struct scenario_edit *edit_at(const struct scenario_edits *edits, uint32_t line)
{
    for (uint32_t i = 0; i < edits->count; i++)
        if ((edits->items[i].first_line ? edits->items[i].first_line : edits->items[i].end_line) ==
            line)
            return &edits->items[i];
    return NULL;
}

static void apply(const struct scenario_edits *edits, const struct lines *file, struct text *out)
{
    const struct scenario_edit *last = edit_at(edits, 0);

    for (uint32_t line = 1; line <= file->count; line++) {
        const struct scenario_edit *edit = edit_at(edits, line);

        if (edit && edit->first_line) {
            merge(out, file->items + line - 1, edit->end_line - line, edit->log,
                  file->items[edit->end_line - 1][0] == ' ' ? "    " : "  ");
            line = edit->end_line;
        } else if (edit) {
            add_new(out, edit);
        }
        text_addf(out, "%s\n", file->items[line - 1]);
    }
    if (last)
        add_new(out, last);
}

/* The new file may be read by the same people as the old one. */
static bool keep_mode(FILE *file, const char *path)
{
    struct stat old;

    return stat(path, &old) == 0 && fchmod(fileno(file), old.st_mode & 07777) == 0;
}

/* A file beside it first, so that a full disk does not cost the old one. A link stays one: what it
 * names is written. */
static int write_file(const char *link, const struct text *text, struct err *err)
{
    char path[PATH_MAX], beside[PATH_MAX + 8];
    FILE *file;
    bool ok;

    if (realpath(link, path) == NULL)
        return err_set(err, -errno, "cannot write '%s': %s", link, strerror(errno));
    snprintf(beside, sizeof beside, "%s.new", path);
    file = fopen(beside, "we");
    if (!file)
        return err_set(err, -errno, "cannot create '%s': %s", beside, strerror(errno));
    ok = fwrite(text_str(text), 1, text->used, file) == text->used;
    ok = keep_mode(file, path) && ok;
    ok = fclose(file) == 0 && ok;
    if (!ok || rename(beside, path) != 0) {
        const int code = errno ? errno : EIO;

        unlink(beside);
        return err_set(err, -code, "cannot write '%s': %s", path, strerror(code));
    }
    return 0;
}

/* Lines that end in "\r\n" are written so again, all of them. Returns whether there are any. */
static bool take_returns(struct lines *lines)
{
    bool any = false;

    for (uint32_t i = 0; i < lines->count; i++) {
        const size_t len = strlen(lines->items[i]);

        if (len == 0 || lines->items[i][len - 1] != '\r')
            continue;
        lines->items[i][len - 1] = '\0';
        any = true;
    }
    return any;
}

static void put_lines(const struct lines *lines, const char *end, struct text *out)
{
    for (uint32_t i = 0; i < lines->count; i++)
        text_addf(out, "%s%s", lines->items[i], end);
}

/* Lines that stay as they are keep the file as it is. */
static bool are_same(const struct lines *a, const struct lines *b)
{
    bool same = a->count == b->count;

    for (uint32_t i = 0; same && i < a->count; i++)
        same = strcmp(a->items[i], b->items[i]) == 0;
    return same;
}

int scenario_edits_write(const struct scenario_edits *edits, const char *path, struct err *err)
{
    struct text old, edited, new;
    struct lines lines, after;
    int rc;

    text_init(&old, FILE_BYTES_MAX);
    text_init(&edited, 4 * FILE_BYTES_MAX);
    text_init(&new, 8 * FILE_BYTES_MAX);
    rc = input_read_all(path, &old, err);
    if (rc == 0) {
        const char *end;

        lines_split(&lines, text_str(&old));
        end = take_returns(&lines) ? "\r\n" : "\n";
        apply(edits, &lines, &edited);
        lines_split(&after, text_str(&edited));
        put_lines(&after, end, &new);
        if (!are_same(&lines, &after))
            rc = write_file(path, &new, err);
        lines_done(&lines);
        lines_done(&after);
    }
    text_done(&old);
    text_done(&edited);
    text_done(&new);
    return rc;
}
