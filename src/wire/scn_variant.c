/* SPDX-License-Identifier: Apache-2.0 */
/* scn_variant.c - what a variant changes, put into the lines of the base. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
#include "wire/quote.h"
#include "wire/scn_text.h"

uint32_t scn_line_verb(const struct scn_line *line)
{
    uint32_t verb = 0;

    if (strcmp(line->words[0], "at") != 0)
        return 0;
    for (verb = 2; verb < line->count; verb++)
        if (strncmp(line->words[verb], "every=", 6) != 0 &&
            strncmp(line->words[verb], "times=", 6) != 0)
            break;
    return verb < line->count ? verb : line->count; /* "at" alone */
}

/* Of how many words from the verb on is the name of what the line states: 0 = it states an event,
 * and there may be many that are equal. */
static uint32_t subject_words(const struct scn_line *line)
{
    static const char *const named[] = {"node", "queue", "class", "level", "submit"};
    const uint32_t verb = scn_line_verb(line);
    const char *word = verb < line->count ? line->words[verb] : "";

    if (strcmp(word, "task") == 0)
        return 3;
    if (strcmp(word, "submit") == 0)
        return 2;
    if (verb > 0 || strcmp(word, "assert") == 0 || strcmp(word, "allow") == 0)
        return 0;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (strcmp(word, named[i]) == 0)
            return 2;
    return 1;
}

/* The words [count] are those that the line has from its verb on. */
static bool begins_with(const struct scn_line *line, const char *const *words, uint32_t count)
{
    const uint32_t verb = scn_line_verb(line);

    if (line->count - verb < count)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(line->words[verb + i], words[i]) != 0)
            return false;
    return true;
}

/* Takes the place of the line with this subject, or comes behind all. */
static void put(struct scn_lines *out, const struct scn_line *line)
{
    const uint32_t words = subject_words(line), verb = scn_line_verb(line);

    for (uint32_t i = 0; words > 0 && words <= line->count - verb && i < out->count; i++) {
        const bool timed = strcmp(out->items[i].words[0], "at") == 0;

        if (timed == (verb > 0) && begins_with(&out->items[i], line->words + verb, words)) {
            out->items[i] = *line;
            return;
        }
    }
    vec_push(out->items, out->count, out->cap, *line);
}

static int drop(const struct scn_text *text, const struct scn_line *line, struct scn_lines *out,
                struct err *err)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < out->count; i++)
        if (line->count < 2 || !begins_with(&out->items[i], line->words + 1, line->count - 1))
            out->items[kept++] = out->items[i];
    if (kept == out->count)
        return scn_error(text->name, line->number, err, -EINVAL,
                         "'without' matches no line before; it takes the first words of a line, "
                         "without 'at TIME'");
    out->count = kept;
    return 0;
}

/* `times=` and `every=` of a line stand before its verb; those of a report to be dropped behind. */
static bool is_of_repeat(const struct scn_line *line, const char *word)
{
    static const char *const own[] = {"drop", "delay", "twice"};
    const uint32_t verb = scn_line_verb(line);

    if (verb == 0 || verb == line->count)
        return false;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(line->words[verb], own[i]) == 0 && strncmp(word, "times=", 6) == 0)
            return false;
    return strncmp(word, "times=", 6) == 0 || strncmp(word, "every=", 6) == 0;
}

/* words: of the line, with room for one more. */
static void set_repeat(struct scn_line *line, const char **words, const char *word)
{
    const uint32_t verb = scn_line_verb(line);
    uint32_t at = 2;

    while (at < verb && strncmp(words[at], word, 6) != 0)
        at++;
    if (at == verb) {
        memmove(words + at + 1, words + at, (line->count - at) * sizeof *words);
        line->count++;
    }
    words[at] = word;
}

/* The line with one more word, or with the word of this key replaced. */
static void set_word(struct arena *arena, struct scn_line *line, const char *word)
{
    const size_t key = (size_t)(strchr(word, '=') - word) + 1;
    const char **words = arena_alloc(arena, line->count + 1, sizeof *words);
    uint32_t at = scn_line_verb(line);

    memcpy(words, line->words, line->count * sizeof *words);
    if (strncmp(word, "at=", 3) == 0 && at > 0) {
        words[1] = word + 3;
    } else if (is_of_repeat(line, word)) {
        set_repeat(line, words, word);
    } else {
        while (at < line->count && strncmp(words[at], word, key) != 0)
            at++;
        words[at] = word;
        line->count += at == line->count;
    }
    line->words = words;
}

static int change(struct scn_text *text, const struct scn_line *line, struct scn_lines *out,
                  struct err *err)
{
    uint32_t names = 1, changed = 0;

    while (names < line->count && !strchr(line->words[names], '='))
        names++;
    for (uint32_t w = names; w < line->count; w++)
        if (!strchr(line->words[w], '='))
            return scn_error(text->name, line->number, err, -EINVAL, "wanted FIELD=VALUE, is %s",
                             quote_of(line->words[w]).text);
    for (uint32_t i = 0; names > 1 && i < out->count; i++) {
        if (!begins_with(&out->items[i], line->words + 1, names - 1))
            continue;
        for (uint32_t w = names; w < line->count; w++)
            set_word(&text->arena, &out->items[i], line->words[w]);
        out->items[i].number = line->number;
        changed++;
    }
    if (changed == 0 || names == line->count)
        return scn_error(text->name, line->number, err, -EINVAL,
                         "'change' takes the first words of a line before, without 'at TIME', and "
                         "what to set: change submit v1 runs=2h");
    return 0;
}

int scn_text_lines(struct scn_text *text, const struct scn_variant *variant, struct scn_lines *out,
                   struct err *err)
{
    int rc = 0;

    *out = (struct scn_lines){
        .items = mem_copy(text->lines.items, text->lines.count, sizeof *text->lines.items),
        .count = text->lines.count,
        .cap = text->lines.count};
    for (uint32_t i = 0; variant && i < variant->lines.count && rc == 0; i++) {
        const struct scn_line *line = &variant->lines.items[i];

        if (strcmp(line->words[0], "without") == 0)
            rc = drop(text, line, out, err);
        else if (strcmp(line->words[0], "change") == 0)
            rc = change(text, line, out, err);
        else
            put(out, line);
    }
    if (rc < 0) {
        mem_free(out->items);
        *out = (struct scn_lines){0};
    }
    return rc;
}
