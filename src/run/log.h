/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - what a task writes, in files of a fixed size of which the newest are kept.
 *
 * Byte n of the output stands in the file "log.K", K = n / file size, at n % file size. So an
 * offset means the same byte for ever, whatever was dropped: a reader that follows goes on at the
 * offset where it was, and sees how much it missed. What cannot be written is lost and counted;
 * the task is never held up by a full disk. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct run_log {
    int folder_fd; /* borrowed */
    int fd;        /* of the newest file, or -1 */
    int64_t file_bytes;
    uint32_t files;
    uint64_t end; /* bytes that stand in it, dropped files included */
    uint64_t lost_bytes;
};

void run_log_init(struct run_log *log, int folder_fd, int64_t file_bytes, uint32_t files);
void run_log_done(struct run_log *log);
void run_log_write(struct run_log *log, const char *bytes, size_t count);

/* Which bytes of a folder's log are there: first..end. 0 or a negative errno. */
int run_log_extent(int folder_fd, int64_t file_bytes, uint64_t *out_first, uint64_t *out_end);

/* Reads from an offset on; an offset before what is kept is moved up to it. The bytes read, 0 at
 * the end, or a negative errno. *offset: that of the first byte read. */
ssize_t run_log_read(int folder_fd, int64_t file_bytes, uint64_t *offset, char *out, size_t size);
