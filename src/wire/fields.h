/* SPDX-License-Identifier: Apache-2.0 */
/* fields.h - a map of a doc into a struct, by a table of its fields.
 *
 * A field that the table does not have, one that is required and missing, and one that is out of
 * range are errors. A field that may be missing leaves the member as it is: fill in the defaults
 * before. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/doc.h"
#include "wire/number.h"

struct arena;
struct err;

#define FIELD_TEXT_BYTES_MAX 255

/* Short texts: label "key=value" pairs, models. */
struct field_texts {
    const char *const *items; /* [count], NULL when there are none */
    uint32_t count;
};

enum field_type {               /* the member is ... */
                  FIELD_TEXT,   /* const char *, at most FIELD_TEXT_BYTES_MAX bytes */
                  FIELD_NAME,   /* the same and not empty */
                  FIELD_I64,    /* int64_t, as number_kind says, min..max */
                  FIELD_U32,    /* uint32_t, the same */
                  FIELD_U64,    /* uint64_t, whole, any */
                  FIELD_BOOL,   /* bool, true or false */
                  FIELD_TEXTS,  /* struct field_texts, from a list; max is the count */
                  FIELD_LABELS, /* struct field_texts, from a map {k: v}; max is the count */
                  FIELD_NODE,   /* const struct doc_node *, for the caller to read */
};

struct field {
    const char *name;
    enum field_type type;
    enum number_kind kind; /* FIELD_I64, FIELD_U32 */
    bool required;
    size_t offset;
    int64_t min, max;
};

/* Reads the map into *out. Arrays are allocated in the arena of the doc. 0, or a negative errno;
 * then *out may be half filled. */
int fields_read(const struct doc *doc, const struct doc_node *map, const struct field *fields,
                uint32_t field_count, void *out, struct err *err);

/* "jobs.yaml:3: must be a list, is text", unless it is one with at most max members. */
int doc_want_list(const struct doc *doc, const struct doc_node *node, uint32_t max,
                  struct err *err);
int doc_want_map(const struct doc *doc, const struct doc_node *node, struct err *err);

/* The text of a scalar, between min and FIELD_TEXT_BYTES_MAX bytes. */
int doc_want_text(const struct doc *doc, const struct doc_node *node, size_t min, const char **out,
                  struct err *err);

/* "true" or "false". */
int doc_want_bool(const struct doc *doc, const struct doc_node *node, bool *out, struct err *err);

/* One of [count] words; its index. */
int doc_want_word(const struct doc *doc, const struct doc_node *node, const char *const *words,
                  uint32_t count, uint32_t *out, struct err *err);

/* A number of this kind and range. */
int doc_want_number(const struct doc *doc, const struct doc_node *node, enum number_kind kind,
                    int64_t min, int64_t max, int64_t *out, struct err *err);
