/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/scn_text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
#include "wire/input.h"
#include "wire/links_doc.h"
#include "wire/quote.h"

enum { LINE_BYTES_MAX = 1 << 16, WORDS_MAX = 4096 };

int scn_error(const char *name, uint32_t number, struct err *err, int code, const char *fmt, ...)
{
    struct err detail;
    va_list args;

    va_start(args, fmt);
    vsnprintf(detail.text, sizeof detail.text, fmt, args);
    va_end(args);
    return err_set(err, code, "%s:%u: %s", name, number, detail.text);
}

/* ---- words ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* One word from *at on, quotes taken off, into the same bytes. NULL: a quote is not closed. */
static char *take_word(char **at)
{
    char *from = *at, *to = *at, *word = *at;
    bool quoted = false;

    for (; *from != '\0' && (quoted || !is_blank(*from)); from++) {
        if (*from == '"')
            quoted = !quoted;
        else
            *to++ = *from;
    }
    if (quoted)
        return NULL;
    *at = *from == '\0' ? from : from + 1;
    *to = '\0';
    return word;
}

static int read_words(struct scn_text *text, uint32_t number, const char *bytes, size_t len,
                      struct scn_line *out, struct err *err)
{
    const char *words[WORDS_MAX];
    char *at = arena_text(&text->arena, bytes, len);

    *out = (struct scn_line){.number = number};
    for (;;) {
        while (is_blank(*at))
            at++;
        if (*at == '\0' || *at == '#')
            break;
        if (out->count == WORDS_MAX)
            return scn_error(text->name, number, err, -ERANGE, "more than %d words", WORDS_MAX);
        words[out->count] = take_word(&at);
        if (words[out->count++] == NULL)
            return scn_error(text->name, number, err, -EINVAL, "a quote is not closed");
    }
    out->words = arena_alloc(&text->arena, out->count, sizeof *out->words);
    if (out->count > 0)
        memcpy(out->words, words, out->count * sizeof *words);
    return 0;
}

/* A line of a log: words with one blank between them, without quotes taken off. */
static const char *even_out(struct arena *arena, const char *bytes, size_t len)
{
    char *out = arena_alloc(arena, len + 1, 1), *to = out;

    for (size_t i = 0; i < len; i++) {
        if (is_blank(bytes[i]))
            continue;
        if (i == 0 || is_blank(bytes[i - 1])) {
            if (bytes[i] == '#')
                break;
            if (to > out)
                *to++ = ' ';
        }
        *to++ = bytes[i];
    }
    *to = '\0';
    return out;
}

/* ---- blocks ---- */

enum block { BLOCK_NONE, BLOCK_EXPECT, BLOCK_CONFIG };

struct reader {
    struct scn_text *text;
    struct scn_variant *variant; /* that is open, or NULL */
    enum block block;
    uint32_t block_line;
    struct scn_lines config; /* of the open config block */
};

static struct scn_lines *open_lines(struct reader *r)
{
    return r->variant ? &r->variant->lines : &r->text->lines;
}

static struct scn_expect *open_expect(struct reader *r)
{
    return r->variant ? &r->variant->expect : &r->text->expect;
}

static bool is_word(const struct scn_line *line, const char *word)
{
    return strcmp(line->words[0], word) == 0;
}

static int begin_variant(struct reader *r, const struct scn_line *line, struct err *err)
{
    struct scn_text *text = r->text;
    const struct scn_variant variant = {.name = line->count == 2 ? line->words[1] : "",
                                        .number = line->number};

    if (line->count != 2 || variant.name[0] == '\0')
        return scn_error(text->name, line->number, err, -EINVAL,
                         "a variant has one name: variant NAME");
    if (r->variant)
        return scn_error(text->name, line->number, err, -EINVAL,
                         "a variant inside the variant of line %u; is its 'end' missing?",
                         r->variant->number);
    for (uint32_t i = 0; i < text->variant_count; i++)
        if (strcmp(text->variants[i].name, variant.name) == 0)
            return scn_error(text->name, line->number, err, -EEXIST,
                             "variant %s is there twice, see line %u", quote_of(variant.name).text,
                             text->variants[i].number);
    if (text->variant_count == SCN_VARIANTS_MAX)
        return scn_error(text->name, line->number, err, -ERANGE, "more than %u variants",
                         SCN_VARIANTS_MAX);
    vec_push(text->variants, text->variant_count, text->variant_cap, variant);
    r->variant = &text->variants[text->variant_count - 1];
    return 0;
}

static int begin_expect(struct reader *r, const struct scn_line *line, struct err *err)
{
    struct scn_expect *expect = open_expect(r);

    if (line->count != 1)
        return scn_error(r->text->name, line->number, err, -EINVAL,
                         "the expected log begins on the next line");
    if (expect->given)
        return scn_error(r->text->name, line->number, err, -EINVAL,
                         "a second 'expect' block, the first is in line %u", expect->first_line);
    expect->given = true;
    expect->first_line = line->number;
    r->block = BLOCK_EXPECT;
    r->block_line = line->number;
    return 0;
}

static int end_something(struct reader *r, const struct scn_line *line, struct err *err)
{
    if (line->count != 1 || !r->variant)
        return scn_error(r->text->name, line->number, err, -EINVAL,
                         line->count != 1 ? "'end' stands alone" : "'end' of nothing");
    r->variant->end_line = line->number;
    r->variant = NULL;
    return 0;
}

static int take_line(struct reader *r, const struct scn_line *line, struct err *err)
{
    struct scn_lines *lines = open_lines(r);

    if (is_word(line, "variant"))
        return begin_variant(r, line, err);
    if (is_word(line, "expect"))
        return begin_expect(r, line, err);
    if (is_word(line, "end"))
        return end_something(r, line, err);
    vec_push(lines->items, lines->count, lines->cap, *line);
    if (is_word(line, "at") && line->count > 2 &&
        strcmp(line->words[line->count - 1], "config") == 0) {
        r->block = BLOCK_CONFIG;
        r->block_line = line->number;
        r->config = (struct scn_lines){0};
    }
    return 0;
}

static void end_config(struct reader *r)
{
    struct scn_lines *lines = open_lines(r);
    struct scn_line *line = &lines->items[lines->count - 1];
    struct scn_line *block = arena_alloc(&r->text->arena, r->config.count, sizeof *block);

    if (r->config.count > 0)
        memcpy(block, r->config.items, r->config.count * sizeof *block);
    line->block = block;
    line->block_count = r->config.count;
    mem_free(r->config.items);
    r->config = (struct scn_lines){0};
    r->block = BLOCK_NONE;
}

static void take_expected(struct reader *r, uint32_t number, const char *bytes, size_t len)
{
    struct scn_expect *expect = open_expect(r);
    const char *line = even_out(&r->text->arena, bytes, len);

    if (strcmp(line, "end") == 0) {
        expect->end_line = number;
        r->block = BLOCK_NONE;
    } else if (line[0] != '\0') {
        const uint32_t count = expect->count;

        vec_push(expect->lines, expect->count, expect->line_cap, line);
        expect->count = count;
        vec_push(expect->numbers, expect->count, expect->number_cap, number);
    }
}

static int take(struct reader *r, const struct input *input, struct err *err)
{
    struct scn_line line;
    int rc;

    if (r->block == BLOCK_EXPECT) {
        take_expected(r, input->line_number, text_str(&input->line), input->line.used);
        return 0;
    }
    rc = read_words(r->text, input->line_number, text_str(&input->line), input->line.used, &line,
                    err);
    if (rc < 0 || line.count == 0)
        return rc;
    if (r->block == BLOCK_NONE)
        return take_line(r, &line, err);
    if (is_word(&line, "end"))
        end_config(r);
    else
        vec_push(r->config.items, r->config.count, r->config.cap, line);
    return 0;
}

static int check_closed(const struct reader *r, struct err *err)
{
    if (r->block != BLOCK_NONE)
        return scn_error(r->text->name, r->block_line, err, -EINVAL,
                         "the block that begins here has no 'end'");
    if (r->variant)
        return scn_error(r->text->name, r->variant->number, err, -EINVAL,
                         "the variant that begins here has no 'end'");
    return 0;
}

static int read_input(struct scn_text *text, struct input *input, struct err *err)
{
    struct reader r = {.text = text};
    int rc;

    while ((rc = input_line(input, err)) > 0) {
        text->line_count = input->line_number;
        rc = input->line_number > SCN_LINES_MAX
                 ? scn_error(text->name, input->line_number, err, -ERANGE, "more than %u lines",
                             SCN_LINES_MAX)
                 : take(&r, input, err);
        if (rc < 0)
            break;
    }
    if (rc == 0)
        rc = check_closed(&r, err);
    mem_free(r.config.items);
    input_close(input);
    if (rc < 0)
        scn_text_done(text);
    return rc;
}

int scn_text_load(const char *path, struct scn_text *out, struct err *err)
{
    struct input input;
    int rc = input_open(&input, path, LINE_BYTES_MAX, err);

    if (rc < 0)
        return rc;
    *out = (struct scn_text){.name = path};
    arena_init(&out->arena);
    out->folder = links_folder(&out->arena, path);
    return read_input(out, &input, err);
}

int scn_text_parse(const char *name, const void *bytes, size_t count, struct scn_text *out,
                   struct err *err)
{
    struct input input;

    input_open_bytes(&input, name, bytes, count, LINE_BYTES_MAX);
    *out = (struct scn_text){.name = name};
    arena_init(&out->arena);
    return read_input(out, &input, err);
}

static void expect_done(struct scn_expect *expect)
{
    mem_free(expect->lines);
    mem_free(expect->numbers);
}

void scn_text_done(struct scn_text *text)
{
    for (uint32_t i = 0; i < text->variant_count; i++) {
        mem_free(text->variants[i].lines.items);
        expect_done(&text->variants[i].expect);
    }
    mem_free(text->variants);
    mem_free(text->lines.items);
    expect_done(&text->expect);
    arena_done(&text->arena);
    *text = (struct scn_text){0};
}
