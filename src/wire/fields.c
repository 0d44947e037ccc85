/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/fields.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/text.h"
#include "wire/arena.h"
#include "wire/quote.h"

static const char *type_text(enum doc_type type)
{
    static const char *const texts[] = {
        [DOC_TEXT] = "a single value", [DOC_LIST] = "a list", [DOC_MAP] = "a map of fields"};

    return texts[type];
}

static int want_type(const struct doc *doc, const struct doc_node *node, enum doc_type type,
                     struct err *err)
{
    if (node->type == type)
        return 0;
    return doc_error(doc, node, err, -EINVAL, "must be %s, is %s", type_text(type),
                     type_text(node->type));
}

int doc_want_list(const struct doc *doc, const struct doc_node *node, uint32_t max, struct err *err)
{
    int rc = want_type(doc, node, DOC_LIST, err);

    if (rc < 0)
        return rc;
    if (node->child_count > max)
        return doc_error(doc, node, err, -ERANGE, "has %u members, at most %u are allowed",
                         node->child_count, max);
    return 0;
}

int doc_want_map(const struct doc *doc, const struct doc_node *node, struct err *err)
{
    return want_type(doc, node, DOC_MAP, err);
}

int doc_want_text(const struct doc *doc, const struct doc_node *node, size_t min, const char **out,
                  struct err *err)
{
    int rc = want_type(doc, node, DOC_TEXT, err);
    size_t len;

    if (rc < 0)
        return rc;
    len = strlen(node->text);
    if (len < min)
        return doc_error(doc, node, err, -EINVAL, "must not be empty");
    if (len > FIELD_TEXT_BYTES_MAX)
        return doc_error(doc, node, err, -ERANGE, "text is longer than %d bytes: %s",
                         FIELD_TEXT_BYTES_MAX, quote_of(node->text).text);
    *out = node->text;
    return 0;
}

int doc_want_number(const struct doc *doc, const struct doc_node *node, enum number_kind kind,
                    int64_t min, int64_t max, int64_t *out, struct err *err)
{
    struct err detail;
    int rc = want_type(doc, node, DOC_TEXT, err);

    if (rc < 0)
        return rc;
    rc = number_parse(node->text, kind, min, max, out, &detail);
    return rc < 0 ? doc_error(doc, node, err, rc, "%s", detail.text) : 0;
}

int doc_want_word(const struct doc *doc, const struct doc_node *node, const char *const *words,
                  uint32_t count, uint32_t *out, struct err *err)
{
    struct text known;
    int rc = want_type(doc, node, DOC_TEXT, err);

    if (rc < 0)
        return rc;
    for (*out = 0; *out < count; (*out)++) {
        if (strcmp(words[*out], node->text) == 0)
            return 0;
    }
    text_init(&known, 400);
    for (uint32_t i = 0; i < count; i++)
        text_addf(&known, "%s%s", i == 0 ? "" : i + 1 == count ? " or " : ", ", words[i]);
    rc = doc_error(doc, node, err, -EINVAL, "must be %s, is %s", text_str(&known),
                   quote_of(node->text).text);
    text_done(&known);
    return rc;
}

int doc_want_bool(const struct doc *doc, const struct doc_node *node, bool *out, struct err *err)
{
    static const char *const words[] = {"false", "true"};
    uint32_t word;
    int rc = doc_want_word(doc, node, words, 2, &word, err);

    if (rc == 0)
        *out = word == 1;
    return rc;
}

static int read_u64(const struct doc *doc, const struct doc_node *node, uint64_t *out,
                    struct err *err)
{
    struct err detail;
    int rc = want_type(doc, node, DOC_TEXT, err);

    if (rc < 0)
        return rc;
    rc = number_parse_u64(node->text, out, &detail);
    return rc < 0 ? doc_error(doc, node, err, rc, "%s", detail.text) : 0;
}

static int read_texts(const struct doc *doc, const struct doc_node *list, uint32_t max,
                      struct field_texts *out, struct err *err)
{
    int rc = doc_want_list(doc, list, max, err);
    const char **items;
    uint32_t count = 0;

    if (rc < 0)
        return rc;
    items = arena_alloc(doc->arena, list->child_count, sizeof *items);
    for (const struct doc_node *n = doc_first(doc, list); n; n = doc_next(doc, n)) {
        rc = doc_want_text(doc, n, 1, &items[count++], err);
        if (rc < 0)
            return rc;
    }
    *out = (struct field_texts){items, count};
    return 0;
}

/* {rack: r1} is "rack=r1". */
static int read_label(const struct doc *doc, const struct doc_node *node, const char **out,
                      struct err *err)
{
    const char *value;
    struct text text;
    int rc = doc_want_text(doc, node, 0, &value, err);

    if (rc < 0)
        return rc;
    if (node->key[0] == '\0' || strchr(node->key, '='))
        return doc_error(doc, node, err, -EINVAL, "a label's name must not be empty or have '='");
    text_init(&text, FIELD_TEXT_BYTES_MAX);
    text_add(&text, node->key);
    text_add(&text, "=");
    text_add(&text, value);
    if (text.overflow)
        rc = doc_error(doc, node, err, -ERANGE, "label is longer than %d bytes",
                       FIELD_TEXT_BYTES_MAX);
    else
        *out = arena_text(doc->arena, text_str(&text), text.used);
    text_done(&text);
    return rc;
}

static int read_labels(const struct doc *doc, const struct doc_node *map, uint32_t max,
                       struct field_texts *out, struct err *err)
{
    int rc = doc_want_map(doc, map, err);
    const char **items;
    uint32_t count = 0;

    if (rc < 0)
        return rc;
    if (map->child_count > max)
        return doc_error(doc, map, err, -ERANGE, "has %u labels, at most %u are allowed",
                         map->child_count, max);
    items = arena_alloc(doc->arena, map->child_count, sizeof *items);
    for (const struct doc_node *n = doc_first(doc, map); n; n = doc_next(doc, n)) {
        rc = read_label(doc, n, &items[count++], err);
        if (rc < 0)
            return rc;
    }
    *out = (struct field_texts){items, count};
    return 0;
}

static int read_number(const struct doc *doc, const struct doc_node *node,
                       const struct field *field, void *member, struct err *err)
{
    int64_t value;
    int rc = doc_want_number(doc, node, field->kind, field->min, field->max, &value, err);

    if (rc < 0)
        return rc;
    if (field->type == FIELD_I64) {
        *(int64_t *)member = value;
    } else {
        check(value >= 0 && value <= UINT32_MAX);
        *(uint32_t *)member = (uint32_t)value;
    }
    return 0;
}

static int read_field(const struct doc *doc, const struct doc_node *node, const struct field *field,
                      void *member, struct err *err)
{
    switch (field->type) {
    case FIELD_TEXT:
        return doc_want_text(doc, node, 0, member, err);
    case FIELD_NAME:
        return doc_want_text(doc, node, 1, member, err);
    case FIELD_I64:
    case FIELD_U32:
        return read_number(doc, node, field, member, err);
    case FIELD_U64:
        return read_u64(doc, node, member, err);
    case FIELD_BOOL:
        return doc_want_bool(doc, node, member, err);
    case FIELD_TEXTS:
        return read_texts(doc, node, (uint32_t)field->max, member, err);
    case FIELD_LABELS:
        return read_labels(doc, node, (uint32_t)field->max, member, err);
    case FIELD_NODE:
        break;
    }
    *(const struct doc_node **)member = node;
    return 0;
}

static int unknown_error(const struct doc *doc, const struct doc_node *node,
                         const struct field *fields, uint32_t field_count, struct err *err)
{
    struct text known;

    text_init(&known, 400);
    for (uint32_t i = 0; i < field_count; i++) {
        text_add(&known, i > 0 ? ", " : "");
        text_add(&known, fields[i].name);
    }
    doc_error(doc, node, err, -EINVAL, "unknown field, known are %s", text_str(&known));
    text_done(&known);
    return -EINVAL;
}

static const struct field *field_of(const char *name, const struct field *fields,
                                    uint32_t field_count)
{
    for (uint32_t i = 0; i < field_count; i++) {
        if (strcmp(fields[i].name, name) == 0)
            return &fields[i];
    }
    return NULL;
}

int fields_read(const struct doc *doc, const struct doc_node *map, const struct field *fields,
                uint32_t field_count, void *out, struct err *err)
{
    uint64_t seen = 0;
    int rc = doc_want_map(doc, map, err);

    check(field_count <= 64);
    if (rc < 0)
        return rc;
    for (const struct doc_node *n = doc_first(doc, map); n; n = doc_next(doc, n)) {
        const struct field *field = field_of(n->key, fields, field_count);

        if (!field)
            return unknown_error(doc, n, fields, field_count, err);
        rc = read_field(doc, n, field, (char *)out + field->offset, err);
        if (rc < 0)
            return rc;
        seen |= UINT64_C(1) << (field - fields);
    }
    for (uint32_t i = 0; i < field_count; i++) {
        if (fields[i].required && !(seen >> i & 1))
            return doc_error(doc, map, err, -EINVAL, "field '%s' is missing", fields[i].name);
    }
    return 0;
}
