/* SPDX-License-Identifier: Apache-2.0 */
/* scn_read.c - lines to a scenario: first the names of the jobs, then everything else. */
#include "wire/scn.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/scan.h"
#include "base/sort.h"
#include "base/text.h"
#include "base/vec.h"
#include "core/job.h"
#include "wire/number.h"
#include "wire/quote.h"
#include "wire/rules_doc.h"
#include "wire/scn_doc.h"

int scn_line_error(const struct scn_reader *r, const struct scn_line *line, struct err *err,
                   int code, const char *fmt, ...)
{
    struct err detail;
    va_list args;

    va_start(args, fmt);
    vsnprintf(detail.text, sizeof detail.text, fmt, args);
    va_end(args);
    return scn_error(r->text->name, line->number, err, code, "%s", detail.text);
}

int scn_find_job(const struct scn_reader *r, const struct scn_line *line, const char *name,
                 uint32_t *out, struct err *err)
{
    *out = names_find(&r->job_names, name);
    if (*out != NAMES_NONE)
        return 0;
    return scn_line_error(r, line, err, -ENOENT, "no job %s is submitted in this file",
                          quote_of(name).text);
}

int scn_duration(const struct scn_reader *r, const struct scn_line *line, const char *what,
                 const char *text, int64_t *out, struct err *err)
{
    struct err detail;
    int rc = number_parse(text, NUMBER_DURATION, 0, DURATION_US_MAX, out, &detail);

    return rc < 0 ? scn_line_error(r, line, err, rc, "%s: %s", what, detail.text) : 0;
}

int scn_number(const struct scn_reader *r, const struct scn_line *line, const char *what,
               const char *text, int64_t max, int64_t *out, struct err *err)
{
    struct err detail;
    int rc = number_parse(text, NUMBER_WHOLE, 0, max, out, &detail);

    return rc < 0 ? scn_line_error(r, line, err, rc, "%s: %s", what, detail.text) : 0;
}

int scn_word(const struct scn_reader *r, const struct scn_line *line, const char *word,
             const char *const *texts, uint32_t count, struct err *err)
{
    struct text known;
    int rc;

    for (uint32_t i = 0; i < count; i++)
        if (strcmp(texts[i], word) == 0)
            return (int)i;
    text_init(&known, 400);
    for (uint32_t i = 0; i < count; i++)
        text_addf(&known, "%s%s", i == 0 ? "" : i + 1 == count ? " or " : ", ", texts[i]);
    rc = scn_line_error(r, line, err, -EINVAL, "wanted %s, is %s", text_str(&known),
                        quote_of(word).text);
    text_done(&known);
    return rc;
}

/* "0-3,5" into a mask. */
static int parse_gpus(const char *text, uint64_t *out)
{
    char part[32];
    uint64_t first, last;

    for (*out = 0; *text != '\0';) {
        const size_t len = strcspn(text, ",");

        if (len == 0 || len >= sizeof part)
            return -EINVAL;
        memcpy(part, text, len);
        part[len] = '\0';
        if (scan_range_u64(part, &first, &last) < 0 || last >= NODE_GPUS_MAX)
            return -EINVAL;
        for (; first <= last; first++)
            *out |= mask_bit((uint32_t)first);
        text += len + (text[len] == ',');
    }
    return 0;
}

/* What stands behind the '@', if any: the text is cut there. */
static bool cut_start(char *text, uint32_t *out)
{
    char *at = strrchr(text, '@');

    *out = 0;
    if (at == NULL)
        return true;
    *at = '\0';
    return scan_u32(at + 1, out) == 0;
}

int scn_parse_place(struct arena *arena, const char *text, struct scn_place *out, struct err *err)
{
    const char *colon = strrchr(text, ':');
    char gpus[256] = "";

    if (colon != NULL && strlen(colon) < sizeof gpus)
        memcpy(gpus, colon + 1, strlen(colon));
    if (!colon || colon == text || !cut_start(gpus, &out->mig_start) ||
        parse_gpus(gpus, &out->gpu_mask) < 0)
        return err_set(err, -EINVAL, "wanted NODE:GPUS such as n1:0-3, is %s", quote_of(text).text);
    out->node = arena_intern(arena, arena_text(arena, text, (size_t)(colon - text)));
    return 0;
}

/* ---- the jobs ---- */

/* How often a line with times=N happens. */
static int times_of(const struct scn_reader *r, const struct scn_line *line, uint32_t *out,
                    struct err *err)
{
    int64_t times = 1;
    int rc = 0;

    for (uint32_t w = 2; w < scn_line_verb(line) && rc == 0; w++)
        if (strncmp(line->words[w], "times=", 6) == 0)
            rc = scn_number(r, line, "times", line->words[w] + 6, SCN_ACTIONS_MAX, &times, err);
    *out = (uint32_t)times;
    return rc;
}

static bool is_repeated(const struct scn_line *line)
{
    return scn_line_verb(line) > 2;
}

static int name_job(struct scn_reader *r, const struct scn_line *line, const char *name,
                    struct err *err)
{
    struct scn *out = r->out;
    const uint32_t row = names_intern(&r->job_names, name);
    const struct scn_job job = {.name = names_text(&r->job_names, row), .line = line->number};

    if (row != out->job_count)
        return scn_line_error(r, line, err, -EEXIST, "job %s is submitted twice, see line %u",
                              quote_of(name).text, out->jobs[row].line);
    if (row == SCN_ACTIONS_MAX)
        return scn_line_error(r, line, err, -ERANGE, "more than %u jobs", SCN_ACTIONS_MAX);
    vec_push(out->jobs, out->job_count, out->job_cap, job);
    out->jobs[row].name = arena_intern(&out->arena, name);
    return 0;
}

static int name_jobs(struct scn_reader *r, const struct scn_line *line, struct err *err)
{
    const uint32_t verb = scn_line_verb(line);
    char name[300];
    uint32_t times;
    int rc;

    if (verb == 0 || verb >= line->count || strcmp(line->words[verb], "submit") != 0)
        return 0;
    if (verb + 1 >= line->count || line->words[verb + 1][0] == '\0' ||
        strchr(line->words[verb + 1], '=') || strlen(line->words[verb + 1]) > 255)
        return scn_line_error(r, line, err, -EINVAL, "wanted submit NAME FIELD=VALUE...");
    rc = times_of(r, line, &times, err);
    if (!is_repeated(line))
        return rc < 0 ? rc : name_job(r, line, line->words[verb + 1], err);
    for (uint32_t i = 0; i < times && rc == 0; i++) {
        snprintf(name, sizeof name, "%s-%u", line->words[verb + 1], i);
        rc = name_job(r, line, name, err);
    }
    return rc;
}

static int describe_jobs(struct scn_reader *r, const struct scn_line *line, struct err *err)
{
    const uint32_t verb = scn_line_verb(line);
    char name[300];
    uint32_t first;
    struct scn_job job = {0};
    int rc;

    if (verb == 0 || verb >= line->count || strcmp(line->words[verb], "submit") != 0)
        return 0;
    rc = scn_read_job(r, line, &job, err);
    if (rc < 0)
        return rc;
    snprintf(name, sizeof name, "%s%s", line->words[verb + 1], is_repeated(line) ? "-0" : "");
    first = names_find(&r->job_names, name);
    for (uint32_t i = first; i < r->out->job_count && r->out->jobs[i].line == line->number; i++) {
        job.name = r->out->jobs[i].name;
        job.spec.id = (uint64_t)i + 1;
        r->out->jobs[i] = job;
    }
    return 0;
}

/* ---- everything else ---- */

/* A line that may be there only once; *seen: where it was, 0 = not yet. */
static int only_once(const struct scn_reader *r, const struct scn_line *line, uint32_t *seen,
                     struct err *err)
{
    if (*seen > 0)
        return scn_line_error(r, line, err, -EEXIST, "'%s' is there twice, see line %u",
                              line->words[0], *seen);
    *seen = line->number;
    return 0;
}

static int read_title(struct scn_reader *r, const struct scn_line *line, struct err *err)
{
    struct text title;

    if (only_once(r, line, &r->title_line, err) < 0)
        return -EEXIST;

    text_init(&title, 1000);
    for (uint32_t w = 1; w < line->count; w++)
        text_addf(&title, "%s%s", w > 1 ? " " : "", line->words[w]);
    r->out->title = arena_intern(&r->out->arena, text_str(&title));
    text_done(&title);
    return 0;
}

static int read_until(struct scn_reader *r, const struct scn_line *line, struct err *err)
{
    if (line->count != 2)
        return scn_line_error(r, line, err, -EINVAL, "'until' has one value");
    if (only_once(r, line, &r->until_line, err) < 0)
        return -EEXIST;
    return scn_duration(r, line, "until", line->words[1], &r->out->until_us, err);
}

static int read_allow(struct scn_reader *r, const struct scn_line *line, struct err *err)
{
    if (line->count != 2 || strcmp(line->words[1], "overlap") != 0)
        return scn_line_error(r, line, err, -EINVAL, "wanted allow overlap");
    r->out->overlap_allowed = true;
    return 0;
}

static int read_line(struct scn_reader *r, const struct scn_line *line, struct err *err)
{
    const char *word = line->words[0];

    if (strcmp(word, "at") == 0)
        return scn_read_action(r, line, err);
    if (strcmp(word, "assert") == 0)
        return scn_read_assert(r, line, err);
    if (strcmp(word, "task") == 0)
        return scn_read_task(r, line, err);
    if (strcmp(word, "title") == 0)
        return read_title(r, line, err);
    if (strcmp(word, "allow") == 0)
        return read_allow(r, line, err);
    if (strcmp(word, "until") == 0)
        return read_until(r, line, err);
    if (scn_is_setting(line) || strcmp(word, "node") == 0) {
        const struct scn_setting setting = {word, line->words[1], line->number};

        vec_push(r->out->settings, r->out->setting_count, r->out->setting_cap, setting);
        return 0; /* read together, before */
    }
    return scn_line_error(r, line, err, -EINVAL,
                          "no line begins with %s; docs/scenario.md lists the words",
                          quote_of(word).text);
}

static int read_cluster(struct scn_reader *r, const struct scn_lines *lines, struct err *err)
{
    const struct scn_line **nodes = mem_alloc(lines->count + 1, sizeof *nodes);
    uint32_t count = 0;
    int rc;

    for (uint32_t i = 0; i < lines->count; i++)
        if (strcmp(lines->items[i].words[0], "node") == 0)
            nodes[count++] = &lines->items[i];
    rc = scn_read_nodes(r, nodes, count, 1, &r->out->cluster, err);
    mem_free(nodes);
    return rc;
}

static int by_time(const void *a, const void *b, void *arg)
{
    const struct scn_action *x = a, *y = b;

    (void)arg;
    return (x->at_us > y->at_us) - (x->at_us < y->at_us);
}

static int read_all(struct scn_reader *r, const struct scn_lines *lines, struct err *err)
{
    int rc = scn_read_config(r, lines->items, lines->count, &r->out->config, err);

    if (rc == 0)
        rc = read_cluster(r, lines, err);
    for (uint32_t i = 0; i < lines->count && rc == 0; i++)
        rc = name_jobs(r, &lines->items[i], err);
    for (uint32_t i = 0; i < lines->count && rc == 0; i++)
        rc = describe_jobs(r, &lines->items[i], err);
    for (uint32_t i = 0; i < lines->count && rc == 0; i++)
        rc = read_line(r, &lines->items[i], err);
    rc = rc < 0 ? rc : scn_check_names(r, err);
    sort_stable(r->out->actions, r->out->action_count, sizeof *r->out->actions, by_time, NULL);
    return rc;
}

int scn_read(struct scn_text *text, const struct scn_variant *variant, struct scn *out,
             struct err *err)
{
    struct scn_reader r = {.text = text, .out = out};
    struct scn_lines lines;
    int rc = scn_text_lines(text, variant, &lines, err);

    *out = (struct scn){.file = text->name,
                        .variant = variant ? variant->name : "",
                        .title = "",
                        .until_us = SCN_UNTIL_US};
    if (rc < 0)
        return rc;
    arena_init(&out->arena);
    names_init(&r.job_names);
    if (variant && variant->expect.given)
        out->expect = &variant->expect;
    else if (text->expect.given)
        out->expect = &text->expect;
    rc = read_all(&r, &lines, err);
    names_done(&r.job_names);
    mem_free(lines.items);
    if (rc < 0)
        scn_done(out);
    return rc;
}

void scn_done(struct scn *scn)
{
    for (uint32_t i = 0; i < scn->job_count; i++)
        mem_free(scn->jobs[i].tasks);
    mem_free(scn->jobs);
    mem_free(scn->actions);
    mem_free(scn->asserts);
    mem_free(scn->settings);
    cluster_done(&scn->cluster);
    arena_done(&scn->arena);
    *scn = (struct scn){0};
}
