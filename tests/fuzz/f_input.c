/* SPDX-License-Identifier: Apache-2.0 */
/* f_input.c - the reader of plain and gzip files, which needs a file: one in memory serves. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "base/text.h"
#include "fuzz/fuzz.h"
#include "wire/input.h"

static void read_all(const char *path)
{
    struct input input;
    struct text text;
    struct err err;
    int rc;

    text_init(&text, 1 << 20);
    rc = input_read_all(path, &text, &err);
    check(rc < 0 || !text.overflow);
    text_done(&text);
    check(input_open(&input, path, 1 << 12, &err) == 0);
    while (input_line(&input, &err) > 0)
        check(strlen(text_str(&input.line)) == input.line.used);
    input_close(&input);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    char path[64];
    int fd = memfd_create("fuzz", 0);

    check(fd >= 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (write(fd, bytes, count) == (ssize_t)count)
        read_all(path);
    close(fd);
    return 0;
}
