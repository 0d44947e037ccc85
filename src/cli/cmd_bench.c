/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_bench.c - berth bench: measure placements per second, and what many waiting jobs cost. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/scan.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/report.h"
#include "sim/bench.h"
#include "sim/bench_levels.h"
#include "sim/bench_subset.h"
#include "sim/bench_waiting.h"
#include "wire/json_out.h"

#define SIZES_MAX    16u
#define NODES_LIMIT  1000000
#define POLICIES_MAX 16u
#define WAITING_MAX  10000000
#define CHOICES      1000000u

struct bench_args {
    const char *trace, *policy, *nodes, *placements, *waiting;
    bool json, help;
};

static void write_waiting(struct json_out *json, const struct bench_waiting_result *w)
{
    json_key(json, "waiting");
    json_object_begin(json);
    json_key_u64(json, "nodes", w->nodes);
    json_key_u64(json, "waiting_jobs", w->waiting);
    json_key_u64(json, "running_jobs", w->running);
    json_key_u64(json, "shapes", w->shapes);
    json_key_i64(json, "step_p50_ns", w->step_p50_ns);
    json_key_i64(json, "step_p99_ns", w->step_p99_ns);
    json_key_i64(json, "explain_p50_ns", w->explain_p50_ns);
    json_key_i64(json, "explain_p99_ns", w->explain_p99_ns);
    json_key_i64(json, "forward_ns", w->forward_ns);
    json_key_u64(json, "hopeless_jobs", w->hopeless);
    json_key_i64(json, "step_with_hopeless_ns", w->with_ns);
    json_key_i64(json, "step_without_ns", w->without_ns);
    json_key_fixed(json, "ratio", w->ratio_ppm, 6);
    json_object_end(json);
}

static void print_waiting(const struct bench_waiting_result *w)
{
    printf("%u jobs of one shape that fits nowhere, in front of one that fits: step %.1f us, "
           "%.2f x that without them\n",
           w->hopeless, (double)w->with_ns / 1e3, (double)w->ratio_ppm / 1e6);
    printf("%u jobs of %u shapes wait on %u nodes, %u run: step p50 %.1f us, p99 %.1f us; explain "
           "p50 %.1f ms, p99 %.1f ms; forward run %.2f s\n",
           w->waiting, w->shapes, w->nodes, w->running, (double)w->step_p50_ns / 1e3,
           (double)w->step_p99_ns / 1e3, (double)w->explain_p50_ns / 1e6,
           (double)w->explain_p99_ns / 1e6, (double)w->forward_ns / 1e9);
}

static void write_subset(struct json_out *json, const struct bench_subset_result *s)
{
    json_key(json, "subset");
    json_object_begin(json);
    json_key_u64(json, "gpus", s->gpus);
    json_key_u64(json, "choices", s->choices);
    json_key_u64(json, "free_sets", s->free_sets);
    json_key_i64(json, "tables_ns", s->tables_ns);
    json_key_i64(json, "first_max_ns", s->first_max_ns);
    json_key_i64(json, "first_ns", s->first_ns);
    json_key_i64(json, "known_ns", s->known_ns);
    json_object_end(json);
}

static void print_subset(const struct bench_subset_result *s)
{
    printf("GPUs chosen by their links, %u on a node: %.2f us a choice of %u among %u free sets, "
           "tables and new answers counted; %.3f us once known; tables %.1f ms, dearest new answer "
           "%.1f us\n",
           s->gpus, (double)s->first_ns / 1e3, s->choices, s->free_sets, (double)s->known_ns / 1e3,
           (double)s->tables_ns / 1e6, (double)s->first_max_ns / 1e3);
}

static void write_levels(struct json_out *json, const struct bench_levels_result *l)
{
    json_key(json, "levels");
    json_object_begin(json);
    json_key_u64(json, "nodes", l->nodes);
    json_key_i64(json, "first_ns", l->first_ns);
    json_key_i64(json, "placed_p50_ns", l->placed_p50_ns);
    json_key_i64(json, "placed_max_ns", l->placed_max_ns);
    json_key_i64(json, "refused_p50_ns", l->refused_p50_ns);
    json_key_i64(json, "refused_max_ns", l->refused_max_ns);
    json_key_i64(json, "groups_p50_ns", l->groups_p50_ns);
    json_key_i64(json, "groups_max_ns", l->groups_max_ns);
    json_object_end(json);
}

static void print_levels(const struct bench_levels_result *l)
{
    printf("a gang of 1,024 GPUs in one spine and its groups each in one leaf, on %u nodes: placed "
           "in p50 %.2f ms, at most %.2f ms (%.2f ms with the tree of domains); refused in p50 "
           "%.2f ms, at most %.2f ms\n",
           l->nodes, (double)l->placed_p50_ns / 1e6, (double)l->placed_max_ns / 1e6,
           (double)l->first_ns / 1e6, (double)l->refused_p50_ns / 1e6,
           (double)l->refused_max_ns / 1e6);
    printf("1,000 tasks in 100 groups of 10, each in one rack, on 1,000 nodes in racks of 10: "
           "placed in p50 %.2f ms, at most %.2f ms\n",
           (double)l->groups_p50_ns / 1e6, (double)l->groups_max_ns / 1e6);
}

static void print_json(const struct bench_result *r, uint32_t count,
                       const struct bench_waiting_result *waiting,
                       const struct bench_subset_result *subset,
                       const struct bench_levels_result *levels)
{
    struct json_out json;
    struct text text;

    text_init(&text, 1u << 20);
    json_out_init(&json, &text);
    json_object_begin(&json);
    json_key(&json, "runs");
    json_array_begin(&json);
    for (uint32_t i = 0; i < count; i++) {
        json_object_begin(&json);
        json_key_string(&json, "policy", r[i].policy);
        json_key_u64(&json, "nodes", r[i].nodes);
        json_key_u64(&json, "node_states", r[i].states);
        json_key_u64(&json, "placements", r[i].placements);
        json_key_i64(&json, "placements_per_second", r[i].per_second);
        json_key_i64(&json, "step_p50_ns", r[i].step_p50_ns);
        json_key_i64(&json, "step_p99_ns", r[i].step_p99_ns);
        json_key_i64(&json, "step_max_ns", r[i].step_max_ns);
        json_key_fixed(&json, "allocated_pct", r[i].allocated_ppm, 4);
        json_key_u64(&json, "waiting_jobs", r[i].waiting);
        json_key_fixed(&json, "core_s", r[i].elapsed_us, 6);
        json_key_fixed(&json, "fill_core_s", r[i].fill_us, 6);
        json_object_end(&json);
    }
    json_array_end(&json);
    if (waiting->waiting > 0)
        write_waiting(&json, waiting);
    write_subset(&json, subset);
    write_levels(&json, levels);
    json_key_i64(&json, "peak_rss_bytes", peak_rss_bytes());
    json_object_end(&json);
    puts(text_str(&text));
    text_done(&text);
}

static void print_line(const struct bench_result *r, const struct bench_result *smallest)
{
    printf("%-10s %7u nodes  %7u states  %8" PRId64 " placements/s  %5.2f x the cost at %u  "
           "step p50 %6.1f us, p99 %7.1f us  %5.1f %% full\n",
           r->policy, r->nodes, r->states, r->per_second,
           (double)smallest->per_second / (double)(r->per_second > 0 ? r->per_second : 1),
           smallest->nodes, (double)r->step_p50_ns / 1e3, (double)r->step_p99_ns / 1e3,
           (double)r->allocated_ppm / 1e4);
    fflush(stdout);
}

static int read_sizes(const char *text, uint32_t *sizes, uint32_t *count, struct err *err)
{
    char copy[256], *rest = copy;

    if (strlen(text) >= sizeof copy)
        return err_set(err, -EINVAL, "--nodes: is too long");
    memcpy(copy, text, strlen(text) + 1);
    while (rest != NULL) {
        const char *item = strsep(&rest, ",");
        int64_t size;

        if (scan_i64(item, &size) < 0 || size < 1 || size > NODES_LIMIT)
            return err_set(err, -EINVAL, "--nodes: must be 1 to %d each, is '%s'", NODES_LIMIT,
                           item);
        if (*count == SIZES_MAX)
            return err_set(err, -EINVAL, "--nodes: at most %u sizes", SIZES_MAX);
        sizes[(*count)++] = (uint32_t)size;
    }
    return 0;
}

static int run_policy(const struct bench_args *args, const char *policy, const uint32_t *sizes,
                      uint32_t size_count, int64_t placements, const struct trace *trace,
                      struct bench_result *results, struct err *err)
{
    for (uint32_t i = 0; i < size_count; i++) {
        const struct bench_options options = {policy, sizes[i], (uint32_t)placements, 42};
        const int rc = bench_place(&options, trace, &results[i], err);

        if (rc < 0)
            return rc;
        if (!args->json)
            print_line(&results[i], &results[0]);
    }
    return 0;
}

/* A tenth as many nodes as jobs wait. */
static int run_waiting(int64_t waiting, bool quiet, struct bench_waiting_result *out,
                       struct err *err)
{
    struct bench_waiting_options options = {.steps = 1000, .explanations = 100, .seed = 42};
    int rc;

    *out = (struct bench_waiting_result){0};
    if (waiting == 0)
        return 0;
    options.waiting = (uint32_t)waiting;
    options.nodes = options.waiting / 10 > 0 ? options.waiting / 10 : 1;
    rc = bench_waiting(&options, out, err);
    if (rc == 0 && !quiet)
        print_waiting(out);
    return rc;
}

static int run_all(const struct bench_args *args, const struct trace *trace, struct err *err)
{
    struct bench_result results[SIZES_MAX * POLICIES_MAX];
    struct bench_waiting_result waiting;
    struct bench_subset_result subset;
    struct bench_levels_result levels;
    uint32_t sizes[SIZES_MAX], size_count = 0, count = 0;
    char policies[256], *rest = policies;
    int64_t placements = 200000, waiting_jobs = 0;
    int rc = read_sizes(args->nodes, sizes, &size_count, err);

    if (rc < 0)
        return rc;
    if (scan_i64(args->placements, &placements) < 0 || placements < 100 || placements > 100000000)
        return err_set(err, -EINVAL, "--placements: must be 100 to 100000000, is '%s'",
                       args->placements);
    if (scan_i64(args->waiting, &waiting_jobs) < 0 || waiting_jobs < 0 ||
        waiting_jobs > WAITING_MAX)
        return err_set(err, -EINVAL, "--waiting: must be 0 to %d, is '%s'", WAITING_MAX,
                       args->waiting);
    if (strlen(args->policy) >= sizeof policies)
        return err_set(err, -EINVAL, "--policy: is too long");
    memcpy(policies, args->policy, strlen(args->policy) + 1);
    for (uint32_t p = 0; rest != NULL && p < POLICIES_MAX; p++, count += size_count) {
        rc = run_policy(args, strsep(&rest, ","), sizes, size_count, placements, trace,
                        &results[count], err);
        if (rc < 0)
            return rc;
    }
    rc = run_waiting(waiting_jobs, args->json, &waiting, err);
    if (rc < 0)
        return rc;
    bench_subset(CHOICES, 42, &subset);
    rc = bench_levels(42, &levels, err);
    if (rc < 0)
        return rc;
    if (args->json) {
        print_json(results, count, &waiting, &subset, &levels);
        return 0;
    }
    print_subset(&subset);
    print_levels(&levels);
    printf("peak memory of the process: %.1f MiB\n", (double)peak_rss_bytes() / 1048576.0);
    return 0;
}

int cmd_bench(int argc, char **argv)
{
    struct bench_args args = {
        .trace = "data/fgd/openb_pod_list_default.csv",
        .policy = "bestfit,berth",
        .nodes = "1000,10000,100000",
        .placements = "200000",
        .waiting = "100000",
    };
    const struct option_spec specs[] = {
        {"trace", "FILE[:NAME]", "the shapes (default data/fgd/openb_pod_list_default.csv)",
         &args.trace, NULL},
        {"policy", "P,...", "default bestfit,berth", &args.policy, NULL},
        {"nodes", "N,...", "sizes of the cluster (default 1000,10000,100000)", &args.nodes, NULL},
        {"placements", "N", "to measure (default 200000)", &args.placements, NULL},
        {"waiting", "N",
         "how many jobs wait when steps and explanations are measured; 0: they are not (default "
         "100000)",
         &args.waiting, NULL},
        {"json", NULL, "print one JSON object", NULL, &args.json},
        {"help", NULL, "this text", NULL, &args.help},
    };
    const size_t count = sizeof specs / sizeof specs[0];
    struct err err = {""};
    struct trace trace;
    int rc = options_parse(specs, count, argc, argv, &err);

    if (rc >= 0 && args.help) {
        puts("usage: berth bench [OPTION...]\n");
        options_help(specs, count);
        return EXIT_OK;
    }
    if (rc > 0)
        rc = err_set(&err, -EINVAL, "'%s': is no option", argv[1]);
    rc = rc < 0 ? rc : trace_load(args.trace, &trace, &err);
    if (rc == 0) {
        rc = run_all(&args, &trace, &err);
        trace_done(&trace);
    }
    if (rc < 0)
        command_complain("bench", &err);
    return rc < 0 ? EXIT_USAGE : EXIT_OK;
}
