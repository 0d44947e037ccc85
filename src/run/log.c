/* SPDX-License-Identifier: Apache-2.0 */
#include "run/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/scan.h"

static void file_name(uint64_t number, char out[32])
{
    snprintf(out, 32, "log.%llu", (unsigned long long)number);
}

void run_log_init(struct run_log *log, int folder_fd, int64_t file_bytes, uint32_t files)
{
    *log = (struct run_log){
        .folder_fd = folder_fd, .fd = -1, .file_bytes = file_bytes, .files = files};
}

void run_log_done(struct run_log *log)
{
    if (log->fd >= 0)
        close(log->fd);
    log->fd = -1;
}

/* Makes the file that the next byte belongs to; the oldest goes. */
static int begin_file(struct run_log *log, uint64_t number)
{
    char name[32];

    run_log_done(log);
    if (number >= log->files) {
        file_name(number - log->files, name);
        unlinkat(log->folder_fd, name, 0);
    }
    file_name(number, name);
    log->fd = openat(log->folder_fd, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    return log->fd < 0 ? -errno : 0;
}

/* As much as goes into the current file: how many bytes were written, 0 if none could be. */
static size_t write_some(struct run_log *log, const char *bytes, size_t count)
{
    const uint64_t size = (uint64_t)log->file_bytes, at = log->end % size;
    const size_t room = (size_t)(size - at);
    ssize_t done;

    if ((log->fd < 0 || at == 0) && begin_file(log, log->end / size) < 0)
        return 0;
    do
        done = write(log->fd, bytes, count < room ? count : room);
    while (done < 0 && errno == EINTR);
    return done < 0 ? 0 : (size_t)done;
}

void run_log_write(struct run_log *log, const char *bytes, size_t count)
{
    while (count > 0) {
        const size_t done = write_some(log, bytes, count);

        if (done == 0) {
            log->lost_bytes += count;
            return;
        }
        log->end += done;
        bytes += done;
        count -= done;
    }
}

/* ---- reading ---- */

/* The first and the last file that are there. -ENOENT: none. */
static int find_files(int folder_fd, uint64_t *out_first, uint64_t *out_last)
{
    const int fd = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;
    int rc = -ENOENT;

    if (folder == NULL)
        return -errno;
    while ((entry = readdir(folder)) != NULL) {
        uint64_t number;

        if (strncmp(entry->d_name, "log.", 4) != 0 || scan_u64(entry->d_name + 4, &number) < 0)
            continue;
        if (rc < 0)
            *out_first = *out_last = number;
        *out_first = number < *out_first ? number : *out_first;
        *out_last = number > *out_last ? number : *out_last;
        rc = 0;
    }
    closedir(folder);
    return rc;
}

int run_log_extent(int folder_fd, int64_t file_bytes, uint64_t *out_first, uint64_t *out_end)
{
    uint64_t first = 0, last = 0;
    struct stat facts;
    char name[32];
    const int rc = find_files(folder_fd, &first, &last);

    if (rc == -ENOENT) {
        *out_first = *out_end = 0;
        return 0;
    }
    if (rc < 0)
        return rc;
    file_name(last, name);
    if (fstatat(folder_fd, name, &facts, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    *out_first = first * (uint64_t)file_bytes;
    *out_end = last * (uint64_t)file_bytes + (uint64_t)facts.st_size;
    return 0;
}

ssize_t run_log_read(int folder_fd, int64_t file_bytes, uint64_t *offset, char *out, size_t size)
{
    const uint64_t bytes = (uint64_t)file_bytes;
    uint64_t first, end;
    char name[32];
    ssize_t count;
    int rc = run_log_extent(folder_fd, file_bytes, &first, &end), fd;

    if (rc < 0)
        return rc;
    if (*offset < first)
        *offset = first;
    if (*offset >= end)
        return 0;
    file_name(*offset / bytes, name);
    fd = openat(folder_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return -errno;
    count = pread(fd, out, size, (off_t)(*offset % bytes));
    rc = -errno;
    close(fd);
    return count < 0 ? rc : count;
}
