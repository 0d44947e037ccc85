/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scan.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/check.h"

enum { FRACTION_PLACES = 6, FRACTION_ONE = 1000000 };

struct unit {
    const char *name;
    int64_t size;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t digit_count(const char *s, size_t len)
{
    size_t n = 0;

    while (n < len && is_digit(s[n]))
        n++;
    return n;
}

/* [len] digits, already seen to be digits, appended to *value. */
static int add_digits(const char *s, size_t len, uint64_t *value)
{
    for (size_t i = 0; i < len; i++) {
        if (__builtin_mul_overflow(*value, (uint64_t)10, value) ||
            __builtin_add_overflow(*value, (uint64_t)(s[i] - '0'), value))
            return -ERANGE;
    }
    return 0;
}

static int u64_of(const char *s, size_t len, uint64_t *out)
{
    uint64_t value = 0;
    int rc;

    if (len == 0 || digit_count(s, len) != len)
        return -EINVAL;
    rc = add_digits(s, len, &value);
    if (rc < 0)
        return rc;
    *out = value;
    return 0;
}

static int with_sign(uint64_t magnitude, bool negative, int64_t *out)
{
    if (magnitude > (uint64_t)INT64_MAX + negative)
        return -ERANGE;
    if (negative && magnitude > 0)
        *out = -(int64_t)(magnitude - 1) - 1;
    else
        *out = (int64_t)magnitude;
    return 0;
}

/* The fraction behind the point: [len] digits made exactly places long. */
static int add_fraction(const char *s, size_t len, uint32_t places, uint64_t *value)
{
    size_t kept = len < places ? len : places;
    int rc = add_digits(s, kept, value);

    for (size_t i = kept; rc == 0 && i < len; i++) {
        if (s[i] != '0')
            rc = -EINVAL;
    }
    for (size_t i = kept; rc == 0 && i < places; i++)
        rc = add_digits("0", 1, value);
    return rc;
}

static int decimal_of(const char *s, size_t len, uint32_t places, int64_t *out)
{
    bool negative = len > 0 && s[0] == '-';
    uint64_t value = 0;
    size_t whole, part = 0;
    int rc;

    s += negative;
    len -= negative;
    whole = digit_count(s, len);
    if (whole == 0)
        return -EINVAL;
    if (whole < len) {
        part = digit_count(s + whole + 1, len - whole - 1);
        if (s[whole] != '.' || part == 0 || whole + 1 + part != len)
            return -EINVAL;
    }
    rc = add_digits(s, whole, &value);
    if (rc == 0)
        rc = add_fraction(part ? s + whole + 1 : "", part, places, &value);
    return rc < 0 ? rc : with_sign(value, negative, out);
}

/* A decimal followed by the name of one of units, which end with a NULL name; the unit named "" is
 * that of a plain number. *out is in the smallest unit, rounded down, and *out_rest what the
 * rounding lost, in millionths of it. */
static int scaled_of(const char *s, const struct unit *units, int64_t *out, int64_t *out_rest)
{
    size_t len = strspn(s, "-0123456789.");
    int64_t value, whole, part;
    int rc;

    while (units->name && strcmp(units->name, s + len) != 0)
        units++;
    if (!units->name)
        return -EINVAL;
    rc = decimal_of(s, len, FRACTION_PLACES, &value);
    if (rc < 0)
        return rc;
    if (value < 0)
        return -ERANGE;
    part = value % FRACTION_ONE * units->size;
    if (__builtin_mul_overflow(value / FRACTION_ONE, units->size, &whole) ||
        __builtin_add_overflow(whole, part / FRACTION_ONE, &whole))
        return -ERANGE;
    *out = whole;
    *out_rest = part % FRACTION_ONE;
    return 0;
}

int scan_i64(const char *s, int64_t *out)
{
    bool negative = s[0] == '-';
    uint64_t magnitude;
    int rc = u64_of(s + negative, strlen(s + negative), &magnitude);

    return rc < 0 ? rc : with_sign(magnitude, negative, out);
}

int scan_u64(const char *s, uint64_t *out)
{
    return u64_of(s, strlen(s), out);
}

int scan_u32(const char *s, uint32_t *out)
{
    uint64_t value;
    int rc = scan_u64(s, &value);

    if (rc < 0)
        return rc;
    if (value > UINT32_MAX)
        return -ERANGE;
    *out = (uint32_t)value;
    return 0;
}

int scan_decimal(const char *s, uint32_t places, int64_t *out)
{
    check(places <= 18);
    return decimal_of(s, strlen(s), places, out);
}

/* Units of time, the largest first, then that of a plain number. */
static const struct unit times[] = {
    {"d", INT64_C(86400000000)},
    {"h", INT64_C(3600000000)},
    {"m", 60000000},
    {"s", 1000000},
    {"ms", 1000},
    {"us", 1},
    {"", 1000000},
    {NULL, 0},
};

/* Length of "1h" in "1h 1m", with the place of its unit; 0 if that is not one of times[from..]. */
static size_t first_part(const char *s, size_t from, size_t *out_unit)
{
    const size_t digits = digit_count(s, strlen(s));
    const size_t letters = strcspn(s + digits, " 0123456789.-");

    for (size_t u = from; digits > 0 && letters > 0 && times[u].name[0] != '\0'; u++)
        if (strlen(times[u].name) == letters && strncmp(times[u].name, s + digits, letters) == 0) {
            *out_unit = u;
            return digits + letters;
        }
    return 0;
}

int scan_duration_us(const char *s, int64_t *out)
{
    int64_t sum = 0, value, rest;
    size_t unit = 0, length;
    int rc;

    while ((length = first_part(s, unit, &unit)) > 0 && s[length] != '\0') {
        uint64_t count;

        rc = u64_of(s, digit_count(s, length), &count);
        if (rc < 0 || __builtin_mul_overflow(count, times[unit].size, &value) ||
            __builtin_add_overflow(sum, value, &sum))
            return -ERANGE;
        s += length + (s[length] == ' ');
        unit++;
        if (!is_digit(s[0]) || times[unit].name[0] == '\0')
            return -EINVAL;
    }
    if (unit > 0 && length == 0 && s[strspn(s, "0123456789.")] == '\0')
        return -EINVAL; /* a number without a unit is not the end of a longer one */
    rc = scaled_of(s, times + unit, &value, &rest);
    if (rc < 0)
        return rc;
    if (rest != 0)
        return -EINVAL;
    if (__builtin_add_overflow(sum, value, &value))
        return -ERANGE;
    *out = value;
    return 0;
}

int scan_bytes(const char *s, int64_t *out)
{
    static const struct unit units[] = {
        {"", 1},
        {"K", INT64_C(1) << 10},
        {"Ki", INT64_C(1) << 10},
        {"M", INT64_C(1) << 20},
        {"Mi", INT64_C(1) << 20},
        {"G", INT64_C(1) << 30},
        {"Gi", INT64_C(1) << 30},
        {"T", INT64_C(1) << 40},
        {"Ti", INT64_C(1) << 40},
        {NULL, 0},
    };
    int64_t rest;

    return scaled_of(s, units, out, &rest);
}

int scan_range_u64(const char *s, uint64_t *out_first, uint64_t *out_last)
{
    size_t len = strcspn(s, "-");
    uint64_t first, last;
    int rc = u64_of(s, len, &first);

    if (rc == 0)
        rc = s[len] ? scan_u64(s + len + 1, &last) : scan_u64(s, &last);
    if (rc < 0)
        return rc;
    if (first > last)
        return -ERANGE;
    *out_first = first;
    *out_last = last;
    return 0;
}
