/* SPDX-License-Identifier: Apache-2.0 */
/* doc.h - a YAML or JSON file as one tree, in which every value knows its line.
 *
 * Values are kept as written: numbers are read by whoever knows what they mean (fields.h), so
 * nothing is rounded on the way. A file may hold several documents; they are the children of the
 * root. Bounded: bytes, depth, and nodes (an alias counts as a copy of what it names). A key that
 * is in a map twice is an error.
 *
 * Errors name file, line and field: "jobs.yaml:12: tasks[0].gpus: must be 0 to 64, is -3". */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/names.h"

struct arena;
struct err;

#define DOC_BYTES_MAX ((size_t)64 << 20)
#define DOC_DEPTH_MAX 32
#define DOC_NODES_MAX (1u << 21)
#define DOC_NONE      UINT32_MAX

enum doc_type {
    DOC_TEXT, /* a scalar */
    DOC_LIST,
    DOC_MAP,
};

struct doc_node {
    enum doc_type type;
    uint32_t line;
    const char *key;                    /* in a map, else NULL; owned by the doc */
    const char *text;                   /* DOC_TEXT, else ""; lives in the arena */
    uint32_t parent, next, first, last; /* nodes, or DOC_NONE */
    uint32_t child_count;
    uint32_t index; /* among the children of its parent */
    uint32_t depth; /* 0 is the root */
};

struct doc {
    const char *name;       /* of the file, for errors; borrowed */
    struct arena *arena;    /* borrowed: texts outlive the doc */
    struct doc_node *nodes; /* [count] 0 is the root, a list of documents */
    uint32_t count, cap;
    struct names keys;
    struct map seen; /* (node, key) of maps too large to look through */
};

void doc_init(struct doc *doc, const char *name, struct arena *arena);
void doc_done(struct doc *doc);

/* Read a text. JSON is told by the ending .json of the name, else it is YAML. */
int doc_parse(struct doc *doc, const char *bytes, size_t count, struct err *err);
int doc_parse_yaml(struct doc *doc, const char *bytes, size_t count, struct err *err);
/* One JSON document (RFC 8259), which starts at this line of its file. */
int doc_parse_json(struct doc *doc, const char *bytes, size_t count, uint32_t line,
                   struct err *err);

/* Reads a file, which may be gzip, and parses it. */
int doc_load(struct doc *doc, const char *path, struct err *err);

/* Walk: for (n = doc_first(doc, parent); n; n = doc_next(doc, n)). */
const struct doc_node *doc_root(const struct doc *doc);
const struct doc_node *doc_first(const struct doc *doc, const struct doc_node *parent);
const struct doc_node *doc_next(const struct doc *doc, const struct doc_node *node);

/* The value of a key of a map, or NULL. */
const struct doc_node *doc_find(const struct doc *doc, const struct doc_node *map, const char *key);

/* "FILE:LINE: path.to[3].field: " and the text; returns code. */
__attribute__((format(printf, 5, 6))) int doc_error(const struct doc *doc,
                                                    const struct doc_node *node, struct err *err,
                                                    int code, const char *fmt, ...);

/* For the parsers: adds a child to `parent` and returns its index (0 or more), or a negative errno.
 * key is NULL unless parent is a map. text is borrowed only for DOC_TEXT of the arena. */
struct doc_value {
    enum doc_type type;
    const char *key;
    const char *text; /* DOC_TEXT: must live as long as the arena */
    uint32_t line;
};
int64_t doc_add(struct doc *doc, uint32_t parent, const struct doc_value *value, struct err *err);
