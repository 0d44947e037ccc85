/* SPDX-License-Identifier: Apache-2.0 */
/* trace_read.h - private to the trace readers: what each format is, and how it adds jobs. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "wire/csv.h"
#include "wire/trace.h"

struct trace_models; /* trace_read.c */

struct trace_reader {
    struct csv csv;
    struct trace *trace;
    const char *pick;           /* NAME of FILE:NAME, or NULL */
    bool picked;                /* a row had that name */
    struct names picks;         /* names that rows had */
    struct names seen;          /* job names, where a format has each only once */
    struct names specs;         /* texts of lists of models ... */
    struct trace_models *lists; /* [specs.count] ... and the lists */
    uint32_t list_count, list_cap;
};

/* A format is known by the columns it needs; the first in trace_readers[] that has them all. */
struct trace_format_reader {
    enum trace_format format;
    bool picks;                 /* rows of several traces: NAME is needed */
    const char *const *columns; /* [column_count] that must be there */
    uint32_t column_count;
    int (*read)(struct trace_reader *reader, struct err *err); /* from the first row on */
};

extern const struct trace_format_reader trace_reader_openb_pods, trace_reader_openb_specs,
    trace_reader_muri, trace_reader_pollux, trace_reader_philly, trace_reader_generic;

void trace_reader_init(struct trace_reader *reader, struct trace *trace, const char *pick);
void trace_reader_done(struct trace_reader *reader);

/* A job with everything unknown, and every text "". */
struct trace_job trace_job_default(void);

/* Appends the job `count` times; ids are given here. An error names the row. */
int trace_add(struct trace_reader *reader, const struct trace_job *job, uint32_t count,
              struct err *err);

/* Is this row of the trace that was asked for? Remembers the names it sees. */
bool trace_row_is_picked(struct trace_reader *reader, const char *name);

/* 0 if NAME was there, else an error that lists the names there are. */
int trace_check_picked(const struct trace_reader *reader, struct err *err);

/* A column of text, interned: CSV_NONE and an empty field are "". */
int trace_text(struct trace_reader *reader, uint32_t column, const char **out, struct err *err);

/* A name of a column that no row before has had; -EEXIST otherwise. Interned. */
int trace_unique_name(struct trace_reader *reader, uint32_t column, const char **out,
                      struct err *err);

/* "A|B" of a column as a list of names; an empty field is no list. */
int trace_models(struct trace_reader *reader, uint32_t column, struct trace_job *job,
                 struct err *err);
