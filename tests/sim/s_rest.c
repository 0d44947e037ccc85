/* SPDX-License-Identifier: Apache-2.0 */
/* With no more facts from outside but that what was decided came true, every core comes to rest:
 * nobody gives way to one to whom he gave way before, again and again. */
#include "core/impl.h"
#include "unit/core_random.h"

enum { SEEDS = 400, EVENTS = 300, REST = 60 };

/* Tasks that are on their way have started, those that were told to stop have left. */
static void come_true(struct core *core)
{
    for (uint32_t row = 0; row < core_job_rows(core); row++) {
        const struct job before = *core_job(core, row);

        for (uint32_t t = 0; t < before.task_count; t++) {
            const struct job *job = core_job(core, row);
            const struct task *task;

            if (job->id != before.id || job->run != before.run || job->state == JOB_PENDING ||
                job->state == JOB_FREE)
                break;
            task = core_task(core, job->task_first + t);
            if (!task->left && task->leaving)
                tell(core, job->id, t, EVENT_TASK_EXITED, 143);
            else if (!task->left && !task->started)
                tell(core, job->id, t, EVENT_TASK_STARTED, 0);
        }
    }
}

static uint32_t moves(const struct decisions *out)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < out->count; i++)
        count += out->items[i].type == DECISION_START || out->items[i].type == DECISION_STOP;
    return count;
}

static void print_moves(const struct bed *bed)
{
    for (uint32_t i = 0; i < bed->out.count; i++) {
        const struct decision *d = &bed->out.items[i];

        if (d->type == DECISION_START || d->type == DECISION_STOP)
            print_message("#   %s %llu%s for %lld\n", d->type == DECISION_START ? "start" : "stop",
                          (unsigned long long)d->job_id, d->mode == STOP_SHRINK ? " in part" : "",
                          (long long)d->for_job);
    }
}

/* Returns how many steps it took, at most REST. */
static uint32_t rest(struct bed *bed, bool print)
{
    uint32_t steps = 0;

    for (; steps < REST; steps++) {
        come_true(bed->core);
        core_step(bed->core, core_now_us(bed->core), &bed->out);
        bed_check(bed);
        if (moves(&bed->out) == 0)
            break;
        if (print) {
            print_message("# step %u\n", steps);
            print_moves(bed);
        }
    }
    return steps;
}

static void every_core_comes_to_rest(const struct core_config *bare, bool whole_gpus,
                                     uint64_t seed_first, uint64_t seeds)
{
    struct core_config config = *bare;

    config.orders = test_orders;
    config.order_count = TEST_ORDERS;
    for (uint64_t seed = seed_first; seed < seed_first + seeds; seed++) {
        struct bed bed;
        struct play play;

        play_init(&play, seed * 13 + 5, 2 + (uint32_t)seed % 6);
        play.levels = seed % 2 == 1;
        play.orders = test_orders;
        play.order_count = TEST_ORDERS;
        play.whole_gpus = whole_gpus;
        bed_open_with(&bed, &config);
        play_join(&play, bed.core);
        for (uint32_t i = 0; i < EVENTS; i++) {
            struct event event;

            play_event(&play, bed.core, &event);
            (void)core_apply(bed.core, &event, NULL);
            if (play_below(&play, 3) == 0)
                core_step(bed.core, core_now_us(bed.core), &bed.out);
            if (i % 50 != 49)
                continue;
            if (rest(&bed, false) == REST) {
                print_message("# seed %llu event %u\n", (unsigned long long)seed, i);
                (void)rest(&bed, true);
                fail();
            }
        }
        bed_close(&bed);
    }
}

static void rest_all(const struct core_config *config)
{
    every_core_comes_to_rest(config, true, 0, SEEDS);
    every_core_comes_to_rest(config, false, 0, SEEDS);
}

static void a_core_comes_to_rest_where_nobody_takes_by_order(void **state)
{
    (void)state;
    rest_all(&(struct core_config){.placement = &place_full, .order = &in_turn});
    rest_all(&(struct core_config){.placement = &place_first, .order = &in_strict_turn});
}

static void a_core_comes_to_rest_where_jobs_take_by_order(void **state)
{
    (void)state;
    rest_all(&(struct core_config){.placement = &place_empty, .order = &by_queue});
    rest_all(&(struct core_config){.placement = &place_first, .order = &by_attained});
}

/* Three jobs took turns by three rights: class, reclaim, and class in another queue. */
static void jobs_that_took_turns_by_several_rights_come_to_rest(void **state)
{
    (void)state;
    every_core_comes_to_rest(&(struct core_config){.placement = &place_full, .order = &in_turn},
                             false, 11542, 1);
    every_core_comes_to_rest(
        &(struct core_config){.placement = &place_first, .order = &by_attained}, false, 19631, 1);
    every_core_comes_to_rest(&(struct core_config){.placement = &place_empty, .order = &by_queue},
                             false, 19631, 1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(a_core_comes_to_rest_where_nobody_takes_by_order),
        TEST(a_core_comes_to_rest_where_jobs_take_by_order),
        TEST(jobs_that_took_turns_by_several_rights_come_to_rest),
    };

    return RUN_TESTS(tests);
}
