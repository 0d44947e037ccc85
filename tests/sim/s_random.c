/* SPDX-License-Identifier: Apache-2.0 */
/* A random soak: all kinds of facts, late, doubled and unknown ones too, under every way to
 * decide. After each fact and each step the rules hold, a refused fact has changed nothing, and
 * no step decides what contradicts what is known. */
#include "core/impl.h"
#include "unit/core_random.h"

enum { SEEDS = 10, EVENTS = 1200 };

struct counts {
    uint64_t steps, starts, stops, refused;
};

/* What a step may decide: starts of jobs that waited, whole and on healthy GPUs that exist. */
static void check_start(const struct core *core, const struct decisions *out,
                        const struct decision *d)
{
    const struct job *job = core_job(core, d->job);

    assert_true(job->id == d->job_id && job->state == JOB_STARTING);
    assert_int_equal(job->task_count, d->place_count);
    for (uint32_t i = 0; i < d->place_count; i++) {
        const struct task_place *place = &out->places[d->place_first + i];
        const struct task *task = core_task(core, job->task_first + i);
        const struct node_class *class = core_class(core, core_node_class(core, place->node));

        assert_true(core_node_in_use(core, place->node) && core_node_out(core, place->node) == 0);
        assert_true(place->task == i && task->node == place->node &&
                    task->gpu_mask == place->gpu_mask);
        assert_true(class->gpu_count == 64 || place->gpu_mask >> class->gpu_count == 0);
        assert_int_equal(place->gpu_mask & core->nodes.rows[place->node].lost_mask, 0);
        assert_true(core_shape_fits_class(core, task->shape, core_node_class(core, place->node)));
        for (uint32_t k = 0; k < i; k++)
            assert_true(
                !core_layout(core, core_gang(core, job->gang)->first_layout + job->layout)->apart ||
                out->places[d->place_first + k].node != place->node);
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
        assert_true(d->reason == (row != ROW_NONE ? REASON_LOST : REASON_CANCELLED));
}

/* One start or stop of a job a step; but who was lost may start anew. */
static bool may_both_be(const struct decision *a, const struct decision *b)
{
    return a->job_id != b->job_id || a->type == DECISION_NOTE || b->type == DECISION_NOTE ||
           (a->type == DECISION_STOP && a->reason == REASON_LOST &&
            (b->type == DECISION_RESERVE || (b->type == DECISION_START && b->run == a->run + 1)));
}

static void check_decisions(const struct bed *bed, struct counts *counts)
{
    for (uint32_t i = 0; i < bed->out.count; i++) {
        const struct decision *d = &bed->out.items[i];

        counts->starts += d->type == DECISION_START;
        counts->stops += d->type == DECISION_STOP;
        if (d->type == DECISION_START)
            check_start(bed->core, &bed->out, d);
        else if (d->type == DECISION_STOP)
            check_stop(bed->core, d);
        for (uint32_t k = 0; k < i; k++)
            assert_true(may_both_be(&bed->out.items[k], d));
    }
}

static void step_and_check(struct bed *bed, struct counts *counts)
{
    counts->steps++;
    core_step(bed->core, core_now_us(bed->core), &bed->out);
    bed_check(bed);
    check_decisions(bed, counts);
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
    struct counts counts = {0};

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct bed bed;
        struct play play;

        play_init(&play, seed * 77 + 1, 3 + (uint32_t)seed % 8);
        play.tame = tame;
        bed_open_with(&bed, config);
        play_join(&play, bed.core);
        for (uint32_t i = 0; i < EVENTS; i++) {
            apply_and_check(&bed, &play, &counts);
            if (play_below(&play, 3) == 0)
                step_and_check(&bed, &counts);
        }
        drain(&bed, &play);
        bed_close(&bed);
    }
    assert_true(counts.starts > 10 * SEEDS); /* it was no idle talk */
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
