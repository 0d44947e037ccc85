/* SPDX-License-Identifier: Apache-2.0 */
/* shrink.c - delta debugging on lines, then on the words of lines. What is no scenario any more,
 * since a line speaks of a job that is gone, just counts as not broken. */
#include "soak/shrink.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "soak/attempt.h"

#define SHRINK_TRIES_MAX 6000u

/* Parts are lines (a config block is one), or the words of a line. */
struct parts {
    char **items; /* [count] each with what ends it */
    bool *gone;   /* [count] */
    uint32_t count, cap;
};

struct shrinker {
    const struct attempt *found;
    uint64_t seed;
    uint32_t tries;
};

static void parts_add(struct parts *p, const char *bytes, size_t count)
{
    char *item = mem_alloc(count + 1, 1);

    memcpy(item, bytes, count);
    vec_push(p->items, p->count, p->cap, item);
}

static void parts_done(struct parts *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        mem_free(p->items[i]);
    mem_free(p->items);
    mem_free(p->gone);
}

static size_t line_length(const char *at)
{
    size_t len = strcspn(at, "\n");

    if (len >= 7 && strncmp(at + len - 7, " config", 7) == 0) {
        const char *end = strstr(at, "\nend\n");

        return end != NULL ? (size_t)(end - at) + 5 : strlen(at);
    }
    return len + (at[len] == '\n');
}

static void split_lines(const char *text, struct parts *out)
{
    *out = (struct parts){0};
    for (size_t len; *text != '\0'; text += len) {
        len = line_length(text);
        parts_add(out, text, len);
    }
    out->gone = mem_alloc(out->count, sizeof *out->gone);
}

static void join(const struct parts *p, struct text *out)
{
    text_clear(out);
    for (uint32_t i = 0; i < p->count; i++)
        if (!p->gone[i])
            text_add(out, p->items[i]);
}

static bool still_breaks(struct shrinker *s, const struct text *text)
{
    struct attempt attempt;

    if (s->tries >= SHRINK_TRIES_MAX)
        return false;
    s->tries++;
    attempt_play("shrunk", text_str(text), text->used, s->seed, &attempt);
    return attempt.end == ATTEMPT_BROKEN && attempt_alike(s->found, &attempt);
}

/* ---- lines ---- */

/* Takes these parts out if it still breaks without them. */
static bool try_without(struct shrinker *s, struct parts *p, const bool *out, struct text *text)
{
    bool *before = mem_copy(p->gone, p->count, sizeof *p->gone);
    bool any = false, breaks;

    for (uint32_t i = 0; i < p->count; i++) {
        any |= out[i] && !p->gone[i];
        p->gone[i] |= out[i];
    }
    join(p, text);
    breaks = any && still_breaks(s, text);
    if (!breaks)
        memcpy(p->gone, before, p->count * sizeof *before);
    mem_free(before);
    return breaks;
}

static bool speaks_of(const char *line, const char *name)
{
    const size_t len = strlen(name);

    for (const char *at = line; (at = strstr(at, name)) != NULL; at += len)
        if (at > line && strchr(" =,:", at[-1]) && !isalnum((unsigned char)at[len]))
            return true;
    return false;
}

/* A job or node, with every line that speaks of it. */
static bool drop_named(struct shrinker *s, struct parts *p, const char *word, struct text *text)
{
    bool *out = mem_alloc(p->count, sizeof *out), any = false;

    for (uint32_t i = p->count; i-- > 0;) {
        const char *at = strstr(p->items[i], word);
        char name[32] = "";

        if (p->gone[i] || at == NULL || (word[0] == 'n' && at != p->items[i]))
            continue;
        at += strlen(word);
        memcpy(name, at, strcspn(at, " \n") < 31 ? strcspn(at, " \n") : 31);
        for (uint32_t k = 0; k < p->count; k++)
            out[k] = speaks_of(p->items[k], name);
        any |= try_without(s, p, out, text);
    }
    mem_free(out);
    return any;
}

static bool drop_chunks(struct shrinker *s, struct parts *p, uint32_t size, struct text *text)
{
    bool *out = mem_alloc(p->count, sizeof *out), any = false;

    for (uint32_t end = p->count; end > 0;) {
        uint32_t taken = 0;

        memset(out, 0, p->count * sizeof *out);
        while (end > 0 && taken < size) {
            end--;
            out[end] = !p->gone[end];
            taken += out[end];
        }
        any |= try_without(s, p, out, text);
    }
    mem_free(out);
    return any;
}

/* The lines of config blocks too, one at a time; "config" and its "end" alone make no scenario. */
static bool shrink_blocks(struct shrinker *s, struct text *text)
{
    struct parts p = {0};
    bool any = false;

    for (const char *at = text_str(text); *at != '\0';) {
        const size_t len = strcspn(at, "\n");

        parts_add(&p, at, len + (at[len] == '\n'));
        at += len + (at[len] == '\n');
    }
    p.gone = mem_alloc(p.count, sizeof *p.gone);
    any = strstr(text_str(text), " config\n") != NULL && drop_chunks(s, &p, 1, text);
    join(&p, text);
    parts_done(&p);
    return any;
}

static bool shrink_lines(struct shrinker *s, struct text *text)
{
    struct parts p;
    bool any = false;

    split_lines(text_str(text), &p);
    for (uint32_t size = p.count / 2; size > 1; size /= 2)
        any |= drop_chunks(s, &p, size, text);
    any |= drop_named(s, &p, " submit ", text);
    any |= drop_named(s, &p, "node ", text);
    any |= drop_chunks(s, &p, 1, text);
    join(&p, text);
    parts_done(&p);
    return any;
}

/* ---- words ---- */

static bool is_field(const char *word)
{
    return strchr(word, '=') != NULL || strncmp(word, "hold", 4) == 0 ||
           strncmp(word, "oracle", 6) == 0 || strncmp(word, "service", 7) == 0 ||
           strncmp(word, "exclusive", 9) == 0;
}

static void split_words(const char *text, struct parts *out)
{
    *out = (struct parts){0};
    while (*text != '\0') {
        size_t len = strspn(text, " \n");

        len += strcspn(text + len, " \n");
        parts_add(out, text, len);
        text += len;
    }
    out->gone = mem_alloc(out->count, sizeof *out->gone);
}

static bool shrink_fields(struct shrinker *s, struct text *text)
{
    struct parts p;
    bool *out, any = false;

    split_words(text_str(text), &p);
    out = mem_alloc(p.count, sizeof *out);
    for (uint32_t i = 0; i < p.count; i++) {
        if (!is_field(p.items[i] + strspn(p.items[i], " \n")))
            continue;
        memset(out, 0, p.count * sizeof *out);
        out[i] = true;
        any |= try_without(s, &p, out, text);
    }
    join(&p, text);
    mem_free(out);
    parts_done(&p);
    return any;
}

/* A number in a word: 0, or half of it. */
static bool shrink_number(struct shrinker *s, struct parts *p, uint32_t word, bool half,
                          struct text *text)
{
    char *old = p->items[word], smaller[64];
    const char *digits = old + strcspn(old, "0123456789");
    const size_t len = strspn(digits, "0123456789");
    struct text made;
    unsigned long value = 0;
    bool breaks;

    for (size_t i = 0; i < len && i < 9; i++)
        value = value * 10 + (unsigned long)(digits[i] - '0');
    if (len == 0 || value == 0 || strlen(old) >= sizeof smaller || digits == old ||
        (isalpha((unsigned char)digits[-1]) && strncmp(old + strspn(old, " \n"), "at", 2) != 0))
        return false;
    text_init(&made, sizeof smaller);
    text_add_bytes(&made, old, (size_t)(digits - old));
    text_addf(&made, "%lu%s", half ? value / 2 : 0, digits + len);
    p->items[word] = made.bytes;
    join(p, text);
    breaks = still_breaks(s, text);
    if (breaks) {
        mem_free(old);
    } else {
        p->items[word] = old;
        text_done(&made);
    }
    return breaks;
}

static bool shrink_numbers(struct shrinker *s, struct text *text)
{
    struct parts p;
    bool any = false;

    split_words(text_str(text), &p);
    for (uint32_t i = 0; i < p.count; i++) {
        any |= shrink_number(s, &p, i, false, text);
        while (shrink_number(s, &p, i, true, text))
            any = true;
    }
    join(&p, text);
    parts_done(&p);
    return any;
}

void shrink(struct text *text, uint64_t seed, const struct attempt *found)
{
    struct shrinker s = {.found = found, .seed = ORACLE_THOROUGH};
    bool more = true;

    if (!still_breaks(&s, text))
        s.seed = seed; /* it takes the same lots */

    while (more && s.tries < SHRINK_TRIES_MAX) {
        more = shrink_lines(&s, text);
        more |= shrink_blocks(&s, text);
        more |= shrink_fields(&s, text);
        more |= shrink_numbers(&s, text);
    }
}
