/* SPDX-License-Identifier: Apache-2.0 */
/* runtimes.c - the table of tables.h that says how long a job runs on each placement. */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "base/vec.h"
#include "wire/csv.h"
#include "wire/tables.h"

enum { APPLICATION, NUM_REPLICAS, BATCH_SIZE, PLACEMENT, NUM_NODES, RUNTIME_S, COLUMNS };

enum { PLACEMENT_NODES_MAX = 256 };

/* "4-4-2" is 4, 4 and 2 GPUs on three nodes. */
static int read_placement(const struct csv *csv, uint32_t column, struct arena *arena,
                          struct runtime *out, struct err *err)
{
    const char *at = csv_field(csv, column);
    uint32_t nodes[PLACEMENT_NODES_MAX], count = 0, sum = 0, *copy;

    for (;;) {
        uint32_t gpus = 0;
        size_t len = strspn(at, "0123456789");

        for (size_t i = 0; i < len && i < 4; i++)
            gpus = gpus * 10 + (uint32_t)(at[i] - '0');
        if (len == 0 || len > 3 || gpus == 0 || gpus > NODE_GPUS_MAX ||
            count == PLACEMENT_NODES_MAX || (count > 0 && gpus > nodes[count - 1]))
            return csv_error(csv, column, err, -EINVAL,
                             "must be GPUs of each node, 1 to %d and not increasing, such as 4-4-2",
                             NODE_GPUS_MAX);
        nodes[count++] = gpus;
        sum += gpus;
        at += len;
        if (*at == '\0')
            break;
        at += *at == '-'; /* anything else fails as a number */
    }
    if (sum != out->replicas)
        return csv_error(csv, column, err, -EINVAL, "has %u GPUs, num_replicas is %u", sum,
                         out->replicas);
    copy = arena_alloc(arena, count, sizeof *copy);
    memcpy(copy, nodes, count * sizeof *copy);
    out->gpus_per_node = copy;
    out->node_count = count;
    return 0;
}

static int read_row(struct runtimes *out, const struct csv *csv, const uint32_t *column,
                    struct err *err)
{
    struct runtime row = {0};
    const char *application = "";
    int rc = csv_name(csv, column[APPLICATION], &application, err);

    if (rc == 0)
        rc = csv_u32(csv, column[NUM_REPLICAS], 1, NODE_GPUS_MAX * PLACEMENT_NODES_MAX,
                     &row.replicas, err);
    if (rc == 0)
        rc = csv_u32(csv, column[BATCH_SIZE], 0, UINT32_MAX, &row.batch_size, err);
    if (rc == 0)
        rc = read_placement(csv, column[PLACEMENT], &out->arena, &row, err);
    if (rc == 0)
        rc = csv_number(csv, column[NUM_NODES], NUMBER_WHOLE, row.node_count, row.node_count,
                        &(int64_t){0}, err);
    if (rc == 0)
        rc = csv_number(csv, column[RUNTIME_S], NUMBER_MICRO, 1, INT64_C(1) << 55, &row.runtime_us,
                        err);
    if (rc == 0 && out->count >= TABLE_ROWS_MAX)
        rc = csv_error(csv, column[APPLICATION], err, -ERANGE, "more than %u rows", TABLE_ROWS_MAX);
    if (rc < 0)
        return rc;
    row.application = arena_intern(&out->arena, application);
    vec_push(out->rows, out->count, out->cap, row);
    return 0;
}

static int compare_kind(const struct runtime *a, const char *application, uint32_t replicas,
                        uint32_t batch_size)
{
    int text = strcmp(a->application, application);

    if (text != 0)
        return text;
    if (a->replicas != replicas)
        return a->replicas < replicas ? -1 : 1;
    return a->batch_size < batch_size ? -1 : a->batch_size > batch_size;
}

static int compare_rows(const void *a, const void *b, void *arg)
{
    const struct runtime *row = b;

    (void)arg;
    return compare_kind(a, row->application, row->replicas, row->batch_size);
}

static int read_rows(struct runtimes *out, struct csv *csv, int rc, struct err *err)
{
    static const char *const names[COLUMNS] = {"application", "num_replicas",
                                               "batch_size",  "placement_gpus_per_node",
                                               "num_nodes",   "runtime_s"};
    uint32_t column[COLUMNS];

    if (rc < 0)
        return rc;
    *out = (struct runtimes){0};
    arena_init(&out->arena);
    rc = csv_find_all(csv, names, COLUMNS, column, err);
    while (rc == 0 && (rc = csv_next(csv, err)) > 0)
        rc = read_row(out, csv, column, err);
    csv_close(csv);
    if (rc < 0)
        runtimes_done(out);
    else
        sort_stable(out->rows, out->count, sizeof *out->rows, compare_rows, NULL);
    return rc;
}

int runtimes_load(const char *path, struct runtimes *out, struct err *err)
{
    struct csv csv;

    return read_rows(out, &csv, csv_open(&csv, path, err), err);
}

int runtimes_parse(const char *name, const void *bytes, size_t count, struct runtimes *out,
                   struct err *err)
{
    struct csv csv;

    return read_rows(out, &csv, csv_open_bytes(&csv, name, bytes, count, err), err);
}

void runtimes_done(struct runtimes *runtimes)
{
    mem_free(runtimes->rows);
    arena_done(&runtimes->arena);
    *runtimes = (struct runtimes){0};
}

const struct runtime *runtimes_find(const struct runtimes *runtimes, const char *application,
                                    uint32_t replicas, uint32_t batch_size, uint32_t *out_count)
{
    uint32_t low = 0, high = runtimes->count, end;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;

        if (compare_kind(&runtimes->rows[mid], application, replicas, batch_size) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    end = low;
    while (end < runtimes->count &&
           compare_kind(&runtimes->rows[end], application, replicas, batch_size) == 0)
        end++;
    *out_count = end - low;
    return end > low ? &runtimes->rows[low] : NULL;
}
