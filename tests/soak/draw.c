/* SPDX-License-Identifier: Apache-2.0 */
/* draw.c - worlds by lot. Each world leaves out about half of what there is, so that what is left
 * comes often. A new field of a job or a new kind of line is one small function and its entry in a
 * table; what the core does not do yet is drawn all the same, and refused. */
#include "soak/draw.h"

#include <inttypes.h>
#include <stdbool.h>

#include "base/rng.h"

#define JOBS_MAX_DRAWN 60u

struct draw {
    struct rng rng;
    struct text *out;
    uint64_t on; /* bit i: entry i of the tables below is drawn in this world */
    uint32_t nodes, node_gpus_max, jobs, runs_s;
    uint32_t job;          /* that is drawn */
    int64_t at_ds, end_ds; /* tenths of a second: now, and when the last job arrives */
    bool takes, levels;
    bool random;  /* placements are drawn */
    bool service; /* so is the job that is drawn: it must run for some time, or never rests */
    bool groups;  /* the job that is drawn has groups that are not alike */
    uint32_t ask; /* what the last job asked for, and of how many tasks */
    uint32_t tasks;
    uint32_t tasks_of[JOBS_MAX_DRAWN + 3]; /* by job */
};

static uint32_t below(struct draw *d, uint32_t n)
{
    return (uint32_t)rng_below(&d->rng, n);
}

static bool one_in(struct draw *d, uint32_t n)
{
    return below(d, n) == 0;
}

static void add_at(struct draw *d, int64_t at_ds)
{
    text_addf(d->out, "at %" PRId64 ".%" PRId64 "s ", at_ds / 10, at_ds % 10);
}

/* "0s" often, else up to so many seconds. */
static void add_seconds(struct draw *d, const char *field, uint32_t most)
{
    text_addf(d->out, " %s=%us", field, one_in(d, 3) ? 0 : below(d, most) + 1);
}

/* ---- the cluster ---- */

/* Two zones, and racks of which some of both have one name; of some nodes one does not know. */
static void where_it_is(struct draw *d)
{
    static const char *const zones[] = {"zone:a", "zone:a", "zone:b", "zone:b", "fast:1"};

    text_addf(d->out, " labels=%s", zones[below(d, 5)]);
    if (!one_in(d, 8))
        text_addf(d->out, ",rack:r%u", below(d, 3));
}

static void node_fields(struct draw *d)
{
    static const uint32_t gpus[] = {1, 2, 4, 8, 2, 4, 0, 3};
    static const char *const bytes[] = {"", " gpu-memory=16G", " gpu-memory=16G",
                                        " gpu-memory=40G"};
    static const char *const labels[] = {"", "", " labels=zone:a", " labels=zone:b,fast:1"};
    uint32_t count = gpus[below(d, 8)];

    count = count < d->node_gpus_max ? count : d->node_gpus_max;
    if (count > 0)
        text_addf(d->out, " gpus=%u model=%s", count, one_in(d, 4) ? "B" : "A");
    text_add(d->out, count > 0 ? bytes[below(d, 4)] : "");
    if (d->levels)
        where_it_is(d);
    else
        text_add(d->out, labels[below(d, 4)]);
    text_addf(d->out, " cpus=%u memory=%uG", 2u << below(d, 5), 800u << below(d, 4));
}

static void cluster(struct draw *d)
{
    for (uint32_t i = 0; i < d->nodes; i++) {
        text_addf(d->out, "node n%u", i);
        node_fields(d);
        text_add(d->out, "\n");
    }
}

static void add_amount(struct draw *d, const char *field, uint32_t gpus_max)
{
    text_addf(d->out, " %s=gpus:%u", field, below(d, gpus_max + 1));
    if (one_in(d, 4))
        text_addf(d->out, ",cpus:%u", 1 + below(d, 32));
}

/* Of a class: the rest of its line. */
static void class_users(struct draw *d)
{
    if (one_in(d, 4))
        add_amount(d, "user-limit", 6);
    if (one_in(d, 20))
        text_add(d->out, " users=u0,u2");
    text_add(d->out, "\n");
}

static void queue_line(struct draw *d, const char *name, const char *parent)
{
    static const char *const orders[] = {"fifo", "fair", "las", "fifo-strict"};

    text_addf(d->out, "queue %s weight=%u", name, below(d, 4));
    if (parent[0])
        text_addf(d->out, " parent=%s", parent);
    if (one_in(d, 3))
        text_addf(d->out, " order=%s", orders[below(d, 4)]);
    if (one_in(d, 2))
        add_amount(d, "guarantee", 4);
    else if (one_in(d, 2))
        add_amount(d, "limit", 8);
    if (one_in(d, 5))
        add_amount(d, "borrow", 4);
    if (one_in(d, 5))
        add_amount(d, "lend", 4);
    if (one_in(d, 4) && name[1] != '\0')
        add_amount(d, "user-limit", 4);
    if (one_in(d, 12) && name[1] != '\0')
        text_addf(d->out, " user-jobs=%u", 1 + below(d, 6));
    if (one_in(d, 20))
        text_add(d->out, " users=u0,u1");
    text_add(d->out, "\n");
}

static void add_level(struct draw *d, const char *name)
{
    text_addf(d->out, "level %s", name);
    if (!one_in(d, 4))
        text_addf(d->out, " bandwidth=%uG", 100 * (1 + below(d, 4)));
    if (!one_in(d, 4))
        text_addf(d->out, " uplink=%uG", 50 * (1 + below(d, 4)));
    text_add(d->out, "\n");
}

/* The same ones for the most part: jobs that ask for them refuse others. */
static void levels(struct draw *d)
{
    if (!d->levels)
        return;
    if (!one_in(d, 20))
        add_level(d, "zone");
    if (!one_in(d, 20))
        add_level(d, "rack");
}

/* Queues p (p1, p2) and q (q1); classes that take from each other. */
static void rules(struct draw *d)
{
    levels(d);
    if (one_in(d, 4))
        text_addf(d->out, "reservation-depth %s\n", one_in(d, 3) ? "all" : "1");
    text_addf(d->out, "node-silent %us\n", 5 + below(d, 60));
    if (!one_in(d, 3)) {
        queue_line(d, "p", "");
        queue_line(d, "q", "");
        queue_line(d, "p1", "p");
        queue_line(d, "p2", "p");
        queue_line(d, "q1", "q");
        text_add(d->out, "default-queue q1\n");
    }
    if (one_in(d, 2)) {
        text_addf(d->out, "class high rank=30 takes-below=%u grace=%us", 10 * below(d, 4),
                  below(d, 20));
        class_users(d);
        text_addf(d->out, "class medium rank=20 takes-below=%u min-run=%us", 10 * below(d, 3),
                  one_in(d, 2) ? 0 : below(d, 60));
        class_users(d);
        text_addf(d->out, "class low rank=10%s", one_in(d, 5) ? " preemptible=false" : "");
        class_users(d);
    }
}

/* ---- jobs ---- */

static void of_gpus(struct draw *d)
{
    static const char *const asks[] = {
        "gpus=1",
        "gpus=1",
        "gpus=2",
        "gpus=4",
        "gpus=8",
        "gpu-share=0.5",
        "gpu-share=0.3 cpus=1",
        "gpu-share=0.7 gpu-memory=1G",
        "gpu-memory=9G",
        "cpus=2 memory=100G",
        "gpus=2 gpu-share=0.4",
        "gpus=3 memory=300G",
        "gpus=1 cpus=4",
    };

    if (one_in(d, 2)) { /* else the same as the last one */
        d->ask = below(d, sizeof asks / sizeof asks[0]);
        d->tasks = d->levels ? 1 + below(d, 6) : one_in(d, 3) ? 1 + below(d, 5) : 1;
    }
    text_addf(d->out, " %s", asks[d->ask]);
    if (d->tasks > 1)
        text_addf(d->out, " tasks=%u", d->tasks);
    d->tasks_of[d->job] = d->tasks;
}

static void of_groups(struct draw *d)
{
    const uint32_t cpus = 1 + below(d, 4), others = 1 + below(d, 3);
    const uint32_t gpus = 1 + below(d, 3), tasks = 1 + below(d, 2);

    text_addf(d->out, " group=tasks:%u,gpus:%u group=tasks:%u,cpus:%u", tasks, gpus, others, cpus);
    d->tasks_of[d->job] = tasks + others;
}

static void what_it_asks(struct draw *d)
{
    d->groups = one_in(d, 6);
    if (d->groups)
        of_groups(d);
    else
        of_gpus(d);
}

static void with_selector(struct draw *d)
{
    if (one_in(d, 6) && !d->groups)
        text_add(d->out, one_in(d, 2) ? " models=A" : " labels=zone:a");
}

static void node_lists(struct draw *d);
static bool is_on(const struct draw *d, void (*happening)(struct draw *));

static void with_user(struct draw *d)
{
    if (one_in(d, 2))
        text_addf(d->out, " user=u%u", below(d, 3));
}

/* A task that is long on its way is missed by listings, given up, and comes up nevertheless. */
static void with_ack(struct draw *d)
{
    if (one_in(d, 2) && !is_on(d, node_lists))
        add_seconds(d, "ack-delay", 20);
}

static void with_death(struct draw *d)
{
    if (one_in(d, 25))
        text_add(d->out, " dies-after=never");
    else if (one_in(d, 2))
        add_seconds(d, "dies-after", 60);
    if (one_in(d, 5))
        text_add(d->out, " exit-on-stop=0");
}

static void with_failure(struct draw *d)
{
    if (one_in(d, 6))
        text_add(d->out, " exit=1");
    if (one_in(d, 8))
        text_addf(d->out, " start-%s=%u", one_in(d, 2) ? "fails" : "loses", 1 + below(d, 2));
}

static void with_array(struct draw *d)
{
    static const char *const arrays[] = {"array=one array-limit=1", "array=one array-limit=1",
                                         "array=three array-limit=3", "array=all"};

    if (one_in(d, 2))
        text_addf(d->out, " %s", arrays[below(d, 4)]);
}

static void with_after(struct draw *d)
{
    static const char *const ends[] = {"ok", "any", "failed"};

    if (!one_in(d, 4) || d->job == 0)
        return;
    text_addf(d->out, " after=j%u:%s", below(d, d->job), ends[below(d, 3)]);
}

static void with_hold(struct draw *d)
{
    if (one_in(d, 8))
        text_add(d->out, " hold");
}

static void with_oracle(struct draw *d)
{
    if (one_in(d, 2))
        text_add(d->out, " oracle");
    if (one_in(d, 4))
        text_addf(d->out, " deadline=%us", 1 + below(d, 900));
}

static void with_takes(struct draw *d)
{
    if (one_in(d, 10) && d->takes)
        text_addf(d->out, " takes=n%u:%u", below(d, d->nodes), below(d, 3));
}

static void with_queue(struct draw *d)
{
    static const char *const queues[] = {"p1", "p2", "q1", "p"};

    if (!one_in(d, 4))
        text_addf(d->out, " queue=%s", queues[below(d, one_in(d, 10) ? 4 : 3)]);
}

static void with_class(struct draw *d)
{
    static const char *const classes[] = {"high", "medium", "low"};

    if (one_in(d, 2))
        text_addf(d->out, " class=%s", classes[below(d, 3)]);
    if (one_in(d, 10))
        text_add(d->out, " preemptible=false");
    if (one_in(d, 10))
        text_addf(d->out, " min-run=%us", below(d, 60));
}

static void with_limit(struct draw *d)
{
    if (one_in(d, 4))
        text_addf(d->out, " time-limit=%us grace=%us", 1 + below(d, 2 * d->runs_s), below(d, 20));
}

static void with_retries(struct draw *d)
{
    if (one_in(d, 4))
        text_addf(d->out, " retries=%u", 1 + below(d, 3));
}

/* Growth that a bound refuses draws a place first, and a loaded core asks once more. */
static void with_fewer(struct draw *d)
{
    if (d->random)
        return;
    if (one_in(d, 4) && !d->groups)
        text_addf(d->out, " min-tasks=%u", 1 + below(d, d->tasks));
    if (d->service)
        text_add(d->out, " service");
}

static void with_nodes_of_its_own(struct draw *d)
{
    if (one_in(d, 10))
        text_add(d->out, " exclusive");
}

static void with_saving(struct draw *d)
{
    if (one_in(d, 6))
        text_addf(d->out, " checkpoint-every=%us", 5 + below(d, 60));
    if (one_in(d, 12))
        text_addf(d->out, " checkpoint-skew=%s%us", one_in(d, 2) ? "-" : "", below(d, 100));
}

static void with_levels(struct draw *d)
{
    static const char *const wishes[] = {" within=rack",
                                         " within=zone",
                                         " within=zone near=rack",
                                         " near=rack",
                                         " near=zone",
                                         " group-size=2 group-within=rack",
                                         " within=zone group-size=2 group-within=rack"};
    const bool even = d->tasks % 2 == 0 && !d->groups && !d->service;

    if (!d->levels || one_in(d, 5))
        return;
    text_add(d->out, wishes[below(d, even ? 7 : 5)]);
    if (one_in(d, 6) && !d->service)
        text_addf(d->out, " slowdown=%u", 1 + below(d, 4));
}

static void (*const job_fields[])(struct draw *) = {
    with_selector,
    with_user,
    with_ack,
    with_death,
    with_failure,
    with_array,
    with_after,
    with_hold,
    with_oracle,
    with_takes,
    with_queue,
    with_class,
    with_limit,
    with_retries,
    with_fewer,
    with_saving,
    with_nodes_of_its_own,
    with_levels,
};
enum { JOB_FIELDS = sizeof job_fields / sizeof job_fields[0], WITH_LEVELS = JOB_FIELDS - 1 };

static void submit(struct draw *d)
{
    add_at(d, d->at_ds);
    text_addf(d->out, "submit j%u", d->job);
    d->service = one_in(d, 12);
    what_it_asks(d);
    if (!one_in(d, 30)) /* else it runs for ever */
        text_addf(d->out, " runs=%us",
                  d->service      ? 20 + below(d, d->runs_s)
                  : one_in(d, 12) ? 0
                                  : 1 + below(d, d->runs_s));
    for (uint32_t i = 0; i < JOB_FIELDS; i++)
        if (d->on >> i & 1)
            job_fields[i](d);
    text_add(d->out, "\n");
}

static void submissions(struct draw *d)
{
    const uint32_t gap_ds = 1 + below(d, 20) * d->runs_s / (1 + 2 * d->nodes);

    for (d->job = 0; d->job < d->jobs; d->job++) {
        d->at_ds += one_in(d, 4) ? 0 : below(d, gap_ds);
        submit(d);
    }
    d->end_ds = d->at_ds + 10 * (int64_t)d->runs_s;
}

/* ---- what happens ---- */

static void add_job(struct draw *d)
{
    text_addf(d->out, "j%u", below(d, d->jobs));
}

static void of_user(struct draw *d)
{
    static const char *const words[] = {"cancel ", "hold ", "release ", "release "};

    text_add(d->out, words[below(d, 4)]);
    add_job(d);
}

static void ends(struct draw *d)
{
    const char *word = one_in(d, 2) ? "exit" : "lost";
    const uint32_t job = below(d, d->jobs);

    text_addf(d->out, "%s j%u", word, job);
    if (one_in(d, 2))
        text_addf(d->out, " %u", below(d, 3) % d->tasks_of[job]);
}

/* It is held while it runs, and has to wait again. */
static void is_put_off(struct draw *d)
{
    const uint32_t job = below(d, d->jobs);

    text_addf(d->out, "hold j%u\n", job);
    add_at(d, d->at_ds + below(d, 100));
    text_addf(d->out, "lost j%u", job);
}

static void saves(struct draw *d)
{
    text_add(d->out, "checkpoint ");
    add_job(d);
}

static void goes_astray(struct draw *d)
{
    static const char *const kinds[] = {"started", "exited", "lost", "exited", "checkpoint"};
    const uint32_t how = below(d, 3);

    if (how == 1)
        text_addf(d->out, "delay %us ", 1 + below(d, 300));
    else
        text_add(d->out, how == 0 ? "drop " : "twice ");
    text_addf(d->out, "%s ", kinds[below(d, 5)]);
    add_job(d);
    text_addf(d->out, " times=%u", 1 + below(d, 4));
}

/* What broke is mended, most of the time. */
static bool and_later(struct draw *d)
{
    if (one_in(d, 4))
        return false;
    text_add(d->out, "\n");
    add_at(d, d->at_ds + below(d, one_in(d, 2) ? 200 : 2000));
    return true;
}

static void gpu_breaks(struct draw *d)
{
    const uint32_t node = below(d, d->nodes), gpu = below(d, 4);

    text_addf(d->out, "gpu n%u %u lost", node, gpu);
    if (and_later(d))
        text_addf(d->out, "gpu n%u %u healthy", node, gpu);
}

static void node_changes(struct draw *d)
{
    text_addf(d->out, "node n%u", below(d, d->nodes + 1));
    node_fields(d);
}

static void node_leaves(struct draw *d)
{
    const uint32_t node = below(d, d->nodes);

    text_addf(d->out, "node n%u removed", node);
    if (!and_later(d))
        return;
    text_addf(d->out, "node n%u", node);
    node_fields(d);
}

static void node_is_silent(struct draw *d)
{
    const uint32_t node = below(d, d->nodes);

    text_addf(d->out, "node n%u silent", node);
    if (and_later(d))
        text_addf(d->out, "node n%u heard", node);
}

static void node_is_drained(struct draw *d)
{
    const uint32_t node = below(d, d->nodes);

    text_addf(d->out, "node n%u drained", node);
    if (and_later(d))
        text_addf(d->out, "node n%u undrained", node);
}

static void node_lists(struct draw *d)
{
    text_addf(d->out, "list n%u", below(d, d->nodes));
}

static void starts_again(struct draw *d)
{
    text_add(d->out, "restart");
}

static void is_configured(struct draw *d)
{
    text_add(d->out, "config\n");
    rules(d);
    text_add(d->out, "end");
}

static void (*const happenings[])(struct draw *) = {
    of_user,         is_put_off, ends,         saves,         goes_astray,
    goes_astray,     gpu_breaks, node_changes, node_leaves,   node_is_silent,
    node_is_drained, node_lists, starts_again, is_configured,
};
enum { HAPPENINGS = sizeof happenings / sizeof happenings[0] };

static bool is_on(const struct draw *d, void (*happening)(struct draw *))
{
    for (uint32_t i = 0; i < HAPPENINGS; i++)
        if (happenings[i] == happening && (d->on >> (32 + i) & 1))
            return true;
    return false;
}

static void what_happens(struct draw *d)
{
    const uint32_t count = below(d, d->jobs * 3);

    for (uint32_t i = 0; i < count; i++) {
        const uint32_t kind = below(d, HAPPENINGS);

        if (!(d->on >> (32 + kind) & 1))
            continue;
        d->at_ds = (int64_t)rng_below(&d->rng, (uint64_t)d->end_ds + 1);
        add_at(d, d->at_ds);
        happenings[kind](d);
        text_add(d->out, "\n");
    }
}

/* In the end everybody is cancelled and every node goes: nothing is left. */
static void the_end(struct draw *d)
{
    const int64_t late_ds = d->end_ds + 20000;

    for (uint32_t i = 0; i < d->jobs; i++) {
        add_at(d, late_ds);
        text_addf(d->out, "cancel j%u\n", i);
    }
    for (uint32_t i = 0; i < d->nodes; i++) {
        add_at(d, late_ds + 10000);
        text_addf(d->out, "node n%u removed\n", i);
    }
    text_addf(d->out, "until %" PRId64 "s\n", late_ds / 10 + 3000);
}

/* ---- a world ---- */

static void policies(struct draw *d)
{
    static const char *const placements[] = {"berth",    "bestfit", "clustering", "dotprod", "fgd",
                                             "firstfit", "packing", "random",     "worstfit"};
    static const char *const orders[] = {"fifo",      "fifo",     "fifo-strict", "las",
                                         "tiresias",  "srtf",     "srsf",        "gittins",
                                         "predicted", "deadline", "fair",        "las"};

    const uint32_t placement = below(d, 9);

    d->random = placement == 7;
    text_addf(d->out, "placement %s\n", placements[placement]);
    text_addf(d->out, "order %s\n", orders[below(d, 12)]);
    text_addf(d->out, "seed %u\n", below(d, 100));
}

void draw_world(uint64_t seed, struct text *out)
{
    struct draw d = {.out = out, .tasks = 1};

    rng_init(&d.rng, seed);
    d.on = rng_next(&d.rng) | (one_in(&d, 3) ? rng_next(&d.rng) : 0);
    d.nodes = one_in(&d, 12) ? 8 + below(&d, 12) : 1 + below(&d, 6);
    d.node_gpus_max = 1u << below(&d, 4);
    d.jobs = 3 + below(&d, JOBS_MAX_DRAWN);
    d.runs_s = 2 + below(&d, one_in(&d, 3) ? 5000 : 200);
    d.takes = one_in(&d, 4);
    d.levels = one_in(&d, 2);
    if (d.levels) /* or few of their jobs ask for them */
        d.on |= 1u << WITH_LEVELS;
    text_add(out, "assert starts >= 0\n");
    policies(&d);
    if (d.takes)
        text_add(out, "allow overlap\n");
    if (!one_in(&d, 3))
        rules(&d);
    else
        levels(&d);
    cluster(&d);
    submissions(&d);
    what_happens(&d);
    the_end(&d);
}
