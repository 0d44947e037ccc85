/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/decision_json.h"

#include "base/text.h"
#include "unit/test.h"

static void each_decision_is_one_line(void **state)
{
    struct decision items[] = {
        {.type = DECISION_START, .job_id = 7, .layout = 1, .place_first = 1, .place_count = 2},
        {.type = DECISION_STOP, .job_id = 8, .mode = STOP_PREEMPT, .reason = REASON_GIVES_WAY},
        {.type = DECISION_REJECT, .job_id = UINT64_MAX, .reason = REASON_NEVER},
        {.type = DECISION_NOTE, .job_id = 9, .reason = REASON_GANG},
    };
    struct task_place places[] = {
        {.task = 5, .node_name = "other"},
        {.task = 0, .node_name = "a", .gpu_mask = 5},
        {.task = 1, .node_name = "b", .gpu_mask = 0},
    };
    const struct decisions decisions = {
        .items = items, .count = 4, .places = places, .place_count = 3};
    struct text text, wanted;

    (void)state;
    text_init(&text, 10000);
    text_init(&wanted, 10000);
    decisions_format(&decisions, -3, &text);
    text_addf(&wanted,
              "{\"decision\":\"start\",\"at_us\":-3,\"job_id\":7,\"layout\":1,\"places\":["
              "{\"task\":0,\"node\":\"a\",\"gpus\":[0,2]},{\"task\":1,\"node\":\"b\",\"gpus\":[]}]}"
              "\n{\"decision\":\"stop\",\"at_us\":-3,\"job_id\":8,\"mode\":\"preempt\","
              "\"reason\":\"%s\"}\n"
              "{\"decision\":\"reject\",\"at_us\":-3,\"job_id\":18446744073709551615,"
              "\"reason\":\"%s\"}\n"
              "{\"decision\":\"note\",\"at_us\":-3,\"job_id\":9,\"reason\":\"%s\"}\n",
              reason_text(REASON_GIVES_WAY), reason_text(REASON_NEVER), reason_text(REASON_GANG));
    assert_string_equal(text_str(&text), text_str(&wanted));
    text_done(&text);
    text_done(&wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(each_decision_is_one_line)};

    return RUN_TESTS(tests);
}
