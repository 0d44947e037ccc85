/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "unit/wire_test.h"

static char path[] = "/tmp/berth-input-XXXXXX";

static int make_file(void **state)
{
    int fd = mkstemp(path);

    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static void write_file(const void *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static void write_gzip(const char *text)
{
    gzFile gz = gzopen(path, "wb");

    assert_non_null(gz);
    assert_int_equal(gzputs(gz, text), (int)strlen(text));
    assert_int_equal(gzclose(gz), Z_OK);
}

/* Cuts the file or changes its byte, counted from the end. */
static void damage_file(size_t cut, size_t change_at)
{
    static char bytes[4096];
    FILE *file = fopen(path, "rb");
    size_t count;

    assert_non_null(file);
    count = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    if (change_at)
        bytes[count - change_at] = (char)(bytes[count - change_at] ^ 0x55);
    write_file(bytes, count - cut);
}

static void expect_line(struct input *input, const char *wanted)
{
    struct err err = {""};

    assert_int_equal(input_line(input, &err), 1);
    assert_string_equal(text_str(&input->line), wanted);
}

static void expect_end(struct input *input)
{
    struct err err = {""};

    assert_int_equal(input_line(input, &err), 0);
    assert_int_equal(input_line(input, &err), 0);
}

static void lines_end_in_lf_or_crlf_and_the_last_may_lack_it(void **state)
{
    static const char text[] = "\xef\xbb\xbfone\r\ntwo\n\nlast";
    struct input input;

    (void)state;
    input_open_bytes(&input, "x", text, sizeof text - 1, 100);
    expect_line(&input, "one");
    expect_line(&input, "two");
    expect_line(&input, "");
    expect_line(&input, "last");
    assert_int_equal(input.line_number, 4);
    expect_end(&input);
    input_close(&input);
    input_open_bytes(&input, "x", "", 0, 100);
    expect_end(&input);
    input_close(&input);
}

static void plain_and_gzip_files_read_alike(void **state)
{
    struct input input;

    (void)state;
    for (int gzip = 0; gzip < 2; gzip++) {
        if (gzip)
            write_gzip("a\nb\n");
        else
            write_file("a\nb\n", 4);
        WORKS(input_open(&input, path, 100, &err));
        expect_line(&input, "a");
        expect_line(&input, "b");
        expect_end(&input);
        input_close(&input);
    }
}

static void what_is_not_a_line_of_text_is_an_error(void **state)
{
    struct input input;

    (void)state;
    input_open_bytes(&input, "f.csv", "ok\na\0b\n", 7, 100);
    expect_line(&input, "ok");
    FAILS_WITH(input_line(&input, &err), "f.csv:2: line has a NUL byte, which is not text");
    input_close(&input);
    input_open_bytes(&input, "f.csv", "\xff\n", 2, 100);
    FAILS_WITH(input_line(&input, &err), "f.csv:1: line is not UTF-8 text");
    input_close(&input);
    input_open_bytes(&input, "f.csv", "12345678901\n", 12, 10);
    FAILS_WITH(input_line(&input, &err), "f.csv:1: line is longer than 10 bytes");
    input_close(&input);
}

static void a_damaged_gzip_file_is_an_error(void **state)
{
    char text[600], wanted[200];
    struct input input;

    (void)state;
    for (size_t cut = 1; cut < 12; cut += 5) {
        write_gzip("some text that is compressed, some text\n");
        damage_file(cut, 0);
        WORKS(input_open(&input, path, 100, &err));
        snprintf(wanted, sizeof wanted, "cannot read '%s': the gzip file ends early", path);
        snprintf(text, sizeof text, "%s", "");
        for (int i = 0; i < 2 && !text[0]; i++) {
            struct err err = {""};

            if (input_line(&input, &err) < 0)
                snprintf(text, sizeof text, "%s", err.text);
        }
        assert_string_equal(text, wanted);
        input_close(&input);
    }
    write_gzip("some text\n");
    damage_file(0, 8);
    WORKS(input_open(&input, path, 100, &err));
    snprintf(wanted, sizeof wanted, "cannot read '%s': broken gzip file: %s: incorrect data check",
             path, path);
    FAILS_WITH(input_line(&input, &err), wanted);
    input_close(&input);
}

static void a_file_that_cannot_be_read_says_why(void **state)
{
    struct input input;

    (void)state;
    FAILS_WITH(input_open(&input, "/no/such.csv", 100, &err),
               "cannot open '/no/such.csv': No such file or directory");
    WORKS(input_open(&input, "/", 100, &err));
    FAILS_WITH(input_line(&input, &err), "cannot read '/': Is a directory");
    input_close(&input);
}

static void a_whole_file_has_a_limit(void **state)
{
    struct text text;
    char wanted[200];

    (void)state;
    write_gzip("123456789");
    text_init(&text, 9);
    WORKS(input_read_all(path, &text, &err));
    assert_string_equal(text_str(&text), "123456789");
    text_done(&text);
    text_init(&text, 8);
    snprintf(wanted, sizeof wanted, "'%s' is larger than 8 bytes", path);
    FAILS_WITH(input_read_all(path, &text, &err), wanted);
    text_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(lines_end_in_lf_or_crlf_and_the_last_may_lack_it),
        TEST(plain_and_gzip_files_read_alike),
        TEST(what_is_not_a_line_of_text_is_an_error),
        TEST(a_damaged_gzip_file_is_an_error),
        TEST(a_file_that_cannot_be_read_says_why),
        TEST(a_whole_file_has_a_limit),
    };

    return cmocka_run_group_tests(tests, make_file, remove_file);
}
