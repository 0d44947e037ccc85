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
    config_file_done(&file);
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
    fails("policy: x\n", "berth.yaml:1: policy: unknown field, known are placement, order, seed, "
                         "order-options, migrate-wait, migrate-gain, nodes-max, jobs-max");
    fails("seed: 1\n---\nseed: 2\n",
          "berth.yaml:3: a second document, but a configuration is only one");
    fails("placement: ''\n", "berth.yaml:1: placement: must not be empty");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_field_is_read),
        TEST(an_empty_file_states_nothing),
        TEST(wrong_fields_are_named),
    };

    return RUN_TESTS(tests);
}
