/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/text.h"
#include "fuzz/fuzz.h"
#include "wire/event_file.h"
#include "wire/event_json.h"

enum { TEXT_BYTES_MAX = 64 << 20 };

/* What was read is written, read and written again: both times the same bytes. */
static void check_event(const struct event *event)
{
    struct text first, second;
    struct arena arena;
    struct event again;
    struct err err;

    arena_init(&arena);
    text_init(&first, TEXT_BYTES_MAX);
    text_init(&second, TEXT_BYTES_MAX);
    event_format(event, &first);
    check(first.used > 0 && !first.overflow);
    check(event_parse("again", 1, first.bytes, first.used - 1, &arena, &again, &err) == 0);
    event_format(&again, &second);
    check(strcmp(text_str(&first), text_str(&second)) == 0);
    text_done(&first);
    text_done(&second);
    arena_done(&arena);
}

static void check_header(const struct config *config)
{
    struct text first, second;
    struct arena arena;
    struct config again;
    struct err err;

    arena_init(&arena);
    text_init(&first, TEXT_BYTES_MAX);
    text_init(&second, TEXT_BYTES_MAX);
    event_header_format(config, &first);
    check(event_header_parse("again", 1, first.bytes, first.used - 1, &arena, &again, &err) == 0);
    event_header_format(&again, &second);
    check(strcmp(text_str(&first), text_str(&second)) == 0);
    text_done(&first);
    text_done(&second);
    arena_done(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct event_reader reader;
    struct config config;
    struct event event;
    struct err err;

    if (event_reader_open_bytes(&reader, "fuzz.jsonl", bytes, count, &config, &err) < 0)
        return 0;
    check_header(&config);
    while (event_reader_next(&reader, &event, &err) > 0)
        check_event(&event);
    event_reader_close(&reader);
    return 0;
}
