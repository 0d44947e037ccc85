/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/cluster_read.h"

#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "base/vec.h"
#include "wire/csv.h"
#include "wire/fields.h"
#include "wire/links_doc.h"
#include "wire/modes_doc.h"
#include "wire/quote.h"

int cluster_add(struct cluster_reader *reader, const struct node_spec *node, struct err *err)
{
    struct cluster *out = reader->out;
    struct node_spec copy = *node;

    if (out->node_count >= CLUSTER_NODES_MAX)
        return err_set(err, -ERANGE, "more than %u nodes", CLUSTER_NODES_MAX);
    if (names_intern(&reader->seen, node->name) != out->node_count)
        return err_set(err, -EEXIST, "node %s is there twice", quote_of(node->name).text);
    copy.name = arena_intern(&out->arena, node->name);
    copy.model = node->gpus > 0 ? arena_intern(&out->arena, node->model) : "";
    out->gpu_count += node->gpus;
    vec_push(out->nodes, out->node_count, out->node_cap, copy);
    return 0;
}

int cluster_add_many(struct cluster_reader *reader, const struct node_spec *node, uint32_t count,
                     struct err *err)
{
    char name[CSV_TEXT_BYTES_MAX + 16];
    struct node_spec copy = *node;
    int rc = 0;

    copy.name = name;
    for (uint32_t i = 0; i < count && rc == 0; i++) {
        snprintf(name, sizeof name, "%s-%u", node->name, i);
        rc = cluster_add(reader, &copy, err);
    }
    return rc;
}

/* ---- YAML and JSON -------------------------------------------------------------------------- */

struct node_text {
    const char *name, *model;
    uint32_t count, gpus, compute_factor, mps_clients;
    int64_t gpu_memory_bytes, gpu_context_bytes, cpu_mcpu, memory_bytes;
    struct field_texts labels;
    const struct doc_node *links, *modes;
};

#define AT(member) offsetof(struct node_text, member)

static const struct field node_fields[] = {
    {"name", FIELD_NAME, NUMBER_WHOLE, true, AT(name), 0, 0},
    {"count", FIELD_U32, NUMBER_WHOLE, false, AT(count), 1, CLUSTER_NODES_MAX},
    {"model", FIELD_NAME, NUMBER_WHOLE, false, AT(model), 0, 0},
    {"gpus", FIELD_U32, NUMBER_WHOLE, false, AT(gpus), 0, NODE_GPUS_MAX},
    {"gpu-memory", FIELD_I64, NUMBER_BYTES, false, AT(gpu_memory_bytes), 1, MEMORY_BYTES_MAX},
    {"cpus", FIELD_I64, NUMBER_MILLI, true, AT(cpu_mcpu), 0, CPU_MCPU_MAX},
    {"memory", FIELD_I64, NUMBER_BYTES, true, AT(memory_bytes), 0, MEMORY_BYTES_MAX},
    {"labels", FIELD_LABELS, NUMBER_WHOLE, false, AT(labels), 0, SELECTOR_TERMS_MAX},
    {"modes", FIELD_NODE, NUMBER_WHOLE, false, AT(modes), 0, 0},
    {"gpu-context", FIELD_I64, NUMBER_BYTES, false, AT(gpu_context_bytes), 0, MEMORY_BYTES_MAX},
    {"compute-factor", FIELD_U32, NUMBER_MILLI, false, AT(compute_factor), 1000,
     COMPUTE_FACTOR_MAX},
    {"mps-clients", FIELD_U32, NUMBER_WHOLE, false, AT(mps_clients), 1, MPS_CLIENTS_MAX},
    {"links", FIELD_NODE, NUMBER_WHOLE, false, AT(links), 0, 0},
};

static int read_node(struct cluster_reader *reader, const struct doc *doc,
                     const struct doc_node *node, struct err *err)
{
    struct node_text text = {.model = CLUSTER_MODEL_DEFAULT};
    struct node_spec spec;
    struct err detail;
    int rc =
        fields_read(doc, node, node_fields, sizeof node_fields / sizeof *node_fields, &text, err);

    if (rc < 0)
        return rc;
    spec = (struct node_spec){.name = text.name,
                              .model = text.model,
                              .gpus = text.gpus,
                              .gpu_memory_bytes = text.gpus ? text.gpu_memory_bytes : 0,
                              .cpu_mcpu = text.cpu_mcpu,
                              .memory_bytes = text.memory_bytes,
                              .labels = text.labels.items,
                              .label_count = text.labels.count,
                              .gpu_context_bytes = text.gpu_context_bytes,
                              .compute_factor = text.compute_factor,
                              .mps_clients = text.mps_clients};
    if (text.modes != NULL)
        rc = modes_read(doc, text.modes, &spec.modes, err);
    if (rc == 0 && text.links != NULL)
        rc = links_read(doc, text.links, text.gpus, text.model, reader->folder, &spec.links_mbps,
                        err);
    if (rc < 0)
        return rc;
    rc = text.count ? cluster_add_many(reader, &spec, text.count, &detail)
                    : cluster_add(reader, &spec, &detail);
    return rc < 0 ? doc_error(doc, node, err, rc, "%s", detail.text) : 0;
}

int cluster_read_doc(struct cluster_reader *reader, const struct doc *doc, struct err *err)
{
    static const struct field fields[] = {{"nodes", FIELD_NODE, NUMBER_WHOLE, true, 0, 0, 0}};
    const struct doc_node *root = doc_first(doc, doc_root(doc)), *list = NULL;
    int rc;

    if (!root)
        return err_set(err, -EINVAL, "%s: no node in it", doc->name);
    if (doc_next(doc, root))
        return doc_error(doc, doc_next(doc, root), err, -EINVAL,
                         "a second document, but a cluster is only one");
    rc = fields_read(doc, root, fields, 1, &list, err);
    if (rc == 0)
        rc = doc_want_list(doc, list, CLUSTER_NODES_MAX, err);
    if (rc < 0)
        return rc;
    for (const struct doc_node *n = doc_first(doc, list); n && rc == 0; n = doc_next(doc, n))
        rc = read_node(reader, doc, n, err);
    return rc;
}

/* ---- sn,cpu_milli,memory_mib,gpu,model ------------------------------------------------------ */

enum { SN, CPU_MILLI, MEMORY_MIB, GPU, MODEL, OPENB_COLUMNS };

static int read_openb_row(struct cluster_reader *reader, const struct csv *csv,
                          const uint32_t *column, struct err *err)
{
    struct node_spec node = {0};
    struct err detail;
    int rc = csv_name(csv, column[SN], &node.name, err);

    if (rc == 0)
        rc = csv_number(csv, column[CPU_MILLI], NUMBER_WHOLE, 0, CPU_MCPU_MAX, &node.cpu_mcpu, err);
    if (rc == 0)
        rc = csv_number(csv, column[MEMORY_MIB], NUMBER_MIB, 0, MEMORY_BYTES_MAX,
                        &node.memory_bytes, err);
    if (rc == 0)
        rc = csv_u32(csv, column[GPU], 0, NODE_GPUS_MAX, &node.gpus, err);
    if (rc == 0)
        rc = node.gpus > 0 ? csv_name(csv, column[MODEL], &node.model, err)
                           : csv_text(csv, column[MODEL], &node.model, err);
    if (rc < 0)
        return rc;
    rc = cluster_add(reader, &node, &detail);
    return rc < 0 ? csv_error(csv, column[SN], err, rc, "%s", detail.text) : 0;
}

int cluster_read_openb(struct cluster_reader *reader, struct csv *csv, struct err *err)
{
    static const char *const names[OPENB_COLUMNS] = {"sn", "cpu_milli", "memory_mib", "gpu",
                                                     "model"};
    uint32_t column[OPENB_COLUMNS];
    int rc = csv_find_all(csv, names, OPENB_COLUMNS, column, err);

    while (rc == 0 && (rc = csv_next(csv, err)) > 0)
        rc = read_openb_row(reader, csv, column, err);
    return rc;
}

/* ---- num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node ------------------- */

enum { SWITCHES, NODES, GPUS, CPUS, MEM, MURI_COLUMNS };

static int read_muri_row(struct cluster_reader *reader, const struct csv *csv,
                         const uint32_t *column, struct err *err)
{
    struct node_spec node = {.name = "node", .model = CLUSTER_MODEL_DEFAULT};
    uint32_t switches = 0, nodes = 0;
    struct err detail;
    int rc = csv_u32(csv, column[SWITCHES], 1, 4096, &switches, err);

    if (rc == 0)
        rc = csv_u32(csv, column[NODES], 1, CLUSTER_NODES_MAX / 4096, &nodes, err);
    if (rc == 0)
        rc = csv_u32(csv, column[GPUS], 0, NODE_GPUS_MAX, &node.gpus, err);
    if (rc == 0)
        rc = csv_number(csv, column[CPUS], NUMBER_MILLI, 0, CPU_MCPU_MAX, &node.cpu_mcpu, err);
    if (rc == 0)
        rc = csv_number(csv, column[MEM], NUMBER_GIB, 0, MEMORY_BYTES_MAX, &node.memory_bytes, err);
    if (rc < 0)
        return rc;
    rc = cluster_add_many(reader, &node, switches * nodes, &detail);
    return rc < 0 ? csv_error(csv, column[NODES], err, rc, "%s", detail.text) : 0;
}

int cluster_read_muri(struct cluster_reader *reader, struct csv *csv, struct err *err)
{
    static const char *const names[MURI_COLUMNS] = {
        "num_switch", "num_node_p_switch", "num_gpu_p_node", "num_cpu_p_node", "mem_p_node"};
    uint32_t column[MURI_COLUMNS];
    int rc = csv_find_all(csv, names, MURI_COLUMNS, column, err);

    if (rc == 0)
        rc = csv_next(csv, err);
    if (rc > 0)
        rc = read_muri_row(reader, csv, column, err);
    if (rc == 0 && (rc = csv_next(csv, err)) > 0)
        return err_set(err, -EINVAL, "%s:%u: a second row, but a cluster is only one",
                       csv->input.name, csv->input.line_number);
    return rc;
}
