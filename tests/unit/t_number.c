/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/number.h"

#include <errno.h>

#include "unit/wire_test.h"

static int64_t parsed(const char *text, enum number_kind kind)
{
    int64_t value = -77;

    WORKS(number_parse(text, kind, INT64_MIN, INT64_MAX, &value, &err));
    return value;
}

static void each_kind_has_its_unit(void **state)
{
    (void)state;
    assert_true(parsed("-12", NUMBER_WHOLE) == -12);
    assert_true(parsed("2.5", NUMBER_MILLI) == 2500);
    assert_true(parsed("1.000001", NUMBER_MICRO) == 1000001);
    assert_true(parsed("80G", NUMBER_BYTES) == INT64_C(80) << 30);
    assert_true(parsed("3", NUMBER_MIB) == 3 << 20);
    assert_true(parsed("3", NUMBER_GIB) == INT64_C(3) << 30);
    assert_true(parsed("5m", NUMBER_DURATION) == 300000000);
    assert_true(parsed("400G", NUMBER_BITRATE) == INT64_C(50000000000));
    assert_true(parsed("1.6T", NUMBER_BITRATE) == INT64_C(200000000000));
    assert_true(parsed("8", NUMBER_BITRATE) == 1);
    assert_true(parsed("1K", NUMBER_BITRATE) == 125);
}

static void one_nth_of_a_gpu_is_rounded_down_but_never_to_zero(void **state)
{
    (void)state;
    assert_true(parsed("0.5", NUMBER_SHARE) == 500);
    assert_true(parsed("1/3", NUMBER_SHARE) == 333);
    assert_true(parsed("1/7", NUMBER_SHARE) == 142);
    assert_true(parsed("1/1", NUMBER_SHARE) == 1000);
    assert_true(parsed("1/5000", NUMBER_SHARE) == 1);
}

static void errors_say_what_would_be_right_and_what_is_there(void **state)
{
    int64_t out = 5;

    (void)state;
    FAILS_WITH(number_parse("-3", NUMBER_WHOLE, 0, 64, &out, &err), "must be 0 to 64, is -3");
    FAILS_WITH(number_parse("x", NUMBER_WHOLE, 0, 64, &out, &err),
               "must be a whole number, is 'x'");
    FAILS_WITH(number_parse("", NUMBER_WHOLE, 0, 64, &out, &err), "must be a whole number, is ''");
    FAILS_WITH(number_parse("2", NUMBER_WHOLE, 1, 1, &out, &err), "must be 1, is 2");
    FAILS_WITH(number_parse("99999999999999999999", NUMBER_WHOLE, 0, 64, &out, &err),
               "must be 0 to 64, is 99999999999999999999");
    FAILS_WITH(number_parse("9", NUMBER_MILLI, 1, 1500, &out, &err), "must be 0.001 to 1.5, is 9");
    FAILS_WITH(number_parse("-1", NUMBER_MILLI, -500, 0, &out, &err), "must be -0.5 to 0, is -1");
    FAILS_WITH(number_parse("-1G", NUMBER_BYTES, 0, INT64_C(1) << 56, &out, &err),
               "must be 0 to 65536T, is '-1G'");
    FAILS_WITH(number_parse("lots", NUMBER_BYTES, 0, 5, &out, &err),
               "must be a size such as 80G or 512M, is 'lots'");
    FAILS_WITH(number_parse("G", NUMBER_BITRATE, 0, 125, &out, &err),
               "must be bits each second such as 400G or 1.6T, is 'G'");
    FAILS_WITH(number_parse("1M", NUMBER_BITRATE, 0, 125, &out, &err), "must be 0 to 1K, is '1M'");
    FAILS_WITH(number_parse("9999999999999T", NUMBER_BITRATE, 0, 125, &out, &err),
               "must be 0 to 1K, is '9999999999999T'");
    FAILS_WITH(
        number_parse("11111111111111111111111111111111", NUMBER_BITRATE, 0, 5, &out, &err),
        "must be bits each second such as 400G or 1.6T, is 11111111111111111111111111111111");
    FAILS_WITH(number_parse("2/3", NUMBER_SHARE, 1, 1000, &out, &err),
               "must be a share such as 0.5, with up to 3 decimals, or 1/N such as 1/3, is "
               "'2/3'");
    FAILS_WITH(number_parse("0", NUMBER_SHARE, 1, 1000, &out, &err), "must be 0.001 to 1, is 0");
    FAILS_WITH(number_parse("1/0", NUMBER_SHARE, 1, 1000, &out, &err),
               "must be 0.001 to 1, is '1/0'");
    FAILS_WITH(number_parse("2d", NUMBER_DURATION, 0, 60000000, &out, &err),
               "must be 0s to 60s, is '2d'");
    FAILS_WITH(number_parse("9", NUMBER_MIB, 0, 1 << 20, &out, &err), "must be 0 to 1, is 9");
    assert_true(out == 5);
}

static void long_and_wild_texts_are_cut_and_cleaned_in_errors(void **state)
{
    int64_t out;

    (void)state;
    FAILS_WITH(number_parse("a\x1b[31m\x7f\xff", NUMBER_WHOLE, 0, 1, &out, &err),
               "must be a whole number, is 'a?[31m?\?'");
    FAILS_WITH(number_parse("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                            NUMBER_WHOLE, 0, 1, &out, &err),
               "must be a whole number, is 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'");
}

static void ids_use_all_64_bits(void **state)
{
    uint64_t out = 0;

    (void)state;
    WORKS(number_parse_u64("18446744073709551615", &out, &err));
    assert_true(out == UINT64_MAX);
    FAILS_WITH(number_parse_u64("-1", &out, &err),
               "must be a whole number from 0 to 18446744073709551615, is -1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_kind_has_its_unit),
        TEST(one_nth_of_a_gpu_is_rounded_down_but_never_to_zero),
        TEST(errors_say_what_would_be_right_and_what_is_there),
        TEST(long_and_wild_texts_are_cut_and_cleaned_in_errors),
        TEST(ids_use_all_64_bits),
    };

    return RUN_TESTS(tests);
}
