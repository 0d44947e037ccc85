/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/cluster.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/scan.h"
#include "wire/cluster_read.h"
#include "wire/csv.h"
#include "wire/doc.h"
#include "wire/links_doc.h"
#include "wire/quote.h"

static bool ends_in(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);

    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

static bool is_csv_name(const char *name)
{
    return ends_in(name, ".csv") || ends_in(name, ".csv.gz");
}

static void begin(struct cluster_reader *reader, struct cluster *out)
{
    *out = (struct cluster){0};
    arena_init(&out->arena);
    reader->out = out;
    reader->folder = NULL;
    names_init(&reader->seen);
}

static int finish(struct cluster_reader *reader, const char *name, int rc, struct err *err)
{
    names_done(&reader->seen);
    if (rc == 0 && reader->out->node_count == 0)
        rc = err_set(err, -EINVAL, "%s: no node in it", name);
    if (rc < 0)
        cluster_done(reader->out);
    return rc;
}

/* The header tells openb's list from muri's. csv is closed. */
static int read_csv(struct cluster_reader *reader, struct csv *csv, struct err *err)
{
    int rc;

    if (csv_find(csv, "sn") != CSV_NONE)
        rc = cluster_read_openb(reader, csv, err);
    else if (csv_find(csv, "num_node_p_switch") != CSV_NONE)
        rc = cluster_read_muri(reader, csv, err);
    else
        rc = err_set(err, -EINVAL,
                     "%s:1: unknown kind of cluster file, known headers are "
                     "sn,cpu_milli,memory_mib,gpu,model and num_switch,num_node_p_switch,"
                     "num_gpu_p_node,num_cpu_p_node,mem_p_node",
                     csv->input.name);
    csv_close(csv);
    return rc;
}

/* "72x8" or "72x8:MODEL". 1 if it is one, 0 if it is something else, or a negative errno. */
static int short_text(const char *spec, struct cluster_reader *reader, struct err *err)
{
    struct node_spec node = {.cpu_mcpu = CLUSTER_SHORT_CPUS * INT64_C(1000),
                             .memory_bytes = CLUSTER_SHORT_MEMORY_BYTES};
    size_t nodes_len = strspn(spec, "0123456789");
    const char *gpus = spec + nodes_len + 1;
    size_t gpus_len = spec[nodes_len] == 'x' ? strspn(gpus, "0123456789") : 0;
    const char *rest = gpus_len > 0 ? gpus + gpus_len : "?";
    char number[2][16] = {0};
    uint32_t count;

    if (nodes_len == 0 || gpus_len == 0 || (*rest != '\0' && *rest != ':'))
        return 0;
    if (nodes_len >= sizeof number[0] || gpus_len >= sizeof number[1])
        return err_set(err, -ERANGE, "cluster '%.40s': number is too large", spec);
    memcpy(number[0], spec, nodes_len);
    memcpy(number[1], gpus, gpus_len);
    if (scan_u32(number[0], &count) < 0 || count == 0 || count > CLUSTER_NODES_MAX)
        return err_set(err, -ERANGE, "cluster '%.40s': nodes must be 1 to %u, is %s", spec,
                       CLUSTER_NODES_MAX, number[0]);
    if (scan_u32(number[1], &node.gpus) < 0 || node.gpus > NODE_GPUS_MAX)
        return err_set(err, -ERANGE, "cluster '%.40s': GPUs of a node must be 0 to %d, is %s", spec,
                       NODE_GPUS_MAX, number[1]);
    node.model = *rest == ':' ? rest + 1 : CLUSTER_MODEL_DEFAULT;
    if (node.model[0] == '\0' || strlen(node.model) > CSV_TEXT_BYTES_MAX)
        return err_set(err, -EINVAL, "cluster '%.40s': the model must be 1 to %d bytes", spec,
                       CSV_TEXT_BYTES_MAX);
    node.name = "node";
    if (cluster_add_many(reader, &node, count, err) < 0)
        return err_prefix(err, -EINVAL, "cluster '%.40s': ", spec);
    return 1;
}

static int load_file(struct cluster_reader *reader, const char *path, struct err *err)
{
    struct doc doc;
    struct csv csv;
    int rc;

    if (is_csv_name(path)) {
        rc = csv_open(&csv, path, err);
        return rc < 0 ? rc : read_csv(reader, &csv, err);
    }
    reader->folder = links_folder(&reader->out->arena, path);
    doc_init(&doc, path, &reader->out->arena);
    rc = doc_load(&doc, path, err);
    if (rc == 0)
        rc = cluster_read_doc(reader, &doc, err);
    doc_done(&doc);
    return rc;
}

int cluster_load(const char *spec, struct cluster *out, struct err *err)
{
    struct cluster_reader reader;
    int rc = 0;

    begin(&reader, out);
    if (access(spec, F_OK) != 0) {
        int code = errno;

        rc = short_text(spec, &reader, err);
        if (rc == 0)
            rc = err_set(err, -code,
                         "cannot open cluster %s: %s (wanted a file, or a short text "
                         "such as 72x8)",
                         quote_of(spec).text, strerror(code));
    }
    if (rc == 0)
        rc = load_file(&reader, spec, err);
    return finish(&reader, spec, rc < 0 ? rc : 0, err);
}

int cluster_parse(const char *name, const void *bytes, size_t count, struct cluster *out,
                  struct err *err)
{
    struct cluster_reader reader;
    struct doc doc;
    struct csv csv;
    int rc;

    begin(&reader, out);
    if (is_csv_name(name)) {
        rc = csv_open_bytes(&csv, name, bytes, count, err);
        if (rc == 0)
            rc = read_csv(&reader, &csv, err);
    } else {
        doc_init(&doc, name, &out->arena);
        rc = doc_parse(&doc, bytes, count, err);
        if (rc == 0)
            rc = cluster_read_doc(&reader, &doc, err);
        doc_done(&doc);
    }
    return finish(&reader, name, rc, err);
}

void cluster_done(struct cluster *cluster)
{
    mem_free(cluster->nodes);
    arena_done(&cluster->arena);
    *cluster = (struct cluster){0};
}
