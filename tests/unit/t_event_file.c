/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/event_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "unit/wire_test.h"

enum { EVENTS = 5000 };

static char folder[] = "/tmp/berth-events-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static void write_events(const char *path)
{
    static const int64_t options[] = {5};
    const struct config config = {.placement = "berth",
                                  .order = "fifo",
                                  .seed = 42,
                                  .order_options = options,
                                  .order_option_count = 1};
    struct event_writer writer;

    WORKS(event_writer_open(&writer, path, &config, &err));
    for (int i = 0; i < EVENTS; i++) {
        struct event event = {.type = EVENT_JOB_CANCELLED, .at_us = i, .job_id = (uint64_t)i};

        WORKS(event_writer_put(&writer, &event, &err));
    }
    WORKS(event_writer_close(&writer, &err));
}

static void expect_events(const char *path)
{
    struct event_reader reader;
    struct config config;
    struct event event;

    WORKS(event_reader_open(&reader, path, &config, &err));
    for (int i = 0; i < EVENTS; i++) {
        assert_int_equal(event_reader_next(&reader, &event, NULL), 1);
        assert_true(event.type == EVENT_JOB_CANCELLED && event.at_us == i);
        assert_true(event.job_id == (uint64_t)i);
    }
    assert_int_equal(event_reader_next(&reader, &event, NULL), 0);
    assert_string_equal(config.placement, "berth"); /* valid until close */
    assert_true(config.seed == 42 && config.order_options[0] == 5);
    event_reader_close(&reader);
}

static void what_is_written_is_read_from_plain_and_gzip_files(void **state)
{
    static const char *const names[] = {"events.jsonl", "events.jsonl.gz"};
    char path[100];

    (void)state;
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        write_events(path);
        expect_events(path);
        unlink(path);
    }
}

static void a_full_disk_is_an_error(void **state)
{
    const struct config config = {.placement = "berth", .order = "fifo"};
    struct event_writer writer;

    (void)state;
    WORKS(event_writer_open(&writer, "/dev/full", &config, &err));
    FAILS_WITH(event_writer_close(&writer, &err),
               "cannot write '/dev/full': No space left on device");
    FAILS_WITH(event_writer_open(&writer, "/no/such/file", &config, &err),
               "cannot create '/no/such/file': No such file or directory");
}

static void wrong_files_are_errors(void **state)
{
    struct event_reader reader;
    struct config config;

    (void)state;
    FAILS_WITH(event_reader_open_bytes(&reader, "e", "", 0, &config, &err),
               "e: file is empty, wanted an event file");
    FAILS_WITH(event_reader_open_bytes(&reader, "e", "a,b\n", 4, &config, &err),
               "e:1: not JSON: wanted a value");
    FAILS_WITH(event_reader_open(&reader, "/no/such/file", &config, &err),
               "cannot open '/no/such/file': No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_written_is_read_from_plain_and_gzip_files),
        TEST(a_full_disk_is_an_error),
        TEST(wrong_files_are_errors),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
