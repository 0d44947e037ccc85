/* SPDX-License-Identifier: Apache-2.0 */
/* Every 5 jobs of 1 to 3 GPUs that run for 1 or 3 units of time, on one node of 3 GPUs and on two
 * of 2 and 1, with one reservation and with all: starts and reservations are those of a brute force
 * that looks at every time and GPU of a grid. Jobs go in the order in which they come, and are over
 * by their limits; so no reservation may ever move to a later time, and none does. */
#include "core/impl.h"
#include "unit/core_test.h"

enum { JOBS = 5, GPUS = 3, TIMES = 40, UNIT_US = 10000000, NEVER = TIMES };

struct job_case {
    uint32_t gpus;    /* 1 and 2: one task; 3: three tasks of one GPU each */
    uint32_t limit;   /* units of time */
    uint32_t runs;    /* at most that */
    uint32_t arrives; /* in the order of jobs */
};

struct story {
    struct job_case jobs[JOBS];
    uint32_t nodes; /* 1: GPUs 0-2; 2: GPUs 0-1 and 2 */
    uint32_t depth;
};

/* ---- the brute force ---- */

struct brute_job {
    uint32_t start;    /* NEVER: it waits */
    uint32_t promised; /* NEVER: nothing */
    uint32_t mask;     /* of GPUs, where it runs or is promised to */
    bool confirmed;    /* had its turn in this round */
};

struct brute {
    const struct story *story;
    struct brute_job jobs[JOBS];
    bool moved;
};

/* GPUs that others use or are promised somewhere in [from, from + length). all: promises that had
 * no turn yet count as well. */
static uint32_t taken(const struct brute *b, uint32_t own, uint32_t from, uint32_t length, bool all)
{
    uint32_t mask = 0;

    for (uint32_t j = 0; j < JOBS; j++) {
        const struct brute_job *job = &b->jobs[j];
        const bool runs = job->start != NEVER;
        const uint32_t at = runs ? job->start : job->promised;

        if (j == own || at == NEVER || (!runs && !job->confirmed && !all))
            continue;
        for (uint32_t t = from; t < from + length; t++)
            if (t >= at && t < at + b->story->jobs[j].limit)
                mask |= job->mask;
    }
    return mask;
}

/* The first GPUs that are free, all of a task on one node; 0 if it does not fit. */
static uint32_t lowest(const struct story *s, const struct job_case *job, uint32_t busy)
{
    static const uint32_t masks[2][2] = {{7, 0}, {3, 4}};
    uint32_t found = 0;

    for (uint32_t task = 0; task < (job->gpus == 3 ? 3 : 1); task++) {
        const uint32_t wanted = job->gpus == 3 ? 1 : job->gpus;
        uint32_t got = 0;

        for (uint32_t n = 0; n < 2 && got == 0; n++) {
            const uint32_t open = masks[s->nodes - 1][n] & ~busy & ~found;

            for (uint32_t g = 0; g < GPUS; g++)
                if ((open >> g & 1) && (uint32_t)__builtin_popcount(got) < wanted)
                    got |= 1u << g;
            if ((uint32_t)__builtin_popcount(got) < wanted)
                got = 0;
        }
        if (got == 0)
            return 0;
        found |= got;
    }
    return found;
}

static bool starts_now(struct brute *b, uint32_t j, uint32_t now, bool all)
{
    const struct job_case *job = &b->story->jobs[j];
    const uint32_t busy = taken(b, j, now, job->limit, all);
    uint32_t mask = lowest(b->story, job, busy);

    if (mask == 0 && b->jobs[j].promised != NEVER && (b->jobs[j].mask & busy) == 0)
        mask = b->jobs[j].mask;
    if (mask == 0)
        return false;
    b->moved = b->moved || b->jobs[j].promised != NEVER;
    b->jobs[j] = (struct brute_job){.start = now, .promised = NEVER, .mask = mask};
    return true;
}

static uint32_t earliest(const struct brute *b, uint32_t j, uint32_t from, uint32_t until, bool all,
                         uint32_t *out_mask)
{
    for (uint32_t t = from; t < until; t++) {
        *out_mask =
            lowest(b->story, &b->story->jobs[j], taken(b, j, t, b->story->jobs[j].limit, all));
        if (*out_mask != 0)
            return t;
    }
    return NEVER;
}

static void promise(struct brute *b, uint32_t j, uint32_t at, uint32_t mask)
{
    b->moved = b->moved || b->jobs[j].promised != NEVER;
    b->jobs[j].promised = at;
    b->jobs[j].mask = mask;
}

static void take_turn(struct brute *b, uint32_t j, uint32_t now, uint32_t *confirmed)
{
    struct brute_job *job = &b->jobs[j];
    const bool kept = job->promised != NEVER && job->promised > now &&
                      (taken(b, j, job->promised, b->story->jobs[j].limit, false) & job->mask) == 0;
    uint32_t mask, other, at;

    if (starts_now(b, j, now, true) || (!kept && starts_now(b, j, now, false)) ||
        *confirmed == b->story->depth)
        return;
    if (kept) {
        at = earliest(b, j, now + 1, job->promised, true, &mask);
        if (at != NEVER)
            promise(b, j, at, mask);
    } else {
        at = earliest(b, j, now + 1, NEVER, false, &mask);
        if (earliest(b, j, now + 1, at + 1, true, &other) == at)
            mask = other;
        promise(b, j, at, mask);
    }
    job->confirmed = true;
    (*confirmed)++;
}

/* Turns until nothing moves any more. */
static void brute_step(struct brute *b, uint32_t now)
{
    do {
        uint32_t confirmed = 0;

        b->moved = false;
        for (uint32_t j = 0; j < JOBS; j++)
            b->jobs[j].confirmed = false;
        for (uint32_t j = 0; j < JOBS; j++)
            if (b->jobs[j].start == NEVER && b->story->jobs[j].arrives <= now)
                take_turn(b, j, now, &confirmed);
        for (uint32_t j = 0; j < JOBS; j++)
            if (b->jobs[j].start == NEVER && !b->jobs[j].confirmed && b->jobs[j].promised != NEVER)
                promise(b, j, NEVER, 0);
    } while (b->moved);
}

/* What runs is known to be over once it is. */
static void brute_end(struct brute *b, uint32_t now, bool *gone)
{
    for (uint32_t j = 0; j < JOBS; j++)
        if (!gone[j] && b->jobs[j].start != NEVER &&
            b->jobs[j].start + b->story->jobs[j].runs == now) {
            b->jobs[j].mask = 0;
            gone[j] = true;
        }
}

/* ---- the core ---- */

static void submit(struct bed *bed, uint32_t j, const struct job_case *job)
{
    const struct group_spec group = {.tasks = job->gpus == 3 ? 3 : 1,
                                     .gpus = job->gpus == 3 ? 1 : job->gpus};
    const struct job_layout_spec layout = {
        .groups = &group, .group_count = 1, .slowdown_ppm = 1000000};

    apply(bed, (struct event){.type = EVENT_JOB_SUBMITTED,
                              .job = {.id = j + 1,
                                      .queue = "",
                                      .user = "",
                                      .name = "",
                                      .layouts = &layout,
                                      .layout_count = 1,
                                      .remaining_us = -1,
                                      .min_run_us = -1,
                                      .limit_us = (int64_t)job->limit * UNIT_US}});
}

static void open_bed(struct bed *bed, const struct story *s)
{
    bed_open(bed, &place_first, &in_turn);
    bed_node(bed, "n0", s->nodes == 1 ? 3 : 2);
    if (s->nodes == 2)
        bed_node(bed, "n1", 1);
    apply(bed,
          (struct event){.type = EVENT_CONFIG_CHANGED, .rules = {.reservation_depth = s->depth}});
}

static void end_jobs(struct bed *bed, const bool *gone, bool *told)
{
    for (uint32_t j = 0; j < JOBS; j++)
        if (gone[j] && !told[j]) {
            bed_end(bed, j + 1, 0);
            told[j] = true;
        }
}

static uint32_t mask_of(const struct bed *bed, const struct decision *d)
{
    uint32_t mask = 0;

    for (uint32_t i = 0; i < d->place_count; i++) {
        const struct task_place *place = &bed->out.places[d->place_first + i];

        mask |= (uint32_t)place->gpu_mask << (place->node == 0 ? 0 : 2);
    }
    return mask;
}

/* What was decided since the last time, as the brute force has it. */
static void core_step_at(struct bed *bed, uint32_t now, struct brute_job *seen)
{
    core_step(bed->core, (int64_t)now * UNIT_US, &bed->out);
    for (uint32_t i = 0; i < bed->out.count; i++) {
        const struct decision *d = &bed->out.items[i];
        struct brute_job *job = &seen[d->job_id - 1];

        if (d->type == DECISION_START) {
            *job = (struct brute_job){.start = now, .promised = NEVER, .mask = mask_of(bed, d)};
            for (uint32_t t = 0; t < d->place_count; t++)
                apply(bed, started(d->job_id, t));
        } else if (d->type == DECISION_RESERVE && d->at_us == TIME_NONE) {
            fail_msg("job %u: has no reservation any more", (uint32_t)d->job_id);
        } else if (d->type == DECISION_RESERVE) {
            const uint32_t at = (uint32_t)(d->at_us / UNIT_US);

            assert_true(job->promised == NEVER || at <= job->promised);
            assert_true(d->for_job == JOB_NONE);
            job->promised = at;
            job->mask = mask_of(bed, d);
        }
    }
}

static void print_story(const struct story *s, uint32_t now, const struct brute *b,
                        const struct brute_job *seen)
{
    printf("# nodes %u, depth %u, at %u\n", s->nodes, s->depth, now);
    for (uint32_t j = 0; j < JOBS; j++)
        printf("# %u: %u GPUs, limit %u, runs %u, arrives %u: start %u promised %u mask %u, "
               "is start %u promised %u mask %u\n",
               j, s->jobs[j].gpus, s->jobs[j].limit, s->jobs[j].runs, s->jobs[j].arrives,
               b->jobs[j].start, b->jobs[j].promised, b->jobs[j].mask, seen[j].start,
               seen[j].promised, seen[j].mask);
}

static bool is_same(const struct brute *b, const struct brute_job *seen, const bool *gone)
{
    for (uint32_t j = 0; j < JOBS; j++)
        if (b->jobs[j].start != seen[j].start || b->jobs[j].promised != seen[j].promised ||
            (!gone[j] && (b->jobs[j].start != NEVER || b->jobs[j].promised != NEVER) &&
             b->jobs[j].mask != seen[j].mask))
            return false;
    return true;
}

/* Returns how many reservations there were in all. */
static uint32_t play(const struct story *s)
{
    struct brute b = {.story = s};
    struct brute_job seen[JOBS];
    bool gone[JOBS] = {false}, told[JOBS] = {false};
    uint32_t left = JOBS, promises = 0;
    struct bed bed;

    for (uint32_t j = 0; j < JOBS; j++)
        b.jobs[j] = seen[j] = (struct brute_job){.start = NEVER, .promised = NEVER};
    open_bed(&bed, s);
    for (uint32_t now = 0; left > 0; now++) {
        assert_true(now < TIMES);
        brute_end(&b, now, gone);
        apply(&bed, (struct event){.type = EVENT_TIME_PASSED, .at_us = (int64_t)now * UNIT_US});
        end_jobs(&bed, gone, told);
        for (uint32_t j = 0; j < JOBS; j++)
            if (s->jobs[j].arrives == now)
                submit(&bed, j, &s->jobs[j]);
        brute_step(&b, now);
        core_step_at(&bed, now, seen);
        if (!is_same(&b, seen, gone)) {
            print_story(s, now, &b, seen);
            fail();
        }
        left = 0;
        for (uint32_t j = 0; j < JOBS; j++) {
            left += !gone[j];
            promises += seen[j].promised != NEVER;
        }
    }
    bed_close(&bed);
    return promises;
}

/* ---- all cases ---- */

static void make_jobs(struct story *s, uint32_t number, bool staggered, bool early)
{
    static const uint32_t arrivals[JOBS] = {0, 0, 1, 1, 2};

    for (uint32_t j = 0; j < JOBS; j++, number /= 6) {
        struct job_case *job = &s->jobs[j];

        job->gpus = 1 + number % 3;
        job->limit = number % 6 < 3 ? 1 : 3;
        job->runs = early && j % 2 == 0 && job->limit > 1 ? job->limit - 1 : job->limit;
        job->arrives = staggered ? arrivals[j] : 0;
    }
}

static void play_all(uint32_t depth, bool early)
{
    uint64_t promises = 0;

    for (uint32_t number = 0; number < 6 * 6 * 6 * 6 * 6; number++)
        for (uint32_t variant = 0; variant < 4; variant++) {
            struct story s = {.nodes = 1 + variant % 2, .depth = depth};

            make_jobs(&s, number, variant / 2, early);
            if (s.nodes == 2 || variant / 2 == (number & 1)) /* on one node, each in one way */
                promises += play(&s);
        }
    assert_true(promises > 10000);
}

static void one_reservation_is_that_of_the_brute_force(void **state)
{
    (void)state;
    play_all(1, false);
}

static void all_reservations_are_those_of_the_brute_force(void **state)
{
    (void)state;
    play_all(RESERVE_ALL, false);
}

static void one_reservation_moves_earlier_when_jobs_end_early(void **state)
{
    (void)state;
    play_all(1, true);
}

static void all_reservations_move_earlier_when_jobs_end_early(void **state)
{
    (void)state;
    play_all(RESERVE_ALL, true);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(one_reservation_is_that_of_the_brute_force),
        TEST(all_reservations_are_those_of_the_brute_force),
        TEST(one_reservation_moves_earlier_when_jobs_end_early),
        TEST(all_reservations_move_earlier_when_jobs_end_early),
    };

    return RUN_TESTS(tests);
}
