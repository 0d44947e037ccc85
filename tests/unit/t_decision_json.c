/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/decision_json.h"

#include "base/text.h"
#include "unit/test.h"

static void each_decision_is_one_line(void **state)
{
    struct decision items[] = {
        {.type = DECISION_START,
         .job_id = 7,
         .run = 3,
         .layout = 1,
         .place_first = 1,
         .place_count = 2},
        {.type = DECISION_STOP,
         .job_id = 8,
         .run = 1,
         .mode = STOP_PREEMPT,
         .reason = REASON_GIVES_WAY,
         .for_job = 7,
         .grace_us = 30},
        {.type = DECISION_REJECT, .job_id = UINT64_MAX, .reason = REASON_NEVER},
        {.type = DECISION_NOTE, .job_id = 9, .reason = REASON_GANG, .queue = "q"},
        {.type = DECISION_RESERVE,
         .job_id = 9,
         .at_us = 5,
         .for_job = JOB_NONE,
         .place_first = 0,
         .place_count = 1},
        {.type = DECISION_RESERVE, .job_id = 9, .at_us = TIME_NONE, .for_job = 8},
        {.type = DECISION_ATTEND, .job_id = 8},
    };
    struct task_place places[] = {
        {.task = 5, .node_name = "other"},
        {.task = 0,
         .node_name = "a",
         .gpu_mask = 5,
         .mode = GPU_MPS,
         .gpu_memory_bytes = 7,
         .qos = {QOS_UNSET, 25, QOS_UNSET, -5, 1}},
        {.task = 1,
         .node_name = "b",
         .gpu_mask = 0,
         .qos = {QOS_UNSET, QOS_UNSET, QOS_UNSET, QOS_UNSET, QOS_UNSET}},
    };
    const struct decisions decisions = {
        .items = items, .count = 7, .places = places, .place_count = 3};
    struct text text, wanted;

    (void)state;
    text_init(&text, 10000);
    text_init(&wanted, 10000);
    decisions_format(&decisions, -3, &text);
    text_addf(
        &wanted,
        "{\"decision\":\"start\",\"at_us\":-3,\"job_id\":7,\"run\":3,\"layout\":1,\"places\":["
        "{\"task\":0,\"node\":\"a\",\"gpus\":[0,2],\"mode\":\"mps\","
        "\"gpu_memory_bytes\":7,\"mps-percent\":25,\"stream-priority\":-5,"
        "\"preemption\":\"mid-kernel\"},{\"task\":1,\"node\":\"b\",\"gpus\":[]}]}"
        "\n{\"decision\":\"stop\",\"at_us\":-3,\"job_id\":8,\"run\":1,\"mode\":\"preempt\","
        "\"reason\":\"%s\",\"for_job\":7,\"grace_us\":30,\"places\":[]}\n"
        "{\"decision\":\"reject\",\"at_us\":-3,\"job_id\":18446744073709551615,"
        "\"reason\":\"%s\",\"queue\":null}\n"
        "{\"decision\":\"note\",\"at_us\":-3,\"job_id\":9,\"reason\":\"%s\","
        "\"queue\":\"q\"}\n"
        "{\"decision\":\"reserve\",\"at_us\":-3,\"job_id\":9,\"start_us\":5,"
        "\"for_job\":null,\"places\":[{\"task\":5,\"node\":\"other\",\"gpus\":[]}]}\n"
        "{\"decision\":\"reserve\",\"at_us\":-3,\"job_id\":9,\"start_us\":null,"
        "\"for_job\":8,\"places\":[]}\n"
        "{\"decision\":\"attend\",\"at_us\":-3,\"job_id\":8,\"places\":[]}\n",
        reason_text(REASON_GIVES_WAY), reason_text(REASON_NEVER), reason_text(REASON_GANG));
    assert_string_equal(text_str(&text), text_str(&wanted));
    text_done(&text);
    text_done(&wanted);
}

static void the_instance_of_a_task_is_part_of_its_place(void **state)
{
    struct decision item = {.type = DECISION_START, .job_id = 7, .run = 1, .place_count = 1};
    struct task_place place = {.node_name = "b",
                               .gpu_mask = 2,
                               .mode = GPU_MIG,
                               .gpu_memory_bytes = 9,
                               .mig_profile = "1g.10gb",
                               .mig_start = 6,
                               .mig_new = true,
                               .qos = {QOS_UNSET, QOS_UNSET, QOS_UNSET, QOS_UNSET, QOS_UNSET}};
    const struct decisions decisions = {
        .items = &item, .count = 1, .places = &place, .place_count = 1};
    struct text text;

    (void)state;
    text_init(&text, 1000);
    decisions_format(&decisions, 1, &text);
    assert_string_equal(
        text_str(&text),
        "{\"decision\":\"start\",\"at_us\":1,\"job_id\":7,\"run\":1,\"layout\":0,\"places\":["
        "{\"task\":0,\"node\":\"b\",\"gpus\":[1],\"mig\":\"1g.10gb\",\"mig_start\":6,"
        "\"mig_new\":true,\"mode\":\"mig\",\"gpu_memory_bytes\":9}]}\n");
    text_done(&text);
}

static void instances_that_are_taken_away_are_named(void **state)
{
    struct decision item = {
        .type = DECISION_REPARTITION, .job_id = 7, .for_job = 7, .place_count = 1};
    struct task_place place = {
        .node_name = "b", .gpu_mask = 2, .mig_profile = "3g.40gb", .mig_start = 4};
    const struct decisions decisions = {
        .items = &item, .count = 1, .places = &place, .place_count = 1};
    struct text text;

    (void)state;
    text_init(&text, 1000);
    decisions_format(&decisions, 1, &text);
    assert_string_equal(
        text_str(&text),
        "{\"decision\":\"repartition\",\"at_us\":1,\"job_id\":7,\"for_job\":7,\"places\":["
        "{\"task\":0,\"node\":\"b\",\"gpus\":[1],\"mig\":\"3g.40gb\",\"mig_start\":4}]}\n");
    text_done(&text);
}

static void how_slow_a_start_is_is_said_where_it_is_known(void **state)
{
    struct decision item = {.type = DECISION_START,
                            .job_id = 7,
                            .run = 1,
                            .slowdown = {.all_reduce_ppm = 4000000, .all_to_all_ppm = 1000000}};
    const struct decisions decisions = {.items = &item, .count = 1};
    struct text text;

    (void)state;
    text_init(&text, 1000);
    decisions_format(&decisions, 5, &text);
    assert_string_equal(text_str(&text),
                        "{\"decision\":\"start\",\"at_us\":5,\"job_id\":7,\"run\":1,"
                        "\"layout\":0,\"all_reduce_ppm\":4000000,\"all_to_all_ppm\":1000000,"
                        "\"places\":[]}\n");
    text_done(&text);
}

static void who_is_rejected_is_told_how_much_it_asks_and_there_is(void **state)
{
    struct decision items[] = {
        {.type = DECISION_REJECT,
         .job_id = 9,
         .reason = REASON_NEVER,
         .never = {.kind = NEVER_SMALL, .what = SHORT_GPUS, .asked = 9, .most = 8}},
        {.type = DECISION_REJECT,
         .job_id = 9,
         .reason = REASON_NEVER,
         .never = {.kind = NEVER_LABEL},
         .never_name = "zone=a"},
        {.type = DECISION_REJECT,
         .job_id = 9,
         .reason = REASON_QUOTA,
         .queue = "q",
         .resource = RES_GPU_MGPU,
         .asked = 9000,
         .limit = 8000},
    };
    const struct decisions decisions = {.items = items, .count = 3};
    struct text text, wanted;

    (void)state;
    text_init(&text, 10000);
    text_init(&wanted, 10000);
    decisions_format(&decisions, -3, &text);
    text_addf(
        &wanted,
        "{\"decision\":\"reject\",\"at_us\":-3,\"job_id\":9,\"reason\":\"%s\",\"queue\":null,"
        "\"lacks\":\"gpus\",\"asked\":9,\"most\":8}\n"
        "{\"decision\":\"reject\",\"at_us\":-3,\"job_id\":9,\"reason\":\"%s\",\"queue\":null,"
        "\"lacks\":\"label\",\"name\":\"zone=a\"}\n"
        "{\"decision\":\"reject\",\"at_us\":-3,\"job_id\":9,\"reason\":\"%s\",\"queue\":\"q\","
        "\"resource\":\"gpu_mgpu\",\"asked\":9000,\"limit\":8000}\n",
        reason_text(REASON_NEVER), reason_text(REASON_NEVER), reason_reject_text(REASON_QUOTA));
    assert_string_equal(text_str(&text), text_str(&wanted));
    text_done(&text);
    text_done(&wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_decision_is_one_line),
        TEST(the_instance_of_a_task_is_part_of_its_place),
        TEST(instances_that_are_taken_away_are_named),
        TEST(how_slow_a_start_is_is_said_where_it_is_known),
        TEST(who_is_rejected_is_told_how_much_it_asks_and_there_is),
    };

    return RUN_TESTS(tests);
}
