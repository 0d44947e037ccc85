/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/event_file.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "base/err.h"
#include "wire/event_json.h"

enum { FLUSH_BYTES = 1 << 16 };

static bool ends_in_gz(const char *path)
{
    size_t len = strlen(path);

    return len >= 3 && strcmp(path + len - 3, ".gz") == 0;
}

static int write_error(const struct event_writer *writer, struct err *err)
{
    int code = errno ? errno : EIO;

    return err_set(err, -code, "cannot write '%s': %s", writer->path, strerror(code));
}

static int flush(struct event_writer *writer, struct err *err)
{
    size_t left = writer->text.used;

    if (writer->text.overflow)
        return err_set(err, -EFBIG, "cannot write '%s': an event is longer than %u bytes",
                       writer->path, EVENT_LINE_BYTES_MAX);
    errno = 0;
    if (left > 0 && gzwrite(writer->gz, writer->text.bytes, (unsigned)left) != (int)left)
        return write_error(writer, err);
    text_clear(&writer->text);
    return 0;
}

int event_writer_open(struct event_writer *writer, const char *path, const struct config *config,
                      struct err *err)
{
    gzFile gz;

    errno = 0;
    gz = gzopen(path, ends_in_gz(path) ? "wbe1" : "wbeT");
    *writer = (struct event_writer){.path = path, .gz = gz};
    if (!gz)
        return err_set(err, errno ? -errno : -ENOMEM, "cannot create '%s': %s", path,
                       strerror(errno ? errno : ENOMEM));
    (void)gzbuffer(gz, FLUSH_BYTES);
    text_init(&writer->text, FLUSH_BYTES + EVENT_LINE_BYTES_MAX);
    event_header_format(config, &writer->text);
    return 0;
}

int event_writer_put(struct event_writer *writer, const struct event *event, struct err *err)
{
    event_format(event, &writer->text);
    return writer->text.used < FLUSH_BYTES && !writer->text.overflow ? 0 : flush(writer, err);
}

int event_writer_close(struct event_writer *writer, struct err *err)
{
    int rc = flush(writer, err);

    errno = 0;
    if (gzclose_w(writer->gz) != Z_OK && rc == 0)
        rc = write_error(writer, err);
    text_done(&writer->text);
    writer->gz = NULL;
    return rc;
}

/* The header, of a reader whose input is open. */
static int finish_open(struct event_reader *reader, struct config *out_config, struct err *err)
{
    int rc = input_line(&reader->input, err);

    arena_init(&reader->header_arena);
    arena_init(&reader->arena);
    if (rc == 0)
        rc = err_set(err, -EINVAL, "%s: file is empty, wanted an event file", reader->input.name);
    if (rc > 0)
        rc = event_header_parse(reader->input.name, 1, reader->input.line.bytes,
                                reader->input.line.used, &reader->header_arena, out_config, err);
    if (rc < 0)
        event_reader_close(reader);
    return rc;
}

int event_reader_open(struct event_reader *reader, const char *path, struct config *out_config,
                      struct err *err)
{
    int rc = input_open(&reader->input, path, EVENT_LINE_BYTES_MAX, err);

    return rc < 0 ? rc : finish_open(reader, out_config, err);
}

int event_reader_open_bytes(struct event_reader *reader, const char *name, const void *bytes,
                            size_t count, struct config *out_config, struct err *err)
{
    input_open_bytes(&reader->input, name, bytes, count, EVENT_LINE_BYTES_MAX);
    return finish_open(reader, out_config, err);
}

int event_reader_next(struct event_reader *reader, struct event *out, struct err *err)
{
    struct input *input = &reader->input;
    int rc = input_line(input, err);

    if (rc <= 0)
        return rc;
    arena_clear(&reader->arena);
    rc = event_parse(input->name, input->line_number, input->line.bytes, input->line.used,
                     &reader->arena, out, err);
    return rc < 0 ? rc : 1;
}

void event_reader_close(struct event_reader *reader)
{
    input_close(&reader->input);
    arena_done(&reader->header_arena);
    arena_done(&reader->arena);
}
