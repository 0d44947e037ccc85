/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "fuzz/fuzz.h"
#include "wire/csv.h"

/* Every row that is accepted has as many fields as the header, and each is text. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct csv csv;
    struct err err;

    if (csv_open_bytes(&csv, "fuzz.csv", bytes, count, &err) < 0)
        return 0;
    check(csv.column_count > 0);
    while (csv_next(&csv, &err) > 0) {
        for (uint32_t i = 0; i < csv.column_count; i++) {
            const char *text;
            int64_t value;

            check(strlen(csv_field(&csv, i)) <= CSV_LINE_BYTES_MAX);
            (void)csv_number(&csv, i, NUMBER_WHOLE, -5, 5, &value, &err);
            (void)csv_number_or(&csv, i, NUMBER_BYTES, 0, INT64_MAX, &value, &err);
            (void)csv_number_or(&csv, i, NUMBER_SHARE, 1, 1000, &value, &err);
            (void)csv_name(&csv, i, &text, &err);
        }
    }
    csv_close(&csv);
    return 0;
}
