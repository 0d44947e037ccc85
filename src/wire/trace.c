/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/trace.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "wire/trace_read.h"

static const struct trace_format_reader *const trace_readers[] = {
    &trace_reader_openb_specs, &trace_reader_openb_pods, &trace_reader_muri,
    &trace_reader_pollux,      &trace_reader_philly,     &trace_reader_generic,
};

const char *trace_format_text(enum trace_format format)
{
    static const char *const texts[] = {[TRACE_OPENB] = "openb",
                                        [TRACE_MURI] = "muri",
                                        [TRACE_POLLUX] = "pollux",
                                        [TRACE_PHILLY] = "philly",
                                        [TRACE_GENERIC] = "generic"};

    check(format <= TRACE_GENERIC);
    return texts[format];
}

bool trace_says_class(enum trace_format format)
{
    return format == TRACE_GENERIC;
}

/* Takes `end` off the end of [len] bytes, if it is there. */
static size_t without_end(const char *text, size_t len, const char *end)
{
    size_t end_len = strlen(end);

    return len > end_len && memcmp(text + len - end_len, end, end_len) == 0 ? len - end_len : len;
}

/* data/openb_pod_list_default.csv is "default", data/trace1.csv.gz is "trace1". */
static const char *label_of(struct arena *arena, const char *name)
{
    static const char prefix[] = "openb_pod_list_";
    const char *slash = strrchr(name, '/');
    size_t len;

    name = slash ? slash + 1 : name;
    if (strncmp(name, prefix, sizeof prefix - 1) == 0)
        name += sizeof prefix - 1;
    len = without_end(name, strlen(name), ".gz");
    len = without_end(name, len, ".csv");
    return arena_text(arena, name, len);
}

static bool has_columns(const struct csv *csv, const struct trace_format_reader *format)
{
    for (uint32_t i = 0; i < format->column_count; i++) {
        if (csv_find(csv, format->columns[i]) == CSV_NONE)
            return false;
    }
    return true;
}

static const struct trace_format_reader *format_of(const struct csv *csv)
{
    for (size_t i = 0; i < sizeof trace_readers / sizeof *trace_readers; i++) {
        if (has_columns(csv, trace_readers[i]))
            return trace_readers[i];
    }
    return NULL;
}

static uint32_t count_columns(const struct csv *csv, const struct trace_format_reader *format,
                              const char **out_missing)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < format->column_count; i++) {
        if (csv_find(csv, format->columns[i]) != CSV_NONE)
            found++;
        else
            *out_missing = format->columns[i];
    }
    return found;
}

/* The nearest format, and what it lacks. */
static int error_no_format(const struct csv *csv, struct err *err)
{
    const char *best_missing = NULL, *best_format = NULL;
    uint32_t best = 0;

    for (size_t i = 0; i < sizeof trace_readers / sizeof *trace_readers; i++) {
        const char *missing = NULL;
        const uint32_t found = count_columns(csv, trace_readers[i], &missing);

        if (found <= best)
            continue;
        best = found;
        best_missing = missing;
        best_format = trace_format_text(trace_readers[i]->format);
    }
    if (best_missing)
        return err_set(err, -EINVAL,
                       "%s:1: column '%s' is missing, which a trace in the %s format must have",
                       csv->input.name, best_missing, best_format);
    return err_set(err, -EINVAL,
                   "%s:1: unknown trace format: a header has at least submit_s,duration_s,gpus, "
                   "or the columns of an openb, muri, pollux or philly trace",
                   csv->input.name);
}

static int read_rows(struct trace_reader *reader, struct err *err)
{
    const struct trace_format_reader *format = format_of(&reader->csv);
    const char *name = reader->csv.input.name;
    int rc;

    if (!format)
        return error_no_format(&reader->csv, err);
    if (reader->pick && !format->picks)
        return err_set(err, -EINVAL, "%s: holds one trace, so ':%s' cannot pick one of it", name,
                       reader->pick);
    reader->trace->format = format->format;
    rc = format->read(reader, err);
    if (rc == 0 && format->picks)
        rc = trace_check_picked(reader, err);
    if (rc == 0 && reader->trace->job_count == 0)
        rc = err_set(err, -EINVAL, "%s: no job in it", name);
    return rc;
}

/* The rest of a load, once the CSV is open (rc is 0) or could not be. */
static int finish(struct trace_reader *reader, int rc, struct err *err)
{
    struct trace *trace = reader->trace;

    if (rc == 0) {
        trace->file = arena_intern(&trace->arena, reader->csv.input.name);
        trace->label = reader->pick ? arena_intern(&trace->arena, reader->pick)
                                    : label_of(&trace->arena, reader->csv.input.name);
        rc = read_rows(reader, err);
        csv_close(&reader->csv);
    }
    trace_reader_done(reader);
    if (rc < 0)
        trace_done(trace);
    return rc;
}

static void begin(struct trace_reader *reader, struct trace *out, const char *pick)
{
    *out = (struct trace){.file = "", .label = ""};
    arena_init(&out->arena);
    trace_reader_init(reader, out, pick);
}

int trace_load(const char *spec, struct trace *out, struct err *err)
{
    const char *colon = strrchr(spec, ':');
    struct trace_reader reader;
    const char *path = spec;

    begin(&reader, out, NULL);
    if (colon && access(spec, F_OK) != 0) {
        path = arena_text(&out->arena, spec, (size_t)(colon - spec));
        reader.pick = colon + 1;
    }
    return finish(&reader, csv_open(&reader.csv, path, err), err);
}

int trace_parse(const char *name, const char *pick, const void *bytes, size_t count,
                struct trace *out, struct err *err)
{
    struct trace_reader reader;

    begin(&reader, out, pick);
    return finish(&reader, csv_open_bytes(&reader.csv, name, bytes, count, err), err);
}

void trace_done(struct trace *trace)
{
    mem_free(trace->jobs);
    arena_done(&trace->arena);
    *trace = (struct trace){0};
}
