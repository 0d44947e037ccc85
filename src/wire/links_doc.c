/* SPDX-License-Identifier: Apache-2.0 */
/* links_doc.c - the field `links` of a node. */
#include "wire/links_doc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "core/link_presets.h"
#include "core/links.h"
#include "wire/arena.h"
#include "wire/fields.h"
#include "wire/input.h"
#include "wire/quote.h"
#include "wire/topo_text.h"

static int read_row(const struct doc *doc, const struct doc_node *list, uint32_t row, uint32_t gpus,
                    uint32_t *mbps, struct err *err)
{
    int rc = doc_want_list(doc, list, NODE_GPUS_MAX, err);

    if (rc == 0 && list->child_count != gpus)
        rc = doc_error(doc, list, err, -EINVAL, "must be %u numbers, is %u", gpus,
                       list->child_count);
    for (const struct doc_node *n = doc_first(doc, list); n && rc == 0; n = doc_next(doc, n)) {
        const uint32_t gpu = n->index;
        int64_t value;

        rc = doc_want_number(doc, n, NUMBER_WHOLE, 0, gpu == row ? 0 : LINK_MBPS_MAX, &value, err);
        if (rc < 0 || gpu == row)
            continue;
        if (gpu > row)
            mbps[links_at(row, gpu)] = (uint32_t)value;
        else if (mbps[links_at(row, gpu)] != value)
            rc = doc_error(doc, n, err, -EINVAL, "is %lld, but the row of GPU %u says %u",
                           (long long)value, gpu, mbps[links_at(row, gpu)]);
    }
    return rc;
}

static int read_matrix(const struct doc *doc, const struct doc_node *list, uint32_t gpus,
                       uint32_t *mbps, struct err *err)
{
    int rc = 0;

    if (list->child_count != gpus)
        return doc_error(doc, list, err, -EINVAL, "must be %u rows, one a GPU, is %u", gpus,
                         list->child_count);
    for (const struct doc_node *n = doc_first(doc, list); n && rc == 0; n = doc_next(doc, n))
        rc = read_row(doc, n, n->index, gpus, mbps, err);
    return rc;
}

/* name: of the text, for errors. */
static int take_topo(const struct doc *doc, const struct doc_node *node, const char *name,
                     const char *bytes, size_t count, const char *model, uint32_t gpus,
                     uint32_t *mbps, struct err *err)
{
    struct err detail;
    struct topo topo;
    int rc = topo_text_parse(name, bytes, count, model, &topo, &detail);

    if (rc < 0)
        return doc_error(doc, node, err, rc, "%s", detail.text);
    if (topo.gpus != gpus)
        return doc_error(doc, node, err, -EINVAL, "%s is of %u GPUs, the node has %u", name,
                         topo.gpus, gpus);
    if (gpus > 1)
        memcpy(mbps, topo.mbps, links_pairs(gpus) * sizeof *mbps);
    return 0;
}

static int read_file(const struct doc *doc, const struct doc_node *node, const char *folder,
                     const char *model, uint32_t gpus, uint32_t *mbps, struct err *err)
{
    struct err detail;
    struct text bytes;
    char path[4096];
    int rc;

    if (folder == NULL)
        return doc_error(doc, node, err, -EINVAL, "no file can be named here");
    if (snprintf(path, sizeof path, "%s%s", node->text[0] == '/' ? "" : folder, node->text) >=
        (int)sizeof path)
        return doc_error(doc, node, err, -EINVAL, "the path is too long");
    text_init(&bytes, TOPO_TEXT_BYTES_MAX);
    rc = input_read_all(path, &bytes, &detail);
    if (rc < 0)
        rc = doc_error(doc, node, err, rc, "%s", detail.text);
    else
        rc = take_topo(doc, node, path, text_str(&bytes), bytes.used, model, gpus, mbps, err);
    text_done(&bytes);
    return rc;
}

static int unknown_preset(const struct doc *doc, const struct doc_node *node, struct err *err)
{
    struct text names;
    int rc;

    text_init(&names, 400);
    for (uint32_t i = 0; link_preset_name(i) != NULL; i++)
        text_addf(&names, "%s%s", i > 0 ? ", " : "", link_preset_name(i));
    rc = doc_error(doc, node, err, -EINVAL, "%s: no such preset, wanted one of %s, or a file",
                   quote_of(node->text).text, text_str(&names));
    text_done(&names);
    return rc;
}

int links_read(const struct doc *doc, const struct doc_node *node, uint32_t gpus, const char *model,
               const char *folder, const uint32_t **out, struct err *err)
{
    uint32_t *mbps = arena_alloc(doc->arena, gpus > 1 ? links_pairs(gpus) : 1, sizeof *mbps);
    const struct link_preset *preset;
    struct err detail;
    int rc = 0;

    *out = gpus > 1 ? mbps : NULL;
    if (node->type == DOC_LIST)
        return read_matrix(doc, node, gpus, mbps, err);
    if (node->type != DOC_TEXT)
        return doc_error(doc, node, err, -EINVAL, "must be a preset, a file or a list of rows");
    if (strchr(node->text, '\n') != NULL)
        return take_topo(doc, node, "its text", node->text, strlen(node->text), model, gpus, mbps,
                         err);
    preset = link_preset_find(node->text);
    if (preset != NULL)
        rc = link_preset_fill(preset, gpus, mbps, &detail);
    else if (strpbrk(node->text, "./") != NULL)
        return read_file(doc, node, folder, model, gpus, mbps, err);
    else
        return unknown_preset(doc, node, err);
    return rc < 0 ? doc_error(doc, node, err, rc, "%s", detail.text) : 0;
}

const char *links_folder(struct arena *arena, const char *path)
{
    const char *last = strrchr(path, '/');

    return last == NULL ? "" : arena_text(arena, path, (size_t)(last - path) + 1);
}
