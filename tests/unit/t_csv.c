/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/csv.h"

#include <stdlib.h>

#include "base/text.h"
#include "unit/wire_test.h"

static int open_text(struct csv *csv, const char *text, struct err *err)
{
    return csv_open_bytes(csv, "t.csv", text, strlen(text), err);
}

static void columns_are_found_by_name_in_any_order(void **state)
{
    static const char *const wanted[] = {"gpus", "name"};
    uint32_t column[2], gpus = 0;
    const char *name = NULL;
    struct csv csv;

    (void)state;
    WORKS(open_text(&csv, "name,x,gpus\na,,8\n\n\"b, \"\"c\"\"\",,4", &err));
    WORKS(csv_find_all(&csv, wanted, 2, column, &err));
    assert_true(csv_find(&csv, "y") == CSV_NONE);
    WORKS(csv_next(&csv, &err));
    WORKS(csv_u32(&csv, column[0], 0, 64, &gpus, &err));
    assert_int_equal(gpus, 8);
    assert_true(csv_is_empty(&csv, 1));
    assert_true(csv_is_empty(&csv, CSV_NONE));
    WORKS(csv_next(&csv, &err));
    WORKS(csv_name(&csv, column[1], &name, &err));
    assert_string_equal(name, "b, \"c\"");
    assert_int_equal(csv.input.line_number, 4);
    assert_int_equal(csv_next(&csv, NULL), 0);
    csv_close(&csv);
}

static void errors_name_file_line_and_column(void **state)
{
    static const char *const wanted[] = {"gpus", "memory"};
    const char *name;
    uint32_t gpus = 7, column[2];
    struct csv csv;

    (void)state;
    WORKS(open_text(&csv, "name,gpus\na,-3\n,x\nb\n", &err));
    FAILS_WITH(csv_find_all(&csv, wanted, 2, column, &err), "t.csv:1: column 'memory' is missing");
    WORKS(csv_next(&csv, &err));
    FAILS_WITH(csv_u32(&csv, 1, 0, 64, &gpus, &err),
               "t.csv:2: column 'gpus': must be 0 to 64, is -3");
    WORKS(csv_next(&csv, &err));
    FAILS_WITH(csv_u32(&csv, 1, 0, 64, &gpus, &err),
               "t.csv:3: column 'gpus': must be a whole number, is 'x'");
    FAILS_WITH(csv_name(&csv, 0, &name, &err), "t.csv:3: column 'name': must not be empty");
    FAILS_WITH(csv_next(&csv, &err), "t.csv:4: row has 1 columns, the header has 2");
    assert_int_equal(gpus, 7);
    csv_close(&csv);
}

static void broken_headers_are_errors(void **state)
{
    struct csv csv;

    (void)state;
    FAILS_WITH(open_text(&csv, "", &err), "t.csv: file is empty, wanted a header line");
    FAILS_WITH(open_text(&csv, "a,b,a\n", &err), "t.csv:1: column 'a' is there twice");
    FAILS_WITH(open_text(&csv, "a,\"b\n", &err),
               "t.csv:1: column 2: the quoted field is not closed on this line");
    FAILS_WITH(open_text(&csv, "\"a\"b\n", &err),
               "t.csv:1: column 1: the quoted field has text after its closing quote");
}

static void a_line_of_a_million_columns_is_one_clear_error(void **state)
{
    struct text text;
    struct csv csv;

    (void)state;
    text_init(&text, 4 << 20);
    for (int i = 0; i < 1000000; i++)
        text_add(&text, "a,");
    FAILS_WITH(open_text(&csv, text_str(&text), &err), "t.csv:1: line is longer than 65536 bytes");
    text_clear(&text);
    for (int i = 0; i < 300; i++)
        text_add(&text, "a,");
    FAILS_WITH(open_text(&csv, text_str(&text), &err), "t.csv:1: more than 256 columns");
    text_done(&text);
}

static void a_row_that_is_too_wide_is_an_error(void **state)
{
    struct csv csv;

    (void)state;
    WORKS(open_text(&csv, "a,b\n1,2,3\n", &err));
    FAILS_WITH(csv_next(&csv, &err), "t.csv:2: row has more columns than the header, which has 2");
    csv_close(&csv);
}

static void names_have_a_limit(void **state)
{
    char row[400] = "name\n";
    const char *name;
    struct csv csv;

    (void)state;
    memset(row + 5, 'n', 256);
    WORKS(open_text(&csv, row, &err));
    WORKS(csv_next(&csv, &err));
    FAILS_WITH(csv_text(&csv, 0, &name, &err),
               "t.csv:2: column 'name': text is longer than 255 bytes: "
               "'nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn...'");
    csv_close(&csv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(columns_are_found_by_name_in_any_order),
        TEST(errors_name_file_line_and_column),
        TEST(broken_headers_are_errors),
        TEST(a_line_of_a_million_columns_is_one_clear_error),
        TEST(a_row_that_is_too_wide_is_an_error),
        TEST(names_have_a_limit),
    };

    return RUN_TESTS(tests);
}
