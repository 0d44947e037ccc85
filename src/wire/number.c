/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/number.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/scan.h"
#include "core/limits.h"
#include "wire/quote.h"

struct bound {
    char text[40];
};

/* How each kind is read, what it is called, and how many units of out one of it is. */
struct kind {
    const char *wanted;
    const char *suffix; /* of a bound in messages */
    int64_t scale;
};

static const struct kind kinds[] = {
    [NUMBER_WHOLE] = {"a whole number", "", 1},
    [NUMBER_MILLI] = {"a number with up to 3 decimals", "", 1000},
    [NUMBER_MICRO] = {"a number with up to 6 decimals", "", 1000000},
    [NUMBER_BYTES] = {"a size such as 80G or 512M", "", 1},
    [NUMBER_MIB] = {"a whole number of MiB", "", 1 << 20},
    [NUMBER_GIB] = {"a whole number of GiB", "", 1 << 30},
    [NUMBER_DURATION] = {"a duration such as 60s, 5m or 1.5h", "s", 1000000},
    [NUMBER_BITRATE] = {"bits each second such as 400G or 1.6T", "", 1},
    [NUMBER_GPUS] = {"a whole number (gpu-share asks for a part of each GPU)", "", 1},
    [NUMBER_SHARE] = {"a share such as 0.5, with up to 3 decimals, or 1/N such as 1/3", "",
                      GPU_MGPU},
};

static int scan_scaled(const char *text, int64_t scale, int64_t *out)
{
    int64_t value;
    int rc = scan_i64(text, &value);

    if (rc < 0)
        return rc;
    return __builtin_mul_overflow(value, scale, out) ? -ERANGE : 0;
}

/* "1/3" of 1000 is 333, "1/2000" is 1. */
static int scan_share(const char *text, int64_t *out)
{
    const char *slash = strchr(text, '/');
    uint64_t parts;
    int rc;

    if (!slash)
        return scan_decimal(text, 3, out);
    if (slash != text + 1 || text[0] != '1')
        return -EINVAL;
    rc = scan_u64(slash + 1, &parts);
    if (rc < 0)
        return rc;
    if (parts == 0)
        return -ERANGE;
    *out = parts > GPU_MGPU ? 1 : (int64_t)(GPU_MGPU / parts);
    return 0;
}

/* Powers of 1000, as network ports are named. */
static int scan_bitrate(const char *text, int64_t *out)
{
    static const char units[] = "KMGT";
    const size_t len = strlen(text);
    const char *unit = len > 1 ? strchr(units, text[len - 1]) : NULL;
    char number[32];
    int64_t millis, scale = 1;
    int rc;

    if (len >= sizeof number)
        return -EINVAL;
    memcpy(number, text, len + 1);
    for (const char *u = units; unit != NULL && u <= unit; u++)
        scale *= 1000;
    if (unit != NULL)
        number[len - 1] = '\0';
    rc = scan_decimal(number, 3, &millis);
    if (rc < 0)
        return rc;
    if (__builtin_mul_overflow(millis, scale, out))
        return -ERANGE;
    *out /= 8000;
    return 0;
}

static int scan_kind(const char *text, enum number_kind kind, int64_t *out)
{
    switch (kind) {
    case NUMBER_MILLI:
        return scan_decimal(text, 3, out);
    case NUMBER_MICRO:
        return scan_decimal(text, 6, out);
    case NUMBER_BYTES:
        return scan_bytes(text, out);
    case NUMBER_DURATION:
        return scan_duration_us(text, out);
    case NUMBER_BITRATE:
        return scan_bitrate(text, out);
    case NUMBER_SHARE:
        return scan_share(text, out);
    case NUMBER_WHOLE:
    case NUMBER_GPUS:
    case NUMBER_MIB:
    case NUMBER_GIB:
        break;
    }
    return scan_scaled(text, kinds[kind].scale, out);
}

static struct bound bound_bytes(int64_t value)
{
    static const char *const units[] = {"", "K", "M", "G", "T"};
    struct bound bound;
    size_t unit = 0;

    while (unit < 4 && value != 0 && value % 1024 == 0) {
        value /= 1024;
        unit++;
    }
    snprintf(bound.text, sizeof bound.text, "%lld%s", (long long)value, units[unit]);
    return bound;
}

static struct bound bound_bitrate(int64_t bytes)
{
    static const char *const units[] = {"", "K", "M", "G", "T"};
    int64_t bits = bytes * 8;
    struct bound bound;
    size_t unit = 0;

    while (unit < 4 && bits != 0 && bits % 1000 == 0) {
        bits /= 1000;
        unit++;
    }
    snprintf(bound.text, sizeof bound.text, "%lld%s", (long long)bits, units[unit]);
    return bound;
}

/* A bound as it would be written in the file: thousandths show only where there are any. */
static struct bound bound_of(int64_t value, enum number_kind kind)
{
    int64_t scale = kinds[kind].scale, part = value % scale;
    struct bound bound;
    size_t len;

    if (kind == NUMBER_BYTES)
        return bound_bytes(value);
    if (kind == NUMBER_BITRATE)
        return bound_bitrate(value);
    len = (size_t)snprintf(bound.text, sizeof bound.text, "%s%lld",
                           value < 0 && value > -scale ? "-" : "", (long long)(value / scale));
    if (part != 0 && (scale == 1000 || scale == 1000000)) {
        len += (size_t)snprintf(bound.text + len, sizeof bound.text - len, ".%0*lld",
                                scale == 1000 ? 3 : 6, (long long)(part < 0 ? -part : part));
        while (bound.text[len - 1] == '0')
            bound.text[--len] = '\0';
    }
    snprintf(bound.text + len, sizeof bound.text - len, "%s", kinds[kind].suffix);
    return bound;
}

static int range_error(const char *text, enum number_kind kind, int64_t min, int64_t max,
                       struct err *err)
{
    struct bound low = bound_of(min, kind), high = bound_of(max, kind);
    struct quote is = quote_of(text);

    if (min == max)
        return err_set(err, -ERANGE, "must be %s, is %s", low.text, is.text);
    return err_set(err, -ERANGE, "must be %s to %s, is %s", low.text, high.text, is.text);
}

int number_parse(const char *text, enum number_kind kind, int64_t min, int64_t max, int64_t *out,
                 struct err *err)
{
    int64_t value;
    int rc = scan_kind(text, kind, &value);

    if (rc == -EINVAL)
        return err_set(err, -EINVAL, "must be %s, is %s", kinds[kind].wanted, quote_of(text).text);
    if (rc < 0 || value < min || value > max)
        return range_error(text, kind, min, max, err);
    *out = value;
    return 0;
}

int number_parse_u64(const char *text, uint64_t *out, struct err *err)
{
    int rc = scan_u64(text, out);

    if (rc < 0)
        return err_set(err, rc, "must be a whole number from 0 to %llu, is %s",
                       (unsigned long long)UINT64_MAX, quote_of(text).text);
    return 0;
}
