/* SPDX-License-Identifier: Apache-2.0 */
/* Random cores: what is named as the nearest change does start the job, and when a job is expected
 * to start is when it starts. */
#include "core/explain.h"
#include "core/forward.h"
#include "core/impl.h"
#include "unit/core_random.h"

enum { SEEDS = 90, EVENTS = 500, ROUNDS = 60 };

static const struct core_config configs[] = {
    {.placement = &place_salted, .order = &in_turn, .seed = 3},
    {.placement = &place_first, .order = &in_strict_turn},
    {.placement = &place_full, .order = &by_queue},
    {.placement = &place_salted, .order = &by_attained},
};
enum { CONFIGS = sizeof configs / sizeof configs[0] };

/* ---- a driver that does at once what it is told ---- */

/* One step and what comes of it; false when there was nothing to do. */
static bool drive(struct core *core, struct decisions *out)
{
    bool any = false;

    core_step(core, core_now_us(core), out);
    for (uint32_t i = 0; i < out->count; i++) {
        const struct decision *d = &out->items[i];

        if (d->type == DECISION_START)
            for (uint32_t p = 0; p < d->place_count; p++)
                tell(core, d->job_id, out->places[d->place_first + p].task, EVENT_TASK_STARTED, 0);
        for (uint32_t p = 0; d->type == DECISION_STOP && p < d->place_count; p++)
            tell(core, d->job_id, out->places[d->place_first + p].task, EVENT_TASK_EXITED, 143);
        if (d->type == DECISION_STOP && d->place_count == 0)
            for (uint32_t t = 0; t < core_job(core, d->job)->task_count; t++)
                if (core_find_job(core, d->job_id) == d->job &&
                    core_job(core, d->job)->state == JOB_STOPPING)
                    tell(core, d->job_id, t, EVENT_TASK_EXITED, 143);
        any = any || d->type == DECISION_START || d->type == DECISION_STOP;
    }
    return any;
}

static void settle(struct core *core)
{
    struct decisions out;

    decisions_init(&out);
    while (drive(core, &out))
        ;
    decisions_done(&out);
}

static bool runs(const struct core *core, uint64_t id)
{
    const uint32_t row = core_find_job(core, id);

    return row != ROW_NONE && (core_job(core, row)->state == JOB_RUNNING ||
                               core_job(core, row)->state == JOB_STARTING);
}

/* ---- the nearest change ---- */

/* Counts what was named, so that no type is missed. */
static void hold_to_it(const struct core *core, uint64_t id, uint32_t *named)
{
    const uint64_t before = core_digest(core);
    struct explanation e;
    struct core *clone;

    assert_int_equal(explain(core, id, NULL, &e, NULL), 0);
    assert_true(core_digest(core) == before);
    assert_true(e.tries <= 16);
    named[e.remedy.type]++;
    if (e.state == JOB_PENDING && !e.starts)
        assert_true(e.reason != REASON_NONE && e.reason != REASON_NEW);
    if (e.obstacles.nodes > 0) {
        uint32_t nodes = e.obstacles.fitting;

        for (uint32_t i = 0; i < e.obstacles.count; i++)
            nodes += e.obstacles.items[i].nodes;
        assert_int_equal(nodes, e.obstacles.nodes);
    }
    if (e.remedy.type != REMEDY_NONE) {
        clone = core_clone(core);
        assert_int_equal(remedy_make(clone, id, &e.remedy, NULL), 0);
        settle(clone);
        assert_int_equal(core_check_rules(clone, NULL), 0);
        assert_true(runs(clone, id));
        core_free(clone);
    }
    explanation_done(&e);
}

static void explain_all(const struct core *core, uint32_t *named)
{
    uint32_t asked = 0;

    for (uint32_t row = 0; row < core_job_rows(core) && asked < 4; row++)
        if (core_job(core, row)->state == JOB_PENDING) {
            hold_to_it(core, core_job(core, row)->id, named);
            asked++;
        }
}

/* The queues of play_submit(), some with bounds. */
static void configure(struct core *core)
{
    static const char *const names[] = {"0", "1", "2", "3", "4", "5"};
    struct queue_spec queues[6];
    struct event event = {.type = EVENT_CONFIG_CHANGED,
                          .rules = {.queues = queues,
                                    .queue_count = 6,
                                    .default_queue = "",
                                    .root_order = "fair",
                                    .default_class = ""}};

    for (uint32_t i = 0; i < 6; i++) {
        queues[i] = (struct queue_spec){.name = names[i], .parent = "", .order = "", .weight = 1};
        for (int r = 0; r < RES_COUNT; r++)
            queues[i].guarantee[r] = queues[i].limit[r] = queues[i].borrow[r] = queues[i].lend[r] =
                queues[i].user_limit[r] = AMOUNT_NONE;
    }
    queues[1].limit[RES_GPU_MGPU] = 4000;
    queues[2].limit[RES_CPU_MCPU] = 4000;
    queues[3].guarantee[RES_GPU_MGPU] = 1000;
    queues[3].borrow[RES_GPU_MGPU] = 3000;
    queues[4].user_limit[RES_GPU_MGPU] = 4000;
    queues[5].guarantee[RES_GPU_MGPU] = 4000;
    queues[5].lend[RES_GPU_MGPU] = 1000;
    assert_int_equal(core_apply(core, &event, NULL), 0);
}

static void what_is_named_starts_the_job(void **state)
{
    uint32_t named[REMEDY_JOB_ENDS + 1] = {0};

    (void)state;
    for (uint32_t c = 0; c < CONFIGS; c++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct bed bed;
            struct play play;

            play_init(&play, seed, 6);
            play.unsplit = true; /* it comes true at once here */
            play.levels = seed % 2 == 0;
            bed_open_with(&bed, &configs[c]);
            play_join(&play, bed.core);
            if (seed % 2 == 1)
                configure(bed.core);
            for (uint32_t i = 0; i < EVENTS; i++) {
                struct event event;

                play_event(&play, bed.core, &event);
                (void)core_apply(bed.core, &event, NULL);
                if (play_below(&play, 3) == 0)
                    core_step(bed.core, core_now_us(bed.core), &bed.out);
                if (i % ROUNDS == ROUNDS - 1)
                    explain_all(bed.core, named);
            }
            bed_close(&bed);
        }
    for (int type = REMEDY_NONE; type <= REMEDY_JOB_ENDS; type++)
        if (named[type] == 0)
            fail_msg("no change of type %d was named", type);
}

/* ---- expected starts ---- */

static void submit_limited(struct play *play, struct bed *bed)
{
    struct event event = {.at_us = core_now_us(bed->core)};

    play_submit(play, &event);
    event.job.limit_us = 1000000 + (int64_t)play_below(play, 900000000);
    event.job.after_count = 0;
    event.job.retries = 0;
    (void)core_apply(bed->core, &event, NULL);
}

/* Whose scores do not change with the number of steps. */
static const struct core_config steady[] = {
    {.placement = &place_first, .order = &in_turn},
    {.placement = &place_empty, .order = &in_strict_turn},
    {.placement = &place_full, .order = &by_queue},
};
enum { STEADY = sizeof steady / sizeof steady[0] };

static bool is_new(const struct job *job)
{
    return job->state == JOB_PENDING && job->run == 0;
}

/* Time goes on with nothing but limits that end jobs. ids: of the rows that wait at first. Returns
 * how many of them started later. */
static uint32_t go_on(struct bed *bed, const struct forward *f, uint64_t *ids)
{
    uint32_t waited = 0;

    for (;;) {
        const int64_t next_us = core_next_wake_us(bed->core);

        for (uint32_t row = 0; row < f->count; row++)
            if (ids[row] != JOB_NONE && core_job(bed->core, row)->run > 0) {
                assert_true(f->start_us[row] == core_now_us(bed->core));
                waited += f->start_us[row] > f->at_us;
                ids[row] = JOB_NONE; /* perhaps it has to give way at once */
            }
        if (next_us == TIME_NONE)
            break;
        apply(bed, (struct event){.type = EVENT_TIME_PASSED, .at_us = next_us});
        settle(bed->core);
    }
    for (uint32_t row = 0; row < f->count; row++)
        assert_true(ids[row] == JOB_NONE || f->start_us[row] == TIME_NONE);
    return waited;
}

static void a_job_starts_when_it_is_expected_to(void **state)
{
    const struct forward_limits all = {.until_job = JOB_NONE};
    uint32_t waited = 0;

    (void)state;
    for (uint32_t c = 0; c < STEADY; c++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct bed bed;
            struct play play;
            struct forward f;
            uint64_t *ids;

            play_init(&play, seed, 6);
            play.unsplit = true; /* it comes true at once here */
            play.levels = seed % 2 == 1;
            bed_open_with(&bed, &steady[c]);
            play_join(&play, bed.core);
            for (uint32_t i = 0; i < 40; i++)
                submit_limited(&play, &bed);
            settle(bed.core);
            forward_run(bed.core, &all, &f);
            assert_int_equal(f.count, core_job_rows(bed.core));
            ids = mem_alloc(f.count, sizeof *ids);
            for (uint32_t row = 0; row < f.count; row++)
                ids[row] = is_new(core_job(bed.core, row)) ? core_job(bed.core, row)->id : JOB_NONE;
            waited += go_on(&bed, &f, ids);
            mem_free(ids);
            forward_done(&f);
            bed_close(&bed);
        }
    assert_true(waited > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_named_starts_the_job),
        TEST(a_job_starts_when_it_is_expected_to),
    };

    return RUN_TESTS(tests);
}
