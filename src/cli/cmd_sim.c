/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_sim.c - berth sim: schedule a trace on a cluster, and show how well. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/scan.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/report.h"
#include "policy/registry.h"
#include "sim/by_queue.h"
#include "sim/explain_at.h"
#include "sim/partition.h"
#include "sim/protocol.h"
#include "sim/run.h"
#include "sim/trace_check.h"
#include "wire/config_file.h"

#define RUNS_MAX           10000u
#define LIST_MAX           64u
#define ARRIVE_PCT_MAX     1000
#define TIME_OPTION_US_MAX (1000LL * 31557600 * 1000000) /* 1000 years */

struct list {
    char *text; /* owned, cut at the commas */
    const char *items[LIST_MAX];
    uint32_t count;
};

struct sim_args {
    const char *cluster, *trace, *policy, *order, *seeds, *arrive_until, *steady, *lifetimes;
    const char *partition, *partition_share, *config, *jitter, *reservation_depth;
    const char *restart_cost, *checkpoint_every, *protocol, *mix, *events, *explain;
    bool json, csv, check, queues, help;
    struct config_file config_file;
    struct list policies, orders;
    uint64_t seed_first, seed_last;
    struct run_options run;
    struct explain_at asked;
    char asked_job[256];
};

static void list_all(void)
{
    puts("\npolicies (the first is the default):");
    for (uint32_t i = 0; placement_at(i) != NULL; i++)
        printf("  %-12s %s\n", placement_at(i)->name, placement_at(i)->summary);
    puts("\norders (the first is the default):");
    for (uint32_t i = 0; order_at(i) != NULL; i++)
        printf("  %-12s %s\n", order_at(i)->name, order_at(i)->summary);
    puts("\nprotocols:");
    for (uint32_t i = 0; protocol_at(i) != NULL; i++)
        printf("  %-12s %s\n", protocol_at(i)->name, protocol_at(i)->summary);
}

/* Options that do not go together, or not without another. */
static int check_together(const struct sim_args *a, struct err *err)
{
    if (a->cluster != NULL && a->partition != NULL)
        return err_set(err, -EINVAL, "--cluster and --partition: only one of them");
    if (a->steady != NULL && a->arrive_until != NULL)
        return err_set(err, -EINVAL, "--steady and --arrive-until: only one of them");
    if ((a->cluster == NULL && a->partition == NULL) || a->trace == NULL)
        return err_set(err, -EINVAL,
                       "--trace and one of --cluster, --partition are needed; "
                       "--help shows how");
    if (a->partition_share != NULL && a->partition == NULL)
        return err_set(err, -EINVAL, "--partition-share: goes with --partition");
    if (a->json + a->csv + a->queues > 1)
        return err_set(err, -EINVAL, "--json, --csv and --queues: only one of them");
    if (a->explain != NULL && (a->csv || a->queues))
        return err_set(err, -EINVAL, "--explain: prints sentences, or JSON with --json");
    return 0;
}

static int parse_args(struct sim_args *a, int argc, char **argv, struct err *err)
{
    const struct option_spec specs[] = {
        {"cluster", "FILE", "nodes: a YAML, JSON or openb CSV file, or text such as 72x8",
         &a->cluster, NULL},
        {"trace", "FILE[:NAME]", "jobs: openb, muri, pollux, philly or generic CSV, also .gz",
         &a->trace, NULL},
        {"partition", "FILE",
         "each queue alone on its nodes of FILE (vc,nodes_8gpu); instead of --cluster",
         &a->partition, NULL},
        {"partition-share", "PCT", "of these nodes (default 100)", &a->partition_share, NULL},
        {"config", "FILE",
         "queues, priority classes and rules: a YAML or JSON file; its placement "
         "and order are those of --policy and --order",
         &a->config, NULL},
        {"queues", NULL, "print CSV of what the run was like for each queue", NULL, &a->queues},
        {"policy", "P,...", "where jobs go (default berth)", &a->policy, NULL},
        {"order", "O,...", "who goes first (default fifo)", &a->order, NULL},
        {"reservation-depth", "N|all",
         "jobs that have a reservation (default 0, or as --config says); all: slow if many wait",
         &a->reservation_depth, NULL},
        {"seeds", "N[-M]", "one run for each seed (default 42)", &a->seeds, NULL},
        {"arrive-until", "PCT",
         "pods arrive in random order until so much GPU compute was "
         "asked for, and stay; 0: use the trace's times (default 130 for "
         "openb, else 0)",
         &a->arrive_until, NULL},
        {"steady", "PCT", "jobs come and go at this load instead", &a->steady, NULL},
        {"lifetimes", "N", "mean lifetimes measured with --steady (default 5)", &a->lifetimes,
         NULL},
        {"jitter", "TIME",
         "with the trace's times: each job arrives later by up to so much, drawn by the seed "
         "(default 0s)",
         &a->jitter, NULL},
        {"restart-cost", "TIME", "a job runs so much longer after each restart (default 60s)",
         &a->restart_cost, NULL},
        {"checkpoint-every", "TIME",
         "what was done since the last one is lost when a job stops; "
         "0s: nothing is (default 0s)",
         &a->checkpoint_every, NULL},
        {"protocol", "NAME", "how jobs make progress (default none)", &a->protocol, NULL},
        {"mix", "trace|learned",
         "what fgd knows of the demand: the trace's shapes, or what came (default learned)",
         &a->mix, NULL},
        {"events", "FILE", "record the events of the run, for berth replay; one run only",
         &a->events, NULL},
        {"explain", "JOB@TIME",
         "stop at this time and say why the job waits, when it starts and what would start it now; "
         "one run only",
         &a->explain, NULL},
        {"check", NULL, "check all rules after every step (slow)", NULL, &a->check},
        {"json", NULL, "print one JSON object", NULL, &a->json},
        {"csv", NULL, "print CSV", NULL, &a->csv},
        {"help", NULL, "this text", NULL, &a->help},
    };
    const size_t count = sizeof specs / sizeof specs[0];
    const int left = options_parse(specs, count, argc, argv, err);

    if (left < 0)
        return left;
    if (a->help) {
        puts("usage: berth sim --cluster FILE --trace FILE[:NAME] [OPTION...]\n");
        options_help(specs, count);
        list_all();
        return 0;
    }
    if (left > 0)
        return err_set(err, -EINVAL, "'%s': is no option", argv[1]);
    return check_together(a, err);
}

static int split(struct list *list, const char *option, const char *text, struct err *err)
{
    char *rest = list->text = strdup(text);

    while (rest != NULL) {
        if (list->count == LIST_MAX)
            return err_set(err, -EINVAL, "--%s: at most %u names", option, LIST_MAX);
        list->items[list->count++] = strsep(&rest, ",");
    }
    return list->count > 0 ? 0 : err_set(err, -ENOMEM, "--%s: no memory", option);
}

static int read_lists(struct sim_args *a, struct err *err)
{
    int rc =
        split(&a->policies, "policy", a->policy != NULL ? a->policy : placement_at(0)->name, err);

    rc = rc < 0 ? rc
                : split(&a->orders, "order", a->order != NULL ? a->order : order_at(0)->name, err);
    if (rc < 0)
        return rc;
    for (uint32_t i = 0; i < a->policies.count; i++)
        if (placement_find(a->policies.items[i]) == NULL)
            return err_set(err, -EINVAL, "--policy: '%s': no such policy; --help lists them",
                           a->policies.items[i]);
    for (uint32_t i = 0; i < a->orders.count; i++)
        if (order_find(a->orders.items[i]) == NULL)
            return err_set(err, -EINVAL, "--order: '%s': no such order; --help lists them",
                           a->orders.items[i]);
    return 0;
}

static int read_number(const char *option, const char *text, int64_t least, int64_t most,
                       int64_t *out, struct err *err)
{
    if (scan_i64(text, out) < 0 || *out < least || *out > most)
        return err_set(err, -EINVAL, "--%s: must be %" PRId64 " to %" PRId64 ", is '%s'", option,
                       least, most, text);
    return 0;
}

static int read_time(const char *option, const char *text, int64_t *out, struct err *err)
{
    if (text != NULL && (scan_duration_us(text, out) < 0 || *out > TIME_OPTION_US_MAX))
        return err_set(err, -EINVAL,
                       "--%s: must be a time such as 60s or 5m, up to 1000 years, is '%s'", option,
                       text);
    return 0;
}

static int read_workload(struct sim_args *a, struct err *err)
{
    struct workload_options *w = &a->run.workload;
    int64_t number = 130;
    int rc = 0;

    if (a->arrive_until != NULL)
        rc = read_number("arrive-until", a->arrive_until, 0, ARRIVE_PCT_MAX, &number, err);
    w->arrive_until_pct = (uint32_t)number;
    number = 5;
    if (rc == 0 && a->lifetimes != NULL)
        rc = read_number("lifetimes", a->lifetimes, 1, 1000, &number, err);
    w->lifetimes = (uint32_t)number;
    if (rc < 0 || a->steady == NULL)
        return rc;
    rc = read_number("steady", a->steady, 1, ARRIVE_PCT_MAX, &number, err);
    w->load_pct = (uint32_t)number;
    w->kind = WORKLOAD_STEADY;
    return rc;
}

static int read_depth(struct sim_args *a, struct err *err)
{
    int64_t depth = 0;
    int rc = 0;

    if (a->reservation_depth != NULL && strcmp(a->reservation_depth, "all") == 0)
        depth = RESERVE_ALL;
    else if (a->reservation_depth != NULL)
        rc = read_number("reservation-depth", a->reservation_depth, 0, RESERVATIONS_MAX, &depth,
                         err);
    a->run.reservation_depth = (uint32_t)depth;
    return rc;
}

static int read_args(struct sim_args *a, struct err *err)
{
    const char *mix = a->mix != NULL ? a->mix : "learned";
    int rc = read_lists(a, err);

    a->run.restart_cost_us = 60000000;
    rc = rc < 0 ? rc : read_time("restart-cost", a->restart_cost, &a->run.restart_cost_us, err);
    rc = rc < 0
             ? rc
             : read_time("checkpoint-every", a->checkpoint_every, &a->run.checkpoint_every_us, err);
    rc = rc < 0 ? rc : read_time("jitter", a->jitter, &a->run.workload.jitter_us, err);
    rc = rc < 0 ? rc : read_workload(a, err);
    rc = rc < 0 ? rc : read_depth(a, err);
    if (rc < 0)
        return rc;
    if (scan_range_u64(a->seeds != NULL ? a->seeds : "42", &a->seed_first, &a->seed_last) < 0)
        return err_set(err, -EINVAL,
                       "--seeds: must be a number or a rising range such as 42-51, is '%s'",
                       a->seeds);
    a->run.protocol = protocol_find(a->protocol != NULL ? a->protocol : "none");
    if (a->run.protocol == NULL)
        return err_set(err, -EINVAL, "--protocol: '%s': no such protocol; --help lists them",
                       a->protocol);
    if (strcmp(mix, "trace") != 0 && strcmp(mix, "learned") != 0)
        return err_set(err, -EINVAL, "--mix: must be trace or learned, is '%s'", mix);
    a->run.mix_from_trace = strcmp(mix, "trace") == 0;
    a->run.check_all = a->check;
    a->run.events = a->events;
    a->run.trace_path = a->trace;
    if (a->explain == NULL)
        return 0;
    a->run.explain = &a->asked;
    a->asked.json = a->json;
    return explain_at_parse(a->explain, a->asked_job, sizeof a->asked_job, &a->asked, err);
}

static int count_runs(const struct sim_args *a, uint32_t *out, struct err *err)
{
    const uint64_t seeds = a->seed_last - a->seed_first;
    const uint64_t others = (uint64_t)a->policies.count * a->orders.count;

    if (seeds >= RUNS_MAX || (seeds + 1) * others > RUNS_MAX)
        return err_set(err, -EINVAL, "--seeds, --policy, --order: more than %u runs", RUNS_MAX);
    *out = (uint32_t)((seeds + 1) * others);
    if (a->events != NULL && *out > 1)
        return err_set(err, -EINVAL, "--events: records one run, but %u are asked for", *out);
    if (a->explain != NULL && *out > 1)
        return err_set(err, -EINVAL, "--explain: stops one run, but %u are asked for", *out);
    return 0;
}

static void show_progress(void *arg, uint32_t done, uint32_t total)
{
    int64_t *last_us = arg;
    const int64_t now_us = cpu_time_us();

    if (now_us - *last_us < 200000)
        return;
    *last_us = now_us;
    fprintf(stderr, "\r%u of %u jobs arrived\033[K", done, total);
}

static int run_one(struct sim_args *a, const struct trace *trace, const struct cluster *cluster,
                   struct report_run *run, bool first, struct err *err)
{
    struct result *out = &run->result;
    struct by_queue by_queue;
    int rc;

    if (!a->queues)
        return run_simulation(&a->run, trace, cluster, out, err);
    by_queue_init(&by_queue);
    a->run.by_queue = &by_queue;
    rc = run_simulation(&a->run, trace, cluster, out, err);
    if (rc == 0)
        report_queues(out, &by_queue, first);
    by_queue_done(&by_queue);
    return rc;
}

static int run_each(struct sim_args *a, const struct trace *trace, const struct cluster *cluster,
                    struct report_run *runs, struct err *err)
{
    uint32_t n = 0;

    for (uint32_t p = 0; p < a->policies.count; p++)
        for (uint32_t o = 0; o < a->orders.count; o++)
            for (uint64_t seed = a->seed_first;; seed++) {
                const int64_t before_us = cpu_time_us();
                int rc;

                a->run.placement = a->policies.items[p];
                a->run.order = a->orders.items[o];
                a->run.workload.seed = seed;
                rc = run_one(a, trace, cluster, &runs[n], n == 0, err);
                if (rc < 0)
                    return rc;
                runs[n++].cpu_us = cpu_time_us() - before_us;
                if (seed == a->seed_last)
                    break;
            }
    return 0;
}

/* Openb's published results ignore the pods' times, so that is the default for its traces. */
static enum workload_kind kind_of(const struct sim_args *a, const struct trace *trace)
{
    if (a->run.workload.kind == WORKLOAD_STEADY)
        return WORKLOAD_STEADY;
    if (a->arrive_until != NULL)
        return a->run.workload.arrive_until_pct > 0 ? WORKLOAD_FILL : WORKLOAD_TIMED;
    return trace->format == TRACE_OPENB ? WORKLOAD_FILL : WORKLOAD_TIMED;
}

/* Often a mistyped model, or a cluster in other units than the trace. */
static void warn_never(const struct result *result)
{
    if (result->never > 0)
        fprintf(stderr,
                "berth sim: note: %u of %u jobs can never run here: no node of this cluster could "
                "hold a task of theirs, even empty\n",
                result->never, result->jobs);
}

static int print_explanation(const struct sim_args *a, struct err *err)
{
    if (!a->asked.done)
        return err_set(err, -EINVAL, "--explain: the run is over before this time");
    fputs(text_str(&a->asked.text), stdout);
    return 0;
}

static int show(const struct sim_args *a, const struct report_run *runs, uint32_t count,
                struct err *err)
{
    if (a->explain != NULL)
        return print_explanation(a, err);
    warn_never(&runs[0].result);
    if (!a->queues)
        (a->json ? report_json : a->csv ? report_csv : report_table)(runs, count);
    return 0;
}

static int simulate(struct sim_args *a, const struct trace *trace, const struct cluster *cluster,
                    struct err *err)
{
    int64_t last_us = 0;
    struct report_run *runs;
    uint32_t count = 0;
    int rc = count_runs(a, &count, err);

    if (rc < 0)
        return rc;
    a->run.workload.kind = kind_of(a, trace);
    if (isatty(STDERR_FILENO)) {
        a->run.progress = show_progress;
        a->run.progress_arg = &last_us;
    }
    runs = calloc(count, sizeof *runs);
    if (runs == NULL)
        return err_set(err, -ENOMEM, "no memory for %u runs", count);
    rc = run_each(a, trace, cluster, runs, err);
    if (last_us > 0)
        fputs("\r\033[K", stderr);
    if (rc == 0)
        rc = show(a, runs, count, err);
    for (uint32_t i = 0; i < count; i++)
        result_done(&runs[i].result);
    free(runs);
    return rc;
}

static int on_cluster(struct sim_args *a, const struct trace *trace, struct err *err)
{
    struct cluster cluster;
    int rc = cluster_load(a->cluster, &cluster, err);

    if (rc < 0)
        return rc;
    rc = simulate(a, trace, &cluster, err);
    cluster_done(&cluster);
    return rc;
}

static int on_partition(struct sim_args *a, const struct trace *trace, struct err *err)
{
    struct partition partition;
    int64_t share_pct = 100;
    int rc = 0;

    if (a->partition_share != NULL)
        rc = read_number("partition-share", a->partition_share, 1, 100000, &share_pct, err);
    rc = rc < 0 ? rc : partition_make(&partition, a->partition, (uint32_t)share_pct, trace, err);
    if (rc < 0)
        return rc;
    a->run.partition = &partition;
    rc = simulate(a, trace, &partition.cluster, err);
    partition_done(&partition);
    return rc;
}

/* Who names an order there means the root of the queues. */
static int load_config(struct sim_args *a, struct err *err)
{
    int rc = config_file_load(a->config, &a->config_file, err);

    if (rc < 0)
        return rc;
    a->run.rules = &a->config_file.config.rules;
    a->run.config = &a->config_file;
    if (a->reservation_depth == NULL)
        a->run.reservation_depth = a->run.rules->reservation_depth;
    return 0;
}

static int load_and_simulate(struct sim_args *a, struct err *err)
{
    struct trace trace;
    int rc = trace_load(a->trace, &trace, err);

    if (rc < 0)
        return rc;
    rc = a->config != NULL ? load_config(a, err) : 0;
    if (rc == 0)
        rc = trace_check(&trace, a->run.rules, err);
    if (rc == 0)
        rc = a->partition != NULL ? on_partition(a, &trace, err) : on_cluster(a, &trace, err);
    trace_done(&trace);
    if (a->run.rules != NULL)
        config_file_done(&a->config_file);
    return rc;
}

int cmd_sim(int argc, char **argv)
{
    struct sim_args args = {0};
    struct err err = {""};
    int rc = parse_args(&args, argc, argv, &err);

    if (rc == 0 && !args.help) {
        rc = read_args(&args, &err);
        rc = rc < 0 ? rc : load_and_simulate(&args, &err);
    }
    explain_at_done(&args.asked);
    free(args.policies.text);
    free(args.orders.text);
    if (rc < 0)
        command_complain("sim", &err);
    return rc < 0 ? EXIT_USAGE : EXIT_OK;
}
