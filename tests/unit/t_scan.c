/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scan.h"

#include <errno.h>
#include <stddef.h>

#include "unit/test.h"

struct sample {
    const char *text;
    int rc;
    int64_t value; /* when rc is 0 */
};

static int decimal_6(const char *s, int64_t *out)
{
    return scan_decimal(s, 6, out);
}

static void expect_all(const struct sample *samples, size_t count,
                       int (*scan)(const char *, int64_t *))
{
    for (size_t i = 0; i < count; i++) {
        int64_t value = 77;
        int rc = scan(samples[i].text, &value);

        if (rc != samples[i].rc || value != (rc == 0 ? samples[i].value : 77))
            print_error("at '%s': rc %d, value %lld\n", samples[i].text, rc, (long long)value);
        assert_int_equal(rc, samples[i].rc);
        assert_true(value == (rc == 0 ? samples[i].value : 77));
    }
}

static void whole_numbers_are_strict(void **state)
{
    static const struct sample samples[] = {
        {"0", 0, 0},
        {"-0", 0, 0},
        {"007", 0, 7},
        {"9223372036854775807", 0, INT64_MAX},
        {"-9223372036854775808", 0, INT64_MIN},
        {"9223372036854775808", -ERANGE, 0},
        {"-9223372036854775809", -ERANGE, 0},
        {"99999999999999999999999", -ERANGE, 0},
        {"", -EINVAL, 0},
        {"-", -EINVAL, 0},
        {"+1", -EINVAL, 0},
        {" 1", -EINVAL, 0},
        {"1 ", -EINVAL, 0},
        {"1.0", -EINVAL, 0},
        {"0x10", -EINVAL, 0},
        {"--1", -EINVAL, 0},
    };

    (void)state;
    expect_all(samples, sizeof samples / sizeof samples[0], scan_i64);
}

static void unsigned_numbers_reach_their_maximum(void **state)
{
    uint64_t wide = 5;
    uint32_t narrow = 5;

    (void)state;
    assert_int_equal(scan_u64("-1", &wide), -EINVAL);
    assert_int_equal(scan_u64("18446744073709551616", &wide), -ERANGE);
    assert_int_equal(scan_u64("18446744073709551615", &wide), 0);
    assert_true(wide == UINT64_MAX);
    assert_int_equal(scan_u32("4294967296", &narrow), -ERANGE);
    assert_int_equal(narrow, 5);
    assert_int_equal(scan_u32("4294967295", &narrow), 0);
    assert_true(narrow == UINT32_MAX);
}

static void decimals_are_exact_or_refused(void **state)
{
    static const struct sample samples[] = {
        {"1", 0, 1000000},
        {"1.5", 0, 1500000},
        {"-0.000001", 0, -1},
        {"0.1234560000", 0, 123456},
        {"9223372036854.775807", 0, INT64_MAX},
        {"-9223372036854.775808", 0, INT64_MIN},
        {"9223372036854.775808", -ERANGE, 0},
        {"99999999999999999999", -ERANGE, 0},
        {"0.1234567", -EINVAL, 0},
        {"1.", -EINVAL, 0},
        {".5", -EINVAL, 0},
        {".", -EINVAL, 0},
        {"", -EINVAL, 0},
        {"-", -EINVAL, 0},
        {"1.5.5", -EINVAL, 0},
        {"1e3", -EINVAL, 0},
        {"nan", -EINVAL, 0},
        {"1,5", -EINVAL, 0},
    };
    int64_t value = 0;

    (void)state;
    expect_all(samples, sizeof samples / sizeof samples[0], decimal_6);
    assert_int_equal(scan_decimal("12.00", 0, &value), 0);
    assert_true(value == 12);
    assert_int_equal(scan_decimal("12.01", 0, &value), -EINVAL);
    assert_int_equal(scan_decimal("0.000000000000000001", 18, &value), 0);
    assert_true(value == 1);
}

static void durations_have_units_and_default_to_seconds(void **state)
{
    static const struct sample samples[] = {
        {"90", 0, 90000000},
        {"60s", 0, 60000000},
        {"5m", 0, 300000000},
        {"1.5h", 0, INT64_C(5400000000)},
        {"1d", 0, INT64_C(86400000000)},
        {"250ms", 0, 250000},
        {"0.5ms", 0, 500},
        {"7us", 0, 7},
        {"0", 0, 0},
        {"106751991d", 0, INT64_C(106751991) * INT64_C(86400000000)},
        {"106751992d", -ERANGE, 0},
        {"-1s", -ERANGE, 0},
        {"0.5us", -EINVAL, 0},
        {"s", -EINVAL, 0},
        {"5 m", -EINVAL, 0},
        {"5w", -EINVAL, 0},
        {"5ms5", -EINVAL, 0},
        {"10m30s", 0, 630000000},
        {"1h 1m", 0, INT64_C(3660000000)},
        {"1d2h3m4s5ms6us", 0, INT64_C(93784005006)},
        {"1m1.5s", 0, 61500000},
        {"1h30", -EINVAL, 0},
        {"1m1h", -EINVAL, 0},
        {"1m1m", -EINVAL, 0},
        {"1.5h1m", -EINVAL, 0},
        {"1h  1m", -EINVAL, 0},
        {"1h ", -EINVAL, 0},
        {"1h-1m", -EINVAL, 0},
        {"106751991d24h", -ERANGE, 0},
        {"", -EINVAL, 0},
    };

    (void)state;
    expect_all(samples, sizeof samples / sizeof samples[0], scan_duration_us);
}

static void sizes_are_binary_and_default_to_bytes(void **state)
{
    static const struct sample samples[] = {
        {"4096", 0, 4096},
        {"1K", 0, 1024},
        {"2Ki", 0, 2048},
        {"3M", 0, 3 << 20},
        {"20G", 0, INT64_C(20) << 30},
        {"20Gi", 0, INT64_C(20) << 30},
        {"1.5T", 0, INT64_C(3) << 39},
        {"2Ti", 0, INT64_C(2) << 40},
        {"0.1K", 0, 102},
        {"8388607T", 0, INT64_C(8388607) << 40},
        {"8388608T", -ERANGE, 0},
        {"-1G", -ERANGE, 0},
        {"20GB", -EINVAL, 0},
        {"20g", -EINVAL, 0},
        {"G", -EINVAL, 0},
        {"", -EINVAL, 0},
    };

    (void)state;
    expect_all(samples, sizeof samples / sizeof samples[0], scan_bytes);
}

static void ranges_are_two_numbers_or_one(void **state)
{
    uint64_t first = 1, last = 1;

    (void)state;
    assert_int_equal(scan_range_u64("42-51", &first, &last), 0);
    assert_true(first == 42 && last == 51);
    assert_int_equal(scan_range_u64("7", &first, &last), 0);
    assert_true(first == 7 && last == 7);
    assert_int_equal(scan_range_u64("51-42", &first, &last), -ERANGE);
    assert_int_equal(scan_range_u64("-5", &first, &last), -EINVAL);
    assert_int_equal(scan_range_u64("5-", &first, &last), -EINVAL);
    assert_int_equal(scan_range_u64("1-2-3", &first, &last), -EINVAL);
    assert_int_equal(scan_range_u64("", &first, &last), -EINVAL);
    assert_true(first == 7 && last == 7);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(whole_numbers_are_strict),
        TEST(unsigned_numbers_reach_their_maximum),
        TEST(decimals_are_exact_or_refused),
        TEST(durations_have_units_and_default_to_seconds),
        TEST(sizes_are_binary_and_default_to_bytes),
        TEST(ranges_are_two_numbers_or_one),
    };

    return RUN_TESTS(tests);
}
