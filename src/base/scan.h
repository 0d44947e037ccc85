/* SPDX-License-Identifier: Apache-2.0 */
/* scan.h - whole strings to integers: numbers, fixed-point decimals, durations, sizes, ranges.
 *
 * Strict and locale-free: no spaces, no '+', no exponent, nothing left over. Each returns 0,
 * -EINVAL (not of this form) or -ERANGE (of this form, but it does not fit or may not be
 * negative), and writes its outputs only on success. */
#pragma once
#include <stdint.h>

int scan_i64(const char *s, int64_t *out);
int scan_u64(const char *s, uint64_t *out);
int scan_u32(const char *s, uint32_t *out);

/* Fixed point: the value times 10^places, places in 0..18. "1.5" with places 6 is 1500000. More
 * decimals than places are accepted only as zeros; "1.", ".5" and "1e3" are -EINVAL. */
int scan_decimal(const char *s, uint32_t places, int64_t *out);

/* "250ms", "10us", "60s", "5m", "1.5h", "1d"; a plain number is seconds. Several with smaller and
 * smaller units are their sum, as times are printed: "1h1m", "1h 1m". Not negative. The last may
 * have up to six decimals; less than a whole microsecond is -EINVAL. */
int scan_duration_us(const char *s, int64_t *out);

/* "20G" and "20Gi" are 20 * 2^30 bytes (also K, M, T, each with or without i); a plain number is
 * bytes. Not negative. Up to six decimals, rounded down to a byte. */
int scan_bytes(const char *s, int64_t *out);

/* "42-51" is first 42 and last 51, "42" is both; first may not be above last (-ERANGE). */
int scan_range_u64(const char *s, uint64_t *out_first, uint64_t *out_last);
