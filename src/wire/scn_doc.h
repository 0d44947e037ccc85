/* SPDX-License-Identifier: Apache-2.0 */
/* scn_doc.h - private to the scenario reader: FIELD=VALUE words as a map of a doc, so that nodes,
 * jobs and configurations are read by the code that reads their files. */
#pragma once
#include "core/event.h"
#include "wire/doc.h"
#include "wire/scn.h"

/* How the value of a field is written in one word. */
enum scn_shape {
    SHAPE_TEXT,
    SHAPE_LIST, /* a,b */
    SHAPE_MAP,  /* gpus:4,memory:1T */
    SHAPE_MORE, /* a map each time the field is there: group=tasks:1,gpus:8 group=... */
};

struct scn_reader {
    struct scn_text *text;
    struct scn *out;
    struct names job_names; /* row i is job i */
    uint32_t until_line;    /* 0 = there is none yet */
    uint32_t title_line;
};

int scn_line_error(const struct scn_reader *r, const struct scn_line *line, struct err *err,
                   int code, const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Adds a map to `parent` (as `key` of it, or NULL) with the words from `first` on that `wanted`
 * lets through (NULL: all). Returns its index or a negative errno. A word without '=' is
 * FIELD=true. */
int64_t scn_doc_map(struct doc *doc, uint32_t parent, const char *key, const struct scn_line *line,
                    uint32_t first, bool (*wanted)(const char *field), struct err *err);
int64_t scn_doc_text(struct doc *doc, uint32_t map, const char *key, const char *text,
                     uint32_t line, struct err *err);

/* Settings, queues and classes; lines of other kinds are passed by. */
bool scn_is_setting(const struct scn_line *line);
int scn_read_config(struct scn_reader *r, const struct scn_line *lines, uint32_t count,
                    struct config *out, struct err *err);

int scn_read_nodes(struct scn_reader *r, const struct scn_line *const *lines, uint32_t count,
                   uint32_t first_word, struct cluster *out, struct err *err);
int scn_read_job(struct scn_reader *r, const struct scn_line *line, struct scn_job *out,
                 struct err *err);
int scn_read_task(struct scn_reader *r, const struct scn_line *line, struct err *err);

int scn_read_action(struct scn_reader *r, const struct scn_line *line, struct err *err);
int scn_read_assert(struct scn_reader *r, const struct scn_line *line, struct err *err);

/* Nodes, tasks, queues and classes that are named in this file, and are there at no time. */
int scn_check_names(const struct scn_reader *r, struct err *err);

/* The job of this name; -ENOENT with a message. */
int scn_find_job(const struct scn_reader *r, const struct scn_line *line, const char *name,
                 uint32_t *out, struct err *err);
int scn_duration(const struct scn_reader *r, const struct scn_line *line, const char *what,
                 const char *text, int64_t *out, struct err *err);
int scn_number(const struct scn_reader *r, const struct scn_line *line, const char *what,
               const char *text, int64_t max, int64_t *out, struct err *err);

/* The number of the word among [count] texts, or -EINVAL that lists them. */
int scn_word(const struct scn_reader *r, const struct scn_line *line, const char *word,
             const char *const *texts, uint32_t count, struct err *err);
