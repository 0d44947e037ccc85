/* SPDX-License-Identifier: Apache-2.0 */
#include "run/environment.h"

#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/map.h"
#include "base/text.h"
#include "base/vec.h"

/* Variables that are in the making: the last of a name counts. */
struct variables {
    const char **items; /* [count] borrowed */
    uint32_t count, cap;
    struct map by_name;
    struct text own; /* "NAME=value" of berth's, each ended by a zero byte */
};

static size_t name_length(const char *variable)
{
    return strcspn(variable, "=");
}

/* A hash may be that of two names: the probes after it are numbered. */
static uint64_t name_hash(const char *variable, uint64_t probe)
{
    const size_t length = name_length(variable);
    struct digest digest;

    digest_init(&digest);
    for (size_t i = 0; i < length; i++)
        digest_u64(&digest, (unsigned char)variable[i]);
    digest_u64(&digest, probe);
    return digest_value(&digest);
}

static bool same_name(const char *a, const char *b)
{
    const size_t length = name_length(a);

    return length == name_length(b) && memcmp(a, b, length) == 0;
}

static void put(struct variables *vars, const char *variable)
{
    for (uint64_t probe = 0;; probe++) {
        const uint64_t hash = name_hash(variable, probe);
        uint32_t at;

        if (!map_find(&vars->by_name, hash, &at)) {
            map_put(&vars->by_name, hash, vars->count);
            vec_push(vars->items, vars->count, vars->cap, variable);
            return;
        }
        if (same_name(vars->items[at], variable)) {
            vars->items[at] = variable;
            return;
        }
    }
}

static void own_number(struct text *own, const char *name, uint64_t number)
{
    text_addf(own, "%s=%llu", name, (unsigned long long)number);
    text_add_bytes(own, "", 1);
}

static void own_devices(struct text *own, const struct run_spec *spec)
{
    text_add(own, "CUDA_VISIBLE_DEVICES=");
    for (uint32_t i = 0; i < spec->device_count; i++) {
        text_add(own, i == 0 ? "" : ",");
        text_add(own, spec->devices[i]);
    }
    text_add_bytes(own, "", 1);
    text_add(own, "CUDA_DEVICE_ORDER=PCI_BUS_ID");
    text_add_bytes(own, "", 1);
}

static void own_place(struct text *own, const struct run_spec *spec)
{
    if (spec->world_size == 0)
        return;
    own_number(own, "RANK", spec->rank);
    own_number(own, "WORLD_SIZE", spec->world_size);
    own_number(own, "LOCAL_RANK", spec->local_rank);
    if (spec->master_address[0] != '\0') {
        text_addf(own, "MASTER_ADDR=%s", spec->master_address);
        text_add_bytes(own, "", 1);
    }
    if (spec->master_port != 0)
        own_number(own, "MASTER_PORT", spec->master_port);
}

void run_mark(struct process_id shepherd, char out[RUN_MARK_BYTES])
{
    snprintf(out, RUN_MARK_BYTES, RUN_MARK_NAME "=%d.%llu", (int)shepherd.pid,
             (unsigned long long)shepherd.start);
}

static void own_all(struct text *own, const struct run_spec *spec, struct process_id shepherd)
{
    char mark[RUN_MARK_BYTES];

    run_mark(shepherd, mark);
    text_add_bytes(own, mark, strlen(mark) + 1);
    own_number(own, "BERTH_JOB_ID", spec->key.job_id);
    own_number(own, "BERTH_TASK", spec->key.task);
    own_place(own, spec);
    own_devices(own, spec);
}

/* Pointers first, then all texts behind them. */
static char **pack(const struct variables *vars)
{
    size_t bytes = 0;
    char **out, *at;

    for (uint32_t i = 0; i < vars->count; i++)
        bytes += strlen(vars->items[i]) + 1;
    out = mem_alloc((vars->count + 1) * sizeof *out + bytes, 1);
    at = (char *)&out[vars->count + 1];
    for (uint32_t i = 0; i < vars->count; i++) {
        const size_t length = strlen(vars->items[i]) + 1;

        memcpy(at, vars->items[i], length);
        out[i] = at;
        at += length;
    }
    return out;
}

char **run_environment(const struct run_spec *spec, struct process_id shepherd)
{
    struct variables vars = {0};
    char **out;

    map_init(&vars.by_name);
    text_init(&vars.own, RUN_SPEC_BYTES_MAX);
    own_all(&vars.own, spec, shepherd);
    for (uint32_t i = 0; i < spec->env_count; i++)
        put(&vars, spec->env[i]);
    for (size_t at = 0; at < vars.own.used; at += strlen(vars.own.bytes + at) + 1)
        put(&vars, vars.own.bytes + at);
    for (uint32_t i = 0; i < spec->set_count; i++)
        put(&vars, spec->set[i]);
    out = pack(&vars);
    text_done(&vars.own);
    map_done(&vars.by_name);
    mem_free(vars.items);
    return out;
}
