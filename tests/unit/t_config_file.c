/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/config_file.h"

#include "unit/wire_test.h"

static void fails(const char *text, const char *wanted)
{
    struct config_file file;

    FAILS_WITH(config_file_parse("berth.yaml", text, strlen(text), &file, &err), wanted);
}

static void every_field_is_read(void **state)
{
    static const char text[] = "placement: berth\norder: gittins\nseed: 18446744073709551615\n"
                               "order-options: [3600, -2]\nmigrate-wait: 5m\nmigrate-gain: 0.1\n"
                               "nodes-max: 1000\njobs-max: 2000\n";
    struct config_file file;

    (void)state;
    WORKS(config_file_parse("berth.yaml", text, sizeof text - 1, &file, &err));
    assert_string_equal(file.config.placement, "berth");
    assert_string_equal(file.config.order, "gittins");
    assert_true(file.config.seed == UINT64_MAX);
    assert_int_equal(file.config.order_option_count, 2);
    assert_true(file.config.order_options[0] == 3600 && file.config.order_options[1] == -2);
    assert_true(file.config.migrate_wait_us == 300000000);
    assert_int_equal(file.config.migrate_gain_ppm, 100000);
    assert_int_equal(file.config.nodes_max, 1000);
    assert_int_equal(file.config.jobs_max, 2000);
    config_file_done(&file);
}

static void an_empty_file_states_nothing(void **state)
{
    struct config_file file;

    (void)state;
    WORKS(config_file_parse("berth.yaml", "# nothing\n", 10, &file, &err));
    assert_string_equal(file.config.placement, "");
    assert_string_equal(file.config.order, "");
    assert_null(file.config.order_options);
    assert_null(file.config.mix);
    assert_false(file.config.rules_stated);
    assert_int_equal(file.config.rules.queue_count, 0);
    assert_int_equal(file.config.rules.class_count, 0);
    assert_string_equal(file.config.rules.default_queue, "");
    assert_true(file.config.rules.silent_us == 60000000);
    config_file_done(&file);
}

static void queues_and_classes_are_read(void **state)
{
    static const char text[] =
        "order: fair\nqueues:\n  - {name: a, weight: 3, guarantee: {gpus: 0.5, memory: 1T}}\n"
        "  - {name: b, parent: a, order: fifo, limit: {gpu-memory: 80G, cpus: 2.5}, borrow: "
        "{gpus: 1}, lend: {gpus: 2}, user-limit: {gpus: 3}, user-jobs: 4, users: [u, v]}\n"
        "classes: [{name: low, rank: 1}, {name: high, rank: 9, takes-below: 5, preemptible: false,"
        " grace: 10s, min-run: 1m, user-limit: {cpus: 1}, users: [u]}]\n"
        "default-queue: b\ndefault-class: low\nreservation-depth: all\nnode-silent: 5m\n"
        "share-half-life: 7d\n";
    const struct rules_spec *rules;
    struct config_file file;

    (void)state;
    WORKS(config_file_parse("berth.yaml", text, sizeof text - 1, &file, &err));
    rules = &file.config.rules;
    assert_true(file.config.rules_stated && rules->queue_count == 2 && rules->class_count == 2);
    assert_string_equal(file.config.order, ""); /* fair does not compare jobs */
    assert_string_equal(rules->root_order, "fair");
    assert_true(rules->queues[0].guarantee[RES_GPU_MGPU] == 500);
    assert_true(rules->queues[0].guarantee[RES_MEMORY_BYTES] == INT64_C(1) << 40);
    assert_true(rules->queues[0].guarantee[RES_CPU_MCPU] == AMOUNT_NONE);
    assert_true(rules->queues[0].limit[RES_GPU_MGPU] == AMOUNT_NONE);
    assert_true(rules->queues[0].weight == 3 && rules->queues[1].weight == 1);
    assert_string_equal(rules->queues[1].parent, "a");
    assert_true(rules->queues[1].limit[RES_GPU_BYTES] == INT64_C(80) << 30);
    assert_true(rules->queues[1].limit[RES_CPU_MCPU] == 2500);
    assert_true(rules->queues[1].user_jobs == 4 && rules->queues[1].user_count == 2);
    assert_true(!rules->classes[0].fixed && rules->classes[0].grace_us == 30000000);
    assert_true(rules->classes[1].fixed && rules->classes[1].takes_below == 5);
    assert_true(rules->classes[1].min_run_us == 60000000 && rules->classes[1].user_count == 1);
    assert_true(rules->classes[1].user_limit[RES_CPU_MCPU] == 1000);
    assert_true(rules->reservation_depth == RESERVE_ALL && rules->silent_us == 300000000);
    assert_true(rules->share_half_life_us == INT64_C(7) * 86400 * 1000000);
    config_file_done(&file);
}

static void levels_are_read_coarse_to_fine(void **state)
{
    static const char text[] = "levels:\n  - {name: zone}\n"
                               "  - {name: leaf, bandwidth: 400G, uplink: 1.6T}\n";
    const struct rules_spec *rules;
    struct config_file file;

    (void)state;
    WORKS(config_file_parse("berth.yaml", text, sizeof text - 1, &file, &err));
    rules = &file.config.rules;
    assert_true(file.config.rules_stated && rules->level_count == 2);
    assert_string_equal(rules->levels[0].name, "zone");
    assert_true(rules->levels[0].bandwidth_bytes == 0 && rules->levels[0].uplink_bytes == 0);
    assert_string_equal(rules->levels[1].name, "leaf");
    assert_true(rules->levels[1].bandwidth_bytes == INT64_C(50000000000));
    assert_true(rules->levels[1].uplink_bytes == INT64_C(200000000000));
    config_file_done(&file);
    fails("levels: [{name: a}, {name: a}]\n", "berth.yaml:1: levels[1]: level 'a' is there twice");
    fails("levels: [{bandwidth: 1G}]\n", "berth.yaml:1: levels[0]: field 'name' is missing");
    fails("levels: [{name: a, bandwidth: 0}]\n",
          "berth.yaml:1: levels[0].bandwidth: must be 8 to 1000T, is 0");
    fails("levels: [{name: a, uplink: fast}]\n",
          "berth.yaml:1: levels[0].uplink: must be bits each second such as 400G or 1.6T, is "
          "'fast'");
}

static void wrong_fields_are_named(void **state)
{
    (void)state;
    fails("seed: -1\n", "berth.yaml:1: seed: must be a whole number from 0 to "
                        "18446744073709551615, is -1");
    fails("order-options: [1, x]\n",
          "berth.yaml:1: order-options[1]: must be a whole number, is 'x'");
    fails("nodes-max: 9999999999\n",
          "berth.yaml:1: nodes-max: must be 0 to 4194304, is 9999999999");
    fails("migrate-wait: soon\n", "berth.yaml:1: migrate-wait: must be a duration such as 60s, 5m "
                                  "or 1.5h, is 'soon'");
    fails("policy: x\n",
          "berth.yaml:1: policy: unknown field, known are placement, order, seed, "
          "order-options, migrate-wait, migrate-gain, nodes-max, jobs-max, queues, classes, "
          "levels, default-queue, default-class, reservation-depth, node-silent, "
          "share-half-life");
    fails("seed: 1\n---\nseed: 2\n",
          "berth.yaml:3: a second document, but a configuration is only one");
    fails("queues: [{name: a, parent: b}]\n",
          "berth.yaml:1: queues[0].parent: no queue 'b' stands before this one");
    fails("queues: [{name: a}, {name: a}]\n", "berth.yaml:1: queues[1]: queue 'a' is there twice");
    fails("queues: [{name: a, limit: {gpus: -1}}]\n",
          "berth.yaml:1: queues[0].limit.gpus: must be 0 to 1152921504606846.976, is -1");
    fails("classes: [{name: a}]\n", "berth.yaml:1: classes[0]: field 'rank' is missing");
    fails("classes: [{name: a, rank: 1, preemptible: no}]\n",
          "berth.yaml:1: classes[0].preemptible: must be false or true, is 'no'");
    fails("reservation-depth: few\n",
          "berth.yaml:1: reservation-depth: must be a whole number, is 'few'; or 'all'");
    fails("reservation-depth: 257\n",
          "berth.yaml:1: reservation-depth: must be 0 to 256, is 257; or 'all'");
    fails("placement: ''\n", "berth.yaml:1: placement: must not be empty");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_field_is_read),         TEST(an_empty_file_states_nothing),
        TEST(queues_and_classes_are_read), TEST(levels_are_read_coarse_to_fine),
        TEST(wrong_fields_are_named),
    };

    return RUN_TESTS(tests);
}
