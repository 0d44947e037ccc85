/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/scan.h"
#include "fuzz/fuzz.h"

/* Whatever is accepted is in the range that is promised. */
static void scan_all(const char *s)
{
    uint64_t first, last;
    uint32_t narrow;
    int64_t value;

    (void)scan_i64(s, &value);
    (void)scan_u32(s, &narrow);
    for (uint32_t places = 0; places <= 18; places += 6)
        (void)scan_decimal(s, places, &value);
    if (scan_duration_us(s, &value) == 0)
        check(value >= 0);
    if (scan_bytes(s, &value) == 0)
        check(value >= 0);
    if (scan_range_u64(s, &first, &last) == 0)
        check(first <= last);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    char *s = mem_alloc(count + 1, 1);

    if (count)
        memcpy(s, bytes, count);
    scan_all(s);
    mem_free(s);
    return 0;
}
