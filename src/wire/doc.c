/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/doc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "wire/arena.h"
#include "wire/input.h"
#include "wire/quote.h"

enum { SMALL_MAP = 16 }; /* up to here, siblings are looked through */

void doc_init(struct doc *doc, const char *name, struct arena *arena)
{
    *doc = (struct doc){.name = name, .arena = arena};
    names_init(&doc->keys);
    map_init(&doc->seen);
    vec_push(doc->nodes, doc->count, doc->cap,
             ((struct doc_node){.type = DOC_LIST,
                                .line = 1,
                                .text = "",
                                .parent = DOC_NONE,
                                .next = DOC_NONE,
                                .first = DOC_NONE,
                                .last = DOC_NONE}));
}

void doc_done(struct doc *doc)
{
    mem_free(doc->nodes);
    names_done(&doc->keys);
    map_done(&doc->seen);
    *doc = (struct doc){0};
}

const struct doc_node *doc_root(const struct doc *doc)
{
    return &doc->nodes[0];
}

static const struct doc_node *node_at(const struct doc *doc, uint32_t index)
{
    return index == DOC_NONE ? NULL : &doc->nodes[index];
}

const struct doc_node *doc_first(const struct doc *doc, const struct doc_node *parent)
{
    return node_at(doc, parent->first);
}

const struct doc_node *doc_next(const struct doc *doc, const struct doc_node *node)
{
    return node_at(doc, node->next);
}

const struct doc_node *doc_find(const struct doc *doc, const struct doc_node *map, const char *key)
{
    const struct doc_node *child = map->type == DOC_MAP ? doc_first(doc, map) : NULL;

    while (child && strcmp(child->key, key) != 0)
        child = doc_next(doc, child);
    return child;
}

static uint64_t seen_key(uint32_t parent, uint32_t key_id)
{
    return (uint64_t)parent << 32 | key_id;
}

/* Is this key in the map already? Large maps are looked up, so that a file of n keys costs n. */
static bool is_double(struct doc *doc, uint32_t parent, const char *key, uint32_t key_id)
{
    const struct doc_node *map = &doc->nodes[parent];

    if (map->child_count < SMALL_MAP)
        return doc_find(doc, map, key) != NULL;
    if (map->child_count == SMALL_MAP) {
        for (const struct doc_node *n = doc_first(doc, map); n; n = doc_next(doc, n))
            map_put(&doc->seen, seen_key(parent, names_find(&doc->keys, n->key)), 1);
    }
    if (map_find(&doc->seen, seen_key(parent, key_id), NULL))
        return true;
    map_put(&doc->seen, seen_key(parent, key_id), 1);
    return false;
}

static int check_limits(const struct doc *doc, const struct doc_node *parent, uint32_t line,
                        struct err *err)
{
    if (doc->count >= DOC_NODES_MAX)
        return err_set(err, -EINVAL, "%s:%u: more than %u values", doc->name, line, DOC_NODES_MAX);
    if (parent->depth >= DOC_DEPTH_MAX)
        return err_set(err, -EINVAL, "%s:%u: nested deeper than %d levels", doc->name, line,
                       DOC_DEPTH_MAX);
    return 0;
}

int64_t doc_add(struct doc *doc, uint32_t parent, const struct doc_value *value, struct err *err)
{
    struct doc_node node = {.type = value->type,
                            .line = value->line,
                            .text = value->text ? value->text : "",
                            .parent = parent,
                            .next = DOC_NONE,
                            .first = DOC_NONE,
                            .last = DOC_NONE,
                            .index = doc->nodes[parent].child_count,
                            .depth = doc->nodes[parent].depth + 1};
    int rc = check_limits(doc, &doc->nodes[parent], value->line, err);

    check((value->key != NULL) == (doc->nodes[parent].type == DOC_MAP));
    if (rc < 0)
        return rc;
    if (value->key) {
        uint32_t id = names_intern(&doc->keys, value->key);

        node.key = names_text(&doc->keys, id);
        if (is_double(doc, parent, node.key, id))
            return err_set(err, -EINVAL, "%s:%u: field %s is there twice", doc->name, value->line,
                           quote_of(node.key).text);
    }
    if (node.index == 0)
        doc->nodes[parent].first = doc->count;
    else
        doc->nodes[doc->nodes[parent].last].next = doc->count;
    doc->nodes[parent].last = doc->count;
    doc->nodes[parent].child_count++;
    vec_push(doc->nodes, doc->count, doc->cap, node);
    return doc->count - 1;
}

/* The path of a node below its document: "tasks[0].gpus", "" for the document itself. */
static void path_of(const struct doc *doc, const struct doc_node *node, struct text *out)
{
    const struct doc_node *up[DOC_DEPTH_MAX + 1];
    uint32_t count = 0;

    while (node->depth > 1) {
        up[count++] = node;
        node = &doc->nodes[node->parent];
    }
    while (count > 0) {
        node = up[--count];
        if (!node->key)
            text_addf(out, "[%u]", node->index);
        else
            text_addf(out, "%s%.60s", out->used ? "." : "", node->key);
    }
}

int doc_error(const struct doc *doc, const struct doc_node *node, struct err *err, int code,
              const char *fmt, ...)
{
    struct text path;
    struct err detail;
    va_list args;

    va_start(args, fmt);
    vsnprintf(detail.text, sizeof detail.text, fmt, args);
    va_end(args);
    text_init(&path, 256);
    path_of(doc, node, &path);
    for (size_t i = 0; i < path.used; i++) {
        if ((unsigned char)path.bytes[i] < 0x20 || path.bytes[i] == 0x7f)
            path.bytes[i] = '?';
    }
    err_set(err, code, "%s:%u: %s%s%s", doc->name, node->line, text_str(&path),
            path.used ? ": " : "", detail.text);
    text_done(&path);
    return code;
}

static bool is_json_name(const char *name)
{
    size_t len = strlen(name);

    return (len >= 5 && strcmp(name + len - 5, ".json") == 0) ||
           (len >= 8 && strcmp(name + len - 8, ".json.gz") == 0);
}

int doc_parse(struct doc *doc, const char *bytes, size_t count, struct err *err)
{
    return is_json_name(doc->name) ? doc_parse_json(doc, bytes, count, 1, err)
                                   : doc_parse_yaml(doc, bytes, count, err);
}

int doc_load(struct doc *doc, const char *path, struct err *err)
{
    struct text text;
    int rc;

    text_init(&text, DOC_BYTES_MAX);
    rc = input_read_all(path, &text, err);
    if (rc == 0)
        rc = doc_parse(doc, text_str(&text), text.used, err);
    text_done(&text);
    return rc;
}
