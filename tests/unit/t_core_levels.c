/* SPDX-License-Identifier: Apache-2.0 */
/* Levels of the network between nodes: what is refused, and what stays true while things change. */
#include "core/impl.h"
#include "core/levels.h"
#include "unit/core_test.h"

/* ---- helpers ---- */

static const struct level_spec two_levels[] = {
    {.name = "zone"}, {.name = "rack", .bandwidth_bytes = 50 * GB, .uplink_bytes = 10 * GB}};

static struct event levels_event(const struct level_spec *levels, uint32_t count)
{
    return (struct event){.type = EVENT_CONFIG_CHANGED,
                          .rules = {.levels = levels, .level_count = count}};
}

static struct event node_at(const char *name, const char *const *labels, uint32_t count)
{
    return (struct event){.type = EVENT_NODE_UPSERTED,
                          .node = {.name = name,
                                   .model = "A100",
                                   .gpus = 2,
                                   .cpu_mcpu = 100000,
                                   .memory_bytes = 1000 * GB,
                                   .labels = labels,
                                   .label_count = count}};
}

static void join(struct bed *bed, const char *name, const char *zone, const char *rack)
{
    const char *const labels[] = {zone, rack};
    const struct event event = node_at(name, labels, 2);

    bed_apply(bed, &event);
}

/* Two racks of two nodes of two GPUs. */
static void open_racks(struct bed *bed)
{
    const struct event config = levels_event(two_levels, 2);

    bed_open(bed, &place_first, &in_turn);
    bed_apply(bed, &config);
    join(bed, "a", "zone=z", "rack=1");
    join(bed, "b", "zone=z", "rack=1");
    join(bed, "c", "zone=z", "rack=2");
    join(bed, "d", "zone=z", "rack=2");
}

/* A gang of so many tasks of two GPUs; the caller says where they are to be. */
static struct event gang(uint64_t id, uint32_t tasks)
{
    static struct group_spec groups[8];
    static struct job_layout_spec layouts[8];

    groups[id % 8] = (struct group_spec){.tasks = tasks, .gpus = 2};
    layouts[id % 8] = (struct job_layout_spec){
        .groups = &groups[id % 8], .group_count = 1, .slowdown_ppm = 1000000};
    return (struct event){.type = EVENT_JOB_SUBMITTED,
                          .job = {.id = id,
                                  .queue = "",
                                  .user = "",
                                  .name = "",
                                  .layouts = &layouts[id % 8],
                                  .layout_count = 1,
                                  .grace_us = -1,
                                  .min_run_us = -1,
                                  .remaining_us = -1}};
}

static void refuses_naming(struct bed *bed, const struct event *event, int error, const char *words)
{
    bed_refuses(bed, event, error);
    if (strstr(bed->err.text, words) == NULL)
        fail_msg("no '%s' in: %s", words, bed->err.text);
}

/* ---- what is refused ---- */

static void a_wrong_level_is_named(void **state)
{
    struct level_spec levels[LEVELS_MAX + 1] = {{.name = "zone"}, {.name = "zone"}};
    struct event event = levels_event(levels, 2);
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    refuses_naming(&bed, &event, EINVAL, "level 'zone': is there twice");
    levels[1].name = "";
    refuses_naming(&bed, &event, EINVAL, "level '': name");
    levels[1].name = "a=b";
    refuses_naming(&bed, &event, EINVAL, "level 'a=b': name");
    levels[1] = (struct level_spec){.name = "rack", .bandwidth_bytes = -1};
    refuses_naming(&bed, &event, EINVAL, "level 'rack': bandwidth, uplink: must be 0 to");
    levels[1] = (struct level_spec){.name = "rack", .uplink_bytes = LEVEL_BYTES_MAX + 1};
    refuses_naming(&bed, &event, EINVAL, "level 'rack': bandwidth, uplink: must be 0 to");
    event.rules.level_count = LEVELS_MAX + 1;
    refuses_naming(&bed, &event, EINVAL, "8 levels");
    bed_close(&bed);
}

static void a_job_that_names_what_there_is_not_is_refused(void **state)
{
    struct event event;
    struct bed bed;

    (void)state;
    open_racks(&bed);
    event = gang(1, 2);
    event.job.within = "row";
    refuses_naming(&bed, &event, ENOENT, "job 1: within 'row': unknown, the levels are zone, rack");
    event.job.within = "";
    event.job.near = "b"; /* the name of a node */
    refuses_naming(&bed, &event, ENOENT, "near 'b': unknown");
    event.job.near = "";
    event.job.group_within = "row";
    event.job.group_size = 2;
    refuses_naming(&bed, &event, ENOENT, "group_within 'row': unknown");
    bed_close(&bed);
}

static void wishes_that_contradict_each_other_are_refused(void **state)
{
    struct event event;
    struct bed bed;

    (void)state;
    open_racks(&bed);
    event = gang(1, 4);
    event.job.within = "rack";
    event.job.near = "rack";
    refuses_naming(&bed, &event, EINVAL, "near 'rack': must be a finer level than within 'rack'");
    event.job.near = "";
    event.job.group_size = 2;
    refuses_naming(&bed, &event, EINVAL, "group_size, group_within: go with each other");
    event.job.group_within = "rack";
    refuses_naming(&bed, &event, EINVAL, "group_within 'rack': must be a finer level than");
    event.job.within = "zone";
    event.job.group_size = 3;
    refuses_naming(&bed, &event, EINVAL, "3 divides them");
    event.job.group_size = 2;
    event.job.tasks_min = 2;
    refuses_naming(&bed, &event, EINVAL, "not with tasks_min or service");
    event.job.group_within = "";
    event.job.group_size = 0;
    event.job.slowdown_max_ppm = 1500000;
    refuses_naming(&bed, &event, EINVAL, "slowdown_max_ppm: goes with jobs that need all");
    event.job.tasks_min = 0;
    event.job.slowdown_max_ppm = 999999;
    refuses_naming(&bed, &event, EINVAL, "slowdown_max_ppm: must be 0 or 1000000 to");
    event.job.slowdown_max_ppm = 1000000;
    bed_apply(&bed, &event);
    bed_close(&bed);
}

static void no_job_accepts_a_slowdown_where_there_are_no_levels(void **state)
{
    struct event event;
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    event = gang(1, 2);
    event.job.slowdown_max_ppm = 1000000;
    refuses_naming(&bed, &event, EINVAL, "no levels are configured");
    bed_close(&bed);
}

/* ---- what changes ---- */

static void levels_that_a_job_asks_for_stay(void **state)
{
    struct level_spec levels[2] = {{.name = "rack"}, {.name = "zone"}};
    struct event event, config = levels_event(levels, 2);
    struct bed bed;

    (void)state;
    open_racks(&bed);
    event = gang(1, 2);
    event.job.within = "rack";
    bed_apply(&bed, &event);
    refuses_naming(&bed, &config, EBUSY, "levels: job 1 asks for some");
    config.rules.level_count = 0;
    refuses_naming(&bed, &config, EBUSY, "levels: job 1 asks for some");
    levels[0] = (struct level_spec){.name = "zone", .uplink_bytes = 5};
    levels[1] = (struct level_spec){.name = "rack", .bandwidth_bytes = 5};
    config.rules.level_count = 2; /* the same domains, with other links */
    bed_apply(&bed, &config);
    bed_step(&bed);
    bed_run(&bed, 1);
    bed_end(&bed, 1, 0);
    config.rules.level_count = 0;
    bed_apply(&bed, &config);
    event = gang(2, 2);
    event.job.within = "rack";
    refuses_naming(&bed, &event, ENOENT, "no levels are configured");
    bed_close(&bed);
}

static void what_was_found_out_for_a_gang_is_forgotten_with_the_levels(void **state)
{
    struct level_spec levels[1] = {{.name = "rack"}};
    struct event event, config = levels_event(levels, 1);
    struct bed bed;

    (void)state;
    bed_open(&bed, &place_first, &in_turn);
    bed_apply(&bed, &(struct event[]){levels_event(two_levels, 2)}[0]);
    join(&bed, "a", "zone=y", "rack=1");
    join(&bed, "b", "zone=z", "rack=1"); /* another rack, in spite of its name */
    event = gang(1, 2);
    event.job.within = "rack";
    bed_apply(&bed, &event);
    bed_step(&bed);
    assert_int_equal(bed_find(&bed, DECISION_REJECT, 1)->reason, REASON_NEVER);
    bed_apply(&bed, &config); /* without zones it is one rack */
    event = gang(2, 2);
    event.job.within = "rack";
    bed_apply(&bed, &event);
    bed_step(&bed);
    assert_non_null(bed_find(&bed, DECISION_START, 2));
    bed_close(&bed);
}

static void a_node_stays_in_the_domain_of_a_gang_that_must_be_in_it(void **state)
{
    const char *const labels[] = {"zone=z", "rack=2", "disk=big"};
    struct event event, move = node_at("a", labels, 2), more;
    struct bed bed;

    (void)state;
    open_racks(&bed);
    event = gang(1, 2);
    event.job.within = "rack";
    bed_apply(&bed, &event);
    bed_step(&bed);
    assert_string_equal(bed_place(&bed, 1, 0)->node_name, "a");
    bed_run(&bed, 1);
    refuses_naming(&bed, &move, EBUSY, "node 'a': labels: job 1 must stay in the domains");
    move.node.label_count = 1; /* nor may it be in none */
    refuses_naming(&bed, &move, EBUSY, "node 'a': labels: job 1 must stay in the domains");
    more = node_at("c", labels, 3); /* no task is there, nor is it moved */
    bed_apply(&bed, &more);
    bed_end(&bed, 1, 0);
    move.node.label_count = 2;
    bed_apply(&bed, &move);
    event = gang(2, 3);
    event.job.within = "rack";
    bed_apply(&bed, &event);
    bed_step(&bed);
    assert_string_equal(bed_place(&bed, 2, 0)->node_name, "a");
    assert_string_equal(bed_place(&bed, 2, 1)->node_name, "c");
    assert_string_equal(bed_place(&bed, 2, 2)->node_name, "d");
    bed_close(&bed);
}

/* A report that a task is elsewhere is believed; what it must share is not obeyed, and no rule is
 * broken by that. */
static void a_task_that_is_really_in_another_domain_is_no_broken_rule(void **state)
{
    struct event event, started = {.type = EVENT_TASK_STARTED};
    struct bed bed;

    (void)state;
    open_racks(&bed);
    event = gang(1, 2);
    event.job.within = "rack";
    bed_apply(&bed, &event);
    bed_step(&bed);
    started.task.job_id = 1;
    started.task.task = 1;
    started.task.node = "d";
    started.task.gpu_mask = 3;
    bed_apply(&bed, &started);
    assert_true(bed_job(&bed, 1)->elsewhere);
    bed_apply(&bed, &(struct event[]){{.type = EVENT_TASK_LOST,
                                       .task = {.job_id = 1, .task = 0, .node = ""}}}[0]);
    bed_step(&bed);
    bed_apply(&bed, &(struct event[]){{.type = EVENT_TASK_LOST,
                                       .task = {.job_id = 1, .task = 1, .node = ""}}}[0]);
    bed_step(&bed);
    assert_int_equal(bed_state(&bed, 1), JOB_STARTING);
    assert_false(bed_job(&bed, 1)->elsewhere);
    bed_close(&bed);
}

/* ---- how slow ---- */

static void the_start_says_how_slow_it_is_against_the_best(void **state)
{
    struct event event;
    const struct decision *start;
    struct bed bed;

    (void)state;
    open_racks(&bed);
    event = gang(1, 3);
    event.job.within = "zone";
    bed_apply(&bed, &event);
    bed_step(&bed);
    start = bed_find(&bed, DECISION_START, 1);
    /* No rack holds three: crossing the uplinks of 10 GB/s is the best that there is. */
    assert_int_equal(start->slowdown.all_reduce_ppm, 1000000);
    assert_int_equal(start->slowdown.all_to_all_ppm, 1000000);
    bed_run(&bed, 1);
    bed_end(&bed, 1, 0);
    SUBMIT(&bed, .id = 2, .gpus = 1);
    SUBMIT(&bed, .id = 3, .gpus = 2);
    bed_step(&bed); /* on a and b: both tasks of the next go to rack 2 */
    event = gang(4, 2);
    event.job.within = "zone";
    bed_apply(&bed, &event);
    bed_step(&bed);
    start = bed_find(&bed, DECISION_START, 4);
    assert_string_equal(bed_place(&bed, 4, 0)->node_name, "c");
    assert_int_equal(start->slowdown.all_reduce_ppm, 1000000);
    bed_run(&bed, 4);
    bed_end(&bed, 4, 0);
    SUBMIT(&bed, .id = 5, .gpus = 2);
    bed_run(&bed, 2);
    bed_end(&bed, 2, 0);
    bed_step(&bed); /* on a; so the next is on c and d, and alone there is nothing to exchange */
    event = gang(6, 1);
    event.job.near = "rack";
    bed_apply(&bed, &event);
    bed_step(&bed);
    assert_int_equal(bed_find(&bed, DECISION_START, 6)->slowdown.all_reduce_ppm, 0);
    bed_close(&bed);
}

static void a_gang_across_racks_is_slower_by_their_uplinks(void **state)
{
    struct event event;
    const struct decision *start;
    struct bed bed;

    (void)state;
    open_racks(&bed);
    SUBMIT(&bed, .id = 1, .gpus = 2); /* a */
    bed_step(&bed);
    event = gang(2, 1);
    event.job.layouts = gang(3, 1).job.layouts;
    event.job.near = "rack";
    bed_apply(&bed, &event); /* b, where the least is left */
    bed_step(&bed);
    assert_string_equal(bed_place(&bed, 2, 0)->node_name, "b");
    bed_run(&bed, 1);
    bed_end(&bed, 1, 0);
    SUBMIT(&bed, .id = 4, .gpus = 2); /* a again */
    bed_step(&bed);
    SUBMIT(&bed, .id = 5, .gpus = 2); /* c */
    bed_step(&bed);
    bed_run(&bed, 4);
    bed_end(&bed, 4, 0);
    event = gang(6, 2);
    event.job.near = "rack";
    bed_apply(&bed, &event);
    bed_step(&bed);
    start = bed_find(&bed, DECISION_START, 6);
    assert_string_equal(bed_place(&bed, 6, 0)->node_name, "a");
    assert_string_equal(bed_place(&bed, 6, 1)->node_name, "d");
    /* 1/10 against 1/50 for the ring; and one task behind each link in both. */
    assert_int_equal(start->slowdown.all_reduce_ppm, 5000000);
    assert_int_equal(start->slowdown.all_to_all_ppm, 5000000);
    bed_close(&bed);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(a_wrong_level_is_named),
        TEST(a_job_that_names_what_there_is_not_is_refused),
        TEST(wishes_that_contradict_each_other_are_refused),
        TEST(no_job_accepts_a_slowdown_where_there_are_no_levels),
        TEST(levels_that_a_job_asks_for_stay),
        TEST(what_was_found_out_for_a_gang_is_forgotten_with_the_levels),
        TEST(a_node_stays_in_the_domain_of_a_gang_that_must_be_in_it),
        TEST(a_task_that_is_really_in_another_domain_is_no_broken_rule),
        TEST(the_start_says_how_slow_it_is_against_the_best),
        TEST(a_gang_across_racks_is_slower_by_their_uplinks),
    };

    return RUN_TESTS(tests);
}
