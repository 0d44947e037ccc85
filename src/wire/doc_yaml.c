/* SPDX-License-Identifier: Apache-2.0 */
/* doc_yaml.c - YAML text into a doc tree, by libyaml.
 *
 * The loader of libyaml gives a graph in which an alias is the node it names; here it becomes a
 * copy, so that a file whose aliases name each other runs into the limits of doc_add() instead of
 * filling the memory. */
#include <errno.h>
#include <string.h>
#include <yaml.h>

#include "base/err.h"
#include "wire/arena.h"
#include "wire/doc.h"
#include "wire/quote.h"

struct yaml_in {
    struct doc *doc;
    yaml_document_t *document;
    struct err *err;
};

static int syntax_error(const struct doc *doc, const yaml_parser_t *parser, struct err *err)
{
    size_t line = parser->problem_mark.line + 1;

    if (parser->error == YAML_READER_ERROR)
        return err_set(err, -EINVAL, "%s: not UTF-8 text (byte %zu): %s", doc->name,
                       parser->problem_offset, parser->problem ? parser->problem : "unknown");
    return err_set(err, -EINVAL, "%s:%zu: not YAML: %s%s%s", doc->name, line,
                   parser->problem ? parser->problem : "unknown problem",
                   parser->context ? ", " : "", parser->context ? parser->context : "");
}

static int copy(struct yaml_in *in, const yaml_node_t *from, uint32_t parent, const char *key);

/* A scalar as text of the arena, or NULL if it has a NUL inside. */
static const char *scalar_text(struct yaml_in *in, const yaml_node_t *node)
{
    const char *bytes = (const char *)node->data.scalar.value;
    size_t count = node->data.scalar.length;

    return memchr(bytes, '\0', count) ? NULL : arena_text(in->doc->arena, bytes, count);
}

static uint32_t line_of(const yaml_node_t *node)
{
    return (uint32_t)node->start_mark.line + 1;
}

static int nul_error(struct yaml_in *in, const yaml_node_t *node)
{
    return err_set(in->err, -EINVAL, "%s:%u: text has a NUL character", in->doc->name,
                   line_of(node));
}

static int copy_pairs(struct yaml_in *in, const yaml_node_t *map, uint32_t node)
{
    const yaml_node_pair_t *pair = map->data.mapping.pairs.start;

    for (; pair < map->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = yaml_document_get_node(in->document, pair->key);
        const char *text;
        int rc;

        if (key->type != YAML_SCALAR_NODE)
            return err_set(in->err, -EINVAL, "%s:%u: a field name must be text", in->doc->name,
                           line_of(key));
        text = scalar_text(in, key);
        if (!text)
            return nul_error(in, key);
        rc = copy(in, yaml_document_get_node(in->document, pair->value), node, text);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int copy_items(struct yaml_in *in, const yaml_node_t *list, uint32_t node)
{
    const yaml_node_item_t *item = list->data.sequence.items.start;
    int rc = 0;

    for (; rc == 0 && item < list->data.sequence.items.top; item++)
        rc = copy(in, yaml_document_get_node(in->document, *item), node, NULL);
    return rc;
}

/* Copies a node and all below it. Recursion ends at DOC_DEPTH_MAX, in doc_add(). */
static int copy(struct yaml_in *in, const yaml_node_t *from, uint32_t parent, const char *key)
{
    struct doc_value add = {.type = DOC_TEXT, .key = key, .line = line_of(from)};
    int64_t node;

    if (from->type == YAML_SCALAR_NODE) {
        add.text = scalar_text(in, from);
        if (!add.text)
            return nul_error(in, from);
    } else {
        add.type = from->type == YAML_MAPPING_NODE ? DOC_MAP : DOC_LIST;
    }
    node = doc_add(in->doc, parent, &add, in->err);
    if (node < 0)
        return (int)node;
    if (add.type == DOC_MAP)
        return copy_pairs(in, from, (uint32_t)node);
    return add.type == DOC_LIST ? copy_items(in, from, (uint32_t)node) : 0;
}

/* 1 and a document was added, 0 at the end, or a negative errno. */
static int next_document(struct doc *doc, yaml_parser_t *parser, struct err *err)
{
    yaml_document_t document;
    struct yaml_in in = {.doc = doc, .document = &document, .err = err};
    const yaml_node_t *root;
    int rc = 0;

    if (!yaml_parser_load(parser, &document))
        return syntax_error(doc, parser, err);
    root = yaml_document_get_root_node(&document);
    if (root)
        rc = copy(&in, root, 0, NULL);
    yaml_document_delete(&document);
    return rc < 0 ? rc : root != NULL;
}

int doc_parse_yaml(struct doc *doc, const char *bytes, size_t count, struct err *err)
{
    yaml_parser_t parser;
    int rc;

    if (count > DOC_BYTES_MAX)
        return err_set(err, -EFBIG, "%s: larger than %zu bytes", doc->name, DOC_BYTES_MAX);
    if (!yaml_parser_initialize(&parser))
        return err_set(err, -ENOMEM, "%s: cannot start the YAML parser", doc->name);
    yaml_parser_set_input_string(&parser, (const unsigned char *)bytes, count);
    do {
        rc = next_document(doc, &parser, err);
    } while (rc > 0);
    yaml_parser_delete(&parser);
    return rc;
}
