/* SPDX-License-Identifier: Apache-2.0 */
/* A configuration is taken whole or not at all, with jobs of every state there. */
#include "unit/queues_test.h"

static void open_bed(struct bed *bed)
{
    bed_open_orders(bed);
    bed_node(bed, "n0", 8);
}

/* This field is wrong: refused, named, and nothing has changed. */
static void refuses_naming(struct bed *bed, const struct event *event, int error, const char *word)
{
    bed_refuses(bed, event, error);
    if (strstr(bed->err.text, word) == NULL)
        fail_msg("no '%s' in: %s", word, bed->err.text);
}

static void refuses_queue(struct bed *bed, struct queue_spec queue, const char *word)
{
    const struct event event = rules_event(&queue, 1, NULL, 0);

    refuses_naming(bed, &event, EINVAL, word);
}

static void refuses_class(struct bed *bed, struct class_spec class, const char *word)
{
    const struct event event = rules_event(NULL, 0, &class, 1);

    refuses_naming(bed, &event, EINVAL, word);
}

static void a_wrong_field_of_a_queue_is_named(void **state)
{
    struct queue_spec q = queue("q", "");
    struct bed bed;

    (void)state;
    open_bed(&bed);
    refuses_queue(&bed, queue("", ""), "name");
    refuses_queue(&bed, queue("q", "p"), "parent 'p'");
    q.order = "best";
    refuses_queue(&bed, q, "order 'best'");
    q = queue("q", "");
    q.weight = QUEUE_WEIGHT_MAX + 1;
    refuses_queue(&bed, q, "weight");
    q = queue("q", "");
    q.user_count = USERS_MAX + 1;
    refuses_queue(&bed, q, "users");
    q = queue("q", "");
    q.guarantee[RES_CPU_MCPU] = -1;
    refuses_queue(&bed, q, "guarantee");
    q.guarantee[RES_CPU_MCPU] = AMOUNT_SUM_MAX + 1;
    refuses_queue(&bed, q, "guarantee");
    q.guarantee[RES_CPU_MCPU] = 2;
    q.limit[RES_CPU_MCPU] = 1;
    refuses_queue(&bed, q, "limit");
    for (int field = 0; field < 4; field++) {
        static const char *const words[] = {"limit", "borrow", "lend", "user-limit"};
        int64_t *amounts;

        q = queue("q", "");
        amounts = field == 0 ? q.limit : field == 1 ? q.borrow : field == 2 ? q.lend : q.user_limit;
        amounts[RES_GPU_BYTES] = -5;
        refuses_queue(&bed, q, words[field]);
    }
    bed_close(&bed);
}

static void a_wrong_tree_is_refused(void **state)
{
    struct queue_spec queues[QUEUE_DEPTH_MAX + 2];
    char names[QUEUE_DEPTH_MAX + 2][8];
    struct event event;
    struct bed bed;

    (void)state;
    open_bed(&bed);
    queues[0] = queues[1] = queue("q", "");
    event = rules_event(queues, 2, NULL, 0);
    refuses_naming(&bed, &event, EINVAL, "twice");
    queues[0] = queue("p", "");
    queues[0].user_jobs = 1;
    queues[1] = queue("q", "p");
    refuses_naming(&bed, &event, EINVAL, "user-jobs");
    queues[0] = queue("q", "p"); /* before its parent */
    queues[1] = queue("p", "");
    refuses_naming(&bed, &event, EINVAL, "does not stand before it");
    for (uint32_t i = 0; i <= QUEUE_DEPTH_MAX; i++) {
        snprintf(names[i], sizeof names[i], "q%u", i);
        queues[i] = queue(names[i], i > 0 ? names[i - 1] : "");
    }
    event = rules_event(queues, QUEUE_DEPTH_MAX + 1, NULL, 0);
    refuses_naming(&bed, &event, EINVAL, "levels");
    event.rules.queue_count--;
    bed_apply(&bed, &event);
    event.rules.queue_count = QUEUES_MAX + 1;
    refuses_naming(&bed, &event, EINVAL, "at most");
    bed_close(&bed);
}

static void a_wrong_field_of_a_class_is_named(void **state)
{
    struct class_spec two[2] = {class("c", 1, 0), class("c", 2, 0)}, c;
    struct event event = rules_event(NULL, 0, two, 2);
    struct bed bed;

    (void)state;
    open_bed(&bed);
    refuses_naming(&bed, &event, EINVAL, "twice");
    refuses_class(&bed, class("", 1, 0), "name");
    refuses_class(&bed, class("c", CLASS_RANK_MAX + 1, 0), "rank");
    refuses_class(&bed, class("c", 5, 6), "takes-below"); /* they would take turns for ever */
    c = class("c", 1, 0);
    c.grace_us = -1;
    refuses_class(&bed, c, "grace");
    c = class("c", 1, 0);
    c.min_run_us = TIME_US_MAX + 1;
    refuses_class(&bed, c, "min-run");
    c = class("c", 1, 0);
    c.user_limit[RES_GPU_MGPU] = -1;
    refuses_class(&bed, c, "user-limit");
    c = class("c", 1, 0);
    c.user_count = USERS_MAX + 1;
    refuses_class(&bed, c, "users");
    event.rules.class_count = CLASSES_MAX + 1;
    refuses_naming(&bed, &event, EINVAL, "at most");
    bed_close(&bed);
}

static void wrong_defaults_are_refused(void **state)
{
    struct queue_spec queues[2] = {queue("p", ""), queue("q", "p")};
    struct class_spec c = class("c", 1, 0);
    struct event event = rules_event(queues, 2, &c, 1);
    struct bed bed;

    (void)state;
    open_bed(&bed);
    event.rules.default_queue = "r";
    refuses_naming(&bed, &event, EINVAL, "default-queue 'r'");
    event.rules.default_queue = "p"; /* no job can be in it */
    refuses_naming(&bed, &event, EINVAL, "default-queue 'p'");
    event.rules.default_queue = "q";
    event.rules.default_class = "medium"; /* there is only c */
    refuses_naming(&bed, &event, EINVAL, "default-class 'medium'");
    event.rules.default_class = "c";
    event.rules.root_order = "best";
    refuses_naming(&bed, &event, EINVAL, "order 'best'");
    event.rules.root_order = "fair";
    event.rules.silent_us = -1;
    refuses_naming(&bed, &event, EINVAL, "node-silent");
    event.rules.silent_us = 0;
    event.rules.share_half_life_us = TIME_US_MAX + 1;
    refuses_naming(&bed, &event, EINVAL, "share-half-life");
    event.rules.share_half_life_us = TIME_US_MAX;
    bed_apply(&bed, &event);
    event.rules.class_count = 0;
    refuses_naming(&bed, &event, EINVAL, "default-class 'c'");
    bed_close(&bed);
}

static void queues_do_not_go_with_packing_anew(void **state)
{
    const struct queue_spec q = queue("q", "");
    const struct event event = rules_event(&q, 1, NULL, 0);
    struct bed bed;

    (void)state;
    bed_open_with(&bed, &(struct core_config){
                            .placement = &place_first, .order = &in_turn, .repack = REPACK_ANEW});
    refuses_naming(&bed, &event, EINVAL, "packing anew");
    bed_close(&bed);
}

/* In q jobs wait, are on their way, run and stop; one of them has a claim. */
static void open_busy(struct bed *bed)
{
    const struct queue_spec queues[] = {queue("q", ""), queue("r", "")};

    open_bed(bed);
    bed_queues(bed, queues, 2);
    SUBMIT_OF(bed, .id = 1, .queue = "q", .gpus = 4, .class = "low");
    SUBMIT_OF(bed, .id = 2, .queue = "q", .gpus = 2, .fixed = true);
    bed_step(bed);
    bed_run(bed, 1);
    SUBMIT_OF(bed, .id = 3, .queue = "q", .gpus = 1);
    bed_step(bed);
    SUBMIT_OF(bed, .id = 4, .queue = "q", .gpus = 3, .class = "high", .user = "ann");
    SUBMIT_OF(bed, .id = 5, .queue = "q", .gpus = 8);
    bed_step(bed);
    assert_int_equal(bed_state(bed, 1), JOB_STOPPING);
    assert_int_equal(bed_state(bed, 2), JOB_STARTING);
    assert_int_equal(bed_reason(bed, 4), REASON_VICTIMS);
}

static void a_queue_or_class_with_jobs_cannot_go_nor_be_divided(void **state)
{
    const struct queue_spec gone = queue("r", "");
    const struct queue_spec divided[] = {queue("q", ""), queue("q1", "q")};
    const struct class_spec low = class("low", 100, 0);
    struct event event = rules_event(&gone, 1, NULL, 0);
    struct bed bed;

    (void)state;
    open_busy(&bed);
    refuses_naming(&bed, &event, EBUSY, "queue 'q': job");
    event = rules_event(divided, 2, NULL, 0);
    refuses_naming(&bed, &event, EBUSY, "queue 'q': job");
    event = rules_event(&divided[0], 1, &low, 1);
    refuses_naming(&bed, &event, EBUSY, "class");
    for (uint64_t id = 1; id <= 5; id++)
        apply(&bed, cancelled(id));
    bed_step(&bed);
    for (uint64_t id = 1; id <= 3; id++)
        bed_end(&bed, id, 143);
    event = rules_event(divided, 2, &low, 1); /* now nobody is in the way */
    bed_apply(&bed, &event);
    bed_close(&bed);
}

static void jobs_of_every_state_move_to_a_new_tree(void **state)
{
    struct queue_spec tree[] = {queue("top", ""), queue("q", "top"), queue("r", "")};
    struct bed bed;

    (void)state;
    open_busy(&bed);
    tree[0].limit[RES_GPU_MGPU] = 8000;
    tree[1].user_limit[RES_GPU_MGPU] = 5000;
    tree[1].order = "test-attained";
    bed_queues(&bed, tree, 3); /* rule 9 holds: bed_apply() checks */
    assert_int_equal(queue_gpus(&bed, "top"), 7);
    bed_step(&bed);
    assert_int_equal(bed_state(&bed, 4), JOB_PENDING);
    bed_end(&bed, 1, 143);
    bed_step(&bed);
    assert_non_null(bed_find(&bed, DECISION_START, 4)); /* who left did so for it */
    assert_int_equal(queue_gpus(&bed, "ann"), 3);
    assert_int_equal(queue_gpus(&bed, "top"), 6);
    bed_close(&bed);
}

static void a_configuration_heard_again_changes_nothing(void **state)
{
    const struct queue_spec queues[] = {queue("q", ""), queue("r", "")};
    const struct event event = rules_event(queues, 2, NULL, 0);
    struct bed bed;
    uint64_t before;

    (void)state;
    open_busy(&bed);
    before = core_digest(bed.core);
    bed_apply(&bed, &event);
    assert_true(core_digest(bed.core) == before);
    assert_int_equal(bed_reason(&bed, 4), REASON_VICTIMS); /* its claim too */
    bed_close(&bed);
}

static void without_queues_there_is_one_for_all_again(void **state)
{
    const struct event none = rules_event(NULL, 0, NULL, 0);
    struct bed bed;

    (void)state;
    open_busy(&bed);
    bed_apply(&bed, &none);
    bed_end(&bed, 1, 143);
    bed_step(&bed);
    assert_non_null(bed_find(&bed, DECISION_START, 4));
    bed_close(&bed);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(a_wrong_field_of_a_queue_is_named),
        TEST(a_wrong_tree_is_refused),
        TEST(a_wrong_field_of_a_class_is_named),
        TEST(wrong_defaults_are_refused),
        TEST(queues_do_not_go_with_packing_anew),
        TEST(a_queue_or_class_with_jobs_cannot_go_nor_be_divided),
        TEST(jobs_of_every_state_move_to_a_new_tree),
        TEST(a_configuration_heard_again_changes_nothing),
        TEST(without_queues_there_is_one_for_all_again),
    };

    return RUN_TESTS(tests);
}
