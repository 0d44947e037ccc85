/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/input.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "wire/utf8.h"

enum { BUFFER_BYTES = 1 << 16 };

static int open_gz(const char *path, gzFile *out, struct err *err)
{
    gzFile gz;

    errno = 0;
    gz = gzopen(path, "rbe");
    if (!gz) {
        int code = errno ? errno : ENOMEM;

        return err_set(err, -code, "cannot open '%s': %s", path, strerror(code));
    }
    (void)gzbuffer(gz, BUFFER_BYTES);
    *out = gz;
    return 0;
}

/* Up to count bytes; 0 only at the true end of the file. */
static int read_some(gzFile gz, const char *path, char *out, unsigned count, struct err *err)
{
    int got, code = 0;
    const char *text;

    errno = 0;
    got = gzread(gz, out, count);
    if (got > 0)
        return got;
    text = gzerror(gz, &code);
    if (code == Z_ERRNO) {
        int os_code = errno ? errno : EIO;

        return err_set(err, -os_code, "cannot read '%s': %s", path, strerror(os_code));
    }
    if (code == Z_BUF_ERROR)
        return err_set(err, -EINVAL, "cannot read '%s': the gzip file ends early", path);
    if (got < 0 || (code != Z_OK && code != Z_STREAM_END))
        return err_set(err, -EINVAL, "cannot read '%s': broken gzip file: %s", path, text);
    return 0;
}

int input_open(struct input *input, const char *path, size_t line_bytes_max, struct err *err)
{
    gzFile gz;
    int rc = open_gz(path, &gz, err);

    if (rc < 0)
        return rc;
    *input = (struct input){.name = path, .gz = gz, .line_bytes_max = line_bytes_max};
    input->buffer = mem_alloc(BUFFER_BYTES, 1);
    text_init(&input->line, line_bytes_max);
    return 0;
}

void input_open_bytes(struct input *input, const char *name, const void *bytes, size_t count,
                      size_t line_bytes_max)
{
    *input = (struct input){
        .name = name, .bytes = bytes, .left = count, .line_bytes_max = line_bytes_max};
    text_init(&input->line, line_bytes_max);
}

void input_close(struct input *input)
{
    if (input->gz)
        (void)gzclose_r(input->gz);
    mem_free(input->buffer);
    text_done(&input->line);
    *input = (struct input){0};
}

/* Makes input->left more than 0. Returns 1, 0 at the end, or a negative errno. */
static int fill(struct input *input, struct err *err)
{
    int got;

    if (input->left > 0)
        return 1;
    if (!input->gz)
        return 0;
    got = read_some(input->gz, input->name, input->buffer, BUFFER_BYTES, err);
    if (got <= 0)
        return got;
    input->bytes = input->buffer;
    input->left = (size_t)got;
    return 1;
}

static int check_line(struct input *input, struct err *err)
{
    struct text *line = &input->line;

    if (line->overflow)
        return err_set(err, -EINVAL, "%s:%u: line is longer than %zu bytes", input->name,
                       input->line_number, input->line_bytes_max);
    if (line->used > 0 && line->bytes[line->used - 1] == '\r')
        line->bytes[--line->used] = '\0';
    if (input->line_number == 1 && strncmp(line->bytes, "\xef\xbb\xbf", 3) == 0) {
        line->used -= 3;
        memmove(line->bytes, line->bytes + 3, line->used + 1);
    }
    if (memchr(line->bytes, '\0', line->used))
        return err_set(err, -EINVAL, "%s:%u: line has a NUL byte, which is not text", input->name,
                       input->line_number);
    if (utf8_valid_bytes(line->bytes, line->used) != line->used)
        return err_set(err, -EINVAL, "%s:%u: line is not UTF-8 text", input->name,
                       input->line_number);
    return 1;
}

int input_line(struct input *input, struct err *err)
{
    bool ended = false, any = false;
    int rc = 1;

    text_clear(&input->line);
    while (!ended && !input->line.overflow && (rc = fill(input, err)) > 0) {
        const char *newline = memchr(input->bytes, '\n', input->left);
        size_t used = newline ? (size_t)(newline - input->bytes) : input->left;

        text_add_bytes(&input->line, input->bytes, used);
        any = true;
        ended = newline != NULL;
        used += ended;
        input->bytes += used;
        input->left -= used;
    }
    if (rc < 0 || !any)
        return rc;
    if (input->line_number == UINT32_MAX)
        return err_set(err, -EINVAL, "%s: more than %u lines", input->name, UINT32_MAX);
    input->line_number++;
    return check_line(input, err);
}

int input_read_all(const char *path, struct text *out, struct err *err)
{
    char *buffer;
    gzFile gz;
    int rc = open_gz(path, &gz, err);

    if (rc < 0)
        return rc;
    buffer = mem_alloc(BUFFER_BYTES, 1);
    while (!out->overflow && (rc = read_some(gz, path, buffer, BUFFER_BYTES, err)) > 0)
        text_add_bytes(out, buffer, (size_t)rc);
    if (rc >= 0 && out->overflow)
        rc = err_set(err, -EFBIG, "'%s' is larger than %zu bytes", path, out->max);
    mem_free(buffer);
    (void)gzclose_r(gz);
    return rc < 0 ? rc : 0;
}
