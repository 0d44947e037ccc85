/* SPDX-License-Identifier: Apache-2.0 */
/* number.h - numbers as people write them in files, checked against a range.
 *
 * Errors say what would be right and what is there: "must be 0 to 64, is -3". The caller puts the
 * file, line and field in front. */
#pragma once
#include <stdint.h>

struct err;

enum number_kind {
    NUMBER_WHOLE,
    NUMBER_MILLI,    /* decimal, in thousandths: 1.5 is 1500. CPUs to mCPU, ms to us */
    NUMBER_MICRO,    /* decimal, in millionths: seconds to us */
    NUMBER_BYTES,    /* 80G, 512M, 1024 */
    NUMBER_MIB,      /* whole MiB, in bytes */
    NUMBER_GIB,      /* whole GiB, in bytes */
    NUMBER_DURATION, /* 250ms, 60s, 5m, 1.5h, 1d; in us */
    NUMBER_BITRATE,  /* bits each second, 400G is 400 * 10^9; in whole bytes each second */
    NUMBER_GPUS,     /* whole; who wants a part of one is told of gpu-share */
    NUMBER_SHARE,    /* part of a GPU, in mGPU: 0.5, or 1/3, which is rounded down but not to 0 */
};

/* Returns 0, or -EINVAL or -ERANGE and out is untouched. min and max are in the unit of out. */
int number_parse(const char *text, enum number_kind kind, int64_t min, int64_t max, int64_t *out,
                 struct err *err);

/* Any 64-bit number without a sign. */
int number_parse_u64(const char *text, uint64_t *out, struct err *err);
