/* SPDX-License-Identifier: Apache-2.0 */
/* Who gives way, against looking at every set of those that could. On clusters of 2 and 3 nodes
 * with up to 6 running jobs a set is found if and only if there is one that is enough, it is the
 * cheapest, nobody in it is unneeded, and there is a right over each. Where more may leave than the
 * core looks at all sets of (PLAN_EXACT_MAX), the same but for the cheapest.
 *
 * All ask for whole GPUs, so room for a gang is a matter of counting. */
#include "core/impl.h"
#include "core/plan.h"
#include "unit/queues_test.h"

enum { NODES = 3, JOBS = 16, TASKS = 3, LEAVERS = 20 };

/* ---- a case ---- */

struct job_case {
    uint32_t gpus, tasks; /* of each task */
    uint32_t min;         /* so few tasks are enough; 0 = all */
    uint32_t rank;        /* 100 or 200 */
    bool fixed;
    bool saved; /* its work, just now */
};

struct victims_case {
    uint32_t node_gpus[NODES], node_count;
    struct job_case jobs[JOBS];
    uint32_t job_count;
    struct job_case taker; /* rank: 200 or 300 */
};

/* What may leave: a whole job, or a task of one that may run with fewer. */
struct part {
    uint32_t job;            /* index in the case */
    uint32_t task;           /* ROW_NONE = all */
    uint32_t gpus_on[NODES]; /* that it frees */
};

struct brute {
    const struct victims_case *c;
    uint32_t free_gpus[NODES];
    struct part parts[LEAVERS];
    uint32_t part_count;
    int64_t price[JOBS], task_price[JOBS];
    uint32_t present[JOBS]; /* tasks of the job that are there */
};

struct cost {
    uint32_t rank;
    int64_t price;
};

static bool fits(const struct job_case *job, const uint32_t *free_gpus, uint32_t nodes)
{
    const uint32_t needed = job->min > 0 ? job->min : job->tasks;
    uint32_t tasks = 0;

    for (uint32_t i = 0; i < nodes; i++)
        tasks += free_gpus[i] / job->gpus;
    return tasks >= needed;
}

/* May these leave together, and what does it cost? */
static bool cost_of(const struct brute *b, uint32_t set, struct cost *out)
{
    uint32_t taken[JOBS] = {0};

    *out = (struct cost){0, 0};
    for (uint32_t i = 0; i < b->part_count; i++)
        taken[b->parts[i].job] += set >> i & 1;
    for (uint32_t j = 0; j < b->c->job_count; j++) {
        const struct job_case *job = &b->c->jobs[j];
        const uint32_t spare = job->min > 0 ? b->present[j] - job->min : 0;

        if (taken[j] == 0)
            continue;
        if (job->fixed || job->rank >= b->c->taker.rank) /* takes_below is its own rank */
            return false;
        if (job->min > 0 && taken[j] > spare && taken[j] < b->present[j])
            return false;
        out->rank = job->rank > out->rank ? job->rank : out->rank;
        out->price += taken[j] <= spare ? taken[j] * b->task_price[j] : b->price[j];
    }
    return true;
}

static bool is_enough(const struct brute *b, uint32_t set)
{
    uint32_t free_gpus[NODES];

    memcpy(free_gpus, b->free_gpus, sizeof free_gpus);
    for (uint32_t i = 0; i < b->part_count; i++)
        for (uint32_t n = 0; set >> i & 1 && n < NODES; n++)
            free_gpus[n] += b->parts[i].gpus_on[n];
    return fits(&b->c->taker, free_gpus, b->c->node_count);
}

static bool cheapest(const struct brute *b, struct cost *least)
{
    bool any = false;

    for (uint32_t set = 1; set < 1u << b->part_count; set++) {
        struct cost cost;

        if (!cost_of(b, set, &cost) || !is_enough(b, set))
            continue;
        if (!any || cost.rank < least->rank ||
            (cost.rank == least->rank && cost.price < least->price))
            *least = cost;
        any = true;
    }
    return any;
}

/* ---- playing it ---- */

static const char *class_name(uint32_t rank)
{
    return rank == 300 ? "high" : rank == 200 ? "medium" : "low";
}

static void submit_case(struct bed *bed, const struct job_case *job, uint64_t id)
{
    const struct group_spec group = {.tasks = job->tasks, .gpus = job->gpus};
    const struct job_layout_spec layout = {
        .groups = &group, .group_count = 1, .slowdown_ppm = 1000000};

    apply(bed, (struct event){.type = EVENT_JOB_SUBMITTED,
                              .job = {.id = id,
                                      .queue = "",
                                      .user = "",
                                      .name = "",
                                      .class = class_name(job->rank),
                                      .layouts = &layout,
                                      .layout_count = 1,
                                      .tasks_min = job->min,
                                      .fixed = job->fixed,
                                      .grace_us = -1,
                                      .min_run_us = -1,
                                      .remaining_us = -1}});
}

static int64_t price_of(int64_t lost_us, uint32_t gpus)
{
    return lost_us * (gpus * 1000 + 1) / 1000 + 1; /* work times GPUs; and something in any case */
}

static void count_free(const struct bed *bed, const struct victims_case *c, uint32_t *free_gpus)
{
    memcpy(free_gpus, c->node_gpus, sizeof c->node_gpus);
    for (uint32_t n = 0; n < c->node_count; n++)
        for (uint32_t t = core_node_first_task(bed->core, n); t != ROW_NONE;
             t = core_task(bed->core, t)->node_next)
            free_gpus[n] -= (uint32_t)__builtin_popcountll(core_task(bed->core, t)->gpu_mask);
}

/* Job i of the case is job i + 1. Those that find no room are left out. */
static void run_jobs(struct bed *bed, const struct victims_case *c)
{
    for (uint32_t i = 0; i < c->job_count; i++) {
        uint32_t free_gpus[NODES];

        count_free(bed, c, free_gpus);
        if (!fits(&c->jobs[i], free_gpus, c->node_count))
            continue;
        submit_case(bed, &c->jobs[i], i + 1);
        bed_step(bed);
        for (uint32_t t = 0; t < bed_job(bed, i + 1)->task_count; t++)
            if (!core_task(bed->core, bed_job(bed, i + 1)->task_first + t)->left)
                apply(bed, started(i + 1, t));
    }
    apply(bed, (struct event){.type = EVENT_TIME_PASSED,
                              .at_us = core_now_us(bed->core) + 3600 * 1000000ll});
    for (uint32_t i = 0; i < c->job_count; i++)
        if (c->jobs[i].saved && bed_state(bed, i + 1) == JOB_RUNNING)
            apply(bed, (struct event){.type = EVENT_JOB_CHECKPOINT,
                                      .at_us = core_now_us(bed->core),
                                      .checkpoint = {i + 1, core_now_us(bed->core)}});
}

static void list_part(struct brute *b, const struct bed *bed, uint32_t job, uint32_t only)
{
    struct part *part = &b->parts[b->part_count++];
    const struct job *row = bed_job(bed, job + 1);

    *part = (struct part){.job = job, .task = only};
    for (uint32_t t = 0; t < row->task_count; t++) {
        const struct task *task = core_task(bed->core, row->task_first + t);

        if (!task->left && (only == ROW_NONE || only == t))
            part->gpus_on[task->node] += b->c->jobs[job].gpus;
    }
}

static void look(struct brute *b, const struct bed *bed, const struct victims_case *c)
{
    const int64_t now_us = core_now_us(bed->core) + 1000000; /* of the step that decides */

    *b = (struct brute){.c = c};
    count_free(bed, c, b->free_gpus);
    for (uint32_t j = 0; j < c->job_count; j++) {
        const struct job *row;
        int64_t since_us;

        if (bed_state(bed, j + 1) != JOB_RUNNING)
            continue;
        row = bed_job(bed, j + 1);
        since_us = c->jobs[j].saved ? core_now_us(bed->core) : row->start_us;
        b->present[j] = row->task_count - row->tasks_left;
        b->price[j] = price_of(now_us - since_us + RESTART_US, c->jobs[j].gpus * c->jobs[j].tasks);
        b->task_price[j] = price_of(RESTART_US / 2, c->jobs[j].gpus);
        if (c->jobs[j].min == 0 || b->present[j] == c->jobs[j].min)
            list_part(b, bed, j, ROW_NONE);
        for (uint32_t t = 0;
             b->present[j] > c->jobs[j].min && c->jobs[j].min > 0 && t < row->task_count; t++)
            if (!core_task(bed->core, row->task_first + t)->left)
                list_part(b, bed, j, t);
    }
    assert_true(b->part_count <= LEAVERS);
}

/* Which of the parts were told to stop. */
static uint32_t chosen(const struct brute *b, const struct bed *bed)
{
    uint32_t set = 0;

    for (uint32_t i = 0; i < bed->out.count; i++) {
        const struct decision *d = &bed->out.items[i];

        if (d->type != DECISION_STOP)
            continue;
        assert_true(d->for_job == JOBS + 1);
        for (uint32_t p = 0; p < b->part_count; p++) {
            if (b->parts[p].job + 1 != d->job_id)
                continue;
            if (d->mode == STOP_PREEMPT)
                set |= 1u << p;
            for (uint32_t k = 0; d->mode == STOP_SHRINK && k < d->place_count; k++)
                if (bed->out.places[d->place_first + k].task == b->parts[p].task)
                    set |= 1u << p;
        }
    }
    return set;
}

static void assert_none_unneeded(const struct brute *b, uint32_t set)
{
    for (uint32_t p = 0; p < b->part_count; p++) {
        struct cost cost;

        if (set >> p & 1 && cost_of(b, set & ~(1u << p), &cost))
            assert_false(is_enough(b, set & ~(1u << p)));
    }
}

static uint32_t found, hopeless, near_found; /* so that the cases are not all of one kind */

/* single: near must find a set where there is one; it need not for gangs. */
static void check_case(const struct victims_case *c)
{
    struct cost least = {0, 0}, cost;
    struct brute b;
    struct bed bed;
    uint32_t set;
    bool exact, any;

    bed_open(&bed, &place_first, &in_turn);
    for (uint32_t n = 0; n < c->node_count; n++) {
        char name[4] = {'n', (char)('0' + n), '\0'};

        bed_node(&bed, name, c->node_gpus[n]);
    }
    run_jobs(&bed, c);
    look(&b, &bed, c);
    submit_case(&bed, &c->taker, JOBS + 1);
    bed_step(&bed);
    set = chosen(&b, &bed);
    if (is_enough(&b, 0)) {
        assert_int_equal(set, 0);
        bed_close(&bed);
        return;
    }
    any = cheapest(&b, &least);
    exact = b.part_count <= PLAN_EXACT_MAX;
    if (!any || set == 0) {
        assert_int_equal(set, 0);
        assert_true(!any || (!exact && c->taker.tasks > 1));
        hopeless++;
        bed_close(&bed);
        return;
    }
    assert_true(cost_of(&b, set, &cost)); /* with a right over each */
    assert_true(is_enough(&b, set));
    assert_none_unneeded(&b, set);
    if (exact)
        assert_true(cost.rank == least.rank && cost.price == least.price);
    found += exact;
    near_found += !exact;
    bed_close(&bed);
}

/* ---- all small cases ---- */

/* Of 1 and 2 GPUs, of both ranks, with and without work to lose; one that never gives way. */
static struct job_case kind_at(uint32_t kind)
{
    return (struct job_case){.gpus = 1 + (kind & 1),
                             .tasks = 1,
                             .rank = kind & 2 ? 200 : 100,
                             .saved = kind & 4,
                             .fixed = kind == 8};
}

static void every_case_of_three_jobs_has_the_cheapest_set(void **state)
{
    static const struct victims_case clusters[] = {
        {.node_gpus = {2, 3}, .node_count = 2},
        {.node_gpus = {4, 2}, .node_count = 2},
        {.node_gpus = {2, 2, 2}, .node_count = 3},
    };
    static const struct job_case takers[] = {
        {.gpus = 1, .tasks = 1, .rank = 200}, {.gpus = 2, .tasks = 1, .rank = 200},
        {.gpus = 1, .tasks = 1, .rank = 300}, {.gpus = 2, .tasks = 1, .rank = 300},
        {.gpus = 3, .tasks = 1, .rank = 300}, {.gpus = 4, .tasks = 1, .rank = 300},
        {.gpus = 1, .tasks = 3, .rank = 300}, {.gpus = 2, .tasks = 2, .rank = 300},
        {.gpus = 2, .tasks = 3, .rank = 300},
    };

    (void)state;
    for (uint32_t n = 0; n < sizeof clusters / sizeof clusters[0]; n++)
        for (uint32_t t = 0; t < sizeof takers / sizeof takers[0]; t++)
            for (uint32_t kinds = 0; kinds < 9 * 9 * 9; kinds++) {
                struct victims_case c = clusters[n];

                c.taker = takers[t];
                c.job_count = 3;
                for (uint32_t i = 0, k = kinds; i < 3; i++, k /= 9)
                    c.jobs[i] = kind_at(k % 9);
                check_case(&c);
            }
    assert_true(found > 5000 && hopeless > 1000);
}

static struct job_case draw_job(struct rng *rng, uint32_t gpus_max)
{
    return (struct job_case){.gpus = 1 + (uint32_t)rng_below(rng, gpus_max),
                             .tasks = rng_below(rng, 4) == 0 ? 2 : 1,
                             .rank = rng_below(rng, 2) == 0 ? 200 : 100,
                             .saved = rng_below(rng, 2) == 0,
                             .fixed = rng_below(rng, 6) == 0};
}

static void draw_case(struct rng *rng, uint32_t gpus, uint32_t jobs, struct victims_case *c)
{
    *c = (struct victims_case){.node_count = 2 + (uint32_t)rng_below(rng, 2)};
    for (uint32_t n = 0; n < c->node_count; n++)
        c->node_gpus[n] = gpus / 2 + (uint32_t)rng_below(rng, gpus / 2 + 1);
    c->taker = (struct job_case){.gpus = 1 + (uint32_t)rng_below(rng, gpus),
                                 .tasks = 1 + (uint32_t)rng_below(rng, TASKS),
                                 .rank = rng_below(rng, 4) == 0 ? 200 : 300};
    c->job_count = jobs;
}

static void cases_of_six_jobs_with_gangs_and_an_elastic_one(void **state)
{
    struct rng rng;

    (void)state;
    found = 0;
    rng_init(&rng, 11);
    for (uint32_t i = 0; i < 12000; i++) {
        struct victims_case c;

        draw_case(&rng, 4, 4 + (uint32_t)rng_below(&rng, 3), &c);
        for (uint32_t j = 0; j < c.job_count; j++)
            c.jobs[j] = draw_job(&rng, 3);
        if (rng_below(&rng, 2) == 0)
            c.jobs[rng_below(&rng, c.job_count)] = (struct job_case){
                .gpus = 1, .tasks = 2 + (uint32_t)rng_below(&rng, 2), .min = 1, .rank = 100};
        check_case(&c);
    }
    assert_true(found > 2000);
}

static void where_many_may_leave_one_task_gets_its_room_and_nobody_leaves_for_nothing(void **state)
{
    struct rng rng;

    (void)state;
    near_found = 0;
    rng_init(&rng, 12);
    for (uint32_t i = 0; i < 1500; i++) {
        struct victims_case c;

        draw_case(&rng, 8, 11 + (uint32_t)rng_below(&rng, 6), &c);
        c.node_gpus[0] = c.node_gpus[1] = 8;
        if (rng_below(&rng, 3) > 0)
            c.taker.tasks = 1;
        for (uint32_t j = 0; j < c.job_count; j++) {
            c.jobs[j] = draw_job(&rng, 2);
            c.jobs[j].fixed = rng_below(&rng, 12) == 0;
        }
        check_case(&c);
    }
    assert_true(near_found > 300);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(every_case_of_three_jobs_has_the_cheapest_set),
        TEST(cases_of_six_jobs_with_gangs_and_an_elastic_one),
        TEST(where_many_may_leave_one_task_gets_its_room_and_nobody_leaves_for_nothing),
    };

    return RUN_TESTS(tests);
}
