/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/tables.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
#include "wire/csv.h"

/* ---- restart costs -------------------------------------------------------------------------- */

static uint64_t cost_key(uint32_t model_id, uint32_t gpus)
{
    return (uint64_t)model_id << 32 | gpus;
}

static int read_cost(struct restart_costs *out, const struct csv *csv, const uint32_t *column,
                     struct err *err)
{
    const char *model = "";
    uint32_t gpus = 0;
    int64_t cost_us = 0;
    uint64_t key;
    int rc = csv_u32(csv, column[0], 1, UINT32_MAX, &gpus, err);

    if (rc == 0)
        rc = csv_name(csv, column[1], &model, err);
    if (rc == 0)
        rc = csv_number(csv, column[2], NUMBER_MICRO, 0, INT64_C(1) << 55, &cost_us, err);
    if (rc < 0)
        return rc;
    key = cost_key(names_intern(&out->arena.names, model), gpus);
    if (map_find(&out->cost_us_by_key, key, NULL))
        return csv_error(csv, column[1], err, -EEXIST, "'%s' on %u GPUs is there twice", model,
                         gpus);
    map_put(&out->cost_us_by_key, key, out->count);
    vec_push(out->costs_us, out->count, out->cap, cost_us);
    return 0;
}

/* Takes a CSV that is open (rc is 0) or not, and closes it. */
static int read_costs(struct restart_costs *out, struct csv *csv, int rc, struct err *err)
{
    static const char *const names[] = {"num_gpu", "model_name", "overhead_s"};
    uint32_t column[3];

    if (rc < 0)
        return rc;
    *out = (struct restart_costs){0};
    map_init(&out->cost_us_by_key);
    arena_init(&out->arena);
    rc = csv_find_all(csv, names, 3, column, err);
    while (rc == 0 && (rc = csv_next(csv, err)) > 0) {
        rc = read_cost(out, csv, column, err);
        if (rc == 0 && out->count > TABLE_ROWS_MAX)
            rc = csv_error(csv, column[0], err, -ERANGE, "more than %u rows", TABLE_ROWS_MAX);
    }
    csv_close(csv);
    if (rc < 0)
        restart_costs_done(out);
    return rc;
}

int restart_costs_load(const char *path, struct restart_costs *out, struct err *err)
{
    struct csv csv;

    return read_costs(out, &csv, csv_open(&csv, path, err), err);
}

int restart_costs_parse(const char *name, const void *bytes, size_t count,
                        struct restart_costs *out, struct err *err)
{
    struct csv csv;

    return read_costs(out, &csv, csv_open_bytes(&csv, name, bytes, count, err), err);
}

void restart_costs_done(struct restart_costs *costs)
{
    map_done(&costs->cost_us_by_key);
    mem_free(costs->costs_us);
    arena_done(&costs->arena);
    *costs = (struct restart_costs){0};
}

int64_t restart_costs_find_us(const struct restart_costs *costs, uint32_t gpus,
                              const char *model_name)
{
    uint32_t model = names_find(&costs->arena.names, model_name), row;

    if (model == NAMES_NONE || !map_find(&costs->cost_us_by_key, cost_key(model, gpus), &row))
        return -1;
    return costs->costs_us[row];
}

/* ---- nodes of virtual clusters -------------------------------------------------------------- */

static int read_vc(struct vc_nodes *out, const struct csv *csv, const uint32_t *column,
                   struct err *err)
{
    struct vc_node_count row;
    const char *vc = "";
    uint32_t nodes = 0;
    int rc = csv_name(csv, column[0], &vc, err);

    if (rc == 0)
        rc = csv_u32(csv, column[1], 0, NODES_MAX, &nodes, err);
    if (rc < 0)
        return rc;
    if (names_intern(&out->arena.names, vc) != out->count)
        return csv_error(csv, column[0], err, -EEXIST, "'%s' is there twice", vc);
    row = (struct vc_node_count){.vc = arena_intern(&out->arena, vc), .nodes = nodes};
    vec_push(out->rows, out->count, out->cap, row);
    return 0;
}

static int read_vcs(struct vc_nodes *out, struct csv *csv, int rc, struct err *err)
{
    static const char *const names[] = {"vc", "nodes_8gpu"};
    uint32_t column[2];

    if (rc < 0)
        return rc;
    *out = (struct vc_nodes){0};
    arena_init(&out->arena);
    rc = csv_find_all(csv, names, 2, column, err);
    while (rc == 0 && (rc = csv_next(csv, err)) > 0) {
        rc = read_vc(out, csv, column, err);
        if (rc == 0 && out->count > TABLE_ROWS_MAX)
            rc = csv_error(csv, column[0], err, -ERANGE, "more than %u rows", TABLE_ROWS_MAX);
    }
    csv_close(csv);
    if (rc < 0)
        vc_nodes_done(out);
    return rc;
}

int vc_nodes_load(const char *path, struct vc_nodes *out, struct err *err)
{
    struct csv csv;

    return read_vcs(out, &csv, csv_open(&csv, path, err), err);
}

int vc_nodes_parse(const char *name, const void *bytes, size_t count, struct vc_nodes *out,
                   struct err *err)
{
    struct csv csv;

    return read_vcs(out, &csv, csv_open_bytes(&csv, name, bytes, count, err), err);
}

void vc_nodes_done(struct vc_nodes *vcs)
{
    mem_free(vcs->rows);
    arena_done(&vcs->arena);
    *vcs = (struct vc_nodes){0};
}

/* ---- published results ---------------------------------------------------------------------- */

enum { TRACE, POLICY, METRIC, VALUE, PUBLISHED_COLUMNS };

/* Six decimals of "1370603.198"; what is behind them is cut. */
static int read_value(const struct csv *csv, uint32_t column, int64_t *out, struct err *err)
{
    const char *field = csv_field(csv, column), *point = strchr(field, '.');
    struct err detail;
    char cut[64];
    int rc;

    if (!point || strlen(point) <= 7 || (size_t)(point - field) + 8 > sizeof cut)
        return csv_number(csv, column, NUMBER_MICRO, INT64_MIN, INT64_MAX, out, err);
    memcpy(cut, field, (size_t)(point - field) + 7);
    cut[point - field + 7] = '\0';
    rc = number_parse(cut, NUMBER_MICRO, INT64_MIN, INT64_MAX, out, &detail);
    return rc < 0 ? csv_error(csv, column, err, rc, "%s", detail.text) : 0;
}

int published_find(const char *path, const char *trace, const char *policy, const char *metric,
                   int64_t *out_micro, struct err *err)
{
    static const char *const names[PUBLISHED_COLUMNS] = {"trace", "policy", "metric", "value"};
    uint32_t column[PUBLISHED_COLUMNS];
    struct csv csv;
    bool found = false;
    int rc = csv_open(&csv, path, err);

    if (rc < 0)
        return rc;
    rc = csv_find_all(&csv, names, PUBLISHED_COLUMNS, column, err);
    while (rc == 0 && !found && (rc = csv_next(&csv, err)) > 0) {
        rc = 0;
        found = strcmp(csv_field(&csv, column[TRACE]), trace) == 0 &&
                strcmp(csv_field(&csv, column[POLICY]), policy) == 0 &&
                strcmp(csv_field(&csv, column[METRIC]), metric) == 0;
        if (found)
            rc = read_value(&csv, column[VALUE], out_micro, err);
    }
    csv_close(&csv);
    return rc < 0 ? rc : found;
}
