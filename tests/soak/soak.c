/* SPDX-License-Identifier: Apache-2.0 */
/* soak - random worlds, one after the other, until so many steps have been taken; the first thing
 * that is broken is shrunk to a short scenario. docs/testing.md says how to use it.
 *
 * The oracle draws too (when to copy, when to say things twice), from the seed of its world. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/scan.h"
#include "base/text.h"
#include "soak/attempt.h"
#include "soak/draw.h"
#include "soak/shrink.h"

#define WORLD_BYTES_MAX ((size_t)1 << 22)

struct soak {
    uint64_t seed, steps;
    const char *scenario; /* play this file instead, or NULL */
    const char *out;      /* where the short scenario goes, or NULL */
    const char *broken;   /* name of a broken core, which must be caught, or NULL */
    bool shrink, print, quiet;
    struct soak_counts sum;
    uint64_t worlds, not_yet;
};

static void add(struct soak *s, const struct soak_counts *c)
{
    s->sum.steps += c->steps;
    s->sum.events += c->events;
    s->sum.starts += c->starts;
    s->sum.stops += c->stops;
    s->sum.evictions += c->evictions;
    s->sum.refused += c->refused;
    s->sum.not_yet += c->not_yet;
    s->sum.ends += c->ends;
}

static void print_sum(const struct soak *s)
{
    printf("# %" PRIu64 " worlds, %" PRIu64 " steps, %" PRIu64 " facts (%" PRIu64
           " refused, %" PRIu64 " of them not done yet), %" PRIu64 " starts, %" PRIu64
           " stops (%" PRIu64 " to give way), %" PRIu64 " jobs ended; %" PRIu64
           " worlds were not taken\n",
           s->worlds, s->sum.steps, s->sum.events, s->sum.refused, s->sum.not_yet, s->sum.starts,
           s->sum.stops, s->sum.evictions, s->sum.ends, s->not_yet);
}

/* Without a file to write to it is a comment of TAP. */
static void print_comment(const char *lines)
{
    while (*lines != '\0') {
        const int len = (int)strcspn(lines, "\n");

        printf("#   %.*s\n", len, lines);
        lines += len + (lines[len] == '\n');
    }
}

static void write_out(const struct soak *s, const struct text *text, const char *what)
{
    FILE *file = s->out != NULL ? fopen(s->out, "w") : NULL;

    if (file == NULL) {
        print_comment(text_str(text));
        return;
    }
    fprintf(file, "# %s\n%s", what, text_str(text));
    (void)fclose(file);
    printf("# the short scenario is in %s\n", s->out);
}

static void found(struct soak *s, struct text *text, uint64_t seed, const struct attempt *attempt)
{
    printf("# seed %" PRIu64 " breaks after %" PRIu64 " steps of this world, %" PRIu64
           " in all:\n# %s\n",
           seed, attempt->counts.steps, s->sum.steps, attempt->what);
    if (!s->shrink)
        return;
    shrink(text, seed, attempt);
    write_out(s, text, attempt->what);
}

/* True if the world of this seed breaks something. */
static bool world(struct soak *s, uint64_t seed, struct attempt *attempt)
{
    struct text text;
    char name[40];

    text_init(&text, WORLD_BYTES_MAX);
    draw_world(seed, &text);
    (void)snprintf(name, sizeof name, "seed-%" PRIu64, seed);
    if (s->print)
        printf("%s", text_str(&text));
    attempt_play(name, text_str(&text), text.used, seed, attempt);
    add(s, &attempt->counts);
    s->worlds += attempt->end != ATTEMPT_NOT_YET;
    s->not_yet += attempt->end == ATTEMPT_NOT_YET;
    if (!s->quiet)
        printf("# seed %" PRIu64 ": %" PRIu64 " steps\n", seed, attempt->counts.steps);
    if (attempt->end == ATTEMPT_UNREAD)
        printf("# seed %" PRIu64 " is no scenario: %s\n", seed, attempt->what);
    if (attempt->end == ATTEMPT_BROKEN)
        found(s, &text, seed, attempt);
    text_done(&text);
    return attempt->end == ATTEMPT_BROKEN || attempt->end == ATTEMPT_UNREAD;
}

/* One line of TAP. */
static int soak(struct soak *s)
{
    struct attempt attempt = {0};
    bool breaks = false, caught;

    printf("# worlds of seeds from %" PRIu64 "\n", s->seed);
    for (uint64_t seed = s->seed; s->sum.steps < s->steps && !breaks; seed++)
        breaks = world(s, seed, &attempt);
    print_sum(s);
    caught = breaks && attempt.end == ATTEMPT_BROKEN;
    if (s->broken == NULL)
        printf("%s 1 - no rule is broken in %" PRIu64 " steps\n", breaks ? "not ok" : "ok",
               s->sum.steps);
    else
        printf("%s 1 - the core with %s is caught%s%.*s after %" PRIu64 " steps\n",
               caught ? "ok" : "not ok", s->broken, caught ? " by " : "",
               (int)strcspn(attempt.what, ":"), attempt.what, s->sum.steps);
    printf("1..1\n");
    return (s->broken == NULL ? breaks : !caught) ? 1 : 0;
}

/* ---- a file ---- */

static int read_file(const char *path, struct text *out)
{
    FILE *file = fopen(path, "r");
    char bytes[4096];
    size_t count;

    if (file == NULL)
        return -1;
    while ((count = fread(bytes, 1, sizeof bytes, file)) > 0)
        text_add_bytes(out, bytes, count);
    (void)fclose(file);
    return 0;
}

static int play_file(struct soak *s)
{
    struct text text;
    struct attempt attempt;

    text_init(&text, WORLD_BYTES_MAX);
    if (read_file(s->scenario, &text) < 0) {
        printf("cannot read %s\n", s->scenario);
        return 2;
    }
    attempt_play(s->scenario, text_str(&text), text.used, s->seed, &attempt);
    printf("%s %s %s\n", attempt.end == ATTEMPT_FINE ? "ok" : "FAIL", s->scenario, attempt.what);
    if (attempt.end == ATTEMPT_BROKEN && s->shrink) {
        shrink(&text, s->seed, &attempt);
        write_out(s, &text, attempt.what);
    }
    text_done(&text);
    return attempt.end == ATTEMPT_FINE ? 0 : 1;
}

/* ---- arguments ---- */

static int number(const char *text, uint64_t *out)
{
    return text != NULL && scan_u64(text, out) == 0 ? 0 : -1;
}

static int argument(struct soak *s, const char *name, const char *value)
{
    if (strcmp(name, "--seed") == 0)
        return number(value, &s->seed);
    if (strcmp(name, "--steps") == 0)
        return number(value, &s->steps);
    if (strcmp(name, "--scenario") == 0)
        s->scenario = value;
    else if (strcmp(name, "--out") == 0)
        s->out = value;
    else if (strcmp(name, "--broken") == 0)
        s->broken = value;
    else
        return -1;
    return value != NULL ? 0 : -1;
}

static bool flag(struct soak *s, const char *name)
{
    bool *const out = strcmp(name, "--shrink") == 0  ? &s->shrink
                      : strcmp(name, "--print") == 0 ? &s->print
                      : strcmp(name, "--quiet") == 0 ? &s->quiet
                                                     : NULL;

    if (out != NULL)
        *out = true;
    return out != NULL;
}

int main(int argc, char **argv)
{
    struct soak s = {.seed = ORACLE_THOROUGH, .steps = 50000};

    for (int i = 1; i < argc; i++) {
        if (flag(&s, argv[i]))
            continue;
        if (argument(&s, argv[i], i + 1 < argc ? argv[i + 1] : NULL) < 0) {
            puts("usage: soak [--seed N] [--steps N] [--shrink] [--out FILE] [--print] [--quiet]\n"
                 "            [--broken NAME]\n"
                 "       soak --scenario FILE [--seed N] [--shrink] [--out FILE]");
            return 2;
        }
        i++;
    }
    if (s.scenario != NULL)
        return play_file(&s); /* thorough, unless a seed is given */
    s.seed = s.seed == ORACLE_THOROUGH ? 1 : s.seed;
    return soak(&s);
}
