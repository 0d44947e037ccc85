/* SPDX-License-Identifier: Apache-2.0 */
/* What queues let jobs hold, and whose turn it is between them. */
#include "unit/queues_test.h"

static void a_job_starts_in_the_layout_that_its_queue_lets_it_hold(void **state)
{
    const struct group_spec four = {.tasks = 1, .gpus = 4}, two = {.tasks = 1, .gpus = 2};
    const struct job_layout_spec layouts[] = {
        {.groups = &four, .group_count = 1, .slowdown_ppm = 1000000},
        {.groups = &two, .group_count = 1, .slowdown_ppm = 1500000}};
    struct queue_spec q = queue("q", "");
    struct bed bed;

    (void)state;
    bed_open_orders(&bed);
    bed_node(&bed, "n0", 8);
    q.limit[RES_GPU_MGPU] = 3000;
    bed_queues(&bed, &q, 1);
    apply(&bed, (struct event){.type = EVENT_JOB_SUBMITTED,
                               .job = {.id = 1,
                                       .queue = "q",
                                       .user = "",
                                       .name = "",
                                       .layouts = layouts,
                                       .layout_count = 2,
                                       .grace_us = -1,
                                       .min_run_us = -1,
                                       .remaining_us = -1}});
    bed_step(&bed);
    assert_starts(&bed, 1, 0, "n0", 0x3);
    assert_int_equal(bed_find(&bed, DECISION_START, 1)->layout, 1);
    bed_close(&bed);
}

/* Queues p (for ann and bob) and q with r below it; the user ann may have one job in r. */
static void open_some(struct bed *bed)
{
    static const char *const users[] = {"ann", "bob"};
    struct queue_spec queues[] = {queue("p", ""), queue("q", ""), queue("r", "q")};

    bed_open_orders(bed);
    bed_node(bed, "n0", 8);
    queues[0].users = users;
    queues[0].user_count = 2;
    queues[2].user_jobs = 1;
    bed_queues(bed, queues, 3);
}

static void who_may_not_submit_somewhere_is_told_and_changes_nothing(void **state)
{
    struct bed bed;

    (void)state;
    open_some(&bed);
    REFUSES_OF(&bed, ENOENT, .id = 1, .queue = "s", .gpus = 1);
    REFUSES_OF(&bed, EINVAL, .id = 1, .gpus = 1);               /* no default queue */
    REFUSES_OF(&bed, EINVAL, .id = 1, .queue = "q", .gpus = 1); /* it has one below it */
    REFUSES_OF(&bed, EACCES, .id = 1, .queue = "p", .gpus = 1);
    REFUSES_OF(&bed, EACCES, .id = 1, .queue = "p", .user = "cy", .gpus = 1);
    REFUSES_OF(&bed, ENOENT, .id = 1, .queue = "p", .user = "bob", .class = "best", .gpus = 1);
    SUBMIT_OF(&bed, .id = 1, .queue = "p", .user = "bob", .gpus = 1);
    SUBMIT_OF(&bed, .id = 2, .queue = "r", .user = "ann", .gpus = 1);
    REFUSES_OF(&bed, ENOSPC, .id = 3, .queue = "r", .user = "ann", .gpus = 1);
    SUBMIT_OF(&bed, .id = 3, .queue = "r", .user = "bob", .gpus = 1);
    apply(&bed, cancelled(2));
    SUBMIT_OF(&bed, .id = 4, .queue = "r", .user = "ann", .gpus = 1);
    bed_close(&bed);
}

static void a_class_has_its_users(void **state)
{
    static const char *const users[] = {"ann"};
    struct class_spec classes[] = {class("top", 9, 9), class("any", 1, 0)};
    struct bed bed;

    (void)state;
    bed_open_orders(&bed);
    bed_node(&bed, "n0", 8);
    classes[0].users = users;
    classes[0].user_count = 1;
    apply(&bed, rules_event(NULL, 0, classes, 2));
    REFUSES_OF(&bed, EACCES, .id = 1, .gpus = 1); /* the first class is the default one */
    REFUSES_OF(&bed, EACCES, .id = 1, .user = "bob", .class = "top", .gpus = 1);
    REFUSES_OF(&bed, ENOENT, .id = 1, .user = "ann", .class = "medium", .gpus = 1);
    SUBMIT_OF(&bed, .id = 1, .user = "ann", .gpus = 1);
    SUBMIT_OF(&bed, .id = 2, .user = "bob", .class = "any", .gpus = 1);
    bed_close(&bed);
}

static void what_no_queue_above_could_ever_hold_is_rejected_with_its_name(void **state)
{
    struct queue_spec queues[] = {queue("q", ""), queue("r", "q")};
    struct bed bed;

    (void)state;
    bed_open_orders(&bed);
    bed_node(&bed, "n0", 8);
    queues[0].limit[RES_GPU_MGPU] = 3000;
    bed_queues(&bed, queues, 2);
    SUBMIT_OF(&bed, .id = 1, .queue = "r", .gpus = 4);
    bed_step(&bed);
    assert_non_null(bed_find(&bed, DECISION_REJECT, 1));
    assert_int_equal(bed_find(&bed, DECISION_REJECT, 1)->reason, REASON_QUOTA);
    assert_string_equal(bed_find(&bed, DECISION_REJECT, 1)->queue, "q");
    assert_int_equal(bed_state(&bed, 1), JOB_FREE);
    bed_close(&bed);
}

static void queues_by_share_have_their_turns_by_weight(void **state)
{
    struct queue_spec queues[] = {queue("a", ""), queue("b", "")};
    struct event event = rules_event(queues, 2, NULL, 0);
    struct bed bed;

    (void)state;
    bed_open_orders(&bed);
    bed_node(&bed, "n0", 6);
    queues[1].weight = 2;
    event.rules.root_order = "fair";
    bed_apply(&bed, &event);
    for (uint64_t id = 1; id <= 12; id++)
        SUBMIT_OF(&bed, .id = id, .queue = id <= 6 ? "a" : "b", .gpus = 1);
    bed_step(&bed);
    assert_int_equal(bed_count(&bed, DECISION_START), 6);
    assert_int_equal(queue_gpus(&bed, "a"), 2);
    assert_int_equal(queue_gpus(&bed, "b"), 4);
    bed_close(&bed);
}

static void users_of_one_fair_leaf_share_it(void **state)
{
    struct queue_spec q = queue("q", "");
    struct bed bed;

    (void)state;
    bed_open_orders(&bed);
    bed_node(&bed, "n0", 4);
    q.order = "fair";
    bed_queues(&bed, &q, 1);
    for (uint64_t id = 1; id <= 8; id++) /* ann was here first with six */
        SUBMIT_OF(&bed, .id = id, .queue = "q", .user = id <= 6 ? "ann" : "bob", .gpus = 1);
    bed_step(&bed);
    assert_int_equal(queue_gpus(&bed, "ann"), 2);
    assert_int_equal(queue_gpus(&bed, "bob"), 2);
    bed_close(&bed);
}

/* What ann used counts against her, and after many half-lives does not. */
static void what_was_used_is_forgotten_by_half_lives(void **state)
{
    struct queue_spec q = queue("q", "");

    (void)state;
    for (int long_ago = 0; long_ago <= 1; long_ago++) {
        struct event event = rules_event(&q, 1, NULL, 0);
        struct bed bed;

        q.order = "fair";
        event.rules.share_half_life_us = 60000000;
        bed_open_orders(&bed);
        bed_node(&bed, "n0", 1);
        bed_apply(&bed, &event);
        SUBMIT_OF(&bed, .id = 1, .queue = "q", .user = "ann", .gpus = 1);
        bed_step(&bed);
        bed_run(&bed, 1);
        apply(&bed, (struct event){.type = EVENT_TIME_PASSED, .at_us = 600000000});
        bed_end(&bed, 1, 0);
        if (long_ago)
            apply(&bed, (struct event){.type = EVENT_TIME_PASSED, .at_us = 600000000000});
        SUBMIT_OF(&bed, .id = 2, .queue = "q", .user = "ann", .gpus = 1);
        SUBMIT_OF(&bed, .id = 3, .queue = "q", .user = "bob", .gpus = 1);
        bed_step(&bed);
        assert_non_null(bed_find(&bed, DECISION_START, long_ago ? 2 : 3));
        bed_close(&bed);
    }
}

static void an_order_that_blocks_holds_back_its_own_queue_only(void **state)
{
    struct queue_spec queues[] = {queue("0", ""), queue("1", "")};
    struct bed bed;

    (void)state;
    bed_open_orders(&bed);
    bed_node(&bed, "n0", 2);
    queues[0].order = "test-strict";
    bed_queues(&bed, queues, 2);
    SUBMIT_OF(&bed, .id = 1, .queue = "0", .gpus = 1, .fixed = true);
    bed_step(&bed);
    SUBMIT_OF(&bed, .id = 2, .queue = "0", .gpus = 2);
    SUBMIT_OF(&bed, .id = 3, .queue = "0", .gpus = 1);
    bed_step(&bed);
    assert_int_equal(bed_count(&bed, DECISION_START), 0);
    assert_int_equal(bed_reason(&bed, 3), REASON_ORDER);
    SUBMIT_OF(&bed, .id = 4, .queue = "1", .gpus = 1);
    bed_step(&bed);
    assert_non_null(bed_find(&bed, DECISION_START, 4));
    bed_close(&bed);
}

static uint32_t queue_row(const struct bed *bed, const char *name)
{
    uint32_t row = core_queue_rows(bed->core) - 1;

    while (row > 0 && strcmp(core_queue_name(bed->core, row), name) != 0)
        row--;
    return row;
}

static void assert_owed(const struct bed *bed, bool owed, bool could)
{
    assert_int_equal(core_queue_is_owed(bed->core, queue_row(bed, "a")), owed);
    assert_int_equal(core_queue_could_have(bed->core, queue_row(bed, "a")), could);
    assert_false(core_queue_is_owed(bed->core, queue_row(bed, "b")));
}

/* Queue a is guaranteed the whole cluster; jobs of b may give way after so long. */
static void open_guaranteed(struct bed *bed, uint32_t nodes, uint32_t gpus, int64_t min_run_us)
{
    struct queue_spec queues[] = {queue("a", ""), queue("b", "")};
    struct class_spec any = class("any", 1, 0);
    struct event event = rules_event(queues, 2, &any, 1);

    bed_open_orders(bed);
    for (uint32_t n = 0; n < nodes; n++)
        bed_node(bed, n == 0 ? "n0" : "n1", gpus);
    queues[0].guarantee[RES_GPU_MGPU] = (int64_t)nodes * gpus * GPU_MGPU;
    any.min_run_us = min_run_us;
    bed_apply(bed, &event);
}

static void what_a_queue_is_owed_it_could_have_once_victims_are_old_enough(void **state)
{
    struct bed bed;

    (void)state;
    open_guaranteed(&bed, 1, 8, 600 * 1000000LL);
    SUBMIT_OF(&bed, .id = 1, .queue = "b", .gpus = 8);
    bed_step(&bed);
    bed_run(&bed, 1);
    SUBMIT_OF(&bed, .id = 2, .queue = "a", .gpus = 4);
    bed_step(&bed);
    assert_owed(&bed, true, false);
    apply(&bed, (struct event){.type = EVENT_TIME_PASSED, .at_us = 700 * 1000000LL});
    assert_owed(&bed, true, true);
    bed_step(&bed); /* and now it takes it */
    assert_int_equal(bed_find(&bed, DECISION_STOP, 1)->for_job, 2);
    assert_owed(&bed, false, false);
    bed_close(&bed);
}

static void what_is_in_pieces_between_its_own_jobs_no_queue_could_have(void **state)
{
    struct bed bed;

    (void)state;
    open_guaranteed(&bed, 2, 4, 0);
    for (uint64_t id = 1; id <= 4; id++) { /* first fit: a job of each on both nodes */
        SUBMIT_OF(&bed, .id = id, .queue = id % 2 == 1 ? "b" : "a", .gpus = id % 2 == 1 ? 3 : 1);
        bed_step(&bed);
        bed_run(&bed, id);
    }
    SUBMIT_OF(&bed, .id = 5, .queue = "a", .gpus = 4);
    bed_step(&bed);
    assert_int_equal(bed_count(&bed, DECISION_STOP), 0);
    assert_owed(&bed, true, false);
    SUBMIT_OF(&bed, .id = 6, .queue = "a", .gpus = 3);
    bed_step(&bed);
    assert_int_equal(bed_count(&bed, DECISION_STOP), 1);
    bed_close(&bed);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(a_job_starts_in_the_layout_that_its_queue_lets_it_hold),
        TEST(who_may_not_submit_somewhere_is_told_and_changes_nothing),
        TEST(a_class_has_its_users),
        TEST(what_no_queue_above_could_ever_hold_is_rejected_with_its_name),
        TEST(queues_by_share_have_their_turns_by_weight),
        TEST(users_of_one_fair_leaf_share_it),
        TEST(what_was_used_is_forgotten_by_half_lives),
        TEST(an_order_that_blocks_holds_back_its_own_queue_only),
        TEST(what_a_queue_is_owed_it_could_have_once_victims_are_old_enough),
        TEST(what_is_in_pieces_between_its_own_jobs_no_queue_could_have),
    };

    return RUN_TESTS(tests);
}
