/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/event_json.h"

#include "base/text.h"
#include "core/modes.h"
#include "unit/wire_test.h"
#include "wire/arena.h"
#include "wire/config_file.h"

#define GROUP                                                                                      \
    "{\"tasks\":4,\"cpu_mcpu\":2500,\"memory_bytes\":1,\"gpus\":8,\"gpu_mgpu\":1000,"              \
    "\"gpu_memory_bytes\":0,\"models\":[\"A\",\"B\"],\"labels\":[\"k=v\"]}"

#define AMOUNTS "[4000,9223372036854775807,1,2]"
#define QUEUE                                                                                      \
    "{\"name\":\"a\",\"parent\":\"\",\"order\":\"fair\",\"weight\":2,\"guarantee\":" AMOUNTS       \
    ",\"limit\":" AMOUNTS ",\"borrow\":" AMOUNTS ",\"lend\":" AMOUNTS ",\"user_limit\":" AMOUNTS   \
    ",\"user_jobs\":3,\"users\":[\"u\"]}"
#define CLASS                                                                                      \
    "{\"name\":\"c\",\"rank\":3,\"takes_below\":2,\"fixed\":true,\"grace_us\":1,"                  \
    "\"min_run_us\":2,\"user_limit\":" AMOUNTS ",\"users\":[]}"

static const char *const lines[EVENT_TYPE_COUNT] = {
    [EVENT_NODE_UPSERTED] =
        "{\"type\":\"node_upserted\",\"at_us\":0,\"name\":\"n \\\"\\u0001\",\"model\":\"A\","
        "\"gpus\":8,\"gpu_memory_bytes\":72057594037927936,\"cpu_mcpu\":2,\"memory_bytes\":3,"
        "\"labels\":[\"a=b\",\"c=\"]}\n",
    [EVENT_NODE_REMOVED] = "{\"type\":\"node_removed\",\"at_us\":-9223372036854775808,"
                           "\"node\":\"n\"}\n",
    [EVENT_GPU_HEALTH] = "{\"type\":\"gpu_health\",\"at_us\":1,\"node\":\"n\",\"gpu\":3,"
                         "\"health\":\"lost\"}\n",
    [EVENT_JOB_SUBMITTED] =
        "{\"type\":\"job_submitted\",\"at_us\":2,\"id\":18446744073709551615,\"queue\":\"q\","
        "\"user\":\"\",\"name\":\"x\",\"class\":\"low\",\"layouts\":[{\"slowdown_ppm\":1000000,"
        "\"apart\":0,"
        "\"groups\":[" GROUP "," GROUP "]},{\"slowdown_ppm\":1200000,\"apart\":1,\"groups\":[" GROUP
        "]}],\"tasks_min\":2,\"service\":true,\"held\":false,"
        "\"exclusive\":true,\"fixed\":true,\"retries\":2,"
        "\"deadline_us\":3,\"limit_us\":5,\"grace_us\":-1,\"min_run_us\":6,\"array\":\"s\","
        "\"array_limit\":4,\"after\":[{\"job_id\":3,\"end\":\"failed\"},"
        "{\"job_id\":4,\"end\":\"ok\"}],\"remaining_us\":-1}\n",
    [EVENT_NODE_HEALTH] = "{\"type\":\"node_health\",\"at_us\":1,\"node\":\"n\","
                          "\"health\":\"silent\"}\n",
    [EVENT_NODE_LISTED] = "{\"type\":\"node_listed\",\"at_us\":1,\"node\":\"n\",\"tasks\":["
                          "{\"job_id\":7,\"task\":1,\"run\":2},"
                          "{\"job_id\":8,\"task\":0,\"run\":1}]}\n",
    [EVENT_GPU_SPLIT] =
        "{\"type\":\"gpu_split\",\"at_us\":1,\"node\":\"n\",\"gpu\":3,\"instances\":["
        "{\"profile\":\"1g.10gb\",\"start\":6,\"size\":0},"
        "{\"profile\":\"odd\",\"start\":0,\"size\":2}]}\n",
    [EVENT_INSTANCE_FAILED] =
        "{\"type\":\"instance_failed\",\"at_us\":3,\"job_id\":7,\"task\":1,\"run\":2}\n",
    [EVENT_JOB_HELD] = "{\"type\":\"job_held\",\"at_us\":1,\"job_id\":7}\n",
    [EVENT_JOB_RELEASED] = "{\"type\":\"job_released\",\"at_us\":1,\"job_id\":7}\n",
    [EVENT_JOB_CHECKPOINT] =
        "{\"type\":\"job_checkpoint\",\"at_us\":1,\"job_id\":7,\"mark_us\":5}\n",
    [EVENT_CONFIG_CHANGED] =
        "{\"type\":\"config_changed\",\"at_us\":1,\"queues\":[" QUEUE "," QUEUE "],"
        "\"default_queue\":\"a\",\"root_order\":\"fair\",\"classes\":[" CLASS "],"
        "\"default_class\":\"c\",\"reservation_depth\":4294967295,\"silent_us\":7,"
        "\"share_half_life_us\":8}\n",
    [EVENT_JOB_CANCELLED] = "{\"type\":\"job_cancelled\",\"at_us\":5000000,\"job_id\":7}\n",
    [EVENT_TASK_STARTED] = "{\"type\":\"task_started\",\"at_us\":3,\"job_id\":7,\"task\":0,"
                           "\"run\":1,\"node\":\"n\",\"gpus\":[0,5,63]}\n",
    [EVENT_TASK_EXITED] = "{\"type\":\"task_exited\",\"at_us\":3,\"job_id\":7,\"task\":1,"
                          "\"run\":2,\"exit_code\":-2147483648}\n",
    [EVENT_TASK_LOST] = "{\"type\":\"task_lost\",\"at_us\":3,\"job_id\":7,\"task\":4294967295,"
                        "\"run\":4294967295}\n",
    [EVENT_JOB_PROGRESS] = "{\"type\":\"job_progress\",\"at_us\":3,\"job_id\":7,"
                           "\"remaining_us\":9223372036854775807}\n",
    [EVENT_TIME_PASSED] = "{\"type\":\"time_passed\",\"at_us\":3}\n",
    [EVENT_STEPPED] = "{\"type\":\"stepped\",\"at_us\":9223372036854775807}\n",
};

static void every_event_comes_back_byte_for_byte(void **state)
{
    (void)state;
    for (int i = 0; i < EVENT_TYPE_COUNT; i++) {
        struct arena arena;
        struct event event;
        struct text text;

        arena_init(&arena);
        text_init(&text, 10000);
        WORKS(event_parse("e", 1, lines[i], strlen(lines[i]) - 1, &arena, &event, &err));
        assert_int_equal(event.type, i);
        event_format(&event, &text);
        assert_string_equal(text_str(&text), lines[i]);
        text_done(&text);
        arena_done(&arena);
    }
}

/* They are there only where they are known. */
static void links_and_modes_of_a_node_come_back_byte_for_byte(void **state)
{
    static const char line[] =
        "{\"type\":\"node_upserted\",\"at_us\":0,\"name\":\"n\",\"model\":\"A\",\"gpus\":3,"
        "\"gpu_memory_bytes\":1,\"cpu_mcpu\":2,\"memory_bytes\":3,\"labels\":[],"
        "\"modes\":[\"timeslice\"],\"gpu_context_bytes\":-7,"
        "\"links_mbps\":[300000,0,4294967295]}\n";
    struct arena arena;
    struct event event;
    struct text text;

    (void)state;
    arena_init(&arena);
    text_init(&text, 10000);
    WORKS(event_parse("e", 1, line, sizeof line - 2, &arena, &event, &err));
    assert_int_equal(event.node.links_mbps[0], 300000);
    assert_true(event.node.links_mbps[2] == UINT32_MAX); /* which the core refuses */
    assert_int_equal(event.node.modes, MODE_BIT(GPU_TIMESLICE));
    assert_int_equal(event.node.gpu_context_bytes, -7);
    event_format(&event, &text);
    assert_string_equal(text_str(&text), line);
    WORKS(event_parse("e", 1, lines[EVENT_NODE_UPSERTED], strlen(lines[EVENT_NODE_UPSERTED]) - 1,
                      &arena, &event, &err));
    assert_null(event.node.links_mbps);
    text_done(&text);
    arena_done(&arena);
}

static void levels_come_back_byte_for_byte(void **state)
{
    static const char *const texts[] = {
        "{\"type\":\"config_changed\",\"at_us\":1,\"queues\":[],\"default_queue\":\"\","
        "\"root_order\":\"\",\"classes\":[],\"default_class\":\"\","
        "\"reservation_depth\":0,\"silent_us\":1,\"share_half_life_us\":0,\"levels\":["
        "{\"name\":\"zone\",\"bandwidth_bytes\":0,\"uplink_bytes\":9223372036854775807},"
        "{\"name\":\"leaf\",\"bandwidth_bytes\":50000000000,\"uplink_bytes\":-1}]}\n",
        "{\"type\":\"job_submitted\",\"at_us\":2,\"id\":1,\"queue\":\"q\",\"user\":\"\","
        "\"name\":\"x\",\"class\":\"\",\"layouts\":[],\"tasks_min\":0,\"service\":false,"
        "\"held\":false,\"exclusive\":false,\"fixed\":false,\"within\":\"zone\","
        "\"near\":\"leaf\",\"group_within\":\"leaf\",\"group_size\":4294967295,"
        "\"slowdown_max_ppm\":1500000,\"retries\":0,\"deadline_us\":0,\"limit_us\":0,"
        "\"grace_us\":-1,\"min_run_us\":-1,\"array\":\"\",\"array_limit\":0,\"after\":[],"
        "\"remaining_us\":-1}\n"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct arena arena;
        struct event event;
        struct text text;

        arena_init(&arena);
        text_init(&text, 10000);
        WORKS(event_parse("e", 1, texts[i], strlen(texts[i]) - 1, &arena, &event, &err));
        event_format(&event, &text);
        assert_string_equal(text_str(&text), texts[i]);
        text_done(&text);
        arena_done(&arena);
    }
}

static void parsed_events_hold_the_values(void **state)
{
    struct arena arena;
    struct event event;

    (void)state;
    arena_init(&arena);
    WORKS(event_parse("e", 1, lines[EVENT_TASK_STARTED], strlen(lines[EVENT_TASK_STARTED]), &arena,
                      &event, &err));
    assert_true(event.task.gpu_mask == (UINT64_C(1) << 63 | 1 << 5 | 1));
    assert_true(event.task.job_id == 7 && event.at_us == 3);
    WORKS(event_parse("e", 1, lines[EVENT_JOB_SUBMITTED], strlen(lines[EVENT_JOB_SUBMITTED]),
                      &arena, &event, &err));
    assert_true(event.job.id == UINT64_MAX && event.job.deadline_us == 3);
    assert_int_equal(event.job.layout_count, 2);
    assert_int_equal(event.job.layouts[1].slowdown_ppm, 1200000);
    assert_int_equal(event.job.layouts[0].group_count, 2);
    assert_int_equal(event.job.layouts[0].groups[1].model_count, 2);
    assert_string_equal(event.job.layouts[0].groups[1].labels[0], "k=v");
    assert_true(event.job.service && event.job.fixed && event.job.exclusive && !event.job.held);
    assert_true(event.job.after_count == 2 && event.job.after[0].end == AFTER_FAILED);
    WORKS(event_parse("e", 1, lines[EVENT_CONFIG_CHANGED], strlen(lines[EVENT_CONFIG_CHANGED]),
                      &arena, &event, &err));
    assert_int_equal(event.rules.queue_count, 2);
    assert_true(event.rules.queues[1].limit[RES_GPU_BYTES] == AMOUNT_NONE);
    assert_true(event.rules.reservation_depth == RESERVE_ALL);
    arena_done(&arena);
}

/* They are there only where they are asked for. */
static void instances_come_back_byte_for_byte(void **state)
{
    static const char started[] =
        "{\"type\":\"task_started\",\"at_us\":3,\"job_id\":7,\"task\":0,\"run\":1,"
        "\"node\":\"n\",\"gpus\":[5],\"mig_start\":4}\n";
    static const char submitted[] =
        "{\"type\":\"job_submitted\",\"at_us\":2,\"id\":1,\"queue\":\"\",\"user\":\"\","
        "\"name\":\"\",\"class\":\"\",\"layouts\":[{\"slowdown_ppm\":1000000,\"apart\":0,"
        "\"groups\":[{\"tasks\":1,\"cpu_mcpu\":0,\"memory_bytes\":0,\"gpus\":1,\"gpu_mgpu\":0,"
        "\"gpu_memory_bytes\":0,\"mig\":\"1g.10gb+me\",\"models\":[],\"labels\":[]}]}],"
        "\"tasks_min\":0,\"service\":false,\"held\":false,\"exclusive\":false,\"fixed\":false,"
        "\"retries\":0,\"deadline_us\":0,\"limit_us\":0,\"grace_us\":-1,\"min_run_us\":-1,"
        "\"array\":\"\",\"array_limit\":0,\"after\":[],\"remaining_us\":-1}\n";
    const char *const both[] = {started, submitted};
    struct arena arena;
    struct event event;
    struct text text;

    (void)state;
    arena_init(&arena);
    for (int i = 0; i < 2; i++) {
        text_init(&text, 10000);
        WORKS(event_parse("e", 1, both[i], strlen(both[i]) - 1, &arena, &event, &err));
        event_format(&event, &text);
        assert_string_equal(text_str(&text), both[i]);
        text_done(&text);
    }
    assert_string_equal(event.job.layouts[0].groups[0].mig, "1g.10gb+me");
    arena_done(&arena);
}

static void fields_may_come_in_any_order(void **state)
{
    static const char line[] = " { \"job_id\" : 7 , \"at_us\" : 5 , \"type\" : \"job_cancelled\" }";
    struct arena arena;
    struct event event;

    (void)state;
    arena_init(&arena);
    WORKS(event_parse("e", 1, line, sizeof line - 1, &arena, &event, &err));
    assert_true(event.type == EVENT_JOB_CANCELLED && event.job_id == 7 && event.at_us == 5);
    arena_done(&arena);
}

static void fails(const char *line, const char *wanted)
{
    struct arena arena;
    struct event event;

    arena_init(&arena);
    FAILS_WITH(event_parse("e.jsonl", 12, line, strlen(line), &arena, &event, &err), wanted);
    arena_done(&arena);
}

static void wrong_lines_are_named(void **state)
{
    (void)state;
    fails("{\"type\":\"node_upserted\",\"at_us\":0,\"name\":\"n\",\"model\":\"A\",\"gpus\":3,"
          "\"gpu_memory_bytes\":1,\"cpu_mcpu\":2,\"memory_bytes\":3,\"labels\":[],"
          "\"links_mbps\":[1,2]}",
          "e.jsonl:12: links_mbps: 2 numbers are not one for each pair of 3 GPUs");
    fails("{\"type\":\"node_upserted\",\"at_us\":0,\"name\":\"n\",\"model\":\"A\",\"gpus\":3,"
          "\"gpu_memory_bytes\":1,\"cpu_mcpu\":2,\"memory_bytes\":3,\"labels\":[],"
          "\"modes\":[\"vgpu\"]}",
          "e.jsonl:12: modes[0]: must be exclusive, timeslice, mps or mig, is 'vgpu'");
    fails("{\"type\":\"stepped\",\"at_us\":3,\"x\":1}",
          "e.jsonl:12: x: unknown field, known are type, at_us");
    fails("{\"type\":\"stepped\"}", "e.jsonl:12: field 'at_us' is missing");
    fails("{\"at_us\":3}", "e.jsonl:12: field 'type' is missing");
    fails("{\"type\":\"stepped\",\"at_us\":3,\"at_us\":3}",
          "e.jsonl:12: field 'at_us' is there twice");
    fails("{\"type\":\"boom\",\"at_us\":3}", "e.jsonl:12: type: no such event: 'boom'");
    fails("{\"type\":\"stepped\",\"at_us\":1.5}",
          "e.jsonl:12: at_us: must be a whole number, is 1.5");
    fails("{\"type\":\"stepped\",\"at_us\":9223372036854775808}",
          "e.jsonl:12: at_us: must be -9223372036854775808 to 9223372036854775807, is "
          "9223372036854775808");
    fails("{\"type\":\"task_started\",\"at_us\":3,\"job_id\":7,\"task\":0,\"run\":1,"
          "\"node\":\"n\",\"gpus\":[3,1]}",
          "e.jsonl:12: gpus[1]: GPUs must be in ascending order");
    fails("{\"type\":\"gpu_health\",\"at_us\":1,\"node\":\"n\",\"gpu\":3,\"health\":\"ill\"}",
          "e.jsonl:12: health: must be healthy or lost, is 'ill'");
    fails("{\"type\":\"node_health\",\"at_us\":1,\"node\":\"n\",\"health\":\"ill\"}",
          "e.jsonl:12: health: must be heard, silent, drained or undrained, is 'ill'");
    fails("{\"type\":\"job_cancelled\",\"at_us\":1,\"job_id\":-7}",
          "e.jsonl:12: job_id: must be a whole number from 0 to 18446744073709551615, is -7");
    fails("[]", "e.jsonl:12: must be a map of fields, is a list");
    fails("", "e.jsonl:12: not JSON: text ends early");
}

static void a_header_comes_back_byte_for_byte(void **state)
{
    static const char line[] =
        "{\"berth-events\":2,\"placement\":\"berth\",\"order\":\"fifo\","
        "\"seed\":18446744073709551615,\"order_options\":[1,-9223372036854775808],\"mix\":[" GROUP
        "],\"repack\":2,\"migrate_wait_us\":5,\"migrate_gain_ppm\":6,\"nodes_max\":7,\"jobs_max\":"
        "8}\n";
    struct config config;
    struct arena arena;
    struct text text;

    (void)state;
    arena_init(&arena);
    text_init(&text, 10000);
    WORKS(event_header_parse("e", 1, line, sizeof line - 2, &arena, &config, &err));
    assert_string_equal(config.placement, "berth");
    assert_int_equal(config.mix_count, 1);
    assert_int_equal(config.mix[0].tasks, 4);
    event_header_format(&config, &text);
    assert_string_equal(text_str(&text), line);
    text_done(&text);
    arena_done(&arena);
}

static void a_file_of_something_else_is_told(void **state)
{
    struct config config;
    struct arena arena;

    (void)state;
    arena_init(&arena);
    FAILS_WITH(event_header_parse("e", 1, "{}", 2, &arena, &config, &err),
               "e:1: not an event file: field 'berth-events' is missing in its first line");
    FAILS_WITH(event_header_parse("e", 1, "{\"berth-events\":1}", 18, &arena, &config, &err),
               "e:1: berth-events: must be 2, is 1");
    arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_event_comes_back_byte_for_byte),
        TEST(links_and_modes_of_a_node_come_back_byte_for_byte),
        TEST(levels_come_back_byte_for_byte),
        TEST(instances_come_back_byte_for_byte),
        TEST(parsed_events_hold_the_values),
        TEST(fields_may_come_in_any_order),
        TEST(wrong_lines_are_named),
        TEST(a_header_comes_back_byte_for_byte),
        TEST(a_file_of_something_else_is_told),
    };

    return RUN_TESTS(tests);
}
