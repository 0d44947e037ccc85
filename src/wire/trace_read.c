/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/trace_read.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "wire/quote.h"

struct trace_models {
    const char *const *items;
    uint32_t count;
};

void trace_reader_init(struct trace_reader *reader, struct trace *trace, const char *pick)
{
    *reader = (struct trace_reader){.trace = trace, .pick = pick};
    names_init(&reader->picks);
    names_init(&reader->seen);
    names_init(&reader->specs);
}

void trace_reader_done(struct trace_reader *reader)
{
    names_done(&reader->picks);
    names_done(&reader->seen);
    names_done(&reader->specs);
    mem_free(reader->lists);
    *reader = (struct trace_reader){0};
}

struct trace_job trace_job_default(void)
{
    return (struct trace_job){.duration_us = -1,
                              .queue = "",
                              .user = "",
                              .class = "",
                              .name = "",
                              .model_name = "",
                              .application = ""};
}

int trace_add(struct trace_reader *reader, const struct trace_job *job, uint32_t count,
              struct err *err)
{
    struct trace *trace = reader->trace;

    if (count > TRACE_JOBS_MAX - trace->job_count)
        return err_set(err, -ERANGE, "%s:%u: more than %u jobs", reader->csv.input.name,
                       reader->csv.input.line_number, TRACE_JOBS_MAX);
    vec_reserve(trace->jobs, trace->job_cap, trace->job_count + count);
    for (uint32_t i = 0; i < count; i++) {
        struct trace_job *copy = &trace->jobs[trace->job_count++];

        *copy = *job;
        copy->id = trace->job_count;
        copy->line = reader->csv.input.line_number;
    }
    return 0;
}

bool trace_row_is_picked(struct trace_reader *reader, const char *name)
{
    bool is_picked = reader->pick && strcmp(reader->pick, name) == 0;

    (void)names_intern(&reader->picks, name);
    reader->picked |= is_picked;
    return is_picked;
}

int trace_check_picked(const struct trace_reader *reader, struct err *err)
{
    struct text known;

    if (reader->picked)
        return 0;
    text_init(&known, 200);
    for (uint32_t i = 0; i < names_count(&reader->picks) && !known.overflow; i++)
        text_addf(&known, "%s%s", i > 0 ? ", " : "", quote_of(names_text(&reader->picks, i)).text);
    if (reader->pick)
        err_set(err, -EINVAL, "%s: no trace %s in it, it has %s%s", reader->csv.input.name,
                quote_of(reader->pick).text, text_str(&known), known.overflow ? ", ..." : "");
    else
        err_set(err, -EINVAL, "%s: holds several traces, say FILE:NAME with one of %s%s",
                reader->csv.input.name, text_str(&known), known.overflow ? ", ..." : "");
    text_done(&known);
    return -EINVAL;
}

int trace_text(struct trace_reader *reader, uint32_t column, const char **out, struct err *err)
{
    const char *text;
    int rc = csv_text(&reader->csv, column, &text, err);

    if (rc == 0)
        *out = text[0] ? arena_intern(&reader->trace->arena, text) : "";
    return rc;
}

int trace_unique_name(struct trace_reader *reader, uint32_t column, const char **out,
                      struct err *err)
{
    const char *name;
    int rc = csv_name(&reader->csv, column, &name, err);

    if (rc < 0)
        return rc;
    if (names_find(&reader->seen, name) != NAMES_NONE)
        return csv_error(&reader->csv, column, err, -EEXIST, "%s is there twice",
                         quote_of(name).text);
    (void)names_intern(&reader->seen, name);
    *out = arena_intern(&reader->trace->arena, name);
    return 0;
}

/* Cuts "A|B" into a list of the arena. */
static int split_models(struct trace_reader *reader, uint32_t column, const char *spec,
                        struct trace_models *out, struct err *err)
{
    struct arena *arena = &reader->trace->arena;
    const char *items[SELECTOR_TERMS_MAX], **list;
    uint32_t count = 0;

    for (;;) {
        size_t len = strcspn(spec, "|");

        if (len == 0)
            return csv_error(&reader->csv, column, err, -EINVAL, "a name in the list is empty");
        if (count == SELECTOR_TERMS_MAX)
            return csv_error(&reader->csv, column, err, -ERANGE, "more than %d names in the list",
                             SELECTOR_TERMS_MAX);
        items[count++] = arena_intern(arena, arena_text(arena, spec, len));
        if (spec[len] == '\0')
            break;
        spec += len + 1;
    }
    list = arena_alloc(arena, count, sizeof *list);
    memcpy(list, items, count * sizeof *list);
    *out = (struct trace_models){list, count};
    return 0;
}

int trace_models(struct trace_reader *reader, uint32_t column, struct trace_job *job,
                 struct err *err)
{
    const char *spec;
    struct trace_models models;
    uint32_t id;
    int rc = csv_text(&reader->csv, column, &spec, err);

    if (rc < 0 || spec[0] == '\0')
        return rc;
    id = names_find(&reader->specs, spec);
    if (id == NAMES_NONE) {
        rc = split_models(reader, column, spec, &models, err);
        if (rc < 0)
            return rc;
        id = names_intern(&reader->specs, spec);
        vec_push(reader->lists, reader->list_count, reader->list_cap, models);
    }
    job->models = reader->lists[id].items;
    job->model_count = reader->lists[id].count;
    return 0;
}
