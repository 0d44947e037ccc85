/* SPDX-License-Identifier: Apache-2.0 */
/* A core that was journaled comes back as it was: random histories with turns, steps and snapshots,
 * broken off after each turn. */
#include "base/text.h"
#include "policy/registry.h"
#include "store/recover.h"
#include "unit/core_random.h"
#include "wire/arena.h"
#include "wire/decision_json.h"
#include "wire/event_json.h"
/* Last: its begin and end are those of a journal. */
#include "unit/journal_test.h"

enum { HISTORY_TURNS = 60, TURN_EVENTS_MAX = 4 };

/* A daemon in small: what it holds, and what it does in a turn. */
struct daemon {
    struct core_config config;
    struct core *core;
    struct decisions decisions;
    struct play play;
    struct text text;
    int64_t now_us;
    bool forgets; /* to journal what was decided */
};

static void put_event(struct daemon *d, const struct event *event)
{
    text_clear(&d->text);
    event_format(event, &d->text);
    (void)journal_put(world.journal, JOURNAL_EVENT, event->at_us, d->text.bytes, d->text.used);
}

/* What comes to a daemon comes as text, so nothing comes that text cannot say. */
static bool can_be_said(struct daemon *d, const struct event *event)
{
    struct arena arena;
    struct event back;
    bool can;

    arena_init(&arena);
    text_clear(&d->text);
    event_format(event, &d->text);
    can = event_parse("", 1, d->text.bytes, d->text.used - 1, &arena, &back, NULL) == 0;
    arena_done(&arena);
    return can;
}

static void step(struct daemon *d)
{
    const struct event mark = {.type = EVENT_STEPPED, .at_us = d->now_us};

    put_event(d, &mark);
    (void)core_step(d->core, d->now_us, &d->decisions);
    text_clear(&d->text);
    decisions_format(&d->decisions, d->now_us, &d->text);
    if (d->text.used > 0 && !d->forgets)
        (void)journal_put(world.journal, JOURNAL_DECISIONS, d->now_us, d->text.bytes, d->text.used);
}

static void turn(struct daemon *d)
{
    const uint32_t events = 1 + play_below(&d->play, TURN_EVENTS_MAX);

    for (uint32_t i = 0; i < events; i++) {
        struct event event;

        play_event(&d->play, d->core, &event);
        if (!can_be_said(d, &event))
            continue;
        put_event(d, &event);
        (void)core_apply(d->core, &event, NULL); /* some are nonsense, and refused */
    }
    d->now_us = core_now_us(d->core);
    step(d);
    WORKS(journal_commit(world.journal, &err));
}

static void take_snapshot(struct daemon *d)
{
    size_t count;
    uint8_t *bytes = core_save(d->core, &count);

    WORKS(journal_put_snapshot(world.journal, d->now_us, bytes, count, &err));
    mem_free(bytes);
}

static void join_nodes(struct daemon *d)
{
    for (uint32_t i = 0; i < d->play.nodes; i++) {
        struct event event = {0};

        play_node(&d->play, &event);
        snprintf(d->play.name, sizeof d->play.name, "n%u", i);
        put_event(d, &event);
        WORKS(core_apply(d->core, &event, &err));
    }
}

static void begin_daemon(struct daemon *d, uint64_t seed)
{
    *d = (struct daemon){.config = {.placement = placement_at(0), .order = order_at(0)}};
    begin();
    d->config.orders = order_all(&d->config.order_count);
    d->core = core_new(&d->config, &err);
    assert_non_null(d->core);
    decisions_init(&d->decisions);
    text_init(&d->text, 1 << 24);
    play_init(&d->play, seed, 6);
    d->play.levels = seed % 2 == 1;
    d->play.orders = d->config.orders;
    d->play.order_count = d->config.order_count;
    (void)journal_put(world.journal, JOURNAL_HEADER, 0, "{}\n", 3);
    join_nodes(d);
    WORKS(journal_commit(world.journal, &err));
}

static void end_daemon(struct daemon *d)
{
    core_free(d->core);
    decisions_done(&d->decisions);
    text_done(&d->text);
    end();
}

/* From the file it comes back as it is. */
static struct recovery check_recovery(struct daemon *d)
{
    struct recovery counts;
    struct core *core;

    close_journal();
    open_journal();
    WORKS(recover(world.journal, &d->config, &core, &counts, &err));
    assert_true(core_digest(core) == core_digest(d->core));
    core_free(core);
    return counts;
}

static void after_each_turn_the_core_comes_back_as_it_was(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct daemon d;

        begin_daemon(&d, seed);
        for (uint32_t i = 1; i <= HISTORY_TURNS; i++) {
            turn(&d);
            if (i % 17 == 0)
                take_snapshot(&d);
            (void)check_recovery(&d);
        }
        end_daemon(&d);
    }
}

static void a_snapshot_saves_the_rows_before_it(void **state)
{
    const struct journal_rule rule = {.snapshots = 1, .keep_us = 0, .rows_max = 100000};
    struct recovery counts;
    struct daemon d;

    (void)state;
    begin_daemon(&d, 4);
    for (uint32_t i = 0; i < HISTORY_TURNS; i++)
        turn(&d);
    counts = check_recovery(&d);
    assert_int_equal(counts.snapshot_seq, 0);
    assert_int_equal(counts.steps, HISTORY_TURNS);
    take_snapshot(&d);
    turn(&d);
    counts = check_recovery(&d);
    assert_int_equal(counts.steps, 1);
    assert_true(counts.snapshot_seq > HISTORY_TURNS);
    assert_true(journal_prune(world.journal, &rule, INT64_MAX / 2, &err) > HISTORY_TURNS);
    counts = check_recovery(&d);
    assert_int_equal(counts.steps, 1);
    end_daemon(&d);
}

static void a_snapshot_that_cannot_be_read_is_passed_over_while_older_rows_are_there(void **state)
{
    const struct journal_rule rule = {.snapshots = 1, .keep_us = 0, .rows_max = 100000};
    struct recovery counts;
    struct core *core;
    struct daemon d;

    (void)state;
    begin_daemon(&d, 5);
    for (uint32_t i = 0; i < 10; i++)
        turn(&d);
    take_snapshot(&d);
    turn(&d);
    WORKS(journal_put_snapshot(world.journal, 0, "of a later version", 18, &err));
    turn(&d);
    counts = check_recovery(&d);
    assert_int_equal(counts.snapshots_refused, 1);
    assert_int_equal(counts.steps, 2);
    /* Only that one is left: there is no way back. */
    (void)journal_prune(world.journal, &rule, INT64_MAX / 2, &err);
    FAILS(recover(world.journal, &d.config, &core, &counts, &err), -EBADMSG,
          "no snapshot can be read, and older rows are gone: ");
    end_daemon(&d);
}

static void an_empty_journal_is_an_empty_core(void **state)
{
    struct recovery counts;
    struct core *core;
    struct daemon d;

    (void)state;
    begin_daemon(&d, 6);
    end_daemon(&d);
    begin();
    WORKS(recover(world.journal, &d.config, &core, &counts, &err));
    assert_int_equal(counts.events + counts.steps + counts.snapshots_refused, 0);
    assert_int_equal(core_now_us(core), 0);
    core_free(core);
    end();
}

static void an_event_that_was_refused_is_refused_again(void **state)
{
    const struct event nonsense = {.type = EVENT_JOB_CANCELLED, .job_id = 999};
    struct daemon d;

    (void)state;
    begin_daemon(&d, 7);
    turn(&d);
    put_event(&d, &nonsense);
    assert_int_equal(core_apply(d.core, &nonsense, NULL), -ENOENT);
    step(&d);
    WORKS(journal_commit(world.journal, &err));
    assert_true(check_recovery(&d).events_refused >= 1);
    end_daemon(&d);
}

/* What was decided is what drivers were told: a scheduler that decides otherwise must not go on. */
static void a_step_that_decides_otherwise_is_an_error(void **state)
{
    const char *told = "{\"decision\":\"start\",\"at_us\":0,\"job_id\":7,\"run\":1}\n";
    struct recovery counts;
    struct core *core;
    struct daemon d;

    (void)state;
    begin_daemon(&d, 8);
    step(&d); /* decides nothing */
    (void)journal_put(world.journal, JOURNAL_DECISIONS, 0, told, strlen(told));
    WORKS(journal_commit(world.journal, &err));
    FAILS(recover(world.journal, &d.config, &core, &counts, &err), -ESTALE,
          "journal row 9: the step decides otherwise now");
    end_daemon(&d);
}

static void a_decision_that_was_not_journaled_is_an_error(void **state)
{
    struct recovery counts;
    struct core *core;
    struct daemon d;

    (void)state;
    begin_daemon(&d, 9);
    d.forgets = true;
    do
        turn(&d);
    while (d.decisions.count == 0);
    FAILS(recover(world.journal, &d.config, &core, &counts, &err), -ESTALE, "decides otherwise");
    end_daemon(&d);
}

static void a_row_that_is_no_event_is_an_error_with_its_number(void **state)
{
    struct recovery counts;
    struct core *core;
    struct daemon d;

    (void)state;
    begin_daemon(&d, 10);
    (void)put(0, "{\"type\":\"nonsense\"}\n");
    WORKS(journal_commit(world.journal, &err));
    FAILS(recover(world.journal, &d.config, &core, &counts, &err), -EBADMSG, "journal:8: ");
    end_daemon(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(after_each_turn_the_core_comes_back_as_it_was),
        TEST(a_snapshot_saves_the_rows_before_it),
        TEST(a_snapshot_that_cannot_be_read_is_passed_over_while_older_rows_are_there),
        TEST(an_empty_journal_is_an_empty_core),
        TEST(an_event_that_was_refused_is_refused_again),
        TEST(a_step_that_decides_otherwise_is_an_error),
        TEST(a_decision_that_was_not_journaled_is_an_error),
        TEST(a_row_that_is_no_event_is_an_error_with_its_number),
    };

    return RUN_TESTS(tests);
}
