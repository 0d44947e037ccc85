/* SPDX-License-Identifier: Apache-2.0 */
#include "run/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

static int write_all(int fd, const char *bytes, size_t count)
{
    while (count > 0) {
        const ssize_t done = write(fd, bytes, count);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? -errno : -ENOSPC;
        bytes += done;
        count -= (size_t)done;
    }
    return 0;
}

static int write_new(int folder_fd, const char *name, const void *bytes, size_t count,
                     enum file_safety safety)
{
    const int fd = openat(folder_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int rc;

    if (fd < 0)
        return -errno;
    rc = write_all(fd, bytes, count);
    if (rc == 0 && safety == FILE_DURABLE && fsync(fd) < 0)
        rc = -errno;
    if (close(fd) < 0 && rc == 0)
        rc = -errno;
    return rc;
}

int file_replace(int folder_fd, const char *name, const void *bytes, size_t count,
                 enum file_safety safety)
{
    char fresh[64];
    int rc;

    snprintf(fresh, sizeof fresh, "%s.new", name);
    rc = write_new(folder_fd, fresh, bytes, count, safety);
    if (rc == 0 && renameat(folder_fd, fresh, folder_fd, name) < 0)
        rc = -errno;
    if (rc < 0)
        unlinkat(folder_fd, fresh, 0);
    else if (safety == FILE_DURABLE && fsync(folder_fd) < 0)
        rc = -errno;
    return rc;
}

int file_load(int folder_fd, const char *name, size_t max, char **out, size_t *out_count)
{
    const int fd = openat(folder_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat facts;
    char *bytes;
    size_t count = 0, size;
    ssize_t more = 0;

    if (fd < 0)
        return -errno;
    if (fstat(fd, &facts) < 0 || facts.st_size < 0 || (size_t)facts.st_size > max) {
        close(fd);
        return -EFBIG;
    }
    size = (size_t)facts.st_size;
    bytes = mem_alloc(size + 1, 1);
    while (count < size && (more = read(fd, bytes + count, size - count)) > 0)
        count += (size_t)more;
    close(fd);
    if (more < 0) {
        mem_free(bytes);
        return -EIO;
    }
    *out = bytes;
    *out_count = count;
    return 0;
}

int file_remove_tree(int folder_fd, const char *name)
{
    const int fd = openat(folder_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;

    if (folder == NULL)
        return errno == ENOENT ? 0 : -errno;
    while ((entry = readdir(folder)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (unlinkat(fd, entry->d_name, 0) < 0 && (errno == EISDIR || errno == EPERM))
            (void)file_remove_tree(fd, entry->d_name);
    }
    closedir(folder);
    return unlinkat(folder_fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT ? 0 : -errno;
}
