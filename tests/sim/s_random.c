/* SPDX-License-Identifier: Apache-2.0 */
/* A random soak: all kinds of facts, late, doubled and unknown ones too, under every way to
 * decide. After each fact and each step the rules hold, a refused fact has changed nothing, and
 * no step decides what contradicts what is known. */
#include "core/impl.h"
#include "core/life.h"
#include "unit/core_random.h"

enum { SEEDS = 10, EVENTS = 1200 };

struct counts {
    uint64_t steps, starts, grown, stops, refused;
};

/* Tasks of a job that stay apart: no other is on the node of this one. */
static void check_apart(const struct core *core, const struct job *job, uint32_t task)
{
    const struct gang *gang = core_gang(core, job->gang);

    for (uint32_t k = 0; k < job->task_count; k++)
        assert_true(k == task || core_task(core, job->task_first + k)->left ||
                    core_task(core, job->task_first + k)->node !=
                        core_task(core, job->task_first + task)->node ||
                    !core_layout(core, gang->first_layout + job->layout)->apart);
}

/* What a step may decide: starts of jobs that waited, whole or with as many tasks as they need, and
 * more tasks of those that run; on healthy GPUs that exist. */
static void check_start(const struct core *core, const struct decisions *out,
                        const struct decision *d)
{
    const struct job *job = core_job(core, d->job);

    assert_true(job->id == d->job_id && d->place_count > 0);
    assert_true(job->state == JOB_STARTING || (job->state == JOB_RUNNING && d->run > 1));
    assert_true(job_tasks_standing(job) >= job_tasks_min(core, job) || job->service);
    assert_true(job->state == JOB_RUNNING || job->tasks_absent + d->place_count == job->task_count);
    for (uint32_t i = 0; i < d->place_count; i++) {
        const struct task_place *place = &out->places[d->place_first + i];
        const struct task *task = core_task(core, job->task_first + place->task);
        const struct node_class *class = core_class(core, core_node_class(core, place->node));

        assert_true(core_node_in_use(core, place->node) && core_node_out(core, place->node) == 0);
        assert_true(task->node == place->node && task->gpu_mask == place->gpu_mask);
        assert_true(task->run == d->run && !task->started && !task->left);
        assert_true(job->state == JOB_RUNNING || place->task == i || job->task_count > i + 1);
        assert_true(class->gpu_count == 64 || place->gpu_mask >> class->gpu_count == 0);
        assert_int_equal(place->gpu_mask & core->nodes.rows[place->node].lost_mask, 0);
        assert_true(core_shape_fits_class(core, task->shape, core_node_class(core, place->node)));
        check_apart(core, job, place->task);
    }
}

/* A job that is told to stop is stopping, unless it was lost with its node in the same step. */
static void check_stop(const struct core *core, const struct decision *d)
{
    const uint32_t row = core_find_job(core, d->job_id);

    if (row != ROW_NONE && core_job(core, row)->run == d->run &&
        core_job(core, row)->state != JOB_PENDING)
        assert_int_equal(core_job(core, row)->state, JOB_STOPPING);
    else
        assert_true(row == ROW_NONE ? d->mode != STOP_PREEMPT : d->reason == REASON_LOST);
}

/* One start or stop of a job a step, two starts of a service; but who was lost, in part or whole,
 * may start anew or stop. */
static bool may_both_be(const struct core *core, const struct decision *a, const struct decision *b)
{
    return a->job_id != b->job_id || a->type == DECISION_NOTE || b->type == DECISION_NOTE ||
           a->type == DECISION_REPARTITION || b->type == DECISION_REPARTITION ||
           (a->type == DECISION_ATTEND && b->type == DECISION_START) ||
           (a->type == DECISION_STOP && a->reason == REASON_LOST &&
            (b->type == DECISION_RESERVE || (b->type == DECISION_START && b->run == a->run + 1))) ||
           (a->type == DECISION_STOP && a->mode == STOP_SHRINK && a->reason == REASON_LOST) ||
           (b->type == DECISION_START && core_job(core, b->job)->service);
}

static void check_decisions(const struct bed *bed, struct counts *counts)
{
    for (uint32_t i = 0; i < bed->out.count; i++) {
        const struct decision *d = &bed->out.items[i];

        counts->starts += d->type == DECISION_START;
        counts->stops += d->type == DECISION_STOP;
        counts->grown +=
            d->type == DECISION_START && core_job(bed->core, d->job)->state == JOB_RUNNING;
        if (d->type == DECISION_START)
            check_start(bed->core, &bed->out, d);
        else if (d->type == DECISION_STOP && d->mode != STOP_SHRINK)
            check_stop(bed->core, d);
        for (uint32_t k = 0; k < i; k++)
            assert_true(may_both_be(bed->core, &bed->out.items[k], d));
    }
}

/* Does any task that starts here take something of this resource? */
static bool takes(const struct core *core, const struct decisions *out, const struct decision *d,
                  int r)
{
    for (uint32_t i = 0; i < d->place_count; i++) {
        const uint32_t task =
            core_job(core, d->job)->task_first + out->places[d->place_first + i].task;

        if (task_amounts(core, core_task(core, task)).of[r] > 0)
            return true;
    }
    return false;
}

/* Where jobs started, the queues above them hold no more than they may. */
static void check_limits(const struct core *core, const struct decisions *out)
{
    for (uint32_t i = 0; i < out->count; i++) {
        const uint32_t job = out->items[i].type == DECISION_START ? out->items[i].job : ROW_NONE;
        uint32_t row = job != ROW_NONE ? core_job(core, job)->at.leaf : QUEUE_NONE;

        for (; row != QUEUE_NONE && core->queues.books; row = core->queues.rows[row].parent)
            for (int r = 0; r < RES_COUNT; r++)
                assert_true(core->queues.rows[row].used.of[r] <=
                                core->queues.rows[row].limit.of[r] ||
                            !takes(core, out, &out->items[i], r));
    }
}

static void step_and_check(struct bed *bed, struct counts *counts)
{
    counts->steps++;
    core_step(bed->core, core_now_us(bed->core), &bed->out);
    bed_check(bed);
    check_decisions(bed, counts);
    check_limits(bed->core, &bed->out);
}

/* Tasks of some job that can spare them are told to stop, for nobody or for a job that waits. */
static void shrink_some(struct bed *bed, struct play *play)
{
    struct core *core = bed->core;
    const uint32_t job = play_active(play, core), other = play_below(play, core_job_rows(core) + 1);
    uint32_t spare = job != ROW_NONE ? job_spare_tasks(core, job) : 0, tasks[8], count = 0;
    const bool waits = other < core_job_rows(core) && core_job(core, other)->state == JOB_PENDING;

    if (spare == 0)
        return;
    spare = 1 + play_below(play, spare < 8 ? spare : 8);
    for (uint32_t i = core_job(core, job)->task_count; i-- > 0 && count < spare;) {
        const struct task *task = core_task(core, core_job(core, job)->task_first + i);

        if (!task->left && !task->shrinking)
            tasks[count++] = i;
    }
    assert_int_equal(count, spare);
    decisions_clear(&bed->out);
    job_shrink(core, job, tasks, count, waits ? core_job(core, other)->id : JOB_NONE, &bed->out);
    bed_check(bed);
}

static void apply_and_check(struct bed *bed, struct play *play, struct counts *counts)
{
    const uint64_t before = core_digest(bed->core);
    struct event event;

    play_event(play, bed->core, &event);
    if (core_apply(bed->core, &event, &bed->err) < 0) {
        counts->refused++;
        assert_true(core_digest(bed->core) == before);
    }
    bed_check(bed);
    if (play_below(play, 10) == 0) { /* heard again */
        const uint64_t once = core_digest(bed->core);

        if (core_apply(bed->core, &event, NULL) < 0)
            assert_true(core_digest(bed->core) == once);
        bed_check(bed);
    }
}

/* Everybody leaves; then nothing is held by anybody. */
static void drain(struct bed *bed, struct play *play)
{
    for (uint64_t id = 1; id < play->next_id; id++)
        (void)core_apply(bed->core, &(struct event[]){cancelled(id)}[0], NULL);
    bed_step(bed);
    for (uint64_t id = 1; id < play->next_id; id++)
        if (bed_state(bed, id) != JOB_FREE)
            bed_end(bed, id, 143);
    bed_check(bed);
    assert_int_equal(core_pending_count(bed->core), 0);
    assert_int_equal(core_running_count(bed->core), 0);
    assert_int_equal(bed->core->claimant_count, 0);
    for (uint32_t node = 0; node < core_node_rows(bed->core); node++) {
        const struct node *row = &bed->core->nodes.rows[node];

        assert_true(row->held_mcpu == 0 && row->held_memory_bytes == 0 && !row->deficit);
        assert_int_equal(row->first_task, ROW_NONE);
        for (uint32_t i = 0; i < row->gpu_room; i++)
            assert_int_equal(bed->core->nodes.gpus[row->gpu_first + i].held_mgpu, 0);
        for (uint32_t k = 0; bed->core->nodes.sees_kinds && k < NODE_KINDS; k++)
            assert_int_equal(bed->core->nodes.kinds[node * NODE_KINDS + k], 0);
    }
}

static void soak(const struct core_config *config, bool tame)
{
    struct core_config with_orders = *config;
    struct counts counts = {0};

    with_orders.orders = test_orders;
    with_orders.order_count = TEST_ORDERS;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct bed bed;
        struct play play;

        play_init(&play, seed * 77 + 1, 3 + (uint32_t)seed % 8);
        play.levels = seed % 2 == 1;
        play.tame = tame;
        play.orders = test_orders;
        play.order_count = TEST_ORDERS;
        bed_open_with(&bed, &with_orders);
        play_join(&play, bed.core);
        for (uint32_t i = 0; i < EVENTS; i++) {
            apply_and_check(&bed, &play, &counts);
            if (play_below(&play, 3) == 0)
                step_and_check(&bed, &counts);
            if (play_below(&play, 12) == 0)
                shrink_some(&bed, &play);
        }
        drain(&bed, &play);
        bed_close(&bed);
    }
    assert_true(counts.starts > 10 * SEEDS); /* it was no idle talk */
    assert_true(counts.grown > 2 * SEEDS || config->repack != REPACK_NEVER);
    assert_true(counts.refused > 10 * SEEDS || tame);
    assert_true(config->order->preempts == PREEMPT_NEVER || counts.stops > 10 * SEEDS);
}

static void the_rules_hold_where_nobody_gives_way(void **state)
{
    (void)state;
    soak(&(struct core_config){.placement = &place_salted, .order = &in_turn, .seed = 2}, false);
}

static void the_rules_hold_where_the_first_job_blocks(void **state)
{
    (void)state;
    soak(&(struct core_config){.placement = &place_full, .order = &in_strict_turn}, false);
}

static void the_rules_hold_where_nodes_are_drawn_by_lot(void **state)
{
    (void)state;
    soak(&(struct core_config){.placement = &place_drawn_by_lot, .order = &in_turn, .seed = 5},
         false);
}

static void the_rules_hold_where_jobs_take_from_others(void **state)
{
    (void)state;
    soak(&(struct core_config){.placement = &place_full, .order = &by_queue}, true);
    soak(&(struct core_config){.placement = &place_salted, .order = &by_queue}, false);
}

static void the_rules_hold_where_jobs_take_by_what_they_had(void **state)
{
    struct order_policy order = by_attained;

    (void)state;
    order.hysteresis_ppm = 1500000;
    soak(&(struct core_config){.placement = &place_empty, .order = &order}, false);
}

static void the_rules_hold_where_all_is_packed_anew(void **state)
{
    (void)state;
    soak(&(struct core_config){.placement = &place_full, .order = &by_queue, .repack = REPACK_ANEW},
         true);
    soak(&(struct core_config){.placement = &place_salted,
                               .order = &by_attained,
                               .repack = REPACK_ANEW},
         false);
}

static void the_rules_hold_where_jobs_are_kept_and_moved(void **state)
{
    (void)state;
    soak(&(struct core_config){.placement = &place_salted,
                               .order = &by_queue,
                               .repack = REPACK_KEEP,
                               .migrate_wait_us = 1000000,
                               .migrate_gain_ppm = 100000},
         false);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(the_rules_hold_where_nobody_gives_way),
        TEST(the_rules_hold_where_the_first_job_blocks),
        TEST(the_rules_hold_where_nodes_are_drawn_by_lot),
        TEST(the_rules_hold_where_jobs_take_from_others),
        TEST(the_rules_hold_where_jobs_take_by_what_they_had),
        TEST(the_rules_hold_where_all_is_packed_anew),
        TEST(the_rules_hold_where_jobs_are_kept_and_moved),
    };

    return RUN_TESTS(tests);
}
